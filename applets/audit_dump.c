/* audit_dump.c - dump, follow, export: records in the form that was asked for
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "audit_out.h"
#include "log/audit_read_json.h"
#include "sys/file.h"
#include "base/num.h"
#include "base/str.h"
#include "base/utf8.h"

static const char forms[][12] = {"short", "short-iso", "short-delta",
	"verbose", "json", "json-pretty", "json-seq", "csv", "ocsf",
	"asciicast", "contract", "cat", "cbor", "cose"};

static enum audit_form_name form_from(const struct audit *a)
{
	autobuf struct buf names = BUF_INIT(1024);

	if (a->format)
		return OUT_FORMAT;
	if (!a->output)
		return a->json ? OUT_JSON : OUT_SHORT;
	for (unsigned i = 0; i < ARRAY_SIZE(forms); i++)
		if (str_eq(forms[i], a->output))
			return (enum audit_form_name)i;
	if (str_eq(a->output, "jsonl") || str_eq(a->output, "json-lines"))
		return OUT_JSON;
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++)
		buf_addf(&names, " %s", forms[i]);
	cli_die_usage(&audit_cli, "no form '%s':%s", a->output,
		buf_str(&names));
}

static void check_fields(const char *list)
{
	while (list && *list) {
		size_t n = strcspn(list, ",");
		bool found = false;

		for (unsigned i = 0; i < audit_keys_count && !found; i++)
			found = strlen(audit_keys[i].name) == n &&
				strncmp(audit_keys[i].name, list, n) == 0;
		if (!found)
			cli_die_usage(&audit_cli,
				"no field '%.*s' ('audit schema' names them)",
				(int)n, list);
		list += n + (list[n] == ',');
	}
}

static void check_format(const char *text)
{
	for (const char *p = text; p && (p = strchr(p, '%')); p += 2)
		if (!p[1] || !strchr("tsixdcwDr%", p[1]))
			cli_die_usage(&audit_cli,
				"--format: '%%%c' stands for nothing",
				p[1] ? p[1] : ' ');
}

__attribute__((noreturn)) static void two_forms(const char *one, const char *other)
{
	cli_die_usage(&audit_cli, "--%s is a form, as --%s is", one, other);
}

void audit_out_begin(struct audit_out *o, const struct audit *a)
{
	*o = (struct audit_out){.a = a, .form = form_from(a)};
	o->out = BUF_INIT(UINT32_C(1) << 28);
	o->names = audit_need(calloc(1, sizeof *o->names));
	o->colour = cli_colour(STDOUT_FILENO);
	/* The lines of short are for people and logs alike: never raw. cat and
	 * verbose are raw only into a file, or with -a. */
	o->escape = o->form <= OUT_SHORT_DELTA ||
		(isatty(STDOUT_FILENO) && !a->all);
	if (o->escape && (o->form == OUT_CBOR || o->form == OUT_COSE))
		cli_die_usage(&audit_cli,
			"%s is no form for a terminal (-a prints it)",
			a->output);
	o->streams = o->form == OUT_CONTRACT;
	if (a->format && a->output)
		two_forms("format", "output");
	if (a->json && (o->form < OUT_JSON || o->form > OUT_JSON_SEQ))
		two_forms("json", a->format ? "format" : "output");
	if (a->fields && (o->form < OUT_JSON || o->form > OUT_CSV))
		cli_die_usage(&audit_cli, "--fields is for json and csv");
	check_fields(a->fields);
	check_format(a->format);
	if (o->form == OUT_CSV)
		audit_csv(o, NULL);
}

static void print_json(struct audit_out *o, const struct audit_record *r)
{
	struct json j = JSON_INIT(&o->out);

	if (o->form == OUT_JSON_SEQ)
		buf_addc(&o->out, '\x1e');
	j.pretty = o->form == OUT_JSON_PRETTY;
	audit_json_some(o, &j, r);
	buf_addc(&o->out, '\n');
}

static bool by_command(const struct audit_out *o)
{
	return o->form == OUT_OCSF || o->form == OUT_CONTRACT ||
		o->form == OUT_FORMAT;
}

/* A record before those that are shown: an end among them wants its start. */
static void skip_record(struct audit_out *o, const struct audit_record *r)
{
	struct audit_command *c;

	audit_names_note(o->names, r);
	c = by_command(o) ? audit_command_note(o, r) : NULL;
	if (c && c->ended)
		audit_command_done(c);
}

void audit_out_record(struct audit_out *o, const struct audit_record *r)
{
	struct audit_command *c;

	audit_names_note(o->names, r);
	switch (o->form) {
	case OUT_SHORT:
	case OUT_SHORT_ISO:
	case OUT_SHORT_DELTA:
		audit_short(o, r);
		return;
	case OUT_VERBOSE:
		audit_verbose(o, r);
		return;
	case OUT_JSON:
	case OUT_JSON_PRETTY:
	case OUT_JSON_SEQ:
		print_json(o, r);
		return;
	case OUT_CSV:
		audit_csv(o, r);
		return;
	case OUT_ASCIICAST:
		audit_cast(o, r);
		return;
	case OUT_CAT:
		audit_cat(o, r);
		return;
	case OUT_CBOR:
		buf_add(&o->out, r->frame.body, r->frame.body_len);
		return;
	case OUT_COSE:
		audit_cose(o, r);
		return;
	case OUT_OCSF:
	case OUT_CONTRACT:
	case OUT_FORMAT:
		break;
	}
	c = audit_command_note(o, r);
	if (c && c->ended)
		audit_command_print(o, c);
}

/* One dump: which of the records that fit are shown, and in which order. */
struct dump {
	struct audit_out o;
	uint64_t skip, seen; /* of what is to be seen in this form */
	size_t *ends; /* with -r: where each record ends in o.out */
	size_t count, cap;
	struct audit_cursor last, cursor;
	bool cursor_met, any, shown;
};

static void remember_end(struct dump *p)
{
	p->ends = audit_room(
		p->ends, p->count, &p->cap, sizeof *p->ends, SIZE_MAX);
	p->ends[p->count++] = p->o.out.len;
}

static int view_record(void *state, const struct audit_record *r)
{
	struct dump *p = state;

	p->any = true;
	if (p->seen < p->skip) {
		p->seen += audit_out_shows(&p->o, r);
		skip_record(&p->o, r);
		return 0;
	}
	audit_out_record(&p->o, r);
	p->shown = true;
	audit_cursor_at(&p->last, r);
	if (p->o.out.err)
		cli_die(EXIT_USAGE, "too much to hold in memory: use -n, or"
				    " not -r");
	if (p->o.a->reverse)
		remember_end(p);
	else
		audit_print_some(&p->o.out, p->o.a->follow);
	return 0;
}

static int count_record(void *state, const struct audit_record *r)
{
	struct dump *p = state;

	p->skip += audit_out_shows(&p->o, r);
	return 0;
}

/* Skips all but the last wanted records of those that fit. */
static void want_last(
	struct dump *p, uint64_t wanted, int argc, char **argv)
{
	struct audit quiet = *p->o.a;
	bool damaged;

	quiet.quiet = true;
	audit_walk(&quiet, argc, argv, count_record, p, &damaged);
	p->skip = p->skip > wanted ? p->skip - wanted : 0;
}

static void print_backwards(struct dump *p)
{
	autobuf struct buf out = BUF_INIT(p->o.out.len + 1);

	for (size_t i = p->count; i--;) {
		size_t from = i ? p->ends[i - 1] : 0;

		buf_add(&out, p->o.out.data + from, p->ends[i] - from);
	}
	buf_clear(&p->o.out);
	cli_print(&out);
}

/* Is the record that the cursor names still what it was? */
static int find_cursor(void *state, const struct audit_record *r)
{
	struct dump *p = state;

	if (r->seq != p->cursor.seq)
		return 0;
	p->cursor_met = audit_cursor_is(&p->cursor, r);
	return 1;
}

/* --cursor, --after-cursor and --checkpoint: the records before it are not wanted. */
static void take_cursor(
	struct dump *p, const struct audit *a, int argc, char **argv)
{
	struct audit plain = {.dir = a->dir, .quiet = true};
	const char *named = a->cursor ? a->cursor : a->from_cursor;
	bool damaged;

	if (named)
		audit_cursor_parse(&p->cursor, named);
	else if (!a->mark || !audit_cursor_load(&p->cursor, a->mark))
		return;
	audit_walk(&plain, argc, argv, find_cursor, p, &damaged);
	if (!p->cursor_met)
		cli_die(AUDIT_CURSOR_GONE,
			"the record of the cursor, %ju, is gone or another",
			p->cursor.seq);
}

static int after_cursor(void *state, const struct audit_record *r)
{
	const struct dump *p = state;

	if (p->cursor_met && r->seq < p->cursor.seq + !p->o.a->from_cursor)
		return 0;
	return view_record(state, r);
}

static void dump_finish(struct dump *p)
{
	const struct audit *a = p->o.a;

	audit_out_end(&p->o);
	if (a->reverse)
		print_backwards(p);
	if (a->show_cursor && p->shown) {
		buf_adds(&p->o.out, "-- cursor: ");
		audit_cursor_put(&p->o.out, &p->last);
		buf_addc(&p->o.out, '\n');
	}
	cli_print(&p->o.out);
	if (a->mark && p->shown)
		audit_cursor_save(&p->last, a->mark);
	free(p->ends);
	audit_out_release(&p->o);
}

int audit_run_dump(void *into, int argc, char **argv)
{
	const struct audit *a = into;
	struct dump p = {0};
	bool damaged = false;

	take_cursor(&p, a, argc, argv);
	audit_out_begin(&p.o, a);
	if (a->end || a->lines != AUDIT_ALL)
		want_last(&p, a->lines != AUDIT_ALL ? a->lines : 1000, argc, argv);
	audit_walk(a, argc, argv, after_cursor, &p, &damaged);
	dump_finish(&p);
	return p.any ? EXIT_OK : EXIT_FOUND;
}

int audit_run_export(void *into, int argc, char **argv)
{
	struct audit *a = into;

	if (!a->output && !a->format)
		a->output = "json";
	return audit_run_dump(a, argc, argv);
}

/* All there is now, to the end. */
static void dump_drain(struct audit_reader *reader, struct dump *p,
	struct audit_filter *f, struct diag *d)
{
	struct audit_record r;
	struct audit_damage damage;
	int got;

	while ((got = audit_next(reader, &r, &damage, d)) != AUDIT_GOT_END) {
		if (got < 0)
			audit_fail(d);
		if (got == AUDIT_GOT_SEGMENT)
			continue;
		if (got != AUDIT_GOT_RECORD) {
			audit_tell_damage(p->o.a, got, &damage);
			continue;
		}
		if (audit_filter_kinds(f) && audit_filter_note(f, &r))
			cli_die(EXIT_USAGE, "too many commands to remember");
		if (audit_filter_match(f, &r))
			view_record(p, &r);
	}
	cli_print(&p->o.out);
}

int audit_watch(int dir)
{
	char path[64];
	int watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

	if (watch < 0 ||
		inotify_add_watch(watch,
			BUF_PRINT(path, "/proc/self/fd/%d", dir),
			IN_MODIFY | IN_CREATE | IN_MOVED_TO) < 0)
		audit_die("cannot watch the log", errno);
	return watch;
}

void audit_watched(int watch)
{
	char events[512];

	while (read(watch, events, sizeof events) > 0)
		continue;
}

void audit_await(int watch)
{
	enum { LOOK_MS = 5000 };
	struct pollfd wait = {.fd = watch, .events = POLLIN};

	while (poll(&wait, 1, LOOK_MS) < 0)
		if (errno != EINTR)
			audit_die("poll", errno);
	audit_watched(watch);
}

int audit_run_follow(void *into)
{
	struct audit *a = into;
	autoreader struct audit_reader reader = AUDIT_READER_INIT;
	autoclean(audit_filter_release) struct audit_filter f;
	autofd int dir = audit_dir(a, false);
	autofd int watch = audit_watch(dir);
	struct dump p = {0};
	struct diag d = {0};
	int more;

	audit_filter_from(a, &f);
	if (audit_filter_kinds(&f) & ~(1u << AUDIT_START))
		cli_die_usage(&audit_cli,
			"follow chooses neither by how a command ends nor by"
			" its output, which are not known when it begins");
	if (a->reverse)
		cli_die_usage(&audit_cli,
			"-r begins with the last record, and -f has none");
	audit_out_begin(&p.o, a);
	/* As tail does: the last ten, or as many as were asked for. */
	a->follow = true;
	if (!a->since)
		want_last(&p, a->lines != AUDIT_ALL ? a->lines : 10, 0, NULL);
	if (audit_reader_dir(&reader, dir, 0, &d))
		audit_fail(&d);
	reader.patient = true;
	for (;;) {
		dump_drain(&reader, &p, &f, &d);
		audit_await(watch);
		more = audit_reader_more(&reader, &d);
		if (more < 0)
			audit_fail(&d);
		if (more == AUDIT_ANEW)
			cli_warn("the log was deleted: another one begins");
	}
}
