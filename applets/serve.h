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
	const char *server, *token, *tls, *cert, *key;
	bool view, json;
};

int serve_run_list(void *into, int argc, char **argv);
int serve_run_attach(void *into, int argc, char **argv);
int serve_run_stop(void *into, int argc, char **argv);
int serve_run_keys(void *into, int argc, char **argv);

#endif
