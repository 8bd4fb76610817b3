/* shell_func.c - functions: what a name is bound to, and what a call does
 * SPDX-License-Identifier: MIT
 */
#include "shell/shell_eval_in.h"

#include <errno.h>
#include <string.h>

struct shell_func *shell_func_find(
	const struct shell_state *st, struct shell_str name)
{
	uint32_t h = st->funcs ? shell_str_hash(name) : 0;

	for (struct shell_func *f = st->funcs; f; f = f->next)
		if (f->hash == h && shell_str_eq(f->name, name))
			return f;
	return NULL;
}

static void add_def(
	struct shell_walk *w, struct shell_func *f, struct shell_def *def)
{
	for (unsigned i = 0; i < f->ndefs; i++)
		if (f->defs[i] == def)
			return;
	if (f->ndefs == 4) {
		shell_risk(w, SHELL_RISK_LIMIT, f->name,
			(struct shell_span){0, 0});
		return;
	}
	f->defs[f->ndefs++] = def;
}

struct shell_func *shell_func_push(
	struct shell_walk *w, struct shell_state *st, struct shell_str name)
{
	struct shell_func *f = walk_new(w, struct shell_func);

	if (++w->nfuncs > SHELL_MAX_FUNCS)
		return shell_stop(w, -E2BIG);
	if (!f)
		return NULL;
	f->name = name;
	f->hash = shell_str_hash(name);
	f->below = st->funcs ? st->funcs->below + 1 : 0;
	f->next = st->funcs;
	st->funcs = f;
	return f;
}

/* The first binding that both have. */
static const struct shell_func *common_funcs(
	const struct shell_func *x, const struct shell_func *y)
{
	while (x != y) {
		unsigned nx = x ? x->below + 1 : 0, ny = y ? y->below + 1 : 0;

		x = x && nx >= ny ? x->next : x;
		y = y && ny >= nx ? y->next : y;
	}
	return x;
}

void shell_func_join(struct shell_walk *w, struct shell_state *to,
	const struct shell_state *from)
{
	struct shell_func *const lists[] = {to->funcs, from->funcs};
	const struct shell_func *tail = common_funcs(to->funcs, from->funcs);

	for (unsigned k = 0; k < 2; k++)
		for (struct shell_func *f = lists[k]; f != tail; f = f->next) {
			const struct shell_func *a =
				shell_func_find(to, f->name);
			const struct shell_func *b =
				shell_func_find(from, f->name);
			struct shell_func both = {.name = f->name}, *own;

			if (a == b)
				continue;
			both.exported = (a && a->exported) ||
					(b && b->exported);
			both.maybe = !a || !b || !a->ndefs || !b->ndefs ||
				     a->maybe || b->maybe;
			for (unsigned i = 0; a && i < a->ndefs; i++)
				add_def(w, &both, a->defs[i]);
			for (unsigned i = 0; b && i < b->ndefs; i++)
				add_def(w, &both, b->defs[i]);
			if (a && a->ndefs == both.ndefs &&
				a->maybe == both.maybe &&
				a->exported == both.exported)
				continue;
			own = shell_func_push(w, to, f->name);
			if (!own)
				return;
			memcpy(own->defs, both.defs, sizeof(own->defs));
			own->ndefs = both.ndefs;
			own->maybe = both.maybe;
			own->exported = both.exported;
		}
}

void shell_func_define(struct shell_walk *w, const struct shell_node *node)
{
	struct shell_def *def = walk_new(w, struct shell_def);
	struct shell_state *seen = walk_new(w, struct shell_state);
	struct shell_func *f = shell_func_push(w, w->st, node->u.func.name);

	if (!def || !seen || !f)
		return;
	shell_fork(w, w->st, seen);
	*def = (struct shell_def){.body = node->u.func.body,
		.source = w->source,
		.seen = seen,
		.dialect = w->dialect,
		.span = node->span};
	f->exported = w->st->allexport;
	/* The one that bash calls by itself. */
	if (shell_is_builtin(f->name) ||
		shell_str_is(f->name, "command_not_found_handle"))
		shell_risk(w, SHELL_RISK_SHADOW, f->name, node->span);
	add_def(w, f, def);
	if (!w->quiet) {
		def->next = w->defs;
		w->defs = def;
	}
}

/* args: NULL when they are not known. */
static void walk_def(struct shell_walk *w, struct shell_def *def,
	const struct shell_args *args)
{
	struct shell_frame frame = {.up = w->func}, *kept = w->func;
	struct shell_frame *loop = w->loop;
	const struct shell_source *source = w->source;
	struct shell_state *st = w->st, outer = *st;

	enum shell_dialect dialect = w->dialect;

	def->called |= !w->quiet && args;
	if (w->calls >= SHELL_MAX_CALLS) {
		shell_risk(w, SHELL_RISK_RECURSION,
			args ? args->v[0].alts[0] : SHELL_STR("function"),
			def->span);
		return;
	}
	if (!shell_step(w))
		return;
	w->calls++;
	w->func = &frame;
	w->source = def->source;
	w->dialect = def->dialect;
	if (args) {
		st->args = args->v;
		st->nargs = args->n;
	} else {
		shell_forget_args(st);
	}
	shell_walk_node(w, def->body);
	if (frame.any)
		shell_join(w, st, &frame.acc);
	shell_tell_traps(w);
	shell_merge_saved(w, frame.locals);
	w->source = source;
	w->dialect = dialect;
	w->func = kept;
	w->loop = loop;
	w->calls--;
	st->args = outer.args;
	st->nargs = outer.nargs;
}

void shell_walk_call(struct shell_walk *w, const struct shell_func *f,
	const struct shell_args *args)
{
	struct shell_state *st = w->st, before, after;

	for (size_t i = 0; i < args->n; i++)
		args->v[i] = shell_val_present(w, &args->v[i]);
	shell_fork(w, st, &before);
	after = before;
	after.dead = true;
	for (unsigned i = 0; i < f->ndefs; i++) {
		shell_fork(w, &before, st);
		walk_def(w, f->defs[i], args);
		shell_join(w, &after, st);
	}
	shell_fork(w, &after, st);
	if (f->maybe)
		shell_join(w, st, &before);
}

static void walk_unseen(struct shell_walk *w, struct shell_def *def)
{
	struct shell_state *st = w->st, seen = *def->seen;

	seen.epoch = ++w->epoch;
	w->st = &seen;
	w->tested++;
	walk_def(w, def, NULL);
	w->tested--;
	w->st = st;
}

/* What they define is put before the first. */
void shell_walk_uncalled(struct shell_walk *w)
{
	struct shell_def *done = NULL, *first = NULL;

	while (w->defs != done && !w->err) {
		first = w->defs;
		for (struct shell_def *d = first; d != done && !w->err;
			d = d->next)
			if (!d->called)
				walk_unseen(w, d);
		done = first;
	}
}
