/* redact_value.c - what stands behind a name, and whether it is a secret
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "redact/redact_in.h"
#include "base/str.h"

bool redact_quote(unsigned char c)
{
	return c == '"' || c == '\'' || c == '`';
}

bool redact_ends_word(unsigned char c)
{
	return c <= ' ' || redact_quote(c) || c == 0x7f;
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

enum redact_answer redact_wait(
	const struct redact_view *v, struct redact_span *s, size_t at)
{
	return v->last ? REDACT_NO : redact_undecided(v, s, at, at, false);
}

bool redact_agrees(const struct redact_view *v, size_t at, const char *word)
{
	const size_t left = v->n - at, n = strlen(word);

	return memcmp(v->text + at, word, left < n ? left : n) == 0;
}

/* Does the byte at i belong to an expansion within the value at at? */
static bool value_nests(const struct redact_view *v, size_t at, size_t i)
{
	return v->map && (v->map[i] & LEX_DEPTH) > redact_depth(v->map, at);
}

/* The end of a bare value. A bracket or comma ends it only if something like an
 * end follows; v->n when the text ends before that is known. */
static size_t bare_end(const struct redact_view *v, size_t at)
{
	size_t i = at;

	for (; i < v->n; i++) {
		unsigned char c = v->text[i];

		if (value_nests(v, at, i))
			continue;
		/* "\\ " continues a word of a shell. */
		if (redact_blank(c) && i > at && v->text[i - 1] == '\\')
			continue;
		if (redact_ends_word(c) || (c && strchr("&;|<>", c)))
			break;
		/* "{name}" ends with its own brace. */
		if (c == '}' && v->text[at] == '{')
			continue;
		if (c && strchr(",)]}", c)) {
			size_t k = i + 1;

			while (k < v->n && v->text[k] && strchr(",)]};:", v->text[k]))
				k++;
			if (k == v->n)
				return v->last ? i : v->n;
			if (redact_ends_word(v->text[k]))
				break;
		}
	}
	return i;
}

/* The mark that opens a value at *i; *i moves behind it: "x", 'x', \"x\" with
 * any number of backslashes, $'x', f"x", ["x", """x. 0: none; *i == v->n: the
 * text ends before that is known. */
static unsigned char opening_quote(
	const struct redact_view *v, size_t *i, size_t *slashes)
{
	size_t k = *i, quote;

	if (k < v->n && v->text[k] && strchr("$[(fFbBrRuULN@", v->text[k]))
		k++;
	if (k > *i && v->text[*i] == '[')
		while (k < v->n && redact_blank(v->text[k]))
			k++;
	for (quote = k; quote < v->n && v->text[quote] == '\\';)
		quote++;
	*slashes = quote - k;
	if (quote == v->n) {
		*i = v->last ? *i : v->n;
		return 0;
	}
	if (!redact_quote(v->text[quote]))
		return 0;
	for (k = quote + 1; k < v->n && v->text[k] == v->text[quote];)
		k++;
	if (k == v->n && !v->last)
		*i = v->n;
	/* Two quotes without a value are an empty value. */
	else if (k > quote + 1 && (k == v->n || v->text[k] <= ' ' ||
					   strchr(",;:.)]}&|<>/\\", v->text[k])))
		*i = quote + 1;
	else
		*i = k;
	return v->text[quote];
}

/* The length of an inner quote at i that looks like the closing mark: 'it''s'
 * of YAML and SQL, 'it'\''s' and 'it'"'"'s' of a shell; v->n: not known. */
static size_t inner_quote(const struct redact_view *v, size_t i)
{
	static const char *const spelt[] = {"'\\''", "'\"'\"'"};
	const size_t left = v->n - i;

	for (size_t k = 0; v->text[i] == '\'' && k < ARRAY_SIZE(spelt); k++) {
		const size_t n = strlen(spelt[k]);

		if (redact_agrees(v, i, spelt[k]))
			return left >= n ? n : v->last ? 0 : v->n;
	}
	if (left < 3)
		return v->last || (left == 2 && v->text[i + 1] != v->text[i])
			? 0
			: v->n;
	return v->text[i + 1] == v->text[i] &&
			redact_bytes[v->text[i + 2]] & B_ALNUM
		? 2
		: 0;
}

/* Skips a quote of HTML, which is outside of the value. */
static size_t behind_entity(const struct redact_view *v, size_t i)
{
	static const char spelt[] = "&quot;\0&#34;\0";
	const size_t left = v->n - i;

	EACH (word, spelt) {
		const size_t n = strlen(word);

		if (left && redact_agrees(v, i, word))
			return left >= n ? i + n : v->last ? i : v->n;
	}
	return i;
}

enum redact_answer redact_value(
	const struct redact_view *v, size_t i, struct redact_span *x)
{
	size_t slashes;
	unsigned char quote;

	*x = (struct redact_span){.from = i, .to = i, .mode = REDACT_MODE_WORD};
	i = behind_entity(v, i);
	quote = opening_quote(v, &i, &slashes);
	if (i == v->n)
		return v->last ? REDACT_NO : REDACT_MORE;
	x->from = x->to = i;
	if (!quote) {
		x->to = bare_end(v, i);
		return x->to == v->n && !v->last ? REDACT_MORE : REDACT_YES;
	}
	x->mode = quote == '"' ? REDACT_MODE_DOUBLE
		: quote == '\'' ? REDACT_MODE_SINGLE
				: REDACT_MODE_LINE;
	for (size_t inner, back = 0; i < v->n; i++) {
		if (value_nests(v, x->from, i)) {
			back = 0;
			continue;
		}
		if (v->text[i] == '\n')
			break;
		if (v->text[i] == '\\') {
			back++;
			continue;
		}
		/* The closing mark has as many backslashes as the opening
		 * one. */
		if (v->text[i] == quote &&
			(slashes ? back <= slashes : back % 2 == 0)) {
			inner = slashes || i == x->from ? 0
							: inner_quote(v, i);
			if (!inner) {
				i -= slashes ? back : 0;
				break;
			}
			i = inner < v->n - i ? i + inner - 1 : v->n - 1;
		}
		back = 0;
	}
	x->to = i < v->n ? i : v->n;
	return i >= v->n && !v->last ? REDACT_MORE : REDACT_YES;
}

/* The value of a letter of base64. */
static uint32_t six_bits(unsigned char c)
{
	const unsigned kind = redact_bytes[c];

	return kind & B_UPPER ? c - 65u
		: kind & B_LOWER ? c - 71u
		: kind & B_DIGIT ? c + 4u
		: c == '+'	 ? 62
				 : 63;
}

enum redact_answer redact_encoded(const struct redact_view *v, size_t i)
{
	/* Base64 of "-----BEGIN C", a certificate, which anybody may read. */
	static const char certificate[] = "LS0tLS1CRUdJTiBD";
	unsigned kinds = 0;
	uint32_t bits = 0;
	size_t from, have = 0;
	bool text = true;

	i += i < v->n && redact_quote(v->text[i]);
	for (from = i; i < v->n; i++) {
		const unsigned char c = v->text[i];

		if (c == '=' || !(redact_bytes[c] & (B_ALNUM | B_BASE64)))
			break;
		kinds |= redact_bytes[c];
		bits = bits << 6 | six_bits(c);
		have += 6;
		if (have < 8)
			continue;
		have -= 8;
		text &= (bits >> have & 0xe0) == 0
			? (bits >> have & 0x1f) == '\n'
			: (bits >> have & 0xff) < 0x7f;
	}
	while (i < v->n && v->text[i] == '=' && (i - from) % 4 >= 2) {
		kinds |= B_DIGIT;
		i++;
	}
	if (!text || (i < v->n && !redact_ends_word(v->text[i])))
		return REDACT_NO;
	if (i == v->n && !v->last)
		return REDACT_MORE;
	return i - from >= 8 && (i - from) % 4 == 0 &&
			(i - from < 16 ||
				memcmp(v->text + from, certificate, 16) != 0) && kinds & B_UPPER &&
			kinds & B_LOWER && kinds & B_DIGIT
		? REDACT_YES
		: REDACT_NO;
}

/* Is it a small number, as of constants and attributes: "1", "64", "0x1f"? */
static bool small_number(const unsigned char *p, size_t n)
{
	const bool hex = n > 2 && p[0] == '0' && p[1] == 'x';
	size_t i = hex ? 2 : 0;

	while (i < n && redact_bytes[p[i]] & (hex ? B_HEX : B_DIGIT))
		i++;
	return n == 1 || (i == n && n < (hex ? 7 : 4));
}

/* "12.5", "1.2.3-rc1", "12ms" */
static bool is_measure(const unsigned char *p, size_t n)
{
	size_t i = 0, dots = 0;

	for (; i < n && (redact_bytes[p[i]] & (B_DIGIT | B_DOT)); i++)
		dots += p[i] == '.';
	return i && (dots || n - i <= 2);
}

bool redact_is_secret(
	const unsigned char *p, size_t n, enum redact_strength strength)
{
	bool digit = false, letter = false;

	if (strength == STRENGTH_NONE || small_number(p, n))
		return false;
	if (strength == STRENGTH_SURE)
		return !redact_placeholder(p, n);
	if (n < 6 || strchr("/.~", p[0]))
		return false;
	for (size_t i = 0; i < n; i++) {
		digit |= (redact_bytes[p[i]] & B_DIGIT) != 0;
		letter |= (redact_bytes[p[i]] & (B_UPPER | B_LOWER)) != 0;
	}
	if (!digit || !letter || is_measure(p, n) || redact_placeholder(p, n))
		return false;
	return strength == STRENGTH_LIKELY ||
		(n >= 16 && redact_entropy(p, n) >= 3 * 256 + 128);
}

/* The end of the small words that continue a phrase behind its first word. */
static size_t words_end(const struct redact_view *v, size_t i)
{
	for (size_t k = i; k < v->n && v->text[k] == ' '; i = k)
		for (k++; k < v->n && redact_bytes[v->text[k]] & B_LOWER;)
			k++;
	return i;
}

enum redact_answer redact_judge(const struct redact_view *v, size_t at,
	size_t i, const unsigned char *key, size_t n,
	enum redact_strength strength, struct redact_span *s)
{
	struct redact_span x;
	enum redact_answer answer = redact_value(v, i, &x);

	s->mode = x.mode;
	if (x.from < v->n && redact_begins_key(v, x.from))
		return redact_wait(v, s, at);
	if (answer == REDACT_MORE)
		return redact_undecided(v, s, at, x.from,
			strength == STRENGTH_SURE && i < v->n);
	/* A command in backquotes, which a shell runs. */
	if (answer == REDACT_YES && v->text[x.from - 1] == '`' &&
		memchr(v->text + x.from, ' ', x.to - x.from))
		return REDACT_NO;
	if (answer == REDACT_NO ||
		!redact_is_secret(v->text + x.from, x.to - x.from, strength) ||
		redact_names_itself(key, n, v->text + x.from, x.to - x.from))
		return REDACT_NO;
	s->from = x.from;
	s->to = x.to;
	/* "passphrase: a b c"; behind "-Dpassphrase=a" stands another word. */
	if (x.from == i && n > 6 && redact_key_is(key + n - 6, 6, "phrase") &&
		redact_blank(v->text[i - 1]) &&
		(key == v->text || key[-1] != '-'))
		s->to = words_end(v, x.to);
	if (s->to == v->n && !v->last)
		return redact_undecided(v, s, at, x.from, true);
	redact_name_kind(v, s);
	return REDACT_YES;
}
