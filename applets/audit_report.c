/* audit_report.c - one page for a browser
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit_out.h"
#include "log/audit_read_json.h"
#include "log/audit_verify.h"
#include "page/page.h"
#include "sys/file.h"
#include "base/kconfig.h"
#include "base/str.h"

enum {
	COMMANDS_MAX = 50000,
	TEXT_SHOWN = 4096,
	/* Bytes of a command's output: in a page, and in an answer. */
	PIECES_MAX = 64 << 10,
	PIECES_FEW = 4096,
	CHANGED_MAX = 32 << 10,
	OUTPUT_MAX = 64 << 20, /* of all commands together */
};

struct report {
	struct audit_out o;
	struct json j;
	size_t pieces_max, output; /* of one command; of all so far */
	uint64_t commands, left_out; /* the oldest, of too many */
	uint64_t first, last;
	bool terminal; /* something to see was on one */
};

static void put_text(struct json *j, const char *key, struct buf *b)
{
	json_strn(json_key(j, key), buf_str(b),
		b->len < TEXT_SHOWN ? b->len : TEXT_SHOWN);
}

/* A list whose elements, with a comma behind each, stand in b. */
static void put_list(struct json *j, const char *key, const struct buf *b)
{
	json_put_open(j, key, '[');
	if (b->len)
		json_raw(j, b->data, b->len - 1);
	json_close(j);
}

static void put_command(struct report *p, struct audit_command *c)
{
	struct json *j = &p->j;
	char space[48];

	if (p->commands++ < p->left_out)
		return;
	p->output += c->pieces.len;
	p->terminal |= c->terminal;
	json_open(j, '{');
	audit_put_numbers(j, "id\0t\0ms\0signal\0pid\0cpu\0memory\0flags\0",
		(uint64_t[]){c->exec, c->start_wall / 1000000,
			c->duration / 1000000, c->signal, c->pid,
			c->cpu_us / 1000, c->maxrss_kib << 10, c->flags});
	json_putf(j, "end %d exit %jd tty %d session %s decision %s",
		c->ended && c->decision != AUDIT_DENY, audit_exit(c),
		c->terminal,
		audit_names_find(p->o.names,
			c->has_session ? c->session : NULL, space),
		audit_decision_name(c->decision));
	put_text(j, "line", &c->line);
	put_text(j, "cwd", &c->cwd);
	put_text(j, "exe", &c->exe);
	put_text(j, "rule", &c->rule);
	put_text(j, "reason", &c->reason);
	put_list(j, "io", &c->pieces);
	json_put_bool(j, "cut", c->cut);
	put_list(j, "changed", &c->changed);
	json_close(j);
}

/* [milliseconds, "o", text], as asciicast has it; "e": to stderr. */
static void take_piece(struct report *p, struct audit_command *c,
	const struct audit_record *r)
{
	static const char codes[AUDIT_STREAMS] = {'i', 'o', 'e', 'i', 'o', 'r'};
	const uint64_t stream = audit_uint(r, AUDIT_K_STREAM, AUDIT_SIGNAL);
	const struct cbor_item *data = audit_text(r, AUDIT_K_DATA);
	struct json j = JSON_INIT(&c->pieces);
	size_t had = c->pieces.len, n;

	if (stream >= AUDIT_SIGNAL || !data || c->cut)
		return;
	n = data->n < p->pieces_max - c->shown ? (size_t)data->n
					       : p->pieces_max - c->shown;
	c->shown += n;
	/* JSON may spell one byte with six, and each piece has its time. */
	if (!c->pieces.max)
		c->pieces = BUF_INIT(8 * p->pieces_max);
	c->terminal |= stream == AUDIT_TTYOUT;
	json_open(&j, '[');
	json_u64(&j, audit_uint(r, AUDIT_K_AT, 0) / 1000000);
	json_str(&j, (const char[]){codes[stream], '\0'});
	json_strn(&j, (const char *)data->bytes, n);
	json_close(&j);
	buf_addc(&c->pieces, ',');
	c->cut = c->pieces.err || n < data->n || audit_uint(r, AUDIT_K_GAP, 0) ||
		p->output + c->pieces.len > OUTPUT_MAX;
	if (c->pieces.err) {
		c->pieces.err = 0;
		c->pieces.len = had;
	}
}

/* ["changed", path] */
static void take_change(struct audit_command *c, const struct audit_record *r)
{
	struct cbor_item file, what;
	size_t had = c->changed.len;
	struct json j = JSON_INIT(&c->changed);

	if (!audit_event_is(r, "file.change") ||
		!audit_detail(r, "file", &file) ||
		!audit_detail(r, "what", &what) || !file.bytes || !what.bytes)
		return;
	if (!c->changed.max)
		c->changed = BUF_INIT(CHANGED_MAX);
	json_open(&j, '[');
	json_strn(&j, (const char *)what.bytes, (size_t)what.n);
	json_strn(&j, (const char *)file.bytes, (size_t)file.n);
	json_close(&j);
	buf_addc(&c->changed, ',');
	if (c->changed.err) {
		c->changed.err = 0;
		c->changed.len = had;
	}
}

static void each_command(void *state, struct audit_command *c)
{
	put_command(state, c);
}

static int count_start(void *state, const struct audit_record *r)
{
	struct report *p = state;

	p->left_out += r->type == AUDIT_START;
	return 0;
}

static int note_record(void *state, const struct audit_record *r)
{
	struct report *p = state;
	struct audit_command *c;

	audit_names_note(p->o.names, r);
	if (!p->first)
		p->first = r->wall;
	p->last = r->wall;
	c = audit_command_note(&p->o, r);
	if (c && r->type == AUDIT_IO)
		take_piece(p, c, r);
	if (c && r->type == AUDIT_EVENT)
		take_change(c, r);
	if (c && c->ended)
		audit_command_print(&p->o, c);
	return 0;
}

/* As verify says it; held against the log itself alone. */
static const char *proof_name(const struct audit *a, int argc)
{
	const struct audit_trust trust = {0};
	struct audit_verdict v;
	struct diag d = {0};
	autofd int dir = -1;

	if (argc > 1)
		return "not verified";
	dir = audit_dir(a, false);
	if (audit_verify_dir(dir, &trust, NULL, NULL, &v, &d))
		return "not verified";
	switch (audit_outcome(&v)) {
	case AUDIT_TAMPERED:
		return "tampered";
	case AUDIT_DECLARED_LOSS:
		return "declared-loss";
	case AUDIT_INTACT:
	case AUDIT_UNAUTHENTICATED:
		break;
	}
	return "unauthenticated";
}

static void put_facts(struct report *p, const char *proof)
{
	json_put_u64(&p->j, "first", p->first / 1000000);
	json_put_u64(&p->j, "last", p->last / 1000000);
	json_put_u64(&p->j, "commands_in_all", p->commands);
	json_put_u64(&p->j, "left_out", p->left_out);
	json_put_str(&p->j, "proof", proof);
}

static void write_page(const char *file, const struct buf *page)
{
	int err = str_eq(file, "-")
		? file_write_all(STDOUT_FILENO, page->data, page->len)
		: file_put(file, page->data, page->len, 0600, false);

	if (err)
		audit_die(file, err);
}

static void gather_commands(struct report *p, const struct audit *a, int argc,
	char **argv)
{
	struct audit all = *a, quiet;
	const uint64_t most = a->lines < COMMANDS_MAX ? a->lines : COMMANDS_MAX;
	bool damaged;

	all.output = "contract";
	all.json = false;
	all.lines = AUDIT_ALL;
	quiet = all;
	quiet.quiet = true;
	audit_out_begin(&p->o, &all);
	/* The pieces have it all, by their times. */
	p->o.streams = false;
	p->o.each = each_command;
	p->o.each_state = p;
	json_open(&p->j, '{');
	json_put_open(&p->j, "commands", '[');
	audit_walk(&quiet, argc, argv, count_start, p, &damaged);
	p->left_out -= p->left_out < most ? p->left_out : most;
	audit_walk(&all, argc, argv, note_record, p, &damaged);
	audit_out_end(&p->o);
	json_close(&p->j);
	put_facts(p, a->json ? NULL : proof_name(a, argc));
	json_close(&p->j);
	audit_out_release(&p->o);
}

int audit_run_report(void *into, int argc, char **argv)
{
	struct audit *a = into;
	autobuf struct buf data = BUF_INIT(1u << 30);
	autobuf struct buf page = BUF_INIT(1u << 30);
	struct report p = {.j = JSON_INIT(&data),
		.pieces_max = a->json ? PIECES_FEW : PIECES_MAX};
	int err;

	if (!a->html == !a->json)
		cli_die_usage(&audit_cli, "report needs --html FILE, or --json");
	gather_commands(&p, a, argc, argv);
	buf_addc(&data, '\n');
	err = a->json ? data.err
		      : page_report(&page, &data,
				IS_ENABLED(CONFIG_SERVE_WEB) && p.terminal
					? page_find_all
					: page_find);
	if (data.err || err)
		cli_die(EXIT_USAGE, "too much for one page: use --since");
	if (a->json)
		cli_print(&data);
	else if (!a->dry_run)
		write_page(a->html, &page);
	return EXIT_OK;
}
