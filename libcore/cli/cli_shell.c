/* cli_shell.c - a request for a shell: what it will read is what is judged
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli_shell.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/file.h"
#include "base/path.h"
#include "shell/shell_call.h"
#include "base/str.h"

/* The shell's name alone can lie (sh may be any of them), so the file behind it
 * is looked at. */
enum policy_dialect cli_shell_dialect(const char *path)
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
	q->command.kind = GUARD_LINE;
	q->command.text = buf_str(text);
	q->command.len = text->len;
}

static int read_script(const struct guard_request *q, const char *name,
	struct buf *text)
{
	autofd int dir = q->caller.cwd ? open(q->caller.cwd, O_PATH | O_CLOEXEC) : AT_FDCWD;
	struct stat st;

	if (fstatat(dir, name, &st, 0) || !S_ISREG(st.st_mode))
		return -EINVAL;
	return file_read(dir, name, text);
}

void cli_shell_call(struct guard_request *q, struct buf *text)
{
	struct shell_call call = {0};
	char *const *argv = q->command.argv;
	int argc = 0;

	while (argv[argc])
		argc++;
	q->command.dialect = cli_shell_dialect(q->command.path);
	q->command.kind = GUARD_STREAM;
	if (shell_call_parse(argc, argv, &call) || call.tells_only) {
		/* The shell itself will complain, or print its version. */
	} else if (call.kind == SHELL_CALL_TEXT) {
		q->command.kind = GUARD_LINE;
		q->command.text = argv[call.at];
		q->command.len = strlen(q->command.text);
		q->command.args = argv + call.at + 1;
	} else if (call.kind == SHELL_CALL_STDIN) {
		if (!q->io.pty_all && shell_call_peek(STDIN_FILENO, text) == 0)
			judge_text(q, text);
		q->command.on_stdin = q->command.kind == GUARD_LINE;
	} else if (!read_script(q, argv[call.at], text)) {
		judge_text(q, text);
		q->command.args = argv + call.at;
	} else {
		/* A script that is too long, missing, or a pipe that only the
		 * shell may read: the call itself is judged, and every program
		 * that it starts. */
		q->command.kind = GUARD_ARGV;
	}
	q->io.own_job = call.interactive || call.kind == SHELL_CALL_STDIN;
	q->command.reads_rc = !call.login && q->io.own_job;
	q->command.startup = call.login || call.interactive;
}
