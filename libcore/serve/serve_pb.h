/* serve_pb.h - fields of Protocol Buffers
 * SPDX-License-Identifier: MIT
 *
 * Pure. Groups, which nobody writes any more, are an error.
 */
#ifndef WARDBOX_SERVE_PB_H
#define WARDBOX_SERVE_PB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* What is left of a message. */
struct pb {
	const unsigned char *at, *end;
	bool bad; /* it is none */
};
#define PB_INIT(bytes, n)                                                      \
	((struct pb){.at = (const unsigned char *)(bytes),                     \
		.end = (const unsigned char *)(bytes) + (n)})

struct pb_field {
	uint32_t number;
	bool is_bytes;  /* else a number */
	uint64_t value; /* of a number, as it stands there */
	struct pb bytes;
};

/* The next field; false: that was all, or p->bad. */
bool pb_next(struct pb *p, struct pb_field *f);
/* The bytes of a text: whole UTF-8 without a NUL, else NULL. */
const char *pb_text(const struct pb_field *f, size_t *n);

/* Append a field; a number that is 0 and bytes that are none are left out. */
void pb_put(struct buf *out, uint32_t number, uint64_t value);
void pb_put_bytes(struct buf *out, uint32_t number, const void *bytes, size_t n);
void pb_put_text(struct buf *out, uint32_t number, const char *text);
/* What stands before n bytes of a field that follow. */
void pb_put_head(struct buf *out, uint32_t number, size_t n);
/* How long that is. */
size_t pb_head_size(uint32_t number, size_t n);

#endif
