/* cbor.c - deterministic CBOR (RFC 8949 4.2.1), thin over tinycbor
 * SPDX-License-Identifier: MIT
 */
#include "base/cbor.h"

#include <cbor.h>
#include <errno.h>
#include <string.h>

#include "base/utf8.h"

enum { HEAD_MAX = 9, SMALL_MAP = 23, UNDEFINED = 23 };

/* A tinycbor encoder over room bytes at the end of b. */
static bool open_encoder(CborEncoder *e, struct buf *b, size_t room)
{
	char *to = buf_reserve(b, room);

	if (to)
		cbor_encoder_init(e, (uint8_t *)to, room, 0);
	return to != NULL;
}

static void finish_item(CborEncoder *e, struct buf *b, CborError err)
{
	if (err)
		b->err = -EINVAL;
	else
		b->len += cbor_encoder_get_buffer_size(
			e, (const uint8_t *)b->data + b->len);
}

/* Writes a head of one byte, as most are, without tinycbor. */
static bool put_small(struct buf *b, enum cbor_major major, uint64_t n)
{
	if (n >= 24)
		return false;
	buf_addc(b, (char)((unsigned)major << 5 | n));
	return true;
}

void cbor_put_uint(struct buf *b, uint64_t v)
{
	CborEncoder e;

	if (!put_small(b, CBOR_UINT, v) && open_encoder(&e, b, HEAD_MAX))
		finish_item(&e, b, cbor_encode_uint(&e, v));
}

void cbor_put_int(struct buf *b, int64_t v)
{
	CborEncoder e;

	if (open_encoder(&e, b, HEAD_MAX))
		finish_item(&e, b, cbor_encode_int(&e, v));
}

void cbor_put_bytes(struct buf *b, const void *p, size_t n)
{
	CborEncoder e;

	if (open_encoder(&e, b, HEAD_MAX + n))
		finish_item(&e, b, cbor_encode_byte_string(&e, p, n));
}

void cbor_put_bytes_head(struct buf *b, size_t n)
{
	const size_t at = b->len;

	cbor_put_uint(b, n);
	if (!b->err)
		b->data[at] = (char)(b->data[at] | CBOR_BYTES << 5);
}

void cbor_put_bool(struct buf *b, bool v)
{
	CborEncoder e;

	if (open_encoder(&e, b, HEAD_MAX))
		finish_item(&e, b, cbor_encode_boolean(&e, v));
}

void cbor_put_text(struct buf *b, const char *s, size_t n)
{
	CborEncoder e;

	if (!utf8_valid(s, n))
		cbor_put_bytes(b, s, n);
	else if (open_encoder(&e, b, HEAD_MAX + n))
		finish_item(&e, b, cbor_encode_text_string(&e, s, n));
}

void cbor_put_array(struct buf *b, size_t n)
{
	CborEncoder e, inner;

	if (!put_small(b, CBOR_ARRAY, n) && open_encoder(&e, b, HEAD_MAX))
		finish_item(&inner, b, cbor_encoder_create_array(&e, &inner, n));
}

void cbor_put_map(struct buf *b, size_t n)
{
	CborEncoder e, inner;

	if (!put_small(b, CBOR_MAP, n) && open_encoder(&e, b, HEAD_MAX))
		finish_item(&inner, b, cbor_encoder_create_map(&e, &inner, n));
}

struct cbor_map cbor_map_open(struct buf *b)
{
	struct cbor_map m = {.out = b, .at = b->len, .last = -1};

	buf_addc(b, (char)(CBOR_MAP << 5));
	return m;
}

struct buf *cbor_key(struct cbor_map *m, int key)
{
	if (key <= m->last || m->count == SMALL_MAP)
		m->out->err = m->out->err ? m->out->err : -EINVAL;
	m->last = key;
	m->count++;
	cbor_put_uint(m->out, (uint64_t)key);
	return m->out;
}

void cbor_map_close(struct cbor_map *m)
{
	if (!m->out->err)
		m->out->data[m->at] = (char)(CBOR_MAP << 5 | m->count);
}

/* Reads every byte of a log. The fields are set one by one, because clearing
 * the struct costs more than everything else. */
int cbor_next(struct cbor_in *in, struct cbor_item *item)
{
	const uint8_t *p = in->p;
	unsigned first;
	uint64_t n;

	item->n = 0;
	item->bytes = NULL;
	item->major = 0;
	if (p == in->end)
		return -EAGAIN;
	first = *p++;
	n = first & 31;
	item->major = (uint8_t)(first >> 5);
	if (n >= 24) {
		/* The argument is in 1 2 4 8 bytes, no more than it needs. */
		const unsigned width = 1u << (n - 24);

		if (n > 27 || item->major == CBOR_SIMPLE)
			return -EBADMSG;
		if ((size_t)(in->end - p) < width)
			return -EAGAIN;
		n = 0;
		for (unsigned i = 0; i < width; i++)
			n = n << 8 | p[i];
		p += width;
		if (n < (width == 1 ? 24 : UINT64_C(1) << 4 * width))
			return -EBADMSG;
	}
	item->n = n;
	if (item->major == CBOR_BYTES || item->major == CBOR_TEXT) {
		if (n > (uint64_t)(in->end - p))
			return -EAGAIN;
		item->bytes = p;
		p += n;
	}
	in->p = p;
	return 0;
}

int cbor_skip(struct cbor_in *in)
{
	/* Items to skip at each level. */
	__attribute__((uninitialized)) uint64_t left[CBOR_DEPTH];
	__attribute__((uninitialized)) struct cbor_item item;
	unsigned depth = 0;

	left[0] = 1;
	for (;;) {
		int err;

		while (!left[depth]) {
			if (!depth)
				return 0;
			depth--;
		}
		left[depth]--;
		/* A small number. */
		if (in->p < in->end && *in->p < 24) {
			in->p++;
			continue;
		}
		err = cbor_next(in, &item);
		if (err)
			return err;
		if (item.major < CBOR_ARRAY || item.major > CBOR_TAG)
			continue;
		/* Each item takes at least a byte, so a larger count is a
		 * lie. */
		if (item.n > (uint64_t)(in->end - in->p) &&
			item.major != CBOR_TAG)
			return -EAGAIN;
		if (++depth == CBOR_DEPTH)
			return -EBADMSG;
		left[depth] = item.major == CBOR_TAG ? 1
			: item.major == CBOR_MAP     ? 2 * item.n
						     : item.n;
	}
}

/* Does the key a[0..an) stand before b[0..bn) in a map? */
static bool key_before(const uint8_t *a, size_t an, const uint8_t *b, size_t bn)
{
	const int order = memcmp(a, b, an < bn ? an : bn);

	return order < 0 || (!order && an < bn);
}

/* Checks one item; depth is the level of its parts. cbor_next refuses heads
 * that are too long, floats, and indefinite lengths. */
static int check_item(struct cbor_in *in, unsigned depth)
{
	const uint8_t *last = NULL;
	size_t last_len = 0;
	struct cbor_item item;
	int err = cbor_next(in, &item);

	if (err || depth == CBOR_DEPTH)
		return -EBADMSG;
	switch (item.major) {
	case CBOR_TEXT:
		return utf8_valid((const char *)item.bytes, (size_t)item.n)
			? 0
			: -EBADMSG;
	case CBOR_SIMPLE:
		return item.n == UNDEFINED ? -EBADMSG : 0;
	case CBOR_TAG:
		return check_item(in, depth + 1);
	case CBOR_ARRAY:
		while (!err && item.n--)
			err = check_item(in, depth + 1);
		return err;
	case CBOR_MAP:
		break;
	default:
		return 0;
	}
	while (!err && item.n--) {
		const uint8_t *key = in->p;

		err = check_item(in, depth + 1);
		if (!err && last && !key_before(last, last_len, key,
					    (size_t)(in->p - key)))
			return -EBADMSG;
		last = key;
		last_len = (size_t)(in->p - key);
		err = err ? err : check_item(in, depth + 1);
	}
	return err;
}

int cbor_check(const uint8_t *p, size_t n)
{
	struct cbor_in in = {.p = p, .end = p + n};

	return check_item(&in, 0) || in.p != in.end ? -EBADMSG : 0;
}
