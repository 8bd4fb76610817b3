/* redact_key.c - the value behind a name, a flag, a header; in a URL
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "redact_core.h"
#include "str.h"

/* BLANKS: columns of assignments are lined up with them. */
enum { URL_MAX = 512, FLAG_MAX = 48, BLANKS = 24 };

static char lower(unsigned char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 32) : (char)c;
}

/* The answer when the text ends in a candidate. */
static enum redact_answer undecided(const struct redact_view *v,
	struct redact_span *s, size_t from, size_t value, bool committed)
{
	s->from = from;
	s->value = value;
	s->to = v->n;
	s->committed = committed;
	return REDACT_MORE;
}

static bool blank(unsigned char c)
{
	return c == ' ' || c == '\t';
}

static bool ends_word(unsigned char c)
{
	return c <= ' ' || c == '"' || c == '\'' || c == '`' || c == 0x7f;
}

/* Where a bare value ends. A bracket or comma is its end only when something
 * like an end follows; v->n when the text ends before that is known. */
static size_t bare_end(const struct redact_view *v, size_t at)
{
	size_t i = at;

	for (; i < v->n; i++) {
		unsigned char c = v->text[i];

		if (ends_word(c) || (c && strchr("&;|<>", c)))
			break;
		if (c && strchr(",)]}", c)) {
			size_t k = i + 1;

			while (k < v->n && v->text[k] && strchr(",)]};", v->text[k]))
				k++;
			if (k == v->n)
				return v->last ? i : v->n;
			if (ends_word(v->text[k]))
				break;
		}
	}
	return i;
}

/* A value, quoted or bare, at i. from is where a candidate is held. */
struct value {
	size_t from, to;
	uint8_t mode;
};

static enum redact_answer take_value(
	const struct redact_view *v, size_t i, struct value *x)
{
	bool escaped = false;
	unsigned char quote;

	*x = (struct value){.from = i, .to = i, .mode = REDACT_MODE_WORD};
	if (i < v->n && v->text[i] == '\\') {
		if (i + 1 == v->n)
			return v->last ? REDACT_NO : REDACT_MORE;
		escaped = v->text[i + 1] == '"' || v->text[i + 1] == '\'';
		i += escaped;
	}
	if (i == v->n)
		return v->last ? REDACT_NO : REDACT_MORE;
	/* The shell's $'...' */
	if (v->text[i] == '$') {
		if (i + 1 == v->n && !v->last)
			return REDACT_MORE;
		i += i + 1 < v->n && strchr("'\"", v->text[i + 1]) &&
			v->text[i + 1];
	}
	quote = v->text[i];
	if (quote != '"' && quote != '\'' && quote != '`') {
		x->mode = REDACT_MODE_WORD;
		x->from = i;
		x->to = bare_end(v, i);
		return x->to == v->n && !v->last ? REDACT_MORE : REDACT_YES;
	}
	x->mode = quote == '"' ? REDACT_MODE_DOUBLE
		: quote == '\'' ? REDACT_MODE_SINGLE
				: REDACT_MODE_LINE;
	x->from = ++i;
	for (; i < v->n; i++) {
		unsigned char c = v->text[i];

		if (c == '\n' || (c == quote && !escaped))
			break;
		if (c != '\\')
			continue;
		if (escaped && i + 1 < v->n && v->text[i + 1] == quote)
			break;
		i += !escaped;
	}
	x->to = i < v->n ? i : v->n;
	return i >= v->n && !v->last ? REDACT_MORE : REDACT_YES;
}

/* Judges a value whose name is of that strength. */
static bool is_secret(const unsigned char *p, size_t n, int strength)
{
	bool digit = false, letter = false;

	if (redact_placeholder(p, n))
		return false;
	if (strength == 2)
		return true;
	for (size_t i = 0; i < n; i++) {
		digit |= (redact_bytes[p[i]] & B_DIGIT) != 0;
		letter |= (redact_bytes[p[i]] & (B_UPPER | B_LOWER)) != 0;
	}
	return n >= 16 && digit && letter &&
		redact_entropy(p, n) >= 3 * 256 + 128;
}

/* The name before the sign at at. */
static size_t key_before(const struct redact_view *v, size_t at,
	const unsigned char **key, bool *spaced)
{
	size_t k = at, end;

	*spaced = false;
	if (k && v->text[k] == '=' && v->text[k - 1] &&
		strchr(":+?", v->text[k - 1]))
		k--;
	else if (k && v->text[k] == '=' && v->text[k - 1] &&
		strchr("=!<>*/%&|^~", v->text[k - 1]))
		return 0;
	for (unsigned i = 0; i < BLANKS && k && blank(v->text[k - 1]); i++, k--)
		*spaced = true;
	if (k && v->text[k - 1] == ']')
		k--;
	if (k && (v->text[k - 1] == '"' || v->text[k - 1] == '\'')) {
		k--;
		k -= k && v->text[k - 1] == '\\';
	}
	end = k;
	while (k && end - k < REDACT_KEY_MAX &&
		redact_bytes[v->text[k - 1]] & (B_TOKEN | B_DOT))
		k--;
	/* Of "%3Ftoken" the name is the rest. */
	if (k && v->text[k - 1] == '%' && end - k > 2)
		k += 2;
	*key = v->text + k;
	return end - k;
}

static bool key_is(const unsigned char *key, size_t n, const char *name)
{
	if (n != strlen(name))
		return false;
	for (size_t i = 0; i < n; i++)
		if (lower(key[i]) != name[i])
			return false;
	return true;
}

/* To the end of the line, or to the quote that the header stands in. */
static size_t line_end(const struct redact_view *v, size_t at)
{
	while (at < v->n && v->text[at] != '\n' && v->text[at] != '\r' &&
		v->text[at] != '"' && v->text[at] != '\'')
		at++;
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

/* A value's own shape says better what it is. */
static void name_kind(const struct redact_view *v, struct redact_span *s)
{
	struct redact_view value = {
		.text = v->text + s->from, .n = s->to - s->from, .last = true};
	struct redact_span shape;

	if (value.n && redact_token(&value, 0, &shape) == REDACT_YES)
		s->kind = shape.kind;
}

enum redact_answer redact_assign(const struct redact *r,
	const struct redact_view *v, size_t at, size_t sign,
	struct redact_span *s)
{
	const unsigned char *key;
	bool spaced, colon = v->text[at] == ':';
	size_t n = key_before(v, at, &key, &spaced), i = at + sign;
	enum redact_answer answer;
	struct value x;
	int strength;

	if (!n)
		return REDACT_NO;
	strength = redact_key_strength(r, key, n);
	if (!strength)
		strength = -(key_is(key, n, "authorization") ||
			key_is(key, n, "proxy-authorization"));
	if (strength >= 0 && colon &&
		(key_is(key, n, "cookie") || key_is(key, n, "set-cookie")))
		strength = -2;
	if (!strength)
		return REDACT_NO;
	s->kind = KIND_ASSIGN;
	s->mode = REDACT_MODE_WORD;
	if (i < v->n && v->text[i] == '=')
		return REDACT_NO;
	if (i < v->n && v->text[i] == '>') {
		i++;
		spaced = true;
	}
	while (i < v->n && (colon || spaced) && blank(v->text[i]) && i < at + sign + BLANKS)
		i++;
	if (i == v->n)
		return v->last ? REDACT_NO : undecided(v, s, at, at, false);
	if (strength < 0) {
		answer = take_header(v, i, s, strength == -1);
		return answer == REDACT_MORE ? undecided(v, s, at, i, true)
					     : answer;
	}
	answer = take_value(v, i, &x);
	if (answer == REDACT_MORE) {
		s->mode = x.mode;
		return undecided(v, s, at, x.from, strength == 2);
	}
	if (answer == REDACT_NO ||
		!is_secret(v->text + x.from, x.to - x.from, strength))
		return REDACT_NO;
	s->from = x.from;
	s->to = x.to;
	name_kind(v, s);
	return REDACT_YES;
}

/* In "[--password FILE]" and "--password <file>" nothing is given away. */
static bool usage_text(const struct redact_view *v, const struct value *x)
{
	for (size_t i = x->from; i < x->to; i++)
		if (!(redact_bytes[v->text[i]] & (B_UPPER | B_UNDER)))
			return false;
	return x->to < v->n && v->text[x->to] == ']';
}

/* "-u user:value", of curl and its like; not "-u 1000:1000". */
static enum redact_answer user_flag(
	const struct redact_view *v, size_t i, struct redact_span *s)
{
	struct value x;
	enum redact_answer answer;
	size_t colon;
	bool letter = false;

	answer = take_value(v, i, &x);
	if (answer == REDACT_MORE)
		return undecided(v, s, i - 1, i, false);
	for (colon = x.from; colon < x.to && v->text[colon] != ':'; colon++)
		if (!(redact_bytes[v->text[colon]] & (B_TOKEN | B_DOT)) &&
			v->text[colon] != '@')
			return REDACT_NO;
	if (answer == REDACT_NO || colon == x.from || colon + 1 >= x.to)
		return REDACT_NO;
	for (size_t k = colon + 1; k < x.to; k++)
		letter |= !(redact_bytes[v->text[k]] & B_DIGIT);
	/* uid:gid, user:group of the same name, a time */
	if (!letter || v->text[colon + 1] == ':' || v->text[colon + 1] == '/')
		return REDACT_NO;
	if (x.to - colon - 1 == colon - x.from &&
		!memcmp(v->text + x.from, v->text + colon + 1, colon - x.from))
		return REDACT_NO;
	if (redact_placeholder(v->text + colon + 1, x.to - colon - 1))
		return REDACT_NO;
	s->from = colon + 1;
	s->to = x.to;
	s->kind = KIND_FLAG;
	return REDACT_YES;
}

enum redact_answer redact_flag(const struct redact *r,
	const struct redact_view *v, size_t at, struct redact_span *s)
{
	size_t dashes = 1, i = at + 1, name;
	enum redact_answer answer;
	struct value x;

	s->kind = KIND_FLAG;
	s->mode = REDACT_MODE_WORD;
	if (at && (redact_bytes[v->text[at - 1]] & (B_WORD | B_DASH)))
		return REDACT_NO;
	if (i < v->n && v->text[i] == '-') {
		dashes = 2;
		i++;
	}
	name = i;
	while (i < v->n && i - name < FLAG_MAX &&
		redact_bytes[v->text[i]] & B_TOKEN)
		i++;
	if (i == v->n)
		return v->last ? REDACT_NO : undecided(v, s, at, at, false);
	if (v->text[i] != ' ' || i == name)
		return REDACT_NO;
	if (dashes == 1 && i - name == 1 && v->text[name] == 'u')
		return user_flag(v, i + 1, s) == REDACT_MORE
			? undecided(v, s, at, at, false)
			: user_flag(v, i + 1, s);
	if (dashes == 2 && (key_is(v->text + name, i - name, "user") ||
				   key_is(v->text + name, i - name, "proxy-user")))
		return user_flag(v, i + 1, s) == REDACT_MORE
			? undecided(v, s, at, at, false)
			: user_flag(v, i + 1, s);
	if (redact_key_strength(r, v->text + name, i - name) != 2 &&
		!redact_ends_with(v->text + name, i - name, "token"))
		return REDACT_NO;
	while (i < v->n && v->text[i] == ' ')
		i++;
	if (i < v->n && v->text[i] == '-')
		return REDACT_NO;
	answer = take_value(v, i, &x);
	if (answer == REDACT_MORE) {
		s->mode = x.mode;
		return undecided(v, s, at, x.from, i < v->n);
	}
	if (answer == REDACT_NO || usage_text(v, &x) ||
		!is_secret(v->text + x.from, x.to - x.from, 2))
		return REDACT_NO;
	s->from = x.from;
	s->to = x.to;
	s->kind = KIND_FLAG;
	name_kind(v, s);
	return REDACT_YES;
}

enum redact_answer redact_url(
	const struct redact_view *v, size_t at, struct redact_span *s)
{
	size_t i = at + 1, colon = 0;

	s->kind = KIND_URL;
	s->mode = REDACT_MODE_WORD;
	/* Some JSON has it as :\/\/ . */
	for (unsigned slashes = 0; slashes < 2; slashes++, i++) {
		i += i < v->n && v->text[i] == '\\';
		if (i == v->n)
			return v->last ? REDACT_NO
				       : undecided(v, s, at, at, false);
		if (v->text[i] != '/')
			return REDACT_NO;
	}
	for (; i < v->n; i++) {
		unsigned char c = v->text[i];

		if (ends_word(c) || c == '/' || c == '?' || c == '#' ||
			c == '@' || c == '<' || c == '>' ||
			i - at > URL_MAX)
			break;
		if (c == ':' && !colon)
			colon = i;
	}
	if (i == v->n && !v->last)
		return undecided(v, s, at, at, false);
	if (i == v->n || v->text[i] != '@' || !colon || i == colon + 1)
		return REDACT_NO;
	if (redact_placeholder(v->text + colon + 1, i - colon - 1))
		return REDACT_NO;
	s->from = colon + 1;
	s->to = i;
	name_kind(v, s);
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
		return v->last ? REDACT_NO : undecided(v, s, at, at, false);
	for (i = len; i < left && i < len + 60 &&
		redact_bytes[p[i]] & (B_UPPER | B_DIGIT);)
		for (i++; i < left && p[i] == ' '; i++)
			;
	if (i == left)
		return v->last ? REDACT_NO : undecided(v, s, at, at, false);
	if (!memmem(p, i, "PRIVATE KEY", 11))
		return REDACT_NO;
	s->from = at;
	stop = memmem(p, left, end, sizeof end - 1);
	if (!stop)
		return undecided(v, s, at, at, true);
	stop = memmem(stop + 9, (size_t)(p + left - stop) - 9, "-----", 5);
	if (!stop)
		return undecided(v, s, at, at, true);
	s->to = (size_t)(stop + 5 - v->text);
	return REDACT_YES;
}
