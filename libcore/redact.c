/* redact.c - secrets taken out of a stream of bytes
 * SPDX-License-Identifier: MIT
 *
 * The stream goes through a window: some bytes of what is out already, to look
 * back at; what is held; what is new. Escape sequences are left out of the
 * text that is looked at, so that a coloured token is still one.
 */
#include "redact.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "redact_begins.h"
#include "redact_core.h"
#include "str.h"

enum {
	SLICE = 4096,
	SEQUENCE_MAX = 64, /* a longer escape sequence is none */
	HELD_MAX = REDACT_HOLD + SEQUENCE_MAX,
	WINDOW = REDACT_BEFORE + HELD_MAX + SLICE,
};

/* raw: as it came, behind the bytes looked back at. Only when there are escape
 * sequences in it: text, what is visible; place[i], where text[i] stands. */
struct redact_work {
	unsigned char raw[WINDOW];
	unsigned char text[WINDOW];
	uint16_t place[WINDOW + 1];
};

/* One look through the window. */
struct look {
	struct redact *r;
	struct redact_stream *s;
	struct redact_view view;
	const uint16_t *place; /* NULL: text is raw */
	size_t base;  /* of text: the first byte that is not yet out */
	size_t total; /* of raw */
	size_t done;  /* of raw: let through or hidden */
	size_t open;  /* of text: what a pause left undecided begins here */
	bool pause;
	struct buf *out;
};

void redact_stream_release(struct redact_stream *s)
{
	if (s->held)
		explicit_bzero(s->held, HELD_MAX);
	free(s->held);
	*s = REDACT_STREAM_INIT;
}

bool redact_pending(const struct redact_stream *s)
{
	return s->len > 0;
}

const char *redact_kind_name(const struct redact *r, unsigned kind)
{
	static const char names[] =
		"assign\0flag\0header\0url\0private-key\0env\0jwt\0aws\0"
		"github\0gitlab\0slack\0stripe\0google\0openai\0anthropic\0"
		"huggingface\0npm\0pypi\0azure\0telegram\0vault\0crypt\0token\0";
	unsigned i = 0;

	EACH (name, names)
		if (i++ == kind)
			return name;
	return kind >= KIND_USER ? redact_user_name(r, kind - KIND_USER) : NULL;
}

static size_t raw_of(const struct look *k, size_t i)
{
	return k->place ? k->place[i] : i;
}

/* The length of the escape sequence at raw[at]: CSI or another introducer and
 * its letter ("\33[1m", "\33(B"). 0: none; SIZE_MAX: cut. A title or a link
 * (OSC) is text like any other: a secret may stand in it. */
static size_t sequence(const struct look *k, const unsigned char *raw, size_t at)
{
	size_t i = at + 1;
	unsigned char below = 0x30;

	if (i == k->total)
		return SIZE_MAX;
	if (raw[i] == '[')
		below = 0x40;
	else if (raw[i] < 0x20 || raw[i] >= 0x30)
		return 0;
	for (i++; i < k->total && raw[i] >= 0x20 && raw[i] < below; i++)
		if (i - at > SEQUENCE_MAX)
			return 0;
	if (i == k->total)
		return SIZE_MAX;
	return raw[i] >= below && raw[i] < 0x7f ? i + 1 - at : 0;
}

/* Leaves the escape sequences out. What is cut at the end stays in raw, behind
 * the text, and is held with it. */
static void make_visible(struct look *k, struct redact_work *w)
{
	size_t n = 0, at = 0;

	while (at < k->total) {
		size_t skip = w->raw[at] == 0x1b && at >= k->base
			? sequence(k, w->raw, at)
			: 0;

		if (skip == SIZE_MAX && !k->view.last && !k->pause)
			break;
		if (skip && skip != SIZE_MAX) {
			at += skip;
			continue;
		}
		w->text[n] = w->raw[at];
		w->place[n++] = (uint16_t)at++;
	}
	w->place[n] = (uint16_t)at;
	k->view.text = w->text;
	k->view.n = n;
	k->place = w->place;
}

/* "=" and ":" as URLs and some JSON have them: "%3D", "\\u003a". True: n is
 * known. */
static bool encoded_sign(const struct redact_view *v, size_t i, size_t *n)
{
	static const char *const spelt[] = {"%3", "\\u003"};
	const char *s = spelt[v->text[i] == '\\'];
	size_t k = 1;

	while (s[k] && i + k < v->n && (char)(v->text[i + k] | 32) == (s[k] | 32))
		k++;
	*n = 0;
	if (i + k >= v->n)
		return v->last;
	if (!s[k] && strchr("ad", v->text[i + k] | 32))
		*n = k + 1;
	return true;
}

/* Of "\\n", "\\x22", "\\u0022" and "%22" at i the letters begin no word: behind
 * it one does, there; else 0. */
static size_t escape_end(const struct redact_view *v, size_t i)
{
	const unsigned char *p = v->text + i;
	const size_t left = v->n - i;
	size_t n = 1, digits = 2;

	if (left < 2 || (p[0] != '\\' && p[0] != '%'))
		return 0;
	if (p[0] == '\\') {
		if (p[1] && strchr("ntr", p[1]))
			return i + 2;
		n = 2;
		digits = p[1] == 'u' ? 4 : 2;
		if (digits == 2 && p[1] != 'x')
			return 0;
	}
	if (left < n + digits)
		return 0;
	for (digits += n; n < digits; n++)
		if (!(redact_bytes[p[n]] & B_HEX))
			return 0;
	return i + n;
}

/* Where a word begins because of an escape that began before at and ends there
 * or behind it; else SIZE_MAX. */
static size_t fresh_behind(const struct redact_view *v, size_t at)
{
	for (size_t back = 1; back <= 6 && back <= at; back++) {
		const size_t end = escape_end(v, at - back);

		if (end >= at && end)
			return end;
	}
	return SIZE_MAX;
}

static enum redact_answer at_escape(
	const struct look *k, size_t i, size_t *fresh, struct redact_span *s)
{
	const struct redact_view *v = &k->view;
	enum redact_answer a = REDACT_NO;
	size_t n;

	if (!encoded_sign(v, i, &n))
		return REDACT_MORE;
	if (n)
		a = redact_assign(k->r, v, i, n, s);
	n = escape_end(v, i);
	*fresh = n ? n : *fresh;
	return a;
}

/* Behind a dash: another, or the first letter of a flag that redact_flag knows
 * (of two dashes any). Most dashes are done with here. */
static bool may_be_flag(unsigned char c)
{
#define BIT(c) (UINT64_C(1) << ((c) - 64))
	static const uint64_t firsts = BIT('a') | BIT('b') | BIT('c') | BIT('d') |
		BIT('f') | BIT('h') | BIT('i') | BIT('k') | BIT('n') | BIT('p') |
		BIT('o') | BIT('r') | BIT('s') | BIT('t') | BIT('u') | BIT('v') |
		BIT('w') | BIT('x') | BIT('A') | BIT('E') | BIT('K') | BIT('L') | BIT('N') | BIT('P') | BIT('S') | BIT('U') |
		BIT('X');
#undef BIT

	return c == '-' || (c >= 64 && c < 128 && firsts >> (c - 64) & 1);
}

static enum redact_answer at_trigger(
	const struct look *k, size_t i, size_t *fresh, struct redact_span *s)
{
	const struct redact_view *v = &k->view;
	const size_t left = v->n - i;
	enum redact_answer a = REDACT_NO;

	*s = (struct redact_span){.from = i, .value = i};
	switch (v->text[i]) {
	case '=':
	case '>':
		return redact_assign(k->r, v, i, 1, s);
	case ':':
		a = redact_assign(k->r, v, i, 1, s);
		if (a == REDACT_NO)
			a = redact_url(v, i, s);
		if (a == REDACT_NO)
			a = redact_telegram(v, i, s);
		return a != REDACT_NO ? a : redact_pgpass(v, i, s);
	case '-':
		if (left >= 2 && !may_be_flag(v->text[i + 1]))
			return REDACT_NO;
		a = redact_pem(v, i, s);
		return a != REDACT_NO ? a : redact_flag(k->r, v, i, s);
	case '~':
		return redact_azure(v, i, s);
	case '<':
		return redact_here(v, i, s);
	default:
		return at_escape(k, i, fresh, s);
	}
}

static enum redact_answer at_word(
	const struct look *k, size_t i, struct redact_span *s)
{
	const struct redact_view *v = &k->view;

	if (v->n - i < REDACT_BEGIN) {
		*s = (struct redact_span){.from = i, .value = i};
		return v->last ? REDACT_NO : REDACT_MORE;
	}
	if (!redact_marked(token_begins, redact_begin(v->text + i)) &&
		!redact_begins_bot(v->text + i, v->n - i))
		return REDACT_NO;
	return redact_word(v, i, s);
}

static int work_get(struct redact *r)
{
	if (r->work)
		return 0;
	r->work = malloc(sizeof *r->work);
	return r->work ? 0 : -ENOMEM;
}

static enum redact_answer at_end(
	const struct look *k, size_t i, struct redact_span *s)
{
	return redact_marked(name_ends, redact_end(k->view.text + i))
		? redact_said(k->r, &k->view, i, s)
		: REDACT_NO;
}

/* The first secret of a shape that is known at or behind at. */
static enum redact_answer find_shape(
	const struct look *k, size_t at, struct redact_span *s)
{
	const struct redact_view *v = &k->view;
	size_t fresh = fresh_behind(v, at);
	unsigned before = at ? redact_bytes[v->text[at - 1]] : 0;

	for (size_t i = at; i < v->n; i++) {
		const unsigned f = redact_bytes[v->text[i]];
		enum redact_answer a = REDACT_NO;

		if (f & B_WORD) {
			if (i == fresh || !(before & B_WORD))
				a = at_word(k, i, s);
			while (i + 1 < v->n && i + 1 != fresh &&
				redact_bytes[v->text[i + 1]] & B_WORD)
				i++;
		} else {
			if (before & B_WORD && f & B_BEHIND && i > 2)
				a = at_end(k, i, s);
			if (a == REDACT_NO && f & B_TRIGGER)
				a = at_trigger(k, i, &fresh, s);
		}
		if (a != REDACT_NO)
			return a;
		before = f;
	}
	return REDACT_NO;
}

static void first_of(enum redact_answer *a, struct redact_span *s,
	enum redact_answer other, const struct redact_span *t)
{
	if (other == REDACT_NO)
		return;
	if (*a != REDACT_NO &&
		(s->from < t->from || (s->from == t->from && s->to >= t->to)))
		return;
	*a = other;
	*s = *t;
}

static enum redact_answer find(
	const struct look *k, size_t at, struct redact_span *s)
{
	enum redact_answer a = find_shape(k, at, s);
	struct redact_span t;

	if (k->r->secret_count)
		first_of(&a, s, redact_secret(k->r, &k->view, at, &t), &t);
	if (k->r->shapes)
		first_of(&a, s, redact_pattern(k->r, &k->view, at, &t), &t);
	return a;
}

static void let_through(struct look *k, size_t to)
{
	const size_t end = raw_of(k, to);

	if (end <= k->done)
		return;
	buf_add(k->out, k->r->work->raw + k->done, end - k->done);
	k->done = end;
}

/* An escape sequence right behind what is dropped is let through: it gives the
 * colour back. */
static void drop(struct look *k, size_t to)
{
	k->done = to ? raw_of(k, to - 1) + 1 : 0;
}

static void hide(struct look *k, const struct redact_span *s)
{
	buf_adds(k->out, REDACT_MARK);
	k->r->found[s->kind]++;
	drop(k, s->to);
}

/* Goes on swallowing; where it ends in the text. */
static size_t swallow(struct look *k)
{
	struct redact_stream *s = k->s;
	const struct redact_view *v = &k->view;
	size_t i = k->base;

	if (s->mode == REDACT_MODE_PEM) {
		size_t back = s->swallowed < k->base ? s->swallowed : k->base;
		const unsigned char *p = v->text + k->base - back;
		size_t n = v->n - (k->base - back);

		p = redact_pem_end(p, n);
		i = p ? (size_t)(p - v->text) : v->n;
		i = i < k->base ? k->base : i;
	}
	for (; i < v->n && s->mode != REDACT_MODE_PEM; i++) {
		const unsigned char c = v->text[i];

		if (c == '\n' ||
			(s->mode == REDACT_MODE_TOKEN &&
				!(redact_bytes[c] & (B_TOKEN | B_DOT | B_BASE64))) ||
			(s->mode == REDACT_MODE_WORD &&
				(c <= ' ' || c == '"' || c == '\'')) ||
			(s->mode == REDACT_MODE_DOUBLE && c == '"') ||
			(s->mode == REDACT_MODE_SINGLE && c == '\''))
			break;
	}
	s->swallowed += i - k->base;
	if (i < v->n || s->swallowed > REDACT_PEM_MAX || v->last)
		s->mode = REDACT_MODE_NONE;
	return i;
}

/* Keeps what is not done for the next time. */
static int hold(const struct look *k)
{
	const size_t n = k->total - k->done;

	if (!n)
		return 0;
	if (!k->s->held)
		k->s->held = malloc(HELD_MAX);
	if (!k->s->held)
		return -ENOMEM;
	memcpy(k->s->held, k->r->work->raw + k->done, n);
	k->s->len = n;
	return 0;
}

/* The bytes before text[to], to be looked back at, and again from open on. */
static void remember(const struct look *k, size_t to)
{
	size_t n = to < REDACT_BEFORE ? to : REDACT_BEFORE;

	memcpy(k->s->before, k->view.text + to - n, n);
	k->s->before_len = (uint8_t)n;
	k->s->again = (uint8_t)(k->open < to && to - k->open <= n ? to - k->open : 0);
}

/* A candidate at the end of the text. True: it was settled, go on at *at. */
static bool settle(struct look *k, struct redact_span *s, size_t *at)
{
	const size_t held = k->total - k->done;

	if (held <= REDACT_HOLD && !k->pause && !k->view.last)
		return false;
	if (s->committed || (held > REDACT_HOLD && !k->view.last)) {
		s->to = k->view.n;
		let_through(k, s->value < s->to ? s->value : s->to);
		hide(k, s);
		k->s->mode = k->view.last ? REDACT_MODE_NONE : s->mode;
		k->s->swallowed = k->view.n - s->from;
		*at = k->view.n;
	} else {
		if (k->pause && k->open > s->from)
			k->open = s->from;
		*at = s->from + 1;
		let_through(k, *at);
	}
	return true;
}

static int look_through(struct look *k)
{
	size_t at = k->base - k->s->again;
	struct redact_span s;

	k->open = k->view.n;
	k->done = k->base;
	if (k->s->mode) {
		at = swallow(k);
		if (at > k->base)
			drop(k, at);
	}
	while (at < k->view.n) {
		enum redact_answer a = find(k, at, &s);

		at = a == REDACT_NO ? k->view.n : s.from;
		let_through(k, at);
		if (a == REDACT_YES) {
			if (s.to > k->base)
				hide(k, &s);
			at = s.to;
		} else if (a == REDACT_MORE && !settle(k, &s, &at)) {
			break;
		}
	}
	/* Of what began in text that is out the rest is held. */
	if (at < k->base) {
		k->open = at;
		at = k->base;
	}
	if (at == k->view.n)
		let_through(k, at);
	remember(k, at);
	return k->out->err ? k->out->err : hold(k);
}

static int process(struct redact *r, struct redact_stream *s, const char *p,
	size_t n, bool pause, bool last, struct buf *out)
{
	struct look k = {.r = r, .s = s, .pause = pause, .out = out};
	int err = work_get(r);
	unsigned char *raw;

	if (err)
		return err;
	raw = r->work->raw;
	k.base = s->before_len;
	memcpy(raw, s->before, k.base);
	if (s->len)
		memcpy(raw + k.base, s->held, s->len);
	if (n)
		memcpy(raw + k.base + s->len, p, n);
	k.total = k.base + s->len + n;
	s->len = 0;
	k.view = (struct redact_view){.text = raw, .n = k.total, .last = last};
	if (memchr(raw + k.base, 0x1b, k.total - k.base))
		make_visible(&k, r->work);
	return look_through(&k);
}

int redact_feed(struct redact *r, struct redact_stream *s, const char *bytes,
	size_t n, struct buf *out)
{
	while (n) {
		size_t part = n < SLICE ? n : SLICE;
		int err = process(r, s, bytes, part, false, false, out);

		if (err)
			return err;
		bytes += part;
		n -= part;
	}
	return 0;
}

int redact_flush(struct redact *r, struct redact_stream *s, bool last,
	struct buf *out)
{
	if (!s->len && !last)
		return 0;
	return process(r, s, NULL, 0, !last, last, out);
}

int redact_text(struct redact *r, const char *s, size_t n, struct buf *out)
{
	struct look k = {.r = r,
		.view = {.text = (const unsigned char *)s, .n = n, .last = true}};
	const size_t last = n < SLICE ? n : n % SLICE;
	struct redact_stream one = REDACT_STREAM_INIT;
	struct redact_span found;
	int err = work_get(r);

	if (err)
		return err;
	/* Most hold nothing, and are as they stand what would be seen. */
	if (n == last && !memchr(s, 0x1b, n) &&
		find(&k, 0, &found) == REDACT_NO) {
		buf_add(out, s, n);
		return out->err;
	}
	err = redact_feed(r, &one, s, n - last, out);
	if (!err)
		err = process(r, &one, s + n - last, last, false, true, out);
	redact_stream_release(&one);
	return err;
}
