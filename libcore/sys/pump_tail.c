/* pump_tail.c - a second view of what passes, and its last bytes
 * SPDX-License-Identifier: MIT
 */
#include "sys/pump.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { HELD = 262144 };

static void close_pair(int pair[2])
{
	for (int i = 0; i < 2; i++)
		if (pair[i] >= 0)
			close(pair[i]);
	pair[0] = pair[1] = -1;
}

static bool open_pair(int pair[2])
{
	if (pipe2(pair, O_CLOEXEC | O_NONBLOCK) == 0)
		return true;
	pair[0] = pair[1] = -1;
	return false;
}

bool pump_tail_open(struct pump_tail *t)
{
	if (!t->open && open_pair(t->now)) {
		t->before[0] = t->before[1] = -1;
		t->open = true;
	}
	return t->open;
}

void pump_tail_keep(struct pump_tail *t)
{
	t->keeps = pump_tail_open(t);
	/* A user who may not have such a large pipe has a smaller one. */
	if (t->keeps)
		fcntl(t->now[1], F_SETPIPE_SZ, HELD);
}

void pump_tail_close(struct pump_tail *t)
{
	if (t->open) {
		close_pair(t->now);
		close_pair(t->before);
	}
	t->open = t->keeps = false;
}

/* Gives the older half up and puts the other in its place. */
static void turn_pipes(struct pump_tail *t)
{
	close_pair(t->before);
	memcpy(t->before, t->now, sizeof(t->now));
	if (open_pair(t->now))
		fcntl(t->now[1], F_SETPIPE_SZ, HELD);
}

long pump_tail_tee(struct pump_tail *t, int from, size_t max)
{
	ssize_t n = tee(from, t->now[1], max, SPLICE_F_NONBLOCK);

	if (n < 0 && errno == EAGAIN && t->keeps) {
		turn_pipes(t);
		n = tee(from, t->now[1], max, SPLICE_F_NONBLOCK);
	}
	return n < 0 ? -errno : n;
}

void pump_tail_add(struct pump_tail *t, const char *bytes, size_t n)
{
	for (unsigned turns = 0; n && turns < 2;) {
		ssize_t put = write(t->now[1], bytes, n);

		if (put > 0) {
			bytes += put;
			n -= (size_t)put;
			turns = 0;
		} else if (put == 0 || errno != EINTR) {
			turn_pipes(t);
			turns++;
		}
	}
}

static size_t bytes_held(int fd)
{
	int n = 0;

	return fd >= 0 && ioctl(fd, FIONREAD, &n) == 0 && n > 0 ? (size_t)n : 0;
}

size_t pump_tail_size(const struct pump_tail *t)
{
	return t->open ? bytes_held(t->before[0]) + bytes_held(t->now[0]) : 0;
}

size_t pump_tail_read(struct pump_tail *t, char *buf, size_t size)
{
	ssize_t n = 0;

	if (t->open && t->before[0] >= 0)
		n = read(t->before[0], buf, size);
	if (t->open && n <= 0)
		n = read(t->now[0], buf, size);
	return n > 0 ? (size_t)n : 0;
}
