/* pump.c - bytes from one descriptor to another, looked at on their way
 * SPDX-License-Identifier: MIT
 */
#include "sys/pump.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	BUFFER = 16384,
	ROOMY = 524288,
	ATOMIC = 4096, /* a pipe keeps a write of that size together */
	ROUNDS = 16,
	MOVED = 1 << 20, /* bytes moved at once, without a copy */
};

static void let_go(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void pump_end(struct pump *p)
{
	if (!p->live)
		return;
	let_go(&p->from);
	free(p->buf);
	p->buf = NULL;
	p->len = p->teed = 0;
	p->live = false;
}

const char *pump_held(const struct pump *p, size_t *n)
{
	*n = p->len;
	return p->len ? p->buf + p->at : "";
}

static size_t bytes_waiting(const struct pump *p)
{
	int n = 0;

	return p->from >= 0 && ioctl(p->from, FIONREAD, &n) == 0 && n > 0
		       ? (size_t)n
		       : 0;
}

uint64_t pump_due(const struct pump *p)
{
	size_t n = bytes_waiting(p);

	return p->bytes + (n > p->teed ? n - p->teed : 0);
}

bool pump_idle(const struct pump *p)
{
	return !p->len && !p->teed;
}

void pump_poll(const struct pump *p, struct pollfd fds[2])
{
	bool out = p->len || p->full;
	bool on = p->live && !p->paused;

	fds[0] = (struct pollfd){
		.fd = on && !out ? p->from : -1, .events = POLLIN};
	/* A terminal that hung up would wake every poll. */
	fds[1] = (struct pollfd){.fd = on && (out || !p->to_tty) ? p->to : -1,
		.events = out ? POLLOUT : 0};
}

/* Without us the writer could have ended by now, because its bytes would lie as
 * densely as the pipe allows. Makes room for those that do not. */
static bool make_room(struct pump *p)
{
	int has = p->ending && p->spliced ? fcntl(p->to, F_GETPIPE_SZ) : -1;

	p->ending = false;
	return has > 0 && fcntl(p->to, F_SETPIPE_SZ, 2 * has + ROOMY) > 0;
}

void pump_ending(struct pump *p)
{
	p->ending = true;
	if (p->len || p->full)
		make_room(p);
}

/* Can ATOMIC bytes be written at once? */
static bool is_writable(struct pump *p)
{
	struct pollfd f = {.fd = p->to, .events = POLLOUT};

	return (poll(&f, 1, 0) == 1 && f.revents) || make_room(p);
}

/* Writes as much as goes now. 1: all of it; 0: later; -EPIPE: the reader is
 * gone. */
static int put_bytes(struct pump *p, const char *bytes, size_t *left)
{
	size_t all = *left;

	if (p->to < 0)
		*left = 0;
	while (*left) {
		const char *at = bytes + (all - *left);
		ssize_t got;

		if (p->to_socket)
			got = send(p->to, at, *left,
				MSG_DONTWAIT | MSG_NOSIGNAL);
		else if (!is_writable(p))
			return 0;
		else
			got = write(p->to, at, *left > ATOMIC ? ATOMIC : *left);
		if (got < 0 && errno == EINTR)
			continue;
		/* Only this error is not the reader's. */
		if (got < 0)
			return errno == EAGAIN ? 0 :
				errno == ENOMEM ? -ENOMEM : -EPIPE;
		*left -= (size_t)got;
	}
	return 1;
}

static int flush_held(struct pump *p)
{
	size_t left = p->len;
	int done = left ? put_bytes(p, p->buf + p->at, &left) : 1;

	p->at += p->len - left;
	p->len = left;
	if (done == 1 && p->last)
		pump_end(p);
	return done;
}

/* Widens a pipe; other files, and wider pipes, stay unchanged. */
static void widen_pipe(int fd)
{
	if (fcntl(fd, F_GETPIPE_SZ) < ROOMY)
		fcntl(fd, F_SETPIPE_SZ, ROOMY);
}

/* The number of bytes, out of n, to pass on; -errno of .show. */
static ssize_t show_bytes(struct pump *p, const char *bytes, size_t n)
{
	int answer = PUMP_MORE;

	if (p->show && !p->plain)
		answer = p->show(p->ctx, p, bytes, n);
	if (answer < 0)
		return answer;
	if (answer == PUMP_TAIL)
		pump_tail_keep(&p->tail);
	p->drop = answer == PUMP_DROP;
	/* A long stream: fewer and longer turns. */
	if (p->spliced && (answer == PUMP_ENOUGH || answer == PUMP_TAIL)) {
		widen_pipe(p->from);
		widen_pipe(p->to);
	}
	p->plain |= answer == PUMP_ENOUGH || answer == PUMP_TAIL;
	return (ssize_t)(p->drop ? p->allow : n);
}

static bool make_buffer(struct pump *p)
{
	if (!p->buf)
		p->buf = malloc(BUFFER);
	p->at = p->len = 0;
	return p->buf;
}

/* Shows whole pages that stay in the pipe: .teed of them must be moved on.
 * -EAGAIN: impossible. */
static int look_at_pages(struct pump *p)
{
	long n;
	size_t pass = 0;

	if (!make_buffer(p))
		return -ENOMEM;
	if (!pump_tail_open(&p->tail))
		return -EAGAIN;
	n = pump_tail_tee(&p->tail, p->from, MOVED);
	if (n <= 0)
		return -EAGAIN;
	while (!p->plain && !p->drop && pass < (size_t)n) {
		size_t got = pump_tail_read(&p->tail, p->buf, BUFFER);
		ssize_t more = got ? show_bytes(p, p->buf, got) : -EIO;

		if (more < 0)
			return (int)more;
		pass += (size_t)more;
	}
	p->teed = p->drop ? pass : (size_t)n;
	p->bytes += p->teed;
	if (!p->tail.keeps && p->plain)
		pump_tail_close(&p->tail);
	return 0;
}

/* Moves pages. 1: moved; 0: no room behind; -EAGAIN: impossible. */
static int move_pages(struct pump *p)
{
	bool looks = !p->plain || p->tail.keeps;
	int err = looks && !p->teed ? look_at_pages(p) : 0;
	ssize_t n;

	if (err || (p->drop && !p->teed))
		return err;
	do
		n = splice(p->from, NULL, p->to, NULL,
			p->teed ? p->teed : MOVED,
			SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
	while (n < 0 && errno == EAGAIN && make_room(p));
	p->full = n < 0 && errno == EAGAIN;
	if (n < 0)
		return p->full ? 0 : errno == EPIPE ? -EPIPE : -EAGAIN;
	if (p->teed)
		p->teed -= (size_t)n;
	else
		p->bytes += (uint64_t)n;
	return 1;
}

/* Takes bytes to be passed on or dropped; 0 at the end, -errno. */
static ssize_t take_bytes(struct pump *p, size_t max)
{
	ssize_t n;

	if (!make_buffer(p))
		return -ENOMEM;
	do
		n = read(p->from, p->buf, max);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

/* Passes on what was taken. As flush(). */
static int pass_bytes(struct pump *p, size_t n)
{
	size_t had = p->teed < n ? p->teed : n; /* shown and not yet moved */
	ssize_t more = (ssize_t)n;

	p->teed -= had;
	p->bytes += n - had;
	if (p->drop && !had)
		return 1;
	if (!had && p->tail.keeps)
		pump_tail_add(&p->tail, p->buf, n);
	else if (!had)
		more = show_bytes(p, p->buf, n);
	if (more < 0)
		return (int)more;
	p->len = (size_t)more;
	return flush_held(p);
}

/* Reads at most max bytes at a time and passes them on, while there are that
 * many. */
static int copy_bytes(struct pump *p, size_t max)
{
	for (unsigned rounds = 0; rounds < ROUNDS; rounds++) {
		size_t want = p->teed && p->teed < max ? p->teed : max;
		ssize_t n = take_bytes(p, want);
		int done;

		if (n == -ENOMEM)
			return -ENOMEM;
		p->dry = n == -EAGAIN;
		if (p->dry)
			return 1;
		if (n <= 0) {
			p->last = true;
			return flush_held(p);
		}
		done = pass_bytes(p, (size_t)n);
		if (done != 1 || (size_t)n < BUFFER)
			return done;
	}
	return 1;
}

static int step_once(struct pump *p, const struct pollfd fds[2])
{
	size_t n;
	int done;

	if (p->len)
		return fds[1].revents ? flush_held(p) : 0;
	if (!fds[p->full].revents)
		return 0;
	p->full = false;
	/* Empty, and no writer is left. */
	if (p->spliced && fds[0].revents == POLLHUP) {
		p->last = true;
		return flush_held(p);
	}
	if (!p->spliced || (p->drop && !p->teed))
		return copy_bytes(p, BUFFER);
	n = bytes_waiting(p);
	if (n > ATOMIC || p->teed) {
		done = move_pages(p);
		if (done != -EAGAIN)
			return done;
		n = ATOMIC;
	}
	/* Reads no more than there is, so that a writer's piece stays
	 * together. */
	return copy_bytes(p, n ? n : 1);
}

int pump_step(struct pump *p, const struct pollfd fds[2])
{
	int done;

	if (!p->live)
		return 0;
	if (fds[1].revents & (POLLERR | POLLNVAL) ||
		(p->to_socket && fds[1].revents & POLLHUP))
		return PUMP_GONE;
	done = step_once(p, fds);
	if (done == -EPIPE)
		return PUMP_GONE;
	return done < 0 ? done : 0;
}
