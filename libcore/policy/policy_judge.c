/* policy_judge.c - one command: its program, its words, what it runs
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/str.h"
#include "policy/policy_reads_in.h"

bool judge_is_multi(struct judge_cmd *k, const char *name)
{
	const struct policy_image *img = k->j->p->layer[POLICY_LAYER_SYSTEM];
	struct img_range items;

	if (!img || !img_reads_find(img, name, &items))
		return false;
	for (uint32_t i = 0; i < items.count; i++)
		if (str_eq(img_ref(img, items, i), "multi"))
			return true;
	return false;
}

static enum shell_dialect dialect_of(
	const struct judge_cmd *k, const struct prog *p)
{
	/* The dialect that the caller named holds for sh alone, because the
	 * caller knows what sh is on the target. */
	const enum shell_dialect of[] = {SHELL_UNION, SHELL_BASH, SHELL_POSIX,
		SHELL_ASH, SHELL_ASH, k->j->dialect};

	return of[1 + str_index("bash\0dash\0ash\0busybox\0sh\0",
			      p->name    ? p->name
			      : p->count ? p->names[0]
					 : "")];
}

bool judge_is_stdin(const char *s)
{
	return str_index("-\0/dev/stdin\0/dev/fd/0\0/proc/self/fd/0\0", s) >= 0;
}

/* Is the file of code a pipe: <(…), /dev/fd/3? */
static bool is_pipe(const char *s)
{
	return str_after(s, "/dev/fd/") || str_after(s, "/proc/");
}

/* Judges a script. A script in a directory of programs is a program, which the
 * kernel starts in this very way. */
static void judge_script(struct reading *r)
{
	struct judge_cmd *k = r->k;
	struct parsed *o = r->out;
	const struct arg *file = &o->operand[0];
	struct prog p = {.where = PROG_MISSING};

	if (file->s[0] == '/' && !file->unknown && !file->rel && !file->many &&
		!is_pipe(file->s))
		judge_prog(k, file->s, &p);
	if (p.where == PROG_SYSTEM || p.where == PROG_OUTSIDE) {
		o->wrapper = true;
		judge_argv(k, o->operand, o->operands);
		return;
	}
	judge_path(k, file, PATH_READ);
	if (is_pipe(file->s))
		judge_input(k, POLICY_OPEN,
			"a shell reads code from a pipe");
	if (file->unknown || file->many)
		judge_raise(k, POLICY_OPEN, "dynamic",
			"the script is not known before it runs");
}

/* sh -c CODE NAME ARGS; sh SCRIPT ARGS; sh <code */
static void judge_shell(struct reading *r)
{
	struct parsed *o = r->out;
	struct judge_cmd *k = r->k;

	if (reads_given(o, "-c")) {
		o->wrapper = true;
		if (!o->operands)
			judge_raise(k, POLICY_OPEN, "dynamic",
				"the shell's code is missing");
		else
			judge_sh(k, &o->operand[0], o->operand + 1,
				o->operands - 1, dialect_of(k, r->prog));
	} else if (o->operands && !reads_given(o, "-s") &&
		   !judge_is_stdin(o->operand[0].s)) {
		judge_script(r);
	} else if (!reads_given(o, "--version") && !reads_given(o, "--help")) {
		/* With -s the words are the script's arguments; $0 is the shell
		 * itself. */
		bool zero = o->operands && !reads_given(o, "-s");

		k->args = o->operand + zero - 1;
		k->nargs = o->operands - zero + 1;
		judge_stdin_code(k);
		o->wrapper = k->cmd && k->cmd->input == SHELL_IN_TEXT;
	}
}

/* Does a list of any layer hold the program, or the program with a given
 * option: "sed/-i"? */
static bool list_has(const struct reading *r, enum judge_list list)
{
	struct judge *j = r->k->j;
	const struct prog *p = r->prog;

	for (unsigned n = 0; n < p->count && p->where != PROG_LOCAL; n++) {
		if (judge_listed(j, list, p->names[n]))
			return true;
		for (size_t i = 0; i < r->out->opts; i++)
			if (judge_listed(j, list,
				    judge_print(j, "%s/%s", p->names[n],
					    r->out->opt[i].name)))
				return true;
	}
	return false;
}

static void judge_operands(struct reading *r)
{
	struct parsed *o = r->out;
	const bool all = list_has(r, LIST_WRITES);
	const bool last = list_has(r, LIST_WRITES_LAST);
	size_t i = 0;

	/* An operand that is text names no file. */
	if (reads_is(r, READS_TEXT) && !r->coded)
		i = 1;
	else if (reads_is(r, READS_LAST) && o->operands > 1)
		i = o->operands - 1;
	r->k->unlinks = list_has(r, LIST_REMOVES);
	/* test -f a: the shell itself looks at the file. */
	if (r->prog->where == PROG_BUILTIN && !r->k->data && o->operands)
		r->k->j->is |= POLICY_IS_OPENING;
	for (; i < o->operands; i++) {
		/* A test of an unknown word is harmless. */
		if (r->prog->where == PROG_BUILTIN && o->operand[i].unknown &&
			!strchr(o->operand[i].s, '/'))
			continue;
		if (all || (last && i && i + 1 == o->operands))
			judge_path(r->k, &o->operand[i], PATH_WRITE);
		else
			judge_path_guess(r->k, &o->operand[i]);
	}
	/* A builtin's test of a place opens nothing there. */
	if (r->prog->where == PROG_BUILTIN)
		r->k->v.is &= ~(unsigned)POLICY_IS_OUTSIDE;
}

/* The words of watch, side by side, are a line for a shell. */
static void as_line(struct judge_cmd *k, const struct arg *argv, size_t n)
{
	autobuf struct buf b = BUF_INIT(JUDGE_ARENA);
	struct arg line;

	for (size_t i = 0; i < n; i++)
		buf_addf(&b, "%s ", argv[i].s);
	line = judge_arg(k->j, buf_str(&b), b.len);
	judge_sh(k, &line, NULL, 0, SHELL_UNION);
}

void reads_command(struct reading *r, const struct arg *argv, size_t n)
{
	struct judge_cmd *k = r->k;
	const struct shell_set *env = k->env;
	size_t nenv = k->nenv;
	struct shell_set *all;

	if (reads_is(r, READS_LINE)) {
		as_line(k, argv, n);
		return;
	}
	/* Variables that wrappers add hold for the inner command only. */
	if (r->nenv) {
		all = arena_zalloc(
			k->j->arena, (nenv + r->nenv) * sizeof(*all));
		if (!all)
			return;
		if (nenv)
			memcpy(all, env, nenv * sizeof(*all));
		memcpy(all + nenv, r->env, r->nenv * sizeof(*all));
		k->env = all;
		k->nenv = nenv + r->nenv;
	}
	if (reads_is(r, READS_ASSIGNS) && reads_given(r->out, "-i"))
		k->clean = true;
	judge_argv(k, argv, n);
	k->env = env;
	k->nenv = nenv;
}

/* An upper bound of the options: each letter can be one, whereas a word that is
 * a value gives one. */
static size_t most_options(const struct arg *argv, size_t argc)
{
	size_t n = argc;

	for (size_t i = 1; i < argc; i++)
		if (strchr("-+", argv[i].s[0]))
			n += strlen(argv[i].s) + 1;
	return n < JUDGE_OPTS ? n + 1 : JUDGE_OPTS;
}

static void read_words(struct reading *r)
{
	struct judge_cmd *k = r->k;
	struct parsed *out = r->out;
	struct arena *a = k->j->arena;

	reads_begin(r);
	k->data = r->prog->name && judge_granted(k->j, LIST_DATA, r->prog->name);
	r->opt_max = most_options(r->argv, r->argc);
	out->opt = arena_zalloc(a, (r->opt_max + 1) * sizeof(*out->opt));
	out->operand = arena_zalloc(a, (r->argc + 2) * sizeof(*out->operand));
	out->doubtful = arena_zalloc(a, r->argc + 1);
	if (!out->opt || !out->operand || !out->doubtful)
		return;
	*out->operand++ = r->argv[0];
	reads_words(r);
	if (reads_is(r, READS_SHELL))
		judge_shell(r);
	else
		judge_operands(r);
	k->data = false;
	if (out->cmd_count) {
		out->wrapper = true;
		reads_command(r, out->cmd, out->cmd_count);
	}
	/* A word that may be none, or several, stands before the inner
	 * command. */
	if (reads_is(r, READS_RUNS) && out->unresolved)
		judge_raise(k, POLICY_OPEN, "dynamic",
			"what %s runs is not known before it runs",
			r->argv[0].s);
}

void judge_argv(struct judge_cmd *k, const struct arg *argv, size_t argc)
{
	const char *word = argc ? argv[0].s : "";
	struct parsed w = {0};
	struct prog p;
	struct reading r = {.k = k,
		.prog = &p,
		.argv = argv,
		.argc = argc,
		.img = k->j->p->layer[POLICY_LAYER_SYSTEM],
		.out = &w};

	k->j->work += 6 + (unsigned)argc / 4;
	if (argc == 0 || judge_spent(k->j))
		return;
	if (!k->argv) {
		k->argv = argv;
		k->argc = argc;
	}
	if (++k->wraps > JUDGE_WRAPS) {
		judge_raise(k, POLICY_OPEN, "limit",
			"more than %d wrappers within each other", JUDGE_WRAPS);
		return;
	}
	if (argv[0].unknown || argv[0].rel || argv[0].many ||
		!*word) {
		judge_raise(k, POLICY_OPEN, "dynamic",
			"the command is not known before it runs: %s",
			judge_show(k->j, word));
		k->wraps--;
		return;
	}
	/* watch 'x y' is a line; no program has such a name. */
	if (k->wraps > 1 && strpbrk(word, " \t\n;|&"))
		judge_sh(k, &argv[0], NULL, 0, SHELL_UNION);
	/* =curl is /usr/bin/curl to zsh. */
	for (const char *c = word; *c; c++)
		if (*c & 0x80 || *c < ' ' || *word == '=')
			judge_raise(k, POLICY_OPEN, "name",
				"the command's name is not plain ASCII");
	if (k->exe && k->wraps == 1)
		judge_prog_file(k, k->exe, word, &p);
	else
		judge_prog(k, word, &p);
	read_words(&r);
	judge_rules(k, &p, argv, argc, &w);
	/* /bin/echo or `exec echo` start a program, although a builtin has that
	 * name. */
	if (p.where != PROG_BUILTIN || k->wraps > 1)
		k->v.is &= ~(unsigned)POLICY_IS_SHELL;
	k->wraps--;
}
