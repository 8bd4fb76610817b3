/* cbor.h - deterministic CBOR (RFC 8949 4.2.1), thin over tinycbor
 * SPDX-License-Identifier: MIT
 *
 * Shortest heads, definite lengths, no floats, map keys ascending. Writes into
 * a buf, so errors are sticky there. Reading is a cursor over bytes that
 * somebody else may have written: it never reads past their end, never
 * recurses beyond CBOR_DEPTH, never allocates.
 */
#ifndef WARDBOX_CBOR_H
#define WARDBOX_CBOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum { CBOR_DEPTH = 16 };

void cbor_put_uint(struct buf *b, uint64_t v);
void cbor_put_int(struct buf *b, int64_t v);
void cbor_put_bytes(struct buf *b, const void *p, size_t n);
/* Writes the head alone; n bytes must follow. */
void cbor_put_bytes_head(struct buf *b, size_t n);
void cbor_put_bool(struct buf *b, bool v);
/* Writes a text string if it is UTF-8, else a byte string. */
void cbor_put_text(struct buf *b, const char *s, size_t n);
/* n items, or n pairs, follow. */
void cbor_put_array(struct buf *b, size_t n);
void cbor_put_map(struct buf *b, size_t n);

/* A map of integer keys whose size is known at its end; at most 23 pairs. A key
 * out of order, or one too many, sets -EINVAL in the buf. */
struct cbor_map {
	struct buf *out;
	size_t at;
	int count, last;
};
struct cbor_map cbor_map_open(struct buf *b);
/* Writes the key of the next value. Returns the buf. */
struct buf *cbor_key(struct cbor_map *m, int key);
void cbor_map_close(struct cbor_map *m);

/* Is p[0..n) exactly one item in deterministic form? 0 or -EBADMSG. */
int cbor_check(const uint8_t *p, size_t n);

enum cbor_major {
	CBOR_UINT,
	CBOR_NEGATIVE, /* its value is -1 - n */
	CBOR_BYTES,
	CBOR_TEXT,
	CBOR_ARRAY,
	CBOR_MAP,
	CBOR_TAG,
	CBOR_SIMPLE,
};

struct cbor_in {
	const uint8_t *p, *end;
};

/* The head of an item; for strings bytes is set, n long. */
struct cbor_item {
	uint64_t n;
	const uint8_t *bytes;
	uint8_t major; /* enum cbor_major */
};

/* Reads a head, and the contents of a string. -EAGAIN: the bytes end within it;
 * -EBADMSG: not deterministic, a float, or indefinite. */
int cbor_next(struct cbor_in *in, struct cbor_item *item);

/* Skips one whole item. */
int cbor_skip(struct cbor_in *in);

#endif
