/* arena.c - memory that is given out in order and freed at once
 * SPDX-License-Identifier: MIT
 */
#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Blocks grow, because most arenas need little, and one that is used up stays
 * close together. */
enum { ARENA_FIRST = 2 * 1024, ARENA_BLOCK = 64 * 1024 };

struct arena_block {
	struct arena_block *older;
	max_align_t bytes[];
};

void arena_release(struct arena *a)
{
	struct arena_block *b = a->blocks;

	while (b) {
		struct arena_block *older = b->older;

		free(b);
		b = older;
	}
	*a = ARENA_INIT(a->max);
}

/* Adds a block. A larger request gets a block of its own size. The rest of the
 * block before is given up, because requests are small beside a block. */
static bool add_block(struct arena *a, size_t n)
{
	size_t size = a->used + ARENA_FIRST < ARENA_BLOCK
		? a->used + ARENA_FIRST
		: ARENA_BLOCK;
	struct arena_block *b;

	if (size < n)
		size = n;
	if (a->failed || size > a->max - a->used)
		size = n;
	b = a->failed || size > a->max - a->used ? NULL
						 : malloc(sizeof(*b) + size);
	if (!b) {
		a->failed = true;
		return false;
	}
	b->older = a->blocks;
	a->blocks = b;
	a->next = (char *)b->bytes;
	a->left = size;
	a->used += size;
	return true;
}

char *arena_bytes(struct arena *a, size_t n)
{
	char *p;

	if (n > a->left && !add_block(a, n))
		return NULL;
	p = a->next;
	a->next += n;
	a->left -= n;
	return p;
}

void *arena_zalloc(struct arena *a, size_t n)
{
	size_t align = alignof(max_align_t);
	size_t skip = (size_t)(-(uintptr_t)a->next & (align - 1));
	char *p;

	if (skip <= a->left && n <= a->left - skip) {
		a->next += skip;
		a->left -= skip;
	} else if (!add_block(a, n)) {
		return NULL;
	}
	p = arena_bytes(a, n);
	return p ? memset(p, 0, n) : NULL;
}
