/* audit_stats.c - what people look for in a log, drawn in the terminal
 * SPDX-License-Identifier: MIT
 */
#include <string.h>
#include <unistd.h>

#include "log/audit_read_json.h"
#include "audit_tally.h"
#include "base/str.h"

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

/* A bar for each number that is not 0; nothing when all are. */
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
			draw_bar(g, label(i), n[i], most, codes[i % 5]);
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
	static const char *const blue[] = {"34", "34", "34", "34", "34"};

	draw_chart(g, "decisions", t->decisions, ARRAY_SIZE(t->decisions),
		audit_decision_name, codes);
	draw_chart(g, "how they ended", t->exits, ARRAY_SIZE(t->exits),
		exit_label, codes);
	draw_chart(g, "how long they took", t->buckets, TALLY_BUCKETS,
		tallies_bucket, blue);
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
		json_put_u64(&j, tallies_bucket(i), t->buckets[i]);
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

	audit_walk(a, argc, argv, tallies_note, &t, &damaged);
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
