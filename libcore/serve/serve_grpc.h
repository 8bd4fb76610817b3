/* serve_grpc.h - messages of wardbox.proto, and what gRPC says around them
 * SPDX-License-Identifier: MIT
 *
 * Pure. Five bytes stand before each message: whether it is compressed, which is
 * refused, and its length.
 */
#ifndef WARDBOX_SERVE_GRPC_H
#define WARDBOX_SERVE_GRPC_H

#include "serve/serve_pb.h"
#include "serve/serve_wire.h"

enum {
	GRPC_HEAD = 5,
	GRPC_MESSAGE_MAX = 512 << 10,
};

/* gRPC's codes. */
enum grpc_code {
	GRPC_OK = 0,
	GRPC_INVALID_ARGUMENT = 3,
	GRPC_DEADLINE_EXCEEDED = 4,
	GRPC_NOT_FOUND = 5,
	GRPC_PERMISSION_DENIED = 7,
	GRPC_RESOURCE_EXHAUSTED = 8,
	GRPC_FAILED_PRECONDITION = 9,
	GRPC_UNIMPLEMENTED = 12,
	GRPC_INTERNAL = 13,
	GRPC_UNAVAILABLE = 14,
	GRPC_UNAUTHENTICATED = 16,
};
/* The code that says what a status of HTTP does. */
enum grpc_code grpc_code_of(int status);

/* A message's head: 1, its length in *n; 0: more bytes are needed; else the negative
 * of the code that refuses it. */
int grpc_head(const char *bytes, size_t have, size_t *n);

struct grpc_input {
	struct wire wire;  /* what is asked, unless typed */
	char session[SESSION_ID_MAX + 1]; /* of START and ATTACH */
	uint64_t timeout_ms;
	bool pipes;
	bool typed;        /* bytes for the command's standard input: */
	const char *bytes; /* in the message */
	size_t n;
};
/* Reads an Input. -EINVAL with in->wire.said. Released by wire_release(&in->wire). */
int grpc_read(struct grpc_input *in, const char *message, size_t n);

/* Append an Output with its head. */
void grpc_put_started(struct buf *out, const struct serve_command *c);
void grpc_put_output(struct buf *out, enum serve_stream s, const char *bytes,
	size_t n);
void grpc_put_exit(struct buf *out, const struct serve_command *c,
	const uint64_t lost[static SERVE_STREAMS]);

/* What a health check asks for (text, of *n bytes), NULL: no such message. */
const char *grpc_read_health(const char *message, size_t *n);
/* It serves. */
void grpc_put_health(struct buf *out);

/* A deadline: "100m". -EINVAL. */
int grpc_timeout(const char *text, uint64_t *ns);
/* A text as grpc-message has it: bytes that are no plain ASCII as %XX. */
void grpc_put_escaped(struct buf *out, const char *text);

#endif
