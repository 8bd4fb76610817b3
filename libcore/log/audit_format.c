/* audit_format.c - the log's files as bytes: keys, frames, the head
 * SPDX-License-Identifier: MIT
 */
#include "log/audit_format_in.h"

#include <errno.h>
#include <string.h>

#include "base/cbor.h"
#include "base/num.h"
#include "base/str.h"

static const uint8_t head_magic[8] = "wbaudit\1";
/* The head: magic, ids, numbers, hashes; their checksum; zeros. */
enum {
	HEAD_CRC = 8 + 2 * AUDIT_ID + 8 * 8 + 6 * AUDIT_HASH,
	/* Behind the checksum, where older heads have zeros. */
	HEAD_MARK = HEAD_CRC + 4,
};

static uint8_t *put_bytes(uint8_t *p, const void *bytes, size_t n)
{
	memcpy(p, bytes, n);
	return p + n;
}

static uint8_t *put_be(uint8_t *p, uint64_t v, unsigned width)
{
	while (width--)
		*p++ = (uint8_t)(v >> 8 * width);
	return p;
}

static const uint8_t *get_bytes(const uint8_t *p, void *bytes, size_t n)
{
	memcpy(bytes, p, n);
	return p + n;
}

static uint64_t get_be(const uint8_t *p, unsigned width)
{
	uint64_t v = 0;

	while (width--)
		v = v << 8 | *p++;
	return v;
}

void audit_head_pack(const struct audit_head *h,
	uint8_t out[static AUDIT_HEAD], crc32c_fn *crc)
{
	const uint64_t numbers[] = {h->next, h->segment, h->end, h->synced,
		h->epoch, h->epoch_first, h->ckpt_wall, h->segment_wall};
	const uint8_t *hashes[] = {
		h->link, h->agg, h->rk, h->sk, h->enext, h->pin};
	uint8_t *p = out;

	memset(out, 0, AUDIT_HEAD);
	p = put_bytes(p, head_magic, sizeof head_magic);
	p = put_bytes(p, h->boot_id, AUDIT_ID);
	p = put_bytes(p, h->log_id, AUDIT_ID);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		p = put_be(p, numbers[i], 8);
	for (size_t i = 0; i < ARRAY_SIZE(hashes); i++)
		p = put_bytes(p, hashes[i], AUDIT_HASH);
	put_be(out + HEAD_CRC, crc(out, HEAD_CRC), 4);
	put_bytes(out + HEAD_MARK, h->mark, AUDIT_HASH);
}

int audit_head_parse(struct audit_head *h,
	const uint8_t in[static AUDIT_HEAD], crc32c_fn *crc)
{
	uint64_t *numbers[] = {&h->next, &h->segment, &h->end, &h->synced,
		&h->epoch, &h->epoch_first, &h->ckpt_wall, &h->segment_wall};
	uint8_t *hashes[] = {h->link, h->agg, h->rk, h->sk, h->enext, h->pin};
	const uint8_t *p = in + sizeof head_magic;

	if (memcmp(in, head_magic, sizeof head_magic) != 0 ||
		get_be(in + HEAD_CRC, 4) != crc(in, HEAD_CRC))
		return -EBADMSG;
	p = get_bytes(p, h->boot_id, AUDIT_ID);
	p = get_bytes(p, h->log_id, AUDIT_ID);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++, p += 8)
		*numbers[i] = get_be(p, 8);
	for (size_t i = 0; i < ARRAY_SIZE(hashes); i++)
		p = get_bytes(p, hashes[i], AUDIT_HASH);
	get_bytes(in + HEAD_MARK, h->mark, AUDIT_HASH);
	return 0;
}

/* Takes a byte string of the wanted length. */
static int take_bytes(struct cbor_in *in, struct cbor_item *item, uint64_t min,
	uint64_t max)
{
	struct cbor_in at = *in;
	int err = cbor_next(in, item);

	if (err == -EAGAIN && at.p < at.end) {
		/* A string that is cut short: could it be the right one? */
		if (at.p[0] >> 5 != CBOR_BYTES || (item->n > max))
			return -EBADMSG;
		return -EAGAIN;
	}
	if (err)
		return err;
	if (item->major != CBOR_BYTES || item->n < min || item->n > max)
		return -EBADMSG;
	return 0;
}

int audit_frame_parse(struct audit_frame *f, const uint8_t *p, size_t n)
{
	struct cbor_in in = {.p = p, .end = p + n};
	__attribute__((uninitialized)) struct cbor_item item;
	int err;

	err = cbor_next(&in, &item);
	if (err)
		return err;
	if (item.major != CBOR_ARRAY || item.n != 3)
		return -EBADMSG;
	err = take_bytes(&in, &item, 4, 4);
	if (err)
		return err;
	f->crc = (uint32_t)get_be(item.bytes, 4);
	err = take_bytes(&in, &item, 1, AUDIT_BODY_MAX);
	if (err)
		return err;
	f->body = item.bytes;
	f->body_len = (size_t)item.n;
	err = take_bytes(&in, &item, AUDIT_HASH, AUDIT_HASH);
	if (err)
		return err;
	f->link = item.bytes;
	f->len = (size_t)(in.p - p);
	return 0;
}

void audit_frame_open(struct buf *out, size_t body_len)
{
	cbor_put_array(out, 3);
	cbor_put_bytes(out, "\0\0\0", 4);
	cbor_put_bytes_head(out, body_len);
}

void audit_frame_close(
	struct buf *out, uint32_t crc, const uint8_t link[static AUDIT_HASH])
{
	if (!out->err)
		put_be((uint8_t *)out->data + 2, crc, 4);
	cbor_put_bytes(out, link, AUDIT_HASH);
}

const uint8_t audit_protected[AUDIT_PROTECTED] = {0xa1, 0x01, 0x26};

void audit_sig_hash(const struct keys_hw *hw, const uint8_t *payload, size_t n,
	uint8_t hash[static AUDIT_HASH])
{
	char space[512];
	struct buf b = BUF_FIXED(space);

	cbor_put_array(&b, 4);
	cbor_put_text(&b, "Signature1", 10);
	cbor_put_bytes(&b, audit_protected, AUDIT_PROTECTED);
	cbor_put_bytes(&b, "aud1", 4);
	cbor_put_bytes(&b, payload, n);
	if (b.err)
		memset(hash, 0, AUDIT_HASH);
	else
		keys_hash2(hw, b.data, b.len, "", 0, hash);
}

int audit_hex(char c)
{
	return chr_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool audit_id_parse(uint8_t id[static AUDIT_ID], const char *text)
{
	size_t digits = 0;

	for (; *text; text++) {
		const char c = *text;
		int v = audit_hex(c);

		if (c == '-' && (digits == 8 || digits == 12 || digits == 16 ||
					digits == 20))
			continue;
		if (v < 0 || digits == 2 * AUDIT_ID)
			return false;
		id[digits / 2] = (uint8_t)(id[digits / 2] << 4 | v);
		digits++;
	}
	return digits == 2 * AUDIT_ID;
}

void audit_segment_name(char out[static AUDIT_NAME], uint64_t first)
{
	static const char digits[] = "0123456789abcdef";

	for (unsigned i = 0; i < 16; i++)
		out[i] = digits[first >> (60 - 4 * i) & 15];
	memcpy(out + 16, ".aud", 5);
}

int audit_segment_parse(const char *name, uint64_t *first)
{
	char digits[17];

	if (strnlen(name, AUDIT_NAME) != AUDIT_NAME - 1 ||
		!str_eq(name + 16, ".aud"))
		return -EINVAL;
	for (unsigned i = 0; i < 16; i++) {
		digits[i] = name[i];
		if (name[i] >= 'A' && name[i] <= 'F')
			return -EINVAL;
	}
	digits[16] = '\0';
	return num_hex64(digits, first);
}
