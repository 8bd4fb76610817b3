/* shell_state.c - what a shell knows at one point, or after either of two
 * SPDX-License-Identifier: MIT
 */
#include "shell/shell_eval_in.h"

#include <errno.h>

#include "base/str.h"

enum { COMPACT = 24 }; /* bindings before the chain is looked at */

/* Adds what it looks at to *steps. */
static struct shell_var *find(unsigned *steps, struct shell_var *from,
	struct shell_str name, uint32_t h)
{
	for (struct shell_var *v = from; v; v = v->next, ++*steps)
		if (v->hash == h && shell_str_eq(v->name, name))
			return v;
	return NULL;
}

struct shell_var *shell_var_find(
	const struct shell_state *st, struct shell_str name)
{
	unsigned steps = 0;

	return find(&steps, st->vars, name, shell_str_hash(name));
}

/* Rebuilds the chain without shadowed bindings. */
static void compact(struct shell_walk *w, struct shell_state *st)
{
	struct shell_var *list = NULL, **end = &list;
	unsigned n = 0;

	for (struct shell_var *v = st->vars; v; v = v->next) {
		if (find(&w->steps, list, v->name, v->hash))
			continue;
		*end = walk_new(w, struct shell_var);
		if (!*end)
			return;
		**end = *v;
		(*end)->next = NULL;
		(*end)->epoch = st->epoch;
		end = &(*end)->next;
		n++;
	}
	st->vars = list;
	st->nvars = n;
	st->maxvars = 2 * st->nvars + COMPACT;
	if (st->nvars > SHELL_MAX_VARS)
		shell_risk(w, SHELL_RISK_LIMIT, SHELL_STR("variables"),
			(struct shell_span){0, 0});
	if (st->nvars > SHELL_MAX_VARS)
		shell_stop(w, -E2BIG);
}

static struct shell_var *own_in(
	struct shell_walk *w, struct shell_state *st, struct shell_str name)
{
	uint32_t h = shell_str_hash(name);
	struct shell_var *old = find(&w->steps, st->vars, name, h), *v;

	if ((!old || old->epoch != st->epoch) && st->nvars >= st->maxvars) {
		compact(w, st);
		old = find(&w->steps, st->vars, name, h);
	}
	if (old && old->epoch == st->epoch) {
		old->written = ++w->written;
		return old;
	}
	v = walk_new(w, struct shell_var);
	if (!v)
		return NULL;
	if (old)
		*v = *old;
	v->written = ++w->written;
	v->name = name;
	v->hash = h;
	v->epoch = st->epoch;
	v->next = st->vars;
	st->vars = v;
	st->nvars++;
	return v;
}

struct shell_var *shell_var_own(struct shell_walk *w, struct shell_str name)
{
	return own_in(w, w->st, name);
}

void shell_fork(struct shell_walk *w, struct shell_state *st,
	struct shell_state *copy)
{
	*copy = *st;
	st->epoch = ++w->epoch;
	copy->epoch = ++w->epoch;
}

static struct shell_var *common_tail(
	const struct shell_state *a, const struct shell_state *b)
{
	struct shell_var *x = a->vars, *y = b->vars;
	unsigned nx = a->nvars, ny = b->nvars;

	for (; nx > ny; nx--)
		x = x->next;
	for (; ny > nx; ny--)
		y = y->next;
	while (x != y) {
		x = x->next;
		y = y->next;
	}
	return x;
}

const struct shell_outer_var *shell_outer_get(
	struct shell_walk *w, struct shell_str name)
{
	struct shell_outer_var *o =
		&w->outer[shell_str_hash(name) % ARRAY_SIZE(w->outer)];

	if (!o->name.n || !shell_str_eq(o->name, name)) {
		o->known = w->ops->getvar
				   ? w->ops->getvar(w->ctx, name, &o->text)
				   : -1;
		o->name = name;
	}
	return o;
}

void shell_var_outside(struct shell_walk *w, struct shell_var *v)
{
	const struct shell_outer_var *o = shell_outer_get(w, v->name);

	v->value = o->known > 0 ? shell_val_str(w, o->text)
		   : o->known   ? &shell_val_any
				: NULL;
	v->maybe_unset = o->known < 0 || w->st->bare;
	v->exported = o->known != 0;
}

/* Is one the other, or a copy that nothing has written since? */
static bool same_binding(const struct shell_var *a, const struct shell_var *b)
{
	return a == b || (a && b && a->written == b->written);
}

/* The elements that either has at each place; what only one has is there, or
 * not. */
static void join_elems(struct shell_walk *w, struct shell_var *to,
	const struct shell_var *a, const struct shell_var *b)
{
	const struct shell_var *more = a->nelems < b->nelems ? b : a;
	unsigned both = more == a ? b->nelems : a->nelems;
	struct shell_val *elems;

	to->elems = a->elems;
	to->nelems = more->nelems;
	if (a->elems == b->elems)
		return;
	elems = a->elems && b->elems
			? walk_zalloc(w, (more->nelems + 1) * sizeof(*elems))
			: NULL;
	to->elems = elems;
	for (unsigned i = 0; elems && i < more->nelems; i++) {
		elems[i] = i < both ? *shell_val_union(
					      w, &a->elems[i], &b->elems[i])
				    : more->elems[i];
		elems[i].many |= i >= both;
	}
}

void shell_var_join(struct shell_walk *w, struct shell_state *to,
	const struct shell_state *from, const struct shell_var *name)
{
	struct shell_var a = {.name = name->name}, b = {.name = name->name}, *v;
	struct shell_var *x = find(&w->steps, to->vars, name->name,
		name->hash);
	struct shell_var *y = find(&w->steps, from->vars, name->name,
		name->hash);

	if (same_binding(x, y))
		return;
	if (x)
		a = *x;
	else
		shell_var_outside(w, &a);
	if (y)
		b = *y;
	else
		shell_var_outside(w, &b);
	v = own_in(w, to, name->name);
	if (!v)
		return;
	v->maybe_unset = a.maybe_unset || b.maybe_unset || !a.value || !b.value;
	v->value = !a.value   ? b.value
		   : !b.value ? a.value
			      : shell_val_union(w, a.value, b.value);
	v->exported = a.exported || b.exported;
	v->integer = a.integer || b.integer;
	v->folds = a.folds || b.folds;
	v->readonly = a.readonly || b.readonly;
	v->array = a.array || b.array;
	join_elems(w, v, &a, &b);
}

static const struct shell_val *join_cwd(struct shell_walk *w,
	const struct shell_val *a, const struct shell_val *b)
{
	return shell_val_same(a, b) ? a : shell_val_union(w, a, b);
}

void shell_forget_args(struct shell_state *st)
{
	static const struct shell_str any = {SHELL_ANY_S, 1};
	static const struct shell_val args[] = {
		{.kind = SHELL_UNKNOWN, .n = 1, .alts = &any},
		{.kind = SHELL_UNKNOWN, .n = 1, .alts = &any, .many = true},
	};

	st->args = args;
	st->nargs = 2;
}

/* Any number of those that either has: what shift makes of them, however
 * often. */
static void gather_args(struct shell_walk *w, struct shell_state *to,
	const struct shell_state *a, const struct shell_state *b)
{
	const struct shell_state *const both[] = {a, b};
	struct shell_val *args = walk_zalloc(w, 2 * sizeof(*args));
	const struct shell_val *all = NULL;

	if (!args || !a->nargs || !b->nargs) {
		shell_forget_args(to);
		return;
	}
	for (unsigned k = 0; k < 2; k++)
		for (size_t i = 1; i < both[k]->nargs; i++)
			all = all ? shell_val_union(w, all, &both[k]->args[i])
				  : &both[k]->args[i];
	args[0] = *shell_val_union(w, &a->args[0], &b->args[0]);
	args[1] = all ? *all : shell_val_empty;
	args[1].many = true;
	to->args = args;
	to->nargs = 2;
}

bool shell_args_within(
	const struct shell_state *a, const struct shell_state *b)
{
	if (a->args == b->args && a->nargs == b->nargs)
		return true;
	if (b->nargs != 2 || !b->args[1].many)
		return false;
	for (size_t i = 1; i < a->nargs; i++)
		for (unsigned k = 0; k < a->args[i].n; k++)
			if (!shell_val_has(&b->args[1], a->args[i].alts[k]))
				return false;
	return true;
}

/* What only one of them has may be there or not. */
static void join_args(struct shell_walk *w, struct shell_state *to,
	const struct shell_state *from)
{
	const struct shell_state *more = to->nargs < from->nargs ? from : to;
	size_t n = more->nargs, both = more == to ? from->nargs : to->nargs;
	struct shell_val *args;

	if (to->args == from->args && to->nargs == from->nargs)
		return;
	args = walk_zalloc(w, n * sizeof(*args));
	if (!args)
		return;
	for (size_t i = 0; i < n; i++) {
		args[i] = i < both ? *shell_val_union(
					     w, &to->args[i], &from->args[i])
				   : more->args[i];
		args[i].many |= i >= both && i > 0;
	}
	to->args = args;
	to->nargs = n;
}

void shell_join(struct shell_walk *w, struct shell_state *to,
	const struct shell_state *from)
{
	struct shell_var *const heads[] = {to->vars, from->vars}, *tail;

	if (w->err || (from->dead && !to->dead))
		return;
	if (to->dead && !from->dead) {
		*to = *from;
		to->epoch = ++w->epoch;
		return;
	}
	tail = common_tail(to, from);
	to->epoch = ++w->epoch;
	/* Own bindings are put before the tail, so the walk is not disturbed;
	 * a compaction in between only makes it longer. */
	for (unsigned k = 0; k < 2; k++)
		for (struct shell_var *v = heads[k]; v && v != tail;
			v = v->next)
			if (find(&w->steps, heads[k], v->name, v->hash) == v)
				shell_var_join(w, to, from, v);
	shell_func_join(w, to, from);
	to->cwd = join_cwd(w, to->cwd, from->cwd);
	to->fail = join_cwd(w, to->fail, from->fail);
	if (to->sure != from->sure)
		to->sure = NULL;
	to->errexit &= from->errexit;
	join_args(w, to, from);
	to->own_ifs |= from->own_ifs;
	to->allexport |= from->allexport;
	to->bare |= from->bare;
	if (to->dirs != from->dirs)
		to->dirs = NULL;
	if (to->input != from->input || to->input_text != from->input_text)
		to->input = SHELL_IN_UNKNOWN;
}

/* Of what a name was in `had` and became in `now`, all but what it says. */
static void forget(struct shell_walk *w, struct shell_state *st,
	const struct shell_var *had, const struct shell_var *now)
{
	struct shell_var *own = own_in(w, st, now->name);

	if (!own)
		return;
	own->value = shell_val_numbers(had->value) &&
				     shell_val_numbers(now->value)
			     ? &shell_val_guess
			     : &shell_val_any;
	own->elems = NULL;
	own->maybe_unset = had->maybe_unset || !had->value ||
			   now->maybe_unset || !now->value;
	own->array = had->array || now->array;
	own->exported = had->exported || now->exported;
	own->integer = had->integer || now->integer;
	own->folds = had->folds || now->folds;
}

/* Is every text that `now` may be one that `had` says? */
static bool within(struct shell_walk *w, const struct shell_var *had,
	const struct shell_var *now)
{
	const struct shell_val *a = now->value, *b = had->value;

	if ((!a || now->maybe_unset) && b && !had->maybe_unset)
		return false;
	if ((now->array && !had->array) || (now->exported && !had->exported) ||
		(now->integer && !had->integer) ||
		(had->elems && had->elems != now->elems))
		return false;
	return !a || (b && shell_val_within(w, a, b));
}

/* Is v, the last of its name in `after`, another than `before` has? *had: what
 * that is. */
static bool changed(struct shell_walk *w, const struct shell_state *before,
	const struct shell_state *after, const struct shell_var *v,
	struct shell_var *had)
{
	const struct shell_var *own =
		find(&w->steps, before->vars, v->name, v->hash);

	if (same_binding(own, v) ||
		find(&w->steps, after->vars, v->name, v->hash) != v)
		return false;
	*had = (struct shell_var){.name = v->name};
	if (own)
		*had = *own;
	else
		shell_var_outside(w, had);
	return true;
}

bool shell_widen(struct shell_walk *w, struct shell_state *head,
	const struct shell_state *end, bool again)
{
	const struct shell_state before = *head;
	const struct shell_var *tail = common_tail(&before, end);
	struct shell_var had;
	bool grown = false;

	if (end->dead)
		return false;
	head->epoch = ++w->epoch;
	for (struct shell_var *v = end->vars; v && v != tail; v = v->next) {
		if (!changed(w, &before, end, v, &had) || within(w, &had, v))
			continue;
		if (again)
			forget(w, head, &had, v);
		else
			shell_var_join(w, head, end, v);
		grown = true;
	}
	return grown;
}

void shell_havoc(struct shell_walk *w, struct shell_state *st,
	const struct shell_state *before, const struct shell_state *after)
{
	const struct shell_var *tail = common_tail(before, after);
	struct shell_var had;

	st->epoch = ++w->epoch;
	for (struct shell_var *v = after->vars; v && v != tail; v = v->next)
		if (changed(w, before, after, v, &had))
			forget(w, st, &had, v);
	shell_func_join(w, st, after);
	if (!shell_val_same(before->cwd, after->cwd) ||
		!shell_val_same(before->cwd, after->fail))
		st->cwd = st->fail = &shell_val_any;
	if (before->args == after->args && before->nargs == after->nargs)
		;
	else if (w->quiet)
		shell_forget_args(st);
	else
		gather_args(w, st, before, after);
	st->own_ifs |= after->own_ifs;
	st->errexit &= after->errexit;
	st->allexport |= after->allexport;
	if (before->dirs != after->dirs)
		st->dirs = NULL;
	if (before->input != after->input)
		st->input = SHELL_IN_UNKNOWN;
}
