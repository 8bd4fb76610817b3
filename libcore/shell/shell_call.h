/* shell_call.h - what a shell was called to do, read from its arguments
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_SHELL_CALL_H
#define WARDBOX_SHELL_CALL_H

#include <stdbool.h>

#include "base/buf.h"

enum shell_call_kind {
	SHELL_CALL_TEXT,   /* -c: the text is argv[at] */
	SHELL_CALL_SCRIPT, /* a file: argv[at] */
	SHELL_CALL_STDIN,  /* the text that comes on descriptor 0 */
};

struct shell_call {
	enum shell_call_kind kind;
	int at; /* index into argv; argc for STDIN */
	bool login, interactive;
	/* The shell prints something about itself and ends: --version,
	 * --help. */
	bool tells_only;
};

/* Reads argv as sh, dash, ash and bash do: clusters in any order (-lc, -c -l,
 * -ec), +x, -o NAME, "--", "-", bash's long options. -EINVAL when -c has no
 * text: the shell itself will complain. */
int shell_call_parse(int argc, char *const *argv, struct shell_call *out);

/* Looks at the text on fd that a shell will read as commands, without taking a
 * byte: a regular file from its offset on, or a pipe whose writer is done. 0
 * with all of it; -EAGAIN when it cannot be known now (a terminal, a pipe that
 * is still written to, a socket); -EFBIG beyond b's maximum; -errno. */
int shell_call_peek(int fd, struct buf *b);

#endif
