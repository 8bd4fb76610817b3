/* redact_header.c - the value of a header, to the end of its line
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "redact/redact_in.h"

/* The longest quoted part of a header. */
enum { OWN = 256 };

unsigned redact_header(const unsigned char *key, size_t n, bool colon)
{
	static const char schemes[] = "authorization\0proxy-authorization\0";
	static const char others[] = "cookie\0set-cookie\0";

	/* Most names are done with here. */
	if (n < 6 || !strchr("aApPcCsS", key[0]))
		return 0;
	if (redact_key_any(key, n, schemes))
		return 1;
	return colon && redact_key_any(key, n, others) ? 2 : 0;
}

/* May another part of the header stand behind the blank at at: behind a comma,
 * or of a cookie "name=" or a word without a value? MORE: the text ends before
 * that is known. */
static enum redact_answer part_follows(
	const struct redact_view *v, size_t at, bool cookie)
{
	static const char words[] = "httponly\0secure\0partitioned\0";
	size_t i = at + 1;

	if (!at || v->text[at - 1] != (cookie ? ';' : ','))
		return REDACT_NO;
	while (cookie && i < v->n && redact_bytes[v->text[i]] & (B_TOKEN | B_DOT))
		i++;
	if (i == v->n && !v->last)
		return REDACT_MORE;
	return !cookie || (i < v->n && v->text[i] == '=') ||
			redact_key_any(v->text + at + 1, i - at - 1, words)
		? REDACT_YES
		: REDACT_NO;
}

/* The end of the header's parts, or the quote around all of them. A quote
 * behind '=' is a part's own: Digest username="x". */
size_t redact_parts_end(const struct redact_view *v, size_t at, bool cookie)
{
	unsigned char own = 0;
	size_t opened = at;

	for (; at < v->n && v->text[at] != '\n' && v->text[at] != '\r'; at++) {
		const unsigned char c = v->text[at];

		if (own && at - opened > OWN)
			return opened;
		if (!own && redact_blank(c) && v->text[at - 1] != '\\') {
			const enum redact_answer a = part_follows(v, at, cookie);

			if (a != REDACT_YES)
				return a == REDACT_MORE ? v->n : at;
		}
		if (c != '"' && c != '\'')
			continue;
		if (own == c)
			own = 0;
		else if (!own && v->text[at - 1] != '=')
			break;
		else if (!own) {
			own = c;
			opened = at;
		}
	}
	/* A quotation mark without its pair begins no quoted part. */
	return own && (at < v->n || v->last) ? opened : at;
}

enum redact_answer redact_header_value(const struct redact_view *v, size_t i,
	struct redact_span *s, bool scheme)
{
	const size_t start = i;
	size_t end;

	while (scheme && i < v->n && redact_bytes[v->text[i]] & B_TOKEN)
		i++;
	if (i == v->n && !v->last)
		return REDACT_MORE;
	/* The quote of an f-string. */
	if (i == start + 1 && v->text[i] == '"')
		return redact_header_value(v, i + 1, s, scheme);
	if (scheme && i < v->n && v->text[i] == ' ' && i - start < 20)
		i++;
	else
		i = start;
	end = redact_parts_end(v, i, !scheme);
	s->mode = scheme && i == start ? REDACT_MODE_SCHEME : REDACT_MODE_LINE;
	s->tail = REDACT_TAIL_OWN;
	s->kind = KIND_HEADER;
	s->from = i;
	s->to = end;
	if (end == v->n && !v->last)
		return REDACT_MORE;
	/* A value without '=' is no cookie but something said about one. */
	if (!scheme && !memchr(v->text + i, '=', end - i))
		return REDACT_NO;
	return end > i && !redact_placeholder(v->text + i, end - i)
		? REDACT_YES
		: REDACT_NO;
}
