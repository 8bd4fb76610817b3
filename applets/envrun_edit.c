/* envrun_edit.c - one line from a person at a terminal
 * SPDX-License-Identifier: MIT
 */
#include "envrun_edit.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "envrun_keys.h"
#include "base/str.h"
#include "base/utf8.h"

enum {
	QUERY_MAX = 128,
	COLUMNS = 80, /* of a terminal that does not say */
};

struct edit {
	struct buf *line;
	size_t at; /* the cursor, in bytes */
	bool over; /* more was typed than a line may hold */
	const char *prompt;
	const struct history *h;
	size_t where;     /* in the history; its count: the new line */
	struct buf fresh; /* the new line, while an older one is shown */
	struct keys keys;
};

static void put_bytes(const char *s, size_t n)
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
static size_t char_length(const char *s, size_t n, unsigned *columns)
{
	uint32_t cp = 0;
	size_t len = utf8_decode(s, n, &cp);

	*columns = len && !utf8_is_hidden(cp) ? utf8_width(cp) : 1;
	return len ? len : 1;
}

/* Where the character begins that ends at s[at]; its columns. */
static size_t character_before(const char *s, size_t at, unsigned *columns)
{
	for (size_t n = at < 4 ? at : 4; n > 1; n--)
		if (char_length(s + at - n, n, columns) == n)
			return at - n;
	return at - char_length(s + at - 1, 1, columns);
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
			i += char_length(s + i, n - i, &c);
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

static unsigned terminal_width(void)
{
	struct winsize ws;

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) || !ws.ws_col ? COLUMNS
								   : ws.ws_col;
}

/* The prompt, and of the line as much around the cursor as one row holds. */
static void redraw_line(const struct edit *e, const char *prompt)
{
	autobuf struct buf out = BUF_INIT(1 << 19);
	const char *s = e->line->data;
	unsigned all = terminal_width(), room, c, used;
	size_t from = e->at, n;

	used = columns_of(prompt, strlen(prompt));
	if (used + 8 > all) { /* a long directory, or a narrow place */
		prompt = all > 8 ? "> " : "";
		used = (unsigned)strlen(prompt);
	}
	room = all - used - 1;
	buf_addf(&out, "\r%s", prompt);
	for (; from; from = n, room -= c, used += c) {
		n = character_before(s, from, &c);
		if (c > room)
			break;
	}
	for (size_t i = from; i < e->line->len; i += n) {
		n = char_length(s + i, e->line->len - i, &c);
		if (i >= e->at) {
			if (c > room)
				break;
			room -= c;
		}
		show_char(&out, s + i, n);
	}
	buf_adds(&out, "\033[K\r");
	if (used)
		buf_addf(&out, "\033[%uC", used);
	put_bytes(out.data, out.len);
}

static size_t place_before(const struct edit *e)
{
	unsigned c;

	return e->at ? character_before(e->line->data, e->at, &c) : 0;
}

static size_t place_after(const struct edit *e)
{
	size_t left = e->line->len - e->at;
	unsigned c;

	return left ? e->at + char_length(e->line->data + e->at, left, &c)
		    : e->at;
}

static void erase_range(struct edit *e, size_t from, size_t to)
{
	struct buf *l = e->line;

	memmove(l->data + from, l->data + to, l->len - to);
	l->len -= to - from;
	e->at = from;
	e->over &= l->len > 0;
}

static void insert_char(struct edit *e, char c)
{
	struct buf *l = e->line;

	e->over |= l->len + 1 >= l->max;
	if (e->over)
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

static void replace_line(struct edit *e, const char *text, size_t n)
{
	buf_clear(e->line);
	buf_add(e->line, text, n);
	e->at = e->line->len;
}

static void walk_history(struct edit *e, bool older)
{
	if (older ? !e->where : e->where == e->h->count)
		return;
	if (e->where == e->h->count) {
		buf_clear(&e->fresh);
		buf_add(&e->fresh, e->line->data, e->line->len);
	}
	e->where = older ? e->where - 1 : e->where + 1;
	if (e->where == e->h->count)
		replace_line(e, e->fresh.data, e->fresh.len);
	else
		replace_line(e, e->h->line[e->where],
			strlen(e->h->line[e->where]));
}

/* The newest line older than from that holds what is looked for. */
static void find_line(struct edit *e, const char *what, size_t from)
{
	while (*what && from--) {
		const char *hit = str_find(e->h->line[from], what);

		if (!hit)
			continue;
		e->where = from;
		replace_line(e, e->h->line[from], strlen(e->h->line[from]));
		e->at = (size_t)(hit - e->h->line[from]);
		return;
	}
}

/* Ctrl-R: the key that ended the search. */
static int search_history(struct edit *e)
{
	char text[QUERY_MAX], shown[QUERY_MAX + 32];
	struct buf what = BUF_FIXED(text);
	unsigned columns;
	size_t n;
	int c;

	for (;;) {
		struct buf prompt = BUF_FIXED(shown);

		buf_adds(&prompt, "(search) ");
		for (size_t i = 0; i < what.len; i += n) {
			n = char_length(text + i, what.len - i, &columns);
			show_char(&prompt, text + i, n);
		}
		buf_adds(&prompt, ": ");
		redraw_line(e, buf_str(&prompt));
		do
			c = keys_next(&e->keys);
		while (c == -EAGAIN);
		if (c == KEY('r')) {
			find_line(e, buf_str(&what), e->where);
		} else if (c == DEL || c == KEY('h')) {
			if (what.len)
				what.len = character_before(
					text, what.len, &columns);
		} else if (c >= ' ' && c < 256 && what.len + 2 < QUERY_MAX) {
			buf_addc(&what, (char)c);
			find_line(e, buf_str(&what), e->h->count);
		} else {
			return c;
		}
	}
}

static void move_cursor(struct edit *e, int c)
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
		e->at = place_before(e);
		break;
	case KEY('f'):
	case K_RIGHT:
		e->at = place_after(e);
		break;
	case KEY('p'):
	case K_UP:
	case KEY('n'):
	case K_DOWN:
		walk_history(e, c == KEY('p') || c == K_UP);
		break;
	default:
		break;
	}
}

static void change_line(struct edit *e, int c)
{
	switch (c) {
	case KEY('h'):
	case DEL:
		erase_range(e, place_before(e), e->at);
		break;
	case KEY('d'):
	case K_DELETE:
		erase_range(e, e->at, place_after(e));
		break;
	case KEY('u'):
		erase_range(e, 0, e->at);
		break;
	case KEY('w'):
		erase_range(e, word_start(e), e->at);
		break;
	case KEY('k'):
		erase_range(e, e->at, e->line->len);
		break;
	case KEY('l'):
		put_bytes("\033[H\033[2J", 7);
		break;
	case KEY('z'):
		keys_stop(&e->keys);
		break;
	default:
		if (c == '\t' || (c >= ' ' && c < 256))
			insert_char(e, (char)c);
		else
			move_cursor(e, c);
	}
}

/* 0 when a line is there; -ENODATA; -EINTR; -E2BIG. What comes in one go, such
 * as a paste, is drawn when it is there. */
static int edit_loop(struct edit *e)
{
	for (;;) {
		int c;

		if (!keys_ready(&e->keys))
			redraw_line(e, e->prompt);
		c = keys_next(&e->keys);
		if (c == KEY('r'))
			c = search_history(e);
		if (c == '\r' || c == '\n')
			break;
		if (c == KEY('c'))
			return -EINTR;
		if (c == KEY('d') && !e->line->len)
			return -ENODATA;
		if (c >= 0)
			change_line(e, c);
		else if (c != -EAGAIN)
			return c;
	}
	redraw_line(e, e->prompt);
	return e->over ? -E2BIG : e->line->err;
}

int envrun_edit(const char *prompt, const struct history *h, struct buf *typed,
	struct buf *line)
{
	struct edit e = {.line = line,
		.prompt = prompt,
		.h = h,
		.where = h->count,
		.fresh = BUF_INIT(1 << 20)};
	int err;

	if (!keys_open(&e.keys, typed))
		return -ENOTTY;
	/* memmove() and the like want an address. */
	buf_reserve(line, 1);
	err = edit_loop(&e);
	buf_release(&e.fresh);
	put_bytes("\n", 1);
	keys_close(&e.keys);
	return err;
}
