/* serve_lines.c - lines from a client by descriptors, and lines back
 * SPDX-License-Identifier: MIT
 */
#include "serve/serve_lines.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "serve/serve_in.h"

enum { PIECE = 4096 }; /* a pipe that is ready takes it at once */

static void lines_over(struct serve_lines *l)
{
	void (*over)(struct serve_lines *l) = l->over;

	l->over = NULL;
	if (over)
		over(l);
}

/* Some of it, without waiting. -errno; -EAGAIN: later. */
static ssize_t write_some(int fd, const char *bytes, size_t n)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};
	ssize_t done = send(fd, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (done < 0 && errno == ENOTSOCK) {
		if (poll(&p, 1, 0) == 0)
			return -EAGAIN;
		done = write(fd, bytes, n < PIECE ? n : PIECE);
	}
	return done < 0 ? -errno : done;
}

void serve_lines_flush(struct serve_lines *l)
{
	size_t at = 0;
	ssize_t n = 0;

	while (at < l->answers->len && n >= 0) {
		n = write_some(l->out, l->answers->data + at,
			l->answers->len - at);
		at += n > 0 ? (size_t)n : 0;
	}
	buf_consume(l->answers, at);
	if (l->answers->err || (n < 0 && n != -EAGAIN && n != -EINTR)) {
		l->ended = true;
		lines_over(l);
		return;
	}
	if (!l->answers->len)
		serve_watch_stop(l->loop, &l->write);
	else if (serve_watch_set(l->loop, &l->write, l->out, EPOLLOUT))
		lines_over(l);
	if (l->ended && !*l->waiting && !l->answers->len)
		lines_over(l);
}

/* Each whole line; what is left waits for its end. */
static void take_lines(struct serve_lines *l)
{
	size_t at = 0;
	char *end;

	while ((end = memchr(l->line.data + at, '\n', l->line.len - at))) {
		size_t n = (size_t)(end - l->line.data) - at;

		if (!l->skipping && n)
			l->take(l, l->line.data + at, n);
		l->skipping = false;
		at += n + 1;
	}
	buf_consume(&l->line, at);
	if (l->line.len < l->max)
		return;
	if (!l->skipping)
		l->take(l, NULL, 0);
	l->skipping = true;
	buf_clear(&l->line);
}

static void read_ready(struct serve_watch *w, uint32_t events)
{
	struct serve_lines *l = CONTAINER(w, struct serve_lines, read);
	char *to = buf_reserve(&l->line, LINES_READ);
	ssize_t n = to ? read(l->in, to, LINES_READ) : 0;

	(void)events;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0) {
		l->line.len += (size_t)n;
		take_lines(l);
	} else {
		l->ended = true;
		serve_watch_stop(l->loop, &l->read);
		l->gone(l);
	}
	/* One that asks and does not read is not asked for more. */
	if (l->answers->len > LINES_ENOUGH)
		serve_watch_stop(l->loop, &l->read);
	serve_lines_flush(l);
}

static void write_ready(struct serve_watch *w, uint32_t events)
{
	struct serve_lines *l = CONTAINER(w, struct serve_lines, write);

	(void)events;
	serve_lines_flush(l);
	if (!l->over || l->answers->len > LINES_ENOUGH)
		return;
	if (l->room)
		l->room(l);
	if (l->over && !l->ended && l->read.fd < 0)
		(void)serve_watch_set(l->loop, &l->read, l->in, EPOLLIN);
}

/* A file that cannot be waited for: all of it is there. */
static int read_file(struct serve_lines *l)
{
	while (!l->ended && l->over)
		read_ready(&l->read, 0);
	return 0;
}

int serve_lines_open(struct serve_lines *l)
{
	int err;

	l->line = BUF_INIT(l->max + LINES_READ);
	l->read.fd = l->write.fd = -1;
	l->read.ready = read_ready;
	l->write.ready = write_ready;
	err = serve_watch_set(l->loop, &l->read, l->in, EPOLLIN);
	return err == -EPERM ? read_file(l) : err;
}

void serve_lines_close(struct serve_lines *l)
{
	l->over = NULL;
	serve_watch_stop(l->loop, &l->read);
	serve_watch_stop(l->loop, &l->write);
	buf_release(&l->line);
}
