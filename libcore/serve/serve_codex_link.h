/* serve_codex_link.h - one client of codex's executor protocol at the engine
 * SPDX-License-Identifier: MIT
 *
 * Its processes are commands of one session, and so is each request about files:
 * decided, confined and recorded by the guard. They end with the client.
 */
#ifndef WARDBOX_SERVE_CODEX_LINK_H
#define WARDBOX_SERVE_CODEX_LINK_H

#include "serve/serve.h"
#include "serve/serve_codex.h"
#include "serve/serve_lines.h"

enum {
	CODEX_OUT_MAX = 192 << 20, /* answers that were not read yet */
	CODEX_OUT_ENOUGH = 1 << 20, /* so many, and no more output is taken */
	CODEX_WAITING_MAX = 256,   /* requests that are not answered yet */
	CODEX_HANDLES_MAX = 128,
	CODEX_CHUNKS_MAX = 50000, /* of a process, that can be read again */
};

struct codex_link {
	struct serve *engine;
	const char *session; /* whose commands it starts */
	char *const *env;
	const char *version; /* wardbox's */
	const char *home, *shell; /* of the user; "" unknown */
	uint64_t approver_ns; /* see serve_spec */
	struct buf answers;   /* lines that a transport is to write */
	void (*said)(struct codex_link *l); /* there are more of them */
	/* its own */
	bool asked, initialized, gone;
	struct codex_process *processes;
	struct codex_job *jobs;
	struct codex_wait *waits;
	struct codex_handle *handles;
	size_t waiting, handle_count;
};

void codex_link_init(struct codex_link *l);
/* What a message asks for; NULL: it was longer than CODEX_LINE_MAX. */
void codex_link_line(struct codex_link *l, const char *line, size_t n);
/* Answers were written: what waited for that goes on. */
void codex_link_room(struct codex_link *l);
/* The client has gone: what it started is told to end. */
void codex_link_release(struct codex_link *l);

/* The same by descriptors: lines.in, .out and .over are the caller's to set. */
struct codex_stdio {
	struct codex_link link;
	struct serve_lines lines;
};
int codex_stdio_open(struct codex_stdio *s);
void codex_stdio_close(struct codex_stdio *s);

#endif
