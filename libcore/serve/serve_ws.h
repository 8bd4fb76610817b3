/* serve_ws.h - WebSocket's frames and its beginning
 * SPDX-License-Identifier: MIT
 *
 * Pure. No extension is spoken, so a reserved bit is an error.
 */
#ifndef WARDBOX_SERVE_WS_H
#define WARDBOX_SERVE_WS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum ws_opcode {
	WS_MORE = 0,
	WS_TEXT = 1,
	WS_BINARY = 2,
	WS_CLOSE = 8,
	WS_PING = 9,
	WS_PONG = 10,
};

enum ws_code {
	WS_NORMAL = 1000,
	WS_GOING = 1001,
	WS_PROTOCOL = 1002,
	WS_UNSUPPORTED = 1003,
	WS_NONE = 1005, /* in no frame: a close without a code */
	WS_TEXT_BAD = 1007,
	WS_POLICY = 1008,
	WS_BIG = 1009,
	WS_INTERNAL = 1011,
};

enum {
	WS_HEAD_MAX = 14,
	WS_ACCEPT_SIZE = 29,
	WS_FRAME_MAX = 1 << 20,
	WS_TEXT_MAX = 64 << 10,
};

struct ws_frame {
	enum ws_opcode opcode;
	bool fin;
	uint64_t len;
	unsigned char mask[4]; /* zeros where it is not masked */
};

/* Reads a frame's head. Its length; 0: more bytes are needed; else the negative of
 * the code to close with. masked: as a client's frames must be, or a server's may
 * not. */
int ws_head_read(struct ws_frame *f, const unsigned char *bytes, size_t n,
	bool masked);
/* Takes the mask off n bytes that stand at the frame's byte at. */
void ws_unmask(const struct ws_frame *f, uint64_t at, char *bytes, size_t n);

/* Appends a frame; with mask (4 bytes, or NULL) as a client. */
void ws_frame_add(struct buf *out, enum ws_opcode opcode, const void *bytes,
	size_t n, const unsigned char *mask);
/* The head alone, of a server's frame. */
void ws_head_add(struct buf *out, enum ws_opcode opcode, size_t n);
void ws_close_add(struct buf *out, enum ws_code code, const char *why,
	const unsigned char *mask);
/* The code of a close frame's payload, or the negative of the code to close with
 * instead. */
int ws_close_read(const char *bytes, size_t n);

/* What answers a Sec-WebSocket-Key. false: the key is none. */
bool ws_accept(const char *key, char answer[static WS_ACCEPT_SIZE]);

/* Messages out of frames: order, fragments, sizes, text. */
struct ws_reader {
	bool client;    /* frames come from a client: masked */
	bool in_frame;
	struct ws_frame frame;
	uint64_t at;    /* in the frame */
	enum ws_opcode message; /* MORE: between messages */
	bool fresh;     /* no byte of the message was handed out yet */
	struct buf text; /* of a text message, a control frame */
};

/* What ws_next found. */
struct ws_piece {
	enum ws_opcode opcode; /* TEXT, CLOSE, PING, PONG are whole */
	char *bytes;           /* BINARY: a piece, in the caller's bytes */
	size_t n;
	bool first; /* BINARY: a message begins with it */
};

/* Takes the next piece from bytes (changed: the mask goes). *used is how many are
 * done with. 1: a piece; 2: go on behind them; 0: more bytes are needed; else a
 * negative close code.
 * r->text = BUF_INIT(WS_TEXT_MAX), or another maximum of a text message, before,
 * and released at the end. */
int ws_next(struct ws_reader *r, char *bytes, size_t n, size_t *used,
	struct ws_piece *out);

#endif
