/* ship_otlp.c - OTLP/HTTP as JSON
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "log/audit_read_json.h"
#include "ship/ship_in.h"

/* One attribute. */
static void put_attribute(struct json *j, const char *key, const char *value)
{
	json_putf(j, "{ key %s value { stringValue %s } }", key, value);
}

static void put_decimal(struct json *j, const char *key, uint64_t n)
{
	char text[24];

	json_put_str(j, key, BUF_PRINT(text, "%llu", (unsigned long long)n));
}

void ship_otlp_add(struct ship *s, const struct ship_facts *f)
{
	/* Its numbers for syslog's: alert, warning, info. */
	const bool alert = f->severity == SHIP_ALERT,
		   info = f->severity == SHIP_INFO;
	struct json j = JSON_INIT(&s->bytes);
	char text[64];
	struct buf uid = BUF_FIXED(text);

	buf_addc(&s->bytes, ',');
	json_open(&j, '{');
	put_decimal(&j, "timeUnixNano", f->wall);
	json_put_u64(&j, "severityNumber", alert ? 21 : info ? 9 : 13);
	json_put_str(&j, "severityText", alert ? "FATAL" : info ? "INFO" : "WARN");
	json_putf(&j, "body {");
	json_strn(json_key(&j, "stringValue"), f->json, f->json_len);
	json_close(&j);
	json_put_open(&j, "attributes", '[');
	put_attribute(&j, "wardbox.type", f->type);
	if (f->log_id) {
		audit_add_hex(&uid, f->log_id, AUDIT_ID);
		buf_addf(&uid, ":%llu", (unsigned long long)f->seq);
		put_attribute(&j, "log.record.uid", buf_str(&uid));
	}
	json_close(&j);
	json_close(&j);
}

/* What stands around the records. */
static void put_envelope(struct buf *out, const struct ship *s)
{
	struct json j = JSON_INIT(out);

	json_putf(&j, "{ resourceLogs [ { resource { attributes [");
	put_attribute(&j, "service.name", "wardbox");
	put_attribute(&j, "service.version", s->version);
	put_attribute(&j, "host.name", s->host);
	json_putf(&j, "] } scopeLogs [ { scope { name %s version %s } logRecords [",
		"wardbox.audit", s->version);
}
static const char envelope_end[] = "]}]}]}";

/* Reads until the answer is whole. */
static int read_answer(
	struct ship_link *w, struct ship_answer *a, struct diag *d)
{
	autobuf struct buf in = BUF_INIT(65536);
	int err = 0;

	while (!err) {
		char *to = buf_reserve(&in, 4096);
		ssize_t n = to ? link_read(w, to, 4096, d) : 0;

		if (n < 0)
			return (int)n;
		in.len += (size_t)n;
		err = ship_answer_read(a, buf_str(&in), in.len, n == 0);
		if (!err && n == 0)
			err = -EBADMSG;
	}
	return err > 0 ? 0
		       : diag_fail(d, -EBADMSG, "%s answers no HTTP",
				 w->ship->to.host);
}

/* The items [from, to) in one request. */
static int post_items(const struct ship *s, size_t from, size_t to,
	struct ship_answer *a, struct diag *d)
{
	/* Without the comma before the first one. */
	const size_t at = (from ? s->item[from - 1].end : 0) + 1,
		     n = s->item[to - 1].end - at;
	autoclean(link_release) struct ship_link w = {.fd = -1};
	autobuf struct buf head = BUF_INIT(65536), open = BUF_INIT(4096);
	const bool literal = strchr(s->to.host, ':') != NULL;
	int err;

	put_envelope(&open, s);
	buf_addf(&head, "POST %s HTTP/1.1\r\nHost: %s%s%s:%s\r\n"
			"User-Agent: wardbox/%s\r\nConnection: close\r\n"
			"Content-Type: application/json\r\n"
			"Content-Length: %zu\r\n%s\r\n",
		s->to.path, literal ? "[" : "", s->to.host, literal ? "]" : "",
		s->to.port, s->version,
		open.len + n + sizeof envelope_end - 1,
		s->headers ? s->headers : "");
	buf_add(&head, buf_str(&open), open.len);
	if (head.err)
		return diag_errno(d, head.err, "the head of a request");
	err = link_open(&w, s, d);
	if (!err)
		err = link_write(&w, head.data, head.len, d);
	if (!err)
		err = link_write(&w, s->bytes.data + at, n, d);
	if (!err)
		err = link_write(&w, envelope_end, sizeof envelope_end - 1, d);
	return err ? err : read_answer(&w, a, d);
}

static void tell_refused(struct ship *s, size_t from, size_t to, uint64_t count,
	const char *why)
{
	if (s->refused && count)
		s->refused(s->ctx, s->item[from].seq, s->item[to - 1].seq, count,
			why);
}

/* What came of a request for [from, to). 0: it is settled. -E2BIG: it is to be
 * divided. */
static int settle_items(struct ship *s, size_t from, size_t to,
	const struct ship_answer *a, struct diag *d)
{
	char text[256];
	struct buf why = BUF_FIXED(text);
	uint64_t refused = 0;

	if (a->status / 100 == 2) {
		if (ship_answer_partial(a, &refused, &why))
			return diag_fail(d, -EBADMSG, "%s answers %d, and not as"
				" a receiver of OTLP does", s->to.host, a->status);
		tell_refused(s, from, to, refused, buf_str(&why));
		return 0;
	}
	s->wait_s = a->retry_s;
	if (a->status != 400 && a->status != 413 && a->status != 422)
		return diag_fail(d, -EIO, "%s answers %d", s->to.host, a->status);
	if (to - from > 1)
		return -E2BIG;
	BUF_PRINT(text, "it answers %d", a->status);
	tell_refused(s, from, to, 1, text);
	return 0;
}

int ship_otlp_send(struct ship *s, struct diag *d)
{
	size_t to = s->count;

	while (s->done < s->count) {
		struct ship_answer a = {0};
		int err = post_items(s, s->done, to, &a, d);

		if (!err)
			err = settle_items(s, s->done, to, &a, d);
		if (err == -E2BIG) {
			to = s->done + (to - s->done) / 2;
			continue;
		}
		if (err)
			return err;
		s->done = to;
		to = s->count;
	}
	return 0;
}
