/* run_wake.c - who stops with the command goes on with it
 * SPDX-License-Identifier: MIT
 *
 * This process stops when the command stops, so that the caller sees it. The
 * caller's SIGCONT wakes both. But whoever knows the command's own number (its
 * children do) may continue or kill the command alone, and the kernel tells that
 * to nobody but the command's parent, which is this process, which is stopped.
 * So a watcher is left behind: a process that shares this one's memory, is in a
 * group of its own, and looks at the state of the command until that changes. It
 * sends SIGCONT until this process, running again, ends the watcher.
 *
 * A program elsewhere in the tree may wait for an answer of the watch meanwhile,
 * and that answer may be what continues the command: the watcher wakes this
 * process for it, too.
 */
#include "run/run_in.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sys/proc_text.h"

enum {
	WATCHER_STACK = 65536,
	SHORT_MS = 1,
	LONG_MS = 64,
	MS = 1000000,
	CHILD_OF_ANY_KIND = (int)__WALL,
};

/* The letter of a process's state in /proc; 0: it is gone, or there is no
 * /proc. */
static char state_of(pid_t pid)
{
	char text[512], name[32];
	struct buf b = BUF_FIXED(name);
	const char *state;
	ssize_t n;
	int fd;

	buf_addf(&b, "/proc/%d/stat", (int)pid);
	fd = open(buf_str(&b), O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	state = n > 0 ? proc_stat(text, 3) : NULL;
	return state ? *state : '\0';
}

static bool is_stopped(char state)
{
	return state == 'T' || state == 't';
}

/* One look of the watcher, and a pause that grows. */
static enum run_wake look_once(struct run_state *st, int *pause_ms)
{
	const struct sandbox *s = st->spec->sandbox;
	struct pollfd asked = {
		.fd = s ? watch_fd(&s->watch) : -1, .events = POLLIN};

	if (!is_stopped(state_of(st->stopped)))
		return RUN_WAKE_MOVED;
	/* poll() reports at once a listener that nobody uses any more. */
	if (poll(&asked, 1, *pause_ms) > 0 && !(asked.revents & POLLIN))
		poll(NULL, 0, *pause_ms);
	if (*pause_ms < LONG_MS)
		*pause_ms *= 2;
	return asked.revents & POLLIN ? RUN_WAKE_ASKED : RUN_WAKE_NONE;
}

/* The watcher: shares memory, descriptors and errno with this process, which is
 * stopped while the watcher lives. */
__attribute__((no_sanitize("address", "undefined"))) static int watch_command(
	void *arg)
{
	struct run_state *st = arg;
	const struct timespec again = {.tv_nsec = MS};
	int pause_ms = SHORT_MS;

	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	/* In a group of its own, so that a signal to the whole group does not
	 * stop the watcher, too. */
	setpgid(0, 0);
	while (getppid() == st->self && st->woken_by == RUN_WAKE_NONE)
		st->woken_by = look_once(st, &pause_ms);
	/* The first SIGCONT may come before this process has stopped. */
	while (getppid() == st->self) {
		kill(st->self, SIGCONT);
		nanosleep(&again, NULL);
	}
	_exit(0);
}

bool run_wake_stopped(pid_t pid)
{
	return is_stopped(state_of(pid));
}

bool run_wake_begin(struct run_state *st, pid_t command)
{
	char state = state_of(command);

	st->woken_by = RUN_WAKE_NONE;
	st->watcher = 0;
	st->stopped = command;
	/* Without /proc nothing is known of a process that exists. */
	if (!state && kill(command, 0) == 0)
		return true;
	if (!is_stopped(state))
		return false;
	if (!st->watcher_stack)
		st->watcher_stack = malloc(WATCHER_STACK);
	if (!st->watcher_stack)
		return false;
	st->self = getpid();
	st->watcher = clone(watch_command,
		(char *)st->watcher_stack + WATCHER_STACK,
		CLONE_VM | CLONE_FS | CLONE_FILES, st);
	if (st->watcher > 0)
		run_signals_own(st, st->watcher, true);
	/* If there is no watcher, the stop is not shown, because nobody would
	 * end it. */
	return st->watcher > 0;
}

enum run_wake run_wake_end(struct run_state *st)
{
	const struct timespec now = {0};
	siginfo_t from = {0};
	sigset_t cont;

	if (st->watcher <= 0)
		return RUN_WAKE_NONE;
	kill(st->watcher, SIGKILL);
	waitpid(st->watcher, NULL, CHILD_OF_ANY_KIND);
	run_signals_own(st, st->watcher, false);
	if (st->woken_by == RUN_WAKE_NONE)
		return RUN_WAKE_NONE;
	/* The watcher's own SIGCONT is dropped. A SIGCONT of the caller, which
	 * may have merged with it, is for the command. */
	sigemptyset(&cont);
	sigaddset(&cont, SIGCONT);
	if (sigtimedwait(&cont, &from, &now) == SIGCONT &&
		from.si_pid != st->watcher)
		return RUN_WAKE_CALLED;
	return st->woken_by;
}
