/* sandbox_run.c - the child and its end
 * SPDX-License-Identifier: MIT
 */
#include "box/sandbox.h"

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

#include "sys/ns.h"
#include "sys/proc.h"
#include "base/uapi/linux.h"

/* Words for the new processes, which have them on their own stack. */
struct start {
	struct proc_place place;
	struct sandbox *s;
	void (*child)(void *ctx);
	void *ctx;
	uid_t uid;
	gid_t gid;
	bool execs;
	bool first; /* install the filter while the descriptors are still
		     * shared */
	sigset_t mask;
};

/* Dies when the supervisor dies. */
static void die_with(pid_t parent, bool same_namespace)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (same_namespace && getppid() != parent)
		_exit(125);
}

static int be_command(void *arg)
{
	struct start *st = arg;

	proc_leave(&st->place);
	if (st->s->clone_flags & NS_PID)
		sigprocmask(SIG_SETMASK, &st->mask, NULL);
	else
		die_with(st->s->parent, true);
	if (st->first) {
		int err = sandbox_filter_first(st->s);

		if (err < 0)
			sandbox_child_fail(st->s, SANDBOX_STEP_SECCOMP, err);
	}
	st->child(st->ctx);
	_exit(125);
}

/* Starts the child in this process's memory until the command is executed, so
 * that no page is copied; this process waits meanwhile. */
static pid_t share_memory(struct start *st, int *pidfd)
{
	pid_t pid;

	if (!st->s->init_stack)
		proc_stay(&st->place);
	pid = proc_vfork(be_command, st,
		(pidfd ? PIDFD_FLAG : 0) | (st->first ? CLONE_FILES : 0), pidfd);
	proc_leave(&st->place);
	return pid;
}

/* Raw clone calls: the third argument of the older one is the pidfd's place on
 * every machine. Containers may refuse clone3. An init is not part of what is
 * limited. */
static pid_t copy_memory(struct sandbox *s, unsigned flags, int *pidfd)
{
	const int cradle = flags & NS_PID ? -1 : limits_cradle(&s->limits);
	const unsigned with = flags | (pidfd ? PIDFD_FLAG : 0);
	struct clone_args2 args = {
		.flags = with | CLONE_INTO_CGROUP_,
		.pidfd = (uintptr_t)pidfd,
		.exit_signal = SIGCHLD,
		.cgroup = (uint64_t)cradle,
	};
	long pid = -1;

	if (cradle >= 0) {
		s->limits.born = true;
		pid = syscall(NR_CLONE3, &args, sizeof args);
		s->limits.born = pid >= 0;
	}
	if (pid < 0)
		pid = syscall(__NR_clone, (unsigned long)(with | SIGCHLD), 0,
			pidfd, 0, 0);
	return pid < 0 ? -errno : (pid_t)pid;
}

static pid_t start_command(struct start *st, int *pidfd, bool shared)
{
	pid_t pid;

	if (shared)
		return share_memory(st, pidfd);
	pid = copy_memory(st->s, 0, pidfd);
	if (pid == 0)
		be_command(st);
	return pid;
}

/* The life of a pid namespace's first process: forwards signals to the command,
 * reaps, and ends when the command does. */
static void init_loop(struct sandbox_shared *at, pid_t command, int stop)
{
	const uint64_t once = 1;
	sigset_t all;

	/* The command gets signals to the whole group by itself. */
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
			if (!proc_stopped(pid, status))
				continue;
			at->stopped = WSTOPSIG(status);
			if (write(stop, &once, sizeof(once)) < 0)
				at->stopped = 0;
		}
	}
}

__attribute__((no_sanitize("address", "undefined"))) static int be_init(
	void *arg)
{
	struct start *st = arg;
	struct sandbox *s = st->s;
	struct sandbox_shared *shared = s->shared;
	int err = s->clone_flags & NS_USER ? ns_map(st->uid, st->gid) : 0;
	const uint64_t once = 1;
	int stop = s->stop_fd;
	sigset_t all;
	pid_t pid;

	die_with(s->parent, false);
	if (err < 0)
		sandbox_child_fail(s, SANDBOX_STEP_NAMESPACES, err);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &st->mask);
	pid = start_command(
		st, NULL, st->execs && limits_cradle(&s->limits) < 0);
	if (pid < 0)
		sandbox_child_fail(s, SANDBOX_STEP_NAMESPACES, pid);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (s->init_stack) {
		/* From here on the other process uses this memory, except for
		 * what is shared. */
		if (write(stop, &once, sizeof(once)) < 0)
			_exit(125);
	} else {
		/* The init keeps no end of a pipe, so that the end is seen when
		 * the command closes it. */
		stop = dup2(stop, 0);
		syscall(NR_CLOSE_RANGE, 1, ~0U, 0);
		prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	}
	init_loop(shared, pid, stop);
	shared->done = 1;
	_exit(0);
}

/* Starts the first process of a pid namespace, which keeps this process's
 * memory and descriptors for good, so that no page is copied and no pipe held
 * open. This process waits until the command executes; from then on the init
 * only waits. */
static pid_t share_init(struct start *st)
{
	struct sandbox *s = st->s;
	/* The command stands on this stack, too, until it executes. */
	char *stack = mmap(NULL, SANDBOX_STACK, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct pollfd ready[] = {{.events = POLLIN}, {.events = POLLIN}};
	uint64_t times = 1;
	pid_t pid;
	int err;

	if (stack == MAP_FAILED)
		return -errno;
	s->init_stack = stack;
	proc_stay(&st->place);
	pid = clone(be_init, stack + SANDBOX_STACK,
		(int)(CLONE_VM | CLONE_FILES | SIGCHLD | PIDFD_FLAG |
			s->clone_flags),
		st, &s->pidfd);
	err = errno;
	ready[0].fd = s->stop_fd;
	ready[1].fd = s->pidfd;
	/* Two processes share errno here, so errno is not looked at. */
	while (pid >= 0 && poll(ready, 2, -1) < 0)
		;
	proc_leave(&st->place);
	if (pid < 0)
		return -err;
	/* The command may have stopped again since. */
	if (read(s->stop_fd, &times, sizeof(times)) > 0 && --times &&
		write(s->stop_fd, &times, sizeof(times)) < 0)
		return -EIO;
	return pid;
}

static pid_t start_init(struct start *st, bool shared)
{
	pid_t pid;

	if (shared)
		return share_init(st);
	pid = copy_memory(st->s, st->s->clone_flags, &st->s->pidfd);
	if (pid == 0)
		be_init(st);
	return pid;
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
	bool pidns = s->clone_flags & NS_PID;
	/* Share the init's memory only where that is safe: a process that
	 * answers the watch cannot wait for an exec that it sees, and only
	 * Landlock keeps the command from the init's memory. */
	bool share_all = execs && limits_cradle(&s->limits) < 0 &&
			 (!pidns || s->ruleset_fd >= 0) &&
			 (s->pass || !(s->enforced & SANDBOX_WATCH));
	pid_t pid;
	int err;

	s->shared = &s->local;
	if (!share_all)
		s->shared = mmap(NULL, sizeof(*s->shared),
			PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
			0);
	if (s->shared == MAP_FAILED) {
		s->shared = NULL;
		return -errno;
	}
	/* With shared descriptors the watch's end needs no hand-over. The
	 * filter would refuse the calls that namespaces and mounts need. */
	st.first = share_all && s->enforced & SANDBOX_WATCH && s->filter &&
		!(s->clone_flags | s->unshare_flags) && !s->join &&
		!s->plan->watch_files && !s->plan->watch_writes;
	if (s->enforced & SANDBOX_WATCH && !st.first) {
		err = watch_connect(&s->watch);
		if (err < 0)
			return err;
	}
	s->parent = getpid();
	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		return -errno;
	err = limits_others(&s->limits.others);
	if (err < 0)
		return err;
	s->limits.guess.others = s->watch.guess.others = &s->limits.others;
	if (pidns) {
		s->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		if (s->stop_fd < 0)
			return -errno;
		pid = start_init(&st, share_all);
	} else {
		pid = start_command(&st, &s->pidfd, share_all);
	}
	if (pid < 0)
		return pid;
	s->pid = pid;
	s->limits.guess.procs = s->watch.guess.procs = 1;
	s->limits.guess.last = s->watch.guess.last = (unsigned)pid;
	limits_start(&s->limits);
	/* The filter is applied by now, or the child has it. */
	free(s->filter);
	s->filter = NULL;
	close(s->ruleset_fd);
	s->ruleset_fd = -1;
	return pid;
}

void sandbox_take_watch(struct sandbox *s)
{
	int err = s->enforced & SANDBOX_WATCH ? watch_take(&s->watch) : 0;

	/* The child waits for an answer, or has failed and said why. */
	if (err == 0)
		return;
	if (!s->shared->step) {
		s->shared->err = err;
		s->shared->step = SANDBOX_STEP_LISTENER;
	}
	syscall(NR_PIDFD_SEND_SIGNAL, s->pidfd, SIGKILL, NULL, 0);
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

	if (from->step >= SANDBOX_STEP_NAMESPACES &&
		from->step <= SANDBOX_STEP_LOOPBACK &&
		sandbox_namespace_lacks(s, d))
		return;
	/* seccomp returns this errno only for a second listener. */
	if (from->step == SANDBOX_STEP_SECCOMP && from->err == -EBUSY) {
		diag_fail(d, -EBUSY, "watch: another guard watches this process,"
			" and one listener fits in a tree\036"
			"start it outside of that guard");
		return;
	}
	diag_of(d, from->err, sandbox_step_text((enum sandbox_step)from->step));
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

	/* The init waits until its child executes, so the child appears
	 * soon. */
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
	return limits_sweep(&s->limits.others);
}
