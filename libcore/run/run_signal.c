/* run_signal.c - what is sent to this process is meant for the command
 * SPDX-License-Identifier: MIT
 *
 * Nothing is handled: all signals are blocked and read from a descriptor, so
 * the command inherits the dispositions that this process was given.
 *
 * What went to the whole process group reached the command as well and must not
 * be sent twice. The terminal's signals say so themselves. For the others a
 * witness is asked: a child of the group that blocks everything; a signal that
 * is pending there went to the group. It cannot be made to forget one, so another
 * takes its place, and lives before the first one goes.
 *
 * On a terminal of its own the command is in another group: what went to all of
 * ours is sent to all of that.
 */
#include "run/run_in.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "sys/file.h"
#include "base/num.h"
#include "sys/proc_text.h"
#include "run/run_pty_in.h"
#include "sys/sig.h"
#include "base/str.h"
#include "base/uapi/nr.h"

enum {
	WITNESS_STACK = 65536,
	CLONE_CHILDREN = (int)__WALL,
	SECOND = 1000000000,
	WAKE_NS = 50000000,
};

int run_signals_take(struct run_state *st)
{
	sigset_t all;

	sigfillset(&all);
	if (sigprocmask(SIG_BLOCK, &all, &st->setup.mask) < 0)
		return -errno;
	/* If SIGCHLD were ignored there would be no status to wait for. */
	sigaction(SIGCHLD, NULL, &st->chld);
	if (st->chld.sa_handler == SIG_IGN || st->chld.sa_flags) {
		st->setup.chld_ignored = st->chld.sa_handler == SIG_IGN;
		signal(SIGCHLD, SIG_DFL);
	}
	st->sigfd = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
	return st->sigfd < 0 ? -errno : 0;
}

void run_signals_own(struct run_state *st, pid_t pid, bool is)
{
	struct sandbox *s = st->spec->sandbox;

	limits_other(s ? &s->limits.others : &st->others, pid, is);
}

static void dismiss_witness(struct run_state *st, pid_t pid)
{
	if (pid <= 0)
		return;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, CLONE_CHILDREN);
	run_signals_own(st, pid, false);
}

void run_signals_dismiss(struct run_state *st)
{
	dismiss_witness(st, st->canary);
	st->canary = 0;
}

void run_signals_give_back(struct run_state *st)
{
	run_signals_dismiss(st);
	for (size_t i = 0; i < ARRAY_SIZE(st->stacks); i++)
		free(st->stacks[i]);
	free(st->watcher_stack);
	st->watcher_stack = NULL;
	if (st->setup.chld_ignored)
		sigaction(SIGCHLD, &st->chld, NULL);
	if (st->sigfd >= 0)
		close(st->sigfd);
	st->sigfd = -1;
}

/* The witness: shares memory, descriptors and thread-local data with its
 * parent, so it only waits while the parent lives. */
__attribute__((no_sanitize("address", "undefined"))) static int witness_life(
	void *arg)
{
	struct run_state *st = arg;
	sigset_t lost;

	prctl(PR_SET_PDEATHSIG, RUN_SIG_LOST, 0, 0, 0);
	sigemptyset(&lost);
	sigaddset(&lost, RUN_SIG_LOST);
	while (getppid() == st->self)
		sigwaitinfo(&lost, NULL);
	/* There may be two witnesses for a moment. A monitor tidies up by
	 * itself. */
	if (st->canary == getpid() && st->talk[0] < 0)
		run_lost(st);
	_exit(0);
}

/* Starts the witness. The kernel stores the new pid before the process runs, so
 * that it is always known which of two is to act. */
static void call_witness(struct run_state *st)
{
	void **stack = &st->stacks[st->stack ^= 1];

	st->canary = 0;
	if (st->reaped && !st->left)
		return;
	if (!*stack)
		*stack = malloc(WITNESS_STACK);
	if (!*stack)
		return;
	st->self = getpid();
	if (clone(witness_life, (char *)*stack + WITNESS_STACK,
		    CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_PARENT_SETTID, st,
		    &st->canary) < 0)
		st->canary = 0;
	else
		run_signals_own(st, st->canary, true);
	/* A signal to the command's group must reach the witness. */
	if (st->canary > 0 && st->setup.group && !st->left)
		setpgid(st->canary, st->setup.group);
}

/* The signals pending for a process, bit 0 for signal 1. */
static uint64_t pending_of(pid_t pid)
{
	/* The list of the groups of one process may fill pages. */
	autobuf struct buf text = BUF_INIT(1 << 20);
	char path[32];
	const char *value;
	uint64_t set = 0;
	size_t n;

	if (file_read(AT_FDCWD, BUF_PRINT(path, "/proc/%d/status", pid), &text))
		return 0;
	value = proc_value(buf_str(&text), "ShdPnd:", &n);
	if (!value)
		return 0;
	text.data[(size_t)(value - text.data) + n] = '\0';
	return num_hex64(value, &set) ? 0 : set;
}

/* The signals, of those that came, that went to the whole group. */
static uint64_t sent_to_group(struct run_state *st)
{
	pid_t old = st->canary;
	uint64_t set = old > 0 ? pending_of(old) : 0;

	if (!set)
		return 0;
	call_witness(st);
	/* The old witness has what came until now; the new one gets what
	 * comes. */
	set |= pending_of(old);
	dismiss_witness(st, old);
	return set;
}

/* The process that the caller started. */
static pid_t called_as(const struct run_state *st)
{
	return st->front ? st->front : getpid();
}

/* Did the kernel send it from a terminal to the foreground group? */
static bool of_terminal(const struct run_state *st, int sig)
{
	switch (sig) {
	case SIGINT:
	case SIGQUIT:
	case SIGTSTP:
	case SIGTTIN:
	case SIGTTOU:
	case SIGWINCH:
	case SIGCONT:
		return true;
	case SIGHUP:
		/* Only the leader of a session gets this signal. */
		return getsid(0) != called_as(st);
	default:
		return false;
	}
}

/* Did the command get what its group was sent? A command that left the group
 * which this process leads would have got it in this process's place. */
static bool in_group(const struct run_state *st)
{
	const struct sandbox *s = st->spec->sandbox;
	const pid_t group = st->front ? st->group_of_front : getpgrp();

	/* With a pid namespace .pid is its first process, which left the
	 * group. */
	return (s && s->stop_fd >= 0) || getpgid(st->pid) == group ||
	       group != called_as(st);
}

static void tell_signal(struct run_state *st, int sig)
{
	const struct run_sink *sink = st->spec->sink;
	int err = sink && sink->signal ? sink->signal(sink->ctx, sig) : 0;

	if (err < 0 && !st->err)
		st->err = err;
}

static void forward_signal(
	struct run_state *st, const struct signalfd_siginfo *got)
{
	int sig = (int)got->ssi_signo;
	union sigval value = {.sival_ptr = (void *)(uintptr_t)got->ssi_ptr};

	tell_signal(st, sig);
	st->forwarded++;
	if (got->ssi_code == SI_QUEUE)
		sigqueue(st->pid, sig, value);
	else
		kill(st->pid, sig);
}

/* The command is gone, and its output still waits for a reader: a signal that
 * would have ended the command during its last write ends the waiting. */
static void die_waiting(struct run_state *st, int sig)
{
	struct sigaction now;

	switch (sig) {
	case SIGCHLD:
	case SIGCONT:
	case SIGURG:
	case SIGWINCH:
	case SIGTSTP:
	case SIGTTIN:
	case SIGTTOU:
		return;
	default:
		if (sigaction(sig, NULL, &now) == 0 &&
			now.sa_handler == SIG_DFL &&
			!sigismember(&st->setup.mask, sig))
			st->died_of = sig;
	}
}

/* Forgets that the command stopped, because it was woken together with us. */
static void forget_stop(struct run_state *st)
{
	const struct sandbox *s = st->spec->sandbox;
	uint64_t times;

	if (s && s->stop_fd >= 0 && read(s->stop_fd, &times, sizeof(times)) < 0)
		return;
}

static void handle_signal(
	struct run_state *st, const struct signalfd_siginfo *got,
	uint64_t group)
{
	int sig = (int)got->ssi_signo;
	bool kernel = got->ssi_code > 0;
	bool whole = !kernel && group >> (sig - 1) & 1;

	/* SIGPIPE of our own write to a pipe without a reader. */
	if (!kernel && (pid_t)got->ssi_pid == getpid())
		return;
	if (sig == SIGCHLD)
		return;
	if (sig == SIGCONT)
		forget_stop(st);
	if (st->reaped) {
		/* Processes that the command left in its group get the signal,
		 * too. */
		if (whole && st->group)
			kill(-st->group, sig);
		die_waiting(st, sig);
		return;
	}
	if ((sig == SIGTERM || sig == SIGHUP) &&
		(pid_t)got->ssi_pid != st->pid)
		st->result->told = sig;
	if (st->talk[0] >= 0) {
		tell_signal(st, sig);
		run_pty_signal(st, sig, kernel, whole);
		if (sig == SIGINT && st->spec->sink && st->spec->sink->ask_stop)
			st->spec->sink->ask_stop(st->spec->sink->ctx);
		return;
	}
	if (kernel && of_terminal(st, sig))
		return;
	if (whole && in_group(st))
		return;
	forward_signal(st, got);
}

/* A stopped process looks at no limit, so a timer of the kernel wakes this
 * process when the command's time is over, again and again, because a stop
 * discards a pending SIGCONT. Returns the timer; -1: none is needed; less:
 * there is none. */
static int wake_in_time(const struct run_state *st)
{
	const struct sandbox *s = st->spec->sandbox;
	uint64_t wall = s ? s->limits.spec.wall_ns : 0;
	uint64_t time = st->spec->timeout_ns, due;
	struct sigevent wake = {
		.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGCONT};
	int id;

	if (!time || (wall && wall < time))
		time = wall;
	if (!time || time > UINT64_MAX - st->start_ns)
		return -1;
	if (syscall(__NR_timer_create, CLOCK_BOOTTIME, &wake, &id) < 0)
		return -1 - errno;
	due = st->start_ns + time;
	syscall(NR_TIMER_SETTIME, id, TIMER_ABSTIME,
		(const int64_t[]){0, WAKE_NS, (int64_t)(due / SECOND),
			(int64_t)(due % SECOND)},
		NULL);
	return id;
}

static bool is_called(void)
{
	sigset_t waiting;

	sigpending(&waiting);
	return sigismember(&waiting, SIGCONT);
}

pid_t run_signals_command(const struct run_state *st)
{
	const struct sandbox *s = st->spec->sandbox;

	if (st->talk[0] >= 0)
		return st->group;
	return s && s->stop_fd >= 0 ? sandbox_command(s) : st->pid;
}

void run_signals_stop_here(int sig, bool whole)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, sig);
	kill(whole ? 0 : getpid(), sig);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

/* Stops once; returns who ended the stop. */
static enum run_wake stop_once(struct run_state *st, int sig, bool whole)
{
	struct sandbox *s = st->spec->sandbox;
	enum run_wake by;

	if (!run_wake_begin(st, run_signals_command(st)))
		return RUN_WAKE_MOVED;
	run_signals_stop_here(sig, whole);
	by = run_wake_end(st);
	/* A question of the watch that was seen before the stop is looked at
	 * again. */
	st->slept = true;
	if (by == RUN_WAKE_ASKED)
		watch_step(&s->watch, 0);
	return by;
}

enum run_stop run_signals_stop(struct run_state *st, int sig, bool whole)
{
	const struct run_sink *sink = st->spec->sink;
	int timer = st->front ? -1 : wake_in_time(st);
	enum run_wake by;

	/* A user has a limited number of timers, and the command may have taken
	 * them all: without a timer this process does not stop, because no time
	 * limit would hold. */
	if (timer < -1)
		return RUN_STOP_NONE;
	if (sink && sink->flush && sink->flush(sink->ctx) < 0)
		st->err = st->err ? st->err : -EIO;
	if (st->front)
		return run_front_stop(st, sig, whole);
	/* A stop would make the kernel discard a pending SIGCONT. */
	do
		by = is_called() ? RUN_WAKE_NONE : stop_once(st, sig, whole);
	while (by == RUN_WAKE_ASKED);
	if (timer >= 0)
		syscall(__NR_timer_delete, timer);
	if (by == RUN_WAKE_MOVED)
		return RUN_STOP_MOVED;
	/* In an orphaned group nobody could wake us, so the kernel stops
	 * nothing. */
	return by == RUN_WAKE_NONE && is_called() ? RUN_STOP_CALLED
						  : RUN_STOP_NONE;
}

/* Stops this process by sig, as the command stopped. */
static void stop_along(struct run_state *st, int sig)
{
	if (run_signals_stop(st, sig, false) == RUN_STOP_NONE)
		kill(st->pid, SIGCONT);
}

void run_signals_stopped(struct run_state *st)
{
	struct sandbox *s = st->spec->sandbox;
	uint64_t times;

	if (read(s->stop_fd, &times, sizeof(times)) < 0 || st->talk[0] >= 0)
		return;
	if (!is_called()) /* see forget_stop() */
		stop_along(st, s->shared->stopped);
}

void run_signals_own_read(struct run_state *st)
{
	struct signalfd_siginfo got;

	while (read(st->sigfd, &got, sizeof(got)) == sizeof(got)) {
		if (got.ssi_signo == (uint32_t)SIG_END_TREE ||
			(st->living && got.ssi_signo == SIGTERM))
			st->over = true;
		else if (!st->living && getppid() != st->front)
			st->front_lost = true;
	}
	/* The front stands for the command: whoever kills the front means the
	 * command. */
	if (st->front_lost && !st->reaped)
		kill(st->pid, SIGKILL);
}

/* Reads until nothing is left and nothing is pending for the witness. Signals
 * that the witness has count for all that are read here, because equal signals
 * become one while they wait. */
static void read_signals(struct run_state *st)
{
	const int from = st->front ? st->link[1] : st->sigfd;
	struct signalfd_siginfo got[8];
	uint64_t group = 0, fresh;
	ssize_t n;

	if (st->front || st->living)
		run_signals_own_read(st);
	do {
		bool ask = group;
		size_t count;

		n = st->living ? 0 : read(from, got, sizeof(got));
		count = n > 0 ? (size_t)n / sizeof(got[0]) : 0;
		for (size_t i = 0; i < count; i++)
			ask |= got[i].ssi_signo != SIGCHLD;
		fresh = ask ? sent_to_group(st) : 0;
		group |= fresh;
		for (size_t i = 0; i < count; i++)
			handle_signal(st, &got[i], group);
	} while (n > 0 || fresh);
}

/* Ctrl-C at a question is also for the command, and comes before the denial:
 * the shell must see a child that SIGINT ended, so that it stops its loop. */
void run_signals_denying(void *ctx)
{
	struct run_state *st = ctx;
	const struct timespec now = {0};
	struct signalfd_siginfo got = {0};
	siginfo_t from;
	sigset_t only;

	if (st->front) {
		read_signals(st);
		return;
	}
	sigemptyset(&only);
	sigaddset(&only, SIGINT);
	if (sigtimedwait(&only, &from, &now) != SIGINT)
		return;
	got.ssi_signo = SIGINT;
	got.ssi_code = from.si_code;
	got.ssi_pid = (uint32_t)from.si_pid;
	got.ssi_ptr = (uintptr_t)from.si_value.sival_ptr;
	handle_signal(st, &got, sent_to_group(st));
}

static void child_ended(
	struct run_state *st, int status, const struct rusage *usage)
{
	if (WIFCONTINUED(status))
		return;
	if (WIFSTOPPED(status)) {
		/* Stops as the command stopped, so that the caller sees it. */
		if (proc_stopped(st->pid, status) && st->talk[0] < 0)
			stop_along(st, WSTOPSIG(status));
		return;
	}
	if (st->talk[0] >= 0)
		run_pty_read(st);
	st->reaped = true;
	st->result->status = st->told ? st->told_status : status;
	st->result->usage = *usage;
}

static void reap_children(struct run_state *st)
{
	/* Orphans come to us only where a sandbox made us their reaper. They
	 * may come as fast as they are reaped, so after this many the limits
	 * are looked at. */
	enum { MANY = 16384 };
	pid_t which = st->spec->sandbox ? -1 : st->pid;
	struct rusage usage;
	int status;

	for (int i = 0; i < MANY && !st->reaped; i++) {
		pid_t pid = wait4(which, &status,
			WNOHANG | WUNTRACED | WCONTINUED, &usage);

		if (pid <= 0)
			return;
		if (pid == st->pid)
			child_ended(st, status, &usage);
		else if (WIFEXITED(status) || WIFSIGNALED(status))
			limits_reaped(&st->spec->sandbox->limits, pid,
				&usage);
	}
}

void run_signals_wait(struct run_state *st)
{
	struct rusage usage;
	int status;

	while (!st->reaped) {
		if (wait4(st->pid, &status, 0, &usage) == st->pid) {
			child_ended(st, status, &usage);
		} else if (errno != EINTR) {
			st->result->status = SIGKILL;
			st->reaped = true;
		}
	}
}

void run_signals_read(struct run_state *st)
{
	read_signals(st);
	reap_children(st);
}

void run_signals_settle(struct run_state *st)
{
	run_lost_mark(st, st->pid);
	call_witness(st);
}

void run_signals_left(struct run_state *st)
{
	run_signals_dismiss(st);
	st->left = true;
	/* The command is gone: any other process of the tree shows the
	 * namespace as well. */
	if (st->space < 0)
		run_lost_mark(st, limits_child(getpid()));
	call_witness(st);
}
