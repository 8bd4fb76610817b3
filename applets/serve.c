/* serve.c - commands of sessions for others: a server, its keys, its client
 * SPDX-License-Identifier: MIT
 *
 * APPLET(serve)
 *
 * config APPLET_SERVE
 *	bool "serve: commands over a socket, HTTP and WebSocket (21.1 KB)"
 *	default y
 *	select APPLET_EXEC
 *	help
 *	  A server whose clients run commands in sessions, on pipes or terminals,
 *	  and come back to them: exec --server, a WebSocket, REST. It listens on
 *	  a unix socket, by choice on a loopback port, and with TLS anywhere.
 *
 * config SERVE_CODEX
 *	bool "Be codex's executor (30 KB)"
 *	depends on APPLET_SERVE
 *	default y
 *	help
 *	  codex runs its commands, and reads and writes its files, through this
 *	  server: decided, confined and recorded, on stdin and stdout or over a
 *	  WebSocket.
 */
#include "serve.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "applet.h"
#include "base/kconfig.h"
#include "base/num.h"
#include "base/str.h"
#include "guard/guard.h"
#include "serve/serve_home.h"
#include "serve/serve_server.h"
#include "sys/env.h"
#include "sys/probe.h"
#include "sys/proc.h"
#include "version.h"

extern char **environ;

/* Who may connect, by name or number; the user always. */
static void add_uids(struct serve_server *s, const struct cli_list *names)
{
	s->uids[s->uid_count++] = geteuid();
	for (size_t i = 0; i < names->count; i++) {
		unsigned uid;

		if (s->uid_count == SERVE_UIDS_MAX)
			cli_die(EXIT_USAGE, "--uid: too many");
		if (num_uint(names->item[i], 0, UINT32_MAX - 1, &uid))
			cli_die(EXIT_USAGE, "--uid: '%s' is no number",
				names->item[i]);
		s->uids[s->uid_count++] = uid;
	}
}

/* The sockets that a supervisor hands over begin with descriptor 3. They are for
 * this process alone: what it starts hears nothing of them. */
static unsigned handed_over(void)
{
	const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS");
	unsigned for_pid = 0, n = 0;

	if (pid && fds && !num_uint(pid, 1, INT32_MAX, &for_pid) &&
		for_pid == (unsigned)getpid() &&
		num_uint(fds, 1, SERVE_GIVEN_MAX, &n))
		cli_die(EXIT_USAGE, "LISTEN_FDS=%s: 1 to %d sockets can be handed"
			" over", fds, SERVE_GIVEN_MAX);
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
	return n;
}

static void listen_all(struct serve_server *s, const struct serve_opts *o,
	const char *home, struct buf *told)
{
	char path[SERVE_PATH_MAX];
	struct diag d = {0};
	const unsigned handed = handed_over();
	int fd;

	for (unsigned i = 0; i < handed; i++)
		if (serve_listen_given(s, (int)(3 + i), &d))
			cli_die_diag(EXIT_FOUND, &d);
	if (!handed) {
		BUF_PRINT(path, "%s/" SERVE_SOCKET, home);
		fd = serve_bind_local(path, &d);
		if (fd < 0 || serve_listen(s, fd, SERVE_LOCAL))
			cli_die_diag(EXIT_FOUND, &d);
		s->bound = true;
		buf_addf(told, "listening on %s\n", path);
	}
	if (o->port) {
		fd = serve_bind_loopback(o->port, &d);
		if (fd < 0 || serve_listen(s, fd, SERVE_PLAIN))
			cli_die_diag(EXIT_FOUND, &d);
		buf_addf(told, "listening on 127.0.0.1:%u\n", o->port);
	}
	if (o->tls) {
		fd = serve_bind_address(o->tls, &d);
		if (fd < 0 || serve_listen(s, fd, SERVE_SEALED))
			cli_die_diag(EXIT_FOUND, &d);
		buf_addf(told, "listening on %s with TLS\n", o->tls);
	}
}

/* Certificate and key; connections that are there keep those that they have. */
static int load_tls(struct serve_server *s, const struct serve_opts *o,
	struct diag *d)
{
	struct tls_keys *new;
	int err = tls_keys_load(&new, o->cert, o->key,
		IS_ENABLED(CONFIG_SERVE_GRPC), d);

	if (err)
		return err;
	tls_keys_drop(s->tls);
	s->tls = new;
	return 0;
}

struct hangup {
	struct serve_ending ending;
	struct serve_server *server;
	const struct serve_opts *opts;
};

/* A file that cannot be read is no reason to end. */
static void reload_tls(struct serve_ending *e)
{
	const struct hangup *h = (struct hangup *)(void *)e;
	struct diag d = {0};

	if (load_tls(h->server, h->opts, &d))
		cli_diag(&d);
}

/* TLS, if it is asked for: SIGHUP then reads its files anew, and ends nothing. */
static void prepare_tls(struct hangup *h)
{
	const struct serve_opts *o = h->opts;
	struct diag d = {0};

	if (!o->cert != !o->key || (o->tls && !o->cert))
		cli_die(EXIT_USAGE, "TLS takes --cert and --key");
	if (!o->cert)
		return;
	if (!IS_ENABLED(CONFIG_SERVE_TLS))
		cli_die(EXIT_USAGE, "--cert: SERVE_TLS is not built in");
	if (load_tls(h->server, o, &d))
		cli_die_diag(EXIT_FOUND, &d);
	h->ending.hangup = reload_tls;
}

static int start_server(void *into, int argc, char **argv)
{
	const struct serve_opts *o = into;
	static struct serve_server server;
	struct serve engine = SERVE_INIT;
	struct hangup hangup = {
		.ending.engine = &engine, .server = &server, .opts = o};
	autobuf struct buf told = BUF_INIT(4096);
	char home[SERVE_PATH_MAX];
	struct proc_limits limits = {0};
	struct diag d = {0};
	int err;

	(void)argv;
	if (argc > 1)
		cli_die(EXIT_USAGE, "start takes no operand");
	if (probe_inside())
		cli_die(EXIT_FOUND, "a guarded command serves nobody");
	if (o->codex && !IS_ENABLED(CONFIG_SERVE_CODEX))
		cli_die(EXIT_USAGE, "--codex: SERVE_CODEX is not built in");
	if (IS_ENABLED(CONFIG_SERVE_CODEX) && o->codex)
		return serve_codex(o);
	if (o->approver && !IS_ENABLED(CONFIG_APPLET_APPROVE))
		cli_die(EXIT_USAGE, "--approver: APPLET_APPROVE is not built in");
	/* Programs ask what their terminal can; a service has inherited none. */
	setenv("TERM", "xterm-256color", 0);
	server.engine = &engine;
	server.env = environ;
	server.version = WARDBOX_VERSION;
	server.home = env_get(environ, "HOME") ? env_get(environ, "HOME") : "";
	server.shell = serve_shell();
	server.page = IS_ENABLED(CONFIG_SERVE_WEB) ? page_find_all : NULL;
	server.approver_ns = o->approver;
	server.page_port = o->port;
	if (guard_session(&(struct guard_caller){.env = environ}, o->session,
		    server.session, &d))
		cli_die_diag(EXIT_FOUND, &d);
	add_uids(&server, &o->uids);
	prepare_tls(&hangup);
	server.dir = serve_home(true, home, &d);
	if (server.dir < 0)
		cli_die_diag(EXIT_FOUND, &d);
	server.max = serve_max(proc_raise(SERVE_FILES, &limits));
	engine.limits = limits;
	engine.keeps = o->keep;
	err = serve_open(&engine);
	if (!err)
		err = serve_watch_ending(&hangup.ending);
	if (err)
		cli_die(EXIT_FOUND, "%s", strerror(-err));
	/* The lock comes first: another server keeps its socket and its tokens. */
	if (serve_lock(&server, &d))
		cli_die_diag(EXIT_FOUND, &d);
	listen_all(&server, o, home, &told);
	if (serve_tokens_make(&server, &d))
		cli_die_diag(EXIT_FOUND, &d);
	cli_print(&told);
	err = serve_loop_run(&engine.loop);
	serve_server_close(&server);
	serve_close(&engine);
	if (IS_ENABLED(CONFIG_SERVE_TLS))
		tls_keys_drop(server.tls);
	serve_tokens_remove(&server);
	return err ? EXIT_FOUND : EXIT_OK;
}

static const struct cli_opt options[] = {
	CLI_UINT('p', struct serve_opts, port, 65535, "port", "N",
		"start: listen on port N of 127.0.0.1, too"),
	CLI_STR(0, struct serve_opts, tls, "tls", "ADDRESS:PORT",
		"start: listen there with TLS, too"),
	CLI_STR(0, struct serve_opts, cert, "cert", "FILE",
		"start: the certificate; list, attach, stop: the server's, of a URL"),
	CLI_STR(0, struct serve_opts, key, "key", "FILE",
		"start: the certificate's private key"),
	CLI_LIST('u', struct serve_opts, uids, "uid", "UID",
		"start: UID may connect, too, with a key"),
	CLI_SOME_TIME(0, struct serve_opts, approver, "approver", "TIME",
		"start: a question waits TIME for 'wardbox approve'"),
	CLI_FLAG(0, struct serve_opts, codex, "codex",
		"start: be codex's executor, on standard input and output"),
	CLI_STR(0, struct serve_opts, session, "session", "SESSION",
		"start: whose commands are those of --codex and of /mcp"),
	CLI_FLAG('k', struct serve_opts, keep, "keep",
		"start: what commands leave running outlives the server"),
	CLI_STR('s', struct serve_opts, server, "server", "SOCKET",
		"list, attach, stop: the server there, or at https://HOST[:PORT]"),
	CLI_STR(0, struct serve_opts, token, "token-file", "FILE",
		"list, attach, stop: the key is in FILE"),
	CLI_FLAG(0, struct serve_opts, view, "view",
		"attach: only look, type nothing"),
	CLI_FLAG('j', struct serve_opts, json, "json",
		"list, keys: print facts as JSON"),
};

static const struct cli_verb verbs[] = {
	CLI_VERB(start_server, "start", "", "listen and serve, in the foreground"),
	CLI_VERB(serve_run_list, "list", "", "the commands of the server"),
	CLI_VERB(serve_run_attach, "attach", "ID",
		"see a command's output from its beginning, and type to it"),
	CLI_VERB(serve_run_stop, "stop", "",
		"end the server, after all that runs there"),
	CLI_VERB(serve_run_files, "files", "",
		"do what a request on standard input asks; for --codex"),
	CLI_VERB(serve_run_keys, "keys", "[add NAME ROLE|revoke NAME]",
		"list the keys, make one, or take one away"),
};

static const struct cli_spec spec = {
	.name = "serve",
	.usage = "[OPTION...] [VERB [ARGUMENT...]]",
	.about = "Runs commands of sessions for others: exec --server,"
		 " WebSocket, HTTP.",
	.example = "wardbox serve &\n"
		   "wardbox exec --server local --pty my-session -- bash\n"
		   "wardbox serve keys add ci run\n"
		   "wardbox serve stop",
	.opts = options,
	.opt_count = ARRAY_SIZE(options),
	.verbs = verbs,
	.verb_count = ARRAY_SIZE(verbs),
};

static int serve_run(int argc, char **argv)
{
	struct serve_opts o = {.server = "local"};
	int first = cli_parse(&spec, &o, argc, argv);

	return cli_verb(&spec, &o, argc - first, argv + first, 0);
}

const struct applet serve_applet = {.run = serve_run, .cli = &spec};
