/* run_signal.c - what is sent to this process is meant for the command
 * SPDX-License-Identifier: MIT
 *
 * Nothing is handled: all signals are blocked and read from a descriptor, so
 * the command inherits the dispositions that this process was given.
 *
 * What went to the whole process group reached the command as well and must not
 * be sent twice. The terminal's signals say so themselves. For the others a
 * witness is asked: a child of the group that blocks everything; a signal that
 * is pending there went to the group.
 */
#include "run_state.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buf.h"
#include "cleanup.h"
#include "num.h"
#include "run_pty.h"
#include "str.h"

enum { WITNESS_STACK = 8192, CLONE_CHILDREN = (int)__WALL };

int run_signals_take(struct run_state *st)
{
	sigset_t all;

	sigfillset(&all);
	if (sigprocmask(SIG_BLOCK, &all, &st->setup.mask) < 0)
		return -errno;
	/* With SIGCHLD ignored there would be no status to wait for. */
	sigaction(SIGCHLD, NULL, &st->chld);
	if (st->chld.sa_handler == SIG_IGN || st->chld.sa_flags) {
		st->setup.chld_ignored = st->chld.sa_handler == SIG_IGN;
		signal(SIGCHLD, SIG_DFL);
	}
	st->sigfd = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
	return st->sigfd < 0 ? -errno : 0;
}

static void dismiss_witness(struct run_state *st)
{
	if (st->canary > 0) {
		kill(st->canary, SIGKILL);
		waitpid(st->canary, NULL, CLONE_CHILDREN);
	}
	st->canary = 0;
}

void run_signals_give_back(struct run_state *st)
{
	dismiss_witness(st);
	free(st->canary_stack);
	st->canary_stack = NULL;
	if (st->setup.chld_ignored)
		sigaction(SIGCHLD, &st->chld, NULL);
	if (st->sigfd >= 0)
		close(st->sigfd);
	st->sigfd = -1;
}

/* Shares memory, descriptors and thread-local data with its parent: a system
 * call that never returns, and nothing else. */
__attribute__((no_sanitize("address", "undefined"))) static int witness(
	void *unused)
{
	(void)unused;
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	for (;;)
		syscall(SYS_ppoll, NULL, 0, NULL, NULL, 0);
	return 0;
}

static void call_witness(struct run_state *st)
{
	if (st->canary > 0 || st->reaped || st->talk[0] >= 0)
		return;
	if (!st->canary_stack)
		st->canary_stack = malloc(WITNESS_STACK);
	if (!st->canary_stack)
		return;
	st->canary = clone(witness, (char *)st->canary_stack + WITNESS_STACK,
		CLONE_VM | CLONE_FS | CLONE_FILES, NULL);
	/* It is ours, and none of the command's processes. */
	if (st->canary > 0 && st->spec->sandbox)
		st->spec->sandbox->watch.spare++;
}

/* The signals pending for a process, bit 0 for signal 1. */
static uint64_t pending_of(pid_t pid)
{
	char path[32], text[2048];
	struct buf name = BUF_FIXED(path);
	autofd int fd = -1;
	const char *at;
	uint64_t set = 0;
	ssize_t n;

	buf_addf(&name, "/proc/%d/status", pid);
	fd = open(buf_str(&name), O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	at = str_find(text, "\nShdPnd:\t");
	if (!at || strlen(at) < 9 + 16)
		return 0;
	memmove(text, at + 9, 16);
	text[16] = '\0';
	return num_hex64(text, &set) ? 0 : set;
}

/* Which of the signals that came last went to the whole group. */
static uint64_t sent_to_group(struct run_state *st)
{
	uint64_t set;

	if (st->canary <= 0)
		return 0;
	set = pending_of(st->canary);
	if (set) {
		dismiss_witness(st);
		call_witness(st);
	}
	return set;
}

/* Sent by a terminal to its foreground group, by the kernel. */
static bool of_terminal(int sig)
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
		/* The leader of a session gets it alone. */
		return getsid(0) != getpid();
	default:
		return false;
	}
}

/* Has the command had what its group was sent? One that left the group which
 * this process leads would, in this process's place, have it nonetheless. */
static bool in_group(const struct run_state *st)
{
	const struct sandbox *s = st->spec->sandbox;

	/* With a pid namespace .pid is its first process, which left. */
	return (s && s->stop_fd >= 0) || getpgid(st->pid) == getpgrp() ||
	       getpgrp() != getpid();
}

static void tell(struct run_state *st, int sig)
{
	const struct run_sink *sink = st->spec->sink;
	int err = sink && sink->signal ? sink->signal(sink->ctx, sig) : 0;

	if (err < 0 && !st->err)
		st->err = err;
}

static void forward(struct run_state *st, const struct signalfd_siginfo *got)
{
	int sig = (int)got->ssi_signo;
	union sigval value = {.sival_ptr = (void *)(uintptr_t)got->ssi_ptr};

	tell(st, sig);
	if (got->ssi_code == SI_QUEUE)
		sigqueue(st->pid, sig, value);
	else
		kill(st->pid, sig);
}

/* The command is gone and its output still waits for its reader: what would
 * have ended the command at its last write ends the waiting. */
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

/* That the command stopped is old news once we were woken: it was too. */
static void forget_stop(struct run_state *st)
{
	const struct sandbox *s = st->spec->sandbox;
	uint64_t times;

	if (s && s->stop_fd >= 0 && read(s->stop_fd, &times, sizeof(times)) < 0)
		return;
}

static void handle(struct run_state *st, const struct signalfd_siginfo *got,
	uint64_t group)
{
	int sig = (int)got->ssi_signo;
	bool kernel = got->ssi_code > 0;

	/* Our own write to a pipe without a reader. */
	if (!kernel && (pid_t)got->ssi_pid == getpid())
		return;
	if (sig == SIGCHLD)
		return;
	if (sig == SIGCONT)
		forget_stop(st);
	if (st->reaped) {
		die_waiting(st, sig);
		return;
	}
	if (st->talk[0] >= 0) {
		tell(st, sig);
		run_pty_signal(st, sig, kernel);
		return;
	}
	if (kernel && of_terminal(sig))
		return;
	if (!kernel && group >> (sig - 1) & 1 && in_group(st))
		return;
	forward(st, got);
}

bool run_signals_stop(struct run_state *st, int sig)
{
	const struct run_sink *sink = st->spec->sink;
	sigset_t set, waiting;

	if (sink && sink->flush && sink->flush(sink->ctx) < 0)
		st->err = st->err ? st->err : -EIO;
	sigemptyset(&set);
	sigaddset(&set, sig);
	kill(getpid(), sig);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	sigprocmask(SIG_BLOCK, &set, NULL);
	/* In an orphaned group nobody could wake us, so nothing stops. */
	sigpending(&waiting);
	return sigismember(&waiting, SIGCONT);
}

void run_signals_stopped(struct run_state *st)
{
	struct sandbox *s = st->spec->sandbox;
	uint64_t times;
	sigset_t waiting;

	if (read(s->stop_fd, &times, sizeof(times)) < 0 || st->talk[0] >= 0)
		return;
	sigpending(&waiting);
	if (sigismember(&waiting, SIGCONT)) /* see forget_stop() */
		return;
	if (!run_signals_stop(st, s->shared->stopped))
		kill(st->pid, SIGCONT);
}

static void ended(struct run_state *st, int status, const struct rusage *usage)
{
	if (WIFCONTINUED(status))
		return;
	if (WIFSTOPPED(status)) {
		/* Stops as the command stopped, so that who started us sees
		 * it. */
		if (st->talk[0] < 0 && !run_signals_stop(st, WSTOPSIG(status)))
			kill(st->pid, SIGCONT);
		return;
	}
	if (st->talk[0] >= 0)
		run_pty_read(st);
	st->reaped = true;
	st->result->status = st->told ? st->told_status : status;
	st->result->usage = *usage;
}

static void reap(struct run_state *st)
{
	/* Orphans come to us only where a sandbox made us their reaper. */
	pid_t which = st->spec->sandbox ? -1 : st->pid;
	struct rusage usage;
	int status;
	pid_t pid;

	while (!st->reaped &&
		(pid = wait4(which, &status, WNOHANG | WUNTRACED | WCONTINUED,
			 &usage)) > 0)
		if (pid == st->pid)
			ended(st, status, &usage);
}

void run_signals_wait(struct run_state *st)
{
	struct rusage usage;
	int status;

	while (!st->reaped) {
		if (wait4(st->pid, &status, 0, &usage) == st->pid) {
			ended(st, status, &usage);
		} else if (errno != EINTR) {
			st->result->status = SIGKILL;
			st->reaped = true;
		}
	}
}

void run_signals_read(struct run_state *st)
{
	struct signalfd_siginfo got[8];
	ssize_t n;

	while ((n = read(st->sigfd, got, sizeof(got))) > 0) {
		size_t count = (size_t)n / sizeof(got[0]);
		uint64_t group = 0;
		bool asked = false;

		for (size_t i = 0; i < count; i++) {
			if (got[i].ssi_signo != SIGCHLD && !asked) {
				group = sent_to_group(st);
				asked = true;
			}
			handle(st, &got[i], group);
		}
	}
	reap(st);
}

void run_signals_settle(struct run_state *st)
{
	call_witness(st);
}
