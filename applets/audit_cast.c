/* audit_cast.c - a command as an asciicast v3 recording
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "audit_out.h"
#include "base/num.h"
#include "base/str.h"

/* The asciicast code of a stream, or 0. */
static char cast_code(uint64_t stream)
{
	switch (stream) {
	case AUDIT_IN:
	case AUDIT_TTYIN:
		return 'i';
	case AUDIT_OUT:
	case AUDIT_ERR:
	case AUDIT_TTYOUT:
		return 'o';
	case AUDIT_WINSIZE:
		return 'r';
	default:
		return 0;
	}
}

static void put_header(struct audit_out *o, const struct audit_record *r)
{
	autobuf struct buf line = BUF_INIT(4 * AUDIT_BODY_MAX);
	struct json j = JSON_INIT(&o->out);

	audit_add_command(&line, r);
	json_putf(&j, "{ version %ju term { cols %ju rows %ju } timestamp %ju",
		(uintmax_t)3, (uintmax_t)80, (uintmax_t)24,
		r->wall / 1000000000);
	json_strn(json_key(&j, "command"), buf_str(&line), line.len);
	json_end(&j);
}

/* [seconds since the last event, code, data] */
static void put_event(struct audit_out *o, uint64_t at, char code,
	const char *data, size_t n)
{
	uint64_t gap = at > o->cast_at ? at - o->cast_at : 0;
	const char text[2] = {code, '\0'};
	struct json j = JSON_INIT(&o->out);
	char number[32];
	struct buf b = BUF_FIXED(number);

	buf_addf(&b, "%ju.%06ju", gap / 1000000000, gap / 1000 % 1000000);
	json_open(&j, '[');
	json_raw(&j, b.data, b.len);
	json_str(&j, text);
	json_strn(&j, data, n);
	json_end(&j);
	if (gap)
		o->cast_at = at;
}

/* A recording holds one command: the first that comes. */
void audit_cast(struct audit_out *o, const struct audit_record *r)
{
	const struct cbor_item *data = audit_text(r, AUDIT_K_DATA);
	char code;

	if (r->type == AUDIT_START && !o->cast &&
		audit_uint(r, AUDIT_K_DECISION, 0) != AUDIT_DENY) {
		o->cast = r->seq;
		put_header(o, r);
	}
	if (!o->cast || r->exec != o->cast)
		return;
	if (r->type == AUDIT_IO && data) {
		code = cast_code(audit_uint(r, AUDIT_K_STREAM, 99));
		if (code)
			put_event(o, audit_uint(r, AUDIT_K_AT, 0), code,
				(const char *)data->bytes, (size_t)data->n);
	}
	if (r->type == AUDIT_END) {
		char text[24];
		struct buf b = BUF_FIXED(text);

		buf_addf(&b, "%lld", (long long)audit_int(r, AUDIT_K_EXIT, -1));
		put_event(o, audit_uint(r, AUDIT_K_DURATION, o->cast_at), 'x',
			buf_str(&b), b.len);
	}
}
