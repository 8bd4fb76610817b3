/* keys_in.h - the log's keys: they evolve, so that the past cannot be rewritten
 * SPDX-License-Identifier: MIT
 *
 *	E_0 = HKDF(salt = log id, seed, "aud1 epoch")
 *	rk = X(E_j, "rec")  sk_j = X(E_j, "sig" c)  E_j+1 = X(E_j, "next")
 *	the key of redaction's digests = X(E_0, "mark"), for all of a log
 *	per record: m = HMAC(rk, link); agg = SHA256(agg m); rk = X(rk, "rec+")
 *
 * where X(k, label) = HMAC-SHA256(k, label 01), one block of HKDF-Expand.
 */
#ifndef WARDBOX_KEYS_IN_H
#define WARDBOX_KEYS_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/crc32c.h"

enum {
	KEYS_HASH = 32,
	KEYS_PUB = 65, /* an uncompressed P-256 point */
	KEYS_SIG = 64, /* r and s */
	KEYS_LOG = 16,
};

struct br_hash_class_;

/* The functions that this machine computes with; made once per open log. */
struct keys_hw {
	const struct br_hash_class_ *sha;
	crc32c_fn *crc;
};
struct keys_hw keys_hw_pick(void);
/* Plain C only, to measure and to compare. */
struct keys_hw keys_hw_portable(void);

/* SHA-256 of two pieces. */
void keys_hash2(const struct keys_hw *hw, const void *a, size_t an,
	const void *b, size_t bn, uint8_t out[static KEYS_HASH]);

/* leaf = SHA256(00 body); link = SHA256(01 previous leaf). */
void keys_leaf(const struct keys_hw *hw, const void *body, size_t n,
	uint8_t leaf[static KEYS_HASH]);
void keys_link(const struct keys_hw *hw, const uint8_t prev[static KEYS_HASH],
	const uint8_t leaf[static KEYS_HASH], uint8_t out[static KEYS_HASH]);

/* Folds a record's link into the aggregate and evolves the record key. */
void keys_fold(const struct keys_hw *hw, uint8_t rk[static KEYS_HASH],
	uint8_t agg[static KEYS_HASH], const uint8_t link[static KEYS_HASH]);

/* The secret of the first epoch. */
void keys_first(const struct keys_hw *hw, const uint8_t log[static KEYS_LOG],
	const uint8_t seed[static KEYS_HASH], uint8_t epoch[static KEYS_HASH]);

/* The key of redaction's digests, of the first epoch's secret. */
void keys_mark(const struct keys_hw *hw, const uint8_t epoch[static KEYS_HASH],
	uint8_t mark[static KEYS_HASH]);

/* The keys that an epoch's secret opens. next may be the same array as
 * epoch. */
void keys_epoch(const struct keys_hw *hw, const uint8_t epoch[static KEYS_HASH],
	uint8_t rk[static KEYS_HASH], uint8_t sk[static KEYS_HASH],
	uint8_t next[static KEYS_HASH]);

/* The public key. -EINVAL when sk is no private key. */
int keys_public(
	const uint8_t sk[static KEYS_HASH], uint8_t pub[static KEYS_PUB]);
int keys_sign(const struct keys_hw *hw, const uint8_t sk[static KEYS_HASH],
	const uint8_t hash[static KEYS_HASH], uint8_t sig[static KEYS_SIG]);
/* Verifies. -EBADMSG when the signature does not fit. */
int keys_verify(const uint8_t pub[static KEYS_PUB],
	const uint8_t hash[static KEYS_HASH], const uint8_t sig[static KEYS_SIG]);

/* Bytes from the kernel; -errno. */
int keys_random(void *out, size_t n);

#endif
