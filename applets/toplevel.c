/* toplevel.c - wardbox called by its own name, without an applet
 * SPDX-License-Identifier: MIT
 */
#include "toplevel.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "applet.h"
#include "base/kconfig.h"
#include "base/path.h"
#include "base/str.h"
#include "version.h"

struct toplevel {
	bool list, version, json, hard, dry_run;
	const char *links;
	const char *completion;
};

static const struct cli_opt options[] = {
	CLI_FLAG('l', struct toplevel, list, "list", "list the applets"),
	CLI_FLAG('V', struct toplevel, version, "version",
		"print version, commit, applets and limits"),
	CLI_FLAG('j', struct toplevel, json, "json",
		"print --list or --version as JSON"),
	CLI_STR(0, struct toplevel, links, "install-links", "DIR",
		"make a symbolic link per applet name in DIR"),
	CLI_FLAG(0, struct toplevel, hard, "hard",
		"with --install-links: make hard links"),
	CLI_FLAG('n', struct toplevel, dry_run, "dry-run",
		"with --install-links: only say what would be made"),
	CLI_STR(0, struct toplevel, completion, "completion", "SHELL",
		"print completions for bash, zsh or fish"),
};

static const struct cli_spec spec = {
	.name = "",
	.usage = "APPLET [ARGUMENT...] | [OPTION...]",
	.about = "Runs commands that nobody trusts: decided, confined, recorded.",
	.example = "wardbox sh -c 'echo hello'\n"
		   "wardbox --install-links ~/bin",
	CLI_OPTS(options),
};

static bool is_pattern(const char *name)
{
	return strchr(name, '*');
}

static void json_applets(struct json *j)
{
	json_open(j, '[');
	for (size_t i = 0; i < applet_names_count; i++) {
		const struct applet_name *row = &applet_names[i];

		if (!row->about)
			continue;
		json_putf(j, "{ name %s about %s aliases [", row->name,
			row->about);
		for (size_t k = 0; k < applet_names_count; k++)
			if (applet_names[k].applet == row->applet && k != i)
				json_str(j, applet_names[k].name);
		json_putf(j, "] }");
	}
	json_close(j);
}

static int print_list(bool as_json)
{
	autobuf struct buf out = BUF_INIT(1 << 16);
	struct json j = JSON_INIT(&out);

	if (as_json) {
		json_applets(&j);
		buf_addc(&out, '\n');
	}
	for (size_t i = 0; i < applet_names_count && !as_json; i++) {
		const struct applet_name *row = &applet_names[i];

		if (!row->about)
			continue;
		buf_addf(&out, "%-14s%s\n", row->name, row->about);
	}
	cli_print(&out);
	return EXIT_OK;
}

static int print_version(bool as_json)
{
	autobuf struct buf out = BUF_INIT(1 << 16);
	struct json j = JSON_INIT(&out);

	if (as_json) {
		json_putf(&j, "{ version %s commit %s applets",
			WARDBOX_VERSION, WARDBOX_COMMIT);
		json_applets(&j);
		json_putf(&j, "limits { line %ju environment %ju",
			(uintmax_t)CONFIG_LIMIT_LINE,
			(uintmax_t)CONFIG_LIMIT_ENV);
		json_end(&j);
	} else {
		buf_addf(&out, "wardbox %s (%s)\napplets:", WARDBOX_VERSION,
			WARDBOX_COMMIT);
		for (size_t i = 0; i < applet_names_count; i++)
			if (applet_names[i].about)
				buf_addf(&out, " %s", applet_names[i].name);
		buf_addf(&out,
			"\nlimits: command line %d bytes, environment %d bytes\n",
			CONFIG_LIMIT_LINE, CONFIG_LIMIT_ENV);
	}
	cli_print(&out);
	return EXIT_OK;
}

static int print_usage(void)
{
	autobuf struct buf out = BUF_INIT(1 << 16);

	cli_help(&spec, &out);
	buf_adds(&out, "\nApplets ('wardbox APPLET --help' says more):\n");
	for (size_t i = 0; i < applet_names_count; i++)
		if (applet_names[i].about)
			buf_addf(&out, "  %-14s%s\n", applet_names[i].name,
				applet_names[i].about);
	cli_print(&out);
	return EXIT_OK;
}

/* Makes one link in the directory, or with --dry-run only looks. A name that is
 * there is never replaced. 0, or -errno when the link could not be made or the
 * name is something else. */
static int make_link(
	const struct toplevel *t, int dir, const char *self, const char *name)
{
	struct stat there, here;
	int err = t->dry_run ? fstatat(dir, name, &there, AT_SYMLINK_NOFOLLOW)
		: t->hard    ? linkat(AT_FDCWD, self, dir, name, 0)
			     : symlinkat(self, dir, name);

	if (t->dry_run ? err : !err)
		return 0;
	if (err && errno != EEXIST)
		return -errno;
	if (fstatat(dir, name, &there, 0) || stat(self, &here))
		return -EEXIST;
	return there.st_dev == here.st_dev && there.st_ino == here.st_ino
		? 0
		: -EEXIST;
}

static int install_links(const struct toplevel *t)
{
	static char self[PATH_MAX];
	autofd int dir = open(t->links, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	autobuf struct buf out = BUF_INIT(1 << 16);
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	int code = EXIT_OK;

	if (dir < 0)
		cli_die(EXIT_FOUND, "%s: %s", t->links, strerror(errno));
	if (n < 0)
		cli_die(EXIT_FOUND, "/proc/self/exe: %s (is /proc mounted?)",
			strerror(errno));
	self[n] = '\0';
	for (size_t i = 0; i < applet_names_count; i++) {
		const char *name = applet_names[i].name;
		int err;

		if (is_pattern(name))
			continue;
		err = make_link(t, dir, self, name);
		if (err) {
			cli_warn("%s/%s: %s", t->links, name, strerror(-err));
			code = EXIT_FOUND;
			continue;
		}
		buf_addf(&out, "%s/%s -> %s\n", t->links, name, self);
	}
	cli_print(&out);
	return code;
}

int toplevel_run(int argc, char **argv)
{
	struct toplevel t = {0};
	int first;

	if (argc < 2 || str_eq(argv[1], "--help") || str_eq(argv[1], "-h"))
		return print_usage();
	first = cli_parse(&spec, &t, argc, argv);
	if (first < argc)
		cli_die_usage(&spec, "unexpected '%s'", argv[first]);
	if (t.links)
		return install_links(&t);
	if (t.completion)
		return completion_print(t.completion, &spec);
	if (t.version)
		return print_version(t.json);
	return print_list(t.json);
}
