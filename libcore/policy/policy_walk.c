/* policy_walk.c - what the shell walker comes upon, piece by piece
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "sys/file.h"
#include "base/path.h"
#include "policy/policy_judge_in.h"
#include "base/str.h"

bool judge_spent(struct judge *j)
{
	size_t cost = j->work + j->arena->used / JUDGE_BYTES;

	if (j->walk)
		cost += shell_walk_steps(j->walk);
	j->spent |= cost > j->most;
	return j->spent;
}

/* Is the walk over? Nothing can make the verdict stricter, or nobody wants the
 * rest. */
static int heard_enough(struct judge *j)
{
	return judge_spent(j) || (j->worst.rule[0] && !j->each &&
					 j->worst.would == POLICY_DENY);
}

/* A pattern, or text that may be one, lists directories. */
static void note_glob(struct judge_cmd *k, const struct arg *a)
{
	const char *cwd = judge_cwd(k);

	if (!a->glob && !(a->many && a->unknown))
		return;
	k->j->is |= POLICY_IS_OPENING;
	if (a->unknown || a->s[0] == '/' || str_find(a->s, "..") ||
		strchr(cwd, SHELL_ANY) || !path_beneath(k->j->root, cwd))
		k->j->is |= POLICY_IS_STRAYING;
}

static int on_command(
	void *ctx, struct shell_walk *w, const struct shell_cmd *cmd)
{
	struct judge *j = ctx;
	struct judge_cmd k = judge_begin(j, cmd->span);
	struct arg *argv;

	j->walk = w;
	if (cmd->resolve == SHELL_IS_FUNCTION)
		return heard_enough(j);
	k.cmd = cmd;
	k.cwd = cmd->cwd;
	argv = arena_zalloc(j->arena, (cmd->argc + 1) * sizeof *argv);
	for (size_t i = 0; argv && i < cmd->argc; i++) {
		const struct shell_val *v = &cmd->argv[i];

		argv[i] = judge_arg(j, v->text.p, v->text.n);
		argv[i].many = v->many;
		argv[i].glob = v->glob;
		note_glob(&k, &argv[i]);
	}
	if (!argv || j->arena->failed)
		judge_raise(&k, POLICY_OPEN, "limit",
			"the command is too large to be judged");
	else
		judge_argv(&k, argv, cmd->argc);
	judge_end(&k);
	return heard_enough(j);
}

static int on_set(void *ctx, struct shell_walk *w, const struct shell_set *s)
{
	struct judge *j = ctx;
	struct judge_cmd k = judge_begin(j, s->span);
	const char *name = judge_text(j, s->name.p, s->name.n);

	j->walk = w;
	str_copy(k.v.command, sizeof(k.v.command), name);
	judge_setenv(&k, name, shell_val_text(&s->value), s->unset);
	judge_end(&k);
	return heard_enough(j);
}

static int on_open(void *ctx, struct shell_walk *w, const struct shell_open *o,
	const struct shell_val *cwd)
{
	struct judge *j = ctx;
	struct judge_cmd k = judge_begin(j, o->span);

	j->walk = w;
	k.open = o;
	k.cwd = cwd;
	judge_path_val(&k, &o->path, o->writes ? PATH_WRITE : PATH_READ);
	judge_end(&k);
	return heard_enough(j);
}

static int on_chdir(void *ctx, struct shell_walk *w,
	const struct shell_val *target, struct shell_span span)
{
	struct judge *j = ctx;
	struct judge_cmd k = judge_begin(j, span);

	j->walk = w;
	memcpy(k.v.command, "cd", 3);
	k.cwd = target;
	judge_path_val(&k, target, PATH_PLACE);
	judge_end(&k);
	return heard_enough(j);
}

/* In the order of enum shell_risk. */
static const char risk_rules[] =
	"dynamic\0dynamic\0source\0alias\0dynamic\0hidden-code\0name\0"
	"limit\0unparsable\0dialect\0";

static int on_risk(void *ctx, struct shell_walk *w, enum shell_risk risk,
	struct shell_str what, struct shell_span span)
{
	struct judge *j = ctx;
	struct judge_cmd k = judge_begin(j, span);
	const char *piece = judge_text(j, what.p, what.n > 60 ? 60 : what.n);

	j->walk = w;
	str_copy(k.v.command, sizeof(k.v.command), judge_show(j, piece));
	judge_raise(&k, POLICY_OPEN, str_nth(risk_rules, risk), "%s%s%s",
		shell_risk_text(risk), *piece ? ": " : "",
		judge_show(j, piece));
	judge_end(&k);
	return heard_enough(j);
}

const struct shell_walk_ops judge_walk_ops = {
	.command = on_command,
	.set = on_set,
	.open = on_open,
	.chdir = on_chdir,
	.risk = on_risk,
	.getvar = judge_getvar,
};
