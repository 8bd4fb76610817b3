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
	SEQUENCE_MAX = 64, /* a longer escape sequence counts as text */
	HELD_MAX = REDACT_HOLD + SEQUENCE_MAX,
	WINDOW = REDACT_BEFORE + HELD_MAX + SLICE,
};

/* raw: the bytes as they came, behind those looked back at. If it has escape
 * sequences: text, the visible bytes, and place[i], the place of text[i] in
 * raw. Of a shell's text also map. */
struct redact_work {
	unsigned char raw[WINDOW];
	unsigned char text[WINDOW];
	uint16_t place[WINDOW + 1];
	uint8_t map[WINDOW];
};

/* One look through the window. */
struct look {
	struct redact *r;
	struct redact_stream *s;
	struct redact_view view;
	const uint16_t *place; /* NULL: text is raw */
	size_t base;  /* of text: the first byte that is not out yet */
	size_t total; /* of raw */
	size_t done;  /* of raw: shown or hidden */
	size_t open;  /* of text: the beginning of what a pause left
		       * undecided */
	bool pause;
	struct buf *out;
};

void redact_stream_release(struct redact_stream *s)
{
	if (s->held)
		explicit_bzero(s->held, HELD_MAX);
	free(s->held);
	redact_cut_free(s->cut);
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

/* The length of the escape sequence at raw[at]: CSI or another introducer, and
 * its letter ("\33[1m", "\33(B"). 0: none; SIZE_MAX: cut off. A title or a link
 * (OSC) counts as text, because a secret may stand in it. */
static size_t sequence_end(const struct look *k, const unsigned char *raw,
	size_t at)
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

/* Leaves the escape sequences out of the text. A sequence that is cut off stays
 * in raw, behind the text, and is held with it. */
static void make_visible(struct look *k, struct redact_work *w)
{
	size_t n = 0, at = 0;

	while (at < k->total) {
		size_t skip = w->raw[at] == 0x1b && at >= k->base
			? sequence_end(k, w->raw, at)
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

/* Hides the bytes of raw up to to that are not out yet. */
static void hide_raw(struct look *k, size_t to)
{
	int err;

	if (to <= k->done)
		return;
	err = redact_cut_add(k->r, &k->s->cut, k->r->work->raw + k->done,
		to - k->done, k->out);
	k->done = to;
	if (err && !k->out->err)
		k->out->err = err;
}

/* Hides the text up to to. An escape sequence right behind it is shown, because
 * it resets the colour. */
static void hide_run(struct look *k, size_t to)
{
	if (to > k->base)
		hide_raw(k, raw_of(k, to - 1) + 1);
}

static void hide_end(struct look *k, uint8_t kind)
{
	const size_t was = k->out->len;

	redact_cut_end(k->s->cut, k->out);
	k->r->found[kind] += k->out->len > was;
}

static size_t look_on(struct look *k, size_t at);

/* Shows an expansion of a shell, from at to to, in which other secrets may
 * be. */
static void show_nested(struct look *k, size_t at, size_t to)
{
	const struct redact_view v = k->view;

	k->view.n = to;
	k->view.last = true;
	let_through(k, at);
	look_on(k, at);
	let_through(k, to);
	k->view = v;
}

/* The end of the part of text[from..to) that may be hidden. */
static size_t hide_limit(
	const struct look *k, const struct redact_span *s, size_t from, size_t to)
{
	return s->tail == REDACT_TAIL_OWN
		? to
		: redact_limit(k->view.text, from, to, false);
}

/* The place behind the part at i of a span that is not hidden: an expansion, or
 * the blank between two words; i when the span ends there. */
static size_t hide_pass(
	const struct look *k, const struct redact_span *s, size_t i, unsigned depth)
{
	const uint8_t *map = k->view.map;
	size_t end = i;

	if ((map[i] & LEX_DEPTH) <= depth)
		return map[i] & LEX_BLANK && s->tail == REDACT_TAIL_WORDS ? i + 1
									  : i;
	while (end < s->to && (map[end] & LEX_DEPTH) > depth)
		end++;
	/* A part that does not end in the span is outside of it. */
	return end < s->to ? end : i;
}

/* Hides the parts of a word of code that are no expansion, except for the last
 * part. Returns that part's end. */
static size_t hide_code(struct look *k, const struct redact_span *s)
{
	const uint8_t *map = k->view.map;
	const unsigned depth = redact_depth(map, s->from);
	size_t from = s->from, i = from, end;

	for (;;) {
		while (i < s->to && (map[i] & LEX_DEPTH) == depth &&
			!(map[i] & (LEX_CUT | LEX_BLANK)))
			i++;
		end = hide_limit(k, s, from, i);
		if (end < i || i == s->to || (map[i] & LEX_DEPTH) < depth)
			return end;
		end = hide_pass(k, s, i, depth);
		if (end == i)
			return i;
		hide_run(k, i);
		hide_end(k, s->kind);
		show_nested(k, i, end);
		from = i = end;
	}
}

/* Hides as much of a span as may be hidden. Returns the end; the bytes behind
 * are looked at again. */
static size_t hide_span(struct look *k, struct redact_span *s, bool more)
{
	const struct redact_view *v = &k->view;
	const size_t end = v->map ? hide_code(k, s)
				  : hide_limit(k, s, s->from, s->to);

	hide_run(k, end);
	if (!more || end < s->to)
		hide_end(k, s->kind);
	if (end > s->from || end == v->n)
		return end;
	let_through(k, end + 1);
	return end + 1;
}

/* Does the byte at i end what is being swallowed? */
static bool swallow_ends(const struct redact_view *v, size_t i, uint8_t *mode)
{
	const unsigned char c = v->text[i], before = i ? v->text[i - 1] : 0;

	switch ((enum redact_mode)*mode) {
	case REDACT_MODE_TOKEN:
		return !(redact_bytes[c] & (B_TOKEN | B_DOT | B_BASE64));
	case REDACT_MODE_DOUBLE:
		return c <= ' ' || c == '"';
	case REDACT_MODE_SINGLE:
		return c <= ' ' || c == '\'';
	case REDACT_MODE_SCHEME:
		if (c != ' ')
			return redact_ends_word(c);
		*mode = REDACT_MODE_LINE;
		return false;
	case REDACT_MODE_LINE:
		return redact_ends_word(c) && (c != ' ' || before != ',');
	case REDACT_MODE_WORD:
	case REDACT_MODE_NONE:
	case REDACT_MODE_PEM:
		break;
	}
	return redact_ends_word(c) || (c && strchr("&;|<>", c));
}

/* Goes on swallowing. Returns the end in the text. */
static size_t swallow_rest(struct look *k)
{
	struct redact_stream *s = k->s;
	const struct redact_view *v = &k->view;
	enum redact_answer a = REDACT_MORE;
	size_t end = v->n, i = k->base;

	if (s->mode == REDACT_MODE_PEM)
		a = redact_pem_lines(v, k->base, &s->pem, &end);
	for (; i < end; i++)
		if ((v->map && v->map[i] != s->lex.nested) ||
			(s->mode != REDACT_MODE_PEM &&
				swallow_ends(v, i, &s->mode)))
			break;
	if (i < end || v->last || a != REDACT_MORE)
		s->mode = REDACT_MODE_NONE;
	if (i > k->base)
		hide_run(k, i);
	if (!s->mode)
		hide_end(k, s->kind);
	return i;
}

/* Keeps the undecided bytes for the next call. */
static int hold_rest(const struct look *k)
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

/* Keeps the bytes before text[to], to look back at, and those from open on, to
 * look at again. */
static void remember_shown(const struct look *k, size_t to)
{
	size_t n = to < REDACT_BEFORE ? to : REDACT_BEFORE;

	memcpy(k->s->before, k->view.text + to - n, n);
	k->s->before_len = (uint8_t)n;
	k->s->again = (uint8_t)(k->open < to && to - k->open <= n ? to - k->open : 0);
}

/* Decides about a candidate at the end of the text. True: decided, go on at
 * *at. */
static bool settle_candidate(struct look *k, struct redact_span *s, size_t *at)
{
	const size_t held = k->total - k->done, n = k->view.n;

	if (held <= REDACT_HOLD && !k->pause && !k->view.last)
		return false;
	if (s->committed || (held > REDACT_HOLD && !k->view.last)) {
		const bool pem = s->mode == REDACT_MODE_PEM;

		s->to = pem ? s->to : n;
		s->from = s->value < s->to ? s->value : s->to;
		let_through(k, s->from);
		*at = hide_span(k, s, !k->view.last);
		if (k->view.last || (*at < n && !(pem && *at == s->to)))
			return true;
		k->s->mode = s->mode;
		k->s->kind = s->kind;
		k->s->pem = s->pem;
		return true;
	}
	if (k->pause && k->open > s->from)
		k->open = s->from;
	*at = s->from + 1;
	let_through(k, *at);
	return true;
}

/* Looks at the text from at on and hides secrets. Returns where it had to
 * stop. */
static size_t look_on(struct look *k, size_t at)
{
	struct redact_span s;

	while (at < k->view.n && !k->s->mode) {
		enum redact_answer a = redact_find(k->r, &k->view, at, &s);

		at = a == REDACT_NO ? k->view.n : s.from;
		let_through(k, at);
		if (a == REDACT_YES)
			at = s.to > k->base ? hide_span(k, &s, false) : s.to;
		else if (a == REDACT_MORE && !settle_candidate(k, &s, &at))
			break;
	}
	return at;
}

static int look_through(struct look *k)
{
	size_t at = k->base - k->s->again;

	k->open = k->view.n;
	k->done = k->base;
	if (k->s->mode)
		at = swallow_rest(k);
	at = look_on(k, at);
	/* The rest of a candidate is held whose beginning is out. */
	if (at < k->base) {
		k->open = at;
		at = k->base;
	}
	/* An escape sequence between two hidden parts is hidden, too. */
	if (at == k->view.n && k->s->mode)
		hide_raw(k, raw_of(k, at));
	else if (at == k->view.n)
		let_through(k, at);
	if (k->view.map)
		redact_lex_skip(&k->s->lex, k->view.text, k->base, at);
	remember_shown(k, at);
	return k->out->err ? k->out->err : hold_rest(k);
}

static int process_slice(struct redact *r, struct redact_stream *s,
	const char *p, size_t n, bool pause, bool last, struct buf *out)
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
	k.view = (struct redact_view){
		.text = raw, .n = k.total, .last = last, .pause = pause};
	/* In a shell's text escape sequences are letters. */
	if (!s->shell && memchr(raw + k.base, 0x1b, k.total - k.base))
		make_visible(&k, r->work);
	if (s->shell) {
		redact_lex_map(
			s->lex, k.view.text, k.base, k.view.n, r->work->map);
		k.view.map = r->work->map;
	}
	return look_through(&k);
}

int redact_feed(struct redact *r, struct redact_stream *s, const char *bytes,
	size_t n, struct buf *out)
{
	while (n) {
		size_t part = n < SLICE ? n : SLICE;
		int err = process_slice(r, s, bytes, part, false, false, out);

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
	return process_slice(r, s, NULL, 0, !last, last, out);
}

int redact_text(struct redact *r, const char *s, size_t n, bool shell,
	struct buf *out)
{
	const struct redact_view view = {
		.text = (const unsigned char *)s, .n = n, .last = true};
	const size_t last = n < SLICE ? n : n % SLICE;
	struct redact_stream one = {.shell = shell};
	struct redact_span found;
	int err = work_get(r);

	if (err)
		return err;
	/* Most texts hold no secret and no escape sequence. */
	if (n == last && !memchr(s, 0x1b, n) &&
		redact_find(r, &view, 0, &found) == REDACT_NO) {
		buf_add(out, s, n);
		return out->err;
	}
	err = redact_feed(r, &one, s, n - last, out);
	if (!err)
		err = process_slice(r, &one, s + n - last, last, false, true,
			out);
	redact_stream_release(&one);
	return err;
}
