/* shell_walk_trap.c - traps: code that runs whenever its time comes
 * SPDX-License-Identifier: MIT
 */
#include "shell/shell_eval_in.h"

#include <errno.h>

static bool only_exit(const struct shell_call *c)
{
	for (size_t i = c->at + 1; i < c->n; i++) {
		const struct shell_str *s = shell_val_text(&c->v[i]);

		if (!s || !shell_str_in(*s, " EXIT 0 "))
			return false;
	}
	return true;
}

/* A signal's code may run between any two commands: what it sets is not known
 * from here on. */
static void walk_trap(struct shell_walk *w, const struct shell_call *c,
	const struct shell_val *code)
{
	struct shell_state *st = w->st, in, before;

	shell_fork(w, st, &in);
	in.errexit = true;
	before = in;
	w->st = &in;
	w->tested++;
	shell_walk_code(w, code, c->span);
	w->tested--;
	w->st = st;
	if (only_exit(c))
		return;
	if (in.cwd != before.cwd || in.funcs != before.funcs ||
		in.args != before.args || in.input != before.input ||
		in.own_ifs != before.own_ifs ||
		in.errexit != before.errexit)
		shell_risk(w, SHELL_RISK_CODE, code->alts[0], c->span);
	for (struct shell_var *v = in.vars; v && v != before.vars;
		v = v->next) {
		struct shell_var *name = walk_new(w, struct shell_var);

		if (!name)
			return;
		name->name = v->name;
		name->next = w->traped;
		w->traped = name;
	}
}

void shell_builtin_trap(struct shell_walk *w, struct shell_call *c)
{
	const struct shell_val *code;
	const struct shell_str *s;
	struct trap *t;

	if (!shell_options(w, c, ""))
		shell_risk(w, SHELL_RISK_CODE, c->v[c->at].alts[0], c->span);
	if (c->opt['p'] || c->opt['l'])
		return;
	/* One operand alone, or a number first, resets. */
	if (c->at + 1 >= c->n)
		return;
	code = &c->v[c->at];
	/* What may be no word at all leaves it to the next. */
	for (size_t i = c->at + 1; i < c->n && !shell_val_stays(&c->v[i - 1]);
		i++)
		code = shell_val_union(w, code, &c->v[i]);
	s = shell_val_text(code);
	if (s && (!s->n || shell_str_is(*s, "-")))
		return;
	walk_trap(w, c, code);
	if (w->quiet || w->err)
		return;
	t = walk_new(w, struct trap);
	if (!t)
		return;
	t->code = code;
	t->span = c->span;
	t->source = w->source;
	t->next = w->trap;
	w->trap = t;
	if (w->traps) {
		shell_tell_traps(w);
		return;
	}
	w->told = NULL;
	w->traps = walk_new(w, struct shell_state);
	if (w->traps)
		shell_fork(w, w->st, w->traps);
}

void shell_tell_traps(struct shell_walk *w)
{
	struct shell_state now = *w->st;

	if (!w->traps || w->quiet)
		return;
	now.dead = false;
	/* From here on a change makes a binding of its own. */
	w->st->epoch = ++w->epoch;
	if (w->told && now.vars == w->told) {
		now.vars = w->traps->vars;
		now.nvars = w->traps->nvars;
	}
	w->told = w->st->vars;
	shell_join(w, w->traps, &now);
}

void shell_walk_traps(struct shell_walk *w)
{
	struct shell_state *st = w->st, *seen = w->traps;

	/* Whoever set one keeps what it may see. */
	if (!seen) {
		w->err = w->trap && !w->err ? -ENOMEM : w->err;
		return;
	}
	shell_tell_traps(w);
	for (struct trap *t = w->trap; t && !w->err; t = t->next) {
		struct shell_state in = *seen;

		in.funcs = st->funcs;
		in.epoch = ++w->epoch;
		w->st = &in;
		w->source = t->source;
		w->traps = NULL;
		w->tested++;
		shell_walk_code(w, t->code, t->span);
		w->tested--;
		w->st = st;
	}
}
