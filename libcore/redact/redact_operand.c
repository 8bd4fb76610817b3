/* redact_operand.c - a secret that is one of a program's words
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "redact/redact_in.h"

/* Bounds of a program's name and of its line. */
enum { NAME = 64, LINE = 4000 };

/* Does the byte at i end the words of a command: an operator, an expansion, a
 * comment? */
static bool line_ends(const unsigned char *p, size_t i)
{
	return !p[i] || strchr("\n;|&`<>", p[i]) ||
		(p[i] == '(' && p[i - 1] == '$') ||
		(p[i] == '#' && redact_blank(p[i - 1]));
}

/* The end of the word that begins at i. */
static size_t word_end(const struct redact_view *v, size_t i, size_t end)
{
	const unsigned char mark = v->text[i];
	const unsigned char *close = redact_quotation(mark)
		? memchr(v->text + i + 1, mark, end - i - 1)
		: NULL;

	if (close)
		return (size_t)(close - v->text) + 1;
	while (i < end && !redact_blank(v->text[i]))
		i++;
	return i;
}

/* Finds the secret among the words from i to end, for o: from and to in s. Of
 * "user/value@where" the value is judged. */
static bool find_word(const struct redact_view *v, const struct policy_secret *o,
	size_t i, size_t end, struct redact_span *s)
{
	const unsigned char *p = v->text, *sign;
	const bool rest = o->how == POLICY_WORD_REST;
	const bool next = o->how == POLICY_WORD_NEXT;
	const unsigned which = rest ? 1 : next ? 2 : o->how;
	const char letter = o->flag[o->flag[0] == '-'];
	bool told = !o->word[0], flagged = !letter;
	unsigned count = 0;

	for (; i < end; i++) {
		const size_t to = word_end(v, i, end);

		if (to == i)
			continue;
		if (p[i] == '-' || p[i] == (unsigned char)letter) {
			flagged |= letter && memchr(p + i, letter, to - i);
			if (next && count == 1)
				return false;
		} else if (!told && redact_key_is(p + i, to - i, o->word)) {
			told = true;
			count = 0;
		} else if (++count == 1 || count == which ||
			o->how == POLICY_WORD_LAST) {
			s->from = i;
			s->to = to;
		}
		i = to;
	}
	if (!told || !flagged || !count || count < which)
		return false;
	s->to = rest && !redact_quotation(p[s->from]) ? end : s->to;
	/* Without the word's own quotes, or one around the whole line. */
	s->from += redact_quotation(p[s->from]);
	s->to -= redact_quotation(p[s->to - 1]);
	if (s->from >= s->to)
		return false;
	sign = o->sign ? memchr(p + s->from, '/', s->to - s->from) : NULL;
	if (sign && redact_bytes[p[s->from]] & B_ALNUM &&
		!memchr(p + s->from, '@', (size_t)(sign - p) - s->from))
		s->from = (size_t)(sign - p) + 1;
	else if (o->sign)
		return false;
	sign = o->sign ? memchr(p + s->from, '@', s->to - s->from) : NULL;
	s->to = sign ? (size_t)(sign - p) : s->to;
	/* net's share may be the word itself. */
	return !memchr(p + s->from, '=', s->to - s->from) &&
		!(letter == '/' && p[s->from] == '\\') &&
		redact_is_secret(p + s->from, s->to - s->from,
			o->likely ? STRENGTH_LIKELY : STRENGTH_SURE);
}

enum redact_answer redact_operand(const struct redact *r,
	const struct redact_view *v, size_t at, struct redact_span *s)
{
	const unsigned char *p = v->text;
	const struct policy_secret *o;
	size_t named = at;

	*s = (struct redact_span){.kind = KIND_FLAG, .mode = REDACT_MODE_LINE};
	if (at < v->n && redact_marked(r->wordless, p[at]))
		return REDACT_NO;
	while (named < v->n && !redact_blank(p[named]))
		if (++named - at > NAME)
			return REDACT_NO;
	for (size_t i = 0; (o = redact_line(r, i)); i++) {
		size_t end = named;

		if (o->kind != POLICY_SECRET_WORD ||
			!redact_listed(o->programs, (const char *)p + at,
				named - at, named == v->n))
			continue;
		while (end < v->n && !line_ends(p, end))
			if (++end - at > LINE)
				return REDACT_NO;
		if (end >= v->n && !v->last)
			return redact_wait(v, s, at);
		if (find_word(v, o, named, end, s))
			return REDACT_YES;
	}
	return REDACT_NO;
}

enum redact_answer redact_word(const struct redact *r,
	const struct redact_view *v, size_t at, struct redact_span *s)
{
	enum redact_answer a = redact_token(v, at, s);

	if (a == REDACT_NO)
		a = redact_piped(r, v, at, s);
	return a != REDACT_NO ? a : redact_operand(r, v, at, s);
}
