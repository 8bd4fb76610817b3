/* policy_within.c - the command that stands within another, and where it runs
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "policy/policy_args_in.h"
#include "base/str.h"

const struct shell_val *args_within(struct judge_cmd *k, const struct arg *v)
{
	struct judge *j = k->j;
	struct shell_val *to = arena_new(j->arena, struct shell_val);
	const char *dir = v->unknown ? SHELL_ANY_S : judge_cwd(k);
	struct path_found f = {0};

	if (!to)
		return k->cwd;
	if (!strchr(dir, SHELL_ANY)) {
		judge_resolve(j, dir, v->s, &f);
		dir = judge_print(j, "%s", f.path);
	}
	to->text = (struct shell_str){dir, strlen(dir)};
	if (strchr(dir, SHELL_ANY))
		to->kind = SHELL_UNKNOWN;
	return to;
}

/* Text with what stands for data made unknown. */
static void replace(struct scan *s, struct arg *a)
{
	struct judge *j = s->k->j;
	const char *at = s->replace ? str_find(a->s, s->replace) : NULL;
	char *to;
	size_t n = 0;

	if (!at)
		return;
	to = arena_bytes(j->arena, strlen(a->s) + 1);
	if (!to)
		return;
	for (const char *c = a->s; *c;) {
		bool hit = strncmp(c, s->replace, strlen(s->replace)) == 0;

		to[n++] = hit ? SHELL_ANY : *c;
		c += hit ? strlen(s->replace) : 1;
	}
	to[n] = 0;
	a->s = to;
	a->unknown = true;
}

/* find's "{}": a name below one of the starting points, or right here. */
static void found_files(struct scan *s, struct arg *a, bool dirs)
{
	struct judge *j = s->k->j;
	const struct parsed *o = s->out;
	const char *start = ".", *name = "*";
	char *to;
	size_t n, m;

	if (!str_eq(a->s, "{}")) {
		if (str_find(a->s, "{}")) {
			s->replace = "{}";
			replace(s, a);
			s->replace = NULL;
		}
		return;
	}
	/* Each starting point is judged on its own; inside the root a name
	 * below one is as good as below another. */
	if (o->operands == 1 && !o->operand[0].unknown && !dirs)
		start = o->operand[0].s;
	for (size_t i = 0; i < o->opts; i++)
		if (str_eq(o->opt[i].name, "-name") && o->opt[i].value)
			name = o->opt[i].value;
	n = strlen(start);
	m = strlen(name);
	to = arena_bytes(j->arena, n + m + 2);
	if (!to)
		return;
	memcpy(to, start, n);
	to[n] = '/';
	memcpy(to + n + 1, name, m + 1);
	for (char *c = to + n + 1; *c; c++)
		if (strchr("*?[]\\" SHELL_ANY_S, *c))
			*c = SHELL_REL;
	*a = (struct arg){.s = to, .rel = true, .glob = true};
}

/* watch: its words, side by side, are a line for a shell. */
static void as_line(struct scan *s, const struct arg *argv, size_t n)
{
	autobuf struct buf b = BUF_INIT(JUDGE_ARENA);
	struct arg line;

	for (size_t i = 0; i < n; i++)
		buf_addf(&b, "%s ", argv[i].s);
	line = judge_arg(s->k->j, buf_str(&b), b.len);
	judge_sh(s->k, &line, NULL, 0, SHELL_UNION);
	s->out->wrapper = true;
	s->done = true;
}

/* -execdir: where each starting point is, and within it. */
static void in_their_dirs(struct scan *s, const struct arg *argv, size_t argc)
{
	const struct shell_val *cwd = s->k->cwd;
	const struct parsed *o = s->out;

	for (size_t i = 0; i < 2 * o->operands; i++) {
		struct arg at = o->operand[i / 2];
		size_t n = strlen(at.s);

		while (n && at.s[n - 1] == '/')
			n--;
		while (n && at.s[n - 1] != '/')
			n--;
		if (i & 1)
			at.s = judge_print(s->k->j, "%.*s.", (int)n, at.s);
		s->k->cwd = args_within(s->k, &at);
		judge_argv(s->k, argv, argc);
		s->k->cwd = cwd;
	}
}

void args_command(struct scan *s, struct item it, size_t from)
{
	struct judge *j = s->k->j;
	size_t n = from < s->argc ? s->argc - from : 0, end = n;
	struct arg *argv = arena_zalloc(j->arena, (n + 2) * sizeof(*argv));
	bool until = it.flags & IMG_F_UNTIL, files = false;
	/* -execdir, of each starting point */
	bool dirs = until && s->out->operands &&
		    str_ends(s->argv[from - 1].s, "dir");

	if (!argv)
		return;
	if (s->out->query) {
		s->done = true;
		return;
	}
	for (size_t i = 0; i < n; i++) {
		const struct arg *a = &s->argv[from + i];

		if (until && (str_eq(a->s, ";") ||
				     (str_eq(a->s, "+") && i > 0 &&
					     str_eq(a[-1].s, "{}")))) {
			end = i;
			break;
		}
		/* parallel CMD :::: FILE: what is in the file, it is given */
		files = str_eq(a->s, "::::") ||
			(files && !str_eq(a->s, ":::"));
		if (files && s->style & IMG_S_INTERP)
			judge_path(s->k, a, PATH_READ);
		argv[i] = *a;
		if (until)
			found_files(s, &argv[i], dirs);
		else
			replace(s, &argv[i]);
	}
	if (it.type == IMG_T_CMDDATA && !s->replace && end > 0)
		argv[end++] =
			(struct arg){.s = SHELL_ANY_S,
				.many = true,
				.unknown = true};
	if (until) {
		s->i = from + end;
		if (dirs)
			in_their_dirs(s, argv, end);
		else
			judge_argv(s->k, argv, end);
		return;
	}
	if (s->style & IMG_S_TEXT && end) {
		as_line(s, argv, end);
		return;
	}
	s->out->cmd = argv;
	s->out->cmd_count = end;
	s->done = true;
}
