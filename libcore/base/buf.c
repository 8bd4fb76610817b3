/* buf.c - growing bytes with a hard maximum and a sticky error
 * SPDX-License-Identifier: MIT
 */
#include "base/buf.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct buf buf_heap(size_t max)
{
	return (struct buf){.max = max, .owned = true};
}

struct buf buf_fixed(char *array, size_t size)
{
	return (struct buf){.data = array, .cap = size, .max = size - 1};
}

void buf_release(struct buf *b)
{
	if (b->owned)
		free(b->data);
	b->data = NULL;
	b->len = b->cap = 0;
}

void buf_clear(struct buf *b)
{
	b->len = 0;
	b->err = 0;
}

/* Makes room for total bytes and the NUL of buf_str. */
static int buf_grow(struct buf *b, size_t total)
{
	size_t cap = b->cap ? b->cap : 64;
	char *grown;

	if (total > b->max)
		return -ENOBUFS;
	if (total < b->cap)
		return 0;
	if (!b->owned)
		return -ENOBUFS;
	while (cap <= total)
		cap = cap > b->max / 2 ? b->max + 1 : cap * 2;
	grown = realloc(b->data, cap);
	if (!grown)
		return -ENOMEM;
	b->data = grown;
	b->cap = cap;
	return 0;
}

char *buf_reserve(struct buf *b, size_t n)
{
	if (b->err)
		return NULL;
	b->err = n > b->max - b->len ? -ENOBUFS : buf_grow(b, b->len + n);
	return b->err ? NULL : b->data + b->len;
}

void buf_add(struct buf *b, const void *bytes, size_t n)
{
	char *to = buf_reserve(b, n);

	const char *from = bytes;

	if (!to)
		return;
	b->len += n;
	/* Most texts are short, and setting up a block copy costs more than
	 * these steps. */
	if (n > 32)
		memcpy(to, from, n);
	else
		while (n--)
			*to++ = *from++;
}

void buf_addc(struct buf *b, char c)
{
	if (!b->err && b->len + 1 < b->cap && b->len < b->max)
		b->data[b->len++] = c;
	else
		buf_add(b, &c, 1);
}

void buf_adds(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

const char *buf_str(struct buf *b)
{
	if (b->err || !b->cap)
		return "";
	b->data[b->len] = '\0';
	return b->data;
}

void buf_consume(struct buf *b, size_t n)
{
	if (n >= b->len) {
		b->len = 0;
		return;
	}
	memmove(b->data, b->data + n, b->len - n);
	b->len -= n;
}

bool fd_again(int fd, short events)
{
	struct pollfd p = {.fd = fd, .events = events};

	if (errno == EAGAIN)
		return poll(&p, 1, -1) >= 0 || errno == EINTR;
	return errno == EINTR;
}

int buf_read_fd(struct buf *b, int fd)
{
	/* With the NUL of buf_str 64 KiB, because the heap maps blocks that are
	 * much larger. */
	enum { ONCE = 65535 };

	for (;;) {
		char last = 0;
		size_t room = b->max - b->len;
		size_t spare = b->cap > b->len ? b->cap - b->len - 1 : 0;
		size_t want = room < ONCE ? room : ONCE;
		char *to;
		ssize_t got;

		/* The free room often holds the rest, and the end. */
		if (spare && spare < want)
			want = spare;
		to = want ? buf_reserve(b, want) : &last;
		if (!to)
			return b->err;
		got = read(fd, to, want ? want : 1);
		/* A descriptor that was opened as non-blocking is not waited
		 * for. */
		if (got < 0 && (errno == EINTR || (fd == STDIN_FILENO &&
							  fd_again(fd, POLLIN))))
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			return 0;
		if (!want)
			return b->err = -ENOBUFS;
		b->len += (size_t)got;
	}
}
