/* shell_var.c - a variable that is set, set for a while, or taken away
 * SPDX-License-Identifier: MIT
 */
#include "shell/shell_eval_in.h"

void shell_report_set(struct shell_walk *w, const struct shell_set *s)
{
	if (!w->quiet && !w->err && w->ops->set)
		shell_stop(w, w->ops->set(w->ctx, w, s));
}

void shell_report(struct shell_walk *w, struct shell_str name,
	const struct shell_val *value, struct shell_span span)
{
	struct shell_set s = {.name = name,
		.value = value ? *value : shell_val_empty,
		.unset = !value,
		.span = shell_outer(w, span)};

	shell_report_set(w, &s);
}

/* What a trap may see: every value since it was set. */
static void tell_traps(struct shell_walk *w, struct shell_var *v)
{
	if (w->traps && !w->quiet && !w->err)
		shell_var_join(w, w->traps, w->st, v);
}

void shell_assign_var(struct shell_walk *w, struct shell_str name,
	const struct shell_val *value, bool exported, struct shell_span span)
{
	bool bound = shell_var_find(w->st, name) != NULL;
	const struct shell_val *old;
	struct shell_var *v;

	if (shell_str_unknown(name, true)) {
		shell_risk(w, SHELL_RISK_NAME, name, span);
		return;
	}
	v = shell_var_own(w, name);
	if (!v)
		return;
	if (!bound)
		shell_var_outside(w, v);
	old = v->value;
	v->value = value ? value : &shell_val_empty;
	if (v->folds)
		v->value = &shell_val_any;
	/* A readonly one keeps its value, and not all shells end there; an
	 * array keeps its other elements. */
	if ((v->readonly || v->array) && old)
		v->value = shell_val_union(w, old, v->value);
	if (v->readonly)
		shell_toss(w);
	v->maybe_unset = false;
	v->elems = NULL;
	v->exported |= exported || w->st->allexport;
	if (v->integer)
		shell_arith_text(w, v->value, span);
	if (shell_str_is(name, "IFS"))
		w->st->own_ifs = true;
	if (shell_str_is(name, "DIRSTACK"))
		w->st->dirs = NULL;
	if (shell_str_in(name, " BASH_CMDS BASH_ALIASES BASH_ARGV0 "))
		shell_risk(w, SHELL_RISK_HASH, name, span);
	shell_report(w, name, v->value, span);
	tell_traps(w, v);
}

void shell_assign_quiet(struct shell_walk *w, const struct shell_set *s)
{
	struct shell_var *v;

	if (shell_str_unknown(s->name, true))
		return;
	v = shell_var_own(w, s->name);
	if (!v)
		return;
	v->value = &s->value;
	v->maybe_unset = false;
	v->exported = true;
}

void shell_save_var(
	struct shell_walk *w, struct shell_saved **list, struct shell_str name)
{
	struct shell_saved *s = walk_new(w, struct shell_saved);
	struct shell_got got = shell_param_value(w, name);

	if (!s)
		return;
	s->name = name;
	s->value = got.v;
	s->unset = got.unset;
	s->next = *list;
	*list = s;
}

void shell_merge_saved(struct shell_walk *w, const struct shell_saved *list)
{
	for (; list; list = list->next) {
		struct shell_var *v = shell_var_own(w, list->name);

		if (!v)
			return;
		v->maybe_unset |= list->unset || !list->value || !v->value;
		v->value = !list->value ? v->value
			   : !v->value
				   ? list->value
				   : shell_val_union(w, v->value, list->value);
	}
}

void shell_unset_var(
	struct shell_walk *w, struct shell_str name, struct shell_span span)
{
	struct shell_var *v = shell_var_own(w, name);
	const struct shell_saved *l = NULL;

	if (!v)
		return;
	if (!v->readonly)
		*v = (struct shell_var){.name = v->name,
			.hash = v->hash,
			.epoch = v->epoch,
			.written = v->written,
			.next = v->next};
	/* A local that is taken away shows what it hid. */
	for (struct shell_frame *f = w->func; f && !v->value; f = f->up)
		for (l = f->locals; l && !v->value; l = l->next)
			if (shell_str_eq(l->name, name))
				v->value = l->value;
	v->maybe_unset = true;
	if (shell_str_is(name, "IFS") && !v->value)
		w->st->own_ifs = false;
	shell_report(w, name, NULL, span);
	tell_traps(w, v);
}
