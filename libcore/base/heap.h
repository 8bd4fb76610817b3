/* heap.h - memory for a process that lives for one command
 * SPDX-License-Identifier: MIT
 *
 * For one thread. Blocks are cut from regions one behind the other, so that
 * only pages that are used are ever touched, and go to a list of their size
 * when they are freed. Large ones are mapped. A block that was written past
 * its begin, freed twice or never given ends the process.
 */
#ifndef WARDBOX_HEAP_H
#define WARDBOX_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	HEAP_SIZES = 52,
	HEAP_LARGE = 1 << 17, /* bytes; a block that takes more is mapped */
	HEAP_REGION = 1 << 19,
};

struct heap_block;

struct heap {
	char *at, *end;	 /* of the region */
	uint64_t secret; /* marks its blocks */
	uint64_t filled; /* a bit for each list with a block on it */
	struct heap_block *spare[HEAP_SIZES];
};

/* NULL with errno ENOMEM. *fresh: the block is new in its region, so it is
 * zeros. */
void *heap_take(struct heap *h, size_t size, bool *fresh);
void heap_give(struct heap *h, void *p);
/* As realloc; p is not NULL. */
void *heap_resize(struct heap *h, void *p, size_t size);
/* Gives the pages of free blocks back to the kernel. */
void heap_trim(struct heap *h);

#endif
