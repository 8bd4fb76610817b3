/* audit_read_record.c - a body taken apart
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <string.h>

#include "log/audit_read.h"

static int add_field(struct audit_record *r, struct cbor_in *in)
{
	struct audit_field *f = &r->field[r->fields];

	/* The key is read into the place of the value first. Most keys are one
	 * byte. */
	if (in->p < in->end && *in->p < 24) {
		f->key = *in->p++;
	} else {
		if (cbor_next(in, &f->item) || f->item.n > INT64_MAX ||
			f->item.major > CBOR_NEGATIVE)
			return -EBADMSG;
		f->key = (int64_t)f->item.n;
		if (f->item.major == CBOR_NEGATIVE)
			f->key = -1 - f->key;
	}
	f->raw = in->p;
	if (cbor_next(in, &f->item))
		return -EBADMSG;
	if (f->item.major >= CBOR_ARRAY && f->item.major <= CBOR_TAG) {
		in->p = f->raw;
		if (cbor_skip(in))
			return -EBADMSG;
	}
	f->raw_len = (size_t)(in->p - f->raw);
	r->fields++;
	return 0;
}

/* [leaf, seq, by]: the rest of an expunged record. */
static int parse_purged(struct audit_record *r, struct cbor_in *in)
{
	struct cbor_item leaf, seq, by;

	if (cbor_next(in, &leaf) || leaf.major != CBOR_BYTES ||
		leaf.n != AUDIT_HASH || cbor_next(in, &seq) ||
		seq.major != CBOR_UINT || cbor_next(in, &by) ||
		by.major != CBOR_UINT || in->p != in->end)
		return -EBADMSG;
	r->type = AUDIT_PURGED;
	r->seq = seq.n;
	r->fields = 2;
	r->field[0] = (struct audit_field){.key = 0, .item = leaf};
	r->field[1] = (struct audit_field){.key = 1, .item = by};
	return 0;
}

/* Keys ascend: 0 1 2, then -1 -2. */
static bool in_order(int64_t before, int64_t key)
{
	if ((before < 0) != (key < 0))
		return key < 0;
	return before < 0 ? key < before : key > before;
}

static int take_common(struct audit_record *r)
{
	for (unsigned i = 0; i < r->fields; i++) {
		const struct audit_field *f = &r->field[i];
		const bool number = f->item.major == CBOR_UINT;

		if (i && !in_order(f[-1].key, f->key))
			return -EBADMSG;
		if (f->key <= AUDIT_K_BOOT && f->key >= 0 && !number)
			return -EBADMSG;
		if (f->key == AUDIT_K_BOOT)
			r->boot = f->item.n;
		if (f->key == AUDIT_K_SESSION) {
			if (f->item.major != CBOR_BYTES || f->item.n != AUDIT_ID)
				return -EBADMSG;
			r->session = f->item.bytes;
		}
		if (f->key == AUDIT_K_EXEC) {
			if (!number)
				return -EBADMSG;
			r->exec = f->item.n;
		}
		if (f->key > AUDIT_K_EXEC)
			break;
	}
	return 0;
}

int audit_record_parse(struct audit_record *r)
{
	const uint8_t *body = r->frame.body;
	struct cbor_in in = {.p = body, .end = body + r->frame.body_len};
	struct cbor_item map;

	r->fields = 0;
	r->session = NULL;
	r->type = r->seq = r->wall = r->boot = r->exec = 0;
	if (cbor_next(&in, &map))
		return -EBADMSG;
	if (map.major == CBOR_ARRAY && map.n == 3)
		return parse_purged(r, &in);
	if (map.major != CBOR_MAP || map.n > AUDIT_FIELDS)
		return -EBADMSG;
	while (map.n--)
		if (add_field(r, &in))
			return -EBADMSG;
	if (in.p != in.end || r->fields < 3 || take_common(r))
		return -EBADMSG;
	for (unsigned i = 0; i < 3; i++)
		if (r->field[i].key != (int64_t)i)
			return -EBADMSG;
	r->type = r->field[AUDIT_K_TYPE].item.n;
	r->seq = r->field[AUDIT_K_SEQ].item.n;
	r->wall = r->field[AUDIT_K_WALL].item.n;
	if (r->type == AUDIT_START)
		r->exec = r->seq;
	return r->type == AUDIT_PURGED ? -EBADMSG : 0;
}

bool audit_link_cut(const uint8_t link[static AUDIT_HASH],
	const uint8_t right[static AUDIT_HASH])
{
	size_t n = AUDIT_HASH;

	while (n && !link[n - 1])
		n--;
	return n < AUDIT_HASH && memcmp(link, right, n) == 0;
}

bool audit_frame_follows(const struct audit_frame *f, const struct keys_hw *hw,
	uint64_t seq, uint8_t link[static AUDIT_HASH], struct audit_intro *in)
{
	uint8_t leaf[AUDIT_HASH], next[AUDIT_HASH];

	if (hw->crc(f->body, f->body_len) != f->crc ||
		audit_intro(in, f->body, f->body_len) || in->seq != seq)
		return false;
	keys_leaf(hw, f->body, f->body_len, leaf);
	keys_link(hw, link, leaf, next);
	if (memcmp(next, f->link, AUDIT_HASH) != 0)
		return false;
	memcpy(link, next, AUDIT_HASH);
	return true;
}

const struct audit_field *audit_field(
	const struct audit_record *r, enum audit_key key)
{
	for (unsigned i = 0; i < r->fields; i++)
		if (r->field[i].key == (int64_t)key)
			return &r->field[i];
	return NULL;
}

const struct cbor_item *audit_bytes(
	const struct audit_record *r, enum audit_key key)
{
	const struct audit_field *f = audit_field(r, key);

	return f && f->item.major == CBOR_BYTES ? &f->item : NULL;
}

int audit_lost_numbers(const struct audit_record *r, uint64_t n[static 4])
{
	const struct audit_field *f = audit_field(r, AUDIT_K_LOST);
	struct cbor_in in;
	struct cbor_item item;

	if (!f || f->item.major != CBOR_ARRAY || f->item.n != 6)
		return -EBADMSG;
	in = (struct cbor_in){.p = f->raw, .end = f->raw + f->raw_len};
	if (cbor_next(&in, &item))
		return -EBADMSG;
	for (unsigned i = 0; i < 4; i++) {
		if (cbor_next(&in, &item) || item.major != CBOR_UINT)
			return -EBADMSG;
		n[i] = item.n;
	}
	return 0;
}

const struct cbor_item *audit_text(
	const struct audit_record *r, enum audit_key key)
{
	const struct audit_field *f = audit_field(r, key);

	return f && f->item.bytes ? &f->item : NULL;
}

uint64_t audit_uint(const struct audit_record *r, enum audit_key key,
	uint64_t otherwise)
{
	const struct audit_field *f = audit_field(r, key);

	return f && f->item.major == CBOR_UINT ? f->item.n : otherwise;
}

int64_t audit_int(const struct audit_record *r, enum audit_key key,
	int64_t otherwise)
{
	const struct audit_field *f = audit_field(r, key);

	if (!f || f->item.n > INT64_MAX)
		return otherwise;
	if (f->item.major == CBOR_UINT)
		return (int64_t)f->item.n;
	if (f->item.major == CBOR_NEGATIVE)
		return -1 - (int64_t)f->item.n;
	return otherwise;
}

const struct cbor_item *audit_detail(const struct audit_record *r,
	const char *name, struct cbor_item *value)
{
	const struct audit_field *f = audit_field(r, AUDIT_K_DETAIL);
	struct cbor_in in;
	struct cbor_item map, key;

	if (!f || f->item.major != CBOR_MAP)
		return NULL;
	in = (struct cbor_in){.p = f->raw, .end = f->raw + f->raw_len};
	if (cbor_next(&in, &map))
		return NULL;
	while (map.n-- && !cbor_next(&in, &key)) {
		struct cbor_in peek = in;

		if (cbor_next(&peek, value) || cbor_skip(&in))
			return NULL;
		if (key.major == CBOR_TEXT && key.n == strlen(name) &&
			memcmp(key.bytes, name, strlen(name)) == 0)
			return value;
	}
	return NULL;
}

bool audit_event_is(const struct audit_record *r, const char *name)
{
	const struct cbor_item *event = audit_text(r, AUDIT_K_EVENT);

	return event && event->n == strlen(name) &&
		memcmp(event->bytes, name, strlen(name)) == 0;
}

int audit_intro(struct audit_intro *in, const uint8_t *body, size_t n)
{
	struct cbor_in at = {.p = body, .end = body + n};
	uint64_t *slot[] = {&in->type, &in->seq, &in->wall};
	struct cbor_item item;

	if (cbor_next(&at, &item) || item.major != CBOR_MAP || item.n < 3)
		return -EBADMSG;
	for (uint64_t key = AUDIT_K_TYPE; key <= AUDIT_K_WALL; key++) {
		if (cbor_next(&at, &item) || item.major != CBOR_UINT ||
			item.n != key)
			return -EBADMSG;
		if (cbor_next(&at, &item) || item.major != CBOR_UINT)
			return -EBADMSG;
		*slot[key] = item.n;
	}
	return 0;
}
