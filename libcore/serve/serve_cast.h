/* serve_cast.h - a command's output as asciinema has it: asciicast, and ALiS live
 * SPDX-License-Identifier: MIT
 *
 * Pure. Each call appends one message: a line of asciicast 2 or 3, or a frame of
 * ALiS 1 (asciinema's live stream). Times are microseconds and do not go back.
 */
#ifndef WARDBOX_SERVE_CAST_H
#define WARDBOX_SERVE_CAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum cast_form {
	CAST_NONE,
	CAST_V2,
	CAST_V3,
	CAST_ALIS,
};

struct cast {
	enum cast_form form;
	bool pipes;        /* the command has no terminal that would return at line ends */
	uint64_t first_us; /* asciicast's times begin here */
	uint64_t last_us, events;
};

/* What is said first. began: seconds since 1970. */
void cast_begin(struct cast *c, struct buf *out, uint64_t us, unsigned rows,
	unsigned cols, const char *command, uint64_t began);
void cast_output(struct cast *c, struct buf *out, uint64_t us, const char *bytes,
	size_t n);
void cast_resize(struct cast *c, struct buf *out, uint64_t us, unsigned rows,
	unsigned cols);
void cast_exit(struct cast *c, struct buf *out, uint64_t us, unsigned code);

/* How many of the bytes are whole characters: what may follow completes the rest. */
size_t cast_whole(const char *bytes, size_t n);

#endif
