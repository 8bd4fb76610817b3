/* redact_find.c - the first secret in a text
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "redact_begins.h"
#include "redact/redact_in.h"

/* "=" and ":" in the spelling of URLs and some JSON: "%3D", "\\u003a". True: n
 * is known. */
static bool encoded_sign(const struct redact_view *v, size_t i, size_t *n)
{
	static const char *const spelt[] = {"%3", "\\u003"};
	const char *s = spelt[v->text[i] == '\\'];
	size_t k = 1;

	while (s[k] && i + k < v->n && (char)(v->text[i + k] | 32) == (s[k] | 32))
		k++;
	*n = 0;
	if (i + k >= v->n)
		return v->last;
	if (!s[k] && strchr("ad", v->text[i + k] | 32))
		*n = k + 1;
	return true;
}

/* Behind "\\n", "\\x22", "\\u0022" or "%22" at i a word begins: its place, else
 * 0. */
static size_t escape_end(const struct redact_view *v, size_t i)
{
	const unsigned char *p = v->text + i;
	const size_t left = v->n - i;
	size_t n = 1, digits = 2;

	if (left < 2 || (p[0] != '\\' && p[0] != '%'))
		return 0;
	if (p[0] == '\\') {
		if (p[1] && strchr("ntr", p[1]))
			return i + 2;
		n = 2;
		digits = p[1] == 'u' ? 4 : 2;
		if (digits == 2 && p[1] != 'x')
			return 0;
	}
	if (left < n + digits)
		return 0;
	for (digits += n; n < digits; n++)
		if (!(redact_bytes[p[n]] & B_HEX))
			return 0;
	return i + n;
}

/* The beginning of a word that an escape makes, where the escape began before
 * at and ends there or later; else SIZE_MAX. */
static size_t fresh_behind(const struct redact_view *v, size_t at)
{
	for (size_t back = 1; back <= 6 && back <= at; back++) {
		const size_t end = escape_end(v, at - back);

		if (end >= at && end)
			return end;
	}
	return SIZE_MAX;
}

static enum redact_answer at_escape(const struct redact *r,
	const struct redact_view *v, size_t i, size_t *fresh,
	struct redact_span *s)
{
	enum redact_answer a = REDACT_NO;
	size_t n;

	if (!encoded_sign(v, i, &n))
		return REDACT_MORE;
	if (n)
		a = redact_assign(r, v, i, n, s);
	n = escape_end(v, i);
	*fresh = n ? n : *fresh;
	return a;
}

static enum redact_answer at_trigger(const struct redact *r,
	const struct redact_view *v, size_t i, size_t *fresh,
	struct redact_span *s)
{
	const size_t left = v->n - i;
	enum redact_answer a = REDACT_NO;

	*s = (struct redact_span){.from = i, .value = i};
	switch (v->text[i]) {
	case '=':
	case '>':
		return redact_assign(r, v, i, 1, s);
	case ':':
		a = redact_assign(r, v, i, 1, s);
		if (a == REDACT_NO)
			a = redact_url(v, i, s);
		if (a == REDACT_NO)
			a = redact_telegram(v, i, s);
		return a != REDACT_NO ? a : redact_pgpass(v, i, s);
	case '-':
		/* Most dashes are done with here. */
		if (left >= 2 && !(redact_bytes[v->text[i + 1]] &
					 (B_UPPER | B_LOWER | B_DASH)))
			return REDACT_NO;
		a = redact_pem(v, i, s);
		return a != REDACT_NO ? a : redact_flag(r, v, i, s);
	case '~':
		return redact_azure(v, i, s);
	case '<':
		return redact_here(r, v, i, s);
	default:
		return at_escape(r, v, i, fresh, s);
	}
}

bool redact_may_begin(const struct redact *r, const unsigned char *p, size_t n)
{
	return n < REDACT_BEGIN ||
		redact_marked(token_begins, redact_begin(p)) ||
		redact_marked(r->words, p[0]) || redact_begins_bot(p, n);
}

static enum redact_answer at_word(const struct redact *r,
	const struct redact_view *v, size_t i, struct redact_span *s)
{
	if (v->n - i < REDACT_BEGIN) {
		*s = (struct redact_span){.from = i, .value = i};
		return v->last ? REDACT_NO : REDACT_MORE;
	}
	return redact_may_begin(r, v->text + i, v->n - i)
		? redact_word(r, v, i, s)
		: REDACT_NO;
}

static enum redact_answer at_end(const struct redact *r,
	const struct redact_view *v, size_t i, struct redact_span *s)
{
	return redact_marked(name_ends, redact_end(v->text + i))
		? redact_said(r, v, i, s)
		: REDACT_NO;
}

/* The first secret of a known shape at or behind at. */
static enum redact_answer find_shape(const struct redact *r,
	const struct redact_view *v, size_t at, struct redact_span *s)
{
	size_t fresh = fresh_behind(v, at);
	unsigned before = at ? redact_bytes[v->text[at - 1]] : 0;

	for (size_t i = at; i < v->n; i++) {
		const unsigned f = redact_bytes[v->text[i]];
		enum redact_answer a = REDACT_NO;

		if (f & B_WORD) {
			if (i == fresh || !(before & B_WORD))
				a = at_word(r, v, i, s);
			while (i + 1 < v->n && i + 1 != fresh &&
				redact_bytes[v->text[i + 1]] & B_WORD)
				i++;
		} else {
			if (before & B_WORD && f & B_BEHIND && i > 2)
				a = at_end(r, v, i, s);
			if (a == REDACT_NO && f & B_TRIGGER)
				a = at_trigger(r, v, i, &fresh, s);
		}
		if (a != REDACT_NO)
			return a;
		before = f;
	}
	return REDACT_NO;
}

static void first_of(enum redact_answer *a, struct redact_span *s,
	enum redact_answer other, const struct redact_span *t)
{
	if (other == REDACT_NO)
		return;
	if (*a != REDACT_NO &&
		(s->from < t->from || (s->from == t->from && s->to >= t->to)))
		return;
	*a = other;
	*s = *t;
}

enum redact_answer redact_find(const struct redact *r,
	const struct redact_view *v, size_t at, struct redact_span *s)
{
	enum redact_answer a = find_shape(r, v, at, s);
	struct redact_span t;

	if (r->secret_count)
		first_of(&a, s, redact_secret(r, v, at, &t), &t);
	if (r->shapes)
		first_of(&a, s, redact_pattern(r, v, at, &t), &t);
	return a;
}
