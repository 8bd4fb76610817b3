/* p256.c - x*A + y*G on the curve P-256, fast, of numbers that are no secret
 * SPDX-License-Identifier: MIT
 *
 * A field element is four words of 64 bits, the lowest first, always below the
 * prime p, in Montgomery's form: the element a is kept as a * 2^256 mod p.
 */
#include "log/p256_in.h"

#include <bearssl.h>
#include <stdbool.h>
#include <string.h>

#ifdef __SIZEOF_INT128__

enum { WORDS = 4, BYTES = 32, POINT = 1 + 2 * BYTES };
enum { WINDOW = 16 }; /* multiples 0 to 15 of a point: four bits at a time */

struct fe {
	uint64_t w[WORDS];
};
/* x / z^2 and y / z^3 are the coordinates; z is 0 at infinity. */
struct point {
	struct fe x, y, z;
};

__extension__ typedef unsigned __int128 wide;

/* p = 2^256 - 2^224 + 2^192 + 2^96 - 1 */
static const struct fe prime = {{UINT64_C(0xffffffffffffffff),
	UINT64_C(0x00000000ffffffff), 0, UINT64_C(0xffffffff00000001)}};
/* 2^256 mod p, which is the element 1, and 2^512 mod p. */
static const struct fe one = {{1, UINT64_C(0xffffffff00000000),
	UINT64_C(0xffffffffffffffff), UINT64_C(0x00000000fffffffe)}};
static const struct fe square_of_one = {{3, UINT64_C(0xfffffffbffffffff),
	UINT64_C(0xfffffffffffffffe), UINT64_C(0x00000004fffffffd)}};
/* The curve is y^2 = x^3 - 3x + b. */
static const unsigned char curve_b[BYTES] = {0x5a, 0xc6, 0x35, 0xd8, 0xaa, 0x3a,
	0x93, 0xe7, 0xb3, 0xeb, 0xbd, 0x55, 0x76, 0x98, 0x86, 0xbc, 0x65, 0x1d,
	0x06, 0xb0, 0xcc, 0x53, 0xb0, 0xf6, 0x3b, 0xce, 0x3c, 0x3e, 0x27, 0xd2,
	0x60, 0x4b};
static const unsigned char generator[POINT] = {4, 0x6b, 0x17, 0xd1, 0xf2, 0xe1,
	0x2c, 0x42, 0x47, 0xf8, 0xbc, 0xe6, 0xe5, 0x63, 0xa4, 0x40, 0xf2, 0x77,
	0x03, 0x7d, 0x81, 0x2d, 0xeb, 0x33, 0xa0, 0xf4, 0xa1, 0x39, 0x45, 0xd8,
	0x98, 0xc2, 0x96, 0x4f, 0xe3, 0x42, 0xe2, 0xfe, 0x1a, 0x7f, 0x9b, 0x8e,
	0xe7, 0xeb, 0x4a, 0x7c, 0x0f, 0x9e, 0x16, 0x2b, 0xce, 0x33, 0x57, 0x6b,
	0x31, 0x5e, 0xce, 0xcb, 0xb6, 0x40, 0x68, 0x37, 0xbf, 0x51, 0xf5};

/* r = a - p when a, with the carry above its words, is not below p; else a. */
static void fe_reduce(struct fe *r, const struct fe *a, uint64_t carry)
{
	struct fe less;
	uint64_t borrow = 0;

	for (unsigned i = 0; i < WORDS; i++) {
		const wide d = (wide)a->w[i] - prime.w[i] - borrow;

		less.w[i] = (uint64_t)d;
		borrow = (uint64_t)(d >> 64) & 1;
	}
	*r = carry || !borrow ? less : *a;
}

__attribute__((noinline)) static void fe_add(struct fe *r, const struct fe *a, const struct fe *b)
{
	struct fe sum;
	wide t = 0;

	for (unsigned i = 0; i < WORDS; i++) {
		t += (wide)a->w[i] + b->w[i];
		sum.w[i] = (uint64_t)t;
		t >>= 64;
	}
	fe_reduce(r, &sum, (uint64_t)t);
}

__attribute__((noinline)) static void fe_sub(struct fe *r, const struct fe *a, const struct fe *b)
{
	struct fe less;
	uint64_t borrow = 0;
	wide t = 0;

	for (unsigned i = 0; i < WORDS; i++) {
		const wide d = (wide)a->w[i] - b->w[i] - borrow;

		less.w[i] = (uint64_t)d;
		borrow = (uint64_t)(d >> 64) & 1;
	}
	for (unsigned i = 0; borrow && i < WORDS; i++) {
		t += (wide)less.w[i] + prime.w[i];
		less.w[i] = (uint64_t)t;
		t >>= 64;
	}
	*r = less;
}

/* r = a * b / 2^256. After each word of b the lowest word of the sum, m, is made
 * zero by adding m * p, because p is -1 modulo 2^64; then it is shifted out. */
__attribute__((noinline)) static void fe_mul(struct fe *r, const struct fe *a, const struct fe *b)
{
	uint64_t s[WORDS + 1] = {0};
	struct fe sum;

	for (unsigned i = 0; i < WORDS; i++) {
		const uint64_t by = b->w[i];
		uint64_t m, top;
		wide t = 0;

		for (unsigned k = 0; k < WORDS; k++) {
			t += (wide)a->w[k] * by + s[k];
			s[k] = (uint64_t)t;
			t >>= 64;
		}
		t += s[WORDS];
		s[WORDS] = (uint64_t)t;
		top = (uint64_t)(t >> 64);
		m = s[0];
		/* s[0] + m * prime.w[0] is m * 2^64. */
		t = (wide)m * prime.w[1] + s[1] + m;
		s[0] = (uint64_t)t;
		t = (t >> 64) + s[2];
		s[1] = (uint64_t)t;
		t = (wide)m * prime.w[3] + s[3] + (uint64_t)(t >> 64);
		s[2] = (uint64_t)t;
		t = (t >> 64) + s[4];
		s[3] = (uint64_t)t;
		s[4] = top + (uint64_t)(t >> 64);
	}
	memcpy(sum.w, s, sizeof sum.w);
	fe_reduce(r, &sum, s[WORDS]);
}

static bool fe_zero(const struct fe *a)
{
	return !(a->w[0] | a->w[1] | a->w[2] | a->w[3]);
}

/* Loads a number. False if it is not below p. */
static bool fe_load(struct fe *r, const unsigned char bytes[static BYTES])
{
	struct fe plain = {{0}}, reduced;

	for (unsigned i = 0; i < BYTES; i++)
		plain.w[WORDS - 1 - i / 8] =
			plain.w[WORDS - 1 - i / 8] << 8 | bytes[i];
	fe_reduce(&reduced, &plain, 0);
	if (memcmp(&reduced, &plain, sizeof plain) != 0)
		return false;
	fe_mul(r, &plain, &square_of_one);
	return true;
}

static void fe_store(unsigned char bytes[static BYTES], const struct fe *a)
{
	static const struct fe unit = {{1, 0, 0, 0}};
	struct fe plain;

	fe_mul(&plain, a, &unit);
	for (unsigned i = 0; i < BYTES; i++)
		bytes[i] = (unsigned char)(plain.w[WORDS - 1 - i / 8] >>
			(56 - 8 * (i % 8)));
}

/* 1 / a, as a^(p - 2). */
static void fe_invert(struct fe *r, const struct fe *a)
{
	const uint64_t power[WORDS] = {prime.w[0] - 2, prime.w[1], prime.w[2],
		prime.w[3]};
	struct fe all = one;

	for (unsigned i = 256; i--;) {
		fe_mul(&all, &all, &all);
		if (power[i / 64] >> (i % 64) & 1)
			fe_mul(&all, &all, a);
	}
	*r = all;
}

/* Loads an uncompressed point. False if it is not on the curve. */
static bool point_load(struct point *r, const unsigned char bytes[static POINT])
{
	struct fe left, right, b;

	if (bytes[0] != 4 || !fe_load(&r->x, bytes + 1) ||
		!fe_load(&r->y, bytes + 1 + BYTES) || !fe_load(&b, curve_b))
		return false;
	r->z = one;
	fe_mul(&left, &r->y, &r->y);
	fe_mul(&right, &r->x, &r->x);
	fe_mul(&right, &right, &r->x);
	for (unsigned i = 0; i < 3; i++)
		fe_sub(&right, &right, &r->x);
	fe_add(&right, &right, &b);
	return memcmp(&left, &right, sizeof left) == 0;
}

/* Stores a point. False for the point at infinity. */
static bool point_store(unsigned char bytes[static POINT], const struct point *a)
{
	struct fe inverse, power, x, y;

	if (fe_zero(&a->z))
		return false;
	fe_invert(&inverse, &a->z);
	fe_mul(&power, &inverse, &inverse);
	fe_mul(&x, &a->x, &power);
	fe_mul(&power, &power, &inverse);
	fe_mul(&y, &a->y, &power);
	bytes[0] = 4;
	fe_store(bytes + 1, &x);
	fe_store(bytes + 1 + BYTES, &y);
	return true;
}

/* With s = 4xy^2 and m = 3(x + z^2)(x - z^2): x' = m^2 - 2s,
 * y' = m(s - x') - 8y^4, z' = 2yz. Infinity stays infinity. */
static void point_double(struct point *r, const struct point *a)
{
	struct fe s, m, t, yy;
	struct point d;

	fe_mul(&t, &a->z, &a->z);
	fe_add(&s, &a->x, &t);
	fe_sub(&t, &a->x, &t);
	fe_mul(&t, &s, &t);
	fe_add(&m, &t, &t);
	fe_add(&m, &m, &t);
	fe_mul(&yy, &a->y, &a->y);
	fe_add(&yy, &yy, &yy);
	fe_mul(&s, &a->x, &yy);
	fe_add(&s, &s, &s);
	fe_mul(&d.x, &m, &m);
	fe_sub(&d.x, &d.x, &s);
	fe_sub(&d.x, &d.x, &s);
	fe_mul(&t, &a->y, &a->z);
	fe_add(&d.z, &t, &t);
	fe_sub(&s, &s, &d.x);
	fe_mul(&d.y, &m, &s);
	fe_mul(&t, &yy, &yy);
	fe_add(&t, &t, &t);
	fe_sub(&d.y, &d.y, &t);
	*r = d;
}

/* With u = x z'^2 and s = y z'^3 of each, h = u2 - u1, m = s2 - s1:
 * x3 = m^2 - h^3 - 2 u1 h^2, y3 = m(u1 h^2 - x3) - s1 h^3, z3 = h z1 z2. */
static void point_add(struct point *r, const struct point *a,
	const struct point *b)
{
	struct fe zz, u1, u2, s1, s2, h, hh, m;
	struct point sum;

	if (fe_zero(&a->z) || fe_zero(&b->z)) {
		*r = fe_zero(&a->z) ? *b : *a;
		return;
	}
	fe_mul(&zz, &b->z, &b->z);
	fe_mul(&u1, &a->x, &zz);
	fe_mul(&zz, &zz, &b->z);
	fe_mul(&s1, &a->y, &zz);
	fe_mul(&zz, &a->z, &a->z);
	fe_mul(&u2, &b->x, &zz);
	fe_mul(&zz, &zz, &a->z);
	fe_mul(&s2, &b->y, &zz);
	fe_sub(&h, &u2, &u1);
	fe_sub(&m, &s2, &s1);
	if (fe_zero(&h) && fe_zero(&m)) {
		point_double(r, a);
		return;
	}
	fe_mul(&hh, &h, &h);
	fe_mul(&u1, &u1, &hh);
	fe_mul(&sum.z, &a->z, &b->z);
	fe_mul(&sum.z, &sum.z, &h);
	fe_mul(&hh, &hh, &h);
	fe_mul(&sum.x, &m, &m);
	fe_sub(&sum.x, &sum.x, &hh);
	fe_sub(&sum.x, &sum.x, &u1);
	fe_sub(&sum.x, &sum.x, &u1);
	fe_sub(&u1, &u1, &sum.x);
	fe_mul(&sum.y, &m, &u1);
	fe_mul(&hh, &hh, &s1);
	fe_sub(&sum.y, &sum.y, &hh);
	*r = sum;
}

/* The multiples of a point, the zeroth being infinity. */
static void point_multiples(struct point all[static WINDOW], const struct point *a)
{
	memset(&all[0], 0, sizeof all[0]);
	all[1] = *a;
	for (unsigned i = 2; i < WINDOW; i++)
		point_add(&all[i], &all[i - 1], a);
}

/* Digit i, of four bits, of a number; digit 0 is the lowest. */
static unsigned number_digit(const unsigned char *x, size_t n, size_t at)
{
	return at / 2 < n ? (unsigned)x[n - 1 - at / 2] >> (at % 2 * 4) & 15
			  : 0;
}

uint32_t p256_muladd(unsigned char *point, const unsigned char *other,
	size_t len, const unsigned char *x, size_t xlen,
	const unsigned char *y, size_t ylen, int curve)
{
	struct point a, b, sum = {0}, as[WINDOW], bs[WINDOW];

	if (curve != BR_EC_secp256r1 || len != POINT || !point_load(&a, point) ||
		!point_load(&b, other ? other : generator))
		return 0;
	point_multiples(as, &a);
	point_multiples(bs, &b);
	for (size_t at = 2 * (xlen > ylen ? xlen : ylen); at--;) {
		for (unsigned i = 0; i < 4; i++)
			point_double(&sum, &sum);
		point_add(&sum, &sum, &as[number_digit(x, xlen, at)]);
		point_add(&sum, &sum, &bs[number_digit(y, ylen, at)]);
	}
	return point_store(point, &sum);
}

#else /* on other machines BearSSL's own code is as fast */

uint32_t p256_muladd(unsigned char *point, const unsigned char *other,
	size_t len, const unsigned char *x, size_t xlen,
	const unsigned char *y, size_t ylen, int curve)
{
	return br_ec_p256_m31.muladd(
		point, other, len, x, xlen, y, ylen, curve);
}

#endif
