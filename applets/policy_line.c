/* policy_line.c - policy test and explain: one line, judged
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "sys/file.h"
#include "base/num.h"
#include "policy_applet.h"
#include "base/utf8.h"

enum {
	LINE_MAX_BYTES = 1 << 20,
	BATCH_MAX = 16 << 20,
};

static int exit_code(const struct policy_here *h, enum policy_decision d)
{
	if (h->policy->state == POLICY_BROKEN)
		return POLICY_EXIT_BROKEN;
	switch (d) {
	case POLICY_ALLOW:
		return EXIT_OK;
	case POLICY_OPEN:
		return POLICY_EXIT_OPEN;
	case POLICY_CONFIRM:
		return POLICY_EXIT_CONFIRM;
	case POLICY_DENY:
		return POLICY_EXIT_DENY;
	}
	return POLICY_EXIT_DENY;
}

static const char *colour_of(enum policy_decision d)
{
	static const char *const code[] = {"32", "36", "33", "31"};

	return code[d];
}

static void json_verdict(struct json *j, const struct policy_verdict *v)
{
	json_putf(j, "{ decision %s", policy_decision_name(v->decision));
	if (v->would != v->decision)
		json_put_str(j, "would", policy_decision_name(v->would));
	json_putf(j, "rule %s layer %s", v->rule, policy_layer_name(v->layer));
	if (v->line)
		json_putf(j, "file %s line %ju", v->file, (uintmax_t)v->line);
	json_put_str(j, "reason", v->reason);
	if (v->alternative[0])
		json_put_str(j, "alternative", v->alternative);
	json_putf(j, "open %d command %s span [ %ju %ju ] }", v->open,
		v->command, (uintmax_t)v->offset, (uintmax_t)v->length);
}

/* "deny (net): reason" and where the rule stands. */
static void say_verdict(struct buf *out, const struct policy_verdict *v,
	bool colour)
{
	char space[sizeof(*v)];
	struct buf text = BUF_FIXED(space);

	buf_addf(out, "%s%s%s", cli_sgr(colour, colour_of(v->would)),
		policy_decision_name(v->decision), cli_sgr(colour, "0"));
	buf_addf(&text, " (%s): ", v->rule);
	if (v->would == POLICY_OPEN)
		buf_adds(&text, "decided when it starts: ");
	if (v->would != v->decision)
		buf_addf(&text, "would be %s: ",
			policy_decision_name(v->would));
	buf_addf(&text, v->line ? "%s [%s:%u]" : "%s", v->reason, v->file,
		v->line);
	cli_escape_str(out, buf_str(&text));
	if (v->alternative[0])
		buf_adds(out, "\n  instead: ");
	cli_escape_str(out, v->alternative);
	buf_addc(out, '\n');
}

/* Decodes an "@@" line of a corpus: \n \t \r \0 \e \\ \xHH \uHHHH \{N*TEXT}. */
static void decode_row(const char *s, struct buf *out)
{
	char text[9] = "", utf[4];
	uint64_t v;
	size_t n;

	for (; *s; s++) {
		static const char from[] = "ntr0e\\", to[] = "\n\t\r\0\033\\";
		const char *at = NULL;

		if (*s == '\\' && s[1])
			at = strchr(from, *++s);
		else {
			buf_addc(out, *s);
			continue;
		}
		if (at) {
			buf_addc(out, to[at - from]);
			continue;
		}
		n = *s == 'x' ? 2 : *s == 'u' ? 4 : 0;
		if (n && strlen(s) > n) {
			memcpy(text, s + 1, n);
			text[n] = 0;
			if (num_hex64(text, &v) < 0)
				continue;
			if (*s == 'x')
				buf_addc(out, (char)v);
			else
				buf_add(out, utf,
					utf8_encode((uint32_t)v, utf));
			s += n;
		} else if (*s == '{' && strchr(s, '*') && strchr(s, '}')) {
			const char *star = strchr(s, '*'),
				   *end = strchr(s, '}');
			unsigned times = 0;

			n = (size_t)(star - s) - 1;
			if (n >= sizeof(text))
				return;
			memcpy(text, s + 1, n);
			text[n] = 0;
			if (num_uint(text, 0, 100000, &times) < 0)
				return;
			while (times--)
				buf_add(out, star + 1,
					(size_t)(end - star) - 1);
			s = end;
		}
	}
}

static void judge_text_line(const struct policy_opts *o,
	struct policy_here *h, const struct buf *text,
	struct policy_verdict *v)
{
	struct policy_request req;

	policy_follow_line(h, text->data, text->len);
	req = policy_request_here(o, h);
	req.text = text->data ? text->data : "";
	req.len = text->len;
	policy_decide_line(h->policy, &req, v, NULL, NULL);
}

/* Judges one row: LINE, or PROFILE<TAB>EXPECTED<TAB>LINE[<TAB>anything]. True
 * when the verdict is the expected one or nothing was expected. */
static bool batch_row(const struct policy_opts *o, struct policy_here *h,
	char *row, struct buf *out)
{
	autobuf struct buf text = BUF_INIT(LINE_MAX_BYTES);
	enum policy_profile before = h->profile;
	char *tab = strchr(row, '\t'), *want = NULL, *line = row, *end;
	struct policy_verdict v;
	bool same = true;

	if (tab && (want = tab + 1) && (line = strchr(want, '\t'))) {
		*tab = 0;
		*line++ = 0;
		if (policy_profile_parse(row, &h->profile) < 0)
			cli_die(EXIT_USAGE, "%s: no such profile", row);
		end = strchr(line, '\t');
		if (end)
			*end = 0;
	} else {
		line = row;
		want = NULL;
	}
	if (line[0] == '@' && line[1] == '@')
		decode_row(line + 2, &text);
	else
		buf_adds(&text, line);
	judge_text_line(o, h, &text, &v);
	/* "OPEN/DENY": open, and what it starts is to be denied then. */
	if (want)
		want[strcspn(want, "/")] = '\0';
	for (char *c = want; c && *c; c++)
		*c = (char)(*c | 0x20);
	same = !want || str_eq(want, policy_decision_name(v.would));
	buf_addf(out, "%s\t%s\t%s\t%s\t%s\n", policy_profile_name(h->profile),
		policy_decision_name(v.would), want ? want : "-", v.rule, line);
	h->profile = before;
	return same;
}

static int judge_batch(const struct policy_opts *o, struct policy_here *h)
{
	autobuf struct buf all = BUF_INIT(BATCH_MAX);
	autobuf struct buf out = BUF_INIT(BATCH_MAX);
	autofd int fd = -1;
	size_t rows = 0, bad = 0;
	int rc;

	if (!str_eq(o->batch, "-")) {
		fd = open(o->batch, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			cli_die(EXIT_USAGE, "%s: %s", o->batch,
				strerror(errno));
	}
	rc = buf_read_fd(&all, fd < 0 ? STDIN_FILENO : fd);
	if (rc < 0)
		cli_die(EXIT_FOUND, "%s: %s", o->batch, strerror(-rc));
	buf_addc(&all, 0);
	if (all.err)
		cli_die(EXIT_FOUND, "%s: too large", o->batch);
	for (char *row = all.data; *row;) {
		size_t n = strcspn(row, "\n");
		bool last = !row[n];

		row[n] = 0;
		if (*row && *row != '#') {
			rows++;
			bad += !batch_row(o, h, row, &out);
		}
		if (last)
			break;
		row += n + 1;
	}
	cli_print(&out);
	if (bad)
		cli_warn("%zu of %zu rows differ from what they expect", bad,
			rows);
	return bad ? EXIT_FOUND : EXIT_OK;
}

int policy_test_verb(void *into, int argc, char **argv)
{
	const struct policy_opts *o = into;
	autobuf struct buf line = BUF_INIT(LINE_MAX_BYTES);
	autobuf struct buf out = BUF_INIT(1 << 16);
	autohere struct policy_here *h = NULL;
	struct policy_verdict v;

	if (!o->batch)
		policy_line_of(o, argc, argv, &line);
	else if (o->json)
		cli_die_usage(o->spec, "--batch prints rows, not JSON");
	h = policy_find_here(o);
	if (o->batch)
		return judge_batch(o, h);
	judge_text_line(o, h, &line, &v);
	if (o->json) {
		struct json j = JSON_INIT(&out);

		j.pretty = true;
		json_verdict(&j, &v);
		buf_addc(&out, '\n');
	} else {
		say_verdict(&out, &v, cli_colour(STDOUT_FILENO));
	}
	cli_print(&out);
	return exit_code(h, v.decision);
}

struct drawing {
	struct buf *out;
	struct buf told; /* a line for each verdict, of all the readings */
	struct json *json;
	const char *line;
	size_t len;
	bool colour;
};

/* Characters, as far as they are one column each. */
static unsigned count_columns(const char *s, size_t n)
{
	unsigned count = 0;

	while (n--)
		count += ((unsigned char)*s++ & 0xc0) != 0x80;
	return count;
}

static void mark_span(struct drawing *w, const struct policy_verdict *v)
{
	size_t from = v->offset, n = v->length, start, end;
	unsigned lead = 0, under = 0;

	if (from > w->len)
		return;
	if (n > w->len - from)
		n = w->len - from;
	for (start = from; start > 0 && w->line[start - 1] != '\n';)
		start--;
	for (end = from; end < w->len && w->line[end] != '\n';)
		end++;
	if (n > end - from)
		n = end - from;
	buf_adds(w->out, "\n  ");
	cli_escape(w->out, w->line + start, end - start);
	buf_adds(w->out, "\n  ");
	lead = count_columns(w->line + start, from - start);
	under = n ? count_columns(w->line + from, n) : 1;
	while (lead--)
		buf_addc(w->out, ' ');
	buf_adds(w->out, cli_sgr(w->colour, colour_of(v->would)));
	while (under--)
		buf_addc(w->out, '^');
	buf_adds(w->out, cli_sgr(w->colour, "0"));
	buf_adds(w->out, "\n  ");
}

static void each_verdict(void *ctx, const struct policy_verdict *v)
{
	struct drawing *w = ctx;
	size_t before = w->told.len;

	buf_addf(&w->told, "\n%u %u %s %s: %s\n", (unsigned)v->offset,
		(unsigned)v->length, policy_decision_name(v->would), v->rule,
		v->reason);
	if (str_find(buf_str(&w->told), w->told.data + before) !=
		w->told.data + before)
		return;
	if (w->json) {
		json_verdict(w->json, v);
		return;
	}
	mark_span(w, v);
	say_verdict(w->out, v, w->colour);
}

int policy_explain(void *into, int argc, char **argv)
{
	const struct policy_opts *o = into;
	autobuf struct buf line = BUF_INIT(LINE_MAX_BYTES);
	autobuf struct buf out = BUF_INIT(4 << 20);
	autohere struct policy_here *h = NULL;
	struct json j = JSON_INIT(&out);
	struct drawing w = {.out = &out,
		.told = BUF_INIT(4 << 20),
		.colour = cli_colour(STDOUT_FILENO)};
	struct policy_request req;
	struct policy_verdict v;

	policy_line_of(o, argc, argv, &line);
	h = policy_find_here(o);
	policy_follow_line(h, buf_str(&line), line.len);
	req = policy_request_here(o, h);
	w.line = req.text = buf_str(&line);
	w.len = req.len = line.len;
	if (o->json) {
		w.json = &j;
		j.pretty = true;
		json_putf(&j, "{ profile %s root %s commands [",
			policy_profile_name(h->profile), h->root);
	} else {
		buf_addf(&out, "profile %s, root ",
			policy_profile_name(h->profile));
		cli_escape_str(&out, h->no_project
				? "none: this is no project"
				: h->root);
		buf_addc(&out, '\n');
	}
	/* The answer is what it is to those who do not ask for each. */
	policy_decide_line(h->policy, &req, &v, each_verdict, &w);
	policy_decide_line(h->policy, &req, &v, NULL, NULL);
	if (o->json) {
		json_close(&j);
		json_key(&j, "verdict");
		json_verdict(&j, &v);
	} else {
		buf_adds(&out, "\n=> ");
		say_verdict(&out, &v, w.colour);
	}
	cli_print_json(&j);
	buf_release(&w.told);
	return exit_code(h, v.decision);
}
