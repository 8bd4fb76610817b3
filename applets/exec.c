/* exec.c - run a command in a session
 * SPDX-License-Identifier: MIT
 *
 * APPLET(exec)
 *
 * config APPLET_EXEC
 *	bool "exec: run a command in a session (12.4 KB)"
 *	default y
 *	select SANDBOX_UNOTIFY
 *	help
 *	  Runs a command in a session's directory and environment, guarded as
 *	  through the shim, with its result as JSON where a program asks.
 */
#include "exec.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "applet.h"
#include "base/clock.h"
#include "base/kconfig.h"
#include "sys/sig.h"
#include "base/str.h"

static const struct cli_opt options[] = {
	CLI_FLAG('t', struct exec_opts, pty, "pty",
		"run it on a terminal of its own"),
	CLI_STR('a', struct exec_opts, argv0, "argv0", "NAME",
		"the name that it is told it was called by"),
	CLI_SOME_TIME(0, struct exec_opts, timeout, "timeout", "TIME",
		"end it and all it has started after TIME; code 124"),
	CLI_STR('C', struct exec_opts, cwd, "cwd", "DIR",
		"run it in DIR; a relative one is below the session's"),
	CLI_FLAG('n', struct exec_opts, dry, "dry-run",
		"run it, say what it changed in the project, and take that back"),
	CLI_FLAG('j', struct exec_opts, json, "json",
		"print output, code, time, memory and rule as JSON"),
	CLI_UINT(0, struct exec_opts, report, 1023, "report", "FD",
		"write how it went to descriptor FD, as JSON without output"),
	CLI_FLAG(0, struct exec_opts, unattended, "unattended",
		"nobody at this terminal answers a question: it is a denial"),
	CLI_FLAG(0, struct exec_opts, keep, "keep",
		"what it leaves running ends with the session, not with a login"),
	CLI_SOME_TIME(0, struct exec_opts, approver, "approver", "TIME",
		"a question waits TIME for 'wardbox approve' elsewhere"),
	CLI_STR('s', struct exec_opts, server, "server", "SOCKET",
		"run it at the server there, or at https://HOST[:PORT]; local: the user's"),
	CLI_STR(0, struct exec_opts, token, "token-file", "FILE",
		"with --server: the key is in FILE, not beside the socket"),
	CLI_STR(0, struct exec_opts, cert, "cert", "FILE",
		"with --server=https://...: the certificate that the server is to have"),
	CLI_FLAG('d', struct exec_opts, detach, "detach",
		"with --server: print its id there and leave it running"),
	CLI_STR('i', struct exec_opts, input, "input", "FILE",
		"what it reads from standard input"),
	CLI_FLAG('r', struct exec_opts, read_only, "read-only",
		"it writes nothing of what the policy lets it write"),
	CLI_LIST('w', struct exec_opts, write, "write", "DIR",
		"of what the policy lets it write, DIR alone"),
	CLI_LIST(0, struct exec_opts, protect, "protect", "PATH",
		"it writes nothing below PATH"),
	CLI_LIST(0, struct exec_opts, hide, "hide", "PATH",
		"it does not see what lies below PATH"),
	CLI_FLAG(0, struct exec_opts, offline, "offline",
		"it has no network, whatever the policy grants"),
	CLI_UINT(0, struct exec_opts, environment, 1023, "environment", "FD",
		"its variables from descriptor FD, a NUL behind each"),
	CLI_FLAG(0, struct exec_opts, request, "request",
		"for serve --codex: do the file request on standard input"),
};

static const struct cli_spec spec = {
	.name = "exec",
	.usage = "[OPTION...] [SESSION] -- COMMAND [ARGUMENT...]",
	.about = "Runs a command in a session's directory and environment:"
		 " decided,\nconfined and recorded.",
	.example = "wardbox exec my-session -- make test\n"
		   "wardbox exec --pty my-session -- bash -l\n"
		   "wardbox exec --json --timeout 30s -- git status",
	CLI_OPTS(options),
	.flags = CLI_COMMAND | CLI_FAIL_OURS,
};

/* Reads the words behind the options: "-- COMMAND", or "SESSION -- COMMAND".
 * Only the first "--" belongs to exec. */
static int read_operands(struct exec_request *q, bool marked, char **operand,
	struct diag *d)
{
	if (!marked && *operand) {
		q->session = *operand++;
		if (session_id_check("", q->session, d))
			return -EINVAL;
		if (*operand && str_eq(*operand, "--"))
			operand++;
		else if (*operand && **operand == '-')
			return diag_fail(d, -EINVAL,
				"'%s' is to stand before the session", *operand);
		else
			return diag_fail(d, -EINVAL,
				"'--' is missing before the command");
	}
	if (!*operand || !**operand)
		return diag_fail(d, -EINVAL,
			"no command; try 'wardbox %s --help'", spec.name);
	q->command = operand;
	return 0;
}

static int take_input(const char *path, struct diag *d)
{
	int fd = open(path, O_RDONLY | O_NOCTTY);
	struct stat st;
	int err = fd < 0 || fstat(fd, &st) ? -errno
		: S_ISDIR(st.st_mode)	   ? -EISDIR
					   : 0;

	if (!err && fd && (dup2(fd, STDIN_FILENO) < 0 || close(fd)))
		err = -errno;
	return err ? diag_errno(d, err, "--input: %s", path) : 0;
}

/* The report is this process's own: the command does not get the descriptor. */
static int take_report(unsigned fd, struct diag *d)
{
	if (fd <= STDERR_FILENO)
		return diag_fail(d, -EINVAL, "--report: %u is no descriptor for"
			" a report; 3 or above is", fd);
	return fcntl((int)fd, F_SETFD, FD_CLOEXEC)
		? diag_errno(d, -errno, "--report: descriptor %u", fd)
		: 0;
}

static int ask_session(const struct exec_opts *o, struct exec_request *q,
	struct exec_reply *reply, struct diag *d)
{
	const struct exec_transport *way = &exec_local;
	int err = 0;

	if (o->server && !IS_ENABLED(CONFIG_APPLET_SERVE))
		return diag_fail(d, -ENOSYS, "--server: APPLET_SERVE is not"
			" built in");
	if (IS_ENABLED(CONFIG_APPLET_SERVE) && o->server)
		way = &exec_server;
	if (o->approver && !IS_ENABLED(CONFIG_APPLET_APPROVE))
		return diag_fail(d, -ENOSYS, "--approver: APPLET_APPROVE is not"
			" built in");
	if (o->server && (o->approver || o->report))
		return diag_fail(d, -EINVAL, "--%s is not for a --server",
			o->approver ? "approver" : "report");
	if (!o->server && (o->token || o->cert || o->detach))
		return diag_fail(d, -EINVAL, "--%s is for a --server",
			o->token      ? "token-file"
				: o->cert ? "cert"
					  : "detach");

	if (o->dry && o->server)
		return diag_fail(d, -EINVAL, "--dry-run is not for a --server");
	if (o->dry && !IS_ENABLED(CONFIG_UNDO))
		return diag_fail(d, -ENOSYS, "--dry-run: UNDO is not built in");
	if (o->json && o->pty)
		return diag_fail(d, -EINVAL,
			"--pty has one stream, --json two: choose one");
	q->cwd = o->cwd;
	q->argv0 = o->argv0;
	q->timeout_ns = o->timeout;
	q->pty = o->pty;
	q->dry = o->dry;
	q->capture = o->json;
	q->server = o->server;
	q->token = o->token;
	q->cert = o->cert;
	q->detach = o->detach;
	q->unattended = o->unattended;
	q->keep = o->keep;
	q->report = (int)o->report;
	q->approver_ns = o->approver;
	err = exec_wish(o, q, d);
	if (!err && o->input)
		err = take_input(o->input, d);
	return err ? err : way->call(q, reply, d);
}

static int exec_run(int argc, char **argv)
{
	static struct exec_reply reply;
	static char *none[] = {NULL};
	struct exec_opts o = {0};
	struct exec_request q = {.command = none};
	struct diag d = {0};
	int first = cli_parse(&spec, &o, argc, argv);

	reply.out = BUF_INIT(EXEC_OUTPUT_MAX);
	reply.err = BUF_INIT(EXEC_OUTPUT_MAX);
	reply.result.started_ns = clock_ns(CLOCK_REALTIME);
	cli_hide_words(argv + first);
	if (o.report && take_report(o.report, &d))
		cli_die_diag(EXIT_OURS, &d);
	if (read_operands(&q, str_eq(argv[first - 1], "--"), argv + first,
		    &d) ||
		ask_session(&o, &q, &reply, &d)) {
		reply.result.code = EXIT_OURS;
		reply.result.diag = d;
		if (!o.json && !o.report)
			cli_die_diag(EXIT_OURS, &d);
	}
	if (o.report)
		exec_report(&reply, (int)o.report);
	if (o.json)
		exec_print_json(&q, &reply);
	if (IS_ENABLED(CONFIG_UNDO) && o.dry)
		exec_throw_away(&reply, o.json);
	if (o.json)
		return reply.result.code;
	if (reply.id[0]) {
		autobuf struct buf out = BUF_INIT(64);

		buf_addf(&out, "%s\n", reply.id);
		cli_print(&out);
		return EXIT_OK;
	}
	/* Why nothing ran stands in the report, and is told once. */
	if (!o.report || reply.result.ran)
		cli_guard_tell(&reply.result);
	if (reply.signal)
		sig_die(reply.signal);
	return reply.result.code;
}

const struct applet exec_applet = {.run = exec_run, .cli = &spec};
