/* keys.c - the log's keys: they evolve, so that the past cannot be rewritten
 * SPDX-License-Identifier: MIT
 */
#include "log/keys_in.h"

#include <bearssl.h>
#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "log/p256_in.h"
#include "sys/sha256_hw.h"

struct keys_hw keys_hw_pick(void)
{
	const struct br_hash_class_ *sha = sha256_pick();

	return (struct keys_hw){
		.sha = sha, .crc = crc32c_pick(sha != sha256_portable())};
}

struct keys_hw keys_hw_portable(void)
{
	return (struct keys_hw){.sha = sha256_portable(), .crc = crc32c};
}

void keys_hash2(const struct keys_hw *hw, const void *a, size_t an,
	const void *b, size_t bn, uint8_t out[static KEYS_HASH])
{
	__attribute__((uninitialized)) br_sha256_context c;

	hw->sha->init(&c.vtable);
	hw->sha->update(&c.vtable, a, an);
	if (bn)
		hw->sha->update(&c.vtable, b, bn);
	hw->sha->out(&c.vtable, out);
}

void keys_leaf(const struct keys_hw *hw, const void *body, size_t n,
	uint8_t leaf[static KEYS_HASH])
{
	keys_hash2(hw, "\0", 1, body, n, leaf);
}

void keys_link(const struct keys_hw *hw, const uint8_t prev[static KEYS_HASH],
	const uint8_t leaf[static KEYS_HASH], uint8_t out[static KEYS_HASH])
{
	__attribute__((uninitialized)) uint8_t in[1 + 2 * KEYS_HASH];

	in[0] = 1;
	memcpy(in + 1, prev, KEYS_HASH);
	memcpy(in + 1 + KEYS_HASH, leaf, KEYS_HASH);
	keys_hash2(hw, in, sizeof in, NULL, 0, out);
}

static void mac_of(const br_hmac_key_context *kc, const void *a, size_t n,
	uint8_t out[static KEYS_HASH])
{
	br_hmac_context c;

	br_hmac_init(&c, kc, 0);
	br_hmac_update(&c, a, n);
	br_hmac_out(&c, out);
	explicit_bzero(&c, sizeof c);
}

/* X(key, label), where label carries its 01 already. */
static void expand_key(const struct keys_hw *hw, const uint8_t key[KEYS_HASH],
	const void *label, size_t n, uint8_t out[KEYS_HASH])
{
	br_hmac_key_context kc;

	br_hmac_key_init(&kc, hw->sha, key, KEYS_HASH);
	mac_of(&kc, label, n, out);
	explicit_bzero(&kc, sizeof kc);
}

void keys_fold(const struct keys_hw *hw, uint8_t rk[static KEYS_HASH],
	uint8_t agg[static KEYS_HASH], const uint8_t link[static KEYS_HASH])
{
	br_hmac_key_context kc;
	uint8_t m[KEYS_HASH];

	br_hmac_key_init(&kc, hw->sha, rk, KEYS_HASH);
	mac_of(&kc, link, KEYS_HASH, m);
	keys_hash2(hw, agg, KEYS_HASH, m, KEYS_HASH, agg);
	mac_of(&kc, "rec+\1", 5, rk);
	explicit_bzero(&kc, sizeof kc);
}

void keys_first(const struct keys_hw *hw, const uint8_t log[static KEYS_LOG],
	const uint8_t seed[static KEYS_HASH], uint8_t epoch[static KEYS_HASH])
{
	br_hkdf_context c;

	br_hkdf_init(&c, hw->sha, log, KEYS_LOG);
	br_hkdf_inject(&c, seed, KEYS_HASH);
	br_hkdf_flip(&c);
	br_hkdf_produce(&c, "aud1 epoch", 10, epoch, KEYS_HASH);
	explicit_bzero(&c, sizeof c);
}

void keys_mark(const struct keys_hw *hw, const uint8_t epoch[static KEYS_HASH],
	uint8_t mark[static KEYS_HASH])
{
	expand_key(hw, epoch, "mark\1", 5, mark);
}

/* Is it in 1..n-1, n the order of the curve's group? */
static bool is_private_key(const uint8_t sk[KEYS_HASH])
{
	static const uint8_t order[KEYS_HASH] = {0xff, 0xff, 0xff, 0xff, 0x00,
		0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		0xff, 0xbc, 0xe6, 0xfa, 0xad, 0xa7, 0x17, 0x9e, 0x84, 0xf3,
		0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51};
	static const uint8_t zero[KEYS_HASH];

	return memcmp(sk, order, KEYS_HASH) < 0 &&
		memcmp(sk, zero, KEYS_HASH) != 0;
}

void keys_epoch(const struct keys_hw *hw, const uint8_t epoch[static KEYS_HASH],
	uint8_t rk[static KEYS_HASH], uint8_t sk[static KEYS_HASH],
	uint8_t next[static KEYS_HASH])
{
	uint8_t label[5] = {'s', 'i', 'g', 0, 1};

	expand_key(hw, epoch, "rec\1", 4, rk);
	do
		expand_key(hw, epoch, label, sizeof label, sk);
	while (!is_private_key(sk) && ++label[3]);
	expand_key(hw, epoch, "next\1", 5, next);
}

int keys_public(
	const uint8_t sk[static KEYS_HASH], uint8_t pub[static KEYS_PUB])
{
	uint8_t key[KEYS_HASH], kbuf[BR_EC_KBUF_PUB_MAX_SIZE];
	br_ec_private_key priv = {
		.curve = BR_EC_secp256r1, .x = key, .xlen = KEYS_HASH};
	size_t n;

	if (!is_private_key(sk))
		return -EINVAL;
	memcpy(key, sk, KEYS_HASH);
	n = br_ec_compute_pub(&br_ec_p256_m31, NULL, kbuf, &priv);
	explicit_bzero(key, sizeof key);
	if (n != KEYS_PUB)
		return -EINVAL;
	memcpy(pub, kbuf, KEYS_PUB);
	return 0;
}

int keys_sign(const struct keys_hw *hw, const uint8_t sk[static KEYS_HASH],
	const uint8_t hash[static KEYS_HASH], uint8_t sig[static KEYS_SIG])
{
	uint8_t key[KEYS_HASH];
	br_ec_private_key priv = {
		.curve = BR_EC_secp256r1, .x = key, .xlen = KEYS_HASH};
	size_t n;

	memcpy(key, sk, KEYS_HASH);
	n = br_ecdsa_i31_sign_raw(&br_ec_p256_m31, hw->sha, hash, &priv, sig);
	explicit_bzero(key, sizeof key);
	return n == KEYS_SIG ? 0 : -EINVAL;
}

int keys_verify(const uint8_t pub[static KEYS_PUB],
	const uint8_t hash[static KEYS_HASH], const uint8_t sig[static KEYS_SIG])
{
	/* Verifying needs no other member of BearSSL's curve. */
	const br_ec_impl curve = {.supported_curves = 1u << BR_EC_secp256r1,
		.muladd = p256_muladd};
	uint8_t point[KEYS_PUB];
	br_ec_public_key key = {
		.curve = BR_EC_secp256r1, .q = point, .qlen = KEYS_PUB};

	memcpy(point, pub, KEYS_PUB);
	if (br_ecdsa_i31_vrfy_raw(
		    &curve, hash, KEYS_HASH, &key, sig, KEYS_SIG))
		return 0;
	return -EBADMSG;
}

int keys_random(void *out, size_t n)
{
	uint8_t *p = out;

	while (n) {
		ssize_t got = getrandom(p, n, 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? -errno : -EIO;
		p += got;
		n -= (size_t)got;
	}
	return 0;
}
