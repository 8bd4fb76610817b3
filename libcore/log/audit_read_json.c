/* audit_read_json.c - records as JSON
 * SPDX-License-Identifier: MIT
 */
#include "log/audit_read_json.h"

#include <string.h>
#include <time.h>

#include "base/base64.h"
#include "base/str.h"
#include "base/utf8.h"

void audit_add_hex(struct buf *out, const uint8_t *p, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	char *to = buf_reserve(out, 2 * n);

	if (!to)
		return;
	for (size_t i = 0; i < n; i++) {
		to[2 * i] = digits[p[i] >> 4];
		to[2 * i + 1] = digits[p[i] & 15];
	}
	out->len += 2 * n;
}

void audit_add_uuid(
	struct buf *out, const uint8_t log_id[static AUDIT_ID], uint64_t exec)
{
	uint8_t u[AUDIT_ID];

	memcpy(u, log_id, 8);
	for (unsigned i = 0; i < 8; i++)
		u[8 + i] = (uint8_t)(exec >> (56 - 8 * i));
	u[6] = (u[6] & 0x0f) | 0x80;
	u[8] = (u[8] & 0x3f) | 0x80;
	for (unsigned i = 0; i < AUDIT_ID; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			buf_addc(out, '-');
		audit_add_hex(out, u + i, 1);
	}
}

static char *put_two(char *p, int v, char behind)
{
	p[0] = (char)('0' + v / 10 % 10);
	p[1] = (char)('0' + v % 10);
	p[2] = behind;
	return p + 3;
}

void audit_add_time(struct buf *out, uint64_t ns)
{
	const time_t s = (time_t)(ns / 1000000000);
	unsigned rest = (unsigned)(ns % 1000000000);
	char text[32], *p = text;
	struct tm t = {0};

	gmtime_r(&s, &t);
	put_two(p, (t.tm_year + 1900) / 100, 0);
	p = put_two(p + 2, t.tm_year % 100, '-');
	p = put_two(p, t.tm_mon + 1, '-');
	p = put_two(p, t.tm_mday, 'T');
	p = put_two(p, t.tm_hour, ':');
	p = put_two(p, t.tm_min, ':');
	p = put_two(p, t.tm_sec, '.');
	for (unsigned i = 9; i--; rest /= 10)
		p[i] = (char)('0' + rest % 10);
	p[9] = 'Z';
	buf_add(out, text, (size_t)(p + 10 - text));
}

/* Writes a value that is text in JSON, with quotes. */
static void put_string(
	struct json *j, void (*add)(struct buf *, const uint8_t *, size_t),
	const uint8_t *p, size_t n)
{
	json_raw(j, "\"", 1);
	add(j->out, p, n);
	buf_addc(j->out, '"');
}

static void put_plain(
	struct json *j, struct cbor_in *in, unsigned depth, bool text);

/* Keys of maps are text or numbers; in JSON only text. */
static void put_key(struct json *j, struct cbor_in *in)
{
	autobuf struct buf name = BUF_INIT(AUDIT_BODY_MAX);
	struct cbor_item k;

	if (cbor_next(in, &k))
		return;
	if (k.major == CBOR_TEXT || k.major == CBOR_BYTES)
		buf_add(&name, k.bytes, (size_t)k.n);
	else
		buf_addf(&name, "%ju", k.n);
	if (memchr(buf_str(&name), '\0', name.len))
		name.len = strlen(name.data);
	json_key(j, buf_str(&name));
}

static void put_container(
	struct json *j, struct cbor_in *in, const struct cbor_item *item,
	unsigned depth, bool text)
{
	json_open(j, item->major == CBOR_MAP ? '{' : '[');
	for (uint64_t i = 0; i < item->n && !j->out->err; i++) {
		if (item->major == CBOR_MAP)
			put_key(j, in);
		put_plain(j, in, depth + 1, text);
	}
	json_close(j);
}

/* Writes an item as it is; bad bytes of text that is not UTF-8 are replaced.
 * cbor_skip refused items that are nested too deep. */
static void put_plain(
	struct json *j, struct cbor_in *in, unsigned depth, bool text)
{
	struct cbor_item item;

	if (depth > CBOR_DEPTH || cbor_next(in, &item)) {
		json_null(j);
		return;
	}
	switch ((enum cbor_major)item.major) {
	case CBOR_UINT:
		json_u64(j, item.n);
		return;
	case CBOR_NEGATIVE:
		if (item.n < INT64_MAX)
			json_i64(j, -1 - (int64_t)item.n);
		else
			json_null(j);
		return;
	case CBOR_TEXT:
		json_strn(j, (const char *)item.bytes, (size_t)item.n);
		return;
	case CBOR_BYTES:
		if (text)
			json_strn(j, (const char *)item.bytes, (size_t)item.n);
		else
			put_string(j, audit_add_hex, item.bytes, (size_t)item.n);
		return;
	case CBOR_ARRAY:
	case CBOR_MAP:
		put_container(j, in, &item, depth, text);
		return;
	case CBOR_TAG:
		put_plain(j, in, depth + 1, text);
		return;
	case CBOR_SIMPLE:
		break;
	}
	if (item.n == 20 || item.n == 21)
		json_bool(j, item.n == 21);
	else
		json_null(j);
}

/* Writes the items of a list, each with its name. */
static void put_named(struct json *j, struct cbor_in *in,
	const char *const *names, size_t n, bool map)
{
	struct cbor_item list;

	json_open(j, '{');
	if (!cbor_next(in, &list)) {
		for (uint64_t i = 0; i < list.n && !j->out->err; i++) {
			struct cbor_item key = {.n = i};

			if (map && cbor_next(in, &key))
				break;
			if (key.n < n) {
				json_key(j, names[key.n]);
				put_plain(j, in, 1, false);
			} else if (cbor_skip(in)) {
				break;
			}
		}
	}
	json_close(j);
}

static void put_totals(struct json *j, struct cbor_in *in)
{
	static const char *const names[] = {"total", "kept", "sha256"};
	struct cbor_item map, key, peek;

	json_open(j, '{');
	if (!cbor_next(in, &map) && map.major == CBOR_MAP) {
		for (uint64_t i = 0; i < map.n && !j->out->err; i++) {
			struct cbor_in at;

			if (cbor_next(in, &key))
				break;
			json_key(j, audit_stream_name(key.n));
			at = *in;
			if (cbor_next(&at, &peek) || peek.major != CBOR_ARRAY) {
				put_plain(j, in, 1, false);
				continue;
			}
			put_named(j, in, names, ARRAY_SIZE(names), false);
		}
	}
	json_close(j);
}

static void put_flags(struct json *j, uint64_t flags)
{
	static const char *const names[] = {
		"truncated", "timeout", "oom", "killed"};

	json_open(j, '[');
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (flags >> i & 1)
			json_str(j, names[i]);
	json_close(j);
}

static void put_pruned(struct json *j, struct cbor_in *in)
{
	static const char *const names[] = {"first", "last", "link"};
	struct cbor_item list, peek;

	json_open(j, '[');
	if (!cbor_next(in, &list) && list.major == CBOR_ARRAY) {
		for (uint64_t i = 0; i < list.n && !j->out->err; i++) {
			struct cbor_in at = *in;

			if (cbor_next(&at, &peek) || peek.major != CBOR_ARRAY)
				break;
			put_named(j, in, names, ARRAY_SIZE(names), false);
		}
	}
	json_close(j);
}

static void put_payload(struct json *j, const struct cbor_item *item)
{
	static const char *const names[] = {"epoch", "first", "last", "link",
		"aggregate", "next_key", "time_ns"};
	struct cbor_in in = {.p = item->bytes, .end = item->bytes + item->n};
	struct cbor_in at = in;

	if (cbor_skip(&at) || *in.p >> 5 != CBOR_MAP)
		put_string(j, audit_add_hex, item->bytes, (size_t)item->n);
	else
		put_named(j, &in, names, ARRAY_SIZE(names), true);
}

static void put_words(struct json *j, const struct audit_key_info *info,
	const struct audit_field *f)
{
	static const char *const usage[] = {"utime_us", "stime_us",
		"maxrss_kib", "minflt", "majflt", "inblock", "oublock", "nvcsw",
		"nivcsw"};
	static const char *const lost[] = {
		"why", "expected", "found", "bytes", "sha256", "sample"};
	struct cbor_in in = {.p = f->raw, .end = f->raw + f->raw_len};

	if (info->form == AUDIT_FORM_TOTALS)
		put_totals(j, &in);
	else if (info->form == AUDIT_FORM_PRUNED)
		put_pruned(j, &in);
	else if (f->item.major != CBOR_ARRAY)
		put_plain(j, &in, 0, false);
	else if (info->form == AUDIT_FORM_USAGE)
		put_named(j, &in, usage, ARRAY_SIZE(usage), false);
	else
		put_named(j, &in, lost, ARRAY_SIZE(lost), false);
}

static void put_time(struct json *j, uint64_t ns)
{
	json_raw(j, "\"", 1);
	audit_add_time(j->out, ns);
	buf_addc(j->out, '"');
}

void audit_json_time(struct json *j, const char *key, uint64_t ns)
{
	json_key(j, key);
	if (ns)
		put_time(j, ns);
	else
		json_str(j, NULL);
}

/* Forms that are numbers in the record. */
static bool put_number_form(
	struct json *j, enum audit_form form, const struct cbor_item *item)
{
	if (item->major != CBOR_UINT)
		return false;
	if (form == AUDIT_FORM_TYPE)
		json_str(j, audit_type_name(item->n));
	else if (form == AUDIT_FORM_TIME)
		put_time(j, item->n);
	else if (form == AUDIT_FORM_DECISION)
		json_str(j, audit_decision_name(item->n));
	else if (form == AUDIT_FORM_STREAM)
		json_str(j, audit_stream_name(item->n));
	else if (form == AUDIT_FORM_FLAGS)
		put_flags(j, item->n);
	else
		return false;
	return true;
}

void audit_json_field(struct json *j, const struct audit_key_info *info,
	const struct audit_field *f)
{
	struct cbor_in in = {.p = f->raw, .end = f->raw + f->raw_len};
	enum audit_form form =
		info ? (enum audit_form)info->form : AUDIT_FORM_PLAIN;

	if (put_number_form(j, form, &f->item))
		return;
	if (form == AUDIT_FORM_USAGE || form == AUDIT_FORM_TOTALS ||
		form == AUDIT_FORM_LOST || form == AUDIT_FORM_PRUNED)
		put_words(j, info, f);
	else if (form == AUDIT_FORM_PAYLOAD && f->item.major == CBOR_BYTES &&
		f->item.n)
		put_payload(j, &f->item);
	else if (form == AUDIT_FORM_DATA && f->item.bytes)
		json_strn(j, (const char *)f->item.bytes, (size_t)f->item.n);
	else
		put_plain(j, &in, 0, form == AUDIT_FORM_TEXT);
}

void audit_json_put(struct json *j, const struct audit_field *f)
{
	const struct audit_key_info *info = audit_key_info(f->key);
	char name[32];
	struct buf b = BUF_FIXED(name);

	if (!info) {
		buf_addf(&b, "k%jd", (intmax_t)f->key);
		audit_json_field(json_key(j, buf_str(&b)), NULL, f);
		return;
	}
	if (info->form == AUDIT_FORM_DATA && f->item.bytes &&
		!utf8_valid((const char *)f->item.bytes, (size_t)f->item.n)) {
		json_key(j, "data_b64");
		put_string(j, base64_add, f->item.bytes, (size_t)f->item.n);
		return;
	}
	audit_json_field(json_key(j, info->name), info, f);
}

void audit_json(struct json *j, const struct audit_record *r)
{
	json_open(j, '{');
	if (r->type == AUDIT_PURGED) {
		json_put_str(j, "type", "purged");
		json_put_u64(j, "seq", r->seq);
		json_put_u64(j, "by", r->field[1].item.n);
	} else {
		for (unsigned i = 0; i < r->fields; i++)
			audit_json_put(j, &r->field[i]);
	}
	json_close(j);
}
