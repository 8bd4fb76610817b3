/* shell_lex_here.c - here-documents of shell text
 * SPDX-License-Identifier: MIT
 */
#include "shell/shell_lex_in.h"

#include <errno.h>
#include <string.h>

/* One line of the source, without its newline. */
struct line {
	size_t start, end, next;
	bool torn; /* the line ends in a continuation */
};

static bool next_line(const struct shell_parser *p, size_t at, struct line *l)
{
	const char *nl;
	size_t slashes = 0;

	if (at >= p->len)
		return false;
	nl = memchr(p->text + at, '\n', p->len - at);
	l->start = at;
	l->end = nl ? (size_t)(nl - p->text) : p->len;
	l->next = nl ? l->end + 1 : p->len;
	while (slashes < l->end - at && p->text[l->end - 1 - slashes] == '\\')
		slashes++;
	l->torn = nl && slashes % 2;
	return true;
}

static bool is_mark(const char *s, size_t n, struct shell_str t)
{
	return n == t.n && memcmp(s, t.p, n) == 0;
}

/* Does the text from `at`, with continuations joined, begin with the delimiter
 * and a newline? bash ends a here-document there, the other shells do not. */
static bool joined_is(struct shell_parser *p, size_t at, struct shell_str delim)
{
	size_t kept = p->pos;
	bool is = true;
	int c;

	p->pos = at;
	for (size_t i = 0; i < delim.n && is; i++) {
		is = shell_peek(p) == (unsigned char)delim.p[i];
		p->pos++;
	}
	c = is ? shell_peek(p) : 0;
	p->pos = kept;
	return is && (c == '\n' || c < 0);
}

static size_t count_tabs(const struct shell_parser *p, const struct line *l)
{
	size_t n = 0;

	while (l->start + n < l->end && p->text[l->start + n] == '\t')
		n++;
	return n;
}

/* Finds the body's end, and the end of the delimiter's line; `to` gets the body
 * without its tabs, unless it is NULL. */
static bool find_end(struct shell_parser *p, const struct shell_redir *r,
	struct shell_str delim, char *to, size_t *n)
{
	size_t at = p->pos;
	bool torn = false;
	struct line l;

	for (*n = 0; next_line(p, at, &l); at = l.next) {
		size_t skip = r->strip ? count_tabs(p, &l) : 0;

		if (!torn && is_mark(p->text + l.start + skip,
				     l.end - l.start - skip, delim)) {
			p->pos = l.next;
			return true;
		}
		if (torn && skip) {
			shell_fail(p, -ENOTSUP, l.start,
				"continued line with tabs in a <<- document");
			return false;
		}
		if (!r->literal && !torn && l.torn &&
			joined_is(p, l.start + skip, delim)) {
			shell_fail(p, -ENOTSUP, l.start,
				"here-document's end torn by a continuation: "
				"shells disagree");
			return false;
		}
		if (to)
			memcpy(to + *n, p->text + l.start + skip,
				l.next - l.start - skip);
		*n += l.next - l.start - skip;
		torn = !r->literal && l.torn;
	}
	shell_fail(p, -ENOTSUP, r->span.start, "here-document without its end");
	return false;
}

/* Makes a word of the body: from the source where the offsets hold, else from
 * the copy. */
static struct shell_word *here_body(struct shell_parser *p,
	const struct shell_redir *r, size_t start, struct shell_str text)
{
	struct shell_parser in = *p;
	struct shell_word *w;

	if (!r->strip) {
		in.pos = start;
		in.len = start + text.n;
	} else {
		in.text = text.p;
		in.pos = 0;
		in.len = text.n;
		in.fixed = true;
		if (!p->fixed)
			in.span = r->span;
	}
	in.npending = 0;
	w = shell_word(&in, MODE_HERE);
	p->err = in.err;
	return w;
}

static void read_one(struct shell_parser *p, struct shell_redir *r)
{
	size_t start = p->pos, n = 0;
	struct shell_str delim, text;
	char *to = r->strip ? shell_bytes(p, p->len - start + 1) : NULL;
	struct shell_part *part;

	if (r->strip && !to)
		return;
	delim = shell_word_text(p->a, r->word);
	if (!delim.p || shell_str_has(delim, "\n")) {
		shell_fail(p, -ENOTSUP, r->span.start,
			"here-document whose end is not plain text");
		return;
	}
	if (!find_end(p, r, delim, to, &n))
		return;
	text = (struct shell_str){to ? to : p->text + start, n};
	if (!r->literal) {
		r->here = here_body(p, r, start, text);
		return;
	}
	r->here = shell_new(p, struct shell_word);
	part = shell_part(p, SHELL_SQ, start);
	if (!r->here || !part)
		return;
	part->text = text;
	r->here->parts = part;
	r->here->quoted = true;
	r->here->span = part->span;
}

void shell_read_heredocs(struct shell_parser *p)
{
	unsigned n = p->npending;

	p->npending = 0;
	for (unsigned i = 0; i < n && !p->err; i++)
		read_one(p, p->pending[i]);
}
