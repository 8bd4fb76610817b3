/* test_keys.c - checksums, hashes, signatures: ours beside BearSSL's
 * SPDX-License-Identifier: MIT
 */
#include "unit.h"

#include <bearssl.h>
#include <errno.h>
#include <stdlib.h>

#include "base/crc32c.h"
#include "log/keys_in.h"
#include "log/p256_in.h"
#include "sys/sha256_hw.h"

static void crc_has_the_known_values(void **state)
{
	(void)state;
	assert_int_equal(crc32c("123456789", 9), 0xe3069283);
	assert_int_equal(crc32c("", 0), 0);
	assert_int_equal(crc32c_pick(false)("123456789", 9), 0xe3069283);
}

static void fill(uint8_t *p, size_t n)
{
	uint32_t x = 12345;

	for (size_t i = 0; i < n; i++) {
		x = x * 1664525 + 1013904223;
		p[i] = (uint8_t)(x >> 24);
	}
}

static void one_hash(const br_hash_class *c, const uint8_t *p, size_t n,
	size_t cut, uint8_t out[32])
{
	br_sha256_context ctx;

	c->init(&ctx.vtable);
	c->update(&ctx.vtable, p, cut);
	c->update(&ctx.vtable, p + cut, n - cut);
	c->out(&ctx.vtable, out);
}

/* 3000 lengths, each cut somewhere, and the checksum with it. */
static void the_processors_are_the_same(void **state)
{
	uint8_t *p = malloc(3000);

	(void)state;
	fill(p, 3000);
	for (size_t n = 0; n < 3000; n++) {
		uint8_t a[32], b[32];

		one_hash(sha256_portable(), p, n, 0, a);
		one_hash(sha256_pick(), p, n, n * 7919 % (n + 1), b);
		assert_memory_equal(a, b, 32);
		assert_int_equal(crc32c(p, n), crc32c_pick(false)(p, n));
	}
	free(p);
}

static void hmac_and_state_are_the_same(void **state)
{
	const br_hash_class *c[2] = {sha256_portable(), sha256_pick()};
	uint8_t out[2][32], key[100], text[300], saved[2][32];

	(void)state;
	fill(key, sizeof key);
	fill(text, sizeof text);
	for (unsigned i = 0; i < 2; i++) {
		br_hmac_key_context kc;
		br_hmac_context h;
		br_sha256_context s;

		br_hmac_key_init(&kc, c[i], key, sizeof key);
		br_hmac_init(&h, &kc, 0);
		br_hmac_update(&h, text, sizeof text);
		br_hmac_out(&h, out[i]);
		c[i]->init(&s.vtable);
		c[i]->update(&s.vtable, text, 128);
		assert_int_equal(c[i]->state(&s.vtable, saved[i]), 128);
		c[i]->set_state(&s.vtable, saved[i], 128);
		c[i]->update(&s.vtable, text + 128, 50);
		c[i]->out(&s.vtable, saved[i]);
	}
	assert_memory_equal(out[0], out[1], 32);
	assert_memory_equal(saved[0], saved[1], 32);
}

static void known_hash(void **state)
{
	static const uint8_t abc[32] = {0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01,
		0xcf, 0xea, 0x41, 0x41, 0x40, 0xde, 0x5d, 0xae, 0x22, 0x23,
		0xb0, 0x03, 0x61, 0xa3, 0x96, 0x17, 0x7a, 0x9c, 0xb4, 0x10,
		0xff, 0x61, 0xf2, 0x00, 0x15, 0xad};
	const struct keys_hw hw[2] = {keys_hw_portable(), keys_hw_pick()};
	uint8_t out[32];

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		keys_hash2(&hw[i], "a", 1, "bc", 2, out);
		assert_memory_equal(out, abc, 32);
	}
}

static void signatures(void **state)
{
	const struct keys_hw hw = keys_hw_pick();
	uint8_t sk[32] = {1}, pk[65], other[65], hash[32] = {7}, sig[64];
	uint8_t zero[32] = {0}, most[32];

	(void)state;
	memset(most, 0xff, sizeof most);
	assert_int_equal(keys_public(zero, pk), -EINVAL);
	assert_int_equal(keys_public(most, pk), -EINVAL);
	assert_int_equal(keys_public(sk, pk), 0);
	assert_int_equal(keys_sign(&hw, sk, hash, sig), 0);
	assert_int_equal(keys_verify(pk, hash, sig), 0);
	hash[31] ^= 1;
	assert_int_equal(keys_verify(pk, hash, sig), -EBADMSG);
	hash[31] ^= 1;
	sig[0] ^= 1;
	assert_int_equal(keys_verify(pk, hash, sig), -EBADMSG);
	sig[0] ^= 1;
	sk[31] = 1;
	assert_int_equal(keys_public(sk, other), 0);
	assert_int_equal(keys_verify(other, hash, sig), -EBADMSG);
	/* No point of the curve. */
	memset(other + 1, 0, 64);
	assert_int_equal(keys_verify(other, hash, sig), -EBADMSG);
	memset(sig, 0, sizeof sig);
	assert_int_equal(keys_verify(pk, hash, sig), -EBADMSG);
}

/* x*A + y*G as BearSSL has it, also where a sum doubles or is infinity. BearSSL
 * itself is not to be asked with a number of zero. */
static void the_verifiers_curve_is_bearssls(void **state)
{
	uint8_t a[65], own[65], theirs[65], x[32], y[32], sk[32] = {0};
	const br_ec_impl *bear = &br_ec_p256_m31;
	uint32_t got;

	(void)state;
	for (unsigned i = 0; i < 200; i++) {
		sk[31] = (uint8_t)(1 + i % 7);
		sk[3] = (uint8_t)(i / 20);
		assert_int_equal(keys_public(sk, a), 0);
		fill(x, sizeof x);
		fill(y, sizeof y);
		x[5] ^= (uint8_t)i;
		y[9] ^= (uint8_t)(i * 3);
		if (i < 20) {
			memset(x, 0, sizeof x);
			memset(y, 0, sizeof y);
			x[31] = (uint8_t)(1 + i / 4);
			y[31] = (uint8_t)(1 + i % 4);
		}
		memcpy(own, a, sizeof a);
		memcpy(theirs, a, sizeof a);
		got = p256_muladd(own, NULL, 65, x, 32, y, 32, BR_EC_secp256r1);
		assert_int_equal(got,
			bear->muladd(theirs, NULL, 65, x, 32, y, 32,
				BR_EC_secp256r1));
		assert_memory_equal(own, theirs, sizeof own);
	}
	/* A + (n - 1)A is infinity; a point beside the curve is none. */
	memset(sk, 0, sizeof sk);
	sk[31] = 1;
	assert_int_equal(keys_public(sk, a), 0);
	memcpy(x, br_ec_p256_m31.order(BR_EC_secp256r1, &(size_t){0}), 32);
	x[31]--;
	memcpy(own, a, sizeof a);
	assert_int_equal(p256_muladd(own, NULL, 65, x, 32, sk, 32,
				 BR_EC_secp256r1),
		0);
	for (unsigned i = 0; i < 65; i++) {
		memcpy(own, a, sizeof a);
		own[i] ^= 1;
		assert_int_equal(p256_muladd(own, NULL, 65, x, 32, y, 32,
					 BR_EC_secp256r1),
			0);
	}
	/* A coordinate that is not below the prime: x + p of a small x. */
	memset(own, 0xff, sizeof own);
	own[0] = 4;
	assert_int_equal(
		p256_muladd(own, NULL, 65, x, 32, y, 32, BR_EC_secp256r1), 0);
}

static void keys_evolve_and_do_not_go_back(void **state)
{
	const struct keys_hw hw = keys_hw_portable();
	uint8_t log[16] = {1}, seed[32] = {2}, e[32], rk[32], sk[32], next[32];
	uint8_t agg[32] = {0}, before[32], link[32] = {3};

	(void)state;
	keys_first(&hw, log, seed, e);
	keys_epoch(&hw, e, rk, sk, next);
	assert_memory_not_equal(rk, sk, 32);
	assert_memory_not_equal(next, e, 32);
	memcpy(before, rk, 32);
	keys_fold(&hw, rk, agg, link);
	assert_memory_not_equal(rk, before, 32);
	/* In place, as the writer does it. */
	memcpy(before, next, 32);
	keys_epoch(&hw, e, rk, sk, e);
	assert_memory_equal(e, before, 32);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(crc_has_the_known_values),
		cmocka_unit_test(the_processors_are_the_same),
		cmocka_unit_test(hmac_and_state_are_the_same),
		cmocka_unit_test(known_hash),
		cmocka_unit_test(signatures),
		cmocka_unit_test(the_verifiers_curve_is_bearssls),
		cmocka_unit_test(keys_evolve_and_do_not_go_back),
	};

	return cmocka_run_group_tests_name("keys", tests, NULL, NULL);
}
