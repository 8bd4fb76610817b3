/* profile_apply.c - a recipe's wishes: for good, for eval, or for one command
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "sys/file.h"
#include "profile.h"
#include "profile_change.h"
#include "profile/profile_recipe.h"
#include "base/str.h"

static void load_recipe(struct profile_recipe *r, const char *path)
{
	autobuf struct buf text = BUF_INIT(RECIPE_MAX);
	struct diag d = {0};
	int err = str_eq(path, "-") ? buf_read_fd(&text, 0)
				    : file_read(AT_FDCWD, path, &text);

	if (err)
		cli_die(EXIT_USAGE, "%s: %s", path, strerror(-err));
	err = profile_recipe_parse(r, buf_str(&text), text.len, &d);
	if (err) {
		diag_at(&d, path, d.line, d.col);
		cli_die_diag(EXIT_USAGE, &d);
	}
}

static void to_items(struct profile_items *items, struct profile_recipe *r,
	const struct profile_who *who, const struct profile_opts *o)
{
	/* The spec's path_append goes in front: its own lines say so. */
	profile_items_add(items, who, o,
		o->append ? PROFILE_APPEND : PROFILE_PREPEND, (int)r->dirs,
		r->dir);
	profile_items_add(items, who, o, PROFILE_VAR, (int)r->pairs, r->pair);
}

/* post_env, or what amounts to it. */
static void session_text(struct buf *out, struct profile_recipe *r,
	const struct profile_who *who, const struct profile_opts *o,
	enum shell_family family)
{
	autoclean(profile_items_release) struct profile_items items =
		PROFILE_ITEMS_INIT;
	const char *home = family > FAMILY_CSH ? who->home : NULL;

	if (r->post_env && family == FAMILY_SH) {
		buf_addf(out, "%s\n", r->post_env);
		return;
	}
	to_items(&items, r, who, o);
	for (size_t i = 0; i < items.count; i++) {
		size_t k = profile_in_order(&items, i);
		struct diag d = {0};

		if (profile_line(out, family, &items.item[k], home, &d))
			cli_die_diag(EXIT_USAGE, &d);
	}
	if (!items.count)
		cli_die(PROFILE_EXIT_REFUSED,
			"post_env is written for sh, not for %s",
			shellkind_name(who->kind));
}

static int run_then(struct profile_recipe *r, const struct profile_who *who,
	const struct profile_opts *o, int argc, char **argv)
{
	autobuf struct buf text = BUF_INIT(1 << 18);
	autofree char **args = profile_alloc(((size_t)argc + 5) * sizeof *args);
	char shell[] = "/bin/sh", flag[] = "-c";
	int err;

	if (argc < 1)
		cli_die(EXIT_USAGE, "--then: a command is missing behind --");
	session_text(&text, r, who, o, FAMILY_SH);
	/* Only what post_env leaves behind runs the command. */
	buf_adds(&text, "[ $? -eq 0 ] || exit 125\nexec \"$@\"\n");
	buf_str(&text);
	if (text.err)
		cli_die(EXIT_OURS, "the recipe is too long");
	args[0] = shell;
	args[1] = flag;
	args[2] = text.data;
	args[3] = argv[0];
	for (int i = 0; i < argc; i++)
		args[4 + i] = argv[i];
	execve(shell, args, profile_environ());
	err = errno;
	cli_die(err == ENOENT ? EXIT_NOTFOUND : EXIT_DENIED, "%s: %s", shell,
		strerror(err));
}

int profile_verb_apply(void *into, int argc, char **argv)
{
	struct profile_opts *o = into;
	struct profile_opts as_caller = *o;
	struct profile_who who;
	struct profile_recipe r;
	autoclean(profile_items_release) struct profile_items items =
		PROFILE_ITEMS_INIT;

	if (argc < 2)
		cli_die(EXIT_USAGE, "apply: RECIPE.json is missing");
	load_recipe(&r, argv[1]);
	if (o->then || o->session) {
		/* Nothing is written, so root's rights need not be given up. */
		as_caller.system = true;
		profile_who_find(&who, &as_caller);
		if (o->then)
			return run_then(&r, &who, o, argc - 2, argv + 2);
		{
			autobuf struct buf out = BUF_INIT(1 << 18);

			session_text(
				&out, &r, &who, o, shellkind_family(who.kind));
			cli_print(&out);
			return EXIT_OK;
		}
	}
	if (argc > 2)
		cli_die(EXIT_USAGE, "apply: a command needs --then");
	profile_who_find(&who, o);
	if (!r.dirs && !r.pairs)
		cli_die(PROFILE_EXIT_REFUSED,
			"%s has only post_env, for one session: --session "
			"prints it, --then -- COMMAND runs with it",
			argv[1]);
	to_items(&items, &r, &who, o);
	return profile_change_items(&items, &who, o);
}
