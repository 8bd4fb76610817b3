/* ship.c - a batch of records on its way
 * SPDX-License-Identifier: MIT
 */
#include "ship/ship_in.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "log/audit_read_json.h"

enum {
	/* Room for the names of the fields that were left out. */
	LEFT_OUT_MAX = 1024,
	/* JSON within JSON: each byte may become seven. */
	BATCH_MAX = SHIP_BYTES + 8 * SHIP_JSON_MAX,
};

void ship_init(struct ship *s)
{
	*s = (struct ship){.dir = -1, .bytes = BUF_INIT(BATCH_MAX)};
}

void ship_release(struct ship *s)
{
	cleanup_fd(&s->dir);
	buf_release(&s->bytes);
}

bool ship_full(const struct ship *s)
{
	return s->count == SHIP_ITEMS || s->bytes.len >= SHIP_BYTES;
}

static void item_end(struct ship *s, uint64_t seq, uint64_t segment)
{
	s->item[s->count++] = (struct ship_item){
		.end = s->bytes.len, .seq = seq, .segment = segment};
}

/* The fields of a record as far as they fit into max bytes, and the names of the
 * others. */
static void put_fields(struct json *j, const struct audit_record *r, size_t max)
{
	uint32_t left_out = 0;

	for (unsigned i = 0; i < r->fields; i++) {
		const struct json before = *j;
		const size_t len = j->out->len;

		audit_json_put(j, &r->field[i]);
		if (!j->out->err && j->out->len + LEFT_OUT_MAX <= max)
			continue;
		*j = before;
		j->out->err = 0;
		j->out->len = len;
		left_out |= UINT32_C(1) << i;
	}
	if (!left_out)
		return;
	json_put_open(j, "left_out", '[');
	for (unsigned i = 0; i < r->fields; i++) {
		const struct audit_key_info *info =
			audit_key_info(r->field[i].key);

		if (left_out >> i & 1)
			json_str(j, info ? info->name : "?");
	}
	json_close(j);
}

static void put_record(struct buf *out, const struct audit_record *r, size_t max)
{
	char text[2 * AUDIT_ID + 1];
	struct buf id = BUF_FIXED(text);
	struct json j = JSON_INIT(out);

	audit_add_hex(&id, r->log_id, AUDIT_ID);
	json_open(&j, '{');
	json_put_str(&j, "log", buf_str(&id));
	if (r->type == AUDIT_PURGED) {
		json_put_str(&j, "type", audit_type_name(r->type));
		json_put_u64(&j, "seq", r->seq);
		json_put_u64(&j, "by", r->field[1].item.n);
	} else {
		put_fields(&j, r, max);
	}
	json_close(&j);
}

static enum ship_severity record_severity(const struct audit_record *r)
{
	if (r->type == AUDIT_RECOVER || r->type == AUDIT_PRUNED ||
		r->type == AUDIT_PURGED)
		return SHIP_WARNING;
	return r->type == AUDIT_START &&
			audit_uint(r, AUDIT_K_DECISION, AUDIT_ALLOW) == AUDIT_DENY
		? SHIP_WARNING
		: SHIP_INFO;
}

static void add_message(struct ship *s, const struct ship_facts *f)
{
	if (s->to.kind == SHIP_SYSLOG)
		ship_syslog_add(s, f);
	else
		ship_otlp_add(s, f);
}

void ship_add(struct ship *s, const struct audit_record *r)
{
	const size_t max = s->to.kind == SHIP_SYSLOG
		? SHIP_SYSLOG_MAX - 512
		: SHIP_JSON_MAX;
	autobuf struct buf json = BUF_INIT(2 * SHIP_JSON_MAX);
	struct ship_facts f = {
		.severity = record_severity(r),
		.type = audit_type_name(r->type),
		.wall = r->wall,
		.seq = r->seq,
		.pid = audit_uint(r, AUDIT_K_PID, 0),
		.log_id = r->log_id,
	};

	if (s->to.kind == SHIP_FILE) {
		buf_add(&s->bytes, r->frame.link + AUDIT_HASH - r->frame.len,
			r->frame.len);
	} else {
		put_record(&json, r, max);
		f.json = buf_str(&json);
		f.json_len = json.len;
		add_message(s, &f);
	}
	item_end(s, r->seq, r->segment);
}

void ship_note(struct ship *s, uint64_t wall, const char *text)
{
	autobuf struct buf json = BUF_INIT(8192);
	struct json j = JSON_INIT(&json);
	struct ship_facts f = {
		.severity = SHIP_ALERT, .type = "note", .wall = wall};

	if (s->to.kind == SHIP_FILE)
		return;
	json_open(&j, '{');
	json_put_str(&j, "type", f.type);
	json_put_str(&j, "text", text);
	json_close(&j);
	f.json = buf_str(&json);
	f.json_len = json.len;
	add_message(s, &f);
	item_end(s, 0, 0);
}

int ship_send(struct ship *s, struct diag *d)
{
	if (s->done == s->count)
		return 0;
	s->wait_s = 0;
	if (s->bytes.err)
		return diag_errno(d, s->bytes.err, "a batch of records");
	if (s->to.kind == SHIP_SYSLOG)
		return ship_syslog_send(s, d);
	return s->to.kind == SHIP_OTLP ? ship_otlp_send(s, d)
				       : ship_file_send(s, d);
}

void ship_clear(struct ship *s)
{
	buf_clear(&s->bytes);
	s->count = s->done = 0;
}
