/* shell_walk_loop.c - loops: what holds however often the body has run
 * SPDX-License-Identifier: MIT
 *
 * A first, silent run from the start finds which names the body changes. With
 * all of them unknown, a second silent run gives values that hold after any
 * round; joined with the start they hold at the head of every round, and from
 * there the body is walked for good. Loops inside a silent run spare what that
 * run does not need, so that the cost grows with the nesting, not by powers.
 */
#include "shell_eval.h"

#include <errno.h>

static void loop_names(struct shell_walk *w, const struct shell_node *node,
	const struct shell_val *each)
{
	if (node->type == SHELL_SELECT)
		shell_assign_var(w, SHELL_SET_READ, SHELL_STR("REPLY"),
			&shell_val_any, false, node->span);
	if (node->type == SHELL_FOR || node->type == SHELL_SELECT)
		shell_assign_var(w, SHELL_SET_LOOP, node->u.loop.name, each,
			false, node->span);
}

static void arith(struct shell_walk *w, const struct shell_word *word)
{
	if (word)
		shell_arith_text(w,
			shell_expand_quoted(w, word->parts, word->span),
			word->span);
}

/* One round. The state in *leave is what a false test leaves with. */
static void round_once(struct shell_walk *w, const struct shell_node *node,
	const struct shell_val *each, struct shell_state *leave)
{
	struct shell_state *st = w->st;

	if (node->type == SHELL_WHILE || node->type == SHELL_UNTIL) {
		shell_walk_list(w, node->u.wait.test);
		*leave = shell_fork(w, st);
		if (node->type == SHELL_WHILE) {
			st->fail = st->cwd;
			leave->cwd = leave->fail;
		} else {
			st->cwd = st->fail;
			leave->fail = leave->cwd;
		}
		shell_walk_list(w, node->u.wait.body);
	} else if (node->type == SHELL_FORARITH) {
		arith(w, node->u.forarith.test);
		*leave = shell_fork(w, st);
		shell_walk_list(w, node->u.forarith.body);
		arith(w, node->u.forarith.step);
	} else {
		*leave = shell_fork(w, st);
		loop_names(w, node, each);
		shell_walk_list(w, node->u.loop.body);
	}
	if (st->cwd != st->fail)
		st->cwd = st->fail = shell_val_union(w, st->cwd, st->fail);
}

/* Silent: from *head, which is left as the round's end. */
static void dry_round(struct shell_walk *w, const struct shell_node *node,
	const struct shell_val *each, struct shell_state *head, bool collect)
{
	struct shell_frame frame = {.up = w->loop};
	struct shell_state *st = w->st, leave;
	bool collecting = w->collect;

	w->quiet++;
	w->collect |= collect;
	w->loop = &frame;
	w->st = head;
	round_once(w, node, each, &leave);
	w->st = st;
	w->loop = frame.up;
	w->collect = collecting;
	w->quiet--;
	/* continue joins the end of the round; a break is a way out as well,
	 * and harmless here. */
	if (frame.any)
		shell_join(w, head, &frame.acc);
}

static void walk_rounds(struct shell_walk *w, const struct shell_node *node,
	const struct shell_val *each)
{
	struct shell_frame frame = {.up = w->loop};
	struct shell_state *st = w->st, before, first, head, leave;

	if (w->collect) {
		w->loop = &frame;
		round_once(w, node, each, &leave);
		w->loop = frame.up;
		shell_join(w, st, &leave);
		if (frame.any)
			shell_join(w, st, &frame.acc);
		return;
	}
	before = shell_fork(w, st);
	first = shell_fork(w, st);
	dry_round(w, node, each, &first, true);
	head = shell_fork(w, st);
	shell_havoc(w, &head, &before, &first);
	if (!w->quiet) {
		struct shell_state second;

		head.cwd = head.fail = shell_val_union(w, before.cwd, first.cwd);
		second = shell_fork(w, &head);
		dry_round(w, node, each, &second, false);
		/* Another round would lead to yet other places. */
		if (!shell_val_same(head.cwd, shell_val_union(w, head.cwd,
						      second.cwd))) {
			second = shell_fork(w, &head);
			second.cwd = second.fail = &shell_val_any;
			dry_round(w, node, each, &second, false);
			second.cwd = second.fail = &shell_val_any;
		}
		head = before;
		head.epoch = ++w->epoch;
		shell_join(w, &head, &second);
	}
	*st = head;
	st->epoch = ++w->epoch;
	w->loop = &frame;
	round_once(w, node, each, &leave);
	w->loop = frame.up;
	shell_join(w, st, &leave);
	if (frame.any)
		shell_join(w, st, &frame.acc);
}

/* What the variable of a for loop may be: any of the words. */
static const struct shell_val *each_value(
	struct shell_walk *w, const struct shell_node *node)
{
	struct shell_args args = {0};
	const struct shell_val *each = NULL;
	const struct shell_word *word = node->u.loop.words;

	if (!node->u.loop.has_in) {
		if (w->st->args_unknown || w->st->nargs < 2)
			return &shell_val_any;
		for (size_t i = 1; i < w->st->nargs; i++)
			each = each ? shell_val_union(w, each, &w->st->args[i])
				    : &w->st->args[i];
	}
	for (; word && !w->err; word = word->next)
		shell_expand(w, word, &args);
	for (size_t i = 0; i < args.n; i++)
		each = each ? shell_val_union(w, each, &args.v[i]) : &args.v[i];
	if (each && (each->many || each->glob)) {
		struct shell_val *one = walk_new(w, struct shell_val);

		if (!one)
			return NULL;
		*one = *each;
		one->many = false;
		each = one;
	}
	return each ? each : &shell_val_empty;
}

void shell_walk_loop(struct shell_walk *w, const struct shell_node *node)
{
	const struct shell_val *each = NULL;

	if (node->type == SHELL_FOR || node->type == SHELL_SELECT)
		each = each_value(w, node);
	else if (node->type == SHELL_FORARITH)
		arith(w, node->u.forarith.init);
	if (!w->err)
		walk_rounds(w, node, each ? each : &shell_val_any);
}
