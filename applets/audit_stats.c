/* audit_stats.c - what people look for in a log: counted, drawn, as JSON
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit.h"
#include "log/audit_read_json.h"
#include "base/path.h"
#include "base/str.h"

enum { TALLY_MAX = 4096, TALLY_BUCKETS = 10, TALLY_SLOW = 10 };

/* How often each text was met. Beyond TALLY_MAX different ones, the rest is
 * counted together. */
struct tally_row {
	char *text;
	uint64_t count;
};
struct tally {
	struct tally_row *rows;
	size_t count;
	uint64_t rest;
};

enum {
	TALLY_DENIED,
	TALLY_FAILED,
	TALLY_PROGRAMS,
	TALLY_RULES,
	TALLY_EVENTS,
	TALLY_HOSTS,
	TALLY_REFUSED,
	TALLIES,
};

/* A command that has begun and not ended. */
struct tally_open {
	uint64_t exec;
	char *line;
};

struct tallies {
	uint64_t records, commands, first, last;
	uint64_t decisions[5], exits[4]; /* 0, other, signal, none */
	uint64_t buckets[TALLY_BUCKETS]; /* < 1 ms, < 4 ms, ... */
	uint64_t bytes[3], truncated, timeouts, duration;
	struct tally tally[TALLIES];
	struct {
		uint64_t exec, duration;
		char *line;
	} slow[TALLY_SLOW];
	struct tally_open *open;
};

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
		tally_add(&t->tally[TALLY_DENIED], line.len ? line.data : "",
			line.len);
	else
		remember_line(t, r->seq, &line);
}

/* Each bucket ends at four times the end of the bucket before it. */
static unsigned bucket_of(uint64_t ns)
{
	uint64_t limit = 1000000;
	unsigned i = 0;

	for (; i < TALLY_BUCKETS - 1 && ns >= limit; i++)
		limit *= 4;
	return i;
}

static const char *bucket_label(uint64_t i)
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

/* Counts a host that was spoken to or refused. A record may stand for many
 * connections. */
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

static int note_record(void *state, const struct audit_record *r)
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

static void tallies_finish(struct tallies *t)
{
	uint64_t ended = t->exits[0] + t->exits[1] + t->exits[2];
	uint64_t begun = t->commands - t->decisions[AUDIT_DENY];

	t->exits[3] = begun > ended ? begun - ended : 0;
	for (size_t i = 0; i < TALLIES; i++)
		if (t->tally[i].rows)
			qsort(t->tally[i].rows, 2 * TALLY_MAX,
				sizeof *t->tally[i].rows, by_count);
}

static void tallies_release(struct tallies *t)
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

enum { SHOWN = 8, LABEL = 12 };

/* The tallies in JSON and, with a title, for people. */
static const struct {
	char key[14], title[16];
} tallies[TALLIES] = {
	[TALLY_DENIED] = {"most_denied", "most denied"},
	[TALLY_FAILED] = {"most_failed", "most failed"},
	[TALLY_PROGRAMS] = {"programs", "programs"},
	[TALLY_RULES] = {"rules", "rules"},
	[TALLY_EVENTS] = {"events", ""},
	[TALLY_HOSTS] = {"hosts", "hosts spoken to"},
	[TALLY_REFUSED] = {"hosts_refused", "hosts refused"},
};

struct drawing {
	struct buf out;
	bool colour;
	unsigned columns;
};

static void draw_heading(struct drawing *g, const char *text)
{
	buf_addf(&g->out, "\n%s%s%s\n", cli_sgr(g->colour, "1"), text,
		cli_sgr(g->colour, "0"));
}

/* A label, a bar as long as its share, the number. */
static void draw_bar(struct drawing *g, const char *label, uint64_t n,
	uint64_t most, const char *code)
{
	const unsigned room = g->columns > 50 ? g->columns - 34 : 16;
	uint64_t length = most ? (n * room + most - 1) / most : 0;

	buf_addf(&g->out, "  %-*s %8ju ", LABEL, label, n);
	buf_adds(&g->out, cli_sgr(g->colour, code));
	while (length--)
		buf_adds(&g->out, g->colour ? "\xe2\x96\x88" : "#");
	buf_adds(&g->out, cli_sgr(g->colour, "0"));
	buf_addc(&g->out, '\n');
}

/* Draws a bar for each number that is not 0; nothing when all are 0. */
static void draw_chart(struct drawing *g, const char *title, const uint64_t *n,
	size_t count, const char *(*label)(uint64_t), const char *const *codes)
{
	uint64_t most = 0;

	for (size_t i = 0; i < count; i++)
		most = n[i] > most ? n[i] : most;
	if (most)
		draw_heading(g, title);
	for (size_t i = 0; i < count; i++)
		if (n[i])
			draw_bar(g, label(i), n[i], most,
				codes ? codes[i] : "36");
}

static const char *exit_label(uint64_t i)
{
	static const char labels[][10] = {"0", "not 0", "by signal", "no end"};

	return labels[i];
}

static void text_line(struct drawing *g, const char *text)
{
	size_t room = g->columns > 40 ? g->columns - 14 : 40;
	size_t n = strlen(text);

	cli_escape(&g->out, text, n < room ? n : room);
	buf_adds(&g->out, n > room ? "...\n" : "\n");
}

static void draw_top(struct drawing *g, const char *title,
	const struct tally *t)
{
	if (!*title || !t->count)
		return;
	draw_heading(g, title);
	for (size_t i = 0; i < SHOWN && i < t->count; i++) {
		buf_addf(&g->out, "  %8ju  ", t->rows[i].count);
		text_line(g, t->rows[i].text);
	}
	if (t->count > SHOWN)
		buf_addf(&g->out, "            and %zu more\n",
			t->count - SHOWN);
	if (t->rest)
		buf_addf(&g->out, "  %8ju  of others, not told apart\n",
			t->rest);
}

static void draw_summary(struct drawing *g, const struct audit *a,
	const struct tallies *t)
{
	buf_addf(&g->out, "%ju command%s in %ju record%s, ", t->commands,
		str_plural(t->commands), t->records, str_plural(t->records));
	audit_put_local(&g->out, t->first, a->utc, true);
	buf_adds(&g->out, " to ");
	audit_put_local(&g->out, t->last, a->utc, true);
	buf_adds(&g->out, "; ");
	audit_put_duration(&g->out, t->duration);
	buf_addf(&g->out,
		" of running\nrecorded: %ju bytes of input, %ju of output, %ju "
		"of errors; %ju cut, %ju timed out\n", t->bytes[0], t->bytes[1],
		t->bytes[2], t->truncated, t->timeouts);
}

static void draw_charts(struct drawing *g, const struct tallies *t)
{
	static const char *const codes[] = {"32", "31", "33", "36", "2"};

	draw_chart(g, "decisions", t->decisions, ARRAY_SIZE(t->decisions),
		audit_decision_name, codes);
	draw_chart(g, "how they ended", t->exits, ARRAY_SIZE(t->exits),
		exit_label, codes);
	draw_chart(g, "how long they took", t->buckets, TALLY_BUCKETS,
		bucket_label, NULL);
	if (t->slow[0].line)
		draw_heading(g, "slowest");
	for (unsigned i = 0; i < TALLY_SLOW && t->slow[i].line; i++) {
		buf_adds(&g->out, "  ");
		audit_put_duration(&g->out, t->slow[i].duration);
		buf_addf(&g->out, "  [%ju] ", t->slow[i].exec);
		text_line(g, t->slow[i].line);
	}
}

static void put_tally(struct json *j, const char *key, const struct tally *t)
{
	json_put_open(j, key, '[');
	for (size_t i = 0; i < t->count && i < 100; i++)
		json_putf(j, "{ text %s count %ju }", t->rows[i].text,
			t->rows[i].count);
	json_close(j);
}

static void put_json(struct buf *out, const struct tallies *t)
{
	struct json j = JSON_INIT(out);

	json_putf(&j, "{ records %ju commands %ju decisions {", t->records,
		t->commands);
	for (unsigned i = 0; i < ARRAY_SIZE(t->decisions); i++)
		json_put_u64(&j, audit_decision_name(i), t->decisions[i]);
	json_putf(&j, "} exits {");
	audit_put_numbers(&j, "zero\0nonzero\0signal\0none\0", t->exits);
	json_putf(&j, "} durations {");
	for (unsigned i = 0; i < TALLY_BUCKETS; i++)
		json_put_u64(&j, bucket_label(i), t->buckets[i]);
	json_putf(&j, "} slowest [");
	for (unsigned i = 0; i < TALLY_SLOW && t->slow[i].line; i++)
		json_putf(&j, "{ exec %ju duration_ns %ju command %s }",
			t->slow[i].exec, t->slow[i].duration, t->slow[i].line);
	json_close(&j);
	for (size_t i = 0; i < TALLIES; i++)
		put_tally(&j, tallies[i].key, &t->tally[i]);
	json_putf(&j, "truncated %ju timeouts %ju", t->truncated, t->timeouts);
	json_end(&j);
}

int audit_run_stats(void *into, int argc, char **argv)
{
	const struct audit *a = into;
	struct drawing g = {.out = BUF_INIT(1 << 24)};
	struct tallies t = {0};
	bool damaged, any;

	audit_walk(a, argc, argv, note_record, &t, &damaged);
	tallies_finish(&t);
	any = t.records > 0;
	g.colour = cli_colour(STDOUT_FILENO);
	g.columns = cli_columns(STDOUT_FILENO);
	if (a->json) {
		put_json(&g.out, &t);
	} else {
		draw_summary(&g, a, &t);
		draw_charts(&g, &t);
		for (size_t i = 0; i < TALLIES; i++)
			draw_top(&g, tallies[i].title, &t.tally[i]);
	}
	cli_print(&g.out);
	buf_release(&g.out);
	tallies_release(&t);
	return any ? EXIT_OK : EXIT_FOUND;
}
