/* audit_read_json.h - records by name: JSON, and the table of keys
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_AUDIT_READ_JSON_H
#define WARDBOX_AUDIT_READ_JSON_H

#include "log/audit_read.h"
#include "base/json.h"

/* The form in which a key's value is shown. */
enum audit_form {
	AUDIT_FORM_PLAIN, /* as CBOR has it; byte strings in hexadecimal */
	AUDIT_FORM_TEXT,  /* the same, byte strings are text that is not UTF-8 */
	AUDIT_FORM_TYPE,
	AUDIT_FORM_TIME, /* ns since 1970 as RFC 3339 */
	AUDIT_FORM_DECISION,
	AUDIT_FORM_STREAM,
	AUDIT_FORM_DATA, /* text, or base64 as NAME_b64 when it is not UTF-8 */
	AUDIT_FORM_USAGE,
	AUDIT_FORM_TOTALS,
	AUDIT_FORM_FLAGS,
	AUDIT_FORM_LOST,
	AUDIT_FORM_PRUNED,
	AUDIT_FORM_PAYLOAD,
};

struct audit_key_info {
	uint8_t key;
	uint8_t form; /* enum audit_form */
	const char *name;
	const char *about; /* CDDL type, and the meaning */
};
extern const struct audit_key_info audit_keys[];
extern const unsigned audit_keys_count;

/* The facts about a key; NULL for an unknown one. */
const struct audit_key_info *audit_key_info(int64_t key);
const char *audit_type_name(uint64_t type);
const char *audit_decision_name(uint64_t decision);
const char *audit_stream_name(uint64_t stream);
/* Parses such a name; -EINVAL. */
int audit_stream_parse(const char *name);
int audit_decision_parse(const char *name);

/* "2026-11-18T10:22:01.123456789Z" from ns since 1970, UTC. */
void audit_add_time(struct buf *out, uint64_t ns);
/* The same as a member; null for 0, no time. */
void audit_json_time(struct json *j, const char *key, uint64_t ns);
void audit_add_hex(struct buf *out, const uint8_t *p, size_t n);
/* The UUID of a command: version 8, from the log's id and its start's seq. */
void audit_add_uuid(
	struct buf *out, const uint8_t log_id[static AUDIT_ID], uint64_t exec);

/* Writes a record as a JSON object with all its keys. */
void audit_json(struct json *j, const struct audit_record *r);
/* One field, its name and its value. */
void audit_json_put(struct json *j, const struct audit_field *f);
/* One field's value. */
void audit_json_field(struct json *j, const struct audit_key_info *info,
	const struct audit_field *f);

#endif
