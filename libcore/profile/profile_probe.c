/* profile_probe.c - a program run to see what it says, and never waited for
 * longer than was said
 * SPDX-License-Identifier: MIT
 */
#include "profile/profile_probe.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "sys/limits.h"

enum { TICK_MS = 10 };

static uint64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static void child_start(const struct profile_run *run, int out)
{
	int in = run->in >= 0 ? run->in : open("/dev/null", O_RDONLY);
	int nowhere = open("/dev/null", O_WRONLY);
	sigset_t none;

	setsid();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (dup2(in, 0) < 0 || dup2(out, 1) < 0 ||
		dup2(run->with_stderr ? out : nowhere, 2) < 0)
		_exit(127);
	if (run->keep >= 0)
		fcntl(run->keep, F_SETFD, 0);
	if (chdir(run->cwd ? run->cwd : "/") && chdir("/"))
		_exit(127);
	execve(run->path, run->argv, run->env);
	_exit(127);
}

struct watch {
	const struct profile_run *run;
	struct profile_ran *ran;
	struct buf *out;
	const struct buf *others; /* children that are none of the shell's */
	pid_t pid;
	int out_fd, pidfd;
	bool ended;
};

/* Reads what is there. What does not fit is dropped: the writer must not
 * wait for a reader that has seen enough. */
static void drain_pipe(int fd, struct buf *into)
{
	char bytes[2048];

	for (;;) {
		ssize_t n = read(fd, bytes, sizeof bytes);
		size_t room = into->max - into->len;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		buf_add(into, bytes, (size_t)n < room ? (size_t)n : room);
	}
}

static bool has_answered(const struct profile_run *run)
{
	const struct buf *a = run->answer;

	return run->answer_fd >= 0 && a->len >= run->mark_len &&
	       memcmp(a->data + a->len - run->mark_len, run->mark,
		       run->mark_len) == 0;
}

static void look_once(struct watch *w)
{
	if (!w->ended && waitpid(w->pid, &w->ran->status, WNOHANG) == w->pid)
		w->ended = true;
	drain_pipe(w->out_fd, w->out);
	if (w->run->answer_fd >= 0)
		drain_pipe(w->run->answer_fd, w->run->answer);
	w->ran->answered = has_answered(w->run);
}

static void wait_for(struct watch *w)
{
	uint64_t start = now_ns(), end = start + w->run->timeout;

	for (;;) {
		struct pollfd fds[3] = {
			{.fd = w->pidfd, .events = POLLIN},
			{.fd = w->out_fd, .events = POLLIN},
			{.fd = w->run->answer_fd, .events = POLLIN},
		};
		uint64_t at = now_ns();
		int ms;

		look_once(w);
		if (w->ended || w->ran->answered)
			break;
		if (at >= end) {
			w->ran->timed_out = true;
			break;
		}
		ms = (int)((end - at) / 1000000u) + 1;
		if (w->pidfd < 0 && ms > TICK_MS)
			ms = TICK_MS;
		poll(fds, 3, ms);
		/* Ends of pipes that report nothing but their end would spin.
		 */
		if ((fds[1].revents | fds[2].revents) & (POLLHUP | POLLERR)) {
			struct pollfd only = {.fd = w->pidfd, .events = POLLIN};

			poll(&only, 1, TICK_MS);
		}
	}
	w->ran->ms = (unsigned)((now_ns() - start) / 1000000u);
}

static void finish_run(struct watch *w)
{
	kill(-w->pid, SIGKILL);
	if (!w->ended) {
		kill(w->pid, SIGKILL);
		waitpid(w->pid, NULL, 0);
		w->ran->status = -1;
	}
	/* Whatever it left behind became our child when its parent went. */
	limits_sweep(w->others);
}

int profile_run(
	const struct profile_run *run, struct buf *out, struct profile_ran *ran)
{
	autobuf struct buf others = BUF_INIT(0);
	struct watch w = {.run = run, .ran = ran, .out = out,
		.others = &others, .pidfd = -1};
	autofd int read_end = -1;
	autofd int write_end = -1;
	autofd int pidfd = -1;
	int ends[2], err;

	*ran = (struct profile_ran){.status = -1};
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
		return -errno;
	read_end = ends[0];
	write_end = ends[1];
	fcntl(write_end, F_SETFL, 0);
	if (access(run->path, X_OK))
		return -errno;
	err = limits_others(&others);
	if (err)
		return err;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	w.pid = fork();
	if (w.pid < 0)
		return -errno;
	if (w.pid == 0)
		child_start(run, write_end);
	close(fd_steal(&write_end));
	pidfd = (int)syscall(SYS_pidfd_open, w.pid, 0);
	w.pidfd = pidfd;
	w.out_fd = read_end;
	wait_for(&w);
	finish_run(&w);
	prctl(PR_SET_CHILD_SUBREAPER, 0);
	return 0;
}
