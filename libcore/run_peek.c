/* run_peek.c - what waits on a descriptor, left where it is
 * SPDX-License-Identifier: MIT
 */
#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"

/* Nobody can add to what is there. Asked for before it is looked at. */
static bool writers_gone(int fd)
{
	struct pollfd f = {.fd = fd, .events = POLLIN | POLLRDHUP};

	return poll(&f, 1, 0) == 1 && f.revents & (POLLHUP | POLLRDHUP);
}

static int peek_socket(int fd, struct buf *b, size_t n)
{
	char *to = buf_reserve(b, n);
	ssize_t got;

	if (!to)
		return b->err;
	do
		got = recv(fd, to, n, MSG_PEEK | MSG_DONTWAIT);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return errno == EAGAIN ? 0 : -errno;
	b->len += (size_t)got;
	return 0;
}

/* A second pipe gets references to the same pages. */
static int peek_pipe(int fd, struct buf *b, size_t n)
{
	int ends[2];
	ssize_t got;

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return -errno;
	autofd int out = ends[0];
	autofd int in = ends[1];
	int size = fcntl(fd, F_GETPIPE_SZ);

	if (size > 65536)
		fcntl(in, F_SETPIPE_SZ, size);
	do
		got = tee(fd, in, n, SPLICE_F_NONBLOCK);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return errno == EAGAIN ? 0 : -errno;
	for (size_t left = (size_t)got; left;) {
		char *to = buf_reserve(b, left);
		ssize_t part = to ? read(out, to, left) : -1;

		if (part <= 0)
			return to ? -EIO : b->err;
		b->len += (size_t)part;
		left -= (size_t)part;
	}
	return 0;
}

int run_peek(int fd, struct buf *b, size_t max, bool *complete)
{
	struct stat s;
	size_t was = b->len;
	bool gone;
	int there = 0, err;

	*complete = false;
	if (fstat(fd, &s) < 0)
		return -errno;
	if (!S_ISFIFO(s.st_mode) && !S_ISSOCK(s.st_mode))
		return -ESPIPE;
	gone = writers_gone(fd);
	if (ioctl(fd, FIONREAD, &there) < 0)
		return -errno;
	if ((size_t)there < max)
		max = (size_t)there;
	if (max == 0) {
		*complete = gone;
		return 0;
	}
	err = S_ISFIFO(s.st_mode) ? peek_pipe(fd, b, max)
				  : peek_socket(fd, b, max);
	*complete = gone && !err && b->len - was == (size_t)there;
	return err;
}
