/* audit_short.c - records as lines for people
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "audit_out.h"
#include "log/audit_read_json.h"
#include "base/num.h"
#include "sys/sig.h"
#include "base/str.h"

enum { LINE_SHOWN = 400 };

/* Text of the log, harmless on a terminal. */
static void add_safe(struct audit_out *o, const char *s, size_t n)
{
	if (o->escape)
		cli_escape(&o->out, s, n);
	else
		buf_add(&o->out, s, n);
}

static void add_item(struct audit_out *o, const struct cbor_item *item)
{
	if (item)
		add_safe(o, (const char *)item->bytes, (size_t)item->n);
}

static const char *paint_sgr(const struct audit_out *o, const char *code)
{
	return cli_sgr(o->colour, code);
}

static void add_stamp(struct audit_out *o, const struct audit_record *r)
{
	uint64_t gap = r->wall > o->last_wall ? r->wall - o->last_wall : 0;

	if (o->form == OUT_SHORT_DELTA) {
		if (!o->last_wall)
			gap = 0;
		buf_addf(&o->out, "[%6ju.%06ju]", gap / 1000000000,
			gap / 1000 % 1000000);
	} else {
		audit_put_local(&o->out, r->wall, o->a->utc,
			o->form == OUT_SHORT);
	}
	o->last_wall = r->wall;
}

static void add_intro(struct audit_out *o, const struct audit_record *r)
{
	char space[48];
	const char *name = audit_names_find(o->names, r->session, space);

	buf_adds(&o->out, paint_sgr(o, "2"));
	add_stamp(o, r);
	buf_addc(&o->out, ' ');
	add_safe(o, name, strlen(name));
	if (r->exec)
		buf_addf(&o->out, "[%ju]", r->exec);
	buf_addf(&o->out, "%s ", paint_sgr(o, "0"));
}

static void short_start(struct audit_out *o, const struct audit_record *r)
{
	autobuf struct buf line = BUF_INIT(4 * AUDIT_BODY_MAX);
	uint64_t decision = audit_uint(r, AUDIT_K_DECISION, 99);
	const struct cbor_item *rule = audit_text(r, AUDIT_K_RULE);
	const struct cbor_item *why = audit_text(r, AUDIT_K_REASON);
	const char *code = decision == AUDIT_ALLOW ? "32"
		: decision == AUDIT_DENY           ? "1;31"
						   : "33";
	size_t shown;

	audit_add_command(&line, r);
	shown = o->a->all || line.len < LINE_SHOWN ? line.len : LINE_SHOWN;
	buf_addf(&o->out, "%s%-5s%s ", paint_sgr(o, code),
		audit_decision_name(decision), paint_sgr(o, "0"));
	add_safe(o, buf_str(&line), shown);
	if (shown < line.len)
		buf_addf(&o->out, " ... (%zu bytes)", line.len);
	if (rule && rule->n && (decision != AUDIT_ALLOW || o->a->all)) {
		buf_addf(&o->out, "%s  # ", paint_sgr(o, "2"));
		add_item(o, rule);
		if (why && why->n)
			buf_adds(&o->out, ": ");
		add_item(o, why);
		buf_adds(&o->out, paint_sgr(o, "0"));
	}
	buf_addc(&o->out, '\n');
}

static void short_io(struct audit_out *o, const struct audit_record *r)
{
	const struct cbor_item *data = audit_text(r, AUDIT_K_DATA);
	uint64_t gap = audit_uint(r, AUDIT_K_GAP, 0), left;
	const char *name = audit_stream_name(audit_uint(r, AUDIT_K_STREAM, 99));
	const char *p;

	if (gap)
		buf_addf(&o->out, "%s (%ju bytes left out)\n", name, gap);
	if (!data)
		return;
	p = (const char *)data->bytes;
	for (left = data->n; left;) {
		const char *end = memchr(p, '\n', (size_t)left);
		size_t n = end ? (size_t)(end - p) : (size_t)left;
		size_t shown = o->a->all || n < LINE_SHOWN ? n : LINE_SHOWN;

		if (p != (const char *)data->bytes || gap)
			add_intro(o, r);
		buf_addf(&o->out, "%s| ", name);
		add_safe(o, p, shown);
		if (shown < n)
			buf_addf(&o->out, " ... (%zu bytes)", n);
		buf_addc(&o->out, '\n');
		n += end != NULL;
		p += n;
		left -= n;
	}
	if (!data->n)
		buf_addf(&o->out, "%s|\n", name);
}

static void add_flags(struct audit_out *o, uint64_t flags)
{
	static const char *const words[] = {
		"truncated", "timed out", "out of memory", "killed"};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (flags >> i & 1)
			buf_addf(&o->out, ", %s", words[i]);
}

static void short_end(struct audit_out *o, const struct audit_record *r)
{
	int64_t code = audit_int(r, AUDIT_K_EXIT, -1);
	uint64_t sig = audit_uint(r, AUDIT_K_SIGNAL, 0);
	char space[16];
	const char *name =
		sig < 128 ? sig_name((int)sig, space, sizeof space) : NULL;

	buf_adds(&o->out, paint_sgr(o, sig || code ? "31" : "32"));
	if (sig)
		buf_addf(&o->out, "killed by %s%s", name ? "SIG" : "",
			name ? name : "an unknown signal");
	else
		buf_addf(&o->out, "exit %lld", (long long)code);
	buf_addf(&o->out, "%s after ", paint_sgr(o, "0"));
	audit_put_duration(&o->out, audit_uint(r, AUDIT_K_DURATION, 0));
	add_flags(o, audit_uint(r, AUDIT_K_FLAGS, 0));
	buf_addc(&o->out, '\n');
}

static void add_json(
	struct audit_out *o, const struct audit_record *r, enum audit_key key)
{
	const struct audit_field *f = audit_field(r, key);
	autobuf struct buf text = BUF_INIT(8 * AUDIT_BODY_MAX);
	struct json j = JSON_INIT(&text);

	if (!f)
		return;
	audit_json_field(&j, audit_key_info((int64_t)key), f);
	buf_addc(&o->out, ' ');
	add_safe(o, buf_str(&text), text.len);
}

static void short_other(struct audit_out *o, const struct audit_record *r)
{
	switch (r->type) {
	case AUDIT_EVENT:
		add_item(o, audit_text(r, AUDIT_K_EVENT));
		add_json(o, r, AUDIT_K_DETAIL);
		break;
	case AUDIT_HEADER:
		buf_adds(&o->out, "segment begins, log");
		add_json(o, r, AUDIT_K_LOG);
		break;
	case AUDIT_CKPT:
		buf_adds(&o->out, "checkpoint");
		if (o->a->all)
			add_json(o, r, AUDIT_K_PAYLOAD);
		break;
	case AUDIT_RECOVER:
		buf_addf(&o->out, "%srecovered%s", paint_sgr(o, "1;31"),
			paint_sgr(o, "0"));
		add_json(o, r, AUDIT_K_LOST);
		break;
	case AUDIT_PRUNED:
		buf_adds(&o->out, "old segments deleted");
		add_json(o, r, AUDIT_K_PRUNED);
		break;
	case AUDIT_PURGED:
		buf_addf(&o->out, "record %ju expunged, see %ju", r->seq,
			r->field[1].item.n);
		break;
	default:
		buf_addf(&o->out, "record of kind %ju", r->type);
	}
	buf_addc(&o->out, '\n');
}

bool audit_out_shows(const struct audit_out *o, const struct audit_record *r)
{
	uint64_t stream;

	if (o->form <= OUT_SHORT_DELTA)
		return o->a->all || o->a->type ||
			(r->type != AUDIT_CKPT && r->type != AUDIT_HEADER);
	if (o->form != OUT_CAT)
		return true;
	stream = audit_uint(r, AUDIT_K_STREAM, 99);
	return r->type == AUDIT_IO &&
		(o->a->only || stream == AUDIT_OUT || stream == AUDIT_ERR ||
			stream == AUDIT_TTYOUT);
}

void audit_short(struct audit_out *o, const struct audit_record *r)
{
	if (!audit_out_shows(o, r))
		return;
	add_intro(o, r);
	if (r->type == AUDIT_START)
		short_start(o, r);
	else if (r->type == AUDIT_IO)
		short_io(o, r);
	else if (r->type == AUDIT_END)
		short_end(o, r);
	else
		short_other(o, r);
}

void audit_verbose(struct audit_out *o, const struct audit_record *r)
{
	audit_put_local(&o->out, r->wall, o->a->utc, false);
	buf_addf(&o->out, " [seq=%ju;segment=%016jx;offset=%ju]\n", r->seq,
		r->segment, r->offset);
	if (r->type == AUDIT_PURGED) {
		buf_addf(&o->out, "    TYPE=purged\n    BY=%ju\n",
			r->field[1].item.n);
		return;
	}
	for (unsigned i = 0; i < r->fields; i++) {
		const struct audit_field *f = &r->field[i];
		const struct audit_key_info *info = audit_key_info(f->key);
		autobuf struct buf text = BUF_INIT(8 * AUDIT_BODY_MAX);
		struct json j = JSON_INIT(&text);

		audit_json_field(&j, info, f);
		buf_adds(&o->out, "    ");
		if (info)
			for (const char *c = info->name; *c; c++)
				buf_addc(&o->out,
					*c >= 'a' && *c <= 'z' ? (char)(*c - 32)
							       : *c);
		else
			buf_addf(&o->out, "K%lld", (long long)f->key);
		buf_addc(&o->out, '=');
		add_safe(o, buf_str(&text), text.len);
		buf_addc(&o->out, '\n');
	}
}

void audit_cat(struct audit_out *o, const struct audit_record *r)
{
	const struct cbor_item *data = audit_text(r, AUDIT_K_DATA);

	if (!data || !audit_out_shows(o, r))
		return;
	if (o->escape)
		audit_put_lines(&o->out, (const char *)data->bytes,
			(size_t)data->n);
	else
		buf_add(&o->out, data->bytes, (size_t)data->n);
}
