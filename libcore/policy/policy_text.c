/* policy_text.c - a policy file as lines of words
 * SPDX-License-Identifier: MIT
 */
#include "policy/policy_text_in.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "base/buf.h"
#include "base/num.h"
#include "base/str.h"
#include "base/utf8.h"

struct out {
	struct policy_line *line;
	size_t used;
};

void policy_text_init(
	struct policy_text *t, const char *file, const char *s, size_t n)
{
	*t = (struct policy_text){
		.file = file, .at = s, .end = s + n, .bol = s, .line = 1};
}

FLOATLESS int policy_text_bad(struct diag *d, const struct policy_line *line,
	const struct policy_word *w, const char *fmt, ...)
{
	char text[sizeof(d->text)];
	struct buf b = BUF_FIXED(text);
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&b, fmt, ap);
	va_end(ap);
	diag_fail(d, -EINVAL, "%s", b.err ? "bad word" : buf_str(&b));
	diag_at(d, line->file, w ? w->line : line->line, w ? w->col : 1);
	return -EINVAL;
}

static unsigned column_of(const struct policy_text *t)
{
	return (unsigned)(t->at - t->bol) + 1;
}

static int bad_here(struct policy_text *t, struct diag *d, const char *text)
{
	diag_fail(d, -EINVAL, "%s", text);
	diag_at(d, t->file, t->line, column_of(t));
	return -EINVAL;
}

static char peek_byte(const struct policy_text *t, size_t ahead)
{
	return (size_t)(t->end - t->at) > ahead ? t->at[ahead] : '\n';
}

static void next_line(struct policy_text *t)
{
	if (t->at < t->end)
		t->at++;
	t->bol = t->at;
	t->line++;
}

/* Steps over blanks, joined line ends and a comment. True at the end of the
 * joined line. */
static bool skip_blank(struct policy_text *t)
{
	for (;;) {
		char c = peek_byte(t, 0);

		if (t->at == t->end || c == '\n')
			return true;
		if (c == '\\' && peek_byte(t, 1) == '\n' &&
			t->at + 1 < t->end) {
			t->at++;
			next_line(t);
		} else if (c == '#') {
			while (t->at < t->end && *t->at != '\n')
				t->at++;
		} else if (c == ' ' || c == '\t') {
			t->at++;
		} else {
			return false;
		}
	}
}

static int put_byte(
	struct out *o, struct policy_text *t, char c, struct diag *d)
{
	if (o->used >= sizeof(o->line->bytes) - 1)
		return bad_here(
			t, d, "line too long, expected at most 16383 bytes");
	o->line->bytes[o->used++] = c;
	return 0;
}

static int read_escape(struct policy_text *t, char *c, struct diag *d)
{
	static const char from[] = "\"\\nt", to[] = "\"\\\n\t";
	const char *at;

	t->at++;
	at = strchr(from, peek_byte(t, 0));
	if (!at || !*at)
		return bad_here(t, d,
			"unknown escape, expected \\\" \\\\ \\n \\t");
	*c = to[at - from];
	t->at++;
	return 0;
}

static int read_quoted(struct policy_text *t, struct out *o, struct diag *d)
{
	struct policy_text open = *t;
	char q = *t->at++;
	int rc = 0;

	for (;;) {
		char c = peek_byte(t, 0);

		if (t->at == t->end || c == '\n')
			return bad_here(
				&open, d, "quote not closed on its line");
		if (c == q)
			break;
		if (c == '\\' && q == '"')
			rc = read_escape(t, &c, d);
		else
			t->at++;
		if (rc == 0)
			rc = put_byte(o, t, c, d);
		if (rc < 0)
			return rc;
	}
	t->at++;
	return 0;
}

/* Refuses bytes that a person could not see or a terminal would obey, except
 * the two that a line to test may hold. */
static int check_byte(
	const struct out *o, const struct policy_word *w, struct diag *d)
{
	const char *end = o->line->bytes + o->used;
	uint32_t cp;
	size_t n;

	for (const char *s = w->s; s + 1 < end; s += n) {
		n = utf8_decode(s, (size_t)(end - s), &cp);
		if (!n)
			return policy_text_bad(
				d, o->line, w, "word is not UTF-8");
		if (utf8_is_hidden(cp) && cp != '\n' && cp != '\t')
			return policy_text_bad(d, o->line, w,
				"the character U+%04X has no place in a word",
				(unsigned)cp);
	}
	return 0;
}

/* Reads one word. */
static int read_word(
	struct policy_text *t, struct out *o, struct policy_word *w,
	struct diag *d)
{
	int rc = 0;

	*w = (struct policy_word){.s = o->line->bytes + o->used,
		.line = t->line,
		.col = column_of(t)};
	while (rc == 0 && t->at < t->end) {
		char c = *t->at;

		if (c == ' ' || c == '\t' || c == '\n' ||
			(c == '\\' && peek_byte(t, 1) == '\n'))
			break;
		if (c == '\'' || c == '"') {
			w->quoted = true;
			rc = read_quoted(t, o, d);
			continue;
		}
		rc = put_byte(o, t, c, d);
		t->at++;
	}
	if (rc == 0)
		rc = put_byte(o, t, 0, d);
	return rc < 0 ? rc : check_byte(o, w, d);
}

static int read_reason(struct policy_text *t, struct out *o, struct diag *d)
{
	struct policy_word *to[] = {&o->line->text, &o->line->alt};

	for (unsigned i = 0; i < 2; i++) {
		if (skip_blank(t))
			break;
		if (peek_byte(t, 0) != '"' && peek_byte(t, 0) != '\'')
			return bad_here(
				t, d, "expected a quoted text behind ':'");
		if (read_word(t, o, to[i], d) < 0)
			return -EINVAL;
	}
	if (!o->line->text.s)
		return bad_here(t, d, "expected a quoted text behind ':'");
	return skip_blank(t) ? 0
			     : bad_here(t, d,
				       "expected the end of the line behind "
				       "the texts");
}

int policy_text_next(
	struct policy_text *t, struct policy_line *line, struct diag *d)
{
	struct out o = {.line = line};

	line->file = t->file;
	line->count = 0;
	line->text.s = line->alt.s = NULL;
	while (skip_blank(t)) {
		if (t->at == t->end)
			return 0;
		next_line(t);
	}
	line->line = t->line;
	line->indented = t->bol < t->end && (*t->bol == ' ' || *t->bol == '\t');
	do {
		struct policy_word *w = &line->word[line->count];

		if (line->count > 0 && peek_byte(t, 0) == ':' &&
			strchr(" \t\n", peek_byte(t, 1))) {
			t->at++;
			if (read_reason(t, &o, d) < 0)
				return -EINVAL;
			break;
		}
		if (line->count == POLICY_WORDS_MAX - 1)
			return bad_here(
				t, d, "too many words, expected at most 511");
		if (read_word(t, &o, w, d) < 0)
			return -EINVAL;
		line->count++;
	} while (!skip_blank(t));
	return 1;
}
