/* pump_tail.c - the last bytes of what passes, held on to without a copy
 * SPDX-License-Identifier: MIT
 */
#include "pump.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { HELD = 262144 };

static void close_pair(int pair[2])
{
	for (int i = 0; i < 2; i++) {
		if (pair[i] >= 0)
			close(pair[i]);
		pair[i] = -1;
	}
}

void pump_tail_close(struct pump_tail *t)
{
	close_pair(t->now);
	close_pair(t->before);
	if (t->null >= 0)
		close(t->null);
	t->null = -1;
}

bool pump_tail_open(struct pump_tail *t)
{
	*t = PUMP_TAIL_INIT;
	t->null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (t->null < 0 || pipe2(t->now, O_CLOEXEC | O_NONBLOCK) < 0 ||
		pipe2(t->before, O_CLOEXEC | O_NONBLOCK) < 0) {
		pump_tail_close(t);
		return false;
	}
	/* Who may not have that much has less. */
	fcntl(t->now[1], F_SETPIPE_SZ, HELD);
	fcntl(t->before[1], F_SETPIPE_SZ, HELD);
	return true;
}

/* The older half is let go, the other one becomes it. */
static void turn(struct pump_tail *t)
{
	int older[2];

	while (splice(t->before[0], NULL, t->null, NULL, HELD,
		       SPLICE_F_NONBLOCK) > 0)
		;
	memcpy(older, t->before, sizeof(older));
	memcpy(t->before, t->now, sizeof(older));
	memcpy(t->now, older, sizeof(older));
}

long pump_tail_tee(struct pump_tail *t, int from, size_t max)
{
	ssize_t n = tee(from, t->now[1], max, SPLICE_F_NONBLOCK);

	if (n < 0 && errno == EAGAIN) {
		turn(t);
		n = tee(from, t->now[1], max, SPLICE_F_NONBLOCK);
	}
	return n < 0 ? -errno : n;
}

void pump_tail_add(struct pump_tail *t, const char *bytes, size_t n)
{
	unsigned turns = 0;

	while (n && turns < 2) {
		ssize_t put = write(t->now[1], bytes, n);

		if (put > 0) {
			bytes += put;
			n -= (size_t)put;
			turns = 0;
		} else if (put < 0 && errno == EINTR) {
			continue;
		} else {
			turn(t);
			turns++;
		}
	}
}

static size_t held(int fd)
{
	int n = 0;

	return fd >= 0 && ioctl(fd, FIONREAD, &n) == 0 && n > 0 ? (size_t)n : 0;
}

size_t pump_tail_size(const struct pump_tail *t)
{
	return held(t->before[0]) + held(t->now[0]);
}

size_t pump_tail_read(struct pump_tail *t, char *buf, size_t size)
{
	ssize_t n = t->before[0] < 0 ? 0 : read(t->before[0], buf, size);

	if (n <= 0 && t->now[0] >= 0)
		n = read(t->now[0], buf, size);
	return n > 0 ? (size_t)n : 0;
}
