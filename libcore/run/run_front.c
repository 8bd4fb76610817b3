/* run_front.c - a command whose tree may outlive it: who waits, and who stays
 * SPDX-License-Identifier: MIT
 *
 * The caller waits for this process, the front, so the front ends when the
 * command ends. What the command leaves behind still needs its parent, a reaper
 * of orphans and an answer to each call that is watched; and where Yama is on,
 * only an ancestor may read the memory of a program that asks. So a supervisor
 * is cloned before the command starts, and does all the work. It shares memory
 * and descriptors with the front, because then no page is copied. While the
 * supervisor works, the front only passes signals on, and stops when the command
 * stopped; it touches nothing else, not even errno.
 *
 * When nothing is left behind the supervisor ends first, and the front goes on in
 * the same memory. Else the front forks a successor, which goes on with a copy;
 * the front ends as the successor ends, and the supervisor keeps the memory.
 *
 * Without a terminal the supervisor is in a process group of its own: whoever
 * kills the group of the command does not kill what guards the rest of the tree.
 */
#include "run/run_in.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sys/sig.h"

enum {
	STACK = 1 << 20, /* untouched pages cost nothing */
	GUARD = 1 << 14,
	OURS = 125,
	CHILD_OF_ANY_KIND = (int)__WALL,
};

/* What the supervisor asks the front to do. */
enum front_word {
	FRONT_STOP,       /* stop by that signal */
	FRONT_STOP_GROUP, /* the same, for all of the group */
	FRONT_PASS,       /* pass on the signals that came until now */
	FRONT_GO_ON,      /* the command has ended and left programs running */
};
struct front_request {
	int word; /* enum front_word */
	int sig;
};

struct front {
	struct run_state *st;
	int (*work)(struct run_state *st);
	pid_t supervisor;
	int err; /* result of .work */
	bool done;
};

static int run_supervisor(void *arg)
{
	struct front *f = arg;
	struct run_state *st = f->st;

	prctl(PR_SET_PDEATHSIG, RUN_SIG_LOST, 0, 0, 0);
	st->front_lost = getppid() != st->front;
	if (st->talk[0] < 0 && setpgid(0, 0) == 0)
		st->setup.group = st->group_of_front;
	if (!st->front_lost)
		f->err = f->work(st);
	if (st->front_lost)
		run_live_orphaned(st);
	f->done = true;
	_exit(0);
}

/* Wakes the supervisor, which looks at what this process left in memory. */
static void front_nudge(const struct front *f)
{
	kill(f->supervisor, RUN_SIG_LOST);
}

/* Kills the children that the dead supervisor left to this process, with
 * SIGKILL, and their children after them. The memory may be in any state. */
static void front_sweep(void)
{
	enum { ROUNDS = 4096 };
	const struct timespec pause = {.tv_nsec = 1000000};
	char text[4096], path[48];

	for (int i = 0; i < ROUNDS && waitpid(-1, NULL, WNOHANG) >= 0; i++) {
		autofd int fd = open(BUF_PRINT(path, "/proc/self/task/%d/children",
					     getpid()),
			O_RDONLY | O_CLOEXEC);
		ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text));
		pid_t pid = 0;

		for (ssize_t k = 0; k < n; k++) {
			if (text[k] >= '0' && text[k] <= '9') {
				pid = pid * 10 + (text[k] - '0');
				continue;
			}
			if (pid > 1)
				kill(pid, SIGKILL);
			pid = 0;
		}
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		nanosleep(&pause, NULL);
	}
}

/* The supervisor was killed. Its witness, if it lives, writes the record
 * first. */
static void front_mourn(const struct front *f)
{
	if (f->st->canary > 0)
		waitpid(f->st->canary, NULL, CHILD_OF_ANY_KIND);
}

/* True when the supervisor has ended. */
static bool front_reap(struct front *f)
{
	const struct run_sink *sink = f->st->spec->sink;
	int status;

	if (waitpid(f->supervisor, &status, WNOHANG) != f->supervisor)
		return false;
	if (f->done)
		return true;
	/* The supervisor was killed in the midst of anything. */
	front_mourn(f);
	front_sweep();
	if (f->st->canary <= 0 && sink && sink->lost)
		sink->lost(sink->ctx);
	sig_die(WIFSIGNALED(status) ? WTERMSIG(status) : SIGKILL);
}

/* Passes on a signal that came. True when the supervisor has ended. */
static bool front_pass(struct front *f)
{
	const struct run_state *st = f->st;
	struct signalfd_siginfo got;
	bool ended = false;

	if (read(st->sigfd, &got, sizeof(got)) != sizeof(got))
		return false;
	if (got.ssi_signo == SIGCHLD)
		ended = front_reap(f);
	else
		send(st->link[0], &got, sizeof(got), MSG_NOSIGNAL);
	return ended;
}

/* Passes on all signals that wait. */
static bool front_pass_all(struct front *f)
{
	struct pollfd fd = {.fd = f->st->sigfd, .events = POLLIN};
	bool ended = false;

	while (!ended && poll(&fd, 1, 0) > 0)
		ended = front_pass(f);
	f->st->passed_on = true;
	front_nudge(f);
	return ended;
}

static bool front_called(void)
{
	sigset_t waiting;

	sigpending(&waiting);
	return sigismember(&waiting, SIGCONT);
}

static void front_stop(struct front *f, const struct front_request *ask)
{
	if (!front_called())
		run_signals_stop_here(ask->sig, ask->word == FRONT_STOP_GROUP);
	f->st->awake = front_called() ? RUN_STOP_CALLED : RUN_STOP_NONE;
	front_nudge(f);
}

/* Waits for the successor, and ends as it does. */
__attribute__((noreturn)) static void front_follow(struct front *f, pid_t pid)
{
	int status, other;

	/* A successor that lasts long handles signals by itself. */
	if (f->st->spec->keep_fds) {
		signal(SIGINT, SIG_IGN);
		signal(SIGQUIT, SIG_IGN);
		sigprocmask(SIG_SETMASK, &f->st->setup.mask, NULL);
	}
	while (waitpid(pid, &status, 0) != pid)
		;
	/* Another process may have killed the supervisor meanwhile. */
	if (waitpid(f->supervisor, &other, WNOHANG) == f->supervisor) {
		front_mourn(f);
		front_sweep();
	}
	if (WIFSIGNALED(status))
		sig_die(WTERMSIG(status));
	_exit(WEXITSTATUS(status));
}

/* Forks the successor. True in the successor. */
static bool front_part(struct front *f)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
		f->st->result->detached = true;
		f->st->canary = 0; /* the witness belongs to the supervisor */
		return true;
	}
	f->st->parted = true;
	front_nudge(f);
	if (pid < 0)
		_exit(OURS);
	front_follow(f, pid);
}

/* Does what was asked. True when there is nothing more to wait for. */
static bool front_obey(struct front *f, const struct front_request *ask)
{
	switch ((enum front_word)ask->word) {
	case FRONT_STOP:
	case FRONT_STOP_GROUP:
		front_stop(f, ask);
		return false;
	case FRONT_PASS:
		return front_pass_all(f);
	case FRONT_GO_ON:
		break;
	}
	return front_part(f);
}

/* Waits until the supervisor has ended, or until this is the successor. */
static void front_wait(struct front *f)
{
	const struct run_state *st = f->st;

	for (;;) {
		struct pollfd fds[] = {{.fd = st->sigfd, .events = POLLIN},
			{.fd = st->link[0], .events = POLLIN}};
		struct front_request ask;

		if (poll(fds, 2, -1) < 0)
			continue;
		if (fds[0].revents && front_pass(f))
			return;
		if (!(fds[1].revents & POLLIN) ||
			recv(st->link[0], &ask, sizeof(ask), 0) != sizeof(ask))
			continue;
		if (front_obey(f, &ask))
			return;
	}
}

static int front_start(struct front *f, char *stack)
{
	struct run_state *st = f->st;

	st->front = getpid();
	st->group_of_front = getpgrp();
	/* If the supervisor is killed, its children become this process's. */
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	mprotect(stack, GUARD, PROT_NONE);
	f->supervisor = clone(run_supervisor, stack + STACK,
		CLONE_VM | CLONE_FILES | SIGCHLD, f);
	if (f->supervisor < 0)
		return -errno;
	front_wait(f);
	return f->err;
}

int run_front(struct run_state *st, int work(struct run_state *st))
{
	struct front f = {.st = st, .work = work};
	char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int err;

	if (stack == MAP_FAILED)
		return -errno;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, st->link)) {
		err = -errno;
	} else {
		fcntl(st->link[1], F_SETFL, O_RDWR | O_NONBLOCK);
		err = front_start(&f, stack);
		close(st->link[0]);
		close(st->link[1]);
	}
	st->link[0] = st->link[1] = -1;
	st->front = 0;
	munmap(stack, STACK);
	return err;
}

static void front_ask(const struct run_state *st, enum front_word word, int sig)
{
	const struct front_request ask = {(int)word, sig};

	while (send(st->link[1], &ask, sizeof(ask), MSG_NOSIGNAL) < 0 &&
		(errno == EINTR || errno == EAGAIN))
		;
}

/* Waits a moment for the front to leave a word in memory. */
static void front_await(struct run_state *st, int ms)
{
	struct pollfd fd = {.fd = st->sigfd, .events = POLLIN};

	poll(&fd, 1, ms);
	run_signals_own_read(st);
}

void run_front_sync(struct run_state *st)
{
	st->passed_on = false;
	front_ask(st, FRONT_PASS, 0);
	while (!st->passed_on && !st->front_lost)
		front_await(st, -1);
}

/* Looks whether the stopped command moved, because this process does not stop
 * itself. True: the front must not stop any longer. */
static bool front_moved(struct run_state *st, pid_t command)
{
	struct sandbox *s = st->spec->sandbox;
	struct pollfd asked = {
		.fd = s ? watch_fd(&s->watch) : -1, .events = POLLIN};

	if (poll(&asked, 1, 0) > 0)
		watch_step(&s->watch, asked.revents);
	return st->front_lost || !run_wake_stopped(command) ||
	       run_loop_over_limit(st);
}

enum run_stop run_front_stop(struct run_state *st, int sig, bool whole)
{
	enum { SHORT_MS = 1, LONG_MS = 64 };
	const pid_t command = run_signals_command(st);
	int pause_ms = SHORT_MS;

	st->awake = RUN_STOP_ASLEEP;
	front_ask(st, whole ? FRONT_STOP_GROUP : FRONT_STOP, sig);
	while (st->awake == RUN_STOP_ASLEEP && !front_moved(st, command)) {
		front_await(st, pause_ms);
		if (pause_ms < LONG_MS)
			pause_ms *= 2;
	}
	if (st->awake != RUN_STOP_ASLEEP)
		return (enum run_stop)st->awake;
	/* The first SIGCONT may come before the front has stopped. */
	while (st->awake == RUN_STOP_ASLEEP && !st->front_lost) {
		kill(st->front, SIGCONT);
		front_await(st, SHORT_MS);
	}
	return RUN_STOP_MOVED;
}

bool run_front_left(struct run_state *st)
{
	struct sandbox *s = st->spec->sandbox;
	struct rusage usage;
	pid_t pid;

	while ((pid = wait4(-1, NULL, WNOHANG, &usage)) > 0)
		if (s)
			limits_reaped(&s->limits, pid, &usage);
	return pid == 0;
}

void run_front_part(struct run_state *st)
{
	const struct run_sink *sink = st->spec->sink;
	int fd = sink && sink->stays ? sink->stays(sink->ctx) : -EBADF;

	if (fd < 0 && fd != -EBADF) {
		run_loop_tell_left(st);
		run_loop_kill(st);
		return;
	}
	st->session = fd < 0 ? -1 : fd;
	run_signals_left(st);
	if (!st->front_lost)
		front_ask(st, FRONT_GO_ON, 0);
	while (!st->parted && !st->front_lost)
		front_await(st, -1);
	run_live(st);
}
