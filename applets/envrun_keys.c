/* envrun_keys.c - the keys of a person at a terminal, one by one
 * SPDX-License-Identifier: MIT
 *
 * A byte is read at a time and the terminal is given back with every line, so
 * that what is typed ahead waits for whoever reads next.
 */
#include "envrun_keys.h"

#include <errno.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/str.h"

static const int caught[KEYS_CAUGHT] = {
	SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH};

static volatile sig_atomic_t woken;

static void note_signal(int sig)
{
	woken = sig;
}

static bool set_raw(struct keys *k)
{
	struct termios t;

	if (tcgetattr(STDIN_FILENO, &k->cooked))
		return false;
	t = k->cooked;
	t.c_iflag &= ~(tcflag_t)(ICRNL | INLCR | IGNCR | IXON);
	t.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG | IEXTEN);
	t.c_cc[VMIN] = 1;
	t.c_cc[VTIME] = 0;
	return tcsetattr(STDIN_FILENO, TCSADRAIN, &t) == 0;
}

static void set_cooked(const struct keys *k)
{
	tcsetattr(STDIN_FILENO, TCSADRAIN, &k->cooked);
}

/* The signals are blocked but for the wait itself: one that came just before a
 * read would be seen only after the next key. */
bool keys_open(struct keys *k, struct buf *typed)
{
	struct sigaction act = {.sa_handler = note_signal};
	sigset_t block;

	k->typed = typed;
	if (!set_raw(k))
		return false;
	woken = 0;
	sigemptyset(&block);
	for (size_t i = 0; i < KEYS_CAUGHT; i++)
		sigaddset(&block, caught[i]);
	sigprocmask(SIG_BLOCK, &block, &k->waiting);
	for (size_t i = 0; i < KEYS_CAUGHT; i++)
		sigaction(caught[i], &act, &k->was[i]);
	return true;
}

void keys_close(struct keys *k)
{
	int sig = woken;

	set_cooked(k);
	for (size_t i = 0; i < KEYS_CAUGHT; i++)
		sigaction(caught[i], &k->was[i], NULL);
	sigprocmask(SIG_SETMASK, &k->waiting, NULL);
	if (sig && sig != SIGINT && sig != SIGWINCH)
		raise(sig);
}

bool keys_ready(const struct keys *k)
{
	int n = 0;

	return k->typed->len ||
		(ioctl(STDIN_FILENO, FIONREAD, &n) == 0 && n > 0);
}

static int next_byte(struct keys *k)
{
	struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
	unsigned char c;

	if (k->typed->len) {
		c = (unsigned char)k->typed->data[0];
		buf_consume(k->typed, 1);
		return c;
	}
	if (ppoll(&in, 1, NULL, &k->waiting) < 0) {
		if (woken != SIGWINCH)
			return woken ? -EINTR : -ENODATA;
		woken = 0;
		return -EAGAIN;
	}
	return read(STDIN_FILENO, &c, 1) == 1 ? c : -ENODATA;
}

/* The rest of a sequence comes whatever happens to the window meanwhile. */
static int more_byte(struct keys *k)
{
	int c;

	do
		c = next_byte(k);
	while (c == -EAGAIN);
	return c;
}

static int read_escape(struct keys *k)
{
	static const struct {
		char end;
		unsigned char number;
		short key;
	} keys[] = {
		{'A', 0, K_UP}, {'B', 0, K_DOWN}, {'C', 0, K_RIGHT},
		{'D', 0, K_LEFT}, {'H', 0, K_HOME}, {'F', 0, K_END},
		{'~', 1, K_HOME}, {'~', 7, K_HOME}, {'~', 4, K_END},
		{'~', 8, K_END}, {'~', 3, K_DELETE},
	};
	unsigned number = 0;
	int c;

	do
		c = more_byte(k);
	while (c == ESC);
	if (c != '[' && c != 'O')
		return c < ' ' ? c : K_NONE;
	while ((c = more_byte(k)) >= ' ' && c < '@')
		if (c >= '0' && c <= '9' && number < 1000)
			number = 10 * number + (unsigned)(c - '0');
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (keys[i].end == c && (!keys[i].number || c != '~' ||
						keys[i].number == number))
			return keys[i].key;
	return c < ' ' ? c : K_NONE;
}

int keys_next(struct keys *k)
{
	int c = next_byte(k);

	return c == ESC ? read_escape(k) : c;
}

void keys_stop(struct keys *k)
{
	set_cooked(k);
	kill(0, SIGTSTP);
	set_raw(k);
}
