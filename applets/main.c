/* main.c - from argv[0] to the applet
 * SPDX-License-Identifier: MIT
 */
#include "applet.h"

#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "session/capture.h"
#include "sys/harden.h"
#include "base/kconfig.h"
#include "base/path.h"
#include "shim/shimlinks.h"
#include "base/str.h"
#include "toplevel.h"

extern char **environ;

const struct applet_name *applet_find(const char *name)
{
	name = path_base(name);
	if (*name == '-')
		name++;
	for (size_t i = 0; i < applet_names_count; i++)
		if (str_eq(applet_names[i].name, name))
			return &applet_names[i];
	for (size_t i = 0; i < applet_names_count; i++)
		if (strchr(applet_names[i].name, '*') &&
			str_glob(applet_names[i].name, name))
			return &applet_names[i];
	return NULL;
}

static int unknown_applet(const char *name)
{
	autobuf struct buf near = BUF_INIT(1024);

	for (size_t i = 0; i < applet_names_count; i++)
		if (str_distance(name, applet_names[i].name, 2) <= 2)
			buf_addf(&near, "%s%s", near.len ? ", " : " (near: ",
				applet_names[i].name);
	if (near.len)
		buf_addc(&near, ')');
	cli_warn("no applet '%s'%s; 'wardbox --list' names them all", name,
		buf_str(&near));
	return EXIT_NOTFOUND;
}

/* By argv[0], unless it is a shell's file that was executed under another name:
 * a shim is what the kernel says, as every caller of a shell may choose its
 * argv[0]. */
static const struct applet_name *find_called(const char *argv0)
{
	const struct applet_name *found = applet_find(argv0);
	const char *file = (const char *)getauxval(AT_EXECFN);
	char path[1024];

	if (found && file && str_eq(path_base(file), path_base(argv0)))
		return found;
	if (!shim_called(argv0, file, path, sizeof path))
		return applet_find("sh");
	return found;
}

static int print_help(const struct cli_spec *spec)
{
	autobuf struct buf out = BUF_INIT(1 << 16);

	cli_help(spec, &out);
	cli_print(&out);
	return EXIT_OK;
}

static int run_applet(const struct applet_name *found, int argc, char **argv)
{
	char name[64];
	struct buf b = BUF_FIXED(name);

	buf_addf(&b, "wardbox %s", found->applet->cli->name);
	cli_name(buf_str(&b));
	return found->applet->run(argc, argv);
}

/* The helper that a shell of envrun becomes at its end writes one file; nothing
 * can attack it, so it is not hardened. */
static bool is_dump(int argc, char **argv)
{
	return IS_ENABLED(CONFIG_APPLET_ENVRUN) && argc == 4 &&
		str_eq(argv[1], capture_argv[1]) &&
		str_eq(argv[2], capture_argv[2]) &&
		str_after(path_base(argv[0]), capture_argv[0]);
}

int main(int argc, char **argv)
{
	const struct applet_name *found;
	const char *name;
	bool help;
	int err;

	if (is_dump(argc, argv))
		return capture_dump(argv[3], environ);
	err = harden_relro();
	if (err)
		cli_die(EXIT_OURS, "cannot seal read-only data: %s",
			strerror(-err));
	err = harden_stdio(NULL);
	if (err)
		_exit(EXIT_OURS);
	if (argc < 1 || !argv[0])
		cli_die(EXIT_OURS, "called without a name (argc is 0)");
	found = find_called(argv[0]);
	if (found)
		return run_applet(found, argc, argv);
	/* "exe": a running wardbox hands itself on as /proc/PID/exe. */
	if (!str_after(path_base(argv[0]), "wardbox") &&
		!str_eq(path_base(argv[0]), "exe"))
		return unknown_applet(path_base(argv[0]));
	if (argc < 2 || argv[1][0] == '-')
		return toplevel_run(argc, argv);
	help = str_eq(argv[1], "help");
	if (help && argc == 2)
		return toplevel_run(1, argv);
	name = argv[1 + help];
	found = applet_find(name);
	if (!found || strchr(name, '/'))
		return unknown_applet(name);
	/* A shim's options are the shell's, but here it is wardbox that was
	 * called. */
	help |= argc == 3 && !found->applet->cli->opts &&
		str_eq(argv[2], "--help");
	if (help)
		return print_help(found->applet->cli);
	return run_applet(found, argc - 1, argv + 1);
}
