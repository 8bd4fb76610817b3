/* redact_word.c - the value behind a name without a sign, and words of a pipe
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "redact_core.h"
#include "str.h"

/* SENTENCE: from the name to its value in what people are told. */
enum { SENTENCE = 64, BLANKS = 24, LINE = 256 };

static bool quote(unsigned char c)
{
	return c == '"' || c == '\'';
}

/* What the word says of one that only stands behind it. Names of things are
 * often said, so the value must look like a secret by itself. */
static enum redact_strength said_strength(
	const struct redact *r, const unsigned char *key, size_t n)
{
	static const char schemes[] = "bearer\0basic\0";
	static const char things[] = "secret\0credential\0pass\0";
	enum redact_strength strength;

	EACH (word, schemes)
		if (redact_key_is(key, n, word))
			return STRENGTH_WEAK;
	if (key[0] == '-')
		return STRENGTH_NONE;
	EACH (word, things)
		if (redact_key_is(key, n, word))
			return STRENGTH_NONE;
	strength = redact_key_strength(r, key, n);
	if (strength == STRENGTH_WEAK && !redact_ends_with(key, n, "token"))
		return STRENGTH_NONE;
	return strength == STRENGTH_SURE ? STRENGTH_LIKELY : strength;
}

size_t redact_behind(const struct redact_view *v, size_t i, const char *word)
{
	const size_t n = strlen(word);

	if (v->n - i < n || memcmp(v->text + i, word, n) != 0)
		return i;
	for (i += n; i < v->n && redact_blank(v->text[i]);)
		i++;
	return i;
}

/* "password for x: V", "password is generated for x: V" */
static size_t behind_sentence(const struct redact_view *v, size_t i)
{
	const size_t start = i;

	while (i < v->n && i - start < SENTENCE && v->text[i] != '\n' &&
		v->text[i] != ':')
		i++;
	if (i < v->n && i - start < SENTENCE && v->text[i] == ':')
		for (i++; i < v->n && redact_blank(v->text[i]);)
			i++;
	else if (i < v->n)
		i = start;
	return i;
}

/* getPassword("of whom") has no value. */
static bool asks(const struct redact_view *v, size_t key, size_t at)
{
	static const char verbs[] = "get\0fetch\0find\0use\0has\0is\0read\0load\0";

	for (size_t i = key; i < at; i++)
		if (v->text[i] == '.')
			key = i + 1;
	EACH (verb, verbs)
		if (redact_behind(v, key, verb) != key)
			return true;
	return false;
}

/* Where the value begins; 0: none, v->n: more is needed. */
static size_t value_at(
	const struct redact_view *v, size_t at, const unsigned char *key)
{
	size_t i = at, start;

	/* ('NAME', 'value') */
	if (quote(v->text[i])) {
		if (key < v->text + 2 || key[-1] != v->text[i] || key[-2] != '(')
			return 0;
		if (++i < v->n && v->text[i] != ',')
			return 0;
		for (i += i < v->n; i < v->n && redact_blank(v->text[i]);)
			i++;
		return i == v->n || quote(v->text[i]) ? i : 0;
	}
	/* setPassword("value"), SQL's PASSWORD('value') */
	if (v->text[at] == '(')
		return asks(v, (size_t)(key - v->text), at) ? 0
			: ++i == v->n || quote(v->text[i]) ? i
							   : 0;
	while (i < v->n && redact_blank(v->text[i]) && i - at < BLANKS)
		i++;
	if (v->text[at] == '%')
		i = v->n - at < 3 && !v->last ? v->n : redact_behind(v, at, "%20");
	start = i;
	if (i == at)
		return 0;
	if (v->n - i < sizeof "is generated for " - 1 && !v->last)
		return v->n;
	i = redact_behind(v, i, "is");
	i = redact_behind(v, i, ":");
	i = redact_behind(v, i, "BY ");
	i = redact_behind(v, i, "by ");
	if (redact_behind(v, start, "is generated for ") > start ||
		redact_behind(v, start, "for ") > start)
		i = behind_sentence(v, start);
	return i;
}

/* A name is followed by all kinds of things: a flag, code, a path. */
static bool other_thing(const unsigned char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] && strchr("()[]<>", p[i]))
			return true;
	return p[0] == '-' || (n < 32 && (memchr(p, '/', n) || memchr(p, '=', n)));
}

/* Is there something behind the name that may be a secret? Prose has none. */
static enum redact_answer worth_judging(
	const struct redact_view *v, size_t i, bool quoted)
{
	struct redact_span x;
	enum redact_answer answer = redact_value(v, i, &x);
	const unsigned char *p = v->text + x.from;

	if (answer != REDACT_YES || quoted)
		return answer;
	return redact_is_secret(p, x.to - x.from, STRENGTH_LIKELY) &&
			!other_thing(p, x.to - x.from)
		? REDACT_YES
		: REDACT_NO;
}

/* Is what ends before k the "machine X login Y" of .netrc? */
static bool of_netrc(const struct redact_view *v, size_t k)
{
	static const char names[] = "login\0machine\0";

	EACH (name, names) {
		const size_t n = strlen(name);

		while (k && v->text[k - 1] <= ' ')
			k--;
		while (k && v->text[k - 1] > ' ')
			k--;
		while (k && v->text[k - 1] <= ' ')
			k--;
		if (k < n || memcmp(v->text + k - n, name, n) != 0)
			return false;
		k -= n;
	}
	return true;
}

enum redact_answer redact_said(const struct redact *r,
	const struct redact_view *v, size_t at, struct redact_span *s)
{
	size_t n = redact_name_before(v, at), i;
	const unsigned char *key = v->text + at - n;
	const bool granted = redact_key_is(key, n, "identified");
	enum redact_strength strength;
	enum redact_answer answer;
	bool quoted, netrc;

	*s = (struct redact_span){.kind = KIND_ASSIGN, .mode = REDACT_MODE_WORD};
	redact_whole_name(v, &key, &n);
	i = value_at(v, at, key);
	if (!i || (i == v->n && v->last))
		return REDACT_NO;
	quoted = i < v->n && quote(v->text[i]);
	netrc = redact_key_is(key, n, "password") &&
		of_netrc(v, (size_t)(key - v->text));
	answer = i < v->n ? worth_judging(v, i, quoted || netrc) : REDACT_MORE;
	/* "Basic " ends there. */
	if (answer == REDACT_NO || (quoted && v->text[at] == ' ' &&
			key > v->text && key[-1] == v->text[i]))
		return REDACT_NO;
	strength = granted ? STRENGTH_LIKELY : said_strength(r, key, n);
	/* SQL has PASSWORD 'x', IDENTIFIED BY 'x' */
	if (quoted && strength && (key[0] == 'P' || key[0] == 'I') &&
		key[n - 1] == 'D' && (granted || v->text[i] == '\''))
		strength = STRENGTH_SURE;
	if (netrc)
		strength = STRENGTH_SURE;
	if (answer == REDACT_MORE)
		return strength ? redact_undecided(v, s, at, i, false) : REDACT_NO;
	return redact_judge(v, at, i, key, n, strength, s);
}

static bool in_text(const unsigned char *p, size_t n, const char *word)
{
	return memmem(p, n, word, strlen(word));
}

/* A program that reads a secret from its standard input. */
static bool reads_secret(const unsigned char *p, size_t n)
{
	static const char words[] =
		"--password-stdin\0--with-token\0chpasswd\0passwd --stdin\0"
		"--passphrase-fd\0cryptsetup\0secret create\0";

	EACH (word, words)
		if (in_text(p, n, word))
			return true;
	return in_text(p, n, "sudo") &&
		(in_text(p, n, " -S") || in_text(p, n, "kS"));
}

static enum redact_answer piped(
	const struct redact_view *v, size_t at, struct redact_span *s)
{
	static const char programs[] = "echo \0printf \0";
	const unsigned char *p = v->text;
	size_t i = at, from, to, end, left = v->n - at;
	bool begun = false;

	*s = (struct redact_span){.kind = KIND_FLAG, .mode = REDACT_MODE_LINE};
	EACH (word, programs) {
		size_t n = strlen(word);

		begun |= memcmp(p + at, word, left < n ? left : n) == 0;
		i = i == at ? redact_behind(v, at, word) : i;
	}
	if (!begun)
		return REDACT_NO;
	if (i + 1 < v->n && p[i] == '-' && (p[i + 1] == 'n' || p[i + 1] == 'e'))
		for (i += 2; i < v->n && redact_blank(p[i]);)
			i++;
	for (to = i; to < v->n && to - at < LINE && p[to] != '\n' && p[to] != '|';)
		to++;
	for (end = to + 1; end < v->n && end - at < LINE && p[end] &&
		!strchr("\n|;&", p[end]);)
		end++;
	if (to - at >= LINE || end - at >= LINE || (to < v->n && p[to] == '\n'))
		return REDACT_NO;
	if (end >= v->n && !v->last)
		return redact_undecided(v, s, at, at, false);
	if (i == at || to >= v->n || !reads_secret(p + to, (end < v->n ? end : v->n) - to))
		return REDACT_NO;
	while (to > i && redact_blank(p[to - 1]))
		to--;
	from = i;
	if (to > from + 1 && quote(p[from]) && p[to - 1] == p[from]) {
		from++;
		to--;
	}
	s->from = from;
	s->to = to;
	return redact_placeholder(p + from, to - from) ? REDACT_NO : REDACT_YES;
}

/* Programs of which a secret is the last word: when one of their words is that,
 * or a flag of several letters that has this one, or always. What is judged of
 * "user/value@where" is behind the slash. */
static const struct operand {
	const char *program, *word;
	char letter;
	bool slash;
	uint8_t strength;
} operands[] = {
	{"htpasswd", NULL, 'b', false, STRENGTH_SURE},
	{"vault", "login", 0, false, STRENGTH_LIKELY},
	{"cargo", "login", 0, false, STRENGTH_LIKELY},
	{"mkpasswd", NULL, 0, false, STRENGTH_LIKELY},
	{"sqlplus", NULL, 0, true, STRENGTH_SURE},
};

/* Where the word that begins at i ends. */
static size_t word_end(const struct redact_view *v, size_t i, size_t end)
{
	const unsigned char mark = v->text[i];
	const unsigned char *close = quote(mark)
		? memchr(v->text + i + 1, mark, end - i - 1)
		: NULL;

	if (close)
		return (size_t)(close - v->text) + 1;
	while (i < end && !redact_blank(v->text[i]))
		i++;
	return i;
}

/* The secret among the words from i to end, for o: from and to in s. */
static bool last_word(const struct redact_view *v, const struct operand *o,
	size_t i, size_t end, struct redact_span *s)
{
	const unsigned char *p = v->text, *sign;
	bool fits = !o->word && !o->letter;

	for (s->to = 0; i < end; i++) {
		size_t to = word_end(v, i, end);

		if (to == i)
			continue;
		if (p[i] == '-') {
			fits |= o->letter && memchr(p + i, o->letter, to - i);
		} else if (o->word && redact_key_is(p + i, to - i, o->word)) {
			fits = true;
			s->to = 0;
		} else if (!o->slash || !s->to) {
			s->from = i;
			s->to = to;
		}
		i = to;
	}
	if (!fits || !s->to)
		return false;
	/* Its own quotes, or one around the whole. */
	s->from += quote(p[s->from]);
	s->to -= quote(p[s->to - 1]);
	if (s->from >= s->to)
		return false;
	sign = o->slash ? memchr(p + s->from, '/', s->to - s->from) : NULL;
	if (sign && redact_bytes[p[s->from]] & B_ALNUM &&
		!memchr(p + s->from, '@', (size_t)(sign - p) - s->from))
		s->from = (size_t)(sign - p) + 1;
	else if (o->slash)
		return false;
	sign = o->slash ? memchr(p + s->from, '@', s->to - s->from) : NULL;
	s->to = sign ? (size_t)(sign - p) : s->to;
	return !memchr(p + s->from, '=', s->to - s->from) &&
		redact_is_secret(p + s->from, s->to - s->from,
			(enum redact_strength)o->strength);
}

enum redact_answer redact_operand(
	const struct redact_view *v, size_t at, struct redact_span *s)
{
	const unsigned char *p = v->text;
	const size_t left = v->n - at;

	*s = (struct redact_span){.kind = KIND_FLAG, .mode = REDACT_MODE_LINE};
	for (size_t i = 0; i < ARRAY_SIZE(operands); i++) {
		const struct operand *o = &operands[i];
		const size_t n = strlen(o->program);
		size_t end = at + n;

		if (p[at] != (unsigned char)o->program[0] ||
			memcmp(p + at, o->program, left < n ? left : n) != 0 ||
			(left > n && !redact_blank(p[end])))
			continue;
		while (end < v->n && p[end] && !strchr("\n;|&`<>", p[end]))
			if (++end - at > LINE)
				return REDACT_NO;
		if (end >= v->n && !v->last)
			return redact_undecided(v, s, at, at, false);
		return left > n && last_word(v, o, at + n, end, s) ? REDACT_YES
								   : REDACT_NO;
	}
	return REDACT_NO;
}

enum redact_answer redact_word(
	const struct redact_view *v, size_t at, struct redact_span *s)
{
	enum redact_answer a = redact_token(v, at, s);

	if (a == REDACT_NO)
		a = piped(v, at, s);
	return a != REDACT_NO ? a : redact_operand(v, at, s);
}
