/* redact_key.c - the value behind a name and its sign
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "redact/redact_in.h"
#include "base/str.h"

/* BLANKS: columns of assignments are aligned with blanks. */
enum { BLANKS = 24 };

size_t redact_name_before(const struct redact_view *v, size_t end)
{
	size_t k = end;

	while (k && end - k < REDACT_KEY_MAX &&
		redact_bytes[v->text[k - 1]] & (B_TOKEN | B_DOT))
		k--;
	return end - k;
}

bool redact_key_any(const unsigned char *p, size_t n, const char *list)
{
	EACH (word, list)
		if (redact_key_is(p, n, word))
			return true;
	return false;
}

void redact_whole_name(
	const struct redact_view *v, const unsigned char **key, size_t *n)
{
	static const char last[] = "key\0token\0phrase\0";
	static const char first[] =
		"api\0access\0auth\0secret\0private\0master\0account\0"
		"root\0unseal\0recovery\0refresh\0bearer\0encryption\0"
		"signing\0shared\0seed\0";
	size_t k = (size_t)(*key - v->text), end = k + *n, before;

	if (*n > 6 || !k || v->text[k - 1] != ' ')
		return;
	if (*n <= 2 && k && redact_bytes[v->text[k]] & B_DIGIT &&
		v->text[k - 1] == ' ') {
		end = k - 1;
		k = end - redact_name_before(v, end);
	}
	if (!redact_key_any(v->text + k, end - k, last) || !k ||
		v->text[k - 1] != ' ')
		return;
	before = redact_name_before(v, k - 1);
	k -= before + 1;
	if (!redact_key_any(v->text + k, before, first))
		return;
	*key = v->text + k;
	*n = end - k;
}

/* The length of the quote that ends at end, with its backslashes, or in the
 * spelling of HTML or URLs. */
static size_t quote_before(const struct redact_view *v, size_t end)
{
	static const char spelt[] = "&quot;\0&#34;\0%22\0%27\0\\u0022\0";
	size_t k = end;

	if (k && (v->text[k - 1] == '"' || v->text[k - 1] == '\'')) {
		for (k--; k && v->text[k - 1] == '\\';)
			k--;
		return end - k;
	}
	EACH (word, spelt) {
		const size_t n = strlen(word);

		if (end >= n && memcmp(v->text + end - n, word, n) == 0)
			return n;
	}
	return 0;
}

/* The length of the name before the sign at at. */
static size_t key_before(const struct redact_view *v, size_t at,
	const unsigned char **key, bool *spaced)
{
	size_t k = at, end;

	*spaced = false;
	if (k && v->text[k] == '=' && v->text[k - 1] &&
		strchr(":+?", v->text[k - 1])) {
		k--;
		*spaced = true; /* as in "NAME:= value" of make */
	} else if (k > 1 && v->text[k - 1] == '|' && v->text[k - 2] == '|') {
		k -= 2;
	}
	if (k && v->text[k] == '=' && v->text[k - 1] &&
		strchr("=!<>*/%&|^~", v->text[k - 1]))
		return 0;
	for (unsigned i = 0; i < BLANKS && k && redact_blank(v->text[k - 1]); i++, k--)
		*spaced = true;
	if (k && v->text[k - 1] == ']')
		k -= k > 1 && v->text[k - 2] == '[' ? 2 : 1;
	k -= quote_before(v, k);
	end = k;
	k -= redact_name_before(v, k);
	/* The name in "%3Ftoken" is the rest. */
	if (k && v->text[k - 1] == '%' && end - k > 2)
		k += 2;
	*key = v->text + k;
	return end - k;
}

bool redact_key_is(const unsigned char *key, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!name[i] || redact_lower(key[i]) != name[i])
			return false;
	return !name[n];
}

/* Is the name a file's: "password.c:10:3: error", "secret.txt: ASCII text",
 * "/etc/passwd: no file"? */
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
	return str_find(kinds, kind);
}

void redact_name_kind(const struct redact_view *v, struct redact_span *s)
{
	struct redact_view value = {
		.text = v->text + s->from, .n = s->to - s->from, .last = true};
	struct redact_span shape;

	if (value.n && redact_token(&value, 0, &shape) == REDACT_YES)
		s->kind = shape.kind;
}

/* Is it "-passin pass:X" of openssl? */
static bool pass_source(
	const struct redact_view *v, const unsigned char *key, size_t n)
{
	static const char flag[] = "-pass";
	size_t k = (size_t)(key - v->text);

	k -= k && redact_quote(v->text[k - 1]);
	if (!redact_key_is(key, n, "pass") || !k || v->text[k - 1] != ' ')
		return false;
	for (k--; k && v->text[k - 1] > ' ' && key - (v->text + k) < 16;)
		k--;
	return strncmp((const char *)v->text + k, flag, sizeof flag - 1) == 0;
}

/* Finds the real name of {"name": "PASSWORD", "value": "x"}, <password
 * value="x"> and "key: string = x", which stands further back. True for
 * "--from-literal=any=x", whose value is always a secret. */
static bool real_name(
	const struct redact_view *v, const unsigned char **key, size_t *n)
{
	static const char sets[] = "--from-literal\0secrets set\0";
	static const char types[] = "string\0str\0";
	size_t k = (size_t)(*key - v->text), set = k;

	set -= set && redact_quote(v->text[set - 1]);
	set -= set && (v->text[set - 1] == '=' || v->text[set - 1] == ' ');
	EACH (word, sets) {
		const size_t len = strlen(word);

		if (set >= len &&
			memcmp(v->text + set - len, word, len) == 0)
			return true;
	}
	if (redact_key_is(*key, *n, "value")) {
		while (k && v->text[k - 1] && strchr("\"',:{\\ \t\r\n", v->text[k - 1]))
			k--;
		*n = redact_name_before(v, k);
		*key = v->text + k - *n;
	} else if (redact_key_any(*key, *n, types) && k > 3 && v->text[k - 1] &&
		strchr(" &", v->text[k - 1])) {
		k -= v->text[k - 1] == '&' ? 2 : 1;
		k -= v->text[k - 1] == ':';
		*n = redact_name_before(v, k);
		*key = v->text + k - *n;
	} else {
		redact_whole_name(v, key, n);
	}
	return false;
}

/* Is it "/p:X" of xfreerdp, and not "/p:Name=Value", a property of a build? */
static bool windows_flag(const struct redact_view *v, const unsigned char *key,
	size_t n, size_t at)
{
	static const char names[] = "p\0pass\0gp\0pth\0";
	size_t i = at + 1;

	if (key == v->text || key[-1] != '/' || !redact_key_any(key, n, names) ||
		(key > v->text + 1 && !redact_ends_word(key[-2])))
		return false;
	while (n == 1 && i < v->n && redact_bytes[v->text[i]] & (B_WORD | B_DOT))
		i++;
	return i == v->n || v->text[i] != '=';
}

static enum redact_strength strength_of(const struct redact *r,
	const struct redact_view *v, const unsigned char *key, size_t n,
	size_t at, bool spaced)
{
	enum redact_strength strength = redact_key_strength(r, key, n);

	if (v->text[at] == ':' && !spaced &&
		(pass_source(v, key, n) || windows_flag(v, key, n, at)))
		return STRENGTH_SURE;
	/* "user=u,pass=X" of mount and its like */
	if (v->text[at] == '=' && !spaced && redact_key_is(key, n, "pass") &&
		redact_told(v, at, (size_t)(key - v->text), "\n",
			"user\0"))
		return STRENGTH_SURE;
	/* In a connection string pwd is no directory. */
	if (redact_key_is(key, n, "pwd") && key > v->text && key[-1] == ';')
		return STRENGTH_SURE;
	/* A resource of AWS: 123456789012:secret:NAME */
	if (v->text[at] == ':' && key > v->text + 1 && key[-1] == ':' &&
		redact_bytes[key[-2]] & B_DIGIT)
		return STRENGTH_NONE;
	/* A program's message, or mkpasswd. */
	if (v->text[at] == ':' && n >= 6 &&
		redact_key_is(key + n - 6, 6, "passwd") &&
		(n == 6 || redact_bytes[key[n - 7]] & B_LOWER))
		return STRENGTH_LIKELY;
	/* "PASS: the name of a test" */
	if (v->text[at] == ':' && n == 4 && memcmp(key, "PASS", 4) == 0)
		return STRENGTH_NONE;
	return strength == STRENGTH_WEAK && key[0] == '-' &&
			redact_ends_with(key, n, "token")
		? STRENGTH_SURE
		: strength;
}

/* The beginning of the value behind the sign that ends at i: behind "=>",
 * blanks, a YAML tag. */
static size_t value_begins(
	const struct redact_view *v, size_t i, bool colon, bool *spaced)
{
	static const char wrapped[] = "ConvertTo-SecureString\0-String\0";
	const size_t start = i;

	if (i < v->n && v->text[i] == '>') {
		i++;
		*spaced = true;
	}
	while (i < v->n && redact_blank(v->text[i]) && i < start + BLANKS)
		i++;
	EACH (word, wrapped)
		i = redact_behind(v, i, word);
	if (!colon || v->n - i < 2 || v->text[i] != '!' || v->text[i + 1] != '!')
		return i;
	while (i < v->n && !redact_blank(v->text[i]) && v->text[i] != '\n')
		i++;
	while (i < v->n && redact_blank(v->text[i]))
		i++;
	return i;
}

/* Does the name stand alone before the sign on its line, and indented, as in a
 * Kubernetes Secret? */
static bool is_indented(const struct redact_view *v, const unsigned char *key)
{
	size_t k = (size_t)(key - v->text), end;

	k -= k && redact_quote(v->text[k - 1]);
	for (end = k; k && redact_blank(v->text[k - 1]) && end - k < BLANKS;)
		k--;
	return end - k >= 2 && (!k || v->text[k - 1] == '\n');
}

enum redact_answer redact_assign(const struct redact *r,
	const struct redact_view *v, size_t at, size_t sign,
	struct redact_span *s)
{
	const unsigned char *key;
	bool spaced, blank, colon = v->text[at] == ':';
	size_t i = at + sign, n, block;
	enum redact_strength strength;
	enum redact_answer answer;
	unsigned head;
	bool closed, attached, set;

	s->kind = KIND_ASSIGN;
	s->mode = REDACT_MODE_WORD;
	if (v->text[at] == '>')
		return redact_element(r, v, at, s);
	n = key_before(v, at, &key, &spaced);
	if (!n || (colon && file_name(v, key, n)))
		return REDACT_NO;
	closed = redact_quote(key[n]);
	/* "curl -HAuthorization:" */
	attached = n > 2 && key[0] == '-' && key[1] == 'H' && i < v->n &&
		!redact_ends_word(v->text[i]);
	if (attached) {
		key += 2;
		n -= 2;
	}
	set = real_name(v, &key, &n);
	if (!n)
		return REDACT_NO;
	strength = set ? redact_key_strength(
				 r, (const unsigned char *)"secret", 6)
		       : strength_of(r, v, key, n, at, spaced);
	head = sign > 1 ? 0 : redact_header(key, n, colon);
	if (head && attached) {
		strength = STRENGTH_SURE;
		head = 0;
	}
	if (!strength && !head && !(colon && sign == 1 && is_indented(v, key)))
		return REDACT_NO;
	if (i < v->n && v->text[i] == '=')
		return REDACT_NO;
	blank = i < v->n && redact_blank(v->text[i]);
	i = value_begins(v, i, colon, &spaced);
	/* "NAME= command" of a shell has no value. */
	if (!colon && !spaced && blank && strength == STRENGTH_SURE)
		strength = STRENGTH_LIKELY;
	if (strength <= STRENGTH_WEAK && !head) {
		answer = redact_encoded(v, i);
		if (answer == REDACT_MORE)
			return redact_undecided(v, s, at, i, false);
		strength = answer == REDACT_YES ? STRENGTH_SURE : strength;
	}
	if (!strength && !head)
		return REDACT_NO;
	block = colon ? redact_block_begins(v, i) : i;
	if (block == v->n)
		return redact_wait(v, s, at);
	if (head) {
		i += v->text[i] == '[';
		i += i < v->n && (v->text[i] == '"' || v->text[i] == '\'');
		answer = redact_header_value(v, i, s, head == 1);
		return answer == REDACT_MORE ? redact_undecided(v, s, at, i, true)
					     : answer;
	}
	if (block != i)
		return redact_block(v, at, block, v->text[i] > ' ', strength, s);
	/* The quote of a prompt: "Password: " */
	if (colon && !closed && key > v->text && i > at + 1 &&
		v->text[i] == key[-1] && redact_quote(key[-1]))
		return REDACT_NO;
	return redact_judge(v, at, i, key, n, strength, s);
}
