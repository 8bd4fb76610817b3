/* crc32c.c - the Castagnoli checksum, by the processor where it can
 * SPDX-License-Identifier: MIT
 */
#include "base/crc32c.h"

#include <string.h>

/* The table is linear: the entry of a sum of bits is the sum of their entries,
 * so one constant for each bit makes all of it, and two halves make the
 * whole. */
#define T1(x, a) (x), (x) ^ UINT32_C(a)
#define T2(x, a, b) T1(x, a), T1((x) ^ UINT32_C(b), a)
#define T3(x, a, b, c) T2(x, a, b), T2((x) ^ UINT32_C(c), a, b)
#define T4(a, b, c, d) T3(0, a, b, c), T3(UINT32_C(d), a, b, c)

uint32_t crc32c(const void *bytes, size_t n)
{
	static const uint32_t low[16] = {
		T4(0xf26b8303, 0xe13b70f7, 0xc79a971f, 0x8ad958cf)};
	static const uint32_t high[16] = {
		T4(0x105ec76f, 0x20bd8ede, 0x417b1dbc, 0x82f63b78)};
	const unsigned char *p = bytes;
	uint32_t c = UINT32_MAX;

	for (; n--; p++) {
		uint32_t byte = (c ^ *p) & 255;

		c = c >> 8 ^ low[byte & 15] ^ high[byte >> 4];
	}
	return ~c;
}

#if defined(__x86_64__)
#include <cpuid.h>
#include <nmmintrin.h>

__attribute__((target("sse4.2"))) static uint32_t crc32c_hw(
	const void *bytes, size_t n)
{
	const unsigned char *p = bytes;
	uint64_t c = UINT32_MAX;

	for (; n >= 8; n -= 8, p += 8) {
		uint64_t word;

		memcpy(&word, p, 8);
		c = _mm_crc32_u64(c, word);
	}
	while (n--)
		c = _mm_crc32_u8((uint32_t)c, *p++);
	return ~(uint32_t)c;
}

crc32c_fn *crc32c_pick(bool sha)
{
	unsigned a, b, c = bit_SSE4_2, d;

	/* cpuid costs microseconds on a virtual machine; this leaf exists on
	 * every x86-64. */
	if (!sha)
		__cpuid(1, a, b, c, d);
	return c & bit_SSE4_2 ? crc32c_hw : crc32c;
}
#elif defined(__aarch64__) && defined(__AARCH64EL__)
#include <arm_acle.h>
#include <sys/auxv.h>

enum { HWCAP_ARM_CRC32 = 1 << 7 };

__attribute__((target("+crc"))) static uint32_t crc32c_hw(
	const void *bytes, size_t n)
{
	const unsigned char *p = bytes;
	uint32_t c = UINT32_MAX;

	for (; n >= 8; n -= 8, p += 8) {
		uint64_t word;

		memcpy(&word, p, 8);
		c = __crc32cd(c, word);
	}
	while (n--)
		c = __crc32cb(c, *p++);
	return ~c;
}

crc32c_fn *crc32c_pick(bool sha)
{
	(void)sha; /* not on every one */
	return getauxval(AT_HWCAP) & HWCAP_ARM_CRC32 ? crc32c_hw : crc32c;
}
#else
crc32c_fn *crc32c_pick(bool sha)
{
	(void)sha;
	return crc32c;
}
#endif
