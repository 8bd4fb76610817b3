/* profile_change.c - add, append, set, remove
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "confinement.h"
#include "env.h"
#include "file.h"
#include "profile.h"
#include "profile_change.h"
#include "str.h"

void profile_refuse_useless(
	const struct profile_who *who, const struct profile_opts *o)
{
	struct profile_who seen = *who;
	struct diag d = {0};

	profile_who_parents(&seen);
	if (seen.restricted)
		cli_die(PROFILE_EXIT_REFUSED,
			"the shell is restricted (%s): its startup files are "
			"the administrator's to change",
			seen.shell[0] ? seen.shell : seen.current);
	if (who->kind == SHELL_NOLOGIN && !o->file && !o->system)
		cli_die(PROFILE_EXIT_REFUSED,
			"%s is no shell to log in with; --shell NAME says for "
			"which one to write",
			who->shell);
	if (!o->force && !o->dry_run &&
		confinement_forbids_profile(profile_environ(), &d))
		cli_die_diag(PROFILE_EXIT_REFUSED, &d);
}

static int run_change(const struct profile_act *act,
	const struct profile_who *who, const struct profile_opts *o)
{
	autoclean(profile_goals_release) struct profile_goals goals = {0};
	struct diag d = {0};
	int err;

	/* What is taken out is wherever it was put, unless told otherwise. */
	if (act->remove && !o->file && !o->system && !o->scope)
		profile_goals_with_block(&goals, who, o);
	err = goals.count ? 0 : profile_goals_find(&goals, who, o, &d);
	if (err) {
		cli_diag(&d);
		return profile_code(err);
	}
	return profile_act_run(act, &goals, who, o);
}

/* GitHub's runner takes a raw directory per line; the last one comes first. */
static bool file_has_line(const struct buf *text, const char *line, size_t n)
{
	for (size_t at = 0; at < text->len;) {
		const char *nl = memchr(text->data + at, '\n', text->len - at);
		size_t len =
			nl ? (size_t)(nl - text->data) - at : text->len - at;

		if (len == n && memcmp(text->data + at, line, n) == 0)
			return true;
		at += len + 1;
	}
	return false;
}

static int append_lines(const char *variable, const struct buf *lines,
	const struct profile_opts *o)
{
	const char *path = env_get(profile_environ(), variable);
	autobuf struct buf there = BUF_INIT(1 << 20);
	autobuf struct buf add = BUF_INIT(1 << 20);
	autofd int fd = -1;
	int err;

	if (!path || path[0] != '/')
		cli_die(PROFILE_EXIT_REFUSED,
			"%s is not set: no CI system that is known here",
			variable);
	err = file_read(AT_FDCWD, path, &there);
	if (err && err != -ENOENT)
		cli_die(PROFILE_EXIT_WRITE, "%s: %s", path, strerror(-err));
	for (size_t at = 0; at < lines->len;) {
		const char *line = lines->data + at;
		size_t n = strcspn(line, "\n");

		if (!file_has_line(&there, line, n))
			buf_add(&add, line, n + 1);
		at += n + 1;
	}
	if (o->dry_run || !add.len) {
		cli_print(&add);
		return EXIT_OK;
	}
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
	err = fd < 0 ? -errno : file_write_all(fd, add.data, add.len);
	if (err)
		cli_die(PROFILE_EXIT_WRITE, "%s: %s", path, strerror(-err));
	if (!o->quiet)
		cli_warn("added to %s (%s)", path, variable);
	return EXIT_OK;
}

static int tell_ci(const struct profile_items *items,
	const struct profile_who *who, const struct profile_opts *o)
{
	autobuf struct buf path = BUF_INIT(1 << 20);
	autobuf struct buf vars = BUF_INIT(1 << 20);
	int code = EXIT_OK;

	for (size_t i = items->count; i-- > 0;) {
		const struct profile_item *item = &items->item[i];
		size_t prefix;

		if (item->what != PROFILE_VAR) {
			buf_addf(&path, "%s\n", item->dir->text);
			continue;
		}
		prefix = profile_home_prefix(item->value);
		buf_addf(&vars, "%s=%s%s\n", item->name,
			prefix ? who->home : "", item->value + prefix);
	}
	buf_str(&path);
	buf_str(&vars);
	if (path.len)
		code = append_lines("GITHUB_PATH", &path, o);
	if (vars.len && !code)
		code = append_lines("GITHUB_ENV", &vars, o);
	return code;
}

static int print_docker(
	const struct profile_items *items, const struct profile_who *who)
{
	autobuf struct buf out = BUF_INIT(1 << 20);
	struct diag d = {0};

	for (size_t i = 0; i < items->count; i++) {
		size_t k = items->item[i].what == PROFILE_PREPEND
				   ? items->count - 1 - i
				   : i;

		if (profile_line_docker(&out, &items->item[k],
			    who->home[0] ? who->home : NULL, &d))
			cli_die_diag(EXIT_USAGE, &d);
	}
	cli_print(&out);
	return EXIT_OK;
}

int profile_change_items(const struct profile_items *items,
	const struct profile_who *who, const struct profile_opts *o)
{
	struct profile_act act = {.items = items};

	if (o->docker)
		return print_docker(items, who);
	if (o->ci)
		return tell_ci(items, who, o);
	return run_change(&act, who, o);
}

static int add_items(
	struct profile_opts *o, enum profile_what what, int argc, char **argv)
{
	struct profile_who who;
	autoclean(profile_items_release) struct profile_items items =
		PROFILE_ITEMS_INIT;

	if (argc < 2)
		cli_die(EXIT_USAGE, "%s: %s is missing", argv[0],
			what == PROFILE_VAR ? "NAME=VALUE" : "a directory");
	profile_who_find(&who, o);
	profile_items_add(&items, &who, o, what, argc - 1, argv + 1);
	return profile_change_items(&items, &who, o);
}

int profile_verb_add(void *into, int argc, char **argv)
{
	struct profile_opts *o = into;

	return add_items(
		o, o->append ? PROFILE_APPEND : PROFILE_PREPEND, argc, argv);
}

int profile_verb_append(void *into, int argc, char **argv)
{
	return add_items(into, PROFILE_APPEND, argc, argv);
}

int profile_verb_set(void *into, int argc, char **argv)
{
	return add_items(into, PROFILE_VAR, argc, argv);
}

/* The family is only known per file: a bare name is a variable's. */
static void add_name(struct profile_items *items, const struct profile_who *who,
	const struct profile_opts *o, char *word)
{
	char pair[256];
	struct buf b = BUF_FIXED(pair);
	char *copy;
	struct profile_opts forced = *o;

	if (!str_is_name(word, strlen(word))) {
		profile_items_add(items, who, o, PROFILE_PREPEND, 1, &word);
		return;
	}
	buf_addf(&b, "%s=", word);
	copy = strdup(buf_str(&b));
	if (b.err || !copy)
		cli_die(EXIT_USAGE, "%s: too long", word);
	/* What is there may be taken out, however it came in. */
	forced.force = true;
	profile_items_add(items, who, &forced, PROFILE_VAR, 1, &copy);
}

int profile_verb_remove(void *into, int argc, char **argv)
{
	struct profile_opts *o = into;
	struct profile_who who;
	autoclean(profile_items_release) struct profile_items items =
		PROFILE_ITEMS_INIT;
	struct profile_act act = {.items = &items, .remove = true};

	profile_who_find(&who, o);
	for (int i = 1; i < argc; i++)
		add_name(&items, &who, o, argv[i]);
	return run_change(&act, &who, o);
}
