/* redact.c - secrets taken out of a stream of bytes
 * SPDX-License-Identifier: MIT
 *
 * The stream goes through a window: some bytes of what is out already, to look
 * back at; what is held; what is new. Escape sequences are left out of the
 * text that is looked at, so that a coloured token is still one.
 */
#include "redact/redact.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "redact/redact_in.h"

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

static int work_get(struct redact *r)
{
	if (r->work)
		return 0;
	r->work = malloc(sizeof *r->work);
	return r->work ? 0 : -ENOMEM;
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
		enum redact_answer a = redact_find(k->r, &k->view, at, &s);

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
	const struct redact_view view = {
		.text = (const unsigned char *)s, .n = n, .last = true};
	const size_t last = n < SLICE ? n : n % SLICE;
	struct redact_stream one = REDACT_STREAM_INIT;
	struct redact_span found;
	int err = work_get(r);

	if (err)
		return err;
	/* Most hold nothing, and are as they stand what would be seen. */
	if (n == last && !memchr(s, 0x1b, n) &&
		redact_find(r, &view, 0, &found) == REDACT_NO) {
		buf_add(out, s, n);
		return out->err;
	}
	err = redact_feed(r, &one, s, n - last, out);
	if (!err)
		err = process(r, &one, s + n - last, last, false, true, out);
	redact_stream_release(&one);
	return err;
}
