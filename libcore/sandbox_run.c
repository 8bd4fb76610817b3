/* sandbox_run.c - the child and its end
 * SPDX-License-Identifier: MIT
 */
#include "sandbox.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ns.h"
#include "uapi/linux.h"

enum { STACK = 1 << 16 };

/* What the new processes are told; they have it on their own stack. */
struct start {
	struct sandbox *s;
	void (*child)(void *ctx);
	void *ctx;
	uid_t uid;
	gid_t gid;
	bool execs;
	sigset_t mask;
};

/* The supervisor's end is the tree's end. */
static void die_with(pid_t parent, bool same_namespace)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (same_namespace && getppid() != parent)
		_exit(125);
}

static int be_command(void *arg)
{
	struct start *st = arg;

	if (st->s->clone_flags & NS_PID)
		sigprocmask(SIG_SETMASK, &st->mask, NULL);
	else
		die_with(st->s->parent, true);
	st->child(st->ctx);
	_exit(125);
}

/* In this process's memory until the command is executed, so that no page is
 * copied: this process waits for that. */
static pid_t share(struct start *st, int *pidfd)
{
	char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pid_t pid;

	if (stack == MAP_FAILED)
		return -errno;
	pid = clone(be_command, stack + STACK,
		CLONE_VM | CLONE_VFORK | SIGCHLD | (pidfd ? PIDFD_FLAG : 0), st,
		pidfd);
	if (pid < 0)
		pid = -errno;
	munmap(stack, STACK);
	return pid;
}

/* The raw call: the third argument is where the pidfd goes, everywhere. */
static pid_t copy(unsigned flags, int *pidfd)
{
	long pid = syscall(__NR_clone,
		(unsigned long)(flags | SIGCHLD | (pidfd ? PIDFD_FLAG : 0)), 0,
		pidfd, 0, 0);

	return pid < 0 ? -errno : (pid_t)pid;
}

static pid_t start_command(struct start *st, int *pidfd, bool shared)
{
	pid_t pid;

	if (shared)
		return share(st, pidfd);
	pid = copy(0, pidfd);
	if (pid == 0)
		be_command(st);
	return pid;
}

/* The life of a pid namespace's first process: forwards to the command what is
 * sent to it, reaps, and ends when the command does. */
static void init_loop(struct sandbox_shared *at, pid_t command)
{
	const uint64_t once = 1;
	sigset_t all;

	/* What went to the whole group the command got too. */
	setpgid(0, 0);
	sigfillset(&all);
	for (;;) {
		siginfo_t info;
		int sig = sigwaitinfo(&all, &info), status;
		pid_t pid;

		if (sig < 0)
			continue;
		if (sig != SIGCHLD && info.si_code <= 0) {
			kill(command, sig);
			continue;
		}
		while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
			if (pid != command)
				continue;
			if (!WIFSTOPPED(status)) {
				at->status = status;
				return;
			}
			at->stopped = WSTOPSIG(status);
			if (write(0, &once, sizeof(once)) < 0)
				at->stopped = 0;
		}
	}
}

__attribute__((noreturn)) static void be_init(struct start *st)
{
	struct sandbox *s = st->s;
	int err = s->clone_flags & NS_USER ? ns_map(st->uid, st->gid) : 0;
	sigset_t all;
	pid_t pid;

	s->pidfd = -1;
	die_with(s->parent, false);
	if (err < 0)
		sandbox_child_fail(s, SANDBOX_STEP_NAMESPACES, err);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &st->mask);
	pid = start_command(st, NULL, st->execs);
	if (pid < 0)
		sandbox_child_fail(s, SANDBOX_STEP_NAMESPACES, pid);
	/* A pipe that the command closes must be seen closed. */
	dup2(s->stop_fd, 0);
	syscall(NR_CLOSE_RANGE, 1, ~0U, 0);
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	init_loop(s->shared, pid);
	s->shared->done = 1;
	_exit(0);
}

pid_t sandbox_spawn(
	struct sandbox *s, void (*child)(void *ctx), void *ctx, bool execs)
{
	struct start st = {.s = s,
		.child = child,
		.ctx = ctx,
		.uid = geteuid(),
		.gid = getegid(),
		.execs = execs};
	/* Whoever answers the watch cannot wait for an exec that it sees. */
	bool share_all = execs && !(s->clone_flags & NS_PID) &&
			 (s->pass || !(s->enforced & SANDBOX_WATCH));
	pid_t pid;

	s->shared = &s->local;
	if (!share_all)
		s->shared = mmap(NULL, sizeof(*s->shared),
			PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
			0);
	if (s->shared == MAP_FAILED) {
		s->shared = NULL;
		return -errno;
	}
	s->parent = getpid();
	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		return -errno;
	if (s->clone_flags & NS_PID) {
		s->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		if (s->stop_fd < 0)
			return -errno;
		pid = copy(s->clone_flags, &s->pidfd);
		if (pid == 0)
			be_init(&st);
	} else {
		pid = start_command(&st, &s->pidfd, share_all);
	}
	if (pid < 0)
		return pid;
	s->pid = pid;
	limits_start(&s->limits);
	/* Applied by now, or in the hands of who will. */
	free(s->filter);
	s->filter = NULL;
	close(s->ruleset_fd);
	s->ruleset_fd = -1;
	return pid;
}

void sandbox_child_fail(struct sandbox *s, enum sandbox_step step, int err)
{
	if (s->shared && !s->shared->step) {
		s->shared->err = err;
		s->shared->step = (int)step;
	}
	_exit(125);
}

void sandbox_apply_diag(const struct sandbox *s, struct diag *d)
{
	const struct sandbox_shared *from = s->shared ? s->shared : &s->local;

	diag_errno(d, from->err, "%s",
		sandbox_step_text((enum sandbox_step)from->step));
	if (from->step == SANDBOX_STEP_NAMESPACES ||
		from->step == SANDBOX_STEP_MOUNT ||
		from->step == SANDBOX_STEP_PROC)
		diag_hint(d, "'wardbox doctor' shows which namespaces work "
			     "here; --best-effort=NAME goes without");
	else
		diag_hint(d, "'wardbox doctor' shows what works here");
}

bool sandbox_outcome(struct sandbox *s, int *status, struct diag *d)
{
	if (s->shared->step) {
		sandbox_apply_diag(s, d);
		return false;
	}
	if (s->clone_flags & NS_PID && s->shared->done)
		*status = s->shared->status;
	return true;
}

pid_t sandbox_command(const struct sandbox *s)
{
	enum { TRIES = 200 };
	struct pollfd ended = {.fd = s->pidfd, .events = POLLIN};
	pid_t pid = s->clone_flags & NS_PID ? 0 : s->pid;

	/* The init waits until its child executes, so it is soon there. */
	for (int i = 0; i < TRIES && !pid && !ended.revents; i++) {
		pid = limits_child(s->pid);
		if (!pid)
			poll(&ended, 1, i > TRIES / 2);
	}
	return pid;
}

int sandbox_kill(struct sandbox *s)
{
	limits_kill(&s->limits);
	if (s->pidfd >= 0)
		syscall(NR_PIDFD_SEND_SIGNAL, s->pidfd, SIGKILL, NULL, 0);
	return limits_sweep();
}
