/* buf.h - growing bytes with a hard maximum and a sticky error
 * SPDX-License-Identifier: MIT
 *
 * Write, write, write, then look at .err once: after a failure every further
 * write is a no-op, so a half-written buffer is never taken for a whole one.
 */
#ifndef WARDBOX_BUF_H
#define WARDBOX_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

/* Marks variadic functions: no caller passes floating point, so the prologue
 * need not save those registers. */
#if defined __x86_64__ && !defined __clang__
#define FLOATLESS __attribute__((target("general-regs-only")))
#else
#define FLOATLESS
#endif

struct buf {
	char *data;
	size_t len;
	size_t cap; /* bytes at data */
	size_t max; /* .len never passes this */
	int err;    /* 0, -ENOMEM, or -ENOBUFS when max would be passed */
	bool owned; /* data is ours to grow and free */
	bool brief; /* buf_addf() shortens each long %s in its middle */
};

/* Empty, on the heap when needed, at most max bytes. */
struct buf buf_heap(size_t max);
#define BUF_INIT(maximum) buf_heap(maximum)

/* Empty, in the caller's array; never allocates. Holds size - 1 bytes, because
 * one is kept for buf_str()'s NUL. */
struct buf buf_fixed(char *array, size_t size);
#define BUF_FIXED(array) buf_fixed(array, sizeof(array))

void buf_release(struct buf *b);
#define autobuf autoclean(buf_release)

/* Drops the contents and the error, and keeps the memory. */
void buf_clear(struct buf *b);

/* Makes room for n more bytes. Returns the place to write, or NULL. The caller
 * adds the written bytes to .len. */
char *buf_reserve(struct buf *b, size_t n);

void buf_add(struct buf *b, const void *bytes, size_t n);
void buf_addc(struct buf *b, char c);
void buf_adds(struct buf *b, const char *s);

/* Appends v in decimal. */
void buf_addu(struct buf *b, uint64_t v);

/* A subset of printf, without locale, floats, %n or positions: flags '-' and
 * '0', width and precision as digits or '*', lengths l ll z j, conversions d i
 * u x X o c s p %. An unknown conversion sets .err to -EINVAL. */
__attribute__((format(printf, 2, 3))) void buf_addf(
	struct buf *b, const char *fmt, ...);
__attribute__((format(printf, 2, 0))) void buf_vaddf(
	struct buf *b, const char *fmt, va_list ap);

/* Formats into the caller's array: "" when the text does not fit. Returns
 * array. */
__attribute__((format(printf, 3, 4))) const char *buf_print(
	char *array, size_t size, const char *fmt, ...);
#define BUF_PRINT(array, ...) buf_print(array, sizeof(array), __VA_ARGS__)

/* The contents as a string (a NUL is kept behind them, not counted in .len);
 * "" after an error, never NULL. */
const char *buf_str(struct buf *b);

/* Removes the first n bytes. */
void buf_consume(struct buf *b, size_t n);

/* Must a failed read or write of fd be tried again, by errno? After a signal,
 * and once fd is ready for events, because another process may have made a
 * shared terminal or pipe non-blocking. */
bool fd_again(int fd, short events);

/* Reads fd to its end; waits for standard input. 0, -errno of read, or .err. */
int buf_read_fd(struct buf *b, int fd);

#endif
