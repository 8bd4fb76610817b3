/* p256_in.h - x*A + y*G on the curve P-256, fast, of numbers that are no secret
 * SPDX-License-Identifier: MIT
 *
 * A verifier needs nothing else of the curve, and has no secret to keep: this
 * code takes as long as its numbers say. Nothing may sign with it.
 */
#ifndef WARDBOX_P256_IN_H
#define WARDBOX_P256_IN_H

#include <stddef.h>
#include <stdint.h>

/* The member "muladd" of BearSSL's br_ec_impl: point becomes x*point + y*other,
 * where other is the curve's generator G when it is NULL. Points are
 * uncompressed, 65 bytes; x and y are big endian, of any length. 0 when a point
 * is not on the curve, or when the sum is the point at infinity; else 1. */
uint32_t p256_muladd(unsigned char *point, const unsigned char *other,
	size_t len, const unsigned char *x, size_t xlen,
	const unsigned char *y, size_t ylen, int curve);

#endif
