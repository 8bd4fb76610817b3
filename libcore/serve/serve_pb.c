/* serve_pb.c - fields of Protocol Buffers
 * SPDX-License-Identifier: MIT
 */
#include "serve/serve_pb.h"

#include <string.h>

#include "base/utf8.h"

enum { WIRE_NUMBER, WIRE_64, WIRE_BYTES, WIRE_32 = 5, VARINT_MAX = 10 };

static bool read_varint(struct pb *p, uint64_t *value)
{
	*value = 0;
	for (unsigned i = 0; i < VARINT_MAX && p->at < p->end; i++) {
		unsigned char byte = *p->at++;

		*value |= (uint64_t)(byte & 127) << 7 * i;
		if (byte < 128)
			/* The tenth has one bit of 64. */
			return i < VARINT_MAX - 1 || byte <= 1;
	}
	return false;
}

static bool read_fixed(struct pb *p, size_t n, uint64_t *value)
{
	if ((size_t)(p->end - p->at) < n)
		return false;
	*value = 0;
	for (size_t i = n; i--;)
		*value = *value << 8 | p->at[i];
	p->at += n;
	return true;
}

static bool read_bytes(struct pb *p, struct pb_field *f)
{
	uint64_t n;

	if (!read_varint(p, &n) || n > (size_t)(p->end - p->at))
		return false;
	f->is_bytes = true;
	f->bytes = PB_INIT(p->at, n);
	p->at += n;
	return true;
}

bool pb_next(struct pb *p, struct pb_field *f)
{
	uint64_t tag;
	bool good;

	if (p->bad || p->at == p->end)
		return false;
	*f = (struct pb_field){0};
	good = read_varint(p, &tag) && tag >> 3 && tag >> 3 <= UINT32_MAX >> 3;
	f->number = (uint32_t)(tag >> 3);
	if (good && (tag & 7) == WIRE_NUMBER)
		good = read_varint(p, &f->value);
	else if (good && (tag & 7) == WIRE_BYTES)
		good = read_bytes(p, f);
	else if (good)
		good = ((tag & 7) == WIRE_64 || (tag & 7) == WIRE_32) &&
			read_fixed(p, (tag & 7) == WIRE_64 ? 8 : 4, &f->value);
	p->bad = !good;
	return good;
}

const char *pb_text(const struct pb_field *f, size_t *n)
{
	const char *text = (const char *)f->bytes.at;

	*n = (size_t)(f->bytes.end - f->bytes.at);
	if (!f->is_bytes || (*n && memchr(text, '\0', *n)) ||
		!utf8_valid(text, *n))
		return NULL;
	return text;
}

static size_t varint_bytes(unsigned char bytes[static VARINT_MAX], uint64_t value)
{
	size_t n = 0;

	for (; value >= 128; value >>= 7)
		bytes[n++] = (unsigned char)(value | 128);
	bytes[n++] = (unsigned char)value;
	return n;
}

static void add_varint(struct buf *out, uint64_t value)
{
	unsigned char bytes[VARINT_MAX];

	buf_add(out, bytes, varint_bytes(bytes, value));
}

void pb_put(struct buf *out, uint32_t number, uint64_t value)
{
	if (!value)
		return;
	add_varint(out, (uint64_t)number << 3 | WIRE_NUMBER);
	add_varint(out, value);
}

void pb_put_head(struct buf *out, uint32_t number, size_t n)
{
	add_varint(out, (uint64_t)number << 3 | WIRE_BYTES);
	add_varint(out, n);
}

size_t pb_head_size(uint32_t number, size_t n)
{
	unsigned char bytes[VARINT_MAX];

	return varint_bytes(bytes, (uint64_t)number << 3) + varint_bytes(bytes, n);
}

void pb_put_bytes(struct buf *out, uint32_t number, const void *bytes, size_t n)
{
	if (!n)
		return;
	pb_put_head(out, number, n);
	buf_add(out, bytes, n);
}

void pb_put_text(struct buf *out, uint32_t number, const char *text)
{
	pb_put_bytes(out, number, text, strlen(text));
}
