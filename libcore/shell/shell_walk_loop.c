/* shell_walk_loop.c - loops: what holds however often the body has run
 * SPDX-License-Identifier: MIT
 *
 * A first, silent run from the start finds which names the body changes. With
 * all of them unknown, a second silent run gives values that hold after any
 * round; joined with the start they hold at the head of every round, and from
 * there the body is walked for good, once more if it ends otherwise than that. Loops inside a silent run spare what that
 * run does not need, so that the cost grows with the nesting, not by powers.
 */
#include "shell/shell_eval_in.h"

#include <errno.h>

static void loop_names(struct shell_walk *w, const struct shell_node *node,
	const struct shell_val *each)
{
	if (node->type == SHELL_SELECT)
		shell_assign_var(w, SHELL_STR("REPLY"), &shell_val_any, false,
			node->span);
	if (node->type == SHELL_FOR || node->type == SHELL_SELECT)
		shell_assign_var(
			w, node->u.loop.name, each, false, node->span);
}

/* One round. The state in *leave is what a false test leaves with. */
static void round_once(struct shell_walk *w, const struct shell_node *node,
	const struct shell_val *each, struct shell_state *leave)
{
	struct shell_state *st = w->st;

	if (node->type == SHELL_WHILE || node->type == SHELL_UNTIL) {
		shell_walk_test(w, node->u.wait.test);
		shell_fork(w, st, leave);
		if (node->type == SHELL_WHILE) {
			st->fail = st->cwd;
			leave->cwd = leave->fail;
		} else {
			st->cwd = st->fail;
			leave->fail = leave->cwd;
		}
		shell_walk_list(w, node->u.wait.body);
	} else if (node->type == SHELL_FORARITH) {
		shell_walk_arith(w, node->u.forarith.test);
		shell_fork(w, st, leave);
		shell_walk_list(w, node->u.forarith.body);
		shell_walk_arith(w, node->u.forarith.step);
	} else {
		shell_fork(w, st, leave);
		loop_names(w, node, each);
		shell_walk_list(w, node->u.loop.body);
	}
	shell_settle(w);
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
	unsigned rounds = 0;

	if (w->collect) {
		w->loop = &frame;
		round_once(w, node, each, &leave);
		w->loop = frame.up;
		shell_join(w, st, &leave);
		if (frame.any)
			shell_join(w, st, &frame.acc);
		return;
	}
	shell_fork(w, st, &before);
	shell_fork(w, st, &first);
	dry_round(w, node, each, &first, true);
	shell_fork(w, st, &head);
	shell_havoc(w, &head, &before, &first);
	if (!w->quiet) {
		const struct shell_val *far;
		struct shell_state second;
		bool grown;

		head.cwd = head.fail = shell_val_union(w, before.cwd, first.cwd);
		shell_fork(w, &head, &second);
		dry_round(w, node, each, &second, false);
		/* Another round would lead to yet other places, or make other
		 * parameters. */
		grown = !shell_args_within(&second, &head);
		far = shell_val_union(w, head.cwd, second.cwd);
		if (shell_val_same(head.cwd, far))
			far = NULL;
		if (grown || far) {
			shell_fork(w, &head, &second);
			if (grown)
				shell_forget_args(&second);
			if (far)
				second.cwd = second.fail = far = shell_val_union(
					w, head.cwd, &shell_val_any);
			dry_round(w, node, each, &second, false);
			if (far)
				second.cwd = second.fail = far;
		}
		shell_fork(w, &before, &head);
		shell_join(w, &head, &second);
	}
	do {
		shell_fork(w, &head, st);
		frame.any = false;
		w->loop = &frame;
		round_once(w, node, each, &leave);
		w->loop = frame.up;
		if (frame.any)
			shell_join(w, st, &frame.acc);
		/* Where a name or code is itself a variable's, a round may do
		 * what neither of the silent ones did. */
	} while (!w->quiet && !w->err && shell_widen(w, &head, st, rounds++));
	shell_join(w, st, &leave);
}

/* What the variable of a for loop may be: any of the words. */
static const struct shell_val *each_value(
	struct shell_walk *w, const struct shell_node *node)
{
	struct shell_args args = {0};
	const struct shell_val *each = NULL;
	const struct shell_word *word = node->u.loop.words;

	if (!node->u.loop.has_in) {
		if (w->st->nargs < 2)
			return &shell_val_any;
		for (size_t i = 1; i < w->st->nargs; i++)
			each = each ? shell_val_union(w, each, &w->st->args[i])
				    : &w->st->args[i];
	}
	for (; word && !w->err; word = word->next)
		shell_expand(w, word, &args);
	for (size_t i = 0; i < args.n; i++)
		args.v[i] = shell_val_present(w, &args.v[i]);
	for (size_t i = 0; i < args.n; i++)
		each = each ? shell_val_union(w, each, &args.v[i]) : &args.v[i];
	return each ? shell_val_one(w, each) : &shell_val_empty;
}

void shell_walk_loop(struct shell_walk *w, const struct shell_node *node)
{
	const struct shell_val *each = NULL;

	if (node->type == SHELL_FOR || node->type == SHELL_SELECT)
		each = each_value(w, node);
	else if (node->type == SHELL_FORARITH)
		shell_walk_arith(w, node->u.forarith.init);
	if (!w->err)
		walk_rounds(w, node, each ? each : &shell_val_any);
}
