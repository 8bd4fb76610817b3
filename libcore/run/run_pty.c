/* run_pty.c - a command on a terminal of its own: the supervisor's side
 * SPDX-License-Identifier: MIT
 */
#include "run/run_pty_in.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/run_in.h"

enum { TYPED_MAX = 4096 }; /* a terminal holds no more */

/* Finds which of 0, 1, 2 are the terminal. Returns one of them, or -1. */
static int find_terminal(struct run_state *st)
{
	dev_t first = 0;
	int found = -1;

	for (int fd = 0; fd <= 2; fd++) {
		dev_t one = pty_device(fd);

		if (one && found < 0) {
			found = fd;
			first = one;
		}
		if (st->spec->pty_all || (one && one == first))
			st->setup.fd[fd] = 0; /* becomes the slave, once there
					       * is one */
	}
	return found;
}

/* Puts the command's terminal in place of the user's, wherever that is open. */
static int put_slave(struct run_state *st, int like)
{
	const struct run_spec *spec = st->spec;
	dev_t outer = like >= 0 ? pty_device(like) : 0;
	int err = 0;

	for (int fd = 0; fd <= 2; fd++)
		if (st->setup.fd[fd] >= 0)
			st->setup.fd[fd] = st->pty.slave;
	for (size_t i = 0; outer && !err && i < spec->inherited_count; i++)
		if (pty_device(spec->inherited[i]) == outer)
			err = proc_also(&st->setup, st->pty.slave,
				spec->inherited[i]);
	return err ? diag_errno(st->d, err, "too many descriptors of a terminal")
		   : 0;
}

static int make_pumps(struct run_state *st)
{
	struct pty *p = &st->pty;
	bool keyboard = p->outer >= 0 && (!st->spec->pty_all || isatty(0));
	bool screen = p->outer >= 0 && (!st->spec->pty_all || isatty(1));

	st->typed = keyboard;
	st->pumps[RUN_KEYS] = (struct pump){.live = true,
		.from = fcntl(keyboard ? p->outer : 0, F_DUPFD_CLOEXEC, 3),
		.to = p->master,
		.to_tty = true,
		.show = run_show,
		.ctx = st,
		.tag = RUN_TTYIN,
		.paused = !st->in_front};
	st->pumps[RUN_SCREEN] = (struct pump){.live = true,
		.from = fcntl(p->master, F_DUPFD_CLOEXEC, 3),
		.to = screen ? p->outer : 1,
		.show = run_show,
		.ctx = st,
		.tag = RUN_TTYOUT};
	st->result->captured |= 1U << RUN_TTYIN | 1U << RUN_TTYOUT;
	return st->pumps[RUN_KEYS].from < 0 || st->pumps[RUN_SCREEN].from < 0
		? diag_errno(st->d, -errno, "cannot attend to a terminal")
		: 0;
}

static void tell_size(struct run_state *st)
{
	const struct run_sink *sink = st->spec->sink;
	int err = sink && sink->winsize
			  ? sink->winsize(sink->ctx, &st->pty.size)
			  : 0;

	if (err < 0 && !st->err)
		st->err = err;
}

bool run_pty_size(struct run_state *st)
{
	bool changed = pty_resize(&st->pty);

	if (changed)
		tell_size(st);
	return changed;
}

static void take_typed(struct run_state *st)
{
	struct buf *kept = st->pty.raw ? st->spec->unread : NULL;
	struct pump like = {.tag = RUN_TTYIN};
	size_t room = TYPED_MAX, had = 0, n;
	char keys[TYPED_MAX];

	if (kept && kept->len) {
		had = kept->len < room ? kept->len : room;
		memcpy(keys, kept->data, had);
		buf_consume(kept, had);
		room = kept->len ? had : TYPED_MAX;
	}
	n = pty_typed_ahead(&st->pty, keys, had, room);

	if (n && run_show(st, &like, keys, n) == PUMP_MORE)
		st->pumps[RUN_KEYS].bytes += n;
}

/* Lets the command open its terminal by name, too. */
static int admit_terminal(struct run_state *st, int fd)
{
	struct sandbox *s = st->spec->sandbox;
	int err = s ? sandbox_admit_terminal(s, fd) : 0;

	return err ? diag_errno(st->d, err, "cannot grant a terminal") : 0;
}

/* In an early boot there are no devices for new terminals: the command then
 * gets the existing terminal, as without us. */
static bool pty_missing(struct run_state *st, int err)
{
	if (st->spec->pty_all ||
		(err != -ENOENT && err != -ENODEV && err != -ENXIO))
		return false;
	for (int fd = 0; fd <= 2; fd++)
		st->setup.fd[fd] = -1;
	return true;
}

int run_pty_open(struct run_state *st)
{
	int like = find_terminal(st), err;
	struct diag why = {0};

	if (like < 0 && !st->spec->pty_all)
		return diag_fail(st->d, -ENOTTY,
			"neither stdin nor stdout nor stderr is a terminal");
	err = pty_open(&st->pty, like, &why);
	if (err && !pty_missing(st, err)) {
		if (st->d)
			*st->d = why;
		return err;
	}
	if (err)
		return admit_terminal(st, like);
	err = admit_terminal(st, st->pty.slave);
	if (err)
		return err;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, st->talk))
		return diag_errno(st->d, -errno, "cannot make a socket pair");
	err = put_slave(st, like);
	if (err)
		return err;
	st->in_front = st->pty.outer < 0 || pty_foreground(&st->pty);
	err = make_pumps(st);
	if (err)
		return err;
	if (st->in_front)
		pty_raw(&st->pty);
	else
		pty_bare(&st->pty, true);
	tell_size(st);
	if (st->typed)
		take_typed(st);
	return 0;
}

static void say_word(struct run_state *st, enum run_word word, int value)
{
	struct run_message msg = {(int)word, value, 0};

	while (send(st->talk[0], &msg, sizeof(msg), MSG_NOSIGNAL) < 0 &&
		errno == EINTR)
		;
}

/* Receives one word: true, or false when there is none (any more). ECONNRESET
 * is reported once where the other side left a word of ours unread; its last
 * word follows. */
static bool hear_word(struct run_state *st, struct run_message *msg, int flags)
{
	ssize_t n;

	do
		n = recv(st->talk[0], msg, sizeof(*msg), flags);
	while (n < 0 && (errno == EINTR || errno == ECONNRESET));
	return n == (ssize_t)sizeof(*msg);
}

int run_pty_start(struct run_state *st, enum proc_step *step)
{
	struct run_message msg;

	close(st->talk[1]);
	st->talk[1] = -1;
	if (!hear_word(st, &msg, 0))
		return -EPIPE;
	*step = (enum proc_step)msg.more;
	if (msg.word != RUN_SAY_STARTED)
		return msg.value;
	st->group = msg.value;
	return 0;
}

static void resume_command(struct run_state *st)
{
	st->in_front = st->pty.outer < 0 || pty_foreground(&st->pty);
	st->pumps[RUN_KEYS].paused = !st->in_front;
	if (st->in_front)
		pty_raw(&st->pty);
	else
		pty_bare(&st->pty, true);
	run_pty_size(st);
	say_word(st, RUN_SAY_RESUME, st->in_front);
}

/* The command stopped. If it only wanted the keyboard, and may have it, it goes
 * on; else we stop as well. */
static void command_stopped(struct run_state *st, int sig)
{
	bool wants = sig == SIGTTIN || sig == SIGTTOU;
	/* For these signals the kernel stops a whole group. */
	bool whole = wants || (sig == SIGTSTP && st->suspends);

	st->suspends = false;
	if (!(wants && !st->in_front && pty_foreground(&st->pty))) {
		pty_restore(&st->pty);
		/* A signal that is still to be read woke us. */
		if (run_signals_stop(st, sig, whole) == RUN_STOP_CALLED)
			return;
	}
	resume_command(st);
}

void run_pty_read(struct run_state *st)
{
	struct run_message msg;

	while (st->talk[0] >= 0 && !st->told && hear_word(st, &msg,
		MSG_DONTWAIT)) {
		if (msg.word == RUN_SAY_STARTED)
			st->group = msg.value;
		if (msg.word == RUN_SAY_STOPPED)
			command_stopped(st, msg.value);
		st->told = msg.word == RUN_SAY_ENDED;
		if (st->told)
			st->told_status = msg.value;
	}
}

/* The user's terminal is gone. Without us the command would get SIGHUP, as
 * session leader or from its leader, and the foreground group, too. They get it
 * before they see the end of their own terminal. */
static void hang_up(struct run_state *st)
{
	pid_t front = tcgetpgrp(st->pty.master);

	if (st->hung_up)
		return;
	st->hung_up = true;
	for (pid_t group = st->group; group > 0; group = front) {
		kill(-group, SIGHUP);
		kill(-group, SIGCONT);
		if (group == front)
			break;
	}
}

/* Passes on a key of the user's terminal to the foreground group of the
 * command's. */
static void press_key(struct run_state *st, int sig)
{
	pid_t front = tcgetpgrp(st->pty.master);

	/* The monitor itself has no use for the signal. */
	if (st->group && (front <= 0 || front == st->pid))
		kill(-st->group, sig);
	else
		ioctl(st->pty.master, TIOCSIG, sig);
}

void run_pty_signal(struct run_state *st, int sig, bool kernel, bool whole)
{
	switch (sig) {
	case SIGWINCH:
		if (run_pty_size(st))
			return;
		break;
	case SIGCONT:
		resume_command(st);
		return;
	case SIGTTIN:
	case SIGTTOU:
		if (kernel)
			return;
		break;
	case SIGHUP:
		if (kernel) {
			hang_up(st);
			return;
		}
		break;
	case SIGINT:
	case SIGQUIT:
	case SIGTSTP:
		if (kernel) {
			press_key(st, sig);
			return;
		}
		break;
	default:
		break;
	}
	if (whole && st->group)
		kill(-st->group, sig);
	else if (sig != SIGWINCH || !kernel)
		say_word(st, RUN_SAY_SIGNAL, sig);
}

/* Would the whole of our group get what the keys send, without us? Not while a
 * job of the command's is in front, and not where the command is a job by
 * itself. */
static bool whole_group(const struct run_state *st)
{
	return st->typed && !st->spec->own_job &&
	       (!st->group || tcgetpgrp(st->pty.master) == st->group);
}

/* The command's terminal sends these signals to the command alone; the user's
 * would have sent them to all of our group, which may be a whole build. So they
 * are sent to the group. A stop follows when the command stops, because the
 * process that wakes the command wakes us, too. */
void run_pty_keys(struct run_state *st, const char *keys, size_t n)
{
	struct termios t;

	if (!pty_modes(&st->pty, &t) || !(t.c_lflag & ISIG) || !whole_group(st))
		return;
	for (size_t i = 0; i < n; i++) {
		cc_t key = (cc_t)keys[i];

		if (key == _POSIX_VDISABLE)
			continue;
		if (key == t.c_cc[VINTR])
			kill(0, SIGINT);
		else if (key == t.c_cc[VQUIT])
			kill(0, SIGQUIT);
		else if (key == t.c_cc[VSUSP])
			st->suspends = true;
	}
}

bool run_pty_hidden(struct run_state *st)
{
	struct termios t;

	return pty_modes(&st->pty, &t) && !(t.c_lflag & ECHO) &&
	       t.c_lflag & ICANON;
}

void run_pty_gone(struct run_state *st)
{
	struct termios t;
	char end;

	if (st->reaped)
		return;
	if (st->typed) {
		hang_up(st);
		/* The processes that go on find no terminal, either. */
		if (st->pumps[RUN_SCREEN].to == st->pty.outer) {
			pump_end(&st->pumps[RUN_SCREEN]);
			close(st->pty.master);
			st->pty.master = -1;
		}
		return;
	}
	if (!pty_modes(&st->pty, &t) || !(t.c_lflag & ICANON))
		return;
	end = (char)t.c_cc[VEOF];
	if (write(st->pty.master, &end, 1) < 0)
		return;
}

void run_pty_keep(struct run_state *st)
{
	size_t n;
	const char *keys = pump_held(&st->pumps[RUN_KEYS], &n);

	if (st->typed && st->spec->unread)
		buf_add(st->spec->unread, keys, n);
}

/* Puts unread keys back: first those that the command's terminal had, because
 * they are older. A command that was killed takes its keys along, as on any
 * terminal. */
static void give_back(struct run_state *st)
{
	struct buf *kept = st->typed ? st->spec->unread : NULL;
	autobuf struct buf keys = BUF_INIT(kept ? kept->max : 0);

	if (st->result->started && WIFEXITED(st->result->status) &&
		!st->died_of && st->in_front) {
		pty_hand_back(&st->pty, kept ? &keys : NULL);
		if (kept)
			buf_add(&keys, kept->data, kept->len);
	} else {
		pty_restore(&st->pty);
	}
	if (kept) {
		buf_clear(kept);
		buf_add(kept, keys.data, keys.len);
	}
}

void run_pty_close(struct run_state *st)
{
	give_back(st);
	if (st->talk[0] >= 0)
		close(st->talk[0]);
	st->talk[0] = -1;
	pty_bare(&st->pty, true);
	if (st->pumps[RUN_SCREEN].live &&
		st->pumps[RUN_SCREEN].to == st->pty.outer)
		st->pty.outer = -1; /* owned by the pump of the background
				     * programs */
	pty_close(&st->pty);
}
