/* redact_header.c - the value of a header, to the end of its line
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "redact/redact_in.h"

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

enum redact_answer redact_header_value(const struct redact_view *v, size_t i,
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
		return redact_header_value(v, i + 1, s, scheme);
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
	/* What is no cookie of either kind is something said of them. */
	if (!scheme && !memchr(v->text + i, '=', end - i))
		return REDACT_NO;
	return end > i && !redact_placeholder(v->text + i, end - i)
		? REDACT_YES
		: REDACT_NO;
}
