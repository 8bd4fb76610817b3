/* serve_codex.c - codex's executor on standard input and output
 * SPDX-License-Identifier: MIT
 */
#include "serve.h"

#include <string.h>
#include <unistd.h>

#include "base/kconfig.h"
#include "base/str.h"
#include "guard/guard.h"
#include "serve/serve_codex_link.h"
#include "serve/serve_files.h"
#include "sys/env.h"
#include "version.h"

extern char **environ;

static void stop_loop(struct serve_lines *l)
{
	l->loop->stop = true;
}

const char *serve_shell(void)
{
	static const char known[] = "bash\0zsh\0sh\0dash\0ash\0";
	const char *shell = env_get(environ, "SHELL");
	const char *name = shell ? strrchr(shell, '/') : NULL;

	if (name && str_index(known, name + 1) >= 0 && !access(shell, X_OK))
		return shell;
	return access("/bin/bash", X_OK) ? "/bin/sh" : "/bin/bash";
}

int serve_codex(const struct serve_opts *o)
{
	static char session[SESSION_ID_MAX + 1];
	const char *home = env_get(environ, "HOME");
	struct serve engine = SERVE_INIT;
	struct codex_stdio codex = {
		.link = {
			.engine = &engine,
			.session = session,
			.env = environ,
			.version = WARDBOX_VERSION,
			.home = home ? home : "",
			.shell = serve_shell(),
			.approver_ns = o->approver,
		},
		.lines = {
			.in = STDIN_FILENO,
			.out = STDOUT_FILENO,
			.over = stop_loop,
		},
	};
	struct serve_ending ending = {.engine = &engine};
	struct diag d = {0};
	int err;

	if (guard_session(&(struct guard_caller){.env = environ}, o->session,
		    session, &d))
		cli_die_diag(EXIT_FOUND, &d);
	err = serve_open(&engine);
	if (!err)
		err = serve_watch_ending(&ending);
	if (!err)
		err = codex_stdio_open(&codex);
	if (!err)
		err = serve_loop_run(&engine.loop);
	codex_stdio_close(&codex);
	serve_close(&engine);
	if (err)
		cli_die(EXIT_FOUND, "%s", strerror(-err));
	return EXIT_OK;
}

int serve_run_files(void *into, int argc, char **argv)
{
	int err;

	(void)into;
	(void)argv;
	if (argc > 1)
		cli_die(EXIT_USAGE, "files takes no operand");
	if (!IS_ENABLED(CONFIG_SERVE_CODEX))
		cli_die(EXIT_USAGE, "files: SERVE_CODEX is not built in");
	err = serve_files(STDIN_FILENO);
	if (err)
		cli_die(EXIT_FOUND, "standard input: %s", strerror(-err));
	return EXIT_OK;
}
