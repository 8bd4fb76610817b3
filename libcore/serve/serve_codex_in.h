/* serve_codex_in.h - what the files of a codex client share
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_SERVE_CODEX_IN_H
#define WARDBOX_SERVE_CODEX_IN_H

#include "serve/serve_codex_link.h"
#include "serve/serve_in.h"

/* A piece of a process's output, by its number: where it lies in its stream. */
struct codex_chunk {
	uint64_t seq, at;
	uint32_t len;
	enum serve_stream stream;
};

struct codex_process {
	struct serve_grave grave;
	struct codex_link *link;
	struct codex_process *next;
	char id[CODEX_ID_SIZE];
	struct serve_reader reader; /* attached for as long as it lives */
	struct serve_timer forget;
	struct codex_chunk *chunks; /* the oldest first */
	size_t count, cap;
	uint64_t seq;  /* the last that was given */
	uint64_t told_seq; /* of .told; 0: none */
	struct buf told; /* what wardbox itself says on its stderr */
	bool exited, closed, tty, asked;
};

/* A process/read that waits. */
struct codex_wait {
	struct serve_grave grave;
	struct codex_link *link;
	struct codex_wait *next;
	struct codex_process *process;
	struct rpc_token id;
	uint64_t after, max;
	struct serve_timer due;
};

/* Requests of the client's about processes. */
void codex_start(struct codex_link *l, struct codex_message *m);
void codex_reread(struct codex_link *l, struct codex_message *m);
void codex_write(struct codex_link *l, struct codex_message *m);
void codex_signal(struct codex_link *l, struct codex_message *m);
void codex_terminate(struct codex_link *l, struct codex_message *m);
/* Passes on what there is, as far as the client reads. */
void codex_pump(struct codex_process *p);
void codex_process_free(struct codex_process *p);
void codex_wait_free(struct codex_wait *w);
/* Answers the reads that have waited for that process, as far as there is
 * something to say, or all of them. */
void codex_answer_waits(struct codex_process *p);

/* Requests about files. text is the message. */
void codex_file(struct codex_link *l, struct codex_message *m, const char *text,
	size_t n);
void codex_file_open(struct codex_link *l, struct codex_message *m);
void codex_file_block(struct codex_link *l, struct codex_message *m);
void codex_file_close(struct codex_link *l, struct codex_message *m);
void codex_files_release(struct codex_link *l);

/* A memory file with those bytes, from its beginning. -errno. */
int codex_memory(const void *bytes, size_t n);
/* The client's wish as options of exec. */
void codex_add_wish(const struct codex_wish *w, struct buf *out);
/* Refuses with m->said. */
void codex_wrong(struct codex_link *l, const struct codex_message *m);
/* {} */
void codex_done(struct codex_link *l, const struct codex_message *m);

#endif
