/* shell_plain.c - the commands of a text: the nodes of its tree
 * SPDX-License-Identifier: MIT
 */
#include "shell/shell_plain_in.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "shell/shell_parse_in.h"

void *plain_stop(struct shell_walk *w, int err)
{
	if (!w->err)
		w->err = err;
	return NULL;
}

void *plain_zalloc(struct shell_walk *w, size_t n)
{
	void *p = arena_zalloc(w->a, n);

	return p ? p : plain_stop(w, -E2BIG);
}

bool plain_step(struct shell_walk *w)
{
	if (++w->steps > SHELL_MAX_STEPS)
		plain_stop(w, -E2BIG);
	return !w->err;
}

unsigned shell_walk_steps(const struct shell_walk *w)
{
	return w->steps;
}

void plain_risk(struct shell_walk *w, enum shell_risk risk,
	struct shell_str what, struct shell_span span)
{
	if (!w->err && w->ops->risk)
		w->err = w->ops->risk(
			w->ctx, w, risk, what, plain_span(w, span));
}

static void walk_node(struct shell_walk *w, const struct shell_node *node);

void plain_apart(struct shell_walk *w, const struct shell_node *node,
	const struct shell_list *list, enum shell_input input)
{
	const struct plain_state before = w->st;

	if (input != w->st.input) {
		w->st.input = input;
		w->st.input_text = NULL;
	}
	walk_node(w, node);
	plain_list(w, list);
	w->st = before;
}

void plain_list(struct shell_walk *w, const struct shell_list *list)
{
	const struct shell_item *item = list ? list->first : NULL;

	for (; item && !w->err; item = item->next) {
		if (item->background)
			plain_apart(w, item->node, NULL, w->st.input);
		else
			walk_node(w, item->node);
	}
}

/* Walks a list that may run or not; behind is what is known after it. */
static void walk_branch(struct shell_walk *w, const struct shell_list *list,
	struct plain_state *behind)
{
	const struct plain_state start = w->st;

	plain_list(w, list);
	plain_merge(w, behind, &start);
	w->st = start;
}

static void walk_pipeline(struct shell_walk *w, const struct shell_node *node)
{
	const struct shell_node *part = node->u.pipeline.first;
	enum shell_input input = w->st.input;

	if (!part->next) {
		walk_node(w, part);
		return;
	}
	for (; part && !w->err; part = part->next) {
		plain_apart(w, part, NULL, input);
		input = SHELL_IN_PIPE;
	}
}

/* After `cd x && make` the shell stands in x; the part behind || is another
 * way. */
static void walk_andor(struct shell_walk *w, const struct shell_node *node)
{
	const struct shell_node *part = node->u.andor.first;

	for (; part && !w->err; part = part->next) {
		const struct plain_state before = w->st;

		walk_node(w, part);
		if (part->after_or)
			plain_join(w, &before);
	}
}

static void walk_if(struct shell_walk *w, const struct shell_node *node)
{
	struct plain_state behind;

	plain_list(w, node->u.cond_if.test);
	behind = w->st;
	walk_branch(w, node->u.cond_if.then, &behind);
	walk_branch(w, node->u.cond_if.other, &behind);
	w->st = behind;
}

static void walk_case(struct shell_walk *w, const struct shell_node *node)
{
	const struct shell_case_item *item = node->u.select.items;
	struct plain_state behind;

	plain_one(w, node->u.select.subject);
	behind = w->st;
	for (; item && !w->err; item = item->next) {
		for (const struct shell_word *p = item->patterns; p; p = p->next)
			plain_one(w, p);
		walk_branch(w, item->body, &behind);
	}
	w->st = behind;
}

/* Are the words tried one by one: known words, and names that a glob
 * matches? */
static bool tried_singly(
	const struct shell_walk *w, const struct plain_args *words)
{
	for (size_t i = 0; i < words->n; i++)
		if (words->v[i].kind == SHELL_UNKNOWN ||
			(words->v[i].many && !words->v[i].glob))
			return false;
	return words->n && words->n <= SHELL_MAX_ROUNDS &&
	       w->rounds * words->n <= 4 * SHELL_MAX_ROUNDS;
}

/* Walks one round for each word; else one round in which the variable is not
 * known. */
static void walk_for(struct shell_walk *w, const struct shell_node *node)
{
	const struct plain_state before = w->st;
	struct plain_args words = {0};
	unsigned rounds = w->rounds;

	plain_words(w, node->u.loop.words, &words);
	if (node->type != SHELL_FOR || !tried_singly(w, &words)) {
		words = (struct plain_args){0};
		plain_add(w, &words, plain_val(SHELL_STR(SHELL_ANY_S)));
	}
	w->rounds *= (unsigned)words.n;
	for (size_t i = 0; i < words.n && !w->err; i++) {
		words.v[i].many = false;
		plain_set(w, &(struct shell_set){.name = node->u.loop.name,
				.value = words.v[i],
				.span = plain_span(w, node->span)}, false);
		plain_list(w, node->u.loop.body);
		plain_join(w, &before);
	}
	w->rounds = rounds;
}

static void walk_arith(struct shell_walk *w, const struct shell_word *word)
{
	if (word)
		plain_arith(w, word->parts, word->span);
}

static void walk_loop(struct shell_walk *w, const struct shell_node *node)
{
	const struct plain_state before = w->st;

	if (node->type == SHELL_FORARITH) {
		walk_arith(w, node->u.forarith.init);
		walk_arith(w, node->u.forarith.test);
		walk_arith(w, node->u.forarith.step);
		plain_list(w, node->u.forarith.body);
	} else {
		plain_list(w, node->u.wait.test);
		plain_list(w, node->u.wait.body);
	}
	plain_join(w, &before);
}

static void walk_cond(struct shell_walk *w, const struct shell_cond *c)
{
	if (!c || w->err)
		return;
	if (c->left)
		plain_subscript(w, plain_one(w, c->left).text, c->left->span);
	if (c->right)
		plain_subscript(w, plain_one(w, c->right).text, c->right->span);
	walk_cond(w, c->a);
	walk_cond(w, c->b);
}

/* A function's body is reported where it is defined, with unknown arguments. */
static void walk_func(struct shell_walk *w, const struct shell_node *node)
{
	struct plain_state before;

	plain_define(w, &w->st.names, node->u.func.name);
	before = w->st;
	w->st.args = NULL;
	w->bodies++;
	walk_node(w, node->u.func.body);
	w->bodies--;
	plain_join(w, &before);
	w->st.args = before.args;
	w->st.nargs = before.nargs;
}

static void walk_inside(struct shell_walk *w, const struct shell_node *node)
{
	switch (node->type) {
	case SHELL_SIMPLE:
		plain_simple(w, node);
		break;
	case SHELL_PIPELINE:
		walk_pipeline(w, node);
		break;
	case SHELL_ANDOR:
		walk_andor(w, node);
		break;
	case SHELL_SUBSHELL:
		plain_apart(w, NULL, node->u.group.body, w->st.input);
		break;
	case SHELL_GROUP:
		plain_list(w, node->u.group.body);
		break;
	case SHELL_IF:
		walk_if(w, node);
		break;
	case SHELL_FOR:
	case SHELL_SELECT:
		walk_for(w, node);
		break;
	case SHELL_FORARITH:
	case SHELL_WHILE:
	case SHELL_UNTIL:
		walk_loop(w, node);
		break;
	case SHELL_CASE:
		walk_case(w, node);
		break;
	case SHELL_FUNC:
		walk_func(w, node);
		break;
	case SHELL_COND:
		walk_cond(w, node->u.cond);
		break;
	case SHELL_ARITH:
		walk_arith(w, node->u.arith);
		break;
	case SHELL_COPROC:
		/* A coprocess reads what the shell writes to it. */
		plain_apart(w, node->u.coproc.body, NULL, SHELL_IN_PIPE);
		break;
	}
}

static void walk_node(struct shell_walk *w, const struct shell_node *node)
{
	enum shell_input input = w->st.input;
	const struct shell_val *text = w->st.input_text;

	if (!node || !plain_step(w))
		return;
	/* A compound command's redirections hold for everything inside. */
	if (node->type == SHELL_SIMPLE || !node->redirs) {
		walk_inside(w, node);
		return;
	}
	plain_redirs(w, node->redirs);
	walk_inside(w, node);
	w->st.input = input;
	w->st.input_text = text;
}

/* Reads text; for UNION in the first dialect that can, else as far as bash
 * read. */
static int read_text(struct shell_walk *w, struct shell_str text,
	enum shell_dialect dialect, struct diag *d)
{
	static const enum shell_dialect others[] = {SHELL_POSIX, SHELL_ASH};
	enum shell_dialect kept = w->dialect, first = dialect;
	struct shell_ast ast;
	struct diag none;
	int err;

	if (dialect == SHELL_UNION)
		first = SHELL_BASH;
	err = shell_parse(w->a, text.p, text.n, first, &ast, d);
	for (size_t i = 0; err && dialect == SHELL_UNION && i < ARRAY_SIZE(others);
		i++) {
		struct shell_ast other;

		if (shell_parse(w->a, text.p, text.n, others[i], &other, &none))
			continue;
		ast = other;
		first = others[i];
		err = 0;
	}
	w->dialect = dialect == SHELL_UNION ? SHELL_UNION : first;
	plain_find_funcs(w, ast.list);
	plain_list(w, ast.list);
	if (!err && dialect == SHELL_UNION && first == SHELL_BASH &&
		ast.sensitive)
		plain_risk(w, SHELL_RISK_DIALECT, text,
			(struct shell_span){0, (uint32_t)text.n});
	w->dialect = kept;
	return err;
}

void plain_nested(struct shell_walk *w, struct shell_str text,
	enum shell_dialect dialect, struct shell_span span)
{
	struct shell_span outer = w->outer;

	if (shell_str_unknown(text, true)) {
		plain_risk(w, SHELL_RISK_CODE, text, span);
		return;
	}
	if (!plain_step(w))
		return;
	if (w->level == SHELL_MAX_LEVELS) {
		plain_risk(w, SHELL_RISK_LEVELS, text, span);
		return;
	}
	w->outer = plain_span(w, span);
	w->level++;
	if (read_text(w, text, dialect, NULL) && !w->err)
		plain_risk(w, SHELL_RISK_UNPARSABLE, text, w->outer);
	w->level--;
	w->outer = outer;
}

/* Sets $0 and the arguments behind it; without any, $0 is not known. */
static void take_args(
	struct shell_walk *w, const struct shell_val *args, size_t nargs)
{
	static const struct shell_val none = {
		.kind = SHELL_UNKNOWN, .text = {SHELL_ANY_S, 1}};

	w->st.args = args && nargs ? args : &none;
	w->st.nargs = args && nargs ? nargs : 1;
}

int shell_walk(struct arena *a, const char *text, size_t len,
	const struct shell_walk_opts *opts, const struct shell_walk_ops *ops,
	void *ctx, struct diag *d)
{
	struct shell_walk w = {.a = a, .ops = ops, .ctx = ctx, .rounds = 1};
	struct diag none;
	int err;

	if (!d)
		d = &none;
	*d = (struct diag){0};
	w.st.cwd = plain_val(opts->cwd
			? (struct shell_str){opts->cwd, strlen(opts->cwd)}
			: SHELL_STR(SHELL_ANY_S));
	take_args(&w, opts->args, opts->nargs);
	err = read_text(
		&w, (struct shell_str){text, len}, opts->dialect, d);
	if (w.err == -E2BIG && !d->text[0])
		diag_fail(d, -E2BIG,
			"the command is too large or too deep to be judged");
	return w.err ? w.err : err;
}

int shell_walk_child(struct shell_walk *w, const struct shell_child *child)
{
	const struct plain_state before = w->st;
	const struct plain_names later = w->later;
	const struct shell_cmd *cmd = w->cmd;
	unsigned bodies = w->bodies;

	plain_inherit(w, child->clean);
	w->later = (struct plain_names){0};
	take_args(w, child->args, child->nargs);
	if (child->cwd)
		w->st.cwd = *child->cwd;
	for (size_t i = 0; cmd && !child->clean && i < cmd->nsets; i++)
		plain_assign(w, cmd->sets[i].name, &cmd->sets[i].value, true);
	for (size_t i = 0; i < child->nenv; i++)
		plain_assign(w, child->env[i].name,
			child->env[i].unset ? NULL : &child->env[i].value, true);
	w->bodies = 0;
	if (child->text->many)
		plain_risk(w, SHELL_RISK_CODE, child->text->text,
			child->text->span);
	else
		plain_nested(w, child->text->text, child->dialect,
			cmd ? cmd->span : child->text->span);
	w->bodies = bodies;
	w->cmd = cmd;
	w->later = later;
	w->st = before;
	return w->err;
}

const char *shell_risk_text(enum shell_risk risk)
{
	return str_nth("a variable's name is computed\0"
		       "shell code is computed\0"
		       "a file's commands are run\0"
		       "an alias changes what later names mean\0"
		       "a variable is named by another one\0"
		       "text is expanded as a prompt\0"
		       "a name is tied to another program\0"
		       "shell code nested too deep\0"
		       "nested shell code cannot be read\0"
		       "shells read it in different ways\0",
		risk);
}
