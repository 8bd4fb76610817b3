/* shell_walk_child.c - a new shell, and what it sees of this one
 * SPDX-License-Identifier: MIT
 */
#include "shell/shell_eval_in.h"

/* What a new shell sees of the variables: the exported ones. */
static void export_vars(struct shell_walk *w, struct shell_state *in,
	const struct shell_var *v, bool clean)
{
	in->vars = NULL;
	in->nvars = in->maxvars = 0;
	for (; v; v = v->next) {
		struct shell_var *own;

		w->steps += in->nvars;
		if (shell_var_find(in, v->name))
			continue;
		own = shell_var_own(w, v->name);
		if (!own)
			return;
		own->value = v->exported && !clean ? v->value : NULL;
		own->maybe_unset = v->maybe_unset;
		own->exported = v->exported;
	}
}

/* Those, the last shell's if nothing was set since, and what the command and
 * its wrappers set. */
static void child_vars(struct shell_walk *w, struct shell_state *in,
	const struct shell_state *outer, const struct shell_child *child)
{
	const struct shell_cmd *cmd = w->cmd;
	struct shell_exports *last = &w->exports;

	if (last->of != outer->vars || last->clean != child->clean) {
		export_vars(w, in, outer->vars, child->clean);
		*last = (struct shell_exports){outer->vars, in->vars, in->nvars,
			in->maxvars, child->clean};
	}
	in->vars = last->vars;
	in->nvars = last->n;
	in->maxvars = last->max;
	in->epoch = ++w->epoch;
	for (size_t i = 0; cmd && !child->clean && i < cmd->nsets; i++)
		shell_assign_quiet(w, &cmd->sets[i]);
	for (size_t i = 0; i < child->nenv; i++)
		shell_assign_quiet(w, &child->env[i]);
}

/* Exported functions: bash takes them over, the others do not. */
static void child_funcs(struct shell_walk *w, struct shell_state *in,
	const struct shell_func *outer, bool clean)
{
	in->funcs = NULL;
	for (; outer && !clean; outer = outer->next) {
		struct shell_func *f, *next = in->funcs;
		unsigned below = next ? next->below + 1 : 0;

		if (!outer->exported || shell_func_find(in, outer->name))
			continue;
		f = shell_func_push(w, in, outer->name);
		if (!f)
			return;
		*f = *outer;
		f->maybe = true;
		f->below = below;
		f->next = next;
	}
}

int shell_walk_child(struct shell_walk *w, const struct shell_child *child)
{
	struct shell_state *st = w->st, in;
	struct shell_frame *func = w->func, *loop = w->loop;
	unsigned calls = w->calls;
	const struct shell_cmd *cmd = w->cmd;
	const struct shell_source *source = w->source;
	struct shell_state *traps = w->traps;
	const struct shell_var *told = w->told;
	struct trap *trap = w->trap;
	struct shell_span span = cmd ? cmd->at : child->text->span;

	shell_fork(w, st, &in);
	child_funcs(w, &in, st->funcs, child->clean);
	in.own_ifs = in.allexport = in.errexit = false;
	in.dirs = NULL;
	in.args = child->args;
	in.nargs = child->nargs;
	in.bare |= child->clean;
	if (child->cwd)
		in.cwd = in.fail = child->cwd;
	w->st = &in;
	w->func = w->loop = NULL;
	w->trap = NULL;
	w->traps = NULL;
	child_vars(w, &in, st, child);
	if (child->text->many)
		shell_risk(w, SHELL_RISK_CODE, child->text->alts[0], span);
	for (unsigned i = 0; i < child->text->n && !w->err; i++)
		shell_walk_nested(w, child->text->alts[i], child->dialect, span);
	shell_walk_traps(w);
	w->source = source;
	w->trap = trap;
	w->traps = traps;
	w->told = told;
	w->st = st;
	w->func = func;
	w->loop = loop;
	w->calls = calls;
	w->cmd = cmd;
	return w->err;
}
