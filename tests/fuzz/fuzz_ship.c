/* fuzz_ship.c - what goes to receivers of the log, and what comes from them
 * SPDX-License-Identifier: MIT
 *
 * The first byte says what the rest is. "a": an answer of HTTP, which is read alike
 * however it is cut. "t": a target. Else the body of a record: whatever it is, its
 * messages are counted right, JSON, and no longer than they may be.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_read.h"
#include "base/num.h"
#include "ship/ship.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void answer(const char *text, size_t n)
{
	struct ship_answer a, again;
	struct buf why = BUF_INIT(4096);
	uint64_t refused;
	int got = ship_answer_read(&a, text, n, false);

	if (got > (int)n || (got > 0 && (a.status < 200 || a.status > 999 ||
						a.len > sizeof a.body)))
		abort();
	/* A piece of what is whole is never another whole, nor wrong. */
	for (int i = got > 64 ? got - 64 : 0; i < got; i++)
		if (ship_answer_read(&again, text, (size_t)i, false))
			abort();
	if (got <= 0)
		got = ship_answer_read(&a, text, n, true);
	if (got > 0 && !ship_answer_partial(&a, &refused, &why) && why.err)
		abort();
	buf_release(&why);
}

static void target(const char *text, size_t n)
{
	struct ship_target t;
	struct diag d;
	char *copy = strndup(text, n);
	unsigned port;

	if (copy && !ship_target_parse(&t, copy, &d) &&
		(t.kind == SHIP_FILE
				? !*t.path
				: !*t.host || num_uint(t.port, 1, 65535, &port) ||
					strpbrk(t.host, " \r\n/") ||
					strpbrk(t.path, " \r\n")))
		abort();
	free(copy);
}

static void json_check(const char *text, size_t n)
{
	autojson struct json_doc doc = {0};

	if (json_read(&doc, text, n, NULL) || json_type(&doc, 0) != JSON_OBJECT)
		abort();
}

static void messages(enum ship_kind kind, const struct audit_record *r)
{
	static struct ship s;
	char *space;
	uint64_t n;

	ship_init(&s);
	s.to.kind = kind;
	s.host = "a host\xff";
	s.version = "1";
	ship_add(&s, r);
	ship_note(&s, r->wall, "a note \xff\n");
	if (s.bytes.err || s.count != 2 || s.item[1].end != s.bytes.len)
		abort();
	if (kind == SHIP_SYSLOG) {
		space = memchr(s.bytes.data, ' ', s.item[0].end);
		*space = '\0';
		if (num_u64(s.bytes.data, 1, SHIP_SYSLOG_MAX, &n) ||
			space + 1 + n != s.bytes.data + s.item[0].end ||
			memchr(space + 1, '\n', n))
			abort();
	} else {
		json_check(s.bytes.data + 1, s.item[0].end - 1);
	}
	ship_clear(&s);
	ship_release(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t id[AUDIT_ID], link[AUDIT_HASH];
	struct audit_record r = {.log_id = id};

	if (size < 2 || size > 65536)
		return 0;
	if (*data == 'a') {
		answer((const char *)data + 1, size - 1);
	} else if (*data == 't') {
		target((const char *)data + 1, size - 1);
	} else {
		r.frame = (struct audit_frame){
			.body = data + 1, .body_len = size - 1, .link = link};
		if (!audit_record_parse(&r)) {
			messages(SHIP_SYSLOG, &r);
			messages(SHIP_OTLP, &r);
		}
	}
	return 0;
}
