/* envrun_edit.c - one line from a person at a terminal
 * SPDX-License-Identifier: MIT
 *
 * A byte is read at a time and the terminal is given back with every line, so
 * that what is typed ahead waits for whoever reads next.
 */
#include "envrun_edit.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "utf8.h"

#define KEY(c) ((c) & 31)

enum {
	ESC = 27,
	DEL = 127,
	QUERY_MAX = 128,
	/* What an escape sequence means, beyond all bytes. */
	K_UP = 256,
	K_DOWN,
	K_LEFT,
	K_RIGHT,
	K_HOME,
	K_END,
	K_DELETE,
	K_NONE,
};

struct edit {
	struct buf *line;
	size_t at; /* the cursor, in bytes */
	const char *prompt;
	const struct history *h;
	size_t where;     /* in the history; its count: the new line */
	struct buf fresh; /* the new line, while an older one is shown */
	struct termios cooked;
};

static volatile sig_atomic_t woken;

static void wake(int sig)
{
	woken = sig;
}

static bool raw(struct edit *e)
{
	struct termios t;

	if (tcgetattr(STDIN_FILENO, &e->cooked))
		return false;
	t = e->cooked;
	t.c_iflag &= ~(tcflag_t)(ICRNL | INLCR | IGNCR | IXON);
	t.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG | IEXTEN);
	t.c_cc[VMIN] = 1;
	t.c_cc[VTIME] = 0;
	return tcsetattr(STDIN_FILENO, TCSADRAIN, &t) == 0;
}

static void cooked(const struct edit *e)
{
	tcsetattr(STDIN_FILENO, TCSADRAIN, &e->cooked);
}

static void put(const char *s, size_t n)
{
	while (n) {
		ssize_t done = write(STDOUT_FILENO, s, n);

		if (done <= 0)
			return;
		s += done;
		n -= (size_t)done;
	}
}

/* Bytes and columns of the character at s[0..n); what is no text is shown as
 * one replacement each. */
static size_t character(const char *s, size_t n, unsigned *columns)
{
	uint32_t cp = 0;
	size_t len = utf8_decode(s, n, &cp);

	*columns = len && !utf8_is_hidden(cp) ? utf8_width(cp) : 1;
	return len ? len : 1;
}

static unsigned columns_of(const char *s, size_t n)
{
	unsigned sum = 0, c;

	for (size_t i = 0; i < n; sum += c) {
		if (s[i] == ESC) { /* a colour of the prompt's */
			const char *end = memchr(s + i, 'm', n - i);

			i = end ? (size_t)(end - s) + 1 : n;
			c = 0;
		} else {
			i += character(s + i, n - i, &c);
		}
	}
	return sum;
}

static void show_char(struct buf *out, const char *s, size_t n)
{
	uint32_t cp = 0;

	if (utf8_decode(s, n, &cp) && !utf8_is_hidden(cp))
		buf_add(out, s, n);
	else
		buf_addc(out, '?');
}

/* The prompt, and of the line as much around the cursor as one row holds. */
static void redraw(const struct edit *e, const char *prompt)
{
	autobuf struct buf out = BUF_INIT(1 << 16);
	struct winsize ws = {0};
	const char *s = e->line->data;
	unsigned room, c, used = columns_of(prompt, strlen(prompt));
	size_t from = 0;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) || ws.ws_col < 8)
		ws.ws_col = 80;
	if (used + 8 > ws.ws_col) { /* a long directory */
		prompt = "> ";
		used = 2;
	}
	room = ws.ws_col - used - 1;
	while (columns_of(s + from, e->at - from) > room)
		from += character(s + from, e->line->len - from, &c);
	buf_addf(&out, "\r%s", prompt);
	used += columns_of(s + from, e->at - from);
	for (size_t i = from, n; i < e->line->len; i += n) {
		n = character(s + i, e->line->len - i, &c);
		if (c > room)
			break;
		room -= c;
		show_char(&out, s + i, n);
	}
	buf_addf(&out, "\033[K\r\033[%uC", used);
	put(out.data, out.len);
}

/* The signals that end an edit are blocked but for the wait itself: one that
 * came just before a read would be seen only after the next key. */
static sigset_t waiting;

/* The next byte; -1 at the end or when a signal came. */
static int byte(void)
{
	struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
	unsigned char c;

	if (ppoll(&in, 1, NULL, &waiting) < 0)
		return -1;
	return read(STDIN_FILENO, &c, 1) == 1 ? c : -1;
}

static int escape(void)
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
	int c = byte();

	if (c != '[' && c != 'O')
		return c < 0 ? c : K_NONE;
	while ((c = byte()) >= 0 && c < '@')
		if (c >= '0' && c <= '9' && number < 1000)
			number = 10 * number + (unsigned)(c - '0');
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (keys[i].end == c && (!keys[i].number || c != '~' ||
						keys[i].number == number))
			return keys[i].key;
	return c < 0 ? c : K_NONE;
}

static int key(void)
{
	int c = byte();

	return c == ESC ? escape() : c;
}

static size_t before(const struct edit *e)
{
	size_t at = e->at;

	while (at && (e->line->data[--at] & 0xC0) == 0x80)
		;
	return at;
}

static size_t after(const struct edit *e)
{
	size_t at = e->at + (e->at < e->line->len);

	while (at < e->line->len && (e->line->data[at] & 0xC0) == 0x80)
		at++;
	return at;
}

static void erase(struct edit *e, size_t from, size_t to)
{
	struct buf *l = e->line;

	memmove(l->data + from, l->data + to, l->len - to);
	l->len -= to - from;
	e->at = from;
}

static void insert(struct edit *e, char c)
{
	struct buf *l = e->line;

	if (l->len + 1 >= l->max)
		return;
	buf_addc(l, c);
	memmove(l->data + e->at + 1, l->data + e->at, l->len - 1 - e->at);
	l->data[e->at++] = c;
}

static size_t word_start(const struct edit *e)
{
	size_t at = e->at;

	while (at && e->line->data[at - 1] == ' ')
		at--;
	while (at && e->line->data[at - 1] != ' ')
		at--;
	return at;
}

static void replace(struct edit *e, const char *text, size_t n)
{
	buf_clear(e->line);
	buf_add(e->line, text, n);
	e->at = e->line->len;
}

static void walk(struct edit *e, bool older)
{
	if (older ? !e->where : e->where == e->h->count)
		return;
	if (e->where == e->h->count) {
		buf_clear(&e->fresh);
		buf_add(&e->fresh, e->line->data, e->line->len);
	}
	e->where = older ? e->where - 1 : e->where + 1;
	if (e->where == e->h->count)
		replace(e, e->fresh.data, e->fresh.len);
	else
		replace(e, e->h->line[e->where], strlen(e->h->line[e->where]));
}

/* The newest line older than from that holds what is looked for. */
static void find(struct edit *e, const char *what, size_t from)
{
	while (*what && from--) {
		const char *hit = strstr(e->h->line[from], what);

		if (!hit)
			continue;
		e->where = from;
		replace(e, e->h->line[from], strlen(e->h->line[from]));
		e->at = (size_t)(hit - e->h->line[from]);
		return;
	}
}

/* Ctrl-R: the key that ended the search. */
static int search(struct edit *e)
{
	char text[QUERY_MAX], shown[QUERY_MAX + 32];
	struct buf what = BUF_FIXED(text);
	int c;

	for (;;) {
		struct buf prompt = BUF_FIXED(shown);

		buf_addf(&prompt, "(search) %s: ", buf_str(&what));
		redraw(e, buf_str(&prompt));
		c = key();
		if (c == KEY('r')) {
			find(e, buf_str(&what), e->where);
		} else if (c == DEL || c == KEY('h')) {
			what.len -= what.len > 0;
		} else if (c >= ' ' && c < 256 && what.len + 2 < QUERY_MAX) {
			buf_addc(&what, (char)c);
			find(e, buf_str(&what), e->h->count);
		} else {
			return c;
		}
	}
}

/* As the kernel would: stopped with the group, and again from the start. */
static void stop(struct edit *e)
{
	cooked(e);
	kill(0, SIGTSTP);
	raw(e);
}

static void move(struct edit *e, int c)
{
	switch (c) {
	case KEY('a'):
	case K_HOME:
		e->at = 0;
		break;
	case KEY('e'):
	case K_END:
		e->at = e->line->len;
		break;
	case KEY('b'):
	case K_LEFT:
		e->at = before(e);
		break;
	case KEY('f'):
	case K_RIGHT:
		e->at = after(e);
		break;
	case KEY('p'):
	case K_UP:
	case KEY('n'):
	case K_DOWN:
		walk(e, c == KEY('p') || c == K_UP);
		break;
	default:
		break;
	}
}

static void change(struct edit *e, int c)
{
	switch (c) {
	case KEY('h'):
	case DEL:
		erase(e, before(e), e->at);
		break;
	case KEY('d'):
	case K_DELETE:
		erase(e, e->at, after(e));
		break;
	case KEY('u'):
		erase(e, 0, e->at);
		break;
	case KEY('w'):
		erase(e, word_start(e), e->at);
		break;
	case KEY('k'):
		erase(e, e->at, e->line->len);
		break;
	case KEY('l'):
		put("\033[H\033[2J", 7);
		break;
	case KEY('z'):
		stop(e);
		break;
	default:
		if (c >= ' ' && c < 256)
			insert(e, (char)c);
		else
			move(e, c);
	}
}

/* 0 when a line is there; -ENODATA; -EINTR. */
static int edit(struct edit *e)
{
	for (;;) {
		int c;

		redraw(e, e->prompt);
		c = key();
		if (c == KEY('r'))
			c = search(e);
		if (c < 0 && woken == SIGWINCH) {
			woken = 0;
			continue;
		}
		if (c < 0)
			return woken ? -EINTR : -ENODATA;
		if (c == '\r' || c == '\n')
			return 0;
		if (c == KEY('c'))
			return -EINTR;
		if (c == KEY('d') && !e->line->len)
			return -ENODATA;
		change(e, c);
	}
}

int envrun_edit(const char *prompt, const struct history *h, struct buf *line)
{
	static const int caught[] = {
		SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH};
	enum { CAUGHT = sizeof(caught) / sizeof(*caught) };
	struct sigaction act = {.sa_handler = wake}, was[CAUGHT];
	sigset_t block;
	struct edit e = {.line = line,
		.prompt = prompt,
		.h = h,
		.where = h->count,
		.fresh = BUF_INIT(1 << 20)};
	int err, sig;

	if (!raw(&e))
		return -ENOTTY;
	woken = 0;
	sigemptyset(&block);
	for (size_t i = 0; i < CAUGHT; i++)
		sigaddset(&block, caught[i]);
	sigprocmask(SIG_BLOCK, &block, &waiting);
	for (size_t i = 0; i < CAUGHT; i++)
		sigaction(caught[i], &act, &was[i]);
	/* memmove() and the like want an address. */
	buf_reserve(line, 1);
	err = edit(&e);
	cooked(&e);
	sig = woken;
	for (size_t i = 0; i < CAUGHT; i++)
		sigaction(caught[i], &was[i], NULL);
	sigprocmask(SIG_SETMASK, &waiting, NULL);
	buf_release(&e.fresh);
	put("\n", 1);
	if (sig && sig != SIGINT && sig != SIGWINCH)
		raise(sig);
	return err ? err : line->err;
}
