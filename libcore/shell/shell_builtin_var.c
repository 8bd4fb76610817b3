/* shell_builtin_var.c - builtins that set variables, and cd
 * SPDX-License-Identifier: MIT
 */
#include "shell/shell_eval_in.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"

/* The name of a "name", "name=…", "name[…]…" operand. */
static struct shell_str operand_name(struct shell_str s)
{
	return (struct shell_str){s.p, shell_str_name(s)};
}

static bool is_operand(struct shell_str s, struct shell_str name)
{
	return name.n && (name.n == s.n || s.p[name.n] == '=' ||
				 s.p[name.n] == '+' || s.p[name.n] == '[');
}

static void declare_flags(struct shell_walk *w, const struct shell_call *c,
	struct shell_str name)
{
	struct shell_var *v;
	struct shell_got got = shell_param_value(w, name);
	bool known = shell_var_find(w->st, name) != NULL;

	bool exported = c->opt['x'], fixed = c->opt['r'];
	bool folds = c->opt['l'] || c->opt['u'] || c->opt['c'];
	bool array = c->opt['a'] || c->opt['A'];

	if (!exported && !c->opt['i'] && !fixed && !folds && !array)
		return;
	v = shell_var_own(w, name);
	if (!v)
		return;
	if (!known) {
		v->value = got.v;
		v->maybe_unset = got.unset;
	}
	v->exported |= exported;
	v->integer |= c->opt['i'] != NULL;
	v->folds |= folds;
	v->readonly |= fixed;
	v->array |= array;
}

/* It is again what it was when the function ends. Without a value, dash keeps
 * the old one in it, the others none. */
static void make_local(struct shell_walk *w, struct shell_str name, bool bare)
{
	struct shell_var *v;

	shell_save_var(w, &w->func->locals, name);
	if (!bare || w->err)
		return;
	v = shell_var_own(w, name);
	if (!v)
		return;
	v->value = w->func->locals->value;
	v->maybe_unset = true;
}

/* declare -a 'x=($(cmd))', and of any array: bash reads a value in parentheses
 * as it would read x=(...), after it was expanded once already. */
static void check_elements(
	struct shell_walk *w, const struct shell_call *c, struct shell_str value)
{
	if (value.n && ((value.p[0] == '(' &&
				shell_str_has(value, "$`<>" SHELL_ANY_S)) ||
			       value.p[0] == SHELL_ANY))
		shell_risk(w, SHELL_RISK_CODE, value, c->span);
}

static void declare_one(struct shell_walk *w, const struct shell_call *c,
	const struct shell_val *v, struct shell_str s)
{
	const bool exported = c->opt['x'];
	struct shell_var *old;
	struct shell_str name = operand_name(s);
	size_t op = shell_str_assigns(s, name.n), at = op ? name.n + op : 0;
	const struct shell_val *value;
	bool known = shell_var_find(w->st, name) != NULL;

	if (v->many || !is_operand(s, name)) {
		shell_risk(w, SHELL_RISK_NAME, s, c->span);
		return;
	}
	if (w->func && !shell_str_unknown(name, true) && !c->opt['g'])
		make_local(w, name, !at);
	if (!at && name.n == s.n) {
		if (c->opt['n'])
			shell_report(w, name, NULL, c->span);
		declare_flags(w, c, name);
		/* The name alone of what the line has set is reported, too: it
		 * may become a danger by being exported. */
		if (exported && known) {
			value = shell_param_value(w, name).v;
			if (value)
				shell_assign_var(w, name, value, true, c->span);
		}
		return;
	}
	if (name.n < s.n && s.p[name.n] == '[') {
		value = shell_val_str(w, s);
		shell_check_name(w, value);
		shell_assign_var(w, name, &shell_val_any, exported, c->span);
		return;
	}
	declare_flags(w, c, name);
	old = shell_var_find(w->st, name);
	if (!v->array && old && old->array)
		check_elements(w, c, (struct shell_str){s.p + at, s.n - at});
	value = op == 2 ? &shell_val_any
				 : shell_val_str(w, (struct shell_str){s.p + at,
							    s.n - at});
	shell_assign_var(w, name, value, exported, c->span);
}

/* Several texts for one operand: the values are joined by hand. */
static void declare_set(struct shell_walk *w, const struct shell_call *c,
	const struct shell_val *v)
{
	struct shell_state *st = w->st, before, other;

	shell_fork(w, st, &before);
	declare_one(w, c, v, v->alts[0]);
	for (unsigned i = 1; i < v->n && !w->err; i++) {
		shell_fork(w, &before, &other);
		w->st = &other;
		declare_one(w, c, v, v->alts[i]);
		w->st = st;
		shell_join(w, st, &other);
	}
}

static void export_functions(struct shell_walk *w, const struct shell_call *c)
{
	for (size_t i = c->at; i < c->n; i++) {
		const struct shell_str *s = shell_val_text(&c->v[i]);
		struct shell_func *f = s ? shell_func_find(w->st, *s) : NULL;

		if (f)
			f->exported = true;
		else
			shell_risk(w, SHELL_RISK_NAME, c->v[i].alts[0], c->span);
	}
}

/* Options of what sets the names behind them. */
static void name_options(
	struct shell_walk *w, struct shell_call *c, const char *with)
{
	if (!shell_options(w, c, with))
		shell_risk(w, SHELL_RISK_NAME, c->v[c->at].alts[0], c->span);
}

void shell_builtin_decl(struct shell_walk *w, struct shell_call *c)
{
	bool is_export = shell_str_is(*c->name, "export");
	struct shell_state before;
	bool own = !is_export && !shell_str_is(*c->name, "readonly");

	c->knows = is_export                        ? "fnp"
		   : !own                           ? "aAfp"
		   : shell_str_is(*c->name, "local") ? ""
						    : "aAfFgiIlnprtux";
	name_options(w, c, "");
	/* export is declare -gx, and readonly is declare -gr. */
	if (!own)
		c->opt['g'] = c->v;
	if (!own && !is_export)
		c->opt['r'] = c->v;
	if (is_export && !c->opt['n'])
		c->opt['x'] = c->v;
	if (c->opt['n'] && !is_export)
		shell_risk(w, SHELL_RISK_INDIRECT, *c->name, c->span);
	if (c->opt['f'] && (is_export || c->opt['x']))
		export_functions(w, c);
	/* What is defined later does not replace it. */
	if (c->opt['f'] && c->opt['r'] && c->at < c->n)
		shell_risk(w, SHELL_RISK_SHADOW, c->v[c->at].alts[0], c->span);
	if (c->opt['f'] || c->opt['F'] || (c->opt['p'] && own))
		return;
	shell_fork(w, w->st, &before);
	for (; c->at < c->n && !w->err; c->at++)
		declare_set(w, c, &c->v[c->at]);
	/* Behind export -p the names count in bash alone. */
	if (c->opt['p'])
		shell_join(w, w->st, &before);
}

static void unset_function(struct shell_walk *w, struct shell_str name)
{
	if (shell_func_find(w->st, name))
		shell_func_push(w, w->st, name);
}

/* Which one is gone is not kept. */
static void unset_element(struct shell_walk *w, struct shell_str name)
{
	struct shell_var *v = shell_var_find(w->st, name)
				      ? shell_var_own(w, name)
				      : NULL;

	if (v) {
		v->elems = NULL;
		v->maybe_unset = true;
	}
}

void shell_builtin_unset(struct shell_walk *w, struct shell_call *c)
{
	c->knows = "fv";
	name_options(w, c, "");
	for (; c->at < c->n && !w->err; c->at++) {
		const struct shell_val *v = &c->v[c->at];

		shell_check_name(w, v);
		for (unsigned i = 0; i < v->n; i++) {
			struct shell_str s = v->alts[i];
			struct shell_str name = operand_name(s);

			if (v->many || !is_operand(s, name))
				shell_risk(w, SHELL_RISK_NAME, s, c->span);
			else if (c->opt['f'])
				unset_function(w, name);
			else if (name.n == s.n)
				shell_unset_var(w, name, c->span);
			else
				unset_element(w, name);
			if (!c->opt['f'] && !c->opt['v'])
				unset_function(w, name);
		}
	}
}

void shell_set_names(struct shell_walk *w, const struct shell_call *c,
	const struct shell_val *v, const struct shell_val *value, bool array)
{
	struct shell_var *var;

	shell_check_name(w, v);
	for (unsigned i = 0; i < v->n; i++) {
		struct shell_str name = operand_name(v->alts[i]);

		if (v->many || !is_operand(v->alts[i], name)) {
			shell_risk(w, SHELL_RISK_NAME, v->alts[i], c->span);
			continue;
		}
		shell_assign_var(w, name, value, false, c->span);
		var = array ? shell_var_own(w, name) : NULL;
		if (var)
			var->array = true;
	}
}

static void set_default(struct shell_walk *w, const struct shell_call *c,
	struct shell_str name, const struct shell_val *value)
{
	shell_assign_var(w, name, value, false, c->span);
}

void shell_builtin_read(struct shell_walk *w, struct shell_call *c)
{
	name_options(w, c, "adipnNtu");
	if (c->opt['a'])
		shell_set_names(w, c, c->opt['a'], &shell_val_any, true);
	if (c->at >= c->n && !c->opt['a'])
		set_default(w, c, SHELL_STR("REPLY"), &shell_val_any);
	for (; c->at < c->n; c->at++)
		shell_set_names(w, c, &c->v[c->at], &shell_val_any, false);
}

void shell_builtin_getopts(struct shell_walk *w, struct shell_call *c)
{
	set_default(w, c, SHELL_STR("OPTARG"), &shell_val_any);
	set_default(w, c, SHELL_STR("OPTIND"), &shell_val_num);
	/* The second, or what stands for it where one before is none. */
	for (size_t i = c->at + 1; i < c->n; i++) {
		shell_set_names(w, c, &c->v[i], &shell_val_any, false);
		if (shell_val_stays(&c->v[i - 1]))
			return;
	}
}

void shell_builtin_mapfile(struct shell_walk *w, struct shell_call *c)
{
	const struct shell_val *call;

	name_options(w, c, "dnOsuCc");
	call = c->opt['C'];
	/* It is given a line that was read. */
	for (unsigned i = 0; call && i < call->n; i++)
		shell_walk_code(w,
			shell_val_str(w, shell_str_join(w, call->alts[i],
						 SHELL_STR(" \"$_\""),
						 (struct shell_str){0})),
			c->span);
	if (c->at >= c->n)
		set_default(w, c, SHELL_STR("MAPFILE"), &shell_val_any);
	else
		shell_set_names(w, c, &c->v[c->at], &shell_val_any, true);
}

void shell_builtin_wait(struct shell_walk *w, struct shell_call *c)
{
	/* wait -p is bash's. */
	if (w->dialect == SHELL_POSIX || w->dialect == SHELL_ASH)
		return;
	name_options(w, c, "p");
	if (c->opt['p'])
		shell_set_names(w, c, c->opt['p'], &shell_val_num, false);
}

/* From here on, if it does not fail. */
static void stand(struct shell_walk *w, const struct shell_val *dir)
{
	struct shell_state *st = w->st;
	struct shell_str pwd = SHELL_STR("PWD"), old = SHELL_STR("OLDPWD");
	struct shell_got before = shell_param_value(w, old);
	struct shell_var *v = shell_var_own(w, old);

	if (v) {
		v->value = before.v ? shell_val_union(w, before.v, st->cwd)
				    : st->cwd;
		v->maybe_unset = before.unset || !before.v;
		v->exported = true;
	}
	/* Once it is assigned, its own value is no longer told apart. */
	v = shell_var_find(st, pwd) ? shell_var_own(w, pwd) : NULL;
	if (v)
		v->value = &shell_val_any;
	st->fail = st->cwd;
	st->cwd = dir;
	st->sure = w->ops->is_dir && w->ops->is_dir(w->ctx, dir) ? dir : NULL;
	if (w->traps && !w->quiet)
		w->traps->cwd = w->traps->fail =
			shell_val_union(w, w->traps->cwd, st->cwd);
}

static void move(struct shell_walk *w, const struct shell_val *dir,
	struct shell_span span, bool physical)
{
	const struct shell_val *target = shell_val_at(w, w->st->cwd, dir);

	if (!w->quiet && !w->err && w->ops->chdir)
		shell_stop(w, w->ops->chdir(w->ctx, w, target,
				      shell_outer(w, span)));
	stand(w, physical ? target : shell_val_normal(w, target));
}

/* Where it failed, the one below is the uppermost still. */
static void push_dir(struct shell_walk *w, const struct shell_val *dir)
{
	struct shell_dirs *d = walk_new(w, struct shell_dirs);
	struct shell_dirs *below = w->st->dirs;
	bool sure = w->st->sure == w->st->cwd;

	if (!d)
		return;
	d->dir = below && !sure ? shell_val_union(w, dir, below->dir) : dir;
	d->next = sure ? below : NULL;
	w->st->dirs = d;
}

/* With operands, and where the stack is not known, it may be any, and where
 * the line began most of all. */
void shell_builtin_popd(struct shell_walk *w, struct shell_call *c)
{
	struct shell_dirs *d = c->n == 1 ? w->st->dirs : NULL;

	w->st->dirs = d ? d->next : NULL;
	stand(w, d ? d->dir : shell_val_union(w, w->start, &shell_val_any));
}

void shell_builtin_cd(struct shell_walk *w, struct shell_call *c)
{
	const struct shell_val *dir, *from;
	bool pushes = shell_str_is(*c->name, "pushd"), known;

	known = shell_options(w, c, "") ||
		c->v[c->at].kind == SHELL_BOUNDED;
	if (c->at >= c->n)
		dir = shell_param_value(w, SHELL_STR("HOME")).v;
	else if (shell_str_is(c->v[c->at].alts[0], "-"))
		dir = shell_param_value(w, SHELL_STR("OLDPWD")).v;
	else
		dir = &c->v[c->at];
	/* What may be no word at all leaves the place to the next that is no
	 * option. */
	for (size_t i = c->at; i + 1 < c->n && (!shell_val_stays(&c->v[i]) ||
			       (i > c->at && c->v[i].alts[0].n &&
				       c->v[i].alts[0].p[0] == '-'));
		i++)
		dir = shell_val_union(w, dir, &c->v[i + 1]);
	/* pushd alone, -n, +1: the stack is turned. */
	if (pushes && (c->n != 2 || !c->v[1].alts[0].n ||
			      strchr("+-", c->v[1].alts[0].p[0])))
		known = false;
	if (dir && (!known || c->at + 1 < c->n || (c->opt['P'] && c->opt['L'])))
		dir = shell_val_union(w, dir, &shell_val_any);
	/* Without HOME, or OLDPWD, it fails. */
	if (!dir) {
		w->st->fail = w->st->cwd;
		return;
	}
	from = w->st->cwd;
	move(w, dir, c->span, c->opt['P'] != NULL);
	if (pushes && known)
		push_dir(w, from);
	else if (pushes)
		w->st->dirs = NULL;
	/* Not all shells know the same options. */
	if (c->at > 1)
		w->st->sure = NULL;
}
