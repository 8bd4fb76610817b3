/* shell_walk_assign.c - assignments: alone, before a command, of arrays
 * SPDX-License-Identifier: MIT
 */
#include "shell/shell_eval_in.h"

/* [index]=value: the index is expanded once more. */
static void check_index(struct shell_walk *w, const struct shell_val *v,
	struct shell_span span)
{
	for (unsigned i = 0; i < v->n; i++) {
		struct shell_str s = v->alts[i];

		s.n -= s.n != 0;
		while (s.n && (s.p[s.n - 1] != ']' ||
				      (s.p[s.n] != '=' && s.p[s.n] != '+')))
			s.n--;
		if (s.n && s.p[0] == '[' && shell_str_may_run(s))
			shell_risk(w, SHELL_RISK_SUBSCRIPT, s, span);
	}
}

static const struct shell_val *array_value(struct shell_walk *w,
	const struct shell_word *words, struct shell_args *elems)
{
	const struct shell_val *any = NULL;

	for (; words && !w->err; words = words->next) {
		if (words->parts && words->parts->type == SHELL_LIT)
			check_index(w, shell_expand_one(w, words), words->span);
		shell_expand(w, words, elems);
	}
	for (size_t i = 0; i < elems->n; i++)
		elems->v[i] = shell_val_present(w, &elems->v[i]);
	for (size_t i = 0; i < elems->n; i++)
		any = any ? shell_val_union(w, any, &elems->v[i])
			  : &elems->v[i];
	return any;
}

static void assign_array(struct shell_walk *w, const struct shell_assign *a,
	const struct shell_part *part)
{
	struct shell_var *v = shell_var_find(w->st, a->name);
	const struct shell_val *old = a->append && v ? v->value : NULL, *any;
	struct shell_args elems = {0};
	bool known = true;

	for (unsigned i = 0; a->append && v && v->elems && i < v->nelems; i++) {
		struct shell_val *slot = shell_args_add(w, &elems);

		if (slot)
			*slot = v->elems[i];
	}
	known = !a->append || !v || v->elems || !v->value;
	any = array_value(w, part->u.words, &elems);
	if (old && any)
		any = shell_val_union(w, old, any);
	/* [index]=value elements are texts like any other here; what they say
	 * of the index is not kept. */
	for (const struct shell_word *e = part->u.words; e; e = e->next) {
		struct shell_str s;

		if (e->parts && e->parts->type == SHELL_LIT) {
			s = e->parts->text;
			known &= !(s.n && s.p[0] == '[');
		}
	}
	if (!known && !shell_val_numbers(any))
		any = &shell_val_any;
	shell_assign_var(w, a->name, any, false, a->span);
	v = shell_var_own(w, a->name);
	if (!v)
		return;
	v->array = true;
	v->elems = !known ? NULL : elems.n ? elems.v : &shell_val_empty;
	v->nelems = known ? (unsigned)elems.n : 0;
}

/* name[x]=value: one element more that any index may give. */
static void assign_element(struct shell_walk *w, const struct shell_assign *a)
{
	struct shell_var *v = shell_var_find(w->st, a->name);
	const struct shell_val *value = shell_expand_one(w, a->value);

	shell_check_subscript(w, a->subscript);
	if (a->append)
		value = &shell_val_any;
	if (v && v->value)
		value = shell_val_union(w, v->value, value);
	shell_assign_var(w, a->name, value, false, a->span);
	v = shell_var_own(w, a->name);
	if (v)
		v->array = true;
}

static const struct shell_val *assigned_value(
	struct shell_walk *w, const struct shell_assign *a)
{
	const struct shell_val *value = shell_expand_one(w, a->value);
	struct shell_str none = {"", 0};
	struct shell_got old;

	if (!a->append)
		return value;
	old = shell_param_value(w, a->name);
	if (!old.v || old.unset || old.v->n > 1 || value->n > 1)
		return old.v ? &shell_val_any : value;
	return shell_val_str(
		w, shell_str_join(w, old.v->alts[0], value->alts[0], none));
}

static void walk_assign(struct shell_walk *w, const struct shell_assign *a)
{
	const struct shell_part *part = a->value->parts;

	if (a->subscript)
		assign_element(w, a);
	else if (part && part->type == SHELL_ARRAY)
		assign_array(w, a, part);
	else
		shell_assign_var(w, a->name,
			assigned_value(w, a), false, a->span);
}

void shell_walk_assigns(struct shell_walk *w, const struct shell_assign *a)
{
	for (; a && !w->err; a = a->next)
		walk_assign(w, a);
}

static void prefix_values(struct shell_walk *w, const struct shell_assign *a,
	struct shell_args *vals)
{
	for (; a && !w->err; a = a->next) {
		const struct shell_part *part = a->value->parts;
		struct shell_args elems = {0};
		const struct shell_val *value = &shell_val_any;
		struct shell_val *slot;

		if (part && part->type == SHELL_ARRAY)
			array_value(w, part->u.words, &elems);
		else
			value = assigned_value(w, a);
		slot = shell_args_add(w, vals);
		if (slot)
			*slot = *value;
	}
}

static struct shell_set *make_sets(struct shell_walk *w,
	const struct shell_assign *a, const struct shell_args *vals)
{
	struct shell_set *sets =
		walk_zalloc(w, (vals->n ? vals->n : 1) * sizeof(*sets));

	if (!sets)
		return NULL;
	for (size_t i = 0; i < vals->n; i++, a = a->next) {
		sets[i] = (struct shell_set){.name = a->name,
			.value = vals->v[i],
			.prefix = true,
			.span = shell_outer(w, a->span)};
		shell_report_set(w, &sets[i]);
	}
	return sets;
}

const struct shell_set *shell_walk_prefix(
	struct shell_walk *w, const struct shell_assign *a, size_t *n)
{
	struct shell_args vals = {0};

	prefix_values(w, a, &vals);
	*n = vals.n;
	return make_sets(w, a, &vals);
}

void shell_walk_arrays(struct shell_walk *w, const struct shell_word *word)
{
	struct shell_args elems = {0};

	for (; word; word = word->next)
		for (const struct shell_part *p = word->parts; p; p = p->next)
			if (p->type == SHELL_ARRAY)
				array_value(w, p->u.words, &elems);
}
