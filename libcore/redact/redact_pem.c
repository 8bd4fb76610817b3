/* redact_pem.c - private keys, line by line
 * SPDX-License-Identifier: MIT
 *
 * A key's lines are of one width, in base64; only its last may be shorter, and
 * behind that is the END line. Whatever is no such line is no part of a key, so
 * that nothing is hidden behind a BEGIN line but a key.
 */
#include <string.h>

#include "redact/redact_in.h"

/* WIDTH: shortest first line of a key whose end is not seen; LONG: a line so
 * long belongs to a key, even without its end; HEAD: longest header. */
enum { WIDTH = 32, LONG = 128, HEAD = 120, HEADS = 6, BETWEEN = 80 };

/* The place behind what may stand between two lines: blanks, line ends as they
 * are or as JSON spells them, quotes and commas of a list, the mark of a quoted
 * mail. */
static size_t line_begins(const struct redact_view *v, size_t i)
{
	const size_t start = i;

	while (i < v->n && i - start < BETWEEN) {
		const unsigned char c = v->text[i];

		if (c == '\\') {
			size_t k = i;

			while (k < v->n && v->text[k] == '\\')
				k++;
			if (k < v->n && v->text[k] && !strchr("nrt", v->text[k]))
				break;
			i = k + (k < v->n);
		} else if (c && strchr(" \t\r\n\"',>", c)) {
			i++;
		} else {
			break;
		}
	}
	return i;
}

/* At a key's last line: YES, and *end is behind it. */
static enum redact_answer end_line(
	const struct redact_view *v, size_t i, size_t *end)
{
	size_t dashes;
	static const char ends[] = "-----END \0---- END \0";
	static const char putty[] = "Private-MAC";
	enum redact_answer a = REDACT_NO;
	size_t k;

	if (redact_agrees(v, i, putty)) {
		*end = i;
		a = v->n - i >= sizeof putty - 1 ? REDACT_YES : REDACT_MORE;
	}
	EACH (word, ends) {
		k = i + strlen(word);
		if (a != REDACT_NO || !redact_agrees(v, i, word))
			continue;
		while (k < v->n && (v->text[k] == ' ' ||
				redact_bytes[v->text[k]] & (B_UPPER | B_DIGIT)))
			k++;
		dashes = word[4] == ' ' ? 4 : 5;
		for (*end = k; *end < v->n && *end - k < dashes &&
			v->text[*end] == '-';)
			++*end;
		if (*end == k + dashes)
			return REDACT_YES;
		if (*end >= v->n)
			a = REDACT_MORE;
	}
	return a == REDACT_MORE && (v->last || v->pause) ? REDACT_NO : a;
}

/* The end of a key's header, "Proc-Type: 4,ENCRYPTED"; i: there is none. */
static size_t header_end(const struct redact_view *v, size_t i)
{
	static const char names[] =
		"proc-type\0dek-info\0version\0comment\0hash\0charset\0"
		"messageid\0subject\0";
	size_t k = i;

	while (k < v->n && redact_bytes[v->text[k]] & (B_ALNUM | B_DASH))
		k++;
	if (k == v->n || v->text[k] != ':' ||
		!redact_key_any(v->text + i, k - i, names))
		return k == v->n && k - i < HEAD ? k : i;
	while (k < v->n && v->text[k] >= ' ' && v->text[k] != '\\' &&
		v->text[k] != '"' && k - i < HEAD)
		k++;
	return k;
}

/* Does the key end behind i: with the END line, the checksum before it, or, if
 * it is known to be a key, with nothing? */
static enum redact_answer ends_key(
	const struct redact_view *v, size_t i, bool known)
{
	size_t k = line_begins(v, i), end;

	if (k < v->n && v->text[k] == '=')
		for (k++; k < v->n && redact_bytes[v->text[k]] & B_ALNUM;)
			k++;
	k = line_begins(v, k);
	if (k < v->n)
		return end_line(v, k, &end);
	if (v->last || v->pause)
		return known ? REDACT_YES : REDACT_NO;
	return REDACT_MORE;
}

/* Judges a line of n letters that end at e, the first of which may be known
 * already. */
static enum redact_answer judge_line(
	const struct redact_view *v, size_t e, size_t n, struct redact_pem *p)
{
	const bool first = !p->width;

	if (!first && n == p->width)
		return REDACT_YES;
	if (!first && n > p->width)
		return REDACT_NO;
	if (first && n >= WIDTH) {
		p->width = (uint16_t)n;
		return REDACT_YES;
	}
	/* A few letters at the end of the text prove nothing. */
	if (e == v->n && first)
		return v->last && n >= WIDTH / 2 ? REDACT_YES : REDACT_NO;
	return ends_key(v, e, !first);
}

static size_t letters_end(const struct redact_view *v, size_t i)
{
	while (i < v->n && redact_bytes[v->text[i]] & (B_ALNUM | B_BASE64))
		i++;
	return i;
}

/* Judges the line at k; YES: it is the key's, and *end is its end. */
static enum redact_answer take_line(const struct redact_view *v, size_t k,
	struct redact_pem *p, size_t *end)
{
	const size_t e = letters_end(v, k), n = p->run + (e - k);
	enum redact_answer a;

	if (e == v->n && !v->last) {
		/* A line so long is a key's; a line before a pause may be. */
		if (n < LONG && !(v->pause && p->width))
			return REDACT_MORE;
		if (n > UINT16_MAX || (p->width && n > p->width))
			return REDACT_NO;
		p->run = (uint16_t)n;
		p->width = p->width ? p->width : UINT16_MAX;
		*end = e;
		return REDACT_MORE;
	}
	if (p->width == UINT16_MAX)
		p->width = 0;
	a = n > UINT16_MAX ? REDACT_NO : judge_line(v, e, n, p);
	if (a == REDACT_YES) {
		p->run = 0;
		p->width = p->width ? p->width : (uint16_t)n;
		*end = e;
	}
	return a;
}

static enum redact_answer take_lines(const struct redact_view *v, size_t i,
	struct redact_pem *p, size_t *end)
{
	enum redact_answer a;
	size_t k, behind;

	for (*end = i; p->total + (*end - i) <= REDACT_PEM_MAX;) {
		k = p->run ? *end : line_begins(v, *end);
		if (k == v->n) {
			*end = v->pause && p->width ? k : *end;
			return v->last ? REDACT_NO : REDACT_MORE;
		}
		a = p->run ? REDACT_NO : end_line(v, k, &behind);
		if (a == REDACT_YES)
			*end = behind;
		if (a != REDACT_NO)
			return a;
		behind = p->width || p->run ? k : header_end(v, k);
		if (behind == v->n && behind > k && !v->last)
			return REDACT_MORE;
		if (behind > k && behind < v->n && p->heads++ < HEADS) {
			*end = behind;
			continue;
		}
		if (letters_end(v, k) == k && !p->run)
			return REDACT_NO;
		a = take_line(v, k, p, &behind);
		if (a == REDACT_YES || (a == REDACT_MORE && p->run))
			*end = behind;
		if (a != REDACT_YES)
			return a;
	}
	return REDACT_NO;
}

enum redact_answer redact_pem_lines(const struct redact_view *v, size_t i,
	struct redact_pem *p, size_t *end)
{
	const enum redact_answer a = take_lines(v, i, p, end);

	p->total += (uint32_t)(*end - i);
	return a;
}

bool redact_begins_key(const struct redact_view *v, size_t i)
{
	return redact_agrees(v, i, "-----BEGIN ");
}

/* May a key follow the first line? In the text of a program that searches for
 * keys a quote follows. */
static bool key_follows(unsigned char c)
{
	return redact_bytes[c] & (B_ALNUM | B_BASE64) || c <= ' ' || c == '\\';
}

enum redact_answer redact_pem(
	const struct redact_view *v, size_t at, struct redact_span *s)
{
	static const char spelt[3][12] = {
		"-----BEGIN ", "---- BEGIN ", "-Lines: "};
	static const char name[] = "PRIVATE KEY", lines[] = "Private";
	const unsigned char *p = v->text + at;
	const size_t left = v->n - at;
	const bool putty = left > 1 && p[1] == 'L';
	const char *begin = spelt[putty ? 2 : left > 4 && p[4] == ' '];
	const size_t len = strlen(begin), before = sizeof lines - 1;
	enum redact_answer a;
	size_t i;

	if (!redact_agrees(v, at, begin) ||
		(putty && (at < before ||
				  memcmp(p - before, lines, before) != 0)))
		return REDACT_NO;
	*s = (struct redact_span){.kind = KIND_PEM,
		.mode = REDACT_MODE_PEM,
		.tail = REDACT_TAIL_OWN};
	if (left < len)
		return redact_wait(v, s, at);
	for (i = len; i < left && i < len + 60 &&
		redact_bytes[p[i]] & (B_UPPER | B_DIGIT);)
		for (i++; i < left && p[i] == ' '; i++)
			;
	for (; i < left && p[i] == '-'; i++)
		;
	if (i == left)
		return redact_wait(v, s, at);
	if (putty ? i == len || !strchr("\r\n\\", p[i])
		  : !memmem(p, i, name, sizeof name - 1) || !key_follows(p[i]))
		return REDACT_NO;
	s->from = at;
	a = redact_pem_lines(v, at + i, &s->pem, &s->to);
	if (a == REDACT_MORE) {
		s->value = at;
		s->committed = s->pem.width;
	}
	return a == REDACT_NO && s->pem.width ? REDACT_YES : a;
}
