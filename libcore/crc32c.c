/* crc32c.c - the Castagnoli checksum, by the processor where it can
 * SPDX-License-Identifier: MIT
 */
#include "crc32c.h"

#include <string.h>

/* The table is linear: the entry of a sum of bits is the sum of their entries,
 * so eight constants make all of it. */
#define T1(x) (x), (x) ^ UINT32_C(0xf26b8303)
#define T2(x) T1(x), T1((x) ^ UINT32_C(0xe13b70f7))
#define T3(x) T2(x), T2((x) ^ UINT32_C(0xc79a971f))
#define T4(x) T3(x), T3((x) ^ UINT32_C(0x8ad958cf))
#define T5(x) T4(x), T4((x) ^ UINT32_C(0x105ec76f))
#define T6(x) T5(x), T5((x) ^ UINT32_C(0x20bd8ede))
#define T7(x) T6(x), T6((x) ^ UINT32_C(0x417b1dbc))
#define T8(x) T7(x), T7((x) ^ UINT32_C(0x82f63b78))

uint32_t crc32c(const void *bytes, size_t n)
{
	static const uint32_t table[256] = {T8(0)};
	const unsigned char *p = bytes;
	uint32_t c = UINT32_MAX;

	while (n--)
		c = c >> 8 ^ table[(c ^ *p++) & 0xff];
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

crc32c_fn *crc32c_pick(void)
{
	unsigned a, b, c, d;

	/* Each such question costs microseconds on a virtual machine; this
	 * leaf is there on every x86-64. */
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

crc32c_fn *crc32c_pick(void)
{
	return getauxval(AT_HWCAP) & HWCAP_ARM_CRC32 ? crc32c_hw : crc32c;
}
#else
crc32c_fn *crc32c_pick(void)
{
	return crc32c;
}
#endif
