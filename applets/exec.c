/* exec.c - run a command in a session
 * SPDX-License-Identifier: MIT
 *
 * APPLET(exec)
 *
 * config APPLET_EXEC
 *	bool "exec: run a command in a session (6.0 KB)"
 *	default y
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
#include "sig.h"
#include "str.h"

static const struct cli_opt options[] = {
	CLI_FLAG('t', struct exec_opts, pty, "pty",
		"run it on a terminal of its own"),
	CLI_STR('a', struct exec_opts, argv0, "argv0", "NAME",
		"the name that it is told it was called by"),
	CLI_TIME(0, struct exec_opts, timeout, "timeout", "TIME",
		"end it and all it has started after TIME; code 124"),
	CLI_STR('C', struct exec_opts, cwd, "cwd", "DIR",
		"run it in DIR; a relative one is below the session's"),
	CLI_FLAG('j', struct exec_opts, json, "json",
		"print output, code, time, memory and rule as JSON"),
	CLI_STR('i', struct exec_opts, input, "input", "FILE",
		"what it reads from standard input"),
};

static const struct cli_spec spec = {
	.name = "exec",
	.usage = "[OPTION...] [SESSION] -- COMMAND [ARGUMENT...]",
	.about = "Runs a command in a session's directory and environment:"
		 " decided,\nconfined and recorded.",
	.example = "wardbox exec my-session -- make test\n"
		   "wardbox exec --pty my-session -- bash -l\n"
		   "wardbox exec --json --timeout 30s -- git status",
	.opts = options,
	.opt_count = ARRAY_SIZE(options),
	.flags = CLI_COMMAND | CLI_FAIL_OURS,
};

/* What is behind the options: "-- COMMAND", or "SESSION -- COMMAND". Only the
 * first "--" is ours. */
static void read_operands(
	struct exec_request *q, int first, int argc, char **argv)
{
	struct diag d = {0};

	if (!str_eq(argv[first - 1], "--") && first < argc) {
		q->session = argv[first++];
		if (session_id_check("", q->session, &d))
			cli_die_diag(EXIT_OURS, &d);
		if (first < argc && str_eq(argv[first], "--"))
			first++;
		else if (first < argc && argv[first][0] == '-')
			cli_die(EXIT_OURS, "'%s' is to stand before the session",
				argv[first]);
		else
			cli_die(EXIT_OURS, "'--' is missing before the command;"
				" try 'wardbox exec --help'");
	}
	if (first >= argc || !argv[first][0])
		cli_die(EXIT_OURS, "no command given; try 'wardbox exec --help'");
	q->command = argv + first;
}

static void take_input(const char *path)
{
	int fd = open(path, O_RDONLY | O_NOCTTY);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		cli_die(EXIT_OURS, "--input: %s: %s", path, strerror(errno));
	if (S_ISDIR(st.st_mode))
		cli_die(EXIT_OURS, "--input: %s is a directory", path);
	if (fd && (dup2(fd, STDIN_FILENO) < 0 || close(fd)))
		cli_die(EXIT_OURS, "--input: %s", strerror(errno));
}

static int exec_run(int argc, char **argv)
{
	static struct exec_reply reply;
	const struct exec_transport *way = &exec_local;
	struct exec_opts o = {0};
	struct exec_request q = {0};
	struct diag d = {0};
	int first = cli_parse(&spec, &o, argc, argv);

	read_operands(&q, first, argc, argv);
	if (o.json && o.pty)
		cli_die(EXIT_OURS, "--json keeps stdout and stderr apart,"
			" --pty has one stream for both: choose one");
	q.cwd = o.cwd;
	q.argv0 = o.argv0;
	q.timeout_ns = o.timeout;
	q.pty = o.pty;
	q.capture = o.json;
	if (o.input)
		take_input(o.input);
	reply.out = BUF_INIT(EXEC_OUTPUT_MAX);
	reply.err = BUF_INIT(EXEC_OUTPUT_MAX);
	if (way->call(&q, &reply, &d)) {
		if (!o.json)
			cli_die_diag(EXIT_OURS, &d);
		reply.result.code = EXIT_OURS;
		reply.result.diag = d;
	}
	if (o.json) {
		exec_print_json(&q, &reply);
		return reply.result.code;
	}
	cli_guard_tell(&reply.result);
	if (reply.signal)
		sig_die(reply.signal);
	return reply.result.code;
}

const struct applet exec_applet = {.run = exec_run, .cli = &spec};
