/* sh.c - stands in for the shell: the real one runs, guarded
 * SPDX-License-Identifier: MIT
 *
 * APPLET(sh, "ash", "bash", "dash")
 *
 * config APPLET_SH
 *	bool "sh: stand in for the shell, guarded (2.7 KB)"
 *	default y
 *	help
 *	  Installed over /bin/sh and its kin, or linked under a shell's name. What
 *	  it was called to run is decided by the policy, confined by the kernel,
 *	  run by the real shell and recorded. Without it nothing guards a shell.
 */
#include "applet.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli_guard.h"
#include "file.h"
#include "kconfig.h"
#include "path.h"
#include "probe.h"
#include "shell_call.h"
#include "shimlinks.h"
#include "str.h"

extern char **environ;

static const struct cli_spec spec = {
	.name = "sh",
	.usage = "[SHELL ARGUMENT...]",
	.about = "Runs the real shell with these arguments, guarded. The options "
		 "are the\nshell's own; wardbox takes --help alone.",
	.example = "wardbox sh -c 'echo hello'\n"
		   "WARDBOX_DEBUG=1 wardbox sh -c 'git status'",
};

/* In place of this process: nothing of ours stays behind. */
__attribute__((noreturn)) static void become(const char *path, char **argv)
{
	int err;

	execve(path, argv, environ);
	err = errno;
	cli_die(err == ENOENT ? EXIT_NOTFOUND : EXIT_DENIED, "%s: %s", path,
		strerror(err));
}

/* Which shell's reading of a text counts. The name alone can lie (sh may be
 * any of them), so the file behind it says; unknown ones are read every way. */
static enum policy_dialect dialect_of(const char *path)
{
	char target[256];
	const char *base;
	ssize_t n = readlink(path, target, sizeof target);

	if (n == sizeof target)
		return POLICY_SH_UNION;
	if (n < 0)
		n = 0;
	target[n] = '\0';
	base = path_base(n ? target : path);
	if (str_after(base, "dash"))
		return POLICY_SH_POSIX;
	if (str_after(base, "bash"))
		return POLICY_SH_BASH;
	if (str_after(base, "busybox") || str_after(base, "ash"))
		return POLICY_SH_ASH;
	return POLICY_SH_UNION;
}

static void judge_text(struct guard_request *q, struct buf *text)
{
	q->kind = GUARD_LINE;
	q->text = buf_str(text);
	q->len = text->len;
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
__attribute__((noreturn)) static void end(
	const struct guard_request *q, char *path, size_t size)
{
	static struct guard_result r;

	guard_run(q, &r);
	if (!r.ran && r.run.code == EXIT_NOTFOUND &&
		!find_real(q->argv[0], path, size, &r.diag))
		guard_run(q, &r);
	cli_guard_exit(&r);
}

static int sh_run(int argc, char **argv)
{
	static char path[PATH_MAX];
	autobuf struct buf script = BUF_INIT(CONFIG_LIMIT_LINE);
	struct guard_request q = {.by = "sh", .path = path, .argv = argv};
	struct stat st;
	struct shell_call call = {0};
	struct diag d = {0};

	if (find_real(argv[0], path, sizeof path, &d))
		cli_die_diag(EXIT_NOTFOUND, &d);
	if (probe_inside())
		become(path, argv);
	cli_guard_facts(&q);
	q.dialect = dialect_of(path);
	q.pty = cli_guard_on_terminal();
	q.kind = GUARD_STREAM;
	if (shell_call_parse(argc, argv, &call) || call.tells_only) {
		/* The shell itself is to complain, or to tell of itself. */
	} else if (call.kind == SHELL_CALL_TEXT) {
		q.kind = GUARD_LINE;
		q.text = argv[call.at];
		q.len = strlen(q.text);
		q.args = argv + call.at + 1;
	} else if (call.kind == SHELL_CALL_STDIN) {
		if (shell_call_peek(STDIN_FILENO, &script) == 0)
			judge_text(&q, &script);
		q.on_stdin = q.kind == GUARD_LINE;
	} else if (stat(argv[call.at], &st) == 0 && S_ISREG(st.st_mode) &&
		file_read(AT_FDCWD, argv[call.at], &script) == 0) {
		judge_text(&q, &script);
		q.args = argv + call.at;
	} else {
		/* Too long to be read, not to be found, or a pipe whose writer
		 * must not lose its only reader: the call itself is
		 * judged, and every program that it starts. */
		q.kind = GUARD_ARGV;
	}
	q.own_job = call.interactive || call.kind == SHELL_CALL_STDIN;
	q.startup = call.login || call.interactive;
	end(&q, path, sizeof path);
}

const struct applet sh_applet = {.run = sh_run, .cli = &spec};
