/* shell_parse_cond.c - bash's [[ … ]]
 * SPDX-License-Identifier: MIT
 */
#include "shell/shell_lex_in.h"

#include <errno.h>
#include <string.h>

static struct shell_cond *parse_or(struct shell_parser *p);

static struct shell_cond *parse_cond(
	struct shell_parser *p, enum shell_cond_type type)
{
	struct shell_cond *c = shell_new(p, struct shell_cond);

	if (!c)
		return NULL;
	c->type = type;
	return c;
}

static bool at_word(const struct shell_parser *p)
{
	return p->tok == TOK_WORD && !p->err && p->kw != KW_COND_END;
}

static bool is_unary(struct shell_str op)
{
	return op.n == 2 && op.p[0] == '-' &&
	       strchr("abcdefghknoprstuvwxzGLNORS", op.p[1]);
}

static bool is_binary(struct shell_str op)
{
	return shell_str_in(op, " = == != =~ -eq -ne -lt -le -gt -ge -nt -ot "
				"-ef ");
}

/* Takes the current operand; the next one may be a regular expression, which
 * has rules of its own. */
static struct shell_word *parse_operand(struct shell_parser *p)
{
	struct shell_word *w = p->word;

	if (!at_word(p))
		return shell_unexpected(p, "an operand of [[");
	shell_next(p);
	return w;
}

static struct shell_word *parse_regex(struct shell_parser *p)
{
	struct shell_word *w;
	int c = shell_peek(p);

	while (c == ' ' || c == '\t') {
		p->pos++;
		c = shell_peek(p);
	}
	w = shell_word(p, MODE_REGEX);
	if (w && !w->parts)
		return shell_fail(p, -EINVAL, p->pos, "=~ without its right");
	shell_next(p);
	return w;
}

static struct shell_cond *parse_binary(
	struct shell_parser *p, struct shell_word *left)
{
	struct shell_cond *c;
	struct shell_str op = shell_word_literal(p->word);

	if (p->tok == TOK_REDIR &&
		(p->redir == SHELL_R_IN || p->redir == SHELL_R_OUT)) {
		c = parse_cond(p, SHELL_COND_BINARY);
		if (!c)
			return NULL;
		c->op = p->redir == SHELL_R_IN ? SHELL_STR("<")
					       : SHELL_STR(">");
		shell_next(p);
		c->left = left;
		c->right = parse_operand(p);
		return c;
	}
	if (p->tok != TOK_WORD || !is_binary(op)) {
		c = parse_cond(p, SHELL_COND_WORD);
		if (c)
			c->left = left;
		return c;
	}
	c = parse_cond(p, SHELL_COND_BINARY);
	if (!c)
		return NULL;
	c->left = left;
	c->op = op;
	if (op.n == 2 && op.p[1] == '~') {
		c->right = parse_regex(p);
		return c;
	}
	p->pattern = shell_str_in(op, " = == != ");
	shell_next(p);
	p->pattern = false;
	c->right = parse_operand(p);
	return c;
}

static struct shell_cond *parse_primary(struct shell_parser *p)
{
	struct shell_cond *c;
	struct shell_word *w = p->word;
	struct shell_str op = shell_word_literal(w);

	if (p->tok == TOK_LP) {
		shell_next(p);
		c = parse_cond(p, SHELL_COND_PAREN);
		if (!c)
			return NULL;
		c->a = parse_or(p);
		if (p->tok != TOK_RP)
			return shell_unexpected(p, ")");
		shell_next(p);
		return c;
	}
	if (!at_word(p))
		return shell_unexpected(p, "an operand of [[");
	if (p->kw == KW_BANG) {
		c = parse_cond(p, SHELL_COND_NOT);
		shell_next(p);
		shell_skip_newlines(p);
		if (c && shell_enter(p)) {
			c->a = parse_primary(p);
			shell_leave(p);
		}
		return c;
	}
	shell_next(p);
	if (!is_unary(op) || !at_word(p))
		return parse_binary(p, w);
	c = parse_cond(p, SHELL_COND_UNARY);
	if (!c)
		return NULL;
	c->op = op;
	c->left = parse_operand(p);
	return c;
}

static struct shell_cond *parse_chain(struct shell_parser *p, enum shell_tok join)
{
	struct shell_cond *left, *c;

	if (!shell_enter(p))
		return NULL;
	shell_skip_newlines(p);
	left = join == TOK_OR ? parse_chain(p, TOK_AND) : parse_primary(p);
	shell_skip_newlines(p);
	if (p->tok == join && !p->err) {
		c = parse_cond(p, join == TOK_OR ? SHELL_COND_OR : SHELL_COND_AND);
		shell_next(p);
		if (c) {
			c->a = left;
			c->b = parse_chain(p, join);
		}
		left = c;
	}
	shell_leave(p);
	return left;
}

static struct shell_cond *parse_or(struct shell_parser *p)
{
	return parse_chain(p, TOK_OR);
}

struct shell_cond *shell_parse_cond(struct shell_parser *p)
{
	struct shell_cond *c;
	unsigned kept = p->cond;

	p->cond = 1;
	shell_next(p);
	c = parse_or(p);
	p->cond = kept;
	if (p->kw != KW_COND_END)
		return shell_unexpected(p, "]]");
	shell_next(p);
	return c;
}
