/* shell_word_param.c - ${…} in words of shell text
 * SPDX-License-Identifier: MIT
 */
#include "shell/shell_lex_in.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"

static bool is_special(int c)
{
	return c > 0 && strchr("@*#?-$!", c);
}

/* Reads the name after "${", "${#" or "${!". */
static bool read_name(struct shell_parser *p, struct shell_param *param)
{
	int c = shell_peek(p);
	size_t at = p->pos, n = 1;

	if (c < 0)
		return false;
	if (is_special(c)) {
		p->pos++;
	} else if (chr_digit((char)c) || chr_name1((char)c)) {
		for (n = 0; p->pos < p->len; n++, p->pos++)
			if (chr_digit((char)c) ? !chr_digit(p->text[p->pos])
					       : !chr_name(p->text[p->pos]))
				break;
		if (p->pos != at + n ||
			(p->pos < p->len && p->text[p->pos] == '\\' &&
				shell_peek(p) > 0 &&
				chr_name((char)shell_peek(p)))) {
			shell_fail(p, -ENOTSUP, at,
				"line continuation inside a variable's name");
			return false;
		}
	} else {
		return false;
	}
	param->name = (struct shell_str){p->text + at, n};
	return true;
}

/* Reads "${#": the length of something, or the parameter "#" itself. */
static void read_length(struct shell_parser *p, struct shell_param *param)
{
	size_t hash = p->pos;
	int c = shell_peek2(p), after;

	param->name = (struct shell_str){p->text + hash, 1};
	if (c == '}' || c < 0) {
		shell_skip(p);
		return;
	}
	shell_skip(p);
	if (chr_name((char)c) || strchr("@*$!", c)) {
		param->length = true;
		read_name(p, param);
		return;
	}
	after = shell_peek2(p);
	if (is_special(c) && after == '}') {
		param->length = true;
		read_name(p, param);
	}
}

/* Reads "${!": bash's indirection, or the parameter "!" itself. */
static void read_bang(struct shell_parser *p, struct shell_param *param)
{
	size_t bang = p->pos;
	int c = shell_peek2(p), after;

	param->name = (struct shell_str){p->text + bang, 1};
	shell_skip(p);
	if (c == '}' || c < 0 || !shell_is(p, D_BASH))
		return;
	after = shell_peek2(p);
	if (chr_name((char)c) || ((is_special(c)) && after == '}')) {
		param->indirect = true;
		read_name(p, param);
	} else {
		shell_fail(p, -ENOTSUP, bang, "unclear use of ${!");
	}
}

static void bad_param(
	struct shell_parser *p, struct shell_param *param, enum shell_mode mode)
{
	if (shell_is(p, D_BASH)) {
		shell_fail(p, -ENOTSUP, p->pos, "bad substitution");
		return;
	}
	param->op = SHELL_OP_BAD;
	param->word = shell_word(
		p, shell_mode_quoted(mode) ? MODE_BRACE_DQ : MODE_BRACE);
}

static void simple_op(struct shell_parser *p, struct shell_param *param,
	enum shell_mode mode, int c)
{
	bool quoted = shell_mode_quoted(mode);

	shell_skip(p);
	param->op = c == '-'   ? SHELL_OP_DEFAULT
		    : c == '=' ? SHELL_OP_ASSIGN
		    : c == '?' ? SHELL_OP_ERROR
			       : SHELL_OP_ALT;
	param->word = shell_word(p, quoted ? MODE_BRACE_DQ : MODE_BRACE);
}

static void trim_op(struct shell_parser *p, struct shell_param *param,
	enum shell_mode mode, int c)
{
	bool quoted = shell_mode_quoted(mode);

	shell_skip(p);
	param->mark = (char)c;
	param->doubled = shell_eat(p, (char)c);
	param->op = c == '#'   ? SHELL_OP_PREFIX
		    : c == '%' ? SHELL_OP_SUFFIX
			       : SHELL_OP_CASE;
	param->word = shell_word(p, quoted ? MODE_PATTERNDQ : MODE_BRACE);
}

static void replace_op(
	struct shell_parser *p, struct shell_param *param, enum shell_mode mode)
{
	bool quoted = shell_mode_quoted(mode);

	shell_skip(p);
	param->op = SHELL_OP_REPLACE;
	param->doubled = shell_eat(p, '/');
	/* Quotes shield '/' in a quoted pattern as in an unquoted one. A
	 * backslash and the character behind it are one in every shell, unless
	 * that character begins or ends something. */
	for (size_t i = p->pos; quoted && i < p->len; i++) {
		if (p->text[i] == '}')
			break;
		if (p->text[i] == '\\' && i + 1 < p->len &&
			!strchr("$`'}\n", p->text[i + 1]))
			i++;
		else if (strchr("'\"`\\", p->text[i])) {
			shell_fail(
				p, -ENOTSUP, i, "quotes inside \"${.../...}\"");
			return;
		}
	}
	param->word = shell_word(p, MODE_PATTERN);
	if (shell_eat(p, '/'))
		param->word2 =
			shell_word(p, quoted ? MODE_PATTERNDQ : MODE_BRACE);
}

static void slice_op(struct shell_parser *p, struct shell_param *param)
{
	param->op = SHELL_OP_SLICE;
	param->word = shell_word(p, MODE_SLICE);
	if (shell_eat(p, ':'))
		param->word2 = shell_word(p, MODE_SLICE);
}

static void transform_op(struct shell_parser *p, struct shell_param *param)
{
	int c;

	shell_skip(p);
	c = shell_peek(p);
	param->op = SHELL_OP_TRANSFORM;
	param->mark = (char)c;
	if (c < 0 || !strchr("QEPAaKkUuL", c))
		shell_fail(p, -ENOTSUP, p->pos, "unknown ${...@%c}", c);
	shell_skip(p);
}

/* Reads the operator behind the name. */
static void read_op(
	struct shell_parser *p, struct shell_param *param, enum shell_mode mode)
{
	int c = shell_peek(p), next = shell_peek2(p);

	if (c == '}' || c < 0)
		return;
	if (param->indirect && (c == '*' || c == '@') && next == '}') {
		shell_skip(p);
		param->op = SHELL_OP_NAMES;
		param->mark = (char)c;
		return;
	}
	if (param->length) {
		bad_param(p, param, mode);
	} else if (c == ':' && next > 0 && strchr("-=?+", next)) {
		shell_skip(p);
		param->colon = true;
		simple_op(p, param, mode, next);
	} else if (strchr("-=?+", c)) {
		simple_op(p, param, mode, c);
	} else if (c == '#' || c == '%') {
		trim_op(p, param, mode, c);
	} else if (c == ':' && shell_is(p, D_BASH | D_ASH)) {
		shell_skip(p);
		slice_op(p, param);
	} else if (c == '/' && shell_is(p, D_BASH | D_ASH)) {
		replace_op(p, param, mode);
	} else if ((c == '^' || c == ',') && shell_is(p, D_BASH)) {
		trim_op(p, param, mode, c);
	} else if (c == '@' && shell_is(p, D_BASH)) {
		transform_op(p, param);
	} else {
		bad_param(p, param, mode);
	}
}

struct shell_part *shell_param(
	struct shell_parser *p, enum shell_mode mode, size_t start)
{
	struct shell_param *param = shell_new(p, struct shell_param);
	struct shell_part *part;
	int c;

	if (!param)
		return NULL;
	if (!shell_enter(p))
		return NULL;
	shell_skip(p);
	param->braces = true;
	c = shell_peek(p);
	if (c == '#')
		read_length(p, param);
	else if (c == '!')
		read_bang(p, param);
	else if (!read_name(p, param))
		return shell_fail(p, -ENOTSUP, start, "bad substitution");
	if (shell_eat_in(p, '[', D_BASH)) {
		param->subscript = shell_word(p, MODE_SUBSCRIPT);
		if (!shell_eat(p, ']'))
			return shell_fail(p, -ENOTSUP, start, "missing ]");
	}
	read_op(p, param, mode);
	if (!shell_eat(p, '}'))
		return shell_fail(p, shell_peek(p) < 0 ? -EINVAL : -ENOTSUP,
			start, "${ without its }");
	shell_leave(p);
	part = shell_part(p, SHELL_PARAM, start);
	if (part)
		part->u.param = param;
	return part;
}
