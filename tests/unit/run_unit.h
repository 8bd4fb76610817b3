/* run_unit.h - a command that is run in a fork of its own
 * SPDX-License-Identifier: MIT
 *
 * run() takes a process's descriptors and signals over.
 */
#ifndef RUN_UNIT_H
#define RUN_UNIT_H

#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "run/run.h"
#include "base/str.h"

enum { SEEN_MAX = 1 << 16 };

/* What the case's fork tells; shared memory. */
struct told {
	struct run_result result;
	struct diag diag;
	int err;
	size_t shown[RUN_STREAMS];
	char seen[RUN_STREAMS][SEEN_MAX];
	unsigned hidden, signals, cuts;
	pid_t pid;
};
static struct told *told;

struct want {
	struct run_spec spec;
	const char *script;
	size_t enough; /* bytes of a stream that satisfy the sink */
	int fail;      /* the sink's answer */
	bool detach;
	void (*before)(void); /* in the fork */
};

static size_t sink_enough;
static int sink_fail;

static int see(void *ctx, enum run_stream s, const void *p, size_t n, bool echo)
{
	size_t room = SEEN_MAX - told->shown[s];

	(void)ctx;
	if (sink_fail)
		return sink_fail;
	if (!echo) {
		told->hidden += (unsigned)n;
		return RUN_MORE;
	}
	memcpy(told->seen[s] + told->shown[s], p, n < room ? n : room);
	told->shown[s] += n < room ? n : room;
	return sink_enough && told->shown[s] >= sink_enough ? RUN_ENOUGH
							    : RUN_MORE;
}

static int see_signal(void *ctx, int sig)
{
	(void)ctx;
	(void)sig;
	told->signals++;
	return 0;
}

static int see_cut(void *ctx, enum run_stream s)
{
	(void)ctx;
	(void)s;
	told->cuts++;
	return 0;
}

static int see_start(void *ctx, pid_t pid)
{
	(void)ctx;
	told->pid = pid;
	return 0;
}

static int keep_on(void *ctx)
{
	(void)ctx;
	return 0;
}

static char *const environment[] = {
	(char[]){"PATH=/usr/bin:/bin"}, (char[]){"A=b"}, NULL};

/* In the fork: runs it and goes as it went. */
static void perform(const struct want *w)
{
	struct run_sink sink = {.bytes = see,
		.signal = see_signal,
		.cut = see_cut,
		.started = see_start,
		.detach = w->detach ? keep_on : NULL};
	char *const argv[] = {
		(char[]){"sh"}, (char[]){"-c"}, strdup(w->script), NULL};
	struct run_spec spec = w->spec;
	int status, given[64];

	sink_enough = w->enough;
	sink_fail = w->fail;
	spec.sink = &sink;
	spec.env = environment;
	if (!spec.path)
		spec.path = "/bin/sh";
	if (!spec.argv)
		spec.argv = argv;
	if (w->before)
		w->before();
	spec.inherited = given;
	spec.inherited_count = run_inherited(given, 64);
	told->err = run(&spec, &told->result, &told->diag);
	if (told->err || !told->result.started)
		_exit(99);
	status = told->result.status;
	sigprocmask(SIG_SETMASK, &told->result.mask, NULL);
	if (WIFSIGNALED(status)) {
		signal(WTERMSIG(status), SIG_DFL);
		kill(getpid(), WTERMSIG(status));
	}
	_exit(WEXITSTATUS(status));
}

/* The caller's side of a case that is under way. */
struct caller {
	pid_t pid;
	int in, out, err;
};

static void cloexec_from(int fd)
{
	for (; fd < 256; fd++)
		fcntl(fd, F_SETFD, FD_CLOEXEC);
}

static struct caller begin(const struct want *w)
{
	int in[2], out[2], err[2];
	struct caller c;

	memset(told, 0, sizeof(*told));
	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	assert_int_equal(pipe2(err, O_CLOEXEC), 0);
	c.pid = fork();
	if (c.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(in[1]);
		close(out[0]);
		close(err[0]);
		dup2(in[0], 0);
		dup2(out[1], 1);
		dup2(err[1], 2);
		close(in[0]);
		close(out[1]);
		close(err[1]);
		cloexec_from(3);
		signal(SIGPIPE, SIG_DFL);
		perform(w);
	}
	close(in[0]);
	close(out[1]);
	close(err[1]);
	c.in = in[1];
	c.out = out[0];
	c.err = err[0];
	return c;
}

static char text[2][1 << 17];

/* All of it, both at once; what of it fits is kept. */
static size_t collect(struct caller *c, size_t total[2])
{
	struct pollfd fds[2] = {{.fd = c->out, .events = POLLIN},
		{.fd = c->err, .events = POLLIN}};
	static char piece[65536];

	total[0] = total[1] = 0;
	while (fds[0].fd >= 0 || fds[1].fd >= 0) {
		poll(fds, 2, -1);
		for (int i = 0; i < 2; i++) {
			ssize_t n;

			if (fds[i].fd < 0 || !fds[i].revents)
				continue;
			n = read(fds[i].fd, piece, sizeof(piece));
			if (n <= 0) {
				close(fds[i].fd);
				fds[i].fd = -1;
				continue;
			}
			if (total[i] + (size_t)n < sizeof(text[i]))
				memcpy(text[i] + total[i], piece, (size_t)n);
			total[i] += (size_t)n;
			text[i][total[i] < sizeof(text[i]) ? total[i] : 0] = 0;
		}
	}
	return total[0];
}

static int finish(struct caller *c)
{
	int status;

	assert_int_equal(waitpid(c->pid, &status, 0), c->pid);
	return status;
}

/* The whole of a case: stdin given, outputs kept in text[]. */
static int go(const struct want *w, const char *input)
{
	struct caller c;
	size_t total[2];

	text[0][0] = text[1][0] = 0;
	signal(SIGPIPE, SIG_IGN);
	c = begin(w);
	if (input && write(c.in, input, strlen(input)) < 0)
		fail();
	close(c.in);
	collect(&c, total);
	return finish(&c);
}

static const struct want plain = {.spec = {.mode = RUN_CAPTURE}};

static int sh(const char *script)
{
	struct want w = plain;

	w.script = script;
	return go(&w, NULL);
}

static void share_what_is_told(void)
{
	told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

#endif
