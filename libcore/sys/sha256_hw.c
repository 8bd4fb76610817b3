/* sha256_hw.c - SHA-256 by the processor's own instructions
 * SPDX-License-Identifier: MIT
 *
 * A br_hash_class beside BearSSL's, so that its HMAC, HKDF and ECDSA run on it
 * unchanged.
 */
#include "sys/sha256_hw.h"

#include <bearssl.h>
#include <string.h>

const struct br_hash_class_ *sha256_portable(void)
{
	return &br_sha256_vtable;
}

#if defined(__x86_64__) || (defined(__aarch64__) && defined(__AARCH64EL__))

static void sha256_blocks(uint32_t val[8], const uint8_t *p, size_t blocks);

static const uint32_t round_k[64] __attribute__((aligned(16))) = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
	0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
	0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
	0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
	0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
	0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
	0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
	0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static void hw_init(const br_hash_class **ctx);

static void hw_update(const br_hash_class **ctx, const void *data, size_t n)
{
	br_sha256_context *c = (br_sha256_context *)(void *)ctx;
	const uint8_t *p = data;
	size_t at = c->count & 63, fill = 64 - at;

	c->count += n;
	if (at && n >= fill) {
		memcpy(c->buf + at, p, fill);
		sha256_blocks(c->val, c->buf, 1);
		p += fill;
		n -= fill;
		at = 0;
	}
	if (n >= 64) {
		sha256_blocks(c->val, p, n / 64);
		p += n & ~(size_t)63;
		n &= 63;
	}
	if (n)
		memcpy(c->buf + at, p, n);
}

static void hw_out(const br_hash_class *const *ctx, void *dst)
{
	const br_sha256_context *c = (const br_sha256_context *)(const void *)ctx;
	/* Cleared only where needed, because hashes are many and short. */
	__attribute__((uninitialized)) uint8_t tail[128];
	__attribute__((uninitialized)) uint32_t val[8];
	size_t at = c->count & 63, len = at < 56 ? 64 : 128;
	uint64_t bits = c->count << 3;
	uint8_t *out = dst;

	memcpy(tail, c->buf, at);
	memcpy(val, c->val, sizeof val);
	tail[at] = 0x80;
	memset(tail + at + 1, 0, len - at - 1);
	for (unsigned i = 0; i < 8; i++)
		tail[len - 1 - i] = (uint8_t)(bits >> 8 * i);
	sha256_blocks(val, tail, len / 64);
	for (unsigned i = 0; i < 8; i++) {
		const uint32_t word = __builtin_bswap32(val[i]);

		memcpy(out + 4 * i, &word, 4);
	}
}

static uint64_t hw_state(const br_hash_class *const *ctx, void *dst)
{
	return br_sha256_state((const br_sha256_context *)(const void *)ctx, dst);
}

static void hw_set_state(const br_hash_class **ctx, const void *stb, uint64_t n)
{
	br_sha256_set_state((br_sha256_context *)(void *)ctx, stb, n);
}

static const br_hash_class hw_class = {
	.context_size = sizeof(br_sha256_context),
	.desc = BR_HASHDESC_ID(br_sha256_ID) | BR_HASHDESC_OUT(32) |
		BR_HASHDESC_STATE(32) | BR_HASHDESC_LBLEN(6) |
		BR_HASHDESC_MD_PADDING | BR_HASHDESC_MD_PADDING_BE,
	.init = hw_init,
	.update = hw_update,
	.out = hw_out,
	.state = hw_state,
	.set_state = hw_set_state,
};

static void hw_init(const br_hash_class **ctx)
{
	br_sha256_init((br_sha256_context *)(void *)ctx);
	*ctx = &hw_class;
}
#endif

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#include <sys/auxv.h>

__attribute__((target("sha,sse4.1,ssse3"))) static void sha256_blocks(
	uint32_t val[8], const uint8_t *p, size_t blocks)
{
	const __m128i order =
		_mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
	__m128i dcba = _mm_loadu_si128((const __m128i *)(const void *)val);
	__m128i hgfe = _mm_loadu_si128((const __m128i *)(const void *)(val + 4));
	__m128i cdab = _mm_shuffle_epi32(dcba, 0xb1);
	__m128i efgh = _mm_shuffle_epi32(hgfe, 0x1b);
	__m128i abef = _mm_alignr_epi8(cdab, efgh, 8);
	__m128i cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);

	for (; blocks; blocks--, p += 64) {
		const __m128i abef0 = abef, cdgh0 = cdgh;
		__m128i w[4];

		for (unsigned i = 0; i < 4; i++)
			w[i] = _mm_shuffle_epi8(
				_mm_loadu_si128((const __m128i *)(const void *)(p +
					16 * i)),
				order);
#pragma GCC unroll 16
		for (unsigned i = 0; i < 16; i++) {
			__m128i k = _mm_load_si128(
				(const __m128i *)(const void *)(round_k + 4 * i));
			__m128i m = _mm_add_epi32(w[i & 3], k);
			__m128i next;

			cdgh = _mm_sha256rnds2_epu32(cdgh, abef, m);
			abef = _mm_sha256rnds2_epu32(
				abef, cdgh, _mm_shuffle_epi32(m, 0x0e));
			if (i >= 12)
				continue;
			next = _mm_sha256msg1_epu32(w[i & 3], w[(i + 1) & 3]);
			next = _mm_add_epi32(next,
				_mm_alignr_epi8(w[(i + 3) & 3], w[(i + 2) & 3], 4));
			w[i & 3] = _mm_sha256msg2_epu32(next, w[(i + 3) & 3]);
		}
		abef = _mm_add_epi32(abef, abef0);
		cdgh = _mm_add_epi32(cdgh, cdgh0);
	}
	cdab = _mm_shuffle_epi32(abef, 0x1b); /* feba */
	efgh = _mm_shuffle_epi32(cdgh, 0xb1); /* dchg */
	_mm_storeu_si128((__m128i *)(void *)val,
		_mm_blend_epi16(cdab, efgh, 0xf0));
	_mm_storeu_si128((__m128i *)(void *)(val + 4),
		_mm_alignr_epi8(efgh, cdab, 8));
}

const struct br_hash_class_ *sha256_pick(void)
{
	enum { HWCAP2_FSGSBASE = 2 };
	unsigned a, b, c, d;

	/* cpuid costs microseconds on a virtual machine, so the kernel's word
	 * on a feature of leaf 7 says whether that leaf exists. */
	if (!(getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE) &&
		__get_cpuid_max(0, NULL) < 7)
		return &br_sha256_vtable;
	__cpuid_count(7, 0, a, b, c, d);
	/* Every processor with it has SSE4.1. */
	return b & bit_SHA ? &hw_class : &br_sha256_vtable;
}
#elif defined(__aarch64__) && defined(__AARCH64EL__)
#include <arm_neon.h>
#include <sys/auxv.h>

enum { HWCAP_ARM_SHA2 = 1 << 6 };

__attribute__((target("+crypto"))) static void sha256_blocks(
	uint32_t val[8], const uint8_t *p, size_t blocks)
{
	uint32x4_t abcd = vld1q_u32(val), efgh = vld1q_u32(val + 4);

	for (; blocks; blocks--, p += 64) {
		const uint32x4_t abcd0 = abcd, efgh0 = efgh;
		uint32x4_t w[4];

		for (unsigned i = 0; i < 4; i++)
			w[i] = vreinterpretq_u32_u8(
				vrev32q_u8(vld1q_u8(p + 16 * i)));
#pragma GCC unroll 16
		for (unsigned i = 0; i < 16; i++) {
			uint32x4_t m =
				vaddq_u32(w[i & 3], vld1q_u32(round_k + 4 * i));
			uint32x4_t was = abcd;

			if (i < 12)
				w[i & 3] = vsha256su1q_u32(
					vsha256su0q_u32(w[i & 3], w[(i + 1) & 3]),
					w[(i + 2) & 3], w[(i + 3) & 3]);
			abcd = vsha256hq_u32(abcd, efgh, m);
			efgh = vsha256h2q_u32(efgh, was, m);
		}
		abcd = vaddq_u32(abcd, abcd0);
		efgh = vaddq_u32(efgh, efgh0);
	}
	vst1q_u32(val, abcd);
	vst1q_u32(val + 4, efgh);
}

const struct br_hash_class_ *sha256_pick(void)
{
	return getauxval(AT_HWCAP) & HWCAP_ARM_SHA2 ? &hw_class
						    : &br_sha256_vtable;
}
#else
const struct br_hash_class_ *sha256_pick(void)
{
	return &br_sha256_vtable;
}
#endif
