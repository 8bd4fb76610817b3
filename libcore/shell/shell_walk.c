/* shell_walk.c - every command a shell text can run: the nodes of the tree
 * SPDX-License-Identifier: MIT
 */
#include "shell/shell_eval_in.h"

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
	w->steps += SHELL_STEP;
	if (w->steps > SHELL_MAX_STEPS)
		shell_stop(w, -E2BIG);
	return !w->err;
}

unsigned shell_walk_steps(const struct shell_walk *w)
{
	return w->steps / SHELL_STEP;
}

struct shell_span shell_outer(const struct shell_walk *w, struct shell_span at)
{
	return w->source->nested ? w->source->span : at;
}

void shell_risk(struct shell_walk *w, enum shell_risk risk,
	struct shell_str what, struct shell_span span)
{
	if (!w->quiet && !w->err && w->ops->risk)
		shell_stop(w, w->ops->risk(w->ctx, w, risk, what,
				      shell_outer(w, span)));
}

void shell_settle(struct shell_walk *w)
{
	struct shell_state *st = w->st;

	if (st->cwd == st->sure)
		st->fail = st->cwd;
	else if (st->cwd != st->fail)
		st->cwd = st->fail = shell_val_union(w, st->cwd, st->fail);
}

void shell_may_fail(struct shell_walk *w, const struct shell_state *before)
{
	struct shell_state *st = w->st;
	const struct shell_val *cwd = st->cwd;
	bool dead = st->dead, moved = !shell_val_same(cwd, before->cwd);

	shell_join(w, st, before);
	if (dead || !moved || w->err)
		return;
	st->cwd = cwd;
	st->sure = NULL;
}

void shell_toss(struct shell_walk *w)
{
	if (w->dialect != SHELL_BASH || w->err)
		return;
	if (w->tossed) {
		w->st->epoch = ++w->epoch;
		shell_join(w, w->tossed, w->st);
		return;
	}
	w->tossed = walk_new(w, struct shell_state);
	if (w->tossed)
		shell_fork(w, w->st, w->tossed);
}

void shell_catch(struct shell_walk *w)
{
	if (w->tossed) {
		shell_join(w, w->st, w->tossed);
		w->st->sure = NULL;
	}
	w->tossed = NULL;
}

void shell_walk_apart(struct shell_walk *w, const struct shell_node *node,
	const struct shell_list *list, enum shell_input input)
{
	struct shell_state *outer = w->st, *tossed = w->tossed;
	struct shell_state inner;

	shell_fork(w, outer, &inner);
	if (inner.input != input) {
		inner.input = input;
		inner.input_text = NULL;
	}
	w->st = &inner;
	shell_walk_node(w, node);
	shell_walk_list(w, list);
	shell_tell_traps(w);
	w->st = outer;
	w->tossed = tossed;
}

void shell_walk_list(struct shell_walk *w, const struct shell_list *list)
{
	const struct shell_item *item = list ? list->first : NULL;

	for (; item && !w->err; item = item->next) {
		shell_settle(w);
		if (item->background)
			shell_walk_apart(w, item->node, NULL, w->st->input);
		else
			shell_walk_node(w, item->node);
		if (w->st->errexit && !w->tested && !item->background &&
			item->node->type == SHELL_SIMPLE)
			w->st->sure = w->st->cwd;
		if (item->newline && list == w->program)
			shell_catch(w);
	}
}

void shell_walk_test(struct shell_walk *w, const struct shell_list *list)
{
	w->tested++;
	shell_walk_list(w, list);
	w->tested--;
}

static void walk_pipeline(struct shell_walk *w, const struct shell_node *node)
{
	const struct shell_node *part = node->u.pipeline.first;
	struct shell_state *outer = w->st;
	const struct shell_val *kept;
	enum shell_input input = outer->input;

	w->tested++;
	if (!part->next) {
		shell_walk_node(w, part);
		if (node->u.pipeline.bangs % 2) {
			kept = outer->cwd;
			outer->cwd = outer->fail;
			outer->fail = kept;
		}
		part = NULL;
	}
	for (; part && !w->err; part = part->next) {
		shell_walk_apart(w, part, NULL, input);
		input = SHELL_IN_PIPE;
	}
	w->tested--;
}

/* [[ a && -f b ]] where [[ is no reserved word: the name of a command that is
 * missing, or wants a ]] of its own. What follows && never runs. */
static bool never_true(const struct shell_walk *w, const struct shell_node *n)
{
	const struct shell_word *word =
		n->type == SHELL_SIMPLE ? n->u.simple.words : NULL;

	if (w->dialect == SHELL_BASH || !word || !shell_word_is(word, "[[") ||
		shell_func_find(w->st, SHELL_STR("[[")))
		return false;
	while (word->next)
		word = word->next;
	return !shell_word_is(word, "]]");
}

/* After `a && b`: it failed where a failed or b did, succeeded where b did. */
static void walk_andor(struct shell_walk *w, const struct shell_node *node)
{
	const struct shell_node *part = node->u.andor.first;
	bool never = never_true(w, part);

	w->tested++;
	shell_walk_node(w, part);
	for (part = part->next; part && !w->err; part = part->next) {
		struct shell_state *st = w->st;
		struct shell_state skipped;

		if (never && !part->after_or)
			continue;
		/* a || [[ b && c: where a is true, c runs. */
		never = !part->after_or && never_true(w, part);
		shell_fork(w, st, &skipped);
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
	w->tested--;
}

static void walk_if(struct shell_walk *w, const struct shell_node *node)
{
	struct shell_state *st = w->st, other;

	shell_walk_test(w, node->u.cond_if.test);
	shell_fork(w, st, &other);
	st->fail = st->cwd;
	other.cwd = other.fail;
	shell_walk_list(w, node->u.cond_if.then);
	shell_settle(w);
	w->st = &other;
	shell_walk_list(w, node->u.cond_if.other);
	shell_settle(w);
	w->st = st;
	shell_join(w, st, &other);
}

static void walk_case(struct shell_walk *w, const struct shell_node *node)
{
	const struct shell_case_item *item = node->u.select.items;
	struct shell_state *st = w->st, after;

	shell_expand_one(w, node->u.select.subject);
	shell_fork(w, st, &after);
	for (; item && !w->err; item = item->next) {
		const struct shell_word *pattern = item->patterns;
		struct shell_state branch;

		shell_fork(w, st, &branch);
		w->st = &branch;
		for (; pattern; pattern = pattern->next)
			shell_expand_one(w, pattern);
		/* Fallen into, it begins where the one before ended. */
		if (item != node->u.select.items)
			shell_join(w, &branch, &after);
		shell_walk_list(w, item->body);
		shell_settle(w);
		shell_join(w, &after, &branch);
	}
	w->st = st;
	shell_fork(w, &after, st);
}

/* [[ -f path ]] */
static void cond_path(struct shell_walk *w, const struct shell_cond *c,
	const struct shell_val *path)
{
	struct shell_open o = {.reads = true};

	if (!path || !c->left)
		return;
	o.span = shell_outer(w, c->left->span);
	o.path = *path;
	shell_report_open(w, &o);
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
		shell_str_in(c->op, " -v -R "))
		shell_check_name(w, left);
	if ((c->type == SHELL_COND_UNARY &&
		    !shell_str_in(c->op, " -v -R -n -z -o -t ")) ||
		(c->type == SHELL_COND_BINARY &&
			shell_str_in(c->op, " -nt -ot -ef "))) {
		cond_path(w, c, left);
		cond_path(w, c, right);
	} else if (c->type == SHELL_COND_BINARY && left && right &&
		   shell_str_in(c->op, " -eq -ne -lt -le -gt -ge ")) {
		shell_arith_text(w, left, c->left->span);
		shell_arith_text(w, right, c->right->span);
	}
	walk_cond(w, c->a);
	walk_cond(w, c->b);
}

void shell_walk_arith(struct shell_walk *w, const struct shell_word *word)
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
		shell_walk_apart(w, NULL, node->u.group.body, w->st->input);
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
		shell_walk_arith(w, node->u.arith);
		break;
	case SHELL_COPROC:
		shell_assign_var(w, node->u.coproc.name.n ? node->u.coproc.name
					      : SHELL_STR("COPROC"),
			&shell_val_num, false, node->span);
		/* It reads what the shell writes to it. */
		shell_walk_apart(w, node->u.coproc.body, NULL, SHELL_IN_PIPE);
		break;
	}
}

static void walk_redirected(struct shell_walk *w, const struct shell_node *node)
{
	struct shell_state *st = w->st, before;
	enum shell_input input = st->input;
	const struct shell_val *text = st->input_text;

	shell_walk_redirs(w, node->redirs);
	shell_fork(w, st, &before);
	walk_inside(w, node);
	if (shell_redirs_fail(node->redirs))
		shell_may_fail(w, &before);
	st->input = input;
	st->input_text = text;
}

void shell_walk_node(struct shell_walk *w, const struct shell_node *node)
{
	if (!node || w->err)
		return;
	if (++w->depth > 8 * SHELL_MAX_DEPTH)
		shell_stop(w, -E2BIG);
	shell_settle(w);
	/* A compound command's redirections hold for all in it. */
	if (node->type != SHELL_SIMPLE && node->redirs)
		walk_redirected(w, node);
	else
		walk_inside(w, node);
	w->depth--;
}
