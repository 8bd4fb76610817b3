/* libc.c - parts of the C library that are smaller here, or faster
 * SPDX-License-Identifier: MIT
 *
 * What a program without threads and with short lists to sort does not need of
 * them is some kilobytes.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Beside a debugger's or a sanitizer's library there is theirs. */
#ifndef __GLIBC__

/* No other thread exists whose locks the child would have to take over. */
pid_t fork(void)
{
	return _Fork();
}

static void swap_rows(char *a, char *b, size_t n)
{
	while (n--) {
		char c = a[n];

		a[n] = b[n];
		b[n] = c;
	}
}

/* By a heap: no order of the rows makes it slow. */
void qsort_r(void *rows, size_t count, size_t size,
	int (*order)(const void *, const void *, void *), void *ctx)
{
	char *row = rows;
	size_t top = count / 2 * size, end = count * size;

	for (;;) {
		size_t at, next;

		if (top) {
			top -= size;
		} else {
			if (end <= size)
				return;
			end -= size;
			swap_rows(row, row + end, size);
		}
		for (at = top; (next = 2 * at + size) < end; at = next) {
			if (next + size < end &&
				order(row + next, row + next + size, ctx) < 0)
				next += size;
			if (order(row + at, row + next, ctx) >= 0)
				break;
			swap_rows(row + at, row + next, size);
		}
	}
}

/* An order that asks for no context, called by one that brings it along. */
static int order_by(const void *x, const void *y, void *order)
{
	return (*(int (**)(const void *, const void *))order)(x, y);
}

void qsort(void *rows, size_t count, size_t size,
	int (*order)(const void *, const void *))
{
	qsort_r(rows, count, size, order_by, &order);
}

char *strstr(const char *s, const char *word)
{
	return memmem(s, strlen(s), word, strlen(word));
}

#ifdef __SSE2__
#include <emmintrin.h>

/* Most strings end in the first block. A block is aligned, so that it never
 * reaches into a page that the string does not touch. */
size_t strlen(const char *s)
{
	const __m128i end = _mm_setzero_si128();
	unsigned skip = (uintptr_t)s % sizeof(end);
	const __m128i *at = (const void *)(s - skip);
	unsigned found = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(*at, end));

	found >>= skip;
	if (found)
		return (unsigned)__builtin_ctz(found);
	do
		found = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(*++at, end));
	while (!found);
	return (size_t)((const char *)at - s) + (unsigned)__builtin_ctz(found);
}
#endif

#endif
