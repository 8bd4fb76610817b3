/* serve_h2_in.h - a connection of HTTP/2, and the calls of gRPC on it
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_SERVE_H2_IN_H
#define WARDBOX_SERVE_H2_IN_H

#include <nghttp2/nghttp2.h>

#include "serve/serve_grpc.h"
#include "serve/serve_server_in.h"

enum {
	CALLS_MAX = 64,           /* at a time on a connection */
	CALL_HEAD_MAX = 16 << 10, /* bytes of its fields, as HPACK counts them */
	CALL_HEAD_WORST = 64 << 10, /* the connection ends */
	CALL_FIELDS_MAX = 64,
	CALL_WINDOW = 64 << 10,
	CALL_PIECE = 16 << 10, /* of output in one message */
};

/* What is asked for by its path. */
enum call_way { CALL_RUN, CALL_CHECK, CALL_WATCH, CALL_NONE };

struct h2;
struct call {
	struct serve_grave grave;
	struct h2 *h2;
	struct call *next;
	int32_t stream;
	struct http_request *head; /* while its fields come */
	size_t head_bytes;
	int fields;
	bool typed;    /* its content is gRPC's */
	bool late;     /* it waits to be told that its key is none */
	bool answered; /* its own head was sent */
	bool over;     /* its end was decided, by code */
	bool ended;    /* the client says no more */
	bool shut;     /* and the command was told */
	uint64_t deadline_ns; /* 0: none */
	enum call_way way;
	enum grpc_code code;
	char why[232];
	struct serve_timer timer; /* of .late, or its deadline */
	struct serve_who who;
	struct buf in;  /* messages that are not whole, or not yet taken */
	struct buf out; /* messages that no frame has taken */
	size_t owed;    /* bytes of the window that the client does not have back */
	char session[SESSION_ID_MAX + 1];
	struct serve_reader reader;
	bool own, view;
};

struct h2 {
	struct serve_grave grave;
	struct serve_conn *conn;
	nghttp2_session *session;
	struct call *first;
	bool broken; /* a callback failed: out of memory */
};

/* A request begins; NULL: out of memory. */
struct call *call_new(struct h2 *h, int32_t stream);
/* The stream has ended, whoever ended it. */
void call_free(struct call *c);
/* A field of the request. */
void call_field(struct call *c, const char *name, size_t len,
	const char *value, size_t n);
/* All fields were there. */
void call_begin(struct call *c);
void call_bytes(struct call *c, const void *bytes, size_t n);
void call_ended(struct call *c);
/* The next bytes of its answer, at most n; -1: none now; *last: none ever. */
ssize_t call_read(struct call *c, void *to, size_t n, bool *last);
/* Ends the call where its key is none any more. */
void call_check_key(struct call *c, const struct serve_keys *keys);

/* Begins the answer; last: it has no message, and ends with its code. */
void h2_answer(struct call *c, bool last);
/* An answer without gRPC. */
void h2_refuse(struct call *c, int status);
/* What ends an answer that has begun. */
void h2_trailer(struct call *c);
/* There is more to be read of the call's answer. */
void h2_resume(struct call *c);
/* The client may send so many bytes more. */
void h2_consume(struct call *c, size_t n);

#endif
