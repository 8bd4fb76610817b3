/* run_monitor.c - leads the session of a command's terminal
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "run/run_pty_in.h"
#include "run/run_in.h"
#include "base/uapi/linux.h"

enum { SLAVE, TALK, SIGNALS, OUTER, KEPT }; /* descriptors of the monitor */

struct monitor {
	struct run_state *st;
	pid_t pid;   /* the command, and its group */
	pid_t front; /* the foreground group when all stopped */
};

static void say_word(int fd, enum run_word word, int value, int more)
{
	struct run_message msg = {(int)word, value, more};

	while (send(fd, &msg, sizeof(msg), MSG_NOSIGNAL) < 0 && errno == EINTR)
		;
}

/* Takes the terminal for group. SIGTTOU is blocked, because this process may be
 * in the background. */
static void take_front(int tty, pid_t group)
{
	tcsetpgrp(tty, group);
}

static void lead_session(struct run_state *st)
{
	/* The monitor outlives the supervisor while it tidies up. */
	prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0);
	setsid();
	ioctl(st->pty.slave, TIOCSCTTY, 0);
	st->setup.parent = getpid();
	st->setup.job = true;
	st->setup.front = st->in_front ? st->pty.slave : -1;
}

/* Starts the command. 0 or -errno; errors of a confined child are in the
 * sandbox. */
static int start_command(struct monitor *m, enum proc_step *step)
{
	struct run_state *st = m->st;
	const struct run_spec *spec = st->spec;

	*step = PROC_FORK;
	if (!spec->sandbox)
		return proc_spawn(&st->setup, spec->path, spec->argv, spec->env,
			&m->pid, step);
	m->pid = fork();
	if (m->pid == 0)
		run_child(st);
	return m->pid < 0 ? -errno : 0;
}

/* Keeps four descriptors and closes all others, so that waiting readers see an
 * end of file. */
static void keep_few(struct run_state *st)
{
	const int from[KEPT] = {
		st->pty.slave, st->talk[1], st->sigfd, st->pty.outer};
	int high[KEPT];

	/* Frees room for the copies, however few descriptors are allowed. */
	for (size_t i = 0; i < RUN_PUMPS; i++)
		pump_end(&st->pumps[i]);
	close(st->pty.master);
	close(st->talk[0]);
	/* The last number becomes free when the descriptor there was copied. */
	for (int i = 0; i < KEPT; i++)
		high[i] = from[i] < 0 ? -1 : fcntl(from[i], F_DUPFD, KEPT - 1);
	for (int i = 0; i < KEPT; i++)
		if (high[i] < 0 || dup2(high[i], i) < 0)
			close(i);
	syscall(NR_CLOSE_RANGE, KEPT, ~0U, 0);
}

/* The supervisor is gone: the user's terminal gets its modes back, and the
 * command dies, as it would with the supervisor. */
__attribute__((noreturn)) static void end_orphaned(const struct monitor *m)
{
	const struct run_state *st = m->st;

	struct termios now;

	if (tcgetattr(OUTER, &now) == 0 &&
		!(now.c_lflag & (ICANON | ISIG | ECHO)) &&
		!(now.c_oflag & OPOST))
		tcsetattr(OUTER, TCSANOW, &st->pty.saved);
	/* Where the tree ends with the command, it ends here, too. */
	if (st->spec->kill_tree)
		prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	kill(m->pid, SIGKILL);
	if (st->spec->kill_tree)
		limits_sweep(NULL);
	_exit(125);
}

static void hear_word(struct monitor *m)
{
	struct run_message msg;
	ssize_t n = recv(TALK, &msg, sizeof(msg), MSG_DONTWAIT);

	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		end_orphaned(m);
	if (n != sizeof(msg))
		return;
	if (msg.word == RUN_SAY_SIGNAL) {
		kill(m->pid, msg.value);
	} else if (msg.word == RUN_SAY_RESUME) {
		take_front(SLAVE, msg.value ? m->front : getpgrp());
		killpg(m->pid, SIGCONT);
	}
}

/* Reaps. True when the command has ended. */
static bool reap_command(struct monitor *m)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
		if (pid != m->pid)
			continue;
		if (WIFSTOPPED(status)) {
			pid_t group = tcgetpgrp(SLAVE);

			if (!proc_stopped(pid, status))
				continue;
			if (group > 0 && group != getpgrp())
				m->front = group;
			say_word(TALK, RUN_SAY_STOPPED, WSTOPSIG(status), 0);
			continue;
		}
		/* What is left in the background outlives the session. */
		take_front(SLAVE, getpgrp());
		say_word(TALK, RUN_SAY_ENDED, status, 0);
		return true;
	}
	return false;
}

void run_monitor(struct run_state *st)
{
	struct monitor m = {.st = st, .pid = -1};
	struct signalfd_siginfo got;

	enum proc_step step;
	int err;

	lead_session(st);
	err = start_command(&m, &step);
	m.front = m.pid;
	say_word(st->talk[1], err ? RUN_SAY_FAILED : RUN_SAY_STARTED,
		err ? err : m.pid, (int)step);
	if (err)
		_exit(125);
	keep_few(st);
	for (;;) {
		struct pollfd fds[] = {{.fd = TALK, .events = POLLIN},
			{.fd = SIGNALS, .events = POLLIN}};

		if (poll(fds, 2, -1) < 0)
			continue;
		while (read(SIGNALS, &got, sizeof(got)) > 0)
			;
		/* A message that is lost must not look like success. */
		if (reap_command(&m))
			_exit(125);
		if (fds[0].revents)
			hear_word(&m);
	}
}
