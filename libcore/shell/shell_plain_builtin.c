/* shell_plain_builtin.c - what the shell's own commands change
 * SPDX-License-Identifier: MIT
 */
#include "shell/shell_plain_in.h"

#include <string.h>

#include "base/str.h"

/* A builtin at work: v[at] is the next word. */
struct call {
	const struct shell_val *v;
	size_t n, at;
	struct shell_span span;
};

static const struct shell_val any = {
	.kind = SHELL_UNKNOWN, .text = {SHELL_ANY_S, 1}};

/* Is the word that text? */
static bool is_word(const struct call *c, size_t i, const char *text)
{
	return i < c->n && shell_val_text(&c->v[i]) &&
	       shell_str_is(c->v[i].text, text);
}

/* Skips options. Those of `with` take the rest of their word or the next word;
 * with a + in it, words with that sign are options, too. given gets their
 * letters, as many as fit. */
static void pass_options(
	struct call *c, const char *with, char *given, size_t size)
{
	size_t count = 0;

	for (; c->at < c->n; c->at++) {
		struct shell_str s = c->v[c->at].text;

		if (s.n < 2 || (s.p[0] != '-' &&
				       (s.p[0] != '+' || !strchr(with, '+'))))
			break;
		if (shell_str_is(s, "--")) {
			c->at++;
			break;
		}
		for (size_t i = 1; i < s.n; i++) {
			if (count + 1 < size)
				given[count++] = s.p[i];
			if (!strchr(with, s.p[i]))
				continue;
			c->at += i + 1 == s.n;
			break;
		}
	}
	given[count] = '\0';
}

/* Sets the variable that a word names; NAME[x] sets NAME. */
static void set_name(struct shell_walk *w, const struct call *c,
	const struct shell_val *word, const struct shell_val *value, bool exported)
{
	const struct shell_str *s = shell_val_text(word);
	struct shell_set set = {.span = plain_span(w, c->span)};

	if (!s) {
		plain_risk(w, SHELL_RISK_NAME, word->text, c->span);
		return;
	}
	set.name = (struct shell_str){s->p, shell_str_name(*s)};
	if (!set.name.n)
		return;
	set.unset = !value;
	if (value)
		set.value = set.name.n < s->n ? any : *value;
	plain_set(w, &set, exported);
}

static void set_rest(struct shell_walk *w, struct call *c)
{
	for (; c->at < c->n; c->at++)
		set_name(w, c, &c->v[c->at], &any, false);
}

/* NAME=VALUE, NAME */
static void declare_one(struct shell_walk *w, const struct call *c,
	const struct shell_val *word, bool exported)
{
	size_t n = shell_str_name(word->text);
	size_t op = shell_str_assigns(word->text, n);
	struct plain_var room;
	const struct plain_var *v;
	struct shell_set set = {.span = plain_span(w, c->span)};

	if (!n || (n < word->text.n && !op)) {
		if (!shell_val_text(word))
			plain_risk(w, SHELL_RISK_NAME, word->text, c->span);
		return;
	}
	set.name = (struct shell_str){word->text.p, n};
	if (!op) {
		/* export NAME: keeps the value, which children see from now
		 * on. */
		v = plain_find(w, set.name, &room);
		if (exported && v->is == PLAIN_KNOWN) {
			set.value = plain_val(v->value);
			plain_assign(w, set.name, &set.value, true);
		} else if (exported) {
			plain_assign(w, set.name, &any, true);
		}
		return;
	}
	set.value = plain_val((struct shell_str){
		word->text.p + n + op, word->text.n - n - op});
	if (op == 2 || word->many)
		set.value = any;
	plain_set(w, &set, exported);
}

static void do_declare(struct shell_walk *w, struct call *c)
{
	bool exported = is_word(c, 0, "export");
	char given[16];

	pass_options(c, "+", given, sizeof given);
	if (strchr(given, 'n') && !exported)
		plain_risk(w, SHELL_RISK_INDIRECT, c->v[0].text, c->span);
	if (strchr(given, 'f') || strchr(given, 'F'))
		return;
	exported |= strchr(given, 'x') != NULL;
	for (; c->at < c->n; c->at++) {
		struct shell_str s = c->v[c->at].text;
		struct plain_var room;

		declare_one(w, c, &c->v[c->at], exported);
		/* -i, -l and -u change the value. */
		s.n = shell_str_name(s);
		if (s.n && strpbrk(given, "ilu"))
			plain_assign(w, s, &any,
				plain_find(w, s, &room)->exported);
	}
}

static void do_read(struct shell_walk *w, struct call *c)
{
	char given[16];
	size_t at = c->at;

	pass_options(c, is_word(c, 0, "read") ? "adinNptu" : "dnOsuCc", given,
		sizeof given);
	if (strchr(given, 'C') && !is_word(c, 0, "read"))
		plain_risk(w, SHELL_RISK_CODE, c->v[0].text, c->span);
	for (; strchr(given, 'a') && at + 1 < c->at; at++)
		if (c->v[at].text.n && c->v[at].text.p[0] == '-' &&
			c->v[at].text.p[c->v[at].text.n - 1] == 'a')
			set_name(w, c, &c->v[at + 1], &any, false);
	if (c->at == c->n)
		plain_assign(w, is_word(c, 0, "read") ? SHELL_STR("REPLY")
						      : SHELL_STR("MAPFILE"),
			&any, false);
	set_rest(w, c);
}

static void do_getopts(struct shell_walk *w, struct call *c)
{
	if (c->at + 1 < c->n)
		set_name(w, c, &c->v[c->at + 1], &any, false);
	plain_assign(w, SHELL_STR("OPTARG"), &any, false);
}

static void do_printf(struct shell_walk *w, struct call *c)
{
	if (is_word(c, 1, "-v") && c->n > 2)
		set_name(w, c, &c->v[2], &any, false);
	else if (c->n > 1 && c->v[1].text.n > 2 &&
		 memcmp(c->v[1].text.p, "-v", 2) == 0) {
		struct shell_val name = plain_val((struct shell_str){
			c->v[1].text.p + 2, c->v[1].text.n - 2});

		set_name(w, c, &name, &any, false);
	} else if (c->n > 2 && !shell_val_text(&c->v[1]) &&
		   !shell_val_prefix(c->v[1].text).n) {
		/* An unknown format may be -v. */
		set_name(w, c, &c->v[2], &any, false);
	}
}

static void do_unset(struct shell_walk *w, struct call *c)
{
	char given[16];

	pass_options(c, "", given, sizeof given);
	for (; c->at < c->n && !strchr(given, 'f'); c->at++)
		set_name(w, c, &c->v[c->at], NULL, false);
}

static void stand_in(struct shell_walk *w, struct shell_val dir)
{
	plain_assign(w, SHELL_STR("OLDPWD"), &w->st.cwd, false);
	plain_assign(w, SHELL_STR("PWD"), &dir, false);
	w->st.cwd = dir;
}

/* Sets the directory of the shell from here on. */
static void do_cd(struct shell_walk *w, struct call *c)
{
	struct plain_var room;
	struct shell_val to = any;
	char given[16], *path;
	size_t n = w->st.cwd.text.n;
	bool pushes = is_word(c, 0, "pushd");

	pass_options(c, "", given, sizeof given);
	/* pushd +1 rotates the list of directories. */
	if (is_word(c, c->at, "-")) {
		const struct plain_var *v = plain_named(
			&w->st.names, SHELL_STR("OLDPWD"), false);

		to = v && v->is == PLAIN_KNOWN ? plain_val(v->value) : any;
	} else if (c->at < c->n &&
		(!pushes || !c->v[c->at].text.n ||
			c->v[c->at].text.p[0] != '+'))
		to = c->v[c->at];
	else if (c->at == c->n && !pushes)
		to = plain_val(
			plain_find(w, SHELL_STR("HOME"), &room)->value);
	to.span = c->span;
	if (to.text.n && to.text.p[0] != '/' && to.text.p[0] != SHELL_ANY) {
		path = arena_bytes(w->a, n + 1 + to.text.n);
		if (!path) {
			plain_stop(w, -E2BIG);
			return;
		}
		memcpy(path, w->st.cwd.text.p, n);
		path[n] = '/';
		memcpy(path + n + 1, to.text.p, to.text.n);
		to = plain_val((struct shell_str){path, n + 1 + to.text.n});
		to.span = c->span;
	}
	if (!w->err && w->ops->chdir && to.text.n)
		w->err = w->ops->chdir(w->ctx, w, &to, plain_span(w, c->span));
	stand_in(w, to.text.n && shell_val_text(&to) ? plain_normal(w, to)
						     : any);
}

static void do_popd(struct shell_walk *w, struct call *c)
{
	(void)c;
	stand_in(w, any);
}

/* Joins the words from at on with blanks; unknown if one of them is. */
static struct shell_val join_words(struct shell_walk *w, const struct call *c)
{
	size_t n = 0;
	char *to;

	for (size_t i = c->at; i < c->n; i++) {
		if (c->v[i].kind != SHELL_CONST || c->v[i].many)
			return any;
		n += c->v[i].text.n + 1;
	}
	to = arena_bytes(w->a, n + 1);
	if (!to) {
		plain_stop(w, -E2BIG);
		return any;
	}
	n = 0;
	for (size_t i = c->at; i < c->n; i++) {
		if (n)
			to[n++] = ' ';
		if (c->v[i].text.n)
			memcpy(to + n, c->v[i].text.p, c->v[i].text.n);
		n += c->v[i].text.n;
	}
	return plain_val((struct shell_str){to, n});
}

static void do_eval(struct shell_walk *w, struct call *c)
{
	struct shell_val text;

	c->at += is_word(c, c->at, "--");
	text = join_words(w, c);
	plain_nested(w, text.text, w->dialect, c->span);
}

static void do_trap(struct shell_walk *w, struct call *c)
{
	struct plain_state before = w->st;

	c->at += is_word(c, c->at, "--");
	/* trap 2 and trap - 2 remove a trap; -l and -p list them. */
	if (c->at + 1 >= c->n || is_word(c, c->at, "-") ||
		is_word(c, c->at, "-p") || is_word(c, c->at, "-l"))
		return;
	/* A trap runs later: with other arguments, and more functions. */
	w->st.args = NULL;
	w->bodies++;
	plain_nested(w, c->v[c->at].text, w->dialect, c->span);
	w->bodies--;
	plain_join(w, &before);
	w->st.args = before.args;
	w->st.nargs = before.nargs;
}

static void do_source(struct shell_walk *w, struct call *c)
{
	struct shell_open o = {.reads = true, .span = plain_span(w, c->span)};

	c->at += is_word(c, c->at, "--");
	if (c->at == c->n)
		return;
	o.path = c->v[c->at];
	if (!w->err && w->ops->open)
		w->err = w->ops->open(w->ctx, w, &o, &w->st.cwd);
	plain_risk(w, SHELL_RISK_SOURCE, o.path.text, c->span);
}

static void do_alias(struct shell_walk *w, struct call *c)
{
	for (; c->at < c->n; c->at++)
		if (!shell_val_text(&c->v[c->at]) ||
			shell_str_has(c->v[c->at].text, "=")) {
			plain_risk(w, SHELL_RISK_ALIAS, c->v[c->at].text,
				c->span);
			return;
		}
}

static void do_hash(struct shell_walk *w, struct call *c)
{
	char given[16];

	pass_options(c, "", given, sizeof given);
	if (strchr(given, 'p'))
		plain_risk(w, SHELL_RISK_HASH, c->v[0].text, c->span);
}

/* Skips the options of set; false when not even their end is known. */
static bool pass_set_options(struct shell_walk *w, struct call *c)
{
	for (; c->at < c->n; c->at++) {
		struct shell_str s = c->v[c->at].text;

		if (!shell_val_text(&c->v[c->at]))
			return false;
		if (!s.n || (s.p[0] != '-' && s.p[0] != '+') ||
			shell_str_is(s, "--"))
			break;
		w->st.exports |= s.p[0] == '-' && memchr(s.p, 'a', s.n);
		w->st.exports |= is_word(c, c->at + 1, "allexport");
		/* set -euo pipefail */
		c->at += s.p[s.n - 1] == 'o';
	}
	return true;
}

/* set -- a b; set a b; set -e */
static void do_set(struct shell_walk *w, struct call *c)
{
	struct plain_args args = {0};

	if (!pass_set_options(w, c)) {
		w->st.args = NULL;
		return;
	}
	if (c->at >= c->n)
		return;
	c->at += is_word(c, c->at, "--");
	plain_add(w, &args, w->st.args && w->st.nargs ? w->st.args[0] : any);
	for (; c->at < c->n; c->at++)
		plain_add(w, &args, c->v[c->at]);
	w->st.args = args.v;
	w->st.nargs = args.n;
}

static void do_shift(struct shell_walk *w, struct call *c)
{
	int by = c->at < c->n ? shell_str_number(c->v[c->at].text) : 1;
	struct plain_args args = {0};
	bool known = w->st.args && by >= 0 && (size_t)by < w->st.nargs;

	for (size_t i = 0; known && i <= (size_t)by; i++)
		known = !w->st.args[i].many;
	if (!known) {
		w->st.args = NULL;
		return;
	}
	plain_add(w, &args, w->st.args[0]);
	for (size_t i = (size_t)by + 1; i < w->st.nargs; i++)
		plain_add(w, &args, w->st.args[i]);
	w->st.args = args.v;
	w->st.nargs = args.n;
}

static void do_let(struct shell_walk *w, struct call *c)
{
	for (; c->at < c->n; c->at++)
		plain_calculate(w, c->v[c->at].text, c->span);
}

/* `command X`, `builtin X`: X may be one of these, too. */
static void do_command(struct shell_walk *w, struct call *c)
{
	while (is_word(c, c->at, "-p") || is_word(c, c->at, "--") ||
		is_word(c, c->at, "command") || is_word(c, c->at, "builtin"))
		c->at++;
	if (c->at < c->n)
		plain_builtin(w, c->v + c->at, c->n - c->at, c->span);
}

static void do_nothing(struct shell_walk *w, struct call *c)
{
	(void)w;
	(void)c;
}

/* What a builtin does with its words, beside what its function does. */
enum {
	DECLARES = 1, /* NAME=VALUE words are assignments */
	KEEPS = 2,    /* it runs code, which sees what is assigned before it */
	NAMES = 4,    /* words are names of variables, or are calculated */
};

/* Builtins, frequent ones first. Those that do nothing here change only what no
 * word shows. */
static const struct builtin {
	char name[15];
	uint8_t is;
	void (*run)(struct shell_walk *w, struct call *c);
} table[] = {
	{":", 0, do_nothing}, {"test", NAMES, do_nothing},
	{"[", NAMES, do_nothing}, {"cd", 0, do_cd},
	{"export", DECLARES | NAMES, do_declare}, {"exit", 0, do_nothing},
	{"set", 0, do_set}, {"printf", NAMES, do_printf},
	{"read", NAMES, do_read}, {"exec", 0, do_nothing},
	{"return", 0, do_nothing}, {"break", 0, do_nothing},
	{"continue", 0, do_nothing}, {"local", DECLARES | NAMES, do_declare},
	{"unset", NAMES, do_unset}, {"shift", 0, do_shift},
	{"eval", KEEPS, do_eval}, {"trap", 0, do_trap}, {".", KEEPS, do_source},
	{"source", KEEPS, do_source}, {"wait", NAMES, do_nothing},
	{"command", KEEPS, do_command}, {"builtin", KEEPS, do_command},
	{"declare", DECLARES | NAMES, do_declare},
	{"typeset", DECLARES | NAMES, do_declare},
	{"readonly", DECLARES | NAMES, do_declare}, {"let", NAMES, do_let},
	{"alias", 0, do_alias}, {"hash", 0, do_hash}, {"chdir", 0, do_cd},
	{"pushd", 0, do_cd}, {"popd", 0, do_popd}, {"mapfile", NAMES, do_read},
	{"readarray", NAMES, do_read}, {"getopts", NAMES, do_getopts},
};

static const struct builtin *find_builtin(struct shell_str name)
{
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (shell_str_is(name, table[i].name))
			return &table[i];
	return NULL;
}

static bool builtin_is(struct shell_str name, unsigned is)
{
	const struct builtin *b = find_builtin(name);

	return b && b->is & is;
}

bool plain_is_builtin(struct shell_str name)
{
	return find_builtin(name) != NULL;
}

bool plain_declares(struct shell_str name)
{
	return builtin_is(name, DECLARES);
}

bool plain_keeps(struct shell_str name)
{
	return builtin_is(name, KEEPS);
}

bool plain_builtin(struct shell_walk *w, const struct shell_val *v, size_t n,
	struct shell_span span)
{
	struct call c = {.v = v, .n = n, .at = 1, .span = span};
	const struct builtin *b =
		shell_val_text(&v[0]) ? find_builtin(v[0].text) : NULL;

	if (!b)
		return false;
	for (size_t k = 1; k < n && b->is & NAMES; k++)
		plain_subscript(w, v[k].text, span);
	if (!w->err)
		b->run(w, &c);
	return true;
}
