/* policy_sh.c - shell code within a command
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "policy/policy_judge_in.h"
#include "base/str.h"

static void to_val(const struct arg *a, struct shell_val *v)
{
	*v = (struct shell_val){
		.text = {a->s, strlen(a->s)}, .many = a->many};
	if (a->rel)
		v->kind = SHELL_BOUNDED;
	if (a->unknown)
		v->kind = SHELL_UNKNOWN;
}

/* Judges text within a walk, which knows the variables. */
static void judge_nested(struct judge_cmd *k, struct shell_val *text,
	const struct shell_val *args, size_t nargs, enum shell_dialect dialect)
{
	struct shell_child child = {.text = text,
		.dialect = dialect,
		.args = args,
		.nargs = nargs,
		.env = k->env,
		.nenv = k->nenv,
		.clean = k->clean,
		.cwd = k->cwd};
	int rc = shell_walk_child(k->j->walk, &child);

	if (rc < 0)
		judge_raise(k, POLICY_OPEN, "unparsable",
			"the nested shell code cannot be read");
}

/* Judges text of an execve, by a walk of its own. */
static void judge_alone(struct judge_cmd *k, const struct arg *text,
	const struct shell_val *args, size_t nargs, enum shell_dialect dialect)
{
	struct judge *j = k->j;
	struct shell_walk_opts opts = {.cwd = j->cwd,
		.dialect = dialect,
		.args = args,
		.nargs = nargs};
	struct diag d = {0};
	char *const *env = j->env;
	bool blind = j->blind;
	int rc;

	/* The environment does not hold what wrappers changed. */
	if (k->nenv || k->clean) {
		j->env = NULL;
		j->blind = true;
	}
	rc = shell_walk(j->arena, text->s, strlen(text->s), &opts,
		&judge_walk_ops, j, &d);
	j->env = env;
	j->blind = blind;
	j->walk = NULL;
	if (rc < 0)
		judge_raise(k, POLICY_OPEN, "unparsable", "%s", d.text);
}

void judge_sh(struct judge_cmd *k, const struct arg *text,
	const struct arg *args, size_t nargs, enum shell_dialect dialect)
{
	struct judge *j = k->j;
	struct shell_val *v = arena_zalloc(j->arena, (nargs + 1) * sizeof(*v));

	if (!v)
		return;
	if (text->unknown || text->many) {
		judge_raise(k, POLICY_OPEN, "dynamic",
			"the shell code is not known before it runs: %s",
			judge_show(j, text->s));
		return;
	}
	to_val(text, v);
	for (size_t i = 0; i < nargs; i++)
		to_val(&args[i], &v[i + 1]);
	if (j->walk)
		judge_nested(k, v, nargs ? v + 1 : NULL, nargs, dialect);
	else
		judge_alone(k, text, nargs ? v + 1 : NULL, nargs, dialect);
}

void judge_stdin_code(struct judge_cmd *k)
{
	const struct shell_val *text = k->cmd ? k->cmd->input_text : NULL;
	struct arg a;

	if (!k->cmd && k->j->depth)
		return;
	switch (k->cmd ? k->cmd->input : SHELL_IN_INHERIT) {
	case SHELL_IN_TEXT:
		if (!text)
			return;
		a = judge_arg(k->j, text->text.p, text->text.n);
		judge_sh(k, &a, k->args, k->nargs, SHELL_UNION);
		return;
	case SHELL_IN_PIPE:
	case SHELL_IN_UNKNOWN:
		judge_input(k, POLICY_OPEN, "a shell reads code from a pipe");
		return;
	case SHELL_IN_FILE:
		return;
	case SHELL_IN_INHERIT:
		judge_input(k, POLICY_OPEN, "a shell reads code that is not seen");
		return;
	}
}
