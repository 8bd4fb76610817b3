/* profile_change.c - add, append, set, remove
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profile/confinement.h"
#include "sys/env.h"
#include "sys/file.h"
#include "profile.h"
#include "profile_change.h"
#include "base/str.h"

int profile_refuse_useless(const struct profile_who *who,
	const struct profile_opts *o, struct diag *d)
{
	struct profile_who seen = *who;

	profile_who_parents(&seen);
	if (seen.restricted)
		diag_fail(d, 0,
			"the shell is restricted (%s): its startup files are "
			"the administrator's to change",
			seen.shell[0] ? seen.shell : seen.current);
	else if (o->force || !confinement_forbids_profile(profile_environ(), d))
		return EXIT_OK;
	cli_diag(d);
	return PROFILE_EXIT_REFUSED;
}

static int run_change(const struct profile_act *act,
	const struct profile_who *who, const struct profile_opts *o)
{
	autoclean(profile_goals_release) struct profile_goals goals = {0};
	struct diag d = {0};
	int err;

	/* A block is removed wherever it was put, unless an option says
	 * where. */
	if (act->remove && !o->file && !o->scope)
		profile_goals_with_block(&goals, who, o);
	err = goals.count ? 0 : profile_goals_find(&goals, who, o, &d);
	if (err) {
		cli_diag(&d);
		return profile_code(err);
	}
	return profile_act_run(act, &goals, who, o);
}

size_t profile_in_order(const struct profile_items *items, size_t i)
{
	const struct profile_item *item = items->item;
	size_t before = 0, k = items->count;

	if (item[i].what != PROFILE_PREPEND)
		return i;
	for (size_t j = 0; j < i; j++)
		before += item[j].what == PROFILE_PREPEND;
	/* As many of them behind it as there are in front of this one. */
	do
		k--;
	while (item[k].what != PROFILE_PREPEND || before--);
	return k;
}

static bool has_line(const struct buf *text, const char *line, size_t n)
{
	for (size_t at = 0; at < text->len;) {
		const char *one = text->data + at;
		size_t len = str_line(one, text->len - at);

		if (len == n && memcmp(one, line, n) == 0)
			return true;
		at += len + 1;
	}
	return false;
}

/* Appends the lines to the file that the variable names, which later steps of
 * the job read; without a variable, prints them. */
static int give_lines(const char *variable, const struct buf *lines,
	const struct profile_opts *o)
{
	const char *path =
		*variable ? env_get(profile_environ(), variable) : NULL;
	autobuf struct buf there = BUF_INIT(1 << 20);
	autobuf struct buf add = BUF_INIT(1 << 20);
	autofd int fd = -1;
	int err = 0;

	if (*variable && (!path || path[0] != '/'))
		cli_die(PROFILE_EXIT_REFUSED, "%s is not set", variable);
	if (path)
		err = file_read(AT_FDCWD, path, &there);
	if (err && err != -ENOENT)
		cli_die(PROFILE_EXIT_WRITE, "%s: %s", path, strerror(-err));
	for (size_t at = 0; at < lines->len;) {
		const char *line = lines->data + at;
		size_t n = strcspn(line, "\n");

		if (!has_line(&there, line, n))
			buf_add(&add, line, n + 1);
		at += n + 1;
	}
	if (!path || o->dry_run || !add.len) {
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

/* How CI systems take what the next steps need. A system is known by what it
 * sets; in its lines '@' is the directory or value and '$' the variable's name,
 * and none means sh's. */
static const struct ci {
	char sign[12], path_to[12], vars_to[11];
	char path[25], var[38];
} systems[] = {
	/* GitHub, Gitea and Forgejo: a raw directory per line; the last one
	 * comes first. */
	{"GITHUB_PATH", "GITHUB_PATH", "GITHUB_ENV", "@", "$=@"},
	/* Azure reads commands in the output. */
	{"TF_BUILD", "", "", "##vso[task.prependpath]@",
		"##vso[task.setvariable variable=$]@"},
	/* CircleCI's steps source one file. */
	{"CIRCLECI", "BASH_ENV", "BASH_ENV", "", ""},
	/* GitLab, Travis, Buildkite and others run a job's lines in one shell,
	 * and take nothing from a child of it: for eval. */
	{"CI", "", "", "", ""},
};

static const struct ci *find_ci(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(systems); i++) {
		const char *value = env_get(profile_environ(), systems[i].sign);

		if (value && *value)
			return &systems[i];
	}
	cli_die(PROFILE_EXIT_REFUSED, "no CI system that is known here "
				      "(GITHUB_PATH, TF_BUILD, CIRCLECI, CI)");
}

/* Azure's own escape for what begins an escape. */
static void add_value(struct buf *out, const struct ci *ci, const char *value)
{
	for (; *value; value++) {
		if (*value == '%' && ci->path[0] == '#')
			buf_adds(out, "%AZP25");
		else
			buf_addc(out, *value);
	}
}

static void add_ci_line(struct buf *out, const struct ci *ci,
	const struct profile_item *item, const struct profile_who *who)
{
	const char *line = item->what == PROFILE_VAR ? ci->var : ci->path;
	struct diag d = {0};

	if (!*line) {
		if (profile_line(out, FAMILY_SH, item, NULL, &d))
			cli_die_diag(EXIT_USAGE, &d);
		return;
	}
	for (; *line; line++) {
		if (*line == '$') {
			buf_adds(out, item->name);
		} else if (*line != '@') {
			buf_addc(out, *line);
		} else if (item->what == PROFILE_VAR) {
			size_t n = profile_home_prefix(item->value);

			buf_adds(out, n ? who->home : "");
			add_value(out, ci, item->value + n);
		} else {
			add_value(out, ci, item->dir->text);
		}
	}
	buf_addc(out, '\n');
}

static int tell_ci(const struct profile_items *items,
	const struct profile_who *who, const struct profile_opts *o)
{
	const struct ci *ci = find_ci();
	autobuf struct buf path = BUF_INIT(1 << 20);
	autobuf struct buf vars = BUF_INIT(1 << 20);
	int code = EXIT_OK;

	for (size_t i = 0; i < items->count; i++) {
		size_t k = profile_in_order(items, i);

		add_ci_line(items->item[k].what == PROFILE_VAR ? &vars : &path,
			ci, &items->item[k], who);
	}
	buf_str(&path);
	buf_str(&vars);
	if (path.len)
		code = give_lines(ci->path_to, &path, o);
	if (vars.len && !code)
		code = give_lines(ci->vars_to, &vars, o);
	return code;
}

static int print_docker(
	const struct profile_items *items, const struct profile_who *who)
{
	autobuf struct buf out = BUF_INIT(1 << 20);
	struct diag d = {0};

	for (size_t i = 0; i < items->count; i++) {
		size_t k = profile_in_order(items, i);

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
	char *copy;
	struct profile_opts forced = *o;

	if (!str_is_name(word, strlen(word))) {
		profile_items_add(items, who, o, PROFILE_PREPEND, 1, &word);
		return;
	}
	copy = strdup(BUF_PRINT(pair, "%s=", word));
	if (!copy || !*copy)
		cli_die(EXIT_USAGE, "%s: too long", word);
	/* A variable may be removed, however it came in. */
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
