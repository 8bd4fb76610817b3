/* audit_command.c - commands put together from their records
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "audit_out.h"
#include "log/audit_read_json.h"
#include "base/str.h"

enum { OUTPUT_MAX = 16 << 20 };

void audit_command_done(struct audit_command *c)
{
	buf_release(&c->argv);
	buf_release(&c->line);
	buf_release(&c->cwd);
	buf_release(&c->exe);
	buf_release(&c->rule);
	buf_release(&c->reason);
	buf_release(&c->rollback);
	buf_release(&c->pieces);
	buf_release(&c->changed);
	for (unsigned i = 0; i < 3; i++)
		buf_release(&c->output[i]);
	*c = (struct audit_command){0};
}

static void take_text(
	struct buf *b, const struct audit_record *r, enum audit_key key)
{
	const struct cbor_item *text = audit_text(r, key);

	*b = BUF_INIT(AUDIT_BODY_MAX);
	if (text)
		buf_add(b, text->bytes, (size_t)text->n);
}

static void take_argv(struct audit_command *c, const struct audit_record *r)
{
	struct cbor_in in;
	struct cbor_item word;
	const uint64_t n = audit_words(r, &in);

	c->argv = BUF_INIT(2 * AUDIT_BODY_MAX);
	c->line = BUF_INIT(4 * AUDIT_BODY_MAX);
	audit_add_command(&c->line, r);
	for (uint64_t i = 0; i < n && !cbor_next(&in, &word); i++) {
		if (!word.bytes)
			return;
		/* A NUL within would be taken for the end of the word. */
		buf_add(&c->argv, word.bytes,
			strnlen((const char *)word.bytes, (size_t)word.n));
		buf_addc(&c->argv, '\0');
	}
}

static void take_start(struct audit_command *c, const struct audit_record *r)
{
	audit_command_done(c);
	c->open = true;
	c->exec = r->seq;
	c->start_wall = c->end_wall = r->wall;
	c->pid = audit_uint(r, AUDIT_K_PID, 0);
	c->decision = (uint8_t)audit_uint(r, AUDIT_K_DECISION, 99);
	c->exit = -1;
	memcpy(c->log_id, r->log_id, AUDIT_ID);
	if (r->session)
		memcpy(c->session, r->session, AUDIT_ID);
	c->has_session = r->session != NULL;
	take_argv(c, r);
	take_text(&c->cwd, r, AUDIT_K_CWD);
	take_text(&c->exe, r, AUDIT_K_EXE);
	take_text(&c->rule, r, AUDIT_K_RULE);
	take_text(&c->reason, r, AUDIT_K_REASON);
	take_text(&c->rollback, r, AUDIT_K_ROLLBACK);
	for (unsigned i = 0; i < 3; i++)
		c->output[i] = BUF_INIT(OUTPUT_MAX);
}

static void take_io(struct audit_out *o, struct audit_command *c,
	const struct audit_record *r)
{
	uint64_t stream = audit_uint(r, AUDIT_K_STREAM, 99);
	uint64_t gap = audit_uint(r, AUDIT_K_GAP, 0);
	const struct cbor_item *data = audit_text(r, AUDIT_K_DATA);

	if (stream == AUDIT_TTYOUT || stream == AUDIT_TTYIN)
		stream = stream == AUDIT_TTYOUT ? AUDIT_OUT : AUDIT_IN;
	if (!o->streams || stream > AUDIT_ERR || !data)
		return;
	if (gap)
		buf_addf(&c->output[stream], "\n[%ju bytes left out]\n", gap);
	buf_add(&c->output[stream], data->bytes, (size_t)data->n);
}

static void take_end(struct audit_command *c, const struct audit_record *r)
{
	const struct audit_field *f = audit_field(r, AUDIT_K_USAGE);
	struct cbor_item list, n[3] = {0};
	struct cbor_in in;

	c->ended = true;
	c->end_wall = r->wall;
	c->exit = audit_int(r, AUDIT_K_EXIT, -1);
	c->signal = audit_uint(r, AUDIT_K_SIGNAL, 0);
	c->duration = audit_uint(r, AUDIT_K_DURATION, 0);
	c->flags = audit_uint(r, AUDIT_K_FLAGS, 0);
	buf_release(&c->rollback);
	take_text(&c->rollback, r, AUDIT_K_ROLLBACK);
	if (!f)
		return;
	in = (struct cbor_in){.p = f->raw, .end = f->raw + f->raw_len};
	if (cbor_next(&in, &list) || list.major != CBOR_ARRAY || list.n < 3)
		return;
	for (unsigned i = 0; i < 3; i++)
		if (cbor_next(&in, &n[i]))
			return;
	c->cpu_us = n[0].n + n[1].n;
	c->maxrss_kib = n[2].n;
}

static struct audit_command *open_slot(struct audit_out *o, uint64_t exec)
{
	struct audit_command *oldest;

	if (!o->open)
		o->open = audit_need(calloc(AUDIT_OPEN_MAX, sizeof *o->open));
	oldest = &o->open[0];
	for (size_t i = 0; i < AUDIT_OPEN_MAX; i++) {
		if (!o->open[i].open)
			return &o->open[i];
		if (o->open[i].exec < oldest->exec)
			oldest = &o->open[i];
	}
	/* The oldest command has no end record, because its supervisor was
	 * killed. */
	if (oldest->exec < exec)
		audit_command_print(o, oldest);
	return oldest;
}

struct audit_command *audit_command_note(
	struct audit_out *o, const struct audit_record *r)
{
	struct audit_command *c = NULL;

	if (r->type == AUDIT_START) {
		c = open_slot(o, r->seq);
		take_start(c, r);
		/* A denied command has no end record. */
		c->ended = c->decision == AUDIT_DENY;
		return c;
	}
	for (size_t i = 0; o->open && r->exec && i < AUDIT_OPEN_MAX && !c; i++)
		if (o->open[i].open && o->open[i].exec == r->exec)
			c = &o->open[i];
	if (!c)
		return NULL;
	if (r->type == AUDIT_IO)
		take_io(o, c, r);
	else if (r->type == AUDIT_END)
		take_end(c, r);
	return c;
}

void audit_out_end(struct audit_out *o)
{
	for (size_t i = 0; o->open && i < AUDIT_OPEN_MAX; i++)
		if (o->open[i].open)
			audit_command_print(o, &o->open[i]);
}

void audit_out_release(struct audit_out *o)
{
	for (size_t i = 0; o->open && i < AUDIT_OPEN_MAX; i++)
		audit_command_done(&o->open[i]);
	free(o->open);
	free(o->names);
	buf_release(&o->out);
}

static void put_text(struct json *j, const char *key, struct buf *b)
{
	json_strn(json_key(j, key), buf_str(b), b->len);
}

static void put_uuid(struct json *j, const char *key,
	const struct audit_command *c)
{
	char text[40];
	struct buf b = BUF_FIXED(text);

	audit_add_uuid(&b, c->log_id, c->exec);
	json_put_str(j, key, buf_str(&b));
}

static size_t argv_next(const struct audit_command *c, size_t at)
{
	return at + strlen(c->argv.data + at) + 1;
}

/* ShellExecutionResult, field by field, and what it has no room for. */
static void print_contract(struct audit_out *o, struct audit_command *c)
{
	struct json j = JSON_INIT(&o->out);

	json_open(&j, '{');
	put_uuid(&j, "correlation_id", c);
	json_put_str(&j, "command", c->argv.len ? c->argv.data : "");
	json_put_open(&j, "args", '[');
	for (size_t at = c->argv.len ? argv_next(c, 0) : 0; at < c->argv.len;
		at = argv_next(c, at))
		json_str(&j, c->argv.data + at);
	json_close(&j);
	put_text(&j, "working_dir", &c->cwd);
	if (c->decision == AUDIT_DENY)
		json_put_i64(&j, "exit_code", EXIT_DENIED);
	else if (!c->ended)
		json_null(json_key(&j, "exit_code"));
	else
		json_put_i64(&j, "exit_code", audit_exit(c));
	put_text(&j, "stdout", &c->output[AUDIT_OUT]);
	put_text(&j, "stderr", &c->output[AUDIT_ERR]);
	json_putf(&j,
		"duration_ms %ju "
		"resource_usage { cpu_ms %ju memory_peak_bytes %ju }",
		c->duration / 1000000, c->cpu_us / 1000, c->maxrss_kib * 1024);
	put_text(&j, "policy_rule_matched", &c->rule);
	audit_json_time(&j, "timestamp", c->start_wall);
	json_put_str(&j, "decision", audit_decision_name(c->decision));
	put_text(&j, "stdin", &c->output[AUDIT_IN]);
	json_putf(&j, "truncated %d timed_out %d",
		(c->flags & AUDIT_TRUNCATED) != 0,
		(c->flags & AUDIT_TIMEOUT) != 0);
	if (c->rollback.len)
		put_text(&j, "rollback_strategy", &c->rollback);
	else
		json_null(json_key(&j, "rollback_strategy"));
	json_end(&j);
}

/* OCSF 1.x, Process Activity: 1 Launch, 2 Terminate. */
static void print_ocsf(
	struct audit_out *o, struct audit_command *c, bool launch)
{
	const bool denied = c->decision == AUDIT_DENY;
	struct json j = JSON_INIT(&o->out);

	json_open(&j, '{');
	audit_put_numbers(&j,
		"class_uid\0category_uid\0activity_id\0type_uid\0time\0"
		"severity_id\0status_id\0",
		(uint64_t[]){1007, 1, launch ? 1 : 2, launch ? 100701 : 100702,
			(launch ? c->start_wall : c->end_wall) / 1000000,
			denied ? 3 : 1,
			denied || (!launch && (c->exit || c->signal)) ? 2 : 1});
	json_putf(&j,
		"disposition %s disposition_id %ju metadata { version %s",
		denied ? "Blocked" : "Allowed", (uintmax_t)denied + 1, "1.8.0");
	put_uuid(&j, "correlation_uid", c);
	json_putf(&j,
		"product { name %s vendor_name %s } } device { type_id %ju } "
		"process { pid %ju",
		"wardbox", "wardbox", (uintmax_t)0, c->pid);
	put_text(&j, "cmd_line", &c->line);
	put_text(&j, "working_directory", &c->cwd);
	json_put_open(&j, "file", '{');
	put_text(&j, "path", &c->exe);
	json_putf(&j, "name %s type_id %ju } } actor { app_name %s }",
		c->argv.len ? c->argv.data : "", (uintmax_t)1, "wardbox");
	if (!launch)
		json_putf(&j, "exit_code %jd duration %ju", audit_exit(c),
			c->duration / 1000000);
	put_text(&j, "message", denied ? &c->reason : &c->rule);
	json_end(&j);
}

static void print_format(struct audit_out *o, struct audit_command *c)
{
	for (const char *p = o->a->format; *p; p++) {
		struct buf *text = NULL;
		const char *name;
		char space[48];

		if (*p != '%') {
			buf_addc(&o->out, *p);
			continue;
		}
		switch (*++p) {
		case 't':
			audit_put_local(
				&o->out, c->start_wall, o->a->utc, false);
			break;
		case 's':
			name = audit_names_find(o->names,
				c->has_session ? c->session : NULL, space);
			cli_escape(&o->out, name, strlen(name));
			break;
		case 'i':
			buf_addf(&o->out, "%ju", c->exec);
			break;
		case 'x':
			if (!c->ended || c->decision == AUDIT_DENY)
				buf_addc(&o->out, '-');
			else
				buf_addf(&o->out, "%jd", audit_exit(c));
			break;
		case 'd':
			audit_put_duration(&o->out, c->duration);
			break;
		case 'D':
			buf_adds(&o->out, audit_decision_name(c->decision));
			break;
		case 'c':
			text = &c->line;
			break;
		case 'w':
			text = &c->cwd;
			break;
		case 'r':
			text = &c->rule;
			break;
		default:
			buf_addc(&o->out, '%');
		}
		if (text && text->len)
			cli_escape(&o->out, text->data, text->len);
	}
	buf_addc(&o->out, '\n');
}

void audit_command_print(struct audit_out *o, struct audit_command *c)
{
	if (o->each) {
		o->each(o->each_state, c);
	} else if (o->form == OUT_CONTRACT) {
		print_contract(o, c);
	} else if (o->form == OUT_FORMAT) {
		print_format(o, c);
	} else if (o->form == OUT_OCSF) {
		print_ocsf(o, c, true);
		if (c->ended && c->decision != AUDIT_DENY)
			print_ocsf(o, c, false);
	}
	audit_command_done(c);
}
