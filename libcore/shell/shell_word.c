/* shell_word.c - words of shell text: quotes and literal runs
 * SPDX-License-Identifier: MIT
 */
#include "shell/shell_lex_in.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"

struct parts {
	struct shell_part *first, *last;
	bool quoted;
};

static void append_part(struct parts *list, struct shell_part *part)
{
	if (!part)
		return;
	if (list->last)
		list->last->next = part;
	else
		list->first = part;
	list->last = part;
}

bool shell_mode_quoted(enum shell_mode mode)
{
	return !(1U << mode &
		 (1U << MODE_PLAIN | 1U << MODE_BRACE | 1U << MODE_PATTERN |
			 1U << MODE_REGEX | 1U << MODE_SUBSCRIPT));
}

/* @(a|b) and similar, which [[ ]] accepts whatever extglob says. Where no
 * pattern can stand "!(" is a negation. */
static bool in_extglob(const struct shell_parser *p, int c, unsigned *nest)
{
	char before = p->pos ? p->text[p->pos - 1] : ' ';

	if (c == '(' && (*nest || strchr("?*+@!", before)) &&
		p->pos > p->tok_at &&
		(p->pattern || before != '!' || *nest ||
			p->pos != p->tok_at + 1))
		++*nest;
	else if (c == ')' && *nest)
		--*nest;
	else if (!*nest)
		return false;
	return true;
}

/* Is it a blank, a newline or a character of operators? */
static bool is_meta(int c)
{
	switch (c) {
	case ' ':
	case '\t':
	case '\n':
	case ';':
	case '&':
	case '|':
	case '<':
	case '>':
	case '(':
	case ')':
		return true;
	default:
		return false;
	}
}

/* The ends of a word by mode: in any case, and where nothing is open; and the
 * characters that open and close: a closing one too many also ends the word. */
static const struct {
	char end, stop, open, close;
} modes[] = {
	[MODE_DQ] = {'"', 0, 0, 0},
	[MODE_HERE] = {0, 0, 0, 0},
	[MODE_BRACE] = {'}', 0, 0, 0},
	[MODE_BRACE_DQ] = {'}', 0, 0, 0},
	[MODE_PATTERN] = {'}', '/', 0, 0},
	[MODE_PATTERNDQ] = {'}', 0, 0, 0},
	[MODE_SLICE] = {'}', ':', '(', ')'},
	[MODE_ARITH] = {0, 0, '(', ')'},
	[MODE_BRACKET] = {0, 0, '[', ']'},
	[MODE_SUBSCRIPT] = {0, 0, '[', ']'},
	[MODE_FORARITH] = {0, ';', '(', ')'},
	[MODE_REGEX] = {0, 0, '(', ')'},
};

/* nest: parentheses or brackets open since the word began. */
static bool word_ends(
	struct shell_parser *p, enum shell_mode mode, int c, unsigned *nest)
{
	if (mode == MODE_PLAIN) {
		if ((c == '<' || c == '>') && !p->cond && shell_peek2(p) == '(')
			return !shell_is(p, D_BASH | D_ASH);
		if (p->cond && in_extglob(p, c, nest))
			return false;
		return is_meta(c);
	}
	if (c == modes[mode].close)
		return !(*nest)--;
	if (c == modes[mode].open)
		++*nest;
	if (c == modes[mode].end)
		return true;
	if (*nest)
		return false;
	if (mode == MODE_REGEX)
		return is_meta(c) && (c != '|' || shell_peek2(p) == '|');
	return c == modes[mode].stop;
}

static struct shell_part *single_quoted(struct shell_parser *p)
{
	size_t start = p->pos++;
	const char *end = memchr(p->text + p->pos, '\'', p->len - p->pos);
	struct shell_part *part;

	if (!end)
		return shell_fail(p, -EINVAL, start, "' without its end");
	p->pos = (size_t)(end - p->text) + 1;
	part = shell_part(p, SHELL_SQ, start);
	if (part)
		part->text = (struct shell_str){
			p->text + start + 1, p->pos - start - 2};
	return part;
}

static struct shell_part *double_quoted(
	struct shell_parser *p, enum shell_mode mode, size_t start)
{
	struct shell_part *part;
	struct shell_word *w;

	shell_skip(p);
	w = shell_word(p, MODE_DQ);
	if (!shell_eat(p, '"'))
		return shell_fail(p, mode >= MODE_SLICE ? -ENOTSUP : -EINVAL,
			start, "\" without its end");
	part = shell_part(p, SHELL_DQ, start);
	if (!part || p->err)
		return NULL;
	part->u.parts = shell_word_parts(w);
	/* Shells count such brackets differently, and a backquote is printed as
	 * $(). */
	if (mode >= MODE_SLICE)
		for (size_t i = start; i < p->pos; i++)
			if (strchr("()[]`", p->text[i]) && p->text[i])
				return shell_fail(p, -ENOTSUP, start,
					"quoted brackets in arithmetic");
	return part;
}

/* Inside "${x-…}" a single quote is a letter to some shells and shields a brace
 * in others: only text that means the same to all is accepted. */
static bool quote_is_plain(struct shell_parser *p)
{
	for (size_t i = p->pos + 1; i < p->len; i++) {
		if (p->text[i] == '\'')
			return true;
		if (strchr("}$`\"\\\n", p->text[i]))
			break;
	}
	shell_fail(p, -ENOTSUP, p->pos,
		"single quote inside \"${...}\": shells disagree");
	return false;
}

static bool read_escapes(enum shell_mode mode, int c)
{
	if (!shell_mode_quoted(mode))
		return true;
	if (c == '"')
		return mode != MODE_HERE && mode != MODE_ARITH;
	if (c == '}')
		return mode == MODE_BRACE_DQ || mode == MODE_PATTERNDQ;
	if (mode == MODE_PATTERNDQ)
		return true;
	return c == '$' || c == '`' || c == '\\';
}

/* Reads an escape at a backslash; NULL when the backslash is an ordinary
 * character here. */
static struct shell_part *read_escape(struct shell_parser *p, enum shell_mode mode)
{
	size_t start = p->pos;
	struct shell_part *part;
	size_t n = 1;

	if (start + 1 >= p->len) {
		if (!shell_mode_quoted(mode))
			shell_fail(p, -ENOTSUP, start,
				"nothing behind the last backslash");
		return NULL;
	}
	if (!read_escapes(mode, (unsigned char)p->text[start + 1]))
		return NULL;
	/* A UTF-8 character is kept whole. */
	while (start + 1 + n < p->len && (p->text[start + 1] & 0xc0) == 0xc0 &&
		(p->text[start + 1 + n] & 0xc0) == 0x80)
		n++;
	p->pos = start + 1 + n;
	part = shell_part(p, SHELL_ESC, start);
	if (part)
		part->text = (struct shell_str){p->text + start + 1, n};
	return part;
}

/* Reads ~ and ~user at a word's beginning, and behind = and : in values. */
static struct shell_part *read_tilde(struct shell_parser *p, enum shell_mode mode)
{
	const char *ends = mode == MODE_BRACE ? "}/:" : " \t\n;&|<>()/:";
	size_t start = p->pos, end = start + 1;
	struct shell_part *part;

	while (end < p->len &&
		(chr_name(p->text[end]) || strchr("+-.", p->text[end])) &&
		p->text[end])
		end++;
	if (end + 1 < p->len && p->text[end] == '\\' &&
		p->text[end + 1] == '\n')
		return shell_fail(
			p, -ENOTSUP, start, "line continuation behind a tilde");
	if (end < p->len && !strchr(ends, p->text[end]))
		return NULL;
	p->pos = end;
	part = shell_part(p, SHELL_TILDE, start);
	if (part)
		part->text = (struct shell_str){
			p->text + start + 1, end - start - 1};
	return part;
}

static bool tilde_place(
	const struct parts *list, enum shell_mode mode, bool in_cond)
{
	const struct shell_str *last = list->last ? &list->last->text : NULL;

	if (mode != MODE_PLAIN && mode != MODE_BRACE && mode != MODE_REGEX)
		return false;
	if (!last)
		return true;
	return mode == MODE_PLAIN && !in_cond &&
	       list->last->type == SHELL_LIT && last->n &&
	       (last->p[last->n - 1] == '=' || last->p[last->n - 1] == ':');
}

/* Reads one part that is no literal run; NULL when c is literal here. */
static struct shell_part *is_special(struct shell_parser *p, enum shell_mode mode,
	const struct parts *list, int c)
{
	size_t start = p->pos;

	switch (c) {
	case '\\':
		return read_escape(p, mode);
	case '\'':
		if (mode == MODE_BRACE_DQ && !quote_is_plain(p))
			return NULL;
		if (mode == MODE_BRACE_DQ || mode == MODE_DQ ||
			mode == MODE_HERE)
			return NULL;
		if (shell_mode_quoted(mode) && mode != MODE_PATTERNDQ)
			return shell_fail(p, -ENOTSUP, start,
				"single quote in arithmetic");
		if (mode == MODE_PATTERNDQ && !quote_is_plain(p))
			return NULL;
		return single_quoted(p);
	case '"':
		return mode == MODE_HERE ? NULL : double_quoted(p, mode, start);
	case '`':
		return shell_backquote(p, mode);
	case '$':
		shell_skip(p);
		return shell_dollar(p, mode, start);
	case '~':
		return tilde_place(list, mode, p->cond) ? read_tilde(p, mode) : NULL;
	case '<':
	case '>':
		if (shell_peek2(p) != '(')
			return NULL;
		if (mode == MODE_PLAIN)
			return shell_procsub(p);
		/* bash runs it there, too, or at least looks for its end. */
		if (((mode >= MODE_BRACE && mode <= MODE_PATTERNDQ) ||
			    mode == MODE_REGEX) &&
			shell_is(p, D_BASH))
			return shell_fail(p, -ENOTSUP, p->pos,
				"a process substitution inside of a word");
		return NULL;
	default:
		return NULL;
	}
}

/* Adds text[start..pos) to the last literal: in place, or by a copy where a
 * continuation split it. */
static void literal_run(
	struct shell_parser *p, struct parts *list, size_t start)
{
	struct shell_part *part = list->last;
	struct shell_str more = {p->text + start, p->pos - start};
	char *to;

	if (!part || part->type != SHELL_LIT) {
		part = shell_part(p, SHELL_LIT, start);
		if (part)
			part->text = more;
		append_part(list, part);
		return;
	}
	if (part->text.p + part->text.n != more.p) {
		to = shell_bytes(p, part->text.n + more.n);
		if (!to)
			return;
		memcpy(to, part->text.p, part->text.n);
		memcpy(to + part->text.n, more.p, more.n);
		part->text.p = to;
	}
	part->text.n += more.n;
	if (!p->fixed)
		part->span.len = (uint32_t)p->pos - part->span.start;
}

/* Is the byte literal in every mode, and ends no word? */
static bool is_dull(char c)
{
	return chr_name(c) || c == '.' || c == ',' || c == '+' || c == '%' ||
	       (unsigned char)c >= 0x80;
}

static void read_parts(
	struct shell_parser *p, enum shell_mode mode, struct parts *list)
{
	unsigned nest = 0;

	for (;;) {
		int c = shell_peek(p);
		size_t run = p->pos;
		struct shell_part *part;

		if (c < 0 || word_ends(p, mode, c, &nest))
			return;
		part = is_special(p, mode, list, c);
		if (p->err)
			return;
		if (part && part->type != SHELL_LIT) {
			list->quoted |= part->type == SHELL_SQ ||
					part->type == SHELL_DQ ||
					part->type == SHELL_ESC ||
					part->type == SHELL_ANSI;
			append_part(list, part);
			continue;
		}
		p->pos = run + 1;
		while (p->pos < p->len && is_dull(p->text[p->pos]))
			p->pos++;
		literal_run(p, list, run);
	}
}

struct shell_word *shell_word(struct shell_parser *p, enum shell_mode mode)
{
	struct shell_word *w = shell_new(p, struct shell_word);
	struct parts list = {0};
	size_t start;

	if (!w)
		return NULL;
	shell_peek(p);
	start = p->pos;
	read_parts(p, mode, &list);
	w->parts = list.first;
	w->quoted = list.quoted;
	w->span = shell_span(p, start);
	return w;
}

struct shell_str shell_word_literal(const struct shell_word *w)
{
	if (!w || !w->parts || w->parts->next || w->parts->type != SHELL_LIT)
		return SHELL_STR("");
	return w->parts->text;
}

bool shell_word_is(const struct shell_word *w, const char *text)
{
	return shell_str_is(shell_word_literal(w), text);
}

static size_t constant_size(const struct shell_part *part, char *to)
{
	size_t n = 0;

	for (; part; part = part->next) {
		if (part->type == SHELL_DQ) {
			size_t in = constant_size(
				part->u.parts, to ? to + n : NULL);

			if (in == (size_t)-1)
				return in;
			n += in;
			continue;
		}
		if (part->type > SHELL_ANSI)
			return (size_t)-1;
		if (to && part->text.n)
			memcpy(to + n, part->text.p, part->text.n);
		n += part->text.n;
	}
	return n;
}

struct shell_str shell_word_text(struct arena *a, const struct shell_word *w)
{
	struct shell_str s = shell_word_literal(w);
	char *to;

	if (s.n)
		return s;
	s.n = constant_size(w->parts, NULL);
	if (s.n == (size_t)-1)
		return (struct shell_str){0};
	to = arena_bytes(a, s.n ? s.n : 1);
	if (!to)
		return (struct shell_str){0};
	constant_size(w->parts, to);
	s.p = to;
	return s;
}
