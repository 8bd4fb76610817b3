/* redact_markup.c - the value in an element of XML, and in a block of YAML
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "redact/redact_in.h"

/* The longest tag. */
enum { TAG_MAX = 80 };

/* Judges the whole value from i to end. */
static enum redact_answer judge_to(const struct redact_view *v, size_t at,
	size_t i, size_t end, enum redact_strength strength,
	struct redact_span *s)
{
	s->mode = REDACT_MODE_LINE;
	if (i < v->n && redact_begins_key(v, i))
		return redact_wait(v, s, at);
	if (end == v->n && !v->last)
		return redact_undecided(
			v, s, at, i, strength == STRENGTH_SURE && i < end);
	while (end > i && v->text[end - 1] <= ' ')
		end--;
	if (!redact_is_secret(v->text + i, end - i, strength))
		return REDACT_NO;
	s->from = i;
	s->to = end;
	redact_name_kind(v, s);
	return REDACT_YES;
}

/* The name in the tag that ends at at: the element's, or the one that a list's
 * entry has: <password>, <entry key="password">,
 * <key>password</key><string>. */
static size_t tag_name(
	const struct redact_view *v, size_t at, const unsigned char **key)
{
	static const char entries[] =
		"add\0attribute\0entry\0env\0field\0item\0param\0parameter\0"
		"property\0"
		"setting\0string\0value\0";
	static const char names[] = " name=\0 key=\0", closed[] = "</key>";
	const size_t len = sizeof closed - 1;
	size_t start = at, end;
	const unsigned char *p;

	/* Most '>' belong to an arrow. */
	if (!at || !(redact_bytes[v->text[at - 1]] & B_WORD ||
			   redact_quote(v->text[at - 1])))
		return 0;
	while (start && at - start < TAG_MAX && v->text[start - 1] &&
		!strchr("<>\n", v->text[start - 1]))
		start--;
	/* In "user:<password>@host" the tag is a placeholder. */
	if (!start || v->text[start - 1] != '<' ||
		(start > 1 && v->text[start - 2] &&
			strchr(":=/@", v->text[start - 2])))
		return 0;
	for (end = start; redact_bytes[v->text[end]] & (B_TOKEN | B_DOT) ||
		v->text[end] == ':'; end++)
		if (v->text[end] == ':')
			start = end + 1;
	*key = v->text + start;
	if (end != at && !redact_blank(v->text[end]))
		return 0;
	if (!redact_key_any(*key, end - start, entries))
		return end - start;
	EACH (name, names) {
		p = memmem(*key, at - start, name, strlen(name));
		if (!p || !redact_quote(p[strlen(name)]))
			continue;
		*key = p + strlen(name) + 1;
		for (end = 0; redact_bytes[(*key)[end]] & (B_TOKEN | B_DOT);)
			end++;
		return end;
	}
	for (start--; start && v->text[start - 1] <= ' ';)
		start--;
	if (start < len || memcmp(v->text + start - len, closed, len) != 0)
		return 0;
	end = redact_name_before(v, start - len);
	*key = v->text + start - len - end;
	return end;
}

enum redact_answer redact_element(const struct redact *r,
	const struct redact_view *v, size_t at, struct redact_span *s)
{
	static const char data[] = "<![CDATA[";
	const size_t len = sizeof data - 1;
	const unsigned char *key;
	const size_t n = tag_name(v, at, &key);
	enum redact_strength strength =
		n ? redact_key_strength(r, key, n) : STRENGTH_NONE;
	size_t i = at + 1, end, left;

	if (!strength)
		return REDACT_NO;
	while (i < v->n && i - at < TAG_MAX && v->text[i] <= ' ')
		i++;
	left = v->n - i;
	if (redact_agrees(v, i, data)) {
		if (left < len)
			return redact_wait(v, s, at);
		i += len;
	}
	for (end = i; end < v->n && v->text[end] != '<' && v->text[end] != '\n';)
		end++;
	/* Programs keep their messages in such lists, too. */
	if (redact_quote(key[-1]) && memchr(v->text + i, ' ', end - i))
		return REDACT_NO;
	if ((end == v->n || v->text[end] == '\n') && strength == STRENGTH_SURE)
		strength = STRENGTH_LIKELY;
	return judge_to(v, at, i, end, strength, s);
}

size_t redact_block_begins(const struct redact_view *v, size_t i)
{
	size_t k = i;

	if (k < v->n && (v->text[k] == '|' || v->text[k] == '>'))
		for (k++; k < v->n && v->text[k] && strchr("-+123456789", v->text[k]);)
			k++;
	k += k < v->n && v->text[k] == '\r';
	if (k < v->n && v->text[k] != '\n')
		return i;
	while (k < v->n && (v->text[k] == '\n' || v->text[k] == ' '))
		k++;
	return k == v->n || v->text[k - 1] == ' ' ? k : i;
}

/* The end of the lines with the indentation of the line at i. */
static size_t block_end(const struct redact_view *v, size_t i)
{
	size_t indent = 0, line, end;

	while (i > indent && v->text[i - indent - 1] == ' ')
		indent++;
	for (end = i; end < v->n; end = line) {
		while (end < v->n && v->text[end] != '\n')
			end++;
		for (line = end; line < v->n && v->text[line] == '\n';)
			line++;
		for (i = line; line < v->n && v->text[line] == ' ';)
			line++;
		if (line < v->n && line - i < indent)
			return end;
	}
	return v->n;
}

enum redact_answer redact_block(const struct redact_view *v, size_t at,
	size_t i, bool marked, enum redact_strength strength,
	struct redact_span *s)
{
	size_t end = i;

	if (marked)
		return judge_to(v, at, i, block_end(v, i), strength, s);
	while (end < v->n && v->text[end] > ' ')
		end++;
	if (strength != STRENGTH_SURE ||
		(end < v->n && v->text[end] != '\n' && v->text[end] != '\r') ||
		v->text[end - 1] == ':' || memchr(v->text + i, '=', end - i))
		return REDACT_NO;
	return judge_to(v, at, i, end, STRENGTH_LIKELY, s);
}
