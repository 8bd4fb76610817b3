/* ship_syslog.c - RFC 5424 over TCP (RFC 6587) and TLS (RFC 5425)
 * SPDX-License-Identifier: MIT
 */
#include "base/str.h"
#include "log/audit_read_json.h"
#include "ship/ship_in.h"

enum {
	FACILITY_AUDIT = 13,
	SEQUENCE_MAX = 2147483647,
};

/* Printable and without blanks, as the header's words are; "-" for nothing. */
static void put_word(struct buf *out, const char *word, size_t max)
{
	const size_t from = out->len;

	for (const char *p = word; *p && out->len - from < max; p++)
		if (*p > ' ' && *p < 0x7f)
			buf_addc(out, *p);
	if (out->len == from)
		buf_addc(out, '-');
}

/* Microseconds are the finest that a header has. */
static void put_stamp(struct buf *out, uint64_t wall)
{
	audit_add_time(out, wall);
	if (out->len < 4)
		return;
	out->len -= 4;
	buf_addc(out, 'Z');
}

void ship_syslog_add(struct ship *s, const struct ship_facts *f)
{
	autobuf struct buf m = BUF_INIT(SHIP_SYSLOG_MAX + 1);

	buf_addf(&m, "<%d>1 ", FACILITY_AUDIT * 8 + (int)f->severity);
	put_stamp(&m, f->wall);
	buf_addc(&m, ' ');
	put_word(&m, s->host, 255);
	buf_adds(&m, " wardbox ");
	if (f->pid)
		buf_addu(&m, f->pid);
	else
		buf_addc(&m, '-');
	buf_addc(&m, ' ');
	put_word(&m, f->type, 32);
	buf_addf(&m, " [meta sequenceId=\"%llu\"]"
		     "[origin software=\"wardbox\" swVersion=\"%s\"] ",
		(unsigned long long)(s->messages++ % SEQUENCE_MAX + 1),
		s->version);
	buf_add(&m, f->json, f->json_len);
	buf_addf(&s->bytes, "%zu ", m.len);
	buf_add(&s->bytes, buf_str(&m), m.len);
}

int ship_syslog_send(struct ship *s, struct diag *d)
{
	autoclean(link_release) struct ship_link w = {.fd = -1};
	int err = link_open(&w, s, d);

	if (!err)
		err = link_write(&w, s->bytes.data, s->bytes.len, d);
	if (!err)
		err = link_finish(&w, d);
	if (!err)
		s->done = s->count;
	return err;
}
