/* shell_parse_compound.c - if, loops, case, groups and bash's own commands
 * SPDX-License-Identifier: MIT
 */
#include "shell/shell_lex_in.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"

static void expect_word(struct shell_parser *p, enum shell_kw kw)
{
	if (!shell_eat_word(p, kw) && !p->err)
		shell_unexpected(p, shell_keyword_text(kw));
}

static struct shell_list *parse_body(
	struct shell_parser *p, enum shell_kw first, enum shell_kw last)
{
	struct shell_list *list;

	expect_word(p, first);
	list = shell_parse_body(p);
	expect_word(p, last);
	return list;
}

static struct shell_list *do_body(struct shell_parser *p)
{
	return parse_body(p, KW_DO, KW_DONE);
}

/* bash takes braces as well, behind for and select. */
static struct shell_list *for_body(struct shell_parser *p)
{
	return p->kw == KW_LBRACE && shell_is(p, D_BASH)
		       ? parse_body(p, KW_LBRACE, KW_RBRACE)
		       : do_body(p);
}

/* Reads an if or elif, whose word is taken already. */
static struct shell_node *parse_if(struct shell_parser *p, size_t start)
{
	struct shell_node *node = shell_node(p, SHELL_IF, start);
	size_t at;

	if (!node || !shell_enter(p))
		return NULL;
	node->u.cond_if.test = shell_parse_body(p);
	expect_word(p, KW_THEN);
	node->u.cond_if.then = shell_parse_body(p);
	at = p->tok_at;
	if (shell_eat_word(p, KW_ELIF)) {
		struct shell_list *other = shell_new(p, struct shell_list);
		struct shell_item *item = shell_new(p, struct shell_item);

		if (!other || !item)
			return NULL;
		other->first = item;
		item->node = parse_if(p, at);
		if (!item->node)
			return NULL;
		item->node->u.cond_if.elif = true;
		node->u.cond_if.other = other;
	} else {
		if (shell_eat_word(p, KW_ELSE))
			node->u.cond_if.other = shell_parse_body(p);
		expect_word(p, KW_FI);
	}
	shell_leave(p);
	return node;
}

static struct shell_node *parse_while(
	struct shell_parser *p, enum shell_node_type type, size_t start)
{
	struct shell_node *node = shell_node(p, type, start);

	if (!node)
		return NULL;
	node->u.wait.test = shell_parse_body(p);
	node->u.wait.body = do_body(p);
	return node;
}

/* Reads ((init; test; step)), at "((". */
static struct shell_node *for_arith(struct shell_parser *p, size_t start)
{
	struct shell_node *node = shell_node(p, SHELL_FORARITH, start);

	if (!node)
		return NULL;
	shell_skip(p);
	node->u.forarith.init = shell_word(p, MODE_FORARITH);
	if (shell_eat(p, ';'))
		node->u.forarith.test = shell_word(p, MODE_FORARITH);
	if (!shell_eat(p, ';'))
		return shell_fail(p, -EINVAL, start, "for ((: missing ;");
	node->u.forarith.step = shell_word(p, MODE_FORARITH);
	if (!shell_eat(p, ')') || !shell_eat(p, ')'))
		return shell_fail(p, -EINVAL, start, "for ((: missing ))");
	shell_next(p);
	if (p->tok == TOK_SEMI)
		shell_next(p);
	shell_skip_newlines(p);
	node->u.forarith.body = for_body(p);
	return node;
}

static void loop_words(struct shell_parser *p, struct shell_node *node)
{
	struct shell_word **end = &node->u.loop.words;

	node->u.loop.has_in = true;
	while (p->tok == TOK_WORD && !p->err) {
		shell_braces(p, p->word);
		*end = p->word;
		end = &p->word->next;
		shell_next(p);
	}
	if (p->tok != TOK_SEMI && p->tok != TOK_NL)
		shell_unexpected(p, "; or a newline");
	else
		shell_next(p);
	shell_skip_newlines(p);
}

static struct shell_node *parse_for(
	struct shell_parser *p, enum shell_node_type type, size_t start)
{
	struct shell_node *node;

	if (p->tok == TOK_LP && type == SHELL_FOR && shell_peek(p) == '(' &&
		shell_is(p, D_BASH))
		return for_arith(p, start);
	node = shell_node(p, type, start);
	if (!node)
		return NULL;
	node->u.loop.name = shell_word_literal(p->word);
	if (p->tok != TOK_WORD ||
		!str_is_name(node->u.loop.name.p, node->u.loop.name.n))
		return shell_unexpected(p, "a variable's name");
	shell_next(p);
	if (p->tok == TOK_NL)
		shell_skip_newlines(p);
	else if (p->tok == TOK_SEMI) {
		/* "for x; in" has no words. */
		shell_next(p);
		shell_skip_newlines(p);
		node->u.loop.body = for_body(p);
		return node;
	}
	if (shell_eat_word(p, KW_IN))
		loop_words(p, node);
	node->u.loop.body = for_body(p);
	return node;
}

static void case_patterns(struct shell_parser *p, struct shell_case_item *item)
{
	struct shell_word **end = &item->patterns;

	if (p->tok == TOK_LP)
		shell_next(p);
	for (;;) {
		if (p->tok != TOK_WORD) {
			shell_unexpected(p, "a pattern");
			return;
		}
		*end = p->word;
		end = &p->word->next;
		shell_next(p);
		if (p->tok != TOK_PIPE)
			break;
		shell_next(p);
	}
	if (p->tok != TOK_RP)
		shell_unexpected(p, ")");
	else
		shell_next(p);
}

static struct shell_node *parse_case(struct shell_parser *p, size_t start)
{
	struct shell_node *node = shell_node(p, SHELL_CASE, start);
	struct shell_case_item **end;

	if (!node)
		return NULL;
	if (p->tok != TOK_WORD)
		return shell_unexpected(p, "a word");
	node->u.select.subject = p->word;
	shell_next(p);
	shell_skip_newlines(p);
	expect_word(p, KW_IN);
	shell_skip_newlines(p);
	end = &node->u.select.items;
	while (!p->err &&
		p->kw != KW_ESAC) {
		struct shell_case_item *item =
			shell_new(p, struct shell_case_item);

		if (!item)
			return NULL;
		*end = item;
		end = &item->next;
		case_patterns(p, item);
		item->body = shell_parse_list(p);
		if (p->tok != TOK_DSEMI)
			break;
		item->end = p->case_end;
		shell_next(p);
		shell_skip_newlines(p);
	}
	expect_word(p, KW_ESAC);
	return node;
}

static struct shell_node *parse_group(
	struct shell_parser *p, enum shell_node_type type, size_t start)
{
	struct shell_node *node = shell_node(p, type, start);

	shell_next(p);
	if (!node)
		return NULL;
	node->u.group.body = shell_parse_body(p);
	if (type == SHELL_GROUP) {
		expect_word(p, KW_RBRACE);
		return node;
	}
	if (p->tok != TOK_RP)
		return shell_unexpected(p, ")");
	shell_next(p);
	return node;
}

/* At '('. bash tries (( as arithmetic first. */
static struct shell_node *parse_paren(struct shell_parser *p, size_t start)
{
	size_t back = p->pos;
	struct shell_word *w;
	struct shell_node *node;

	if (p->pos >= p->len || shell_peek(p) != '(' || !shell_is(p, D_BASH))
		return parse_group(p, SHELL_SUBSHELL, start);
	shell_skip(p);
	w = shell_arith(p);
	if (!w && !p->err) {
		p->pos = back;
		return parse_group(p, SHELL_SUBSHELL, start);
	}
	node = shell_node(p, SHELL_ARITH, start);
	if (!node)
		return NULL;
	node->u.arith = w;
	shell_next(p);
	return node;
}

static struct shell_node *func_keyword(struct shell_parser *p)
{
	size_t start = p->tok_at;
	struct shell_node *node = shell_node(p, SHELL_FUNC, start);

	shell_next(p);
	if (!node)
		return NULL;
	if (p->tok == TOK_WORD)
		node->u.func.name = shell_func_name(p, p->word);
	if (!node->u.func.name.n)
		return shell_unexpected(p, "a function's name");
	node->u.func.keyword = true;
	shell_next(p);
	if (p->tok == TOK_LP &&
		(shell_peek(p) == ')' || !shell_is(p, D_BASH))) {
		shell_next(p);
		if (p->tok != TOK_RP)
			return shell_unexpected(p, ")");
		shell_next(p);
	}
	shell_skip_newlines(p);
	if (!shell_enter(p))
		return NULL;
	node->u.func.body = shell_parse_compound(p);
	shell_leave(p);
	if (!node->u.func.body)
		return shell_unexpected(p, "a function's body");
	return node;
}

/* Bodies that bash does not take as a coprocess: functions and coprocesses, and
 * a name before a reserved word that begins no compound command. */
static bool is_no_body(const struct shell_node *body)
{
	const struct shell_word *first = body->u.simple.words;
	enum shell_kw kw;

	if (body->type != SHELL_SIMPLE)
		return body->type == SHELL_FUNC || body->type == SHELL_COPROC;
	if (body->u.simple.assigns || !first || !first->next)
		return false;
	kw = shell_keyword(first->next);
	return kw != KW_NONE && kw < KW_P && kw != KW_TIME;
}

/* A body whose printed form would read differently: a word behind a redirection
 * may be no reserved word there, and be one right behind coproc. */
static bool is_unclear(const struct shell_node *body)
{
	return body->type == SHELL_SIMPLE && body->redirs &&
		body->redirs->span.start == body->span.start;
}

/* coproc [NAME] command: a name only before a compound command. */
static struct shell_node *parse_coproc(struct shell_parser *p)
{
	size_t start = p->tok_at;
	struct shell_node *node = shell_node(p, SHELL_COPROC, start);
	struct shell_parser kept;
	struct shell_word *name;

	shell_next(p);
	/* An error ends the parse, so the level need not be left. */
	if (!node || !shell_enter(p))
		return NULL;
	kept = *p;
	name = p->word;
	node->u.coproc.body = shell_parse_compound(p);
	if (node->u.coproc.body || p->err) {
		shell_leave(p);
		return p->err || !is_no_body(node->u.coproc.body)
			       ? node
			       : shell_unexpected(p, "another command");
	}
	kept.fdvar = shell_word_literal(name);
	if (p->tok == TOK_WORD && kept.fdvar.n) {
		shell_next(p);
		node->u.coproc.body = shell_parse_compound(p);
		if (p->err)
			return NULL;
		if (node->u.coproc.body &&
			(is_no_body(node->u.coproc.body) ||
				(kept.kw && kept.kw <= KW_BANG)))
			return shell_unexpected(p, "another command");
		if (node->u.coproc.body) {
			node->u.coproc.name = kept.fdvar;
			shell_leave(p);
			return node;
		}
		*p = kept;
	}
	node->u.coproc.body = shell_parse_command(p);
	if (node->u.coproc.body && (is_no_body(node->u.coproc.body) ||
				is_unclear(node->u.coproc.body)))
		return shell_unexpected(p, "another command");
	shell_leave(p);
	return node;
}

static struct shell_node *cond_command(struct shell_parser *p, size_t start)
{
	struct shell_node *node = shell_node(p, SHELL_COND, start);

	if (node)
		node->u.cond = shell_parse_cond(p);
	return node;
}

/* Reads a reserved word's command: those of every shell, then those of some. */
static struct shell_node *parse_keyword(struct shell_parser *p, size_t start)
{
	enum shell_kw kw = p->kw;

	switch ((int)kw) {
	case KW_IF:
		shell_next(p);
		return parse_if(p, start);
	case KW_WHILE:
	case KW_UNTIL:
		shell_next(p);
		return parse_while(
			p, kw == KW_WHILE ? SHELL_WHILE : SHELL_UNTIL, start);
	case KW_FOR:
		shell_next(p);
		return parse_for(p, SHELL_FOR, start);
	case KW_CASE:
		shell_next(p);
		return parse_case(p, start);
	case KW_LBRACE:
		return parse_group(p, SHELL_GROUP, start);
	case KW_COND:
		return shell_is(p, D_BASH) ? cond_command(p, start) : NULL;
	case KW_FUNCTION:
		return shell_is(p, D_BASH | D_ASH) ? func_keyword(p) : NULL;
	case KW_SELECT:
		if (!shell_is(p, D_BASH))
			return NULL;
		shell_next(p);
		return parse_for(p, SHELL_SELECT, start);
	case KW_COPROC:
		return shell_is(p, D_BASH) ? parse_coproc(p) : NULL;
	default:
		return NULL;
	}
}

struct shell_node *shell_parse_compound(struct shell_parser *p)
{
	size_t start = p->tok_at;
	struct shell_node *node = NULL;

	if (p->err)
		return NULL;
	if (p->tok == TOK_LP)
		node = parse_paren(p, start);
	else if (p->kw)
		node = parse_keyword(p, start);
	if (!node || p->err)
		return NULL;
	if (node->type != SHELL_FUNC && node->type != SHELL_COPROC)
		shell_parse_redirs(p, &node->redirs);
	if (!p->fixed)
		node->span.len = (uint32_t)(p->tok_at - start);
	return node;
}
