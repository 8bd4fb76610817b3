/* malloc.c - the C library's allocator, replaced
 * SPDX-License-Identifier: MIT
 *
 * The library's maps a page or more for every size that is asked for once,
 * which a command that lives for a millisecond pays for with half of it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/heap.h"

/* Beside a debugger's or a sanitizer's library there is theirs. */
#ifndef __GLIBC__

static struct heap heap;
static _Alignas(16) char first[HEAP_REGION];

static void *take_memory(size_t n, bool *fresh)
{
	if (!heap.secret) {
		memcpy(&heap.secret, (const void *)getauxval(AT_RANDOM),
			sizeof(heap.secret));
		heap.secret |= 1;
		heap.at = first;
		heap.end = first + sizeof(first);
	}
	return heap_take(&heap, n, fresh);
}

void *malloc(size_t n)
{
	bool fresh;

	return take_memory(n, &fresh);
}

/* By its own name, which would bring its own heap. */
void *__libc_malloc(size_t n);
void *__libc_malloc(size_t n)
{
	return malloc(n);
}

void *calloc(size_t count, size_t n)
{
	bool fresh;
	size_t size;
	void *p;

	if (__builtin_mul_overflow(count, n, &size)) {
		errno = ENOMEM;
		return NULL;
	}
	p = take_memory(size, &fresh);
	return p && !fresh ? memset(p, 0, size) : p;
}

void *realloc(void *p, size_t n)
{
	return p ? heap_resize(&heap, p, n) : malloc(n);
}

void free(void *p)
{
	int err = errno;

	if (p)
		heap_give(&heap, p);
	errno = err;
}

/* As glibc has it: true when there was a heap. */
int malloc_trim(size_t pad);
int malloc_trim(size_t pad)
{
	(void)pad;
	heap_trim(&heap);
	return heap.secret != 0;
}

#endif
