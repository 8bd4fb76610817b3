/* audit_tally.c - what stats counts
 * SPDX-License-Identifier: MIT
 */
#include "audit_tally.h"

#include <stdlib.h>
#include <string.h>

#include "log/audit_read_json.h"
#include "base/path.h"
#include "base/str.h"

enum { OPEN_MAX = 4096, TEXT_MAX = 200 };

static char *copy_text(const char *text, size_t n)
{
	char *s;

	n = n < TEXT_MAX ? n : TEXT_MAX;
	s = audit_need(malloc(n + 1));
	memcpy(s, text, n);
	s[n] = '\0';
	return s;
}

static uint32_t text_hash(const char *s, size_t n)
{
	uint32_t h = 2166136261u;

	while (n--)
		h = (h ^ (unsigned char)*s++) * 16777619u;
	return h;
}

/* The rows are a hash table until they are sorted. */
static void tally_add_many(
	struct tally *t, const char *text, size_t n, uint64_t times)
{
	enum { TABLE = 2 * TALLY_MAX };
	size_t i;

	n = n < TEXT_MAX ? n : TEXT_MAX;
	if (!t->rows)
		t->rows = audit_need(calloc(TABLE, sizeof *t->rows));
	for (i = text_hash(text, n) % TABLE; t->rows[i].text;
		i = (i + 1) % TABLE)
		if (!strncmp(t->rows[i].text, text, n) && !t->rows[i].text[n]) {
			t->rows[i].count += times;
			return;
		}
	if (t->count == TALLY_MAX) {
		t->rest += times;
		return;
	}
	t->count++;
	t->rows[i].text = copy_text(text, n);
	t->rows[i].count = times;
}

static void tally_add(struct tally *t, const char *text, size_t n)
{
	tally_add_many(t, text, n, 1);
}

static int by_count(const void *a, const void *b)
{
	const struct tally_row *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	if (!x->text || !y->text)
		return x->text ? -1 : y->text != NULL;
	return strcmp(x->text, y->text);
}

static void tally_text(
	struct tally *t, const struct audit_record *r, enum audit_key key)
{
	const struct cbor_item *text = audit_text(r, key);

	if (text && text->n)
		tally_add(t, (const char *)text->bytes,
			strnlen((const char *)text->bytes, (size_t)text->n));
}

static void remember_line(struct tallies *t, uint64_t exec,
	const struct buf *line)
{
	size_t at = exec % OPEN_MAX;

	if (!t->open)
		t->open = audit_need(calloc(OPEN_MAX, sizeof *t->open));
	free(t->open[at].line);
	t->open[at].exec = exec;
	t->open[at].line = copy_text(line->data ? line->data : "", line->len);
}

static void note_start(struct tallies *t, const struct audit_record *r)
{
	autobuf struct buf line = BUF_INIT(4 * AUDIT_BODY_MAX);
	uint64_t decision = audit_uint(r, AUDIT_K_DECISION, 4);
	const char *base, *end;

	audit_add_command(&line, r);
	buf_str(&line);
	t->commands++;
	t->decisions[decision < 4 ? decision : 4]++;
	tally_text(&t->tally[TALLY_RULES], r, AUDIT_K_RULE);
	end = line.len ? strchrnul(line.data, ' ') : "";
	base = line.len ? line.data : "";
	for (const char *p = base; p < end; p++)
		if (*p == '/')
			base = p + 1;
	tally_add(&t->tally[TALLY_PROGRAMS], base, (size_t)(end - base));
	if (decision == AUDIT_DENY)
		tally_add(&t->tally[TALLY_DENIED], line.len ? line.data : "", line.len);
	else
		remember_line(t, r->seq, &line);
}

/* Each bucket is four times the one before. */
static unsigned bucket_of(uint64_t ns)
{
	uint64_t limit = 1000000;
	unsigned i = 0;

	for (; i < TALLY_BUCKETS - 1 && ns >= limit; i++)
		limit *= 4;
	return i;
}

const char *tallies_bucket(uint64_t i)
{
	static const char *const names[TALLY_BUCKETS] = {"< 1 ms", "< 4 ms",
		"< 16 ms", "< 64 ms", "< 256 ms", "< 1 s", "< 4 s", "< 16 s",
		"< 66 s", "longer"};

	return i < TALLY_BUCKETS ? names[i] : "";
}

static void note_slow(
	struct tallies *t, uint64_t exec, uint64_t duration, const char *line)
{
	unsigned at = 0;

	while (at < TALLY_SLOW && t->slow[at].line &&
		t->slow[at].duration >= duration)
		at++;
	if (at == TALLY_SLOW)
		return;
	free(t->slow[TALLY_SLOW - 1].line);
	memmove(&t->slow[at + 1], &t->slow[at],
		(TALLY_SLOW - 1 - at) * sizeof t->slow[0]);
	t->slow[at].exec = exec;
	t->slow[at].duration = duration;
	t->slow[at].line = copy_text(line, strlen(line));
}

static void note_end(struct tallies *t, const struct audit_record *r)
{
	const uint64_t duration = audit_uint(r, AUDIT_K_DURATION, 0);
	const uint64_t flags = audit_uint(r, AUDIT_K_FLAGS, 0);
	const bool killed = audit_uint(r, AUDIT_K_SIGNAL, 0) != 0;
	const bool failed = audit_int(r, AUDIT_K_EXIT, 0) != 0;
	struct tally_open *o =
		t->open ? &t->open[r->exec % OPEN_MAX] : NULL;
	const bool begun = o && o->line && o->exec == r->exec;
	const char *line = begun ? o->line : "?";

	t->exits[killed ? 2 : failed]++;
	t->buckets[bucket_of(duration)]++;
	t->duration += duration;
	t->truncated += (flags & AUDIT_TRUNCATED) != 0;
	t->timeouts += (flags & AUDIT_TIMEOUT) != 0;
	if (killed || failed)
		tally_add(&t->tally[TALLY_FAILED], line, strlen(line));
	note_slow(t, r->exec, duration, line);
	if (begun) {
		free(o->line);
		*o = (struct tally_open){0};
	}
}

/* A host that was spoken to or refused. A record may stand for many connections. */
static void note_host(struct tallies *t, const struct audit_record *r)
{
	const bool spoken = audit_event_is(r, "net.connect");
	struct cbor_item name, port, count;
	char text[320];

	if (!spoken && !audit_event_is(r, "net.deny"))
		return;
	if (!audit_detail(r, spoken ? "name" : "command", &name) || !name.bytes)
		return;
	BUF_PRINT(text, "%.*s", (int)name.n, (const char *)name.bytes);
	if (spoken && audit_detail(r, "port", &port) && port.bytes)
		BUF_PRINT(text, "%.*s:%.*s", (int)name.n,
			(const char *)name.bytes, (int)port.n,
			(const char *)port.bytes);
	tally_add_many(&t->tally[spoken ? TALLY_HOSTS : TALLY_REFUSED], text,
		strlen(text),
		spoken && audit_detail(r, "count", &count) ? count.n : 1);
}

int tallies_note(void *state, const struct audit_record *r)
{
	struct tallies *t = state;
	const struct cbor_item *data;
	uint64_t stream;

	if (!t->records++)
		t->first = r->wall;
	t->last = r->wall;
	if (r->type == AUDIT_START)
		note_start(t, r);
	else if (r->type == AUDIT_END)
		note_end(t, r);
	else if (r->type == AUDIT_EVENT)
		tally_text(&t->tally[TALLY_EVENTS], r, AUDIT_K_EVENT);
	if (r->type == AUDIT_EVENT)
		note_host(t, r);
	data = r->type == AUDIT_IO ? audit_text(r, AUDIT_K_DATA) : NULL;
	stream = audit_uint(r, AUDIT_K_STREAM, 9);
	if (data && stream <= AUDIT_TTYOUT)
		t->bytes[stream % 3] += data->n;
	return 0;
}

void tallies_finish(struct tallies *t)
{
	uint64_t ended = t->exits[0] + t->exits[1] + t->exits[2];
	uint64_t begun = t->commands - t->decisions[AUDIT_DENY];

	t->exits[3] = begun > ended ? begun - ended : 0;
	for (size_t i = 0; i < TALLIES; i++)
		if (t->tally[i].rows)
			qsort(t->tally[i].rows, 2 * TALLY_MAX,
				sizeof *t->tally[i].rows, by_count);
}

void tallies_release(struct tallies *t)
{
	for (size_t i = 0; i < TALLIES; i++) {
		const struct tally *one = &t->tally[i];

		for (size_t k = 0; one->rows && k < 2 * TALLY_MAX; k++)
			free(one->rows[k].text);
		free(one->rows);
	}
	for (unsigned i = 0; i < TALLY_SLOW; i++)
		free(t->slow[i].line);
	for (size_t i = 0; t->open && i < OPEN_MAX; i++)
		free(t->open[i].line);
	free(t->open);
}
