/* serve.h - what the files of serve share
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_SERVE_APPLET_H
#define WARDBOX_SERVE_APPLET_H

#include "cli/cli.h"

struct serve_opts {
	unsigned port;
	uint64_t approver;
	struct cli_list uids;
	const char *server, *token, *tls, *cert, *key, *session;
	bool view, json, codex, keep;
};

int serve_run_list(void *into, int argc, char **argv);
int serve_run_attach(void *into, int argc, char **argv);
int serve_run_stop(void *into, int argc, char **argv);
int serve_run_keys(void *into, int argc, char **argv);
int serve_run_files(void *into, int argc, char **argv);

/* The user's, for codex. */
const char *serve_shell(void);
/* Speaks with one client of codex's, until it goes. */
int serve_codex(const struct serve_opts *o);

#endif
