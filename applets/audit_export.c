/* audit_export.c - forms for other programs: JSON, CSV, COSE
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "audit_out.h"
#include "log/audit_read_json.h"
#include "base/str.h"
#include "base/utf8.h"

/* Is name in the comma list? */
static bool field_listed(const char *list, const char *name)
{
	size_t n = strlen(name);

	while (*list) {
		size_t len = strcspn(list, ",");

		if (len == n && memcmp(list, name, n) == 0)
			return true;
		list += len + (list[len] == ',');
	}
	return false;
}

void audit_json_some(
	struct audit_out *o, struct json *j, const struct audit_record *r)
{
	const char *list = o->a->fields;

	if (!list || r->type == AUDIT_PURGED) {
		audit_json(j, r);
		return;
	}
	json_open(j, '{');
	for (unsigned i = 0; i < r->fields; i++) {
		const struct audit_key_info *info =
			audit_key_info(r->field[i].key);

		if (info && field_listed(list, info->name))
			audit_json_field(json_key(j, info->name), info,
				&r->field[i]);
	}
	json_close(j);
}

/* How many bytes at s every reader of CSV takes as they are; 0: they are no
 * UTF-8, a control, or what a terminal should not get. */
static size_t csv_plain(const struct audit_out *o, const char *s, size_t n)
{
	uint32_t cp = 0;
	size_t len = utf8_decode(s, n, &cp);

	if (len > 1)
		return o->escape && utf8_is_hidden(cp) ? 0 : len;
	if (!len || cp == 0x7f || !cp)
		return 0;
	return cp >= ' ' || (!o->escape && strchr("\t\r\n", (int)cp)) ? 1 : 0;
}

/* "=1+1", "-2+3": a spreadsheet reckons with it. A number is one. */
static bool cell_reckons(const char *s, size_t n)
{
	if (!n || !s[0] || !strchr("=+-@\t\r", s[0]))
		return false;
	if (s[0] != '+' && s[0] != '-')
		return true;
	for (size_t i = 1; i < n; i++)
		if (!chr_digit(s[i]) && s[i] != '.')
			return true;
	return n == 1;
}

/* RFC 4180, and no cell that a spreadsheet takes for a formula. */
static void csv_cell(struct audit_out *o, const char *s, size_t n)
{
	struct buf *out = &o->out;
	const bool reckons = cell_reckons(s, n);
	bool quote = reckons;

	for (size_t i = 0; i < n && !quote; i++)
		quote = s[i] && strchr("\",\n\r", s[i]);
	buf_adds(out, quote ? "\"" : "");
	buf_adds(out, reckons ? "'" : "");
	for (size_t i = 0, len; i < n; i += len) {
		len = csv_plain(o, s + i, n - i);
		if (s[i] == '"')
			buf_addc(out, '"');
		if (len) {
			buf_add(out, s + i, len);
		} else {
			len = utf8_decode(s + i, n - i, &(uint32_t){0});
			len += !len;
			cli_escape(out, s + i, len);
		}
	}
	buf_adds(out, quote ? "\"" : "");
}

/* A field as text: JSON, without the quotes of a string. */
static void csv_field(struct audit_out *o, const struct audit_record *r,
	const struct audit_key_info *info)
{
	const struct audit_field *f = r->type == AUDIT_PURGED
		? NULL
		: audit_field(r, (enum audit_key)info->key);
	autobuf struct buf text = BUF_INIT(8 * AUDIT_BODY_MAX);
	struct json j = JSON_INIT(&text);
	const char *s;

	/* All that is known of what was expunged. */
	if (r->type == AUDIT_PURGED && info->key == AUDIT_K_SEQ)
		buf_addf(&o->out, "%ju", r->seq);
	if (r->type == AUDIT_PURGED && info->key == AUDIT_K_TYPE)
		buf_adds(&o->out, audit_type_name(r->type));
	if (!f)
		return;
	if (info->key == AUDIT_K_ARGV) {
		audit_add_command(&text, r);
		csv_cell(o, buf_str(&text), text.len);
		return;
	}
	if (f->item.major == CBOR_TEXT || info->form == AUDIT_FORM_DATA) {
		csv_cell(o, (const char *)f->item.bytes, (size_t)f->item.n);
		return;
	}
	audit_json_field(&j, info, f);
	s = buf_str(&text);
	if (text.len > 1 && s[0] == '"')
		csv_cell(o, s + 1, text.len - 2);
	else
		csv_cell(o, s, text.len);
}

void audit_csv(struct audit_out *o, const struct audit_record *r)
{
	const char *list = o->a->fields
		? o->a->fields
		: "seq,time,type,session,exec,pid,argv,cwd,exe,decision,rule,"
		  "exit,signal,duration_ns,stream,data,event,detail";
	bool first = true;

	while (*list) {
		size_t n = strcspn(list, ",");

		if (!first)
			buf_addc(&o->out, ',');
		first = false;
		if (!r)
			buf_add(&o->out, list, n);
		for (unsigned i = 0; r && i < audit_keys_count; i++)
			if (strlen(audit_keys[i].name) == n &&
				!strncmp(audit_keys[i].name, list, n))
				csv_field(o, r, &audit_keys[i]);
		list += n + (list[n] == ',');
	}
	buf_adds(&o->out, "\r\n");
}

/* A checkpoint as RFC 9052's COSE_Sign1: tag 18, [protected, {}, payload,
 * signature]; "aud1" is the external data. */
void audit_cose(struct audit_out *o, const struct audit_record *r)
{
	const struct cbor_item *payload = audit_bytes(r, AUDIT_K_PAYLOAD);
	const struct cbor_item *sig = audit_bytes(r, AUDIT_K_SIGNATURE);
	const struct cbor_item *prot = audit_bytes(r, AUDIT_K_PROTECTED);

	if (r->type != AUDIT_CKPT || !payload || !sig || !prot)
		return;
	buf_addc(&o->out, (char)0xd2);
	cbor_put_array(&o->out, 4);
	cbor_put_bytes(&o->out, prot->bytes, (size_t)prot->n);
	cbor_put_map(&o->out, 0);
	cbor_put_bytes(&o->out, payload->bytes, (size_t)payload->n);
	cbor_put_bytes(&o->out, sig->bytes, (size_t)sig->n);
}
