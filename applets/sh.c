/* sh.c - stands in for the shell: the real one runs, guarded
 * SPDX-License-Identifier: MIT
 *
 * APPLET(sh, "ash", "bash", "dash")
 *
 * config APPLET_SH
 *	bool "sh: stand in for the shell, guarded (0.9 KB)"
 *	default y
 *	select SANDBOX_UNOTIFY
 *	help
 *	  Installed over /bin/sh and its kin, or linked under a shell's name. What
 *	  it was called to run is decided by the policy, confined by the kernel,
 *	  run by the real shell and recorded. Without it nothing guards a shell.
 */
#include "applet.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "cli/cli_guard.h"
#include "cli/cli_shell.h"
#include "base/kconfig.h"
#include "base/path.h"
#include "sys/probe.h"
#include "shim/shimlinks.h"
#include "base/str.h"

extern char **environ;

static const struct cli_spec spec = {
	.name = "sh",
	.usage = "[SHELL ARGUMENT...]",
	.about = "Runs the real shell with these arguments, guarded. The options "
		 "are the\nshell's own; wardbox takes --help alone.",
	.example = "wardbox sh -c 'echo hello'\n"
		   "WARDBOX_DEBUG=1 wardbox sh -c 'git status'",
};

/* Becomes the program; nothing of wardbox stays behind. */
__attribute__((noreturn)) static void become_shell(const char *path,
	char **argv)
{
	int err;

	execve(path, argv, environ);
	err = errno;
	cli_die(err == ENOENT ? EXIT_NOTFOUND : EXIT_DENIED, "%s: %s", path,
		strerror(err));
}

/* Where the real shell is now. An install or uninstall may move it while the
 * line is judged. */
static int find_real(const char *argv0, char *path, size_t size, struct diag *d)
{
	const char *file = (const char *)getauxval(AT_EXECFN);

	if (shim_called(argv0, file, path, size))
		str_copy(path, size, argv0);
	return shim_real(path, NULL, path, size, d);
}

/* Runs q; once more when the shell was gone by the time it was to start. */
__attribute__((noreturn)) static void run_and_end(
	const struct guard_request *q, char *path, size_t size)
{
	static struct guard_outcome out;

	guard_run(q, &out);
	if (!out.ran && out.run.code == EXIT_NOTFOUND &&
		!find_real(q->command.argv[0], path, size, &out.diag))
		guard_run(q, &out);
	if (out.undo_gone && q->io.pty && q->command.kind == GUARD_LINE)
		cli_warn("%ju path%s removed; 'wardbox undo' brings %s back",
			out.undo_gone, out.undo_gone == 1 ? " was" : "s were",
			out.undo_gone == 1 ? "it" : "them");
	cli_guard_exit(&out);
}

static int sh_run(int argc, char **argv)
{
	static char path[PATH_MAX];
	autobuf struct buf script = BUF_INIT(CONFIG_LIMIT_LINE);
	struct guard_request q = {.command = {.path = path, .argv = argv}};
	struct diag d = {0};

	(void)argc; /* argv ends by itself */
	if (find_real(argv[0], path, sizeof path, &d))
		cli_die_diag(EXIT_NOTFOUND, &d);
	if (probe_inside())
		become_shell(path, argv);
	cli_hide_words(argv + 1);
	cli_guard_facts(&q.caller);
	q.io.pty = cli_guard_on_terminal();
	cli_shell_call(&q, &script);
	run_and_end(&q, path, sizeof path);
}

const struct applet sh_applet = {.run = sh_run, .cli = &spec};
