/* policy_judge.c - one command: its program, its words, what it runs
 * SPDX-License-Identifier: MIT
 */
#include "policy/policy_judge_in.h"

#include <string.h>

#include "policy/policy_args_in.h"
#include "base/str.h"

/* A program's schema by its name, its links' names, or its name without a
 * version behind it: python3.11, gcc-12. */
static void schema_of(struct scan *s, const struct prog *p)
{
	bool found = p->name && args_schema(s, 0, p->name);

	for (unsigned i = 0; !found && i < p->count; i++)
		found = args_schema(s, 0, p->names[i]);
	for (unsigned i = 0; !found && i < p->count; i++) {
		size_t n = strlen(p->names[i]), all = n;

		while (n > 1 && (chr_digit(p->names[i][n - 1]) ||
					strchr(".-", p->names[i][n - 1])))
			n--;
		found = n < all &&
			args_schema(s, 0, judge_text(s->k->j, p->names[i], n));
	}
}

bool judge_is_multi(struct judge_cmd *k, const char *name)
{
	struct scan s = {.k = k, .img = k->j->p->layer[POLICY_LAYER_SYSTEM]};

	return args_schema(&s, 0, name) && s.style & IMG_S_MULTI;
}

static enum shell_dialect dialect_of(
	const struct judge_cmd *k, const struct prog *p)
{
	/* The reading that the caller named holds for sh alone: what sh is on
	 * the target is what the caller knows. */
	const enum shell_dialect of[] = {SHELL_UNION, SHELL_BASH, SHELL_POSIX,
		SHELL_ASH, SHELL_ASH, k->j->dialect};

	return of[1 + str_index("bash\0dash\0ash\0busybox\0sh\0",
			      p->name ? p->name : "")];
}

bool judge_is_stdin(const char *s)
{
	return str_index("-\0/dev/stdin\0/dev/fd/0\0/proc/self/fd/0\0", s) >= 0;
}

bool args_given(const struct parsed *o, const char *name)
{
	for (size_t i = 0; i < o->opts; i++)
		if (str_eq(o->opt[i].name, name))
			return true;
	return false;
}

/* A file of code that is a pipe: <(…), /dev/fd/3. */
static bool is_pipe(const char *s)
{
	return str_after(s, "/dev/fd/") || str_after(s, "/proc/");
}

/* bash -n "$f": it is read, and not run. But where it may be +n what follows is
 * run, or what stands in its input. */
static bool only_reads(const struct scan *s, const struct arg *file)
{
	const struct shell_cmd *cmd = s->k->cmd;
	bool first = s->argc > 2 && str_eq(s->argv[1].s, "-n") &&
		str_eq(s->argv[2].s, file->s) && !file->many;

	return first && (!strchr("+-" SHELL_REL_S SHELL_ANY_S, file->s[0]) ||
				(s->argc == 3 &&
					cmd && cmd->input == SHELL_IN_INHERIT));
}

/* A script. One that lies where programs lie is a program like they are, and
 * this is how the kernel starts it. */
static void script(struct scan *s)
{
	struct judge_cmd *k = s->k;
	struct parsed *o = s->out;
	const struct arg *file = &o->operand[0];
	struct prog p = {.where = PROG_MISSING};

	if (file->s[0] == '/' && !file->unknown && !file->rel && !file->many)
		judge_prog(k, file->s, &p);
	if (p.where == PROG_SYSTEM || p.where == PROG_OUTSIDE) {
		o->wrapper = true;
		judge_argv(k, o->operand, o->operands);
		return;
	}
	judge_path(k, file, PATH_READ);
	if (is_pipe(file->s))
		judge_input(k, k->j->set[IMG_P_DYNAMIC],
			"a shell reads code from a pipe");
	/* What may be no word at all leaves it to the next. */
	while (file->many && !file->glob &&
		file + 1 < o->operand + o->operands)
		file++;
	if (file->unknown && only_reads(s, file))
		judge_unresolved(k, file, "script");
	else if (file->unknown)
		judge_raise(k, k->j->set[IMG_P_DYNAMIC], "dynamic",
			"the script is not known before it runs");
}

/* sh -c CODE NAME ARGS; sh SCRIPT ARGS; sh <code */
static void shell(struct scan *s)
{
	struct parsed *o = s->out;
	struct judge_cmd *k = s->k;

	if (args_given(o, "-c")) {
		o->wrapper = true;
		if (!o->operands)
			judge_raise(k, k->j->set[IMG_P_DYNAMIC], "dynamic",
				"the shell's code is missing");
		else
			judge_sh(k, &o->operand[0], o->operand + 1,
				o->operands - 1, dialect_of(k, s->prog));
	} else if (o->operands && !args_given(o, "-s") &&
		   !judge_is_stdin(o->operand[0].s)) {
		script(s);
	} else if (args_given(o, "--version") || args_given(o, "--help")) {
		return;
	} else {
		/* sh -s ARGS: before them stands the shell itself. */
		bool zero = o->operands && !args_given(o, "-s");

		k->args = o->operand + zero - 1;
		k->nargs = o->operands - zero + 1;
		judge_stdin_code(k, true);
		o->wrapper = k->cmd && k->cmd->input == SHELL_IN_TEXT;
	}
}

/* Operands by their type; what is typed nowhere is looked at for paths. */
static void operands(struct scan *s)
{
	struct parsed *o = s->out;
	const struct shell_val *place = s->k->cwd;

	/* test A -nt B looks at A, too. */
	if (args_given(o, "-nt") || args_given(o, "-ot") ||
		args_given(o, "-ef"))
		for (size_t i = 0; i < o->operands; i++)
			judge_path_guess(s->k, &o->operand[i]);
	for (size_t i = 0; i < o->operands; i++) {
		struct arg a = o->operand[i];
		struct item it = {0};
		bool said;

		if (s->schema[0])
			it = args_item(s, i);
		said = it.kind;
		s->k->cwd = i < s->placed ? s->from : place;
		if (o->query)
			return;
		/* What is taken goes to the last of them. */
		s->k->removes = s->removes && !(said && it.kind == IMG_I_LAST);
		if (said && it.kind == IMG_I_PREFIX)
			a.s += it.prefix;
		/* A relative one is seen from where the link lies. */
		if (said && it.type == IMG_T_LINK && a.s[0] != '/')
			continue;
		if (said && it.type == IMG_T_LINK)
			judge_path(s->k, &a, PATH_READ);
		else if (said && it.type == IMG_T_PATH && s->writes)
			args_value(s, IMG_T_WPATH, &a, "operand");
		else if (said)
			args_value(s, (enum img_type)it.type, &a, "operand");
		else if (s->writes)
			args_value(s, IMG_T_WPATH, &a, "operand");
		else if (!(s->style & IMG_S_DATA)) {
			judge_path_guess(s->k, &a);
		}
	}
}

/* The command within: what wrappers add stays with it. */
static void inner(struct scan *s)
{
	struct judge_cmd *k = s->k;
	const struct shell_set *env = k->env;
	size_t nenv = k->nenv;
	struct shell_set *all;

	if (s->nenv) {
		all = arena_zalloc(
			k->j->arena, (nenv + s->nenv) * sizeof(*all));
		if (!all)
			return;
		if (nenv)
			memcpy(all, env, nenv * sizeof(*all));
		memcpy(all + nenv, s->env, s->nenv * sizeof(*all));
		k->env = all;
		k->nenv = nenv + s->nenv;
	}
	if (args_given(s->out, "-i") &&
		str_eq(s->prog->name ? s->prog->name : "", "env"))
		k->clean = true;
	if (s->style & (IMG_S_WRAPPER | IMG_S_MULTI))
		s->out->wrapper = true;
	judge_argv(k, s->out->cmd, s->out->cmd_count);
	k->env = env;
	k->nenv = nenv;
}

static void what_it_does(struct scan *s)
{
	int i = s->schema[0]
			? str_index("mv\0rm\0rmdir\0", s->name)
			: -1;

	s->removes = i >= 0;
	s->k->removes = false;
	s->k->unlinks = i == 1;
}

/* A letter each at most, and tar's first word, which has no dash: a word that
 * is a value, however long, gives one. */
static size_t most_options(const struct arg *argv, size_t argc)
{
	size_t n = argc > 1 ? strlen(argv[1].s) : 0;

	for (size_t i = 2; i < argc; i++)
		if (strchr("-+/", argv[i].s[0]))
			n += strlen(argv[i].s) + 1;
	return n < JUDGE_OPTS ? n + 1 : JUDGE_OPTS;
}

void args_judge(struct scan *s)
{
	struct judge_cmd *k = s->k;
	struct parsed *out = s->out;
	struct arena *a = k->j->arena;

	schema_of(s, s->prog);
	if (s->prog->where == PROG_LOCAL)
		s->schema[0] = 0;
	what_it_does(s);
	s->opt_max = most_options(s->argv, s->argc);
	out->opt = arena_zalloc(a, (s->opt_max + 1) * sizeof(*out->opt));
	out->operand = arena_zalloc(a, (s->argc + 2) * sizeof(*out->operand));
	out->doubtful = arena_zalloc(a, s->argc + 1);
	if (!out->opt || !out->operand || !out->doubtful)
		return;
	*out->operand++ = s->argv[0];
	args_words(s);
	if (s->style & IMG_S_SHELL) {
		shell(s);
	} else {
		operands(s);
	}
	if (s->style & IMG_S_INTERP && !s->coded && !out->cmd_count &&
		(!out->operands || judge_is_stdin(out->operand[0].s)) &&
		!args_given(out, "-m") &&
		!(out->opts && (!k->cmd || k->cmd->input == SHELL_IN_INHERIT)))
		judge_stdin_code(k, false);
	if (s->style & IMG_S_INTERP && !s->coded && out->operands &&
		is_pipe(out->operand[0].s))
		judge_input(k, k->j->set[IMG_P_DYNAMIC],
			"an interpreter reads code from a pipe");
	/* parallel <cmds: each line of it. */
	if (s->style & IMG_S_INTERP && s->style & IMG_S_WRAPPER &&
		!out->cmd_count)
		judge_input(k, k->j->set[IMG_P_DYNAMIC],
			"%s runs commands that it reads", s->argv[0].s);
	if (out->cmd_count)
		inner(s);
	else if (out->query && s->style & IMG_S_WRAPPER)
		out->wrapper = true;
	/* A word that may be none, or several, stands before the command. */
	if (out->unresolved && s->style & IMG_S_WRAPPER && !out->query)
		judge_raise(k, k->j->set[IMG_P_DYNAMIC], "dynamic",
			"what %s runs is not known before it runs",
			s->argv[0].s);
	k->cwd = s->from;
}

/* A word that is not known may be none, or several: the words behind it then
 * stand elsewhere. */
static void loose_words(
	struct judge_cmd *k, const struct arg *argv, size_t argc)
{
	for (size_t i = 1; i < argc; i++)
		if (argv[i].many && argv[i].unknown) {
			judge_unresolved(k, &argv[i], "word");
			return;
		}
}

void judge_argv(struct judge_cmd *k, const struct arg *argv, size_t argc)
{
	const char *word = argc ? argv[0].s : "";
	struct parsed w = {0};
	struct prog p;
	struct scan s = {.k = k,
		.prog = &p,
		.argv = argv,
		.argc = argc,
		.img = k->j->p->layer[POLICY_LAYER_SYSTEM],
		.out = &w,
		.from = k->cwd};

	k->j->work += 6 + (unsigned)argc / 4;
	if (argc == 0 || judge_spent(k->j))
		return;
	if (!k->argv) {
		k->argv = argv;
		k->argc = argc;
	}
	if (++k->wraps > JUDGE_WRAPS) {
		judge_raise(k, k->j->set[IMG_P_DYNAMIC], "limit",
			"more than %d wrappers within each other", JUDGE_WRAPS);
		return;
	}
	if (argv[0].unknown || argv[0].rel || argv[0].many ||
		!*word) {
		judge_raise(k, k->j->set[IMG_P_DYNAMIC], "dynamic",
			"the command is not known before it runs: %s",
			judge_show(k->j, word));
		k->wraps--;
		return;
	}
	/* watch 'x y', and a program of that name is nobody's. */
	if (k->wraps > 1 && strpbrk(word, " \t\n;|&"))
		judge_sh(k, &argv[0], NULL, 0, SHELL_UNION);
	/* zsh's =curl is /usr/bin/curl. */
	for (const char *c = word; *c; c++)
		if (*c & 0x80 || *c < ' ' || *word == '=')
			judge_raise(k, k->j->set[IMG_P_DYNAMIC], "name",
				"the command's name is not plain ASCII");
	if (k->exe && k->wraps == 1)
		judge_prog_file(k, k->exe, word, &p);
	else
		judge_prog(k, word, &p);
	args_judge(&s);
	judge_rules(k, &p, argv, argc, &w);
	/* /bin/echo, exec echo: a program of a builtin's name. */
	if (p.where != PROG_BUILTIN || k->wraps > 1)
		k->v.is &= ~(unsigned)POLICY_IS_SHELL;
	if (k->cmd && !(k->v.is & POLICY_IS_SHELL))
		loose_words(k, argv, argc);
	k->wraps--;
}
