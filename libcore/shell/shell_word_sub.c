/* shell_word_sub.c - substitutions and $'…' in words of shell text
 * SPDX-License-Identifier: MIT
 */
#include "shell/shell_lex_in.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "base/utf8.h"

static struct shell_part *read_cmdsub(struct shell_parser *p, size_t start)
{
	struct shell_part *part;
	struct shell_list *body;

	shell_skip(p);
	body = shell_parse_sub(p);
	part = shell_part(p, SHELL_CMDSUB, start);
	if (part)
		part->u.body = body;
	return part;
}

/* The backquote's end. The shells disagree on a continuation inside single
 * quotes within it; double quotes may hide where those are. */
static size_t backquote_end(struct shell_parser *p, size_t start)
{
	bool torn = false, quote = false, open = false, hidden = false;
	bool bad = false;

	for (size_t i = start + 1; i < p->len; i++) {
		if (p->text[i] == '`') {
			bad |= torn && quote && hidden;
			if (bad)
				break;
			return i;
		}
		hidden |= p->text[i] == '"';
		quote |= p->text[i] == '\'';
		open ^= p->text[i] == '\'';
		if (p->text[i] != '\\' || ++i == p->len)
			continue;
		if (p->text[i] == '\n') {
			torn = true;
			bad |= open;
		} else {
			hidden |= open || p->text[i] == '\'';
		}
	}
	shell_fail(p, bad ? -ENOTSUP : -EINVAL, start,
		bad ? "line continuation in a quoted backquote"
		    : "` without its end");
	return 0;
}

struct shell_part *shell_backquote(struct shell_parser *p, enum shell_mode mode)
{
	size_t start = p->pos, end = backquote_end(p, start), n = 0;
	bool dq = shell_mode_quoted(mode);
	struct shell_part *part;
	char *to;

	if (p->err)
		return NULL;
	to = shell_bytes(p, end - start);
	if (!to)
		return NULL;
	for (size_t i = start + 1; i < end; i++) {
		char next = p->text[i + 1];

		if (p->text[i] == '\\' && next == '"' && dq && mode != MODE_DQ)
			return shell_fail(p, -ENOTSUP, i,
				"\\\" in a backquote: shells disagree");
		if (p->text[i] == '\\' &&
			(next == '$' || next == '`' || next == '\\' ||
				(next == '"' && dq)))
			i++;
		to[n++] = p->text[i];
	}
	p->pos = end + 1;
	part = shell_part(p, SHELL_CMDSUB, start);
	if (!part)
		return NULL;
	part->backquote = true;
	part->u.body = shell_parse_nested(
		p, (struct shell_str){to, n}, shell_span(p, start));
	return part;
}

struct shell_part *shell_procsub(struct shell_parser *p)
{
	size_t start = p->pos;
	bool output = shell_peek(p) == '>';
	struct shell_part *part;
	struct shell_list *body;

	shell_skip(p);
	shell_skip(p);
	body = shell_parse_sub(p);
	part = shell_part(p, SHELL_PROCSUB, start);
	if (part) {
		part->u.body = body;
		part->output = output;
	}
	return part;
}

struct shell_word *shell_arith(struct shell_parser *p)
{
	struct shell_word *w;
	size_t start = p->pos;

	if (!shell_enter(p))
		return NULL;
	w = shell_word(p, MODE_ARITH);
	shell_leave(p);
	if (shell_peek(p) != ')')
		return shell_fail(p, -EINVAL, p->pos, "missing ))");
	/* bash does not count a parenthesis behind a backslash. */
	if (shell_peek2(p) != ')')
		return memchr(p->text + start, '\\', p->pos - start) &&
				       shell_is(p, D_BASH)
			       ? shell_fail(p, -ENOTSUP, start,
					 "a backslash in (( that is no ))")
			       : NULL;
	shell_skip(p);
	shell_skip(p);
	return w;
}

/* In a substitution bash takes "((" without "))" as a subshell; the others do
 * not go back. */
static struct shell_part *read_arithsub(struct shell_parser *p, size_t start)
{
	size_t back = p->pos;
	struct shell_part *part;
	struct shell_word *w;

	shell_skip(p);
	shell_skip(p);
	w = shell_arith(p);
	if (!w && !p->err) {
		if (!shell_is(p, D_BASH))
			return shell_fail(p, -EINVAL, start, "missing ))");
		p->pos = back;
		return read_cmdsub(p, start);
	}
	part = shell_part(p, SHELL_ARITHSUB, start);
	if (part)
		part->u.parts = shell_word_parts(w);
	return part;
}

static struct shell_part *read_bracket(struct shell_parser *p, size_t start)
{
	struct shell_part *part;
	struct shell_word *w;

	shell_skip(p);
	if (!shell_enter(p))
		return NULL;
	w = shell_word(p, MODE_BRACKET);
	shell_leave(p);
	if (!shell_eat(p, ']'))
		return shell_fail(p, -EINVAL, start, "$[ without its ]");
	part = shell_part(p, SHELL_ARITHSUB, start);
	if (part) {
		part->u.parts = shell_word_parts(w);
		part->bracket = true;
	}
	return part;
}

struct ansi {
	struct shell_parser *p;
	size_t i; /* at the character behind the backslash */
	char *to;
	size_t n;
};

/* Reads up to max digits of the base at a->i into *value; returns their
 * number. */
static unsigned ansi_digits(
	struct ansi *a, unsigned base, unsigned max, uint32_t *value)
{
	unsigned n = 0;

	*value = 0;
	for (; n < max && a->i < a->p->len; n++, a->i++) {
		unsigned c = (unsigned char)a->p->text[a->i];
		unsigned d = c >= '0' && c <= '9' ? c - '0'
			     : (c | 32) >= 'a' && (c | 32) <= 'f'
				     ? (c | 32) - 'a' + 10
				     : 99;

		if (d >= base)
			break;
		*value = *value * base + d;
	}
	return n;
}

static void ansi_number(struct ansi *a, unsigned base, unsigned max, bool utf)
{
	size_t from = a->i;
	uint32_t value;
	char bytes[4];
	size_t n = 1;

	if (!ansi_digits(a, base, max, &value) ||
		(utf && !shell_is(a->p, D_BASH))) {
		/* Not an escape: the backslash and its letter stay. */
		a->i = from;
		a->to[a->n++] = '\\';
		if (base != 8)
			a->to[a->n++] = a->p->text[from - 1];
		return;
	}
	/* NUL ends the text: here, and in any shell together with the rest. */
	if (!value && a->i < a->p->len && a->p->text[a->i] == '\'')
		return;
	bytes[0] = (char)(value & 0xff);
	if (utf)
		n = utf8_encode(value, bytes);
	if (!n || !value || (!utf && value > 0xff)) {
		shell_fail(a->p, -ENOTSUP, from, "$'...' with such a byte");
		return;
	}
	memcpy(a->to + a->n, bytes, n);
	a->n += n;
}

static void ansi_escape(struct ansi *a)
{
	static const char from[] = "abefnrtv\\'\"?",
			  to[] = "\a\b\033\f\n\r\t\v\\'\"?";
	char c = a->p->text[a->i];
	const char *at = c ? strchr(from, c) : NULL;

	if (at) {
		a->to[a->n++] = to[at - from];
		a->i++;
	} else if (c >= '0' && c <= '7') {
		ansi_number(a, 8, 3, false);
	} else if (c == 'x' || c == 'u' || c == 'U') {
		a->i++;
		if (c == 'x' && a->p->text[a->i] == '{')
			shell_fail(a->p, -ENOTSUP, a->i, "$'\\x{'");
		ansi_number(a, 16, c == 'x' ? 2 : c == 'u' ? 4 : 8, c != 'x');
	} else if (c == 'c' || c == 'E') {
		shell_fail(a->p, -ENOTSUP, a->i, "$'\\%c': shells disagree", c);
	} else {
		a->to[a->n++] = '\\';
	}
}

struct shell_part *shell_ansi(struct shell_parser *p, size_t start)
{
	struct ansi a = {.p = p, .i = p->pos + 1};
	const char *end = memchr(p->text + a.i, '\'', p->len - a.i);
	struct shell_part *part;
	size_t room = 0;

	/* An escaped quote does not end the text; no escape is longer than its
	 * text. */
	while (end && end[-1] == '\\') {
		size_t slashes = 0;

		while (end[-1 - (ptrdiff_t)slashes] == '\\')
			slashes++;
		if (slashes % 2 == 0)
			break;
		end = memchr(
			end + 1, '\'', (size_t)(p->text + p->len - end - 1));
	}
	if (!end)
		return shell_fail(p, -EINVAL, start, "$' without its end");
	room = (size_t)(end - p->text) - a.i;
	a.to = shell_bytes(p, room + 1);
	if (!a.to)
		return NULL;
	while (p->text + a.i < end && !p->err) {
		if (p->text[a.i] != '\\') {
			a.to[a.n++] = p->text[a.i++];
			continue;
		}
		a.i++;
		ansi_escape(&a);
	}
	p->pos = (size_t)(end - p->text) + 1;
	part = shell_part(p, SHELL_ANSI, start);
	if (part)
		part->text = (struct shell_str){a.to, a.n};
	return part;
}

static struct shell_part *plain_param(
	struct shell_parser *p, size_t start, int c)
{
	struct shell_part *part;
	struct shell_param *param = shell_new(p, struct shell_param);
	size_t at = p->pos;
	bool torn;

	if (!param)
		return NULL;
	shell_skip(p);
	torn = false;
	param->name = (struct shell_str){p->text + at, 1};
	while (chr_name1((char)c) && chr_name((char)shell_peek(p))) {
		torn |= p->pos != at + param->name.n;
		if (torn)
			break;
		p->pos++;
		param->name.n++;
	}
	if (torn)
		return shell_fail(p, -ENOTSUP, start,
			"line continuation inside a variable's name");
	part = shell_part(p, SHELL_PARAM, start);
	if (part)
		part->u.param = param;
	return part;
}

struct shell_part *shell_dollar(
	struct shell_parser *p, enum shell_mode mode, size_t start)
{
	bool quoted = shell_mode_quoted(mode);
	int c = shell_peek(p);

	if (c == '(')
		return shell_peek2(p) == '(' ? read_arithsub(p, start)
					     : read_cmdsub(p, start);
	if (c == '{')
		return shell_param(p, mode, start);
	if (c == '[' && shell_is(p, D_BASH))
		return read_bracket(p, start);
	if (c == '\'' && !quoted && shell_is(p, D_BASH | D_ASH))
		return shell_ansi(p, start);
	if (c == '"' && !quoted && shell_is(p, D_BASH)) {
		struct shell_part *part;

		shell_skip(p);
		part = shell_part(p, SHELL_DQ, start);
		if (!part)
			return NULL;
		part->locale = true;
		part->u.parts = shell_word_parts(shell_word(p, MODE_DQ));
		if (!shell_eat(p, '"'))
			return shell_fail(
				p, -EINVAL, start, "$\" without its end");
		part->span = shell_span(p, start);
		return part;
	}
	if (c > 0 && (chr_name((char)c) || strchr("@*#?-$!", c)))
		return plain_param(p, start, c);
	return shell_part(p, SHELL_LIT, start);
}
