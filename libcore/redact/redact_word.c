/* redact_word.c - the value behind a name without a sign
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "redact/redact_in.h"
#include "base/str.h"

/* SENTENCE: the distance from the name to its value in messages. */
enum { SENTENCE = 64, BLANKS = 24 };

/* The strength of a word whose value only stands behind it. Such words are
 * common, so the value must look like a secret by itself. */
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
	/* A command to a server. */
	if (n == 4 && memcmp(key, "AUTH", n) == 0)
		return STRENGTH_LIKELY;
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
static bool only_asks(const struct redact_view *v, size_t key, size_t at)
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

/* The beginning of the value; 0: none, v->n: more text is needed. */
static size_t value_at(
	const struct redact_view *v, size_t at, const unsigned char *key)
{
	static const char between[] = "is\0:\0BY \0by \0default \0PLAIN \0";
	size_t i = at, start;

	/* ('NAME', 'value') */
	if (redact_quotation(v->text[i])) {
		if (key < v->text + 2 || key[-1] != v->text[i] || key[-2] != '(')
			return 0;
		if (++i < v->n && v->text[i] != ',')
			return 0;
		for (i += i < v->n; i < v->n && redact_blank(v->text[i]);)
			i++;
		return i == v->n || redact_quotation(v->text[i]) ? i : 0;
	}
	/* setPassword("value"), SQL's PASSWORD('value') */
	if (v->text[at] == '(')
		return only_asks(v, (size_t)(key - v->text), at) ? 0
			: ++i == v->n || redact_quotation(v->text[i]) ? i
							   : 0;
	while (i < v->n && redact_blank(v->text[i]) && i - at < BLANKS)
		i++;
	if (v->text[at] == '%')
		i = v->n - at < 3 && !v->last ? v->n : redact_behind(v, at, "%20");
	start = i;
	if (i == at)
		return 0;
	/* The cell of a table, behind the name's cell. */
	if (key > v->text + 1 && redact_blank(key[-1]) && key[-2] == '|')
		return redact_behind(v, i, "|");
	if (v->n - i < sizeof "is generated for " - 1 && !v->last)
		return v->n;
	EACH (word, between)
		i = redact_behind(v, i, word);
	/* "IDENTIFIED WITH x BY" */
	if (redact_behind(v, start, "WITH ") > start) {
		for (i += sizeof "WITH"; i < v->n && v->text[i] > ' ';)
			i++;
		i = redact_behind(v, i, " BY ");
	}
	if (redact_behind(v, start, "is generated for ") > start ||
		redact_behind(v, start, "for ") > start)
		i = behind_sentence(v, start);
	return i;
}

/* Does something else follow the name: a flag, code, a path? */
static bool other_thing(const unsigned char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] && strchr("()[]<>", p[i]))
			return true;
	return p[0] == '-' || (n < 32 && (memchr(p, '/', n) || memchr(p, '=', n)));
}

/* Does something behind the name look like a secret? In prose nothing does. */
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

/* Is that the word before the one that ends before *k? Then *k moves to its
 * beginning. */
static bool second_before(
	const struct redact_view *v, size_t *k, const char *name)
{
	const size_t n = strlen(name);
	size_t i = *k;

	while (i && v->text[i - 1] <= ' ')
		i--;
	while (i && v->text[i - 1] > ' ')
		i--;
	while (i && v->text[i - 1] <= ' ')
		i--;
	if (i < n || memcmp(v->text + i - n, name, n) != 0)
		return false;
	*k = i - n;
	return true;
}

size_t redact_begins(
	const struct redact_view *v, size_t at, size_t k, const char *stops)
{
	while (k && (v->whole || at - k < REDACT_BEFORE - 1) && v->text[k - 1] &&
		!strchr(stops, v->text[k - 1]))
		k--;
	return k;
}

bool redact_told(const struct redact_view *v, size_t at, size_t k,
	const char *stops, const char *words)
{
	const size_t from = redact_begins(v, at, k, stops);

	EACH (word, words)
		if (memmem(v->text + from, k - from, word, strlen(word)))
			return true;
	return false;
}

/* Do the words before the name make it a secret's: "machine X login Y" and
 * "default login Y" of .netrc, programs that call it only so, FTP's line behind
 * the user's? */
static bool told_before(const struct redact_view *v, size_t at,
	const unsigned char *key, size_t n)
{
	static const char sets[] = "onfig set \0onfigure set \0ONFIG SET \0";
	size_t k = (size_t)(key - v->text);

	if ((redact_key_is(key, n, "password") || redact_key_is(key, n, "pass")) &&
		redact_told(v, at, k, "\n", "nmcli \0rclone \0"))
		return true;
	if (redact_key_is(key, n, "password") && second_before(v, &k, "login"))
		return second_before(v, &k, "machine") ||
			redact_told(v, at, k, "\n", "default \0");
	/* ftp's output, behind the user's line or not; a program's text has
	 * "\nPASS". */
	if (redact_key_is(key, n, "pass") &&
		redact_told(v, at, k, "\n", "---> \0"))
		return true;
	if (n >= 4 && n <= 5 && memcmp(key + n - 4, "PASS", 4) == 0)
		return redact_told(v, at, k, "", "USER \0") &&
			(n == 5 || !redact_told(v, at, k, "\n", "USER \0"));
	return redact_key_strength(NULL, key, n) &&
		redact_told(v, at, k, "\n", sets);
}

enum redact_answer redact_said(const struct redact *r,
	const struct redact_view *v, size_t at, struct redact_span *s)
{
	size_t n = redact_name_before(v, at), i;
	const unsigned char *key = v->text + at - n;
	const bool granted = redact_key_is(key, n, "identified");
	enum redact_strength strength;
	enum redact_answer answer;
	bool quoted, told;

	*s = (struct redact_span){.kind = KIND_ASSIGN, .mode = REDACT_MODE_WORD};
	redact_whole_name(v, &key, &n);
	i = value_at(v, at, key);
	if (!i || (i == v->n && v->last))
		return REDACT_NO;
	quoted = i < v->n && redact_quotation(v->text[i]);
	told = told_before(v, at, key, n);
	answer = i < v->n ? worth_judging(v, i, quoted || told) : REDACT_MORE;
	/* The text ends behind "Basic ". */
	if (answer == REDACT_NO || (quoted && v->text[at] == ' ' &&
			key > v->text && key[-1] == v->text[i]))
		return REDACT_NO;
	strength = granted ? STRENGTH_LIKELY : said_strength(r, key, n);
	/* SQL has PASSWORD 'x', IDENTIFIED BY 'x' */
	if (quoted && strength && (granted || v->text[i] == '\'') &&
		((key[n - 1] == 'D' && (key[0] == 'P' || key[0] == 'I')) ||
			(redact_key_is(key, n, "password") &&
				v->text[at] == ' ')))
		strength = STRENGTH_SURE;
	if (told)
		strength = STRENGTH_SURE;
	if (answer == REDACT_MORE)
		return strength ? redact_undecided(v, s, at, i, false) : REDACT_NO;
	return redact_judge(v, at, i, key, n, strength, s);
}
