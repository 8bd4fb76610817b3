/* mcp.c - commands for an agent's harness, by the Model Context Protocol
 * SPDX-License-Identifier: MIT
 *
 * APPLET(mcp)
 *
 * config APPLET_MCP
 *	bool "mcp: run commands for an agent, by MCP (2.2 KB)"
 *	default y
 *	select APPLET_EXEC
 *	help
 *	  A server of the Model Context Protocol on stdin and stdout: an agent's
 *	  harness starts it, and runs commands through it that are decided,
 *	  confined and recorded.
 */
#include "applet.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "guard/guard.h"
#include "serve/serve_home.h"
#include "serve/serve_mcp_link.h"
#include "serve/serve_server.h"
#include "sys/file.h"
#include "base/kconfig.h"
#include "base/str.h"
#include "version.h"

enum { PAGES_MAX = 64 }; /* connections at a time */

extern char **environ;

struct mcp_opts {
	bool tools;
	uint64_t approver;
	const char *server, *token;
};

static const struct cli_opt options[] = {
	CLI_STR('s', struct mcp_opts, server, "server", "SOCKET",
		"at the server that listens there; local: the user's"),
	CLI_STR(0, struct mcp_opts, token, "token-file", "FILE",
		"with --server: the key is in FILE, not beside the socket"),
	CLI_SOME_TIME(0, struct mcp_opts, approver, "approver", "TIME",
		"a question waits TIME for 'wardbox approve' elsewhere"),
	CLI_FLAG(0, struct mcp_opts, tools, "tools",
		"print what clients are told of the tools, as JSON"),
};

static const struct cli_spec spec = {
	.name = "mcp",
	.usage = "[OPTION...] [SESSION]",
	.about = "A server of the Model Context Protocol on stdin and stdout:"
		 " runs commands\nof SESSION, decided, confined and recorded.",
	.example = "claude mcp add wardbox -- wardbox mcp\n"
		   "wardbox mcp --tools",
	.opts = options,
	.opt_count = ARRAY_SIZE(options),
};

static void stop_loop(struct serve_lines *l)
{
	l->loop->stop = true;
}

/* Bytes as they come; false: there are no more. */
static bool pass_on(int from, int to)
{
	char bytes[4096];
	ssize_t n = read(from, bytes, sizeof bytes);

	if (n < 0 && errno == EINTR)
		return true;
	return n > 0 && !file_write_all(to, bytes, (size_t)n);
}

/* The lines of a client to a server's, and back, until one of both goes. */
static int speak_for(const struct mcp_opts *o, const char *session)
{
	autoclient struct serve_client c = SERVE_CLIENT_INIT;
	const struct serve_place at = {o->server, o->token, NULL};
	struct diag d = {0};
	bool there = true, more = true, asks = false;

	if (serve_home_connect(&c, &at, &d) ||
		serve_client_mcp(&c, session, &d))
		cli_die_diag(EXIT_FOUND, &d);
	while (there) {
		struct pollfd p[] = {
			{.fd = c.fd, .events = POLLIN | (asks ? POLLOUT : 0)},
			{.fd = more && !asks ? STDIN_FILENO : -1,
				.events = POLLIN}};

		if (poll(p, 2, -1) < 0 && errno != EINTR)
			break;
		if (p[0].revents & ~POLLOUT)
			there = pass_on(c.fd, STDOUT_FILENO);
		/* A question waits here until the server takes it at once:
		 * answers are passed on meanwhile. */
		if (p[0].revents & POLLOUT) {
			more = pass_on(STDIN_FILENO, c.fd);
			asks = false;
			if (!more)
				shutdown(c.fd, SHUT_WR);
		} else if (p[1].revents) {
			asks = true;
		}
	}
	return EXIT_OK;
}

/* Prepares the page for questions. Its port serves nothing else, because the server
 * knows no key; the port is opened when a client wants a page. */
static struct serve_server *prepare_pages(
	struct serve_server *s, struct serve *engine)
{
	s->engine = engine;
	s->dir = -1;
	s->max = PAGES_MAX;
	s->page_opens = true;
	return s;
}

static int mcp_run(int argc, char **argv)
{
	static char session[SESSION_ID_MAX + 1];
	struct mcp_opts o = {0};
	int first = cli_parse(&spec, &o, argc, argv);
	struct serve engine = SERVE_INIT;
	struct mcp_stdio mcp = {
		.link = {
			.engine = &engine,
			.session = session,
			.env = environ,
			.version = WARDBOX_VERSION,
			.approver_ns = o.approver,
		},
		.lines = {
			.in = STDIN_FILENO,
			.out = STDOUT_FILENO,
			.over = stop_loop,
		},
	};
	static struct serve_server pages;
	struct serve_ending ending = {.engine = &engine};
	struct diag d = {0};
	int err;

	if (o.approver && !IS_ENABLED(CONFIG_APPLET_APPROVE))
		cli_die(EXIT_USAGE, "--approver: APPLET_APPROVE is not built in");
	if (o.tools) {
		autobuf struct buf out = BUF_INIT(65536);
		struct json j = JSON_INIT(&out);

		mcp_put_tools(&j);
		json_end(&j);
		cli_print(&out);
		return EXIT_OK;
	}
	if (argc - first > 1)
		cli_die_usage(&spec, "too many operands");
	if (guard_session(&(struct guard_caller){.env = environ}, argv[first],
		    session, &d))
		cli_die_diag(EXIT_FOUND, &d);
	if (o.server && !IS_ENABLED(CONFIG_APPLET_SERVE))
		cli_die(EXIT_USAGE, "--server: APPLET_SERVE is not built in");
	if (o.server && o.approver)
		cli_die(EXIT_USAGE, "--approver is not for a --server");
	if (IS_ENABLED(CONFIG_APPLET_SERVE) && o.server)
		return speak_for(&o, session);
	if (IS_ENABLED(CONFIG_APPLET_SERVE) && o.approver)
		mcp.link.pages = prepare_pages(&pages, &engine);
	err = serve_open(&engine);
	if (!err)
		err = serve_watch_ending(&ending);
	if (!err)
		err = mcp_stdio_open(&mcp);
	if (!err)
		err = serve_loop_run(&engine.loop);
	mcp_stdio_close(&mcp);
	if (IS_ENABLED(CONFIG_APPLET_SERVE) && mcp.link.pages)
		serve_server_close(&pages);
	serve_close(&engine);
	if (err)
		cli_die(EXIT_FOUND, "%s", strerror(-err));
	return EXIT_OK;
}

const struct applet mcp_applet = {.run = mcp_run, .cli = &spec};
