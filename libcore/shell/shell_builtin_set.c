/* shell_builtin_set.c - builtins that set the shell's options and arguments
 * SPDX-License-Identifier: MIT
 */
#include "shell/shell_eval_in.h"

#include <string.h>

#include "base/str.h"

/* The names that set -o has in bash and ash; with another one the rest of its
 * words is not looked at. */
static bool is_set_name(struct shell_str name)
{
	return shell_str_in(name,
		" allexport errexit ignoreeof monitor noclobber noexec noglob "
		"notify nounset pipefail verbose vi xtrace ");
}

static bool is_bad_option(struct shell_str name)
{
	return shell_str_in(name,
		       " keyword histexpand history posix physical ") ||
	       shell_str_unknown(name, true);
}

static void set_args(struct shell_walk *w, const struct shell_call *c)
{
	size_t n = c->n - c->at;
	struct shell_val *args = walk_zalloc(w, (n + 1) * sizeof(*args));

	if (!args)
		return;
	args[0] = w->st->nargs ? w->st->args[0] : shell_val_any;
	for (size_t i = 0; i < n; i++)
		args[i + 1] = shell_val_present(w, &c->v[c->at + i]);
	w->st->args = args;
	w->st->nargs = n + 1;
}

void shell_builtin_set(struct shell_walk *w, struct shell_call *c)
{
	for (; c->at < c->n; c->at++) {
		const struct shell_val *v = &c->v[c->at];
		const struct shell_str *s = shell_val_text(v);
		bool on;

		if (!s) {
			struct shell_str head = shell_val_prefix(v->alts[0]);

			if (!head.n || head.p[0] == '-' || head.p[0] == '+' ||
				v->n > 1)
				shell_risk(w, SHELL_RISK_OPTION, v->alts[0],
					c->span);
			break;
		}
		if (shell_str_is(*s, "--")) {
			c->at++;
			set_args(w, c);
			return;
		}
		/* It ends the options, and takes nothing away by itself. */
		if (shell_str_is(*s, "-")) {
			c->at++;
			break;
		}
		if (!s->n || (s->p[0] != '-' && s->p[0] != '+'))
			break;
		on = s->p[0] == '-';
		for (size_t i = 1; i < s->n; i++) {
			c->odd |= !strchr("abefhkmnoptuvxBCEHPT", s->p[i]);
			if (s->p[i] == 'a')
				w->st->allexport |= on;
			if (s->p[i] == 'e')
				w->st->errexit = on;
			if (on && strchr("kHP", s->p[i]))
				shell_risk(w, SHELL_RISK_OPTION, *s, c->span);
			if (s->p[i] != 'o' || c->at + 1 >= c->n)
				continue;
			v = &c->v[++c->at];
			c->odd |= !is_set_name(v->alts[0]);
			if (on && (v->n > 1 || is_bad_option(v->alts[0])))
				shell_risk(w, SHELL_RISK_OPTION, v->alts[0],
					c->span);
			if (shell_str_is(v->alts[0], "allexport"))
				w->st->allexport |= on;
			if (shell_str_is(v->alts[0], "errexit"))
				w->st->errexit = on;
		}
	}
	if (c->at < c->n)
		set_args(w, c);
}

void shell_builtin_shift(struct shell_walk *w, struct shell_call *c)
{
	struct shell_state *st = w->st;
	const struct shell_str *n =
		c->at < c->n ? shell_val_text(&c->v[c->at]) : NULL;
	int by = c->at >= c->n ? 1 : n ? shell_str_number(*n) : -1;
	struct shell_val *args;
	bool many = by < 0;

	for (size_t i = 0; i < st->nargs; i++)
		many |= st->args[i].many;
	/* Too far, it fails, and some shells end. */
	many |= st->nargs && (size_t)by >= st->nargs;
	if (!by || !st->nargs)
		return;
	if (many)
		by = 0;
	args = walk_zalloc(w, (st->nargs - (size_t)by) * sizeof(*args));
	if (!args)
		return;
	args[0] = st->args[0];
	memcpy(args + 1, st->args + by + 1,
		(st->nargs - (size_t)by - 1) * sizeof(*args));
	st->nargs -= (size_t)by;
	/* Any of them may be gone. */
	for (size_t i = 1; many && i < st->nargs; i++)
		args[i].many = true;
	st->args = args;
}

void shell_builtin_shopt(struct shell_walk *w, struct shell_call *c)
{
	static const char harmless[] =
		" nullglob globstar nocaseglob nocasematch inherit_errexit "
		"checkwinsize globskipdots ";
	bool known = shell_options(w, c, "");

	w->st->errexit = false;
	if (!known)
		shell_risk(w, SHELL_RISK_OPTION, SHELL_STR("shopt"), c->span);
	if (!c->opt['s'])
		return;
	for (; c->at < c->n; c->at++) {
		const struct shell_str *s = shell_val_text(&c->v[c->at]);

		if (!s || !shell_str_in(*s, harmless))
			shell_risk(w, SHELL_RISK_OPTION, c->v[c->at].alts[0],
				c->span);
		w->nullglob |= s && shell_str_is(*s, "nullglob");
	}
}
