/* arena.h - memory that is given out in order and freed at once
 * SPDX-License-Identifier: MIT
 *
 * The first block is taken with the first byte asked for. Nothing is ever
 * given back singly; past .max every request fails, and keeps failing.
 */
#ifndef WARDBOX_ARENA_H
#define WARDBOX_ARENA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"

struct arena_block;

struct arena {
	struct arena_block *blocks; /* the newest first */
	char *next;                 /* free bytes of the newest block */
	size_t left;
	size_t used; /* bytes of all blocks */
	size_t max;  /* .used never passes this */
	bool failed; /* a request was refused */
};

#define ARENA_INIT(maximum) ((struct arena){.max = (maximum)})

void arena_release(struct arena *a);
#define autoarena autoclean(arena_release)

/* n zeroed bytes, aligned for any object; NULL beyond .max or without
 * memory. */
void *arena_zalloc(struct arena *a, size_t n);

/* The same without alignment and without zeroes, for text. */
char *arena_bytes(struct arena *a, size_t n);

/* One object of a type. */
#define arena_new(a, type) ((type *)arena_zalloc((a), sizeof(type)))

#endif
