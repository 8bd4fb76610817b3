/* sha256_hw.h - SHA-256 by the processor's own instructions
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_SHA256_HW_H
#define WARDBOX_SHA256_HW_H

struct br_hash_class_;

/* The fastest SHA-256 of this machine: SHA-NI, ARMv8, or BearSSL's portable
 * one. All work on a br_sha256_context and give the same result. Ask once and
 * keep the answer. */
const struct br_hash_class_ *sha256_pick(void);

/* BearSSL's own, for comparison. */
const struct br_hash_class_ *sha256_portable(void);

#endif
