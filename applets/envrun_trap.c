/* envrun_trap.c - does a line's shell have something to do at its end?
 * SPDX-License-Identifier: MIT
 */
#include "envrun.h"

#include <string.h>

#include "shell_walk.h"
#include "str.h"

static int find_trap(
	void *ctx, struct shell_walk *w, const struct shell_cmd *cmd)
{
	bool named = false, open = false;

	(void)ctx;
	(void)w;
	for (size_t i = 0; i < cmd->argc; i++) {
		for (unsigned k = 0; k < cmd->argv[i].n; k++)
			named |= shell_str_is(cmd->argv[i].alts[k], "trap");
		open |= cmd->argv[i].kind > SHELL_SET;
	}
	return named || cmd->argv[0].kind > SHELL_SET ||
		(open && cmd->resolve != SHELL_IS_PROGRAM);
}

static int find_risk(void *ctx, struct shell_walk *w, enum shell_risk risk,
	struct shell_str what, struct shell_span span)
{
	(void)ctx;
	(void)w;
	(void)risk;
	(void)what;
	(void)span;
	return 1;
}

/* The line is read where its letters alone do not tell. */
bool envrun_may_trap(const char *line)
{
	static const struct shell_walk_ops ops = {
		.command = find_trap, .risk = find_risk};
	static const struct shell_walk_opts opts = {.dialect = SHELL_UNION};
	static const char ways[][7] = {"trap", "eval", "source", ". "};
	autoarena struct arena a = ARENA_INIT(SHELL_MAX_WALK);

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++)
		if (str_find(line, ways[i]))
			return true;
	return line[strcspn(line, "'\"\\$`*?[{")] &&
		shell_walk(&a, line, strlen(line), &opts, &ops, NULL, NULL);
}
