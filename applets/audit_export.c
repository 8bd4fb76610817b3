/* audit_export.c - forms for other programs: JSON, CSV, COSE
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "audit_out.h"
#include "audit_read_json.h"
#include "str.h"

/* Is name in the comma list? */
static bool listed(const char *list, const char *name)
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

		if (info && listed(list, info->name))
			audit_json_field(json_key(j, info->name), info,
				&r->field[i]);
	}
	json_close(j);
}

static void csv_text(struct audit_out *o, const char *s, size_t n)
{
	if (o->escape)
		cli_escape(&o->out, s, n);
	else
		buf_add(&o->out, s, n);
}

/* RFC 4180, and no cell that a spreadsheet takes for a formula. */
static void csv_cell(struct audit_out *o, const char *s, size_t n)
{
	struct buf *out = &o->out;
	bool quote = n && strchr("=+-@\t\r", s[0]);

	for (size_t i = 0; i < n && !quote; i++)
		quote = s[i] == '"' || s[i] == ',' || s[i] == '\n' ||
			s[i] == '\r';
	if (!quote) {
		csv_text(o, s, n);
		return;
	}
	buf_addc(out, '"');
	if (n && (strchr("=@\t\r", s[0]) ||
			 ((s[0] == '+' || s[0] == '-') &&
				 (n == 1 || !chr_digit(s[1])))))
		buf_addc(out, '\'');
	for (size_t i = 0; i < n; i++) {
		if (s[i] == '"')
			buf_addc(out, '"');
		csv_text(o, s + i, 1);
	}
	buf_addc(out, '"');
}

/* A field as text: JSON, without the quotes of a string. */
static void csv_field(struct audit_out *o, const struct audit_record *r,
	const struct audit_key_info *info)
{
	const struct audit_field *f = audit_field(r, (enum audit_key)info->key);
	autobuf struct buf text = BUF_INIT(8 * AUDIT_BODY_MAX);
	struct json j = JSON_INIT(&text);
	const char *s;

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
				!strncmp(audit_keys[i].name, list, n) &&
				r->type != AUDIT_PURGED)
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
