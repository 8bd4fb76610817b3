/* page_gzip.c - undoes gzip (RFC 1952) and deflate (RFC 1951)
 * SPDX-License-Identifier: MIT
 */
#include "page/page.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

enum {
	HEAD = 10,
	TAIL = 8,
	BITS_MAX = 15, /* of a code */
	LENGTHS = 288,
	DISTANCES = 32,
	END_OF_BLOCK = 256,
	LENGTH_LAST = 28, /* of the symbols behind END_OF_BLOCK: 258, the longest */
	DISTANCE_LAST = 29,
};

struct bits {
	const unsigned char *p;
	size_t n, at;
	uint32_t held;
	unsigned count; /* of bits in held */
	int err;
};

/* How many codes there are of each length, and their symbols in order. */
struct codes {
	uint16_t count[BITS_MAX + 1], symbol[LENGTHS];
};

static unsigned bits_take(struct bits *b, unsigned n)
{
	unsigned value;

	while (b->count < n) {
		if (b->at == b->n) {
			b->err = -EBADMSG;
			return 0;
		}
		b->held |= (uint32_t)b->p[b->at++] << b->count;
		b->count += 8;
	}
	value = b->held & ((1u << n) - 1);
	b->held >>= n;
	b->count -= n;
	return value;
}

static void codes_make(struct codes *c, const uint8_t *length, unsigned n)
{
	uint16_t at[BITS_MAX + 1] = {0};

	memset(c->count, 0, sizeof c->count);
	for (unsigned i = 0; i < n; i++)
		c->count[length[i]]++;
	c->count[0] = 0;
	for (unsigned i = 1; i < BITS_MAX; i++)
		at[i + 1] = (uint16_t)(at[i] + c->count[i]);
	for (unsigned i = 0; i < n; i++)
		if (length[i])
			c->symbol[at[length[i]]++] = (uint16_t)i;
}

/* The next symbol, a bit at a time: codes of one length are numbers in a row. */
static unsigned codes_next(const struct codes *c, struct bits *b)
{
	unsigned code = 0, first = 0, index = 0;

	for (unsigned n = 1; n <= BITS_MAX && !b->err; n++) {
		code |= bits_take(b, 1);
		if (code - first < c->count[n])
			return c->symbol[index + code - first];
		index += c->count[n];
		first = (first + c->count[n]) << 1;
		code <<= 1;
	}
	b->err = -EBADMSG;
	return END_OF_BLOCK;
}

/* A length or distance: symbols in groups, each group with one more extra bit than
 * the one before. */
static unsigned number_take(struct bits *b, unsigned symbol, unsigned group,
	unsigned base)
{
	unsigned extra = symbol < 2 * group ? 0 : symbol / group - 1;

	if (!extra)
		return base + symbol;
	return base + ((group + symbol % group) << extra) + bits_take(b, extra);
}

static void copy_back(struct buf *out, size_t begin, unsigned distance,
	unsigned length, struct bits *b)
{
	if (distance > out->len - begin) {
		b->err = -EBADMSG;
		return;
	}
	while (length-- && !out->err)
		buf_addc(out, out->data[out->len - distance]);
}

static void read_block(struct bits *b, const struct codes *lengths,
	const struct codes *distances, struct buf *out, size_t begin)
{
	unsigned symbol;

	while ((symbol = codes_next(lengths, b)) != END_OF_BLOCK && !b->err &&
		!out->err) {
		unsigned length, distance;

		if (symbol < END_OF_BLOCK) {
			buf_addc(out, (char)symbol);
			continue;
		}
		symbol -= END_OF_BLOCK + 1;
		length = symbol >= LENGTH_LAST ? 258 : number_take(b, symbol, 4, 3);
		distance = codes_next(distances, b);
		if (symbol > LENGTH_LAST || distance > DISTANCE_LAST) {
			b->err = -EBADMSG;
			return;
		}
		copy_back(out, begin, number_take(b, distance, 2, 1), length, b);
	}
}

static void fixed_codes(struct codes *lengths, struct codes *distances)
{
	uint8_t length[LENGTHS];

	memset(length, 8, 144);
	memset(length + 144, 9, 112);
	memset(length + 256, 7, 24);
	memset(length + 280, 8, 8);
	codes_make(lengths, length, LENGTHS);
	memset(length, 5, DISTANCES);
	codes_make(distances, length, DISTANCES);
}

/* Lengths of codes, themselves coded; 16 to 18 repeat. */
static void dynamic_codes(
	struct bits *b, struct codes *lengths, struct codes *distances)
{
	static const uint8_t order[] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4,
		12, 3, 13, 2, 14, 1, 15};
	uint8_t length[LENGTHS + DISTANCES] = {0};
	unsigned many = bits_take(b, 5) + 257, far = bits_take(b, 5) + 1;
	unsigned count = bits_take(b, 4) + 4, n = 0;

	for (unsigned i = 0; i < count; i++)
		length[order[i]] = (uint8_t)bits_take(b, 3);
	codes_make(lengths, length, sizeof order);
	memset(length, 0, sizeof length);
	while (n < many + far && !b->err) {
		unsigned symbol = codes_next(lengths, b), repeat = 1;
		uint8_t value = (uint8_t)symbol;

		if (symbol >= 16) {
			value = symbol == 16 && n ? length[n - 1] : 0;
			repeat = symbol == 18 ? 11 + bits_take(b, 7)
				: 3 + bits_take(b, symbol == 16 ? 2 : 3);
		}
		if (symbol > 18 || repeat > many + far - n ||
			many > LENGTHS)
			b->err = -EBADMSG;
		while (!b->err && repeat--)
			length[n++] = value;
	}
	if (b->err)
		return;
	codes_make(lengths, length, many);
	codes_make(distances, length + many, far);
}

/* Bytes as they are. */
static void read_stored(struct bits *b, struct buf *out)
{
	const unsigned char *p;
	size_t n;

	b->held = b->count = 0;
	p = b->p + b->at;
	if (b->n - b->at < 4) {
		b->err = -EBADMSG;
		return;
	}
	n = p[0] | (size_t)p[1] << 8;
	if (n > b->n - b->at - 4) {
		b->err = -EBADMSG;
		return;
	}
	buf_add(out, p + 4, n);
	b->at += n + 4;
}

int gzip_read(const unsigned char *p, size_t n, struct buf *out)
{
	struct bits b = {.p = p, .n = n < TAIL ? 0 : n - TAIL, .at = HEAD};
	struct codes lengths, distances;
	size_t begin = out->len;
	unsigned last = 0;

	/* Deflate, and no field of the head that is optional. */
	if (n < HEAD + TAIL || memcmp(p, "\x1f\x8b\x08\0", 4) != 0)
		return -EBADMSG;
	while (!last && !b.err && !out->err) {
		unsigned kind;

		last = bits_take(&b, 1);
		kind = bits_take(&b, 2);
		if (kind == 0) {
			read_stored(&b, out);
			continue;
		}
		if (kind == 1)
			fixed_codes(&lengths, &distances);
		else if (kind == 2)
			dynamic_codes(&b, &lengths, &distances);
		else
			b.err = -EBADMSG;
		if (!b.err)
			read_block(&b, &lengths, &distances, out, begin);
	}
	p += n - 4;
	if (!b.err && !out->err &&
		(uint32_t)(out->len - begin) !=
			(p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
				(uint32_t)p[3] << 24))
		b.err = -EBADMSG;
	return b.err ? b.err : out->err;
}
