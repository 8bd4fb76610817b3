/* shell_unit.h - what a text reports to the caller of shell_walk(), as lines
 * SPDX-License-Identifier: MIT
 *
 * What is reported is written down in one line per event and compared as a
 * whole or searched:
 *   word word …     a command, f() before it when it calls a function; '~'
 *                   stands for what a glob matches, '#' for a number and '?'
 *                   for unknown text, a '*' behind for any number of words
 *   name=value      an assignment; name- one that is taken away
 *   <path >path     a file opened
 *   @path           a directory entered
 *   !text           a risk
 */
#ifndef WARDBOX_SHELL_UNIT_H
#define WARDBOX_SHELL_UNIT_H

#include "unit.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"
#include "shell/shell_walk.h"
#include "base/str.h"

struct record {
	struct buf out;
	unsigned commands;
};

static void put_str(struct buf *out, struct shell_str s)
{
	for (size_t i = 0; i < s.n; i++)
		buf_addc(out, s.p[i] == SHELL_REL   ? '~'
			      : s.p[i] == SHELL_ANY ? '?'
			      : s.p[i] == SHELL_NUM ? '#'
			      : s.p[i] == '\n'      ? '/'
						    : s.p[i]);
}

static void put_val(struct buf *out, const struct shell_val *v)
{
	put_str(out, v->text);
	if (v->many)
		buf_addc(out, '*');
}

/* sh -c TEXT NAME ARGS, env -i sh -c TEXT */
static int child(struct shell_walk *w, const struct shell_cmd *cmd)
{
	const struct shell_str *name = shell_val_text(&cmd->argv[0]);
	bool clean = name && shell_str_is(*name, "env");
	size_t at = clean ? 4 : 2;
	struct shell_child c = {.dialect = SHELL_UNION, .clean = clean};

	if (!name || cmd->argc <= at ||
		(!clean && !shell_str_is(*name, "sh")))
		return 0;
	c.text = &cmd->argv[at];
	c.args = cmd->argv + at + 1;
	c.nargs = cmd->argc - at - 1;
	return shell_walk_child(w, &c);
}

static int on_command(
	void *ctx, struct shell_walk *w, const struct shell_cmd *cmd)
{
	struct record *r = ctx;

	r->commands++;
	if (cmd->resolve == SHELL_IS_FUNCTION)
		buf_adds(&r->out, "f() ");
	for (size_t i = 0; i < cmd->argc; i++) {
		if (i)
			buf_addc(&r->out, ' ');
		put_val(&r->out, &cmd->argv[i]);
	}
	if (cmd->input == SHELL_IN_PIPE)
		buf_adds(&r->out, " <-pipe");
	if (cmd->input == SHELL_IN_UNKNOWN)
		buf_adds(&r->out, " <-unknown");
	if (cmd->input == SHELL_IN_TEXT || cmd->input == SHELL_IN_FILE) {
		buf_adds(&r->out, cmd->input == SHELL_IN_TEXT ? " <-text "
							      : " <-file ");
		put_val(&r->out, cmd->input_text);
	}
	if (!shell_str_is(cmd->cwd->text, "/r")) {
		buf_adds(&r->out, " in ");
		put_val(&r->out, cmd->cwd);
	}
	buf_addc(&r->out, '\n');
	return child(w, cmd);
}

static int on_set(void *ctx, struct shell_walk *w, const struct shell_set *s)
{
	struct record *r = ctx;

	(void)w;
	put_str(&r->out, s->name);
	buf_addc(&r->out, s->unset ? '-' : '=');
	put_val(&r->out, &s->value);
	buf_addc(&r->out, '\n');
	return 0;
}

static int on_open(void *ctx, struct shell_walk *w, const struct shell_open *o,
	const struct shell_val *cwd)
{
	struct record *r = ctx;

	(void)w;
	(void)cwd;
	buf_adds(&r->out, o->reads && o->writes ? "<>" : o->reads ? "<" : ">");
	put_val(&r->out, &o->path);
	buf_addc(&r->out, '\n');
	return 0;
}

static int on_chdir(void *ctx, struct shell_walk *w,
	const struct shell_val *target, struct shell_span span)
{
	struct record *r = ctx;

	(void)w;
	(void)span;
	buf_addc(&r->out, '@');
	put_val(&r->out, target);
	buf_addc(&r->out, '\n');
	return 0;
}

static int on_risk(void *ctx, struct shell_walk *w, enum shell_risk risk,
	struct shell_str what, struct shell_span span)
{
	struct record *r = ctx;

	(void)w;
	(void)what;
	(void)span;
	buf_addf(&r->out, "!%s\n", shell_risk_text(risk));
	return 0;
}

static int on_getvar(void *ctx, struct shell_str name, struct shell_str *value)
{
	(void)ctx;
	if (shell_str_is(name, "odd"))
		*value = SHELL_STR("a\2b");
	else if (shell_str_is(name, "HOME"))
		*value = SHELL_STR("/home/u");
	else
		return shell_str_is(name, "made") ? -1 : 0;
	return 1;
}

static const struct shell_walk_ops ops = {
	on_command, on_set, on_open, on_chdir, on_risk, on_getvar};

static int walk(struct record *r, const char *line, enum shell_dialect dialect)
{
	struct arena a = ARENA_INIT(SHELL_MAX_WALK);
	struct shell_walk_opts opts = {.cwd = "/r", .dialect = dialect};
	int err;

	buf_clear(&r->out);
	r->commands = 0;
	err = shell_walk(&a, line, strlen(line), &opts, &ops, r, NULL);
	arena_release(&a);
	return err;
}

#endif
