/* redact_key.c - the value behind a name, a header; in a URL
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "redact_core.h"
#include "str.h"

/* BLANKS: columns of assignments are lined up with them. */
enum { URL_MAX = 512, BLANKS = 24 };

static char lower(unsigned char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 32) : (char)c;
}

enum redact_answer redact_undecided(const struct redact_view *v,
	struct redact_span *s, size_t from, size_t value, bool committed)
{
	s->from = from;
	s->value = value;
	s->to = v->n;
	s->committed = committed;
	return REDACT_MORE;
}

size_t redact_name_before(const struct redact_view *v, size_t end)
{
	size_t k = end;

	while (k && end - k < REDACT_KEY_MAX &&
		redact_bytes[v->text[k - 1]] & (B_TOKEN | B_DOT))
		k--;
	return end - k;
}

static bool equals(const unsigned char *p, size_t n, const char *list)
{
	EACH (word, list)
		if (redact_key_is(p, n, word))
			return true;
	return false;
}

void redact_whole_name(
	const struct redact_view *v, const unsigned char **key, size_t *n)
{
	static const char last[] = "key\0token\0";
	static const char first[] =
		"api\0access\0auth\0secret\0private\0master\0account\0"
		"root\0unseal\0recovery\0refresh\0bearer\0encryption\0"
		"signing\0shared\0";
	size_t k = (size_t)(*key - v->text), end = k + *n, before;

	if (*n > 5 || !k || v->text[k - 1] != ' ')
		return;
	if (*n <= 2 && k && redact_bytes[v->text[k]] & B_DIGIT &&
		v->text[k - 1] == ' ') {
		end = k - 1;
		k = end - redact_name_before(v, end);
	}
	if (!equals(v->text + k, end - k, last) || !k || v->text[k - 1] != ' ')
		return;
	before = redact_name_before(v, k - 1);
	k -= before + 1;
	if (!equals(v->text + k, before, first))
		return;
	*key = v->text + k;
	*n = end - k;
}

/* The name before the sign at at. */
static size_t key_before(const struct redact_view *v, size_t at,
	const unsigned char **key, bool *spaced)
{
	size_t k = at, end;

	*spaced = false;
	if (k && v->text[k] == '=' && v->text[k - 1] &&
		strchr(":+?", v->text[k - 1])) {
		k--;
		*spaced = true; /* as in "NAME:= value" of make */
	}
	if (k && v->text[k] == '=' && v->text[k - 1] &&
		strchr("=!<>*/%&|^~", v->text[k - 1]))
		return 0;
	for (unsigned i = 0; i < BLANKS && k && redact_blank(v->text[k - 1]); i++, k--)
		*spaced = true;
	if (k && v->text[k - 1] == ']')
		k--;
	if (k && (v->text[k - 1] == '"' || v->text[k - 1] == '\'')) {
		k--;
		while (k && v->text[k - 1] == '\\')
			k--;
	}
	end = k;
	k -= redact_name_before(v, k);
	/* Of "%3Ftoken" the name is the rest. */
	if (k && v->text[k - 1] == '%' && end - k > 2)
		k += 2;
	*key = v->text + k;
	return end - k;
}

bool redact_key_is(const unsigned char *key, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!name[i] || lower(key[i]) != name[i])
			return false;
	return !name[n];
}

/* "password.c:10:3: error", "secret.txt: ASCII text", "/etc/passwd: no file" */
static bool file_name(
	const struct redact_view *v, const unsigned char *key, size_t n)
{
	static const char kinds[] =
		" c cc cpp css go h hpp html java js json lua md o php pl py rb "
		"rs sh toml ts tsx txt xml yaml yml ";
	char kind[8] = " ";
	size_t k = n;

	if (key > v->text + 1 && key[-1] == '/' &&
		(redact_bytes[key[-2]] & B_WORD || key[-2] == '.'))
		return true;
	while (k && n - k < sizeof kind - 3 && key[k - 1] != '.')
		k--;
	if (k < 2 || key[k - 1] != '.' || k == n)
		return false;
	memcpy(kind + 1, key + k, n - k);
	kind[n - k + 1] = ' ';
	return strstr(kinds, kind);
}

/* To the end of the line, or to the quote that the header stands in; a quote
 * behind '=' is one of its own: Digest username="x". */
static size_t line_end(const struct redact_view *v, size_t at)
{
	unsigned char own = 0;

	for (; at < v->n && v->text[at] != '\n' && v->text[at] != '\r'; at++) {
		const unsigned char c = v->text[at];

		if (c != '"' && c != '\'')
			continue;
		if (own == c)
			own = 0;
		else if (!own && v->text[at - 1] != '=')
			break;
		else if (!own)
			own = c;
	}
	return at;
}

/* "Bearer X", "Basic X": the scheme may be seen; else all of the line. */
static enum redact_answer take_header(const struct redact_view *v, size_t i,
	struct redact_span *s, bool scheme)
{
	const size_t start = i;
	size_t end;

	while (scheme && i < v->n && redact_bytes[v->text[i]] & B_TOKEN)
		i++;
	if (i == v->n && !v->last)
		return REDACT_MORE;
	/* An f-string's. */
	if (i == start + 1 && v->text[i] == '"')
		return take_header(v, i + 1, s, scheme);
	if (scheme && i < v->n && v->text[i] == ' ' && i - start < 20)
		i++;
	else
		i = start;
	end = line_end(v, i);
	s->mode = REDACT_MODE_LINE;
	s->kind = KIND_HEADER;
	s->from = i;
	s->to = end;
	if (end == v->n && !v->last)
		return REDACT_MORE;
	return end > i && !redact_placeholder(v->text + i, end - i)
		? REDACT_YES
		: REDACT_NO;
}

void redact_name_kind(const struct redact_view *v, struct redact_span *s)
{
	struct redact_view value = {
		.text = v->text + s->from, .n = s->to - s->from, .last = true};
	struct redact_span shape;

	if (value.n && redact_token(&value, 0, &shape) == REDACT_YES)
		s->kind = shape.kind;
}

/* "-passin pass:X", of openssl */
static bool pass_source(
	const struct redact_view *v, const unsigned char *key, size_t n)
{
	static const char flag[] = "-pass";
	size_t k = (size_t)(key - v->text);

	if (!redact_key_is(key, n, "pass") || !k || v->text[k - 1] != ' ')
		return false;
	for (k--; k && v->text[k - 1] > ' ' && key - (v->text + k) < 16;)
		k--;
	return strncmp((const char *)v->text + k, flag, sizeof flag - 1) == 0;
}

/* Of {"name": "PASSWORD", "value": "x"}, of <password value="x"> of
 * "--from-literal=any=x" and "key: string = x" the name stands further back. */
static void real_name(
	const struct redact_view *v, const unsigned char **key, size_t *n)
{
	static const char literal[] = "--from-literal";
	static const char types[] = "string\0str\0";
	size_t k = (size_t)(*key - v->text);
	const size_t len = sizeof literal - 1;

	if (k > len && v->text[k - 1] == '=' &&
		memcmp(v->text + k - 1 - len, literal, len) == 0) {
		*key = (const unsigned char *)"secret";
		*n = 6;
	} else if (redact_key_is(*key, *n, "value")) {
		while (k && v->text[k - 1] && strchr("\"',\\ \t\r\n", v->text[k - 1]))
			k--;
		*n = redact_name_before(v, k);
		*key = v->text + k - *n;
	} else if (k > 2 && v->text[k - 1] == ' ' && v->text[k - 2] == ':' &&
		equals(*key, *n, types)) {
		*n = redact_name_before(v, k - 2);
		*key = v->text + k - 2 - *n;
	} else {
		redact_whole_name(v, key, n);
	}
}

/* A header, by its name: 1 with a scheme before the secret, 2 without. */
static unsigned header(const unsigned char *key, size_t n, bool colon)
{
	static const char schemes[] = "authorization\0proxy-authorization\0";
	static const char others[] = "cookie\0set-cookie\0";

	/* Most names are done with here. */
	if (n < 6 || !strchr("aApPcCsS", key[0]))
		return 0;
	return equals(key, n, schemes) ? 1 : colon && equals(key, n, others) ? 2 : 0;
}

static enum redact_strength strength_of(const struct redact *r,
	const struct redact_view *v, const unsigned char *key, size_t n,
	size_t at, bool spaced)
{
	enum redact_strength strength = redact_key_strength(r, key, n);

	if (v->text[at] == ':' && !spaced && pass_source(v, key, n))
		return STRENGTH_SURE;
	/* "PASS: the name of a test" */
	if (v->text[at] == ':' && n == 4 && memcmp(key, "PASS", 4) == 0)
		return STRENGTH_NONE;
	return strength == STRENGTH_WEAK && key[0] == '-' &&
			redact_ends_with(key, n, "token")
		? STRENGTH_SURE
		: strength;
}

/* Of YAML's "password: |" the value is the next line. */
static size_t block_value(const struct redact_view *v, size_t i)
{
	size_t k = i;

	if (k == v->n || (v->text[k] != '|' && v->text[k] != '>'))
		return i;
	for (k++; k < v->n && (v->text[k] == '-' || v->text[k] == '+');)
		k++;
	if (k < v->n && v->text[k] != '\n')
		return i;
	for (; k < v->n && (v->text[k] == '\n' || v->text[k] == ' ');)
		k++;
	return k;
}

enum redact_answer redact_assign(const struct redact *r,
	const struct redact_view *v, size_t at, size_t sign,
	struct redact_span *s)
{
	const unsigned char *key;
	bool spaced, colon = v->text[at] == ':';
	size_t n = key_before(v, at, &key, &spaced), i = at + sign;
	enum redact_strength strength;
	enum redact_answer answer;
	unsigned head;
	bool closed;

	if (!n || (colon && file_name(v, key, n)) ||
		(v->text[at] == '>' &&
			(spaced || key == v->text ||
				(key[-1] != '<' && key[-1] != ':'))))
		return REDACT_NO;
	closed = redact_quote(key[n]);
	real_name(v, &key, &n);
	if (!n)
		return REDACT_NO;
	strength = strength_of(r, v, key, n, at, spaced);
	head = header(key, n, colon);
	if (!strength && !head)
		return REDACT_NO;
	s->kind = KIND_ASSIGN;
	s->mode = REDACT_MODE_WORD;
	if (i < v->n && v->text[i] == '=')
		return REDACT_NO;
	if (i < v->n && v->text[i] == '>') {
		i++;
		spaced = true;
	}
	/* "NAME= command" of a shell has no value. */
	if (!colon && !spaced && i < v->n && redact_blank(v->text[i]) &&
		strength == STRENGTH_SURE)
		strength = STRENGTH_LIKELY;
	while (i < v->n && redact_blank(v->text[i]) && i < at + sign + BLANKS)
		i++;
	i = colon ? block_value(v, i) : i;
	if (i == v->n)
		return v->last ? REDACT_NO : redact_undecided(v, s, at, at, false);
	if (head) {
		i += v->text[i] == '[';
		i += i < v->n && (v->text[i] == '"' || v->text[i] == '\'');
		answer = take_header(v, i, s, head == 1);
		return answer == REDACT_MORE ? redact_undecided(v, s, at, i, true)
					     : answer;
	}
	/* The quote of a prompt: "Password: " */
	if (colon && !closed && key > v->text && i > at + 1 &&
		v->text[i] == key[-1] && redact_quote(key[-1]))
		return REDACT_NO;
	return redact_judge(v, at, i, key, n, strength, s);
}

enum redact_answer redact_url(
	const struct redact_view *v, size_t at, struct redact_span *s)
{
	size_t i = at + 1, colon = 0, sign = 0, user;

	s->kind = KIND_URL;
	s->mode = REDACT_MODE_WORD;
	/* Some JSON has it as :\/\/ . */
	for (unsigned slashes = 0; slashes < 2; slashes++, i++) {
		i += i < v->n && v->text[i] == '\\';
		if (i == v->n)
			return v->last ? REDACT_NO
				       : redact_undecided(v, s, at, at, false);
		if (v->text[i] != '/')
			return REDACT_NO;
	}
	user = i;
	for (; i < v->n; i++) {
		unsigned char c = v->text[i];

		if (redact_ends_word(c) || c == '/' || c == '?' || c == '#' ||
			c == '<' || c == '>' || i - at > URL_MAX)
			break;
		if (c == ':' && !colon && !sign)
			colon = i;
		/* The last: a password may hold one, too. */
		if (c == '@')
			sign = i;
	}
	if (i == v->n && !v->last)
		return redact_undecided(v, s, at, at, false);
	if (!sign)
		return REDACT_NO;
	i = sign;
	/* The user may be a token, the password then any word. */
	s->from = user;
	s->to = i;
	if (!redact_is_secret(v->text + user, (colon ? colon : i) - user,
		    STRENGTH_WEAK)) {
		s->from = colon + 1;
		if (!colon || !redact_is_secret(v->text + s->from,
				      i - s->from, STRENGTH_SURE))
			return REDACT_NO;
	}
	redact_name_kind(v, s);
	return REDACT_YES;
}

enum redact_answer redact_pem(
	const struct redact_view *v, size_t at, struct redact_span *s)
{
	static const char begin[] = "-----BEGIN ", end[] = "-----END ";
	const size_t len = sizeof begin - 1;
	size_t left = v->n - at, i;
	const unsigned char *p = v->text + at, *stop;

	if (memcmp(p, begin, left < len ? left : len) != 0)
		return REDACT_NO;
	*s = (struct redact_span){.kind = KIND_PEM, .mode = REDACT_MODE_PEM};
	if (left < len)
		return v->last ? REDACT_NO : redact_undecided(v, s, at, at, false);
	for (i = len; i < left && i < len + 60 &&
		redact_bytes[p[i]] & (B_UPPER | B_DIGIT);)
		for (i++; i < left && p[i] == ' '; i++)
			;
	if (i == left)
		return v->last ? REDACT_NO : redact_undecided(v, s, at, at, false);
	if (!memmem(p, i, "PRIVATE KEY", 11))
		return REDACT_NO;
	s->from = at;
	stop = memmem(p, left, end, sizeof end - 1);
	if (!stop)
		return redact_undecided(v, s, at, at, true);
	stop = memmem(stop + 9, (size_t)(p + left - stop) - 9, "-----", 5);
	if (!stop)
		return redact_undecided(v, s, at, at, true);
	s->to = (size_t)(stop + 5 - v->text);
	return REDACT_YES;
}
