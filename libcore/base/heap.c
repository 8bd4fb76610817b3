/* heap.c - memory for a process that lives for one command
 * SPDX-License-Identifier: MIT
 */
#include "base/heap.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/* Sixteen bytes in front of each block, on every machine. */
struct heap_block {
	_Alignas(16) size_t size; /* of the whole block */
	_Alignas(8) uint64_t mark; /* secret, address and state, mixed */
};
enum {
	UNIT = 16,
	HEAD = sizeof(struct heap_block),
	SMALL = 256, /* up to here each size has its own list */
	SPARSE = 16384, /* beyond this most of a block stays unused */
	TAKEN = 1,
	SPARE = 2,
};

static uint64_t mark_of(
	const struct heap *h, const struct heap_block *b, unsigned state)
{
	return (h->secret ^ (uintptr_t)b ^ state) +
		(uint64_t)b->size * 0x9e3779b1U;
}

static struct heap_block *block_of(const struct heap *h, const void *p)
{
	union {
		const char *in;
		struct heap_block *out;
	} at = {.in = (const char *)p - HEAD};

	if (at.out->mark != mark_of(h, at.out, TAKEN))
		__builtin_trap();
	return at.out;
}

static struct heap_block **next_of(struct heap_block *b)
{
	return (struct heap_block **)(void *)(b + 1);
}

/* The list for a size, which is rounded up to the list's size: above SMALL
 * there are four sizes to each power of two. */
static unsigned list_of(size_t *size)
{
	unsigned bits;
	size_t step;

	*size = (*size + UNIT - 1) & ~(size_t)(UNIT - 1);
	if (*size <= SMALL)
		return (unsigned)(*size / UNIT - 1);
	bits = 63 - (unsigned)__builtin_clzll(*size - 1);
	step = (size_t)1 << (bits - 2);
	*size = (*size + step - 1) & ~(step - 1);
	return SMALL / UNIT - 1 + 4 * (bits - 8) +
		(unsigned)((*size - ((size_t)1 << bits)) / step);
}

static void *map_pages(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

/* Cuts a block. Small ones lie side by side from the region's start, on few
 * pages; large ones, often hardly used, at its end. */
static struct heap_block *cut_block(struct heap *h, size_t size)
{
	struct heap_block *b;

	if ((size_t)(h->end - h->at) < size) {
		char *more = map_pages(HEAP_REGION);

		if (!more)
			return NULL;
		h->at = more;
		h->end = more + HEAP_REGION;
	}
	if (size > SPARSE) {
		h->end -= size;
		return (struct heap_block *)(void *)h->end;
	}
	b = (struct heap_block *)(void *)h->at;
	h->at += size;
	return b;
}

/* Takes a larger free block, because blocks that grew in place are on other
 * lists than the one for their first size. */
static struct heap_block *spare_of(struct heap *h, unsigned list)
{
	uint64_t from = h->filled >> list;
	struct heap_block *b;

	if (!from)
		return NULL;
	list += (unsigned)__builtin_ctzll(from);
	b = h->spare[list];
	if (b->mark != mark_of(h, b, SPARE))
		__builtin_trap();
	h->spare[list] = *next_of(b);
	h->filled ^= (uint64_t)!h->spare[list] << list;
	return b;
}

void *heap_take(struct heap *h, size_t size, bool *fresh)
{
	struct heap_block *b;

	*fresh = true;
	if (size > PTRDIFF_MAX / 2) {
		errno = ENOMEM;
		return NULL;
	}
	size = (size ? size : 1) + HEAD;
	if (size > HEAP_LARGE) {
		b = map_pages(size);
	} else {
		b = spare_of(h, list_of(&size));
		*fresh = !b;
		if (b)
			size = b->size;
		else
			b = cut_block(h, size);
	}
	if (!b)
		return NULL;
	b->size = size;
	b->mark = mark_of(h, b, TAKEN);
	return b + 1;
}

void heap_give(struct heap *h, void *p)
{
	struct heap_block *b = block_of(h, p);
	size_t size = b->size;
	unsigned list;

	if (size > HEAP_LARGE) {
		munmap(b, size);
		return;
	}
	list = list_of(&size);
	b->mark = mark_of(h, b, SPARE);
	*next_of(b) = h->spare[list];
	h->spare[list] = b;
	h->filled |= UINT64_C(1) << list;
}

/* The last block that was cut grows in place. */
static bool extend_block(struct heap *h, struct heap_block *b, size_t size)
{
	char *end = (char *)b + b->size;

	if (end != h->at || size > HEAP_LARGE)
		return false;
	list_of(&size);
	if ((size_t)(h->end - (char *)b) < size)
		return false;
	h->at = (char *)b + size;
	b->size = size;
	b->mark = mark_of(h, b, TAKEN);
	return true;
}

void *heap_resize(struct heap *h, void *p, size_t size)
{
	struct heap_block *b = block_of(h, p);
	size_t was = b->size - HEAD;
	bool fresh;
	void *q;

	if (size <= was || (size < HEAP_LARGE && extend_block(h, b, size + HEAD)))
		return p;
	q = heap_take(h, size, &fresh);
	if (!q)
		return NULL;
	memcpy(q, p, was);
	heap_give(h, p);
	return q;
}

void heap_trim(struct heap *h)
{
	enum { PAGE = 4096 };

	for (unsigned i = 0; i < HEAP_SIZES; i++)
		for (struct heap_block *b = h->spare[i]; b; b = *next_of(b)) {
			const uintptr_t from =
				((uintptr_t)(next_of(b) + 1) + PAGE - 1) &
				~(uintptr_t)(PAGE - 1);
			const uintptr_t to = ((uintptr_t)b + b->size) &
					     ~(uintptr_t)(PAGE - 1);

			if (from < to)
				madvise((void *)from, to - from, MADV_DONTNEED);
		}
}
