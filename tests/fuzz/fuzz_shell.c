/* fuzz_shell.c - the shell parser, printer and walker on any text
 * SPDX-License-Identifier: MIT
 *
 * Besides the sanitizers: what is printed parses again, to a tree that prints
 * the same; and the caps hold.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "parts/shell_print.h"
#include "shell/shell_walk.h"

static void must(bool truth)
{
	if (!truth)
		abort();
}

/* What is known of a value fits to its text. */
static void check_val(const struct shell_val *v)
{
	must(v->text.n == 0 || v->text.p != NULL);
	must((v->kind == SHELL_UNKNOWN) == shell_str_unknown(v->text, false));
	must((v->kind != SHELL_CONST) == shell_str_unknown(v->text, true));
}

static int command(void *ctx, struct shell_walk *w, const struct shell_cmd *cmd)
{
	unsigned *commands = ctx;
	const struct shell_str *name = shell_val_text(&cmd->argv[0]);
	struct shell_child child = {.dialect = SHELL_UNION};

	++*commands;
	must(cmd->argc > 0 && cmd->cwd->text.n > 0);
	for (size_t i = 0; i < cmd->argc; i++)
		check_val(&cmd->argv[i]);
	if (!name || cmd->argc < 3 || !shell_str_is(*name, "sh"))
		return 0;
	child.text = &cmd->argv[2];
	child.args = cmd->argv + 3;
	child.nargs = cmd->argc - 3;
	return shell_walk_child(w, &child);
}

static int set(void *ctx, struct shell_walk *w, const struct shell_set *s)
{
	(void)ctx;
	(void)w;
	check_val(&s->value);
	return 0;
}

static int open(void *ctx, struct shell_walk *w, const struct shell_open *o,
	const struct shell_val *cwd)
{
	(void)ctx;
	(void)w;
	must(o->reads || o->writes);
	check_val(&o->path);
	check_val(cwd);
	must(cwd->text.n > 0);
	return 0;
}

static int getvar(void *ctx, struct shell_str name, struct shell_str *value)
{
	(void)ctx;
	must(name.n > 0);
	*value = SHELL_STR("a b\2");
	return name.p[0] == 'h' ? 1 : name.p[0] == 'i' ? -1 : 0;
}

static void check_print(
	const char *text, size_t len, enum shell_dialect dialect)
{
	struct arena a = ARENA_INIT(SHELL_MAX_ARENA);
	struct arena b = ARENA_INIT(SHELL_MAX_ARENA);
	struct buf one = BUF_INIT(1024 * 1024), two = BUF_INIT(1024 * 1024);
	struct shell_ast ast;
	int err;

	if (shell_parse(&a, text, len, dialect, &ast, NULL) == 0) {
		shell_print(&ast, &one);
		if (!one.err) {
			err = shell_parse(&b, buf_str(&one), one.len, dialect,
				&ast, NULL);
			must(err == 0 || err == -7 /* longer than the cap */);
			if (!err)
				shell_print(&ast, &two);
			must(err ||
				(one.len == two.len &&
					(!one.len || !memcmp(one.data, two.data,
							     one.len))));
		}
	}
	must(a.used <= SHELL_MAX_ARENA && ast.commands <= 4097);
	buf_release(&one);
	buf_release(&two);
	arena_release(&a);
	arena_release(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct shell_walk_ops ops = {
		.command = command, .set = set, .open = open, .getvar = getvar};
	struct shell_walk_opts opts = {.cwd = "/srv/proj"};
	struct arena a = ARENA_INIT(SHELL_MAX_WALK);
	unsigned commands = 0;

	if (!size)
		return 0;
	opts.dialect = data[0] % 4;
	if (opts.dialect != SHELL_UNION)
		check_print((const char *)data + 1, size - 1, opts.dialect);
	shell_walk(&a, (const char *)data + 1, size - 1, &opts, &ops, &commands,
		NULL);
	arena_release(&a);
	return 0;
}
