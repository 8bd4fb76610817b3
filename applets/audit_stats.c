/* audit_stats.c - what people look for in a log, drawn in the terminal
 * SPDX-License-Identifier: MIT
 */
#include <string.h>
#include <unistd.h>

#include "log/audit_read_json.h"
#include "audit_tally.h"
#include "base/str.h"

enum { SHOWN = 8, LABEL = 12 };

struct drawing {
	struct buf out;
	bool colour;
	unsigned columns;
};

static void heading(struct drawing *g, const char *text)
{
	buf_addf(&g->out, "\n%s%s%s\n", cli_sgr(g->colour, "1"), text,
		cli_sgr(g->colour, "0"));
}

/* A label, a bar as long as its share, the number. */
static void bar(struct drawing *g, const char *label, uint64_t n, uint64_t most,
	const char *code)
{
	const unsigned room = g->columns > 50 ? g->columns - 34 : 16;
	uint64_t length = most ? (n * room + most - 1) / most : 0;

	buf_addf(&g->out, "  %-*s %8llu ", LABEL, label, (unsigned long long)n);
	buf_adds(&g->out, cli_sgr(g->colour, code));
	while (length--)
		buf_adds(&g->out, g->colour ? "\xe2\x96\x88" : "#");
	buf_adds(&g->out, cli_sgr(g->colour, "0"));
	buf_addc(&g->out, '\n');
}

static uint64_t most_of(const uint64_t *n, size_t count)
{
	uint64_t most = 0;

	for (size_t i = 0; i < count; i++)
		most = n[i] > most ? n[i] : most;
	return most;
}

static void text_line(struct drawing *g, const char *text)
{
	size_t room = g->columns > 40 ? g->columns - 14 : 40;
	size_t n = strlen(text);

	cli_escape(&g->out, text, n < room ? n : room);
	buf_adds(&g->out, n > room ? "...\n" : "\n");
}

static void top(struct drawing *g, const char *title, const struct tally *t)
{
	if (!t->count)
		return;
	heading(g, title);
	for (size_t i = 0; i < SHOWN && i < t->count; i++) {
		buf_addf(&g->out, "  %8llu  ",
			(unsigned long long)t->rows[i].count);
		text_line(g, t->rows[i].text);
	}
	if (t->count > SHOWN)
		buf_addf(&g->out, "            and %zu more\n",
			t->count - SHOWN);
}

static void summary(struct drawing *g, const struct audit *a,
	const struct tallies *t)
{
	buf_addf(&g->out, "%llu command%s in %llu record%s, ",
		(unsigned long long)t->commands, str_plural(t->commands),
		(unsigned long long)t->records, str_plural(t->records));
	audit_put_local(&g->out, t->first, a->utc, true);
	buf_adds(&g->out, " to ");
	audit_put_local(&g->out, t->last, a->utc, true);
	buf_adds(&g->out, "; ");
	audit_put_duration(&g->out, t->duration);
	buf_addf(&g->out, " of running\nrecorded: %llu bytes of input, %llu of"
			  " output, %llu of errors; %llu cut, %llu timed out\n",
		(unsigned long long)t->bytes[0],
		(unsigned long long)t->bytes[1],
		(unsigned long long)t->bytes[2],
		(unsigned long long)t->truncated,
		(unsigned long long)t->timeouts);
}

static void draw(struct drawing *g, const struct tallies *t)
{
	static const char *const exits[] = {
		"0", "not 0", "by signal", "no end"};
	static const char *const codes[] = {"32", "31", "33", "36", "2"};
	const uint64_t most = most_of(t->decisions, 5);

	heading(g, "decisions");
	for (unsigned i = 0; i < 5; i++)
		if (t->decisions[i])
			bar(g, audit_decision_name(i), t->decisions[i], most,
				codes[i]);
	heading(g, "how they ended");
	for (unsigned i = 0; i < 4; i++)
		if (t->exits[i])
			bar(g, exits[i], t->exits[i], most_of(t->exits, 4),
				codes[i]);
	heading(g, "how long they took");
	for (unsigned i = 0; i < TALLY_BUCKETS; i++)
		if (t->buckets[i])
			bar(g, tallies_bucket(i), t->buckets[i],
				most_of(t->buckets, TALLY_BUCKETS), "34");
	if (t->slow[0].line)
		heading(g, "slowest");
	for (unsigned i = 0; i < TALLY_SLOW && t->slow[i].line; i++) {
		buf_adds(&g->out, "  ");
		audit_put_duration(&g->out, t->slow[i].duration);
		buf_addf(&g->out, "  [%llu] ",
			(unsigned long long)t->slow[i].exec);
		text_line(g, t->slow[i].line);
	}
}

static void put_tally(struct json *j, const char *key, const struct tally *t)
{
	json_put_open(j, key, '[');
	for (size_t i = 0; i < t->count && i < 100; i++) {
		json_open(j, '{');
		json_put_str(j, "text", t->rows[i].text);
		json_put_u64(j, "count", t->rows[i].count);
		json_close(j);
	}
	json_close(j);
}

static void put_json(struct buf *out, const struct tallies *t)
{
	static const char *const exits[] = {
		"zero", "nonzero", "signal", "none"};
	struct json j = JSON_INIT(out);

	json_open(&j, '{');
	json_put_u64(&j, "records", t->records);
	json_put_u64(&j, "commands", t->commands);
	json_put_open(&j, "decisions", '{');
	for (unsigned i = 0; i < 4; i++)
		json_u64(json_key(&j, audit_decision_name(i)), t->decisions[i]);
	json_close(&j);
	json_put_open(&j, "exits", '{');
	for (unsigned i = 0; i < ARRAY_SIZE(exits); i++)
		json_put_u64(&j, exits[i], t->exits[i]);
	json_close(&j);
	json_put_open(&j, "durations", '{');
	for (unsigned i = 0; i < TALLY_BUCKETS; i++)
		json_u64(json_key(&j, tallies_bucket(i)), t->buckets[i]);
	json_close(&j);
	json_put_open(&j, "slowest", '[');
	for (unsigned i = 0; i < TALLY_SLOW && t->slow[i].line; i++) {
		json_open(&j, '{');
		json_put_u64(&j, "exec", t->slow[i].exec);
		json_put_u64(&j, "duration_ns", t->slow[i].duration);
		json_put_str(&j, "command", t->slow[i].line);
		json_close(&j);
	}
	json_close(&j);
	put_tally(&j, "most_denied", &t->denied);
	put_tally(&j, "most_failed", &t->failed);
	put_tally(&j, "programs", &t->programs);
	put_tally(&j, "rules", &t->rules);
	put_tally(&j, "events", &t->kinds);
	put_tally(&j, "hosts", &t->hosts);
	put_tally(&j, "hosts_refused", &t->refused);
	json_put_u64(&j, "truncated", t->truncated);
	json_put_u64(&j, "timeouts", t->timeouts);
	json_end(&j);
}

int audit_run_stats(void *into, int argc, char **argv)
{
	const struct audit *a = into;
	struct drawing g = {.out = BUF_INIT(1 << 24)};
	struct tallies t = {0};
	bool damaged, any;

	audit_walk(a, argc, argv, tallies_note, &t, &damaged);
	tallies_finish(&t);
	any = t.records > 0;
	g.colour = cli_colour(STDOUT_FILENO);
	g.columns = cli_columns(STDOUT_FILENO);
	if (a->json) {
		put_json(&g.out, &t);
	} else {
		summary(&g, a, &t);
		draw(&g, &t);
		top(&g, "most denied", &t.denied);
		top(&g, "most failed", &t.failed);
		top(&g, "programs", &t.programs);
		top(&g, "rules", &t.rules);
		top(&g, "hosts spoken to", &t.hosts);
		top(&g, "hosts refused", &t.refused);
	}
	cli_print(&g.out);
	buf_release(&g.out);
	tallies_release(&t);
	return any ? EXIT_OK : EXIT_FOUND;
}
