/* serve_http.h - heads of HTTP/1.1 requests, and answers to them
 * SPDX-License-Identifier: MIT
 *
 * Pure: text in, text out. Stricter than the RFC lets a server be, because what
 * two readers take for different requests is smuggled past one of them: lines end
 * with CRLF, no folded lines, no space before a colon, one Host, one length in
 * digits, no transfer coding.
 */
#ifndef WARDBOX_SERVE_HTTP_H
#define WARDBOX_SERVE_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum {
	HTTP_HEAD_MAX = 8192,
	HTTP_FIELDS_MAX = 64,
	HTTP_BODY_MAX = 1 << 20,
};

/* What of a request counts here; "" what was not said. */
struct http_request {
	char method[8];
	char path[512];  /* no '?' and what follows it */
	char host[256], origin[256];
	char token[128]; /* Authorization: Bearer, X-API-Key, or of protocols */
	char upgrade[32], key[32], version[8], protocols[256];
	const char *query; /* in the request's bytes, as it was said */
	size_t query_len;
	bool connection_upgrade, keep, gzip;
	char mcp_version[16], mcp_method[64], mcp_name[64];
	uint64_t length; /* of the body */
};

/* Reads a head. How long it is; 0: more bytes are needed; else the negative of the
 * status that refuses it: 400, 413, 431, 501, 505. */
int http_read(struct http_request *r, const char *bytes, size_t n);

/* Takes a field of HTTP/2, or one of its pseudo-fields. 0, or the status that
 * refuses it. */
int http_field(struct http_request *r, const char *name, size_t len,
	const char *value, size_t n);

/* Appends the value of the query's name number nth, from 0, with its %XX undone: 1;
 * 0: it is not said; -EINVAL: a NUL, or no %XX; or out's error. */
int http_query_text(const struct http_request *r, const char *name, size_t nth,
	struct buf *out);
/* The first one as a number; *value stays where it is not said. -EINVAL. */
int http_query(const struct http_request *r, const char *name, uint64_t max,
	uint64_t *value);

/* Is word one of the list's, divided by commas, whatever its case? */
bool http_lists(const char *list, const char *word);

/* HOST:PORT or [HOST]:PORT in two; the port is "" where none is said. -EINVAL:
 * none of them, or it does not fit. */
int http_authority(const char *text, char *host, size_t host_size, char *port,
	size_t port_size);

const char *http_reason(int status);
/* A whole answer. type NULL: it has no body. fields: more of its head, a CRLF behind
 * each. */
void http_answer(struct buf *out, int status, const char *type,
	const char *fields, const void *body, size_t n, bool keep);
/* The head of one whose body ends with the connection. */
void http_stream(struct buf *out, const char *type);

#endif
