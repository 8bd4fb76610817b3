/* envrun_end.c - what is there to do when a line's shell ends?
 * SPDX-License-Identifier: MIT
 */
#include "envrun.h"

#include <string.h>

#include "shell/shell_walk.h"
#include "base/str.h"

struct reading {
	bool traps;   /* it may set an EXIT trap */
	bool changes; /* something of the shell's may change, or be changed by it */
};

/* Does all that a shell does for it leave the shell as it was? What a builtin
 * sets is told by itself, but for mksh's test, which calculates. */
static bool is_harmless(const struct shell_cmd *cmd)
{
	const struct shell_str *name = shell_val_text(&cmd->argv[0]);

	if (!name || cmd->argv[0].glob)
		return false;
	/* kill ends the shell itself. */
	if (cmd->resolve == SHELL_IS_PROGRAM)
		return !shell_str_is(*name, "kill");
	/* In some shells ':' keeps what stands before it. */
	return cmd->resolve == SHELL_IS_BUILTIN && !cmd->nsets &&
		(shell_str_is(*name, ":") || shell_str_is(*name, "printf"));
}

static int on_command(
	void *ctx, struct shell_walk *w, const struct shell_cmd *cmd)
{
	struct reading *r = ctx;
	bool named = false, open = false;

	(void)w;
	for (size_t i = 0; i < cmd->argc; i++) {
		named |= shell_str_is(cmd->argv[i].text, "trap");
		open |= cmd->argv[i].kind != SHELL_CONST;
	}
	r->traps |= named || cmd->argv[0].kind != SHELL_CONST ||
		(open && cmd->resolve != SHELL_IS_PROGRAM);
	r->changes |= !is_harmless(cmd);
	return 0;
}

static int on_set(void *ctx, struct shell_walk *w, const struct shell_set *set)
{
	struct reading *r = ctx;

	(void)w;
	r->changes |= !set->prefix;
	return 0;
}

static int on_risk(void *ctx, struct shell_walk *w, enum shell_risk risk,
	struct shell_str what, struct shell_span span)
{
	(void)ctx;
	(void)w;
	(void)risk;
	(void)what;
	(void)span;
	return 1;
}

enum envrun_end envrun_end_of(const char *line)
{
	static const struct shell_walk_ops ops = {.command = on_command,
		.set = on_set, .risk = on_risk};
	static const struct shell_walk_opts opts = {.dialect = SHELL_UNION};
	static const char ways[][7] = {"trap", "eval", "source", ". "};
	autoarena struct arena a = ARENA_INIT(SHELL_MAX_WALK);
	struct reading r = {0};

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++)
		if (str_find(line, ways[i]))
			return ENVRUN_END_TRAPS;
	if (shell_walk(&a, line, strlen(line), &opts, &ops, &r, NULL))
		r.traps = r.changes = true;
	/* Arithmetic may assign a variable that the text of another one names, as
	 * in $((V)), ${x:V} and x[V] with V='B=2'. */
	r.changes |= str_find(line, "((") || strchr(line, '[') ||
		(str_find(line, "${") && strchr(line, ':'));
	/* The letters of most tell that they name no trap. */
	if (r.traps && line[strcspn(line, "'\"\\$`*?[{")])
		return ENVRUN_END_TRAPS;
	return r.changes ? ENVRUN_END_DUMPS : ENVRUN_END_SAME;
}
