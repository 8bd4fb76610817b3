/* serve_wire.h - what is said as JSON at the server: messages of a terminal's
 * WebSocket, bodies of requests, how a command stands
 * SPDX-License-Identifier: MIT
 *
 * Pure. A client's messages, by "type":
 *
 *	start	command and args, or text (for sh); argv0, working_dir, rows, cols,
 *		timeout (seconds), pty (true), channels, keep, input (true)
 *	attach	id, stdout_cursor, stderr_cursor, channels, view
 *	resize	rows, cols
 *	signal	name
 *	eof	the end of its standard input
 *	detach	goes, and leaves the command
 *
 * and the server's: started (command_id), exit, error (code, message). Bytes come
 * in binary frames; with channels the first byte of each says of what: 0 stdin, 1
 * stdout, 2 stderr.
 */
#ifndef WARDBOX_SERVE_WIRE_H
#define WARDBOX_SERVE_WIRE_H

#include "base/json.h"
#include "serve/serve.h"
#include "serve/serve_args.h"

enum wire_type {
	WIRE_START,
	WIRE_ATTACH,
	WIRE_RESIZE,
	WIRE_SIGNAL,
	WIRE_EOF,
	WIRE_DETACH,
};

enum {
	WIRE_WORDS_MAX = 1 << 20,
	WIRE_COUNT_MAX = 16384,
	WIRE_LENGTH_MAX = 1000, /* rows or columns */
};

struct wire {
	enum wire_type type;
	struct buf words;  /* START: argv, a NUL behind each */
	size_t count;      /* of them */
	char argv0[256];
	struct buf cwd, dir; /* empty: none */
	char id[SERVE_ID_SIZE];
	uint64_t timeout_ns, at[SERVE_STREAMS];
	unsigned short rows, cols;
	char name[16]; /* SIGNAL: as it was said */
	int signal;
	bool pty, channels, keep, input, view;
	char said[ARGS_SAID]; /* what is wrong */
};
/* Empty, of that type. */
void wire_init(struct wire *w, enum wire_type type);
void wire_release(struct wire *w);
#define autowire autoclean(wire_release)

/* Reads a message; type counts where the text names none. -EINVAL with w->said. */
int wire_read(struct wire *w, const char *text, size_t n, enum wire_type type);
/* The words in front of a shell's text. */
void wire_shell(struct wire *w);
/* The number of .name in .signal. -EINVAL with w->said. */
int wire_signal(struct wire *w);
#define WIRE_ENV "the session's environment counts; see wardbox session env"
#define WIRE_ONE "neither command nor text, or both"

/* The members of a command: id, state, and once it has ended how. */
void wire_put_outcome(struct json *j, const struct serve_command *c);
/* And the rest that is known: command, session, decision, usage. */
void wire_put_facts(struct json *j, const struct serve_command *c);
/* "running" "asking" (it waits for a person) "ended" "denied" "failed". */
const char *wire_state(const struct serve_command *c);

#endif
