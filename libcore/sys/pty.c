/* pty.c - a terminal of our own between a command and its user's
 * SPDX-License-Identifier: MIT
 */
#include "sys/pty.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"

enum { ROWS = 24, COLS = 80, PEER = 0x5441 /* TIOCGPTPEER */ };

dev_t pty_device(int fd)
{
	unsigned number;
	struct stat s;

	if (!isatty(fd) || fstat(fd, &s) < 0)
		return 0;
	/* The type of ioctl's second argument differs between C libraries. */
	return syscall(SYS_ioctl, fd, TIOCGDEV, &number) == 0 ? number
							       : s.st_rdev;
}

static void let_go(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void pty_close(struct pty *p)
{
	let_go(&p->master);
	let_go(&p->slave);
	let_go(&p->outer);
}

/* Opens the same terminal again, so that its flags are not shared with anybody
 * and it may be non-blocking. */
static int reopen_terminal(int fd)
{
	char path[32];
	int flags = O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC;
	int again = open(BUF_PRINT(path, "/proc/self/fd/%d", fd), flags);

	if (again < 0)
		again = open("/dev/tty", flags);
	return again < 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 3) : again;
}

static void take_over(struct pty *p)
{
	if (tcgetattr(p->outer, &p->saved) == 0) {
		p->given = p->saved;
		tcsetattr(p->slave, TCSANOW, &p->given);
	}
	if (ioctl(p->outer, TIOCGWINSZ, &p->size) < 0)
		memset(&p->size, 0, sizeof(p->size));
}

int pty_open(struct pty *p, int like, struct diag *d)
{
	int unlock = 0;

	p->master =
		open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	if (p->master < 0 || ioctl(p->master, TIOCSPTLCK, &unlock) < 0)
		return diag_errno(d, -errno, "cannot open a terminal");
	p->slave = ioctl(p->master, PEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (p->slave < 0)
		return diag_errno(d, -errno, "cannot open a terminal's end");
	p->size = (struct winsize){.ws_row = ROWS, .ws_col = COLS};
	if (like >= 0)
		p->outer = reopen_terminal(like);
	if (p->outer >= 0)
		take_over(p);
	tcgetattr(p->slave, &p->given);
	ioctl(p->slave, TIOCSWINSZ, &p->size);
	return 0;
}

bool pty_foreground(const struct pty *p)
{
	pid_t front = p->outer >= 0 ? tcgetpgrp(p->outer) : 0;

	return front < 0 || front == getpgrp();
}

static bool same_modes(const struct termios *a, const struct termios *b)
{
	return a->c_iflag == b->c_iflag && a->c_oflag == b->c_oflag &&
	       a->c_cflag == b->c_cflag && a->c_lflag == b->c_lflag &&
	       memcmp(a->c_cc, b->c_cc, sizeof(a->c_cc)) == 0;
}

/* Changes that the user, or the shell that gave us the terminal, made meanwhile
 * are for the command, too, unless it has set modes of its own. */
static void catch_up(struct pty *p)
{
	struct termios now;

	if (!pty_modes(p, &now) || !same_modes(&now, &p->given) ||
		same_modes(&now, &p->saved))
		return;
	tcsetattr(p->master, TCSANOW, &p->saved);
	pty_modes(p, &p->given);
}

void pty_raw(struct pty *p)
{
	struct termios t;

	if (p->outer < 0 || p->raw || tcgetattr(p->outer, &p->saved) < 0)
		return;
	pty_bare(p, false);
	catch_up(p);
	t = p->saved;
	cfmakeraw(&t);
	p->raw = tcsetattr(p->outer, TCSADRAIN, &t) == 0;
}

size_t pty_typed_ahead(struct pty *p, char *buf, size_t had, size_t size)
{
	struct termios quiet = p->given;
	struct pollfd wait = {.fd = p->slave, .events = POLLIN};
	ssize_t n = p->raw && had < size ?
			    read(p->outer, buf + had, size - had) : 0;

	n = (ssize_t)had + (n > 0 ? n : 0);
	if (!n)
		return 0;
	/* An end of file that was typed is kept as a NUL. */
	for (ssize_t i = 0; i < n; i++)
		if (!buf[i] && p->given.c_lflag & ICANON)
			buf[i] = (char)p->given.c_cc[VEOF];
	quiet.c_lflag &= ~(tcflag_t)ECHO;
	tcsetattr(p->slave, TCSANOW, &quiet);
	if (write(p->master, buf, (size_t)n) < n)
		n = 0;
	/* poll() makes the terminal take in what is on its way. */
	poll(&wait, 1, 0);
	tcsetattr(p->slave, TCSANOW, &p->given);
	return (size_t)n;
}

void pty_restore(struct pty *p)
{
	if (p->raw)
		tcsetattr(p->outer, TCSADRAIN, &p->saved);
	p->raw = false;
}

void pty_bare(struct pty *p, bool bare)
{
	struct termios t;

	if (p->outer < 0 || p->bare == bare || !pty_modes(p, &t))
		return;
	if (bare && !(t.c_oflag & OPOST))
		return;
	t.c_oflag = bare ? t.c_oflag & ~(tcflag_t)OPOST : t.c_oflag | OPOST;
	p->bare = tcsetattr(p->master, TCSANOW, &t) == 0 && bare;
}

/* Puts keys that nobody read back to the user's terminal, if the kernel lets us
 * type (as root, or where that needs no privilege); else to kept. */
static void put_unread(struct pty *p, struct buf *kept)
{
	int slave = ioctl(
		p->master, PEER, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	struct termios was, t;
	char keys[4096];
	ssize_t n = -1;

	if (slave >= 0 && tcgetattr(slave, &was) == 0) {
		t = was;
		t.c_lflag &= ~(tcflag_t)ICANON;
		t.c_cc[VMIN] = t.c_cc[VTIME] = 0;
		tcsetattr(slave, TCSANOW, &t);
		n = read(slave, keys, sizeof(keys));
		tcsetattr(slave, TCSANOW, &was);
	}
	if (kept && n > 0)
		buf_add(kept, keys, (size_t)n);
	for (ssize_t i = 0; !kept && i < n; i++)
		if (ioctl(p->outer, TIOCSTI, &keys[i]) < 0)
			break;
	let_go(&slave);
}

void pty_hand_back(struct pty *p, struct buf *keys)
{
	struct termios now;
	struct winsize size;

	if (p->raw && pty_modes(p, &now) && !same_modes(&now, &p->given))
		p->saved = now;
	if (p->raw && ioctl(p->master, TIOCGWINSZ, &size) == 0 &&
		memcmp(&size, &p->size, sizeof(size)) != 0)
		ioctl(p->outer, TIOCSWINSZ, &size);
	if (p->raw)
		put_unread(p, keys);
	pty_restore(p);
}

bool pty_resize(struct pty *p)
{
	struct winsize now;

	if (p->outer < 0 || ioctl(p->outer, TIOCGWINSZ, &now) < 0 ||
		memcmp(&now, &p->size, sizeof(now)) == 0)
		return false;
	p->size = now;
	ioctl(p->master, TIOCSWINSZ, &now);
	return true;
}

bool pty_modes(const struct pty *p, struct termios *t)
{
	return tcgetattr(p->master, t) == 0;
}
