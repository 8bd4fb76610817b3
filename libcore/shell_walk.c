/* shell_walk.c - every command a shell text can run: the nodes of the tree
 * SPDX-License-Identifier: MIT
 */
#include "shell_eval.h"

#include <errno.h>
#include <string.h>

void *shell_stop(struct shell_walk *w, int err)
{
	if (!w->err)
		w->err = err;
	if (err == -E2BIG && w->err == err && w->diag && !w->diag->text[0])
		diag_fail(w->diag, err,
			"the command is too large or too deep to be judged");
	return NULL;
}

void *walk_zalloc(struct shell_walk *w, size_t n)
{
	void *p = arena_zalloc(w->a, n);

	return p ? p : shell_stop(w, -E2BIG);
}

char *walk_bytes(struct shell_walk *w, size_t n)
{
	char *p = arena_bytes(w->a, n);

	return p ? p : shell_stop(w, -E2BIG);
}

bool shell_step(struct shell_walk *w)
{
	if (++w->steps > SHELL_MAX_STEPS)
		shell_stop(w, -E2BIG);
	return !w->err;
}

struct shell_span shell_outer(const struct shell_walk *w, struct shell_span at)
{
	return w->source->nested ? w->source->span : at;
}

void shell_risk(struct shell_walk *w, enum shell_risk risk,
	struct shell_str what, struct shell_span span)
{
	int err;

	if (w->quiet || w->err || !w->ops->risk)
		return;
	err = w->ops->risk(w->ctx, w, risk, what, shell_outer(w, span));
	if (err)
		shell_stop(w, err);
}

struct arena *shell_walk_arena(struct shell_walk *w)
{
	return w->a;
}

/* Succeeded or failed: from here on either may be. */
static void settle(struct shell_walk *w)
{
	struct shell_state *st = w->st;

	if (st->cwd != st->fail)
		st->cwd = st->fail = shell_val_union(w, st->cwd, st->fail);
}

void shell_walk_subshell(struct shell_walk *w, const struct shell_list *list,
	enum shell_input input, bool piped_out)
{
	struct shell_state *outer = w->st, inner = shell_fork(w, outer);

	inner.piped_out = piped_out;
	if (inner.input != input) {
		inner.input = input;
		inner.input_text = NULL;
	}
	w->st = &inner;
	shell_walk_list(w, list);
	w->st = outer;
}

static void walk_background(
	struct shell_walk *w, const struct shell_node *node, bool piped)
{
	struct shell_state *outer = w->st, inner = shell_fork(w, outer);

	inner.background = true;
	/* A coprocess reads what the shell writes to it. */
	if (piped) {
		inner.input = SHELL_IN_PIPE;
		inner.input_text = NULL;
		inner.piped_out = true;
	}
	w->st = &inner;
	shell_walk_node(w, node);
	w->st = outer;
}

void shell_walk_list(struct shell_walk *w, const struct shell_list *list)
{
	const struct shell_item *item = list ? list->first : NULL;

	for (; item && !w->err; item = item->next) {
		settle(w);
		if (item->background)
			walk_background(w, item->node, false);
		else
			shell_walk_node(w, item->node);
	}
}

static void walk_pipeline(struct shell_walk *w, const struct shell_node *node)
{
	const struct shell_node *part = node->u.pipeline.first;
	struct shell_state *outer = w->st;
	const struct shell_val *kept;
	bool first = true;

	if (!part->next) {
		shell_walk_node(w, part);
		if (node->u.pipeline.bangs % 2) {
			kept = outer->cwd;
			outer->cwd = outer->fail;
			outer->fail = kept;
		}
		return;
	}
	for (; part && !w->err; part = part->next) {
		struct shell_state inner = shell_fork(w, outer);

		if (!first) {
			inner.input = SHELL_IN_PIPE;
			inner.input_text = NULL;
		}
		inner.piped_out |= part->next != NULL;
		w->st = &inner;
		shell_walk_node(w, part);
		w->st = outer;
		first = false;
	}
}

/* After `a && b`: it failed where a failed or b did, succeeded where b did. */
static void walk_andor(struct shell_walk *w, const struct shell_node *node)
{
	const struct shell_node *part = node->u.andor.first;

	shell_walk_node(w, part);
	for (part = part->next; part && !w->err; part = part->next) {
		struct shell_state *st = w->st;
		struct shell_state skipped = shell_fork(w, st);

		/* Skipped, the left side's result stands. */
		if (part->after_or) {
			st->cwd = st->fail;
			skipped.fail = NULL;
		} else {
			st->fail = st->cwd;
			skipped.cwd = NULL;
		}
		shell_walk_node(w, part);
		if (!skipped.cwd)
			skipped.cwd = st->dead ? skipped.fail : st->cwd;
		if (!skipped.fail)
			skipped.fail = st->dead ? skipped.cwd : st->fail;
		shell_join(w, st, &skipped);
	}
}

static void walk_if(struct shell_walk *w, const struct shell_node *node)
{
	struct shell_state *st = w->st, other;

	shell_walk_list(w, node->u.cond_if.test);
	other = shell_fork(w, st);
	st->fail = st->cwd;
	other.cwd = other.fail;
	shell_walk_list(w, node->u.cond_if.then);
	settle(w);
	w->st = &other;
	shell_walk_list(w, node->u.cond_if.other);
	settle(w);
	w->st = st;
	shell_join(w, st, &other);
}

static void walk_case(struct shell_walk *w, const struct shell_node *node)
{
	const struct shell_case_item *item = node->u.select.items;
	struct shell_state *st = w->st, after;

	shell_expand_one(w, node->u.select.subject);
	after = shell_fork(w, st);
	for (; item && !w->err; item = item->next) {
		struct shell_state branch = shell_fork(w, st);
		const struct shell_word *pattern = item->patterns;

		w->st = &branch;
		for (; pattern; pattern = pattern->next)
			shell_expand_one(w, pattern);
		/* Fallen into, it begins where the one before ended. */
		if (item != node->u.select.items)
			shell_join(w, &branch, &after);
		shell_walk_list(w, item->body);
		settle(w);
		shell_join(w, &after, &branch);
	}
	w->st = st;
	*st = after;
	st->epoch = ++w->epoch;
}

static void walk_cond(struct shell_walk *w, const struct shell_cond *c)
{
	const struct shell_val *left = NULL, *right = NULL;

	if (!c || w->err)
		return;
	if (c->left)
		left = shell_expand_one(w, c->left);
	if (c->right)
		right = shell_expand_one(w, c->right);
	if (c->type == SHELL_COND_UNARY && left &&
		(shell_str_is(c->op, "-v") || shell_str_is(c->op, "-R")))
		shell_check_name(w, left);
	if (c->type == SHELL_COND_BINARY && left && right && c->op.n == 3 &&
		c->op.p[0] == '-' && c->op.p[2] != 't' && c->op.p[1] != 'e') {
		shell_arith_text(w, left, c->left->span);
		shell_arith_text(w, right, c->right->span);
	} else if (c->type == SHELL_COND_BINARY && left && right &&
		   (shell_str_is(c->op, "-eq") || shell_str_is(c->op, "-lt") ||
			   shell_str_is(c->op, "-gt"))) {
		shell_arith_text(w, left, c->left->span);
		shell_arith_text(w, right, c->right->span);
	}
	walk_cond(w, c->a);
	walk_cond(w, c->b);
}

static void walk_arith(struct shell_walk *w, const struct shell_word *word)
{
	if (word)
		shell_arith_text(w,
			shell_expand_quoted(w, word->parts, word->span),
			word->span);
}

static void walk_inside(struct shell_walk *w, const struct shell_node *node)
{
	switch (node->type) {
	case SHELL_SIMPLE:
		shell_walk_simple(w, node);
		break;
	case SHELL_PIPELINE:
		walk_pipeline(w, node);
		break;
	case SHELL_ANDOR:
		walk_andor(w, node);
		break;
	case SHELL_SUBSHELL:
		shell_walk_subshell(
			w, node->u.group.body, w->st->input, w->st->piped_out);
		break;
	case SHELL_GROUP:
		shell_walk_list(w, node->u.group.body);
		break;
	case SHELL_IF:
		walk_if(w, node);
		break;
	case SHELL_FOR:
	case SHELL_SELECT:
	case SHELL_FORARITH:
	case SHELL_WHILE:
	case SHELL_UNTIL:
		shell_walk_loop(w, node);
		break;
	case SHELL_CASE:
		walk_case(w, node);
		break;
	case SHELL_FUNC:
		shell_func_define(w, node);
		break;
	case SHELL_COND:
		walk_cond(w, node->u.cond);
		break;
	case SHELL_ARITH:
		walk_arith(w, node->u.arith);
		break;
	case SHELL_COPROC:
		shell_assign_var(w, SHELL_SET_READ,
			node->u.coproc.name.n ? node->u.coproc.name
					      : SHELL_STR("COPROC"),
			&shell_val_rel, false, node->span);
		walk_background(w, node->u.coproc.body, true);
		break;
	}
}

void shell_walk_node(struct shell_walk *w, const struct shell_node *node)
{
	struct shell_state *st = w->st;
	enum shell_input input = st->input;
	const struct shell_val *text = st->input_text;

	if (!node || w->err)
		return;
	if (++w->depth > 8 * SHELL_MAX_DEPTH)
		shell_stop(w, -E2BIG);
	settle(w);
	/* A compound command's redirections hold for all in it. */
	if (node->type != SHELL_SIMPLE && node->redirs)
		shell_walk_redirs(w, node->redirs);
	walk_inside(w, node);
	if (node->type != SHELL_SIMPLE && node->redirs) {
		st->input = input;
		st->input_text = text;
	}
	w->depth--;
}
