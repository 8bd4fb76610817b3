/* pump.c - bytes from one descriptor to another, looked at on their way
 * SPDX-License-Identifier: MIT
 */
#include "pump.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	BUFFER = 16384,
	ATOMIC = 4096, /* a write of that many is not divided by a pipe */
	ROUNDS = 16,
	MOVED = 1 << 20, /* at once, without a copy */
};

static void let_go(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void pump_end(struct pump *p)
{
	let_go(&p->from);
	if (p->close_to)
		let_go(&p->to);
	free(p->buf);
	p->buf = NULL;
	p->len = p->first_len = 0;
	p->live = false;
}

size_t pump_waiting(const struct pump *p)
{
	int n = 0;

	if (p->from < 0 || ioctl(p->from, FIONREAD, &n) < 0 || n < 0)
		n = 0;
	return p->len + p->first_len + (size_t)n;
}

static bool pending(const struct pump *p)
{
	return p->len || p->first_len || p->full;
}

void pump_poll(const struct pump *p, struct pollfd fds[2])
{
	bool out = pending(p);
	bool in = !out || p->kept;
	bool on = p->live && !p->paused;

	fds[0] = (struct pollfd){.fd = on && in ? p->from : -1,
		.events = POLLIN};
	/* A terminal that hung up says so at every turn. */
	fds[1] = (struct pollfd){.fd = on && (out || !p->to_tty) ? p->to : -1,
		.events = out ? POLLOUT : 0};
}

/* Does a write of ATOMIC bytes go through at once? */
static bool writable(int fd)
{
	struct pollfd f = {.fd = fd, .events = POLLOUT};

	return poll(&f, 1, 0) == 1 && f.revents;
}

/* How much of n bytes to write in one piece: what a pipe takes undivided, to
 * the end of a line where there is one. */
static size_t piece(const struct pump *p, const char *bytes, size_t n)
{
	const char *line;

	if (!p->to_pipe || n <= ATOMIC)
		return n;
	line = memrchr(bytes, '\n', ATOMIC);
	return line ? (size_t)(line - bytes) + 1 : ATOMIC;
}

/* As much as goes now. 1: all of it; 0: later; -errno: the reader is gone. */
static int put(struct pump *p, const char *bytes, size_t *left)
{
	size_t all = *left;

	if (p->to < 0)
		*left = 0;
	while (*left) {
		const char *at = bytes + (all - *left);
		size_t n = piece(p, at, *left);
		ssize_t got;

		if (p->to_socket) {
			got = send(p->to, at, n, MSG_DONTWAIT | MSG_NOSIGNAL);
		} else {
			if (!writable(p->to))
				return 0;
			got = write(p->to, at, n);
		}
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return errno == EAGAIN ? 0 : -EPIPE;
		*left -= (size_t)got;
	}
	return 1;
}

static int flush(struct pump *p)
{
	size_t left = p->first_len;
	int done = 1;

	if (left) {
		done = put(p, p->first, &left);
		p->first += p->first_len - left;
		p->first_len = left;
	}
	if (done == 1 && p->len) {
		left = p->len;
		done = put(p, p->buf + p->at, &left);
		p->at += p->len - left;
		p->len = left;
	}
	if (done == 1)
		p->kept = false;
	if (done == 1 && p->last)
		pump_end(p);
	return done;
}

/* Moves pages. 1: moved; 0: no room behind; -EAGAIN: too little for it. */
static int move(struct pump *p)
{
	int there = 0;
	ssize_t n;

	if (ioctl(p->from, FIONREAD, &there) < 0 || there < BUFFER)
		return -EAGAIN;
	if (p->tailed && !p->teed) {
		long along = pump_tail_tee(&p->tail, p->from, MOVED);

		if (along <= 0)
			return -EAGAIN;
		p->teed = (size_t)along;
	}
	n = splice(p->from, NULL, p->to, NULL, p->tailed ? p->teed : MOVED,
		SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
	if (n > 0) {
		p->bytes += (uint64_t)n;
		p->teed -= p->tailed ? (size_t)n : 0;
		p->full = false;
		return 1;
	}
	if (n < 0 && errno == EAGAIN) {
		p->full = true;
		return 0;
	}
	return n < 0 && errno == EPIPE ? -EPIPE : -EAGAIN;
}

/* Reads behind what is held already. Bytes, 0 at the end, -errno. */
static ssize_t take(struct pump *p)
{
	ssize_t n;

	if (!p->buf)
		p->buf = malloc(BUFFER);
	if (!p->buf)
		return -ENOMEM;
	if (p->len && p->at)
		memmove(p->buf, p->buf + p->at, p->len);
	p->at = 0;
	do
		n = read(p->from, p->buf + p->len, BUFFER - p->len);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

/* How many of n bytes to pass on; -errno of .show. */
static ssize_t show(struct pump *p, const char *bytes, size_t n)
{
	int answer = PUMP_MORE;

	p->bytes += n;
	if (p->drop)
		return 0;
	if (p->tailed) {
		size_t had = p->teed < n ? p->teed : n;

		p->teed -= had;
		pump_tail_add(&p->tail, bytes + had, n - had);
	}
	if (p->show && !p->plain)
		answer = p->show(p->ctx, p, bytes, n);
	if (answer < 0)
		return answer;
	p->plain |= answer == PUMP_ENOUGH || answer == PUMP_TAIL;
	if (answer == PUMP_TAIL)
		p->tailed = pump_tail_open(&p->tail);
	p->drop = answer == PUMP_DROP;
	return (ssize_t)(p->drop ? p->allow : n);
}

/* A full buffer says that the end of the last line is still in the pipe: puts
 * the whole lines out, keeps the rest. */
static int put_lines(struct pump *p)
{
	const char *end =
		p->to_pipe ? memrchr(p->buf, '\n', p->len) : NULL;
	size_t lines = end ? (size_t)(end - p->buf) + 1 : p->len;
	size_t left = lines;
	int done = put(p, p->buf, &left);

	p->at = lines - left;
	p->len -= p->at;
	p->kept = done == 1 && p->len;
	return done;
}

/* Reads and passes on while there is something and room. */
static int copy(struct pump *p)
{
	for (unsigned rounds = 0; rounds < ROUNDS; rounds++) {
		ssize_t n = take(p);
		int done;

		if (n == -ENOMEM)
			return -ENOMEM;
		p->dry = n == -EAGAIN;
		if (p->dry)
			return flush(p);
		if (n <= 0) {
			/* What is held goes before the end is passed on. */
			p->last = true;
			return flush(p);
		}
		n = show(p, p->buf + p->len, (size_t)n);
		if (n < 0)
			return (int)n;
		p->len += (size_t)n;
		if (p->len < BUFFER)
			return flush(p);
		done = put_lines(p);
		if (done != 1)
			return done;
	}
	return 1;
}

static int step(struct pump *p, const struct pollfd fds[2])
{
	bool in = fds[0].revents;
	int done = -EAGAIN;

	if (pending(p) && !p->full && !(p->kept && in))
		return fds[1].revents ? flush(p) : 0;
	if (!in && !(p->full && fds[1].revents))
		return 0;
	p->full = false;
	if (p->plain && p->spliced && !p->drop && !p->len)
		done = move(p);
	return done == -EAGAIN ? copy(p) : done;
}

int pump_step(struct pump *p, const struct pollfd fds[2])
{
	int done;

	if (!p->live)
		return 0;
	/* The reader is gone: so it is for the writer. */
	if (fds[1].revents & (POLLERR | POLLNVAL) ||
		(p->to_socket && fds[1].revents & POLLHUP)) {
		pump_end(p);
		return 0;
	}
	done = step(p, fds);
	if (done == -EPIPE) {
		pump_end(p);
		return 0;
	}
	return done < 0 ? done : 0;
}
