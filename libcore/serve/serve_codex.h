/* serve_codex.h - the messages of codex's executor protocol
 * SPDX-License-Identifier: MIT
 *
 * Pure: text in, text out. The protocol is JSON-RPC without its version, one
 * message a line or a WebSocket's message; paths are file: URIs, bytes base64.
 *
 *	code = codex_read(&m, text, n);
 *	if (code)
 *		codex_error(&out, &m.id, code, m.said);
 */
#ifndef WARDBOX_SERVE_CODEX_H
#define WARDBOX_SERVE_CODEX_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "serve/serve_args.h"
#include "serve/serve_rpc.h"

enum {
	CODEX_LINE_MAX = 64 << 20,
	CODEX_ID_SIZE = 160, /* of a process, a handle */
	CODEX_BLOCK_MAX = 1 << 20,
};

enum codex_method {
	CODEX_NONE, /* an answer, or a notification that means nothing here */
	CODEX_INITIALIZE,
	CODEX_INITIALIZED,
	CODEX_INFO,
	CODEX_STATUS,
	CODEX_START,
	CODEX_READ,
	CODEX_WRITE,
	CODEX_SIGNAL,
	CODEX_TERMINATE,
	CODEX_FILE_OPEN,
	CODEX_FILE_BLOCK,
	CODEX_FILE_CLOSE,
	/* What is done in a command's box. */
	CODEX_FILE_READ,
	CODEX_FILE_WRITE,
	CODEX_FILE_MKDIR,
	CODEX_FILE_STAT,
	CODEX_FILE_REAL,
	CODEX_FILE_LIST,
	CODEX_FILE_WALK,
	CODEX_FILE_REMOVE,
	CODEX_FILE_COPY,
};

struct codex_message {
	struct json_doc doc;
	enum codex_method method;
	struct rpc_token id;
	uint32_t params; /* a node, an object; 0: none */
	char said[192];  /* what is wrong */
};
void codex_release(struct codex_message *m);
#define autocodex autoclean(codex_release)

/* Reads a message into an empty m, which is to be released after any result and
 * refers to the text. 0, or a code for codex_error(). */
int codex_read(struct codex_message *m, const char *text, size_t n);

/* Members of an object of the message. -EINVAL with m->said: another type, too
 * long, or it is needed and not there. Else what is not there, or null, leaves the
 * value as it is. */
int codex_text(struct codex_message *m, uint32_t node, const char *key,
	bool needed, struct buf *value);
int codex_truth(struct codex_message *m, uint32_t node, const char *key,
	bool *value);
int codex_number(struct codex_message *m, uint32_t node, const char *key,
	uint64_t max, uint64_t *value);
int codex_path(struct codex_message *m, uint32_t node, const char *key,
	char path[static PATH_MAX]);
int codex_bytes(struct codex_message *m, uint32_t node, const char *key,
	struct buf *value);

/* What the client wishes its command or request to be kept from: lists of paths, a
 * NUL behind each. */
struct codex_wish {
	struct buf write, keep, hide;
	bool writes; /* nothing but what .write names may be written */
	bool offline;
};
#define CODEX_WISH_INIT ((struct codex_wish){.write = BUF_INIT(65536), \
	.keep = BUF_INIT(65536), .hide = BUF_INIT(65536)})
void codex_wish_release(struct codex_wish *w);
/* The member "sandbox". -EINVAL with m->said: no such object, or it says what
 * cannot be kept here. */
int codex_wish_read(struct codex_message *m, struct codex_wish *w);

/* What process/start says. */
struct codex_start {
	char id[CODEX_ID_SIZE], argv0[256], cwd[PATH_MAX];
	struct buf words; /* argv, a NUL behind each */
	struct buf env;   /* NAME=VALUE, a NUL behind each */
	bool tty, input, managed; /* managed: by a network of the client's */
	struct codex_wish wish;
};
#define CODEX_START_INIT ((struct codex_start){.words = BUF_INIT(4 << 20), \
	.env = BUF_INIT(1 << 20), .wish = CODEX_WISH_INIT})
void codex_start_release(struct codex_start *s);
int codex_start_read(struct codex_message *m, struct codex_start *s);

/* The plain command that stands for a request about files: a NUL behind each word.
 * The policy judges it, and the record shows it. -EINVAL with m->said. */
int codex_words(struct codex_message *m, struct buf *words);

/* The line of a refusal; of what has no id the number is -1. */
void codex_error(struct buf *out, const struct rpc_token *id, int code,
	const char *said);
/* The beginning of an answer's line: its members follow, then rpc_end(). */
void codex_begin(struct json *j, const struct rpc_token *id);
/* The same of a notification. */
void codex_notify(struct json *j, const char *method);
/* A member in base64. */
void codex_put_bytes(
	struct json *j, const char *key, const void *bytes, size_t n);
/* A member that is a path. */
void codex_put_path(struct json *j, const char *key, const char *path);

#endif
