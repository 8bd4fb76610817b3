/* shell_builtin.c - what the shell's own commands do to its state
 * SPDX-License-Identifier: MIT
 */
#include "shell/shell_eval_in.h"

#include <string.h>

#include "base/str.h"

/* May the word be an option? Of numbers and what is empty none is. */
static bool may_be_option(const struct shell_val *v)
{
	for (unsigned i = 0; i < v->n; i++) {
		struct shell_str s = v->alts[i], head = shell_val_prefix(s);

		if (s.n && s.p[0] != SHELL_NUM &&
			(!head.n || head.p[0] == '-'))
			return true;
	}
	return false;
}

bool shell_options(struct shell_walk *w, struct shell_call *c, const char *with)
{
	for (; c->at < c->n; c->at++) {
		const struct shell_val *v = &c->v[c->at];
		const struct shell_str *s = shell_val_text(v);
		const char *takes;

		/* Text that may begin with '-' may be any option, and so may
		 * what follows a word that may be none. */
		for (size_t i = c->at; !s && i < c->n; i++) {
			if (may_be_option(&c->v[i]))
				return false;
			if (shell_val_stays(&c->v[i]))
				break;
		}
		if (!s)
			return true;
		if (s->n < 2 || (s->p[0] != '-' && s->p[0] != '+'))
			return true;
		if (shell_str_is(*s, "--")) {
			c->at++;
			return true;
		}
		for (size_t i = 1; i < s->n; i++) {
			unsigned char letter = (unsigned char)s->p[i];

			if (letter >= 128)
				return false;
			c->odd |= c->knows && !strchr(c->knows, letter);
			c->opt[letter] = v;
			takes = strchr(with, (int)letter);
			if (!takes)
				continue;
			if (i + 1 < s->n)
				c->opt[letter] = shell_val_str(
					w, (struct shell_str){
						   s->p + i + 1, s->n - i - 1});
			else if (c->at + 1 < c->n)
				c->opt[letter] = &c->v[++c->at];
			break;
		}
	}
	return true;
}

/* test -v 'a[$(x)]', and in some shells 'a[$(x)]' -eq 0. */
static void do_test(struct shell_walk *w, struct shell_call *c)
{
	bool asks = false;

	for (size_t i = 1; i < c->n; i++) {
		const struct shell_val *v = &c->v[i];
		const struct shell_str *s = shell_val_text(v);

		for (unsigned k = 0; k < v->n; k++)
			if (asks || shell_str_runs(v->alts[k], false))
				shell_check_name(w, v);
		asks = s && shell_str_in(*s, " -v -R ");
	}
}

static void do_let(struct shell_walk *w, struct shell_call *c)
{
	for (; c->at < c->n; c->at++)
		shell_arith_text(w, &c->v[c->at], c->span);
}

static void do_printf(struct shell_walk *w, struct shell_call *c)
{
	bool known = shell_options(w, c, "v");
	size_t i = c->at;

	if (c->opt['v'])
		shell_set_names(w, c, c->opt['v'], &shell_val_any, false);
	if (known || c->opt['v'])
		return;
	/* What is not known may be -v, and a name follow, if not a word alone:
	 * that is no name and a format, though it be -vNAME. */
	for (bool more = true; more && i < c->n; i++) {
		const struct shell_val *v = &c->v[i];

		more = !shell_val_stays(v);
		if (!may_be_option(v))
			continue;
		if (v->many)
			shell_set_names(w, c, v, &shell_val_any, false);
		if (i + 1 < c->n)
			shell_set_names(w, c, v + 1, &shell_val_any, false);
	}
}

static void leave(struct shell_walk *w, struct shell_frame *frame)
{
	if (frame && frame->any) {
		w->st->epoch = ++w->epoch;
		shell_join(w, &frame->acc, w->st);
	} else if (frame) {
		shell_fork(w, w->st, &frame->acc);
		frame->any = true;
	}
}

static void do_eval(struct shell_walk *w, struct shell_call *c)
{
	const struct shell_val *text = NULL;

	if (c->at < c->n && shell_str_is(c->v[c->at].alts[0], "--"))
		c->at++;
	for (; c->at < c->n; c->at++) {
		const struct shell_val *v = &c->v[c->at];

		if (!text)
			text = v->many ? &shell_val_any : v;
		else if (text->n == 1 && v->n == 1 && !v->many)
			text = shell_val_str(w,
				shell_str_join(w, text->alts[0],
					SHELL_STR(" "), v->alts[0]));
		else
			text = &shell_val_any;
	}
	if (text)
		shell_walk_code(w, text, c->span);
}

static void do_alias(struct shell_walk *w, struct shell_call *c)
{
	for (; c->at < c->n; c->at++)
		for (unsigned i = 0; i < c->v[c->at].n; i++) {
			struct shell_str s = c->v[c->at].alts[i];

			if (shell_str_unknown(s, true) || shell_str_has(s, "="))
				shell_risk(w, SHELL_RISK_ALIAS, s, c->span);
		}
}

static void do_hash(struct shell_walk *w, struct shell_call *c)
{
	if (!shell_options(w, c, "p") || c->opt['p'])
		shell_risk(w, SHELL_RISK_HASH, SHELL_STR("hash -p"), c->span);
}

/* jobs -x, compgen and fc run what they are given; enable takes builtins away,
 * and with them what is known of cd. */
static void do_odd(struct shell_walk *w, struct shell_call *c)
{
	bool known = shell_options(w, c, "");
	bool jobs = shell_str_is(*c->name, "jobs");
	bool fc = shell_str_is(*c->name, "fc");

	if (!known || (jobs ? c->opt['x'] != NULL
			    : fc ? !c->opt['l'] : c->n > 1))
		shell_risk(w, jobs || fc ? SHELL_RISK_CODE : SHELL_RISK_OPTION,
			*c->name, c->span);
}

static void do_exit(struct shell_walk *w, struct shell_call *c)
{
	shell_tell_traps(w);
	w->st->dead |= c->at + 1 >= c->n;
}

static void do_return(struct shell_walk *w, struct shell_call *c)
{
	(void)c;
	leave(w, w->func);
	w->st->dead = w->func != NULL;
}

/* The state goes on as well: what follows counts whether it is reached. */
static void do_break(struct shell_walk *w, struct shell_call *c)
{
	(void)c;
	for (struct shell_frame *f = w->loop; f; f = f->up)
		leave(w, f);
}

static void do_nothing(struct shell_walk *w, struct shell_call *c)
{
	(void)w;
	(void)c;
}

/* SPECIAL: prefix assignments hold for code that it runs, or for good. NO_…: the
 * shells that do not have it. */
enum { SPECIAL = 1, DECL = 2, NO_POSIX = 4, NO_ASH = 8, NO_BASH = 16 };
enum { BASH_ONLY = NO_POSIX | NO_ASH };

static const struct builtin {
	char name[10];
	unsigned char kind;
	void (*run)(struct shell_walk *w, struct shell_call *c);
} builtins[] = {
	{".", SPECIAL, shell_builtin_source},
	{":", SPECIAL, do_nothing},
	{"[", 0, do_test},
	{"alias", 0, do_alias},
	{"break", SPECIAL, do_break},
	{"builtin", BASH_ONLY, do_nothing},
	{"cd", 0, shell_builtin_cd},
	{"chdir", NO_BASH, shell_builtin_cd},
	{"command", 0, do_nothing},
	{"compgen", 0, do_odd},
	{"complete", 0, do_odd},
	{"continue", SPECIAL, do_break},
	{"declare", DECL | BASH_ONLY, shell_builtin_decl},
	{"enable", 0, do_odd},
	{"eval", SPECIAL, do_eval},
	{"exec", SPECIAL, do_nothing},
	{"exit", SPECIAL, do_exit},
	{"export", SPECIAL | DECL, shell_builtin_decl},
	{"fc", 0, do_odd},
	{"getopts", 0, shell_builtin_getopts},
	{"hash", 0, do_hash},
	{"jobs", 0, do_odd},
	{"let", NO_POSIX, do_let},
	{"local", DECL, shell_builtin_decl},
	{"mapfile", SPECIAL | BASH_ONLY, shell_builtin_mapfile},
	{"popd", BASH_ONLY, shell_builtin_popd},
	{"printf", 0, do_printf},
	{"pushd", BASH_ONLY, shell_builtin_cd},
	{"read", 0, shell_builtin_read},
	{"readarray", SPECIAL | BASH_ONLY, shell_builtin_mapfile},
	{"readonly", SPECIAL | DECL, shell_builtin_decl},
	{"return", SPECIAL, do_return},
	{"set", SPECIAL, shell_builtin_set},
	{"shift", SPECIAL, shell_builtin_shift},
	{"shopt", BASH_ONLY, shell_builtin_shopt},
	{"source", SPECIAL | NO_POSIX, shell_builtin_source},
	{"test", 0, do_test},
	{"times", SPECIAL, do_nothing},
	{"trap", SPECIAL, shell_builtin_trap},
	{"typeset", DECL | BASH_ONLY, shell_builtin_decl},
	{"unset", SPECIAL, shell_builtin_unset},
	{"wait", 0, shell_builtin_wait},
};

/* The table is in the order of the names. */
static const struct builtin *find(struct shell_str name)
{
	size_t from = 0, to = ARRAY_SIZE(builtins);

	while (from < to && name.n && name.n < sizeof(builtins->name)) {
		const struct builtin *b = &builtins[(from + to) / 2];
		int order = memcmp(name.p, b->name, name.n);

		if (!order && !b->name[name.n])
			return b;
		if (order > 0)
			from = (from + to) / 2 + 1;
		else
			to = (from + to) / 2;
	}
	return NULL;
}

bool shell_is_builtin(struct shell_str name)
{
	return find(name) != NULL;
}

bool shell_is_decl(struct shell_str name)
{
	const struct builtin *b = find(name);

	return b && b->kind & DECL;
}

bool shell_is_special(struct shell_str name)
{
	const struct builtin *b = find(name);

	return b && b->kind & SPECIAL;
}

/* Does the shell whose reading this is have it? Where the reading stands for
 * all of them, theirs are to be looked at, too. */
static bool has(struct shell_walk *w, unsigned kind)
{
	static const unsigned lacks[] = {
		[SHELL_POSIX] = NO_POSIX,
		[SHELL_ASH] = NO_ASH,
		[SHELL_BASH] = NO_BASH,
		[SHELL_UNION] = NO_BASH,
	};

	w->differs |= kind & (NO_POSIX | NO_ASH | NO_BASH);
	/* Where set -e ends the shell without it, what follows it has it. */
	return !(kind & lacks[w->dialect]) || (w->st->errexit && !w->tested);
}

/* May it have done nothing, and the shell go on? Behind `command`, one that
 * would have ended the shell does not. */
static bool in_doubt(const struct shell_walk *w, const struct builtin *b,
	const struct shell_call *c, bool peeled)
{
	return c->odd || (peeled && b->kind & SPECIAL) ||
	       (!w->func && shell_str_is(*c->name, "local"));
}

void shell_builtin(
	struct shell_walk *w, const struct shell_args *args, size_t first)
{
	const struct shell_str *name = args->v[first].alts;
	const struct builtin *b = find(*name);
	struct shell_call call = {.name = name,
		.v = args->v + first,
		.n = args->n - first,
		.at = 1,
		.span = args->v[first].span};
	unsigned kind;
	struct shell_state before;

	if (!b)
		return;
	kind = b->kind;
	for (size_t i = 0; i < first; i++)
		if (shell_str_is(args->v[i].alts[0], "builtin"))
			kind |= BASH_ONLY;
	if (!has(w, kind))
		return;
	shell_fork(w, w->st, &before);
	b->run(w, &call);
	if (in_doubt(w, b, &call, first))
		shell_may_fail(w, &before);
}
