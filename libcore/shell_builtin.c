/* shell_builtin.c - what the shell's own commands do to its state
 * SPDX-License-Identifier: MIT
 */
#include "shell_eval.h"

#include <errno.h>
#include <string.h>

#include "num.h"
#include "str.h"

/* Letters that were given, as a bit each; -1 stands for '-' itself. */
bool shell_options(struct shell_walk *w, struct shell_call *c, const char *with,
	const struct shell_val **values)
{
	for (; c->at < c->n; c->at++) {
		const struct shell_val *v = &c->v[c->at];
		const struct shell_str *s = shell_val_text(v);
		const char *takes;

		if (!s) {
			/* Text that may begin with '-' may be any option. */
			for (unsigned i = 0; i < v->n; i++) {
				struct shell_str head =
					shell_val_prefix(v->alts[i]);

				if (v->many || !head.n || head.p[0] == '-')
					return false;
			}
			return true;
		}
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
			values[letter] = v;
			takes = strchr(with, (int)letter);
			if (!takes)
				continue;
			if (i + 1 < s->n)
				values[letter] = shell_val_str(
					w, (struct shell_str){
						   s->p + i + 1, s->n - i - 1});
			else if (c->at + 1 < c->n)
				values[letter] = &c->v[++c->at];
			break;
		}
	}
	return true;
}

static bool is_bad_option(struct shell_str name)
{
	static const char *const names[] = {
		"keyword", "histexpand", "history", "posix", "physical"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (shell_str_is(name, names[i]))
			return true;
	return shell_str_unknown(name, true);
}

static void set_args(struct shell_walk *w, const struct shell_call *c)
{
	size_t n = c->n - c->at;
	struct shell_val *args = walk_zalloc(w, (n + 1) * sizeof(*args));

	if (!args)
		return;
	args[0] = w->st->nargs ? w->st->args[0] : shell_val_any;
	memcpy(args + 1, c->v + c->at, n * sizeof(*args));
	w->st->args = args;
	w->st->nargs = n + 1;
	w->st->args_unknown = false;
}

static void do_set(struct shell_walk *w, struct shell_call *c)
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
		if (shell_str_is(*s, "-") || s->n < 2 ||
			(s->p[0] != '-' && s->p[0] != '+'))
			break;
		on = s->p[0] == '-';
		for (size_t i = 1; i < s->n; i++) {
			if (s->p[i] == 'a')
				w->st->allexport |= on;
			if (on && strchr("kHP", s->p[i]))
				shell_risk(w, SHELL_RISK_OPTION, *s, c->span);
			if (s->p[i] != 'o' || c->at + 1 >= c->n)
				continue;
			v = &c->v[++c->at];
			if (on && (v->n > 1 || is_bad_option(v->alts[0])))
				shell_risk(w, SHELL_RISK_OPTION, v->alts[0],
					c->span);
			if (shell_str_is(v->alts[0], "allexport"))
				w->st->allexport |= on;
		}
	}
	if (c->at < c->n)
		set_args(w, c);
}

static void do_shift(struct shell_walk *w, struct shell_call *c)
{
	struct shell_state *st = w->st;
	const struct shell_str *s;
	size_t by = 1;

	if (c->at < c->n) {
		s = shell_val_text(&c->v[c->at]);
		by = 0;
		for (size_t i = 0; s && i < s->n && by < 10000; i++) {
			if (!chr_digit(s->p[i])) {
				s = NULL;
				break;
			}
			by = 10 * by + (size_t)(s->p[i] - '0');
		}
		if (!s)
			st->args_unknown = true;
	}
	for (size_t i = 0; i < st->nargs; i++)
		st->args_unknown |= st->args[i].many;
	if (st->args_unknown || !st->nargs || by >= st->nargs) {
		/* Too far, it fails, and some shells end. */
		st->args_unknown |= by != st->nargs - 1 && st->nargs > 0;
		st->nargs = st->nargs ? 1 : 0;
		return;
	}
	if (by) {
		struct shell_val *args =
			walk_zalloc(w, (st->nargs - by) * sizeof(*args));

		if (!args)
			return;
		args[0] = st->args[0];
		memcpy(args + 1, st->args + by + 1,
			(st->nargs - by - 1) * sizeof(*args));
		st->args = args;
		st->nargs -= by;
	}
}

static void do_shopt(struct shell_walk *w, struct shell_call *c)
{
	static const char *const harmless[] = {"nullglob", "failglob",
		"globstar", "nocaseglob", "nocasematch", "inherit_errexit",
		"checkwinsize", "globskipdots"};
	const struct shell_val *values[128] = {0};
	bool known = shell_options(w, c, "", values);

	if (!known)
		shell_risk(w, SHELL_RISK_OPTION, SHELL_STR("shopt"), c->span);
	if (!values['s'])
		return;
	for (; c->at < c->n; c->at++) {
		const struct shell_str *s = shell_val_text(&c->v[c->at]);
		bool fine = false;

		for (size_t i = 0; s && i < ARRAY_SIZE(harmless); i++)
			fine |= shell_str_is(*s, harmless[i]);
		if (!fine)
			shell_risk(w, SHELL_RISK_OPTION, c->v[c->at].alts[0],
				c->span);
	}
}

/* test -v 'a[$(x)]': an operand counts when -v is there or may be. */
static void do_test(struct shell_walk *w, struct shell_call *c)
{
	bool asks = false;

	for (size_t i = 1; i < c->n; i++) {
		const struct shell_str *s = shell_val_text(&c->v[i]);

		asks |= !s || shell_str_is(*s, "-v") || shell_str_is(*s, "-R");
	}
	for (size_t i = 1; asks && i < c->n; i++)
		for (unsigned k = 0; k < c->v[i].n; k++)
			if (shell_str_runs(c->v[i].alts[k], false))
				shell_check_name(w, &c->v[i]);
}

static void do_let(struct shell_walk *w, struct shell_call *c)
{
	for (; c->at < c->n; c->at++)
		shell_arith_text(w, &c->v[c->at], c->span);
}

static void do_printf(struct shell_walk *w, struct shell_call *c)
{
	const struct shell_val *values[128] = {0};

	if (c->at + 1 >= c->n)
		return;
	/* What is not known may be -v. */
	if (!shell_options(w, c, "v", values) && !values['v'])
		values['v'] = &c->v[c->at + 1];
	if (!values['v'])
		return;
	shell_check_name(w, values['v']);
	for (unsigned i = 0; i < values['v']->n; i++)
		shell_assign_var(w, SHELL_SET_READ, values['v']->alts[i],
			&shell_val_any, false, c->span);
}

static void leave(struct shell_walk *w, struct shell_frame *frame)
{
	if (frame) {
		struct shell_state copy = shell_fork(w, w->st);

		if (frame->any) {
			shell_join(w, &frame->acc, &copy);
		} else {
			frame->acc = copy;
			frame->any = true;
		}
	}
}

static void do_eval(struct shell_walk *w, struct shell_call *c)
{
	const struct shell_val *text = NULL;

	for (; c->at < c->n; c->at++) {
		const struct shell_val *v = &c->v[c->at];
		const struct shell_str *a = text ? shell_val_text(text) : NULL;
		const struct shell_str *b = shell_val_text(v);

		if (!text)
			text = v->many ? &shell_val_any : v;
		else if (a && b)
			text = shell_val_str(
				w, shell_str_join(w, *a, SHELL_STR(" "), *b));
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

			if (shell_str_unknown(s, true) ||
				(s.n && memchr(s.p, '=', s.n)))
				shell_risk(w, SHELL_RISK_ALIAS, s, c->span);
		}
}

static void do_hash(struct shell_walk *w, struct shell_call *c)
{
	const struct shell_val *values[128] = {0};

	if (!shell_options(w, c, "p", values) || values['p'])
		shell_risk(w, SHELL_RISK_HASH, SHELL_STR("hash -p"), c->span);
}

/* jobs -x, compgen and fc run what they are given; enable takes builtins away,
 * and with them what is known of cd. */
static void do_odd(struct shell_walk *w, struct shell_call *c)
{
	const struct shell_val *values[128] = {0};
	bool known = shell_options(w, c, "", values);
	bool jobs = shell_str_is(*c->name, "jobs");
	bool fc = shell_str_is(*c->name, "fc");

	if (!known || (jobs ? values['x'] != NULL
			    : fc ? !values['l'] : c->n > 1))
		shell_risk(w, jobs || fc ? SHELL_RISK_CODE : SHELL_RISK_OPTION,
			*c->name, c->span);
}

static void do_exit(struct shell_walk *w, struct shell_call *c)
{
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

/* SPECIAL: prefix assignments hold for code that it runs, or for good. */
enum { SPECIAL = 1, DECL = 2 };

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
	{"builtin", 0, do_nothing},
	{"cd", 0, shell_builtin_cd},
	{"chdir", 0, shell_builtin_cd},
	{"command", 0, do_nothing},
	{"compgen", 0, do_odd},
	{"complete", 0, do_odd},
	{"continue", SPECIAL, do_break},
	{"declare", DECL, shell_builtin_decl},
	{"enable", 0, do_odd},
	{"eval", SPECIAL, do_eval},
	{"exec", SPECIAL, do_nothing},
	{"exit", SPECIAL, do_exit},
	{"export", SPECIAL | DECL, shell_builtin_decl},
	{"fc", 0, do_odd},
	{"getopts", 0, shell_builtin_read},
	{"hash", 0, do_hash},
	{"jobs", 0, do_odd},
	{"let", 0, do_let},
	{"local", DECL, shell_builtin_decl},
	{"mapfile", SPECIAL, shell_builtin_read},
	{"popd", 0, shell_builtin_cd},
	{"printf", 0, do_printf},
	{"pushd", 0, shell_builtin_cd},
	{"read", 0, shell_builtin_read},
	{"readarray", SPECIAL, shell_builtin_read},
	{"readonly", SPECIAL | DECL, shell_builtin_decl},
	{"return", SPECIAL, do_return},
	{"set", SPECIAL, do_set},
	{"shift", SPECIAL, do_shift},
	{"shopt", 0, do_shopt},
	{"source", SPECIAL, shell_builtin_source},
	{"test", 0, do_test},
	{"times", SPECIAL, do_nothing},
	{"trap", SPECIAL, shell_builtin_trap},
	{"typeset", DECL, shell_builtin_decl},
	{"unset", SPECIAL, shell_builtin_unset},
	{"wait", 0, shell_builtin_read},
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

void shell_builtin(
	struct shell_walk *w, const struct shell_args *args, size_t first)
{
	const struct shell_str *name = shell_val_text(&args->v[first]);
	const struct builtin *b = name ? find(*name) : NULL;
	struct shell_call call = {.name = name,
		.v = args->v + first,
		.n = args->n - first,
		.at = 1,
		.span = args->v[first].span};

	if (b)
		b->run(w, &call);
}
