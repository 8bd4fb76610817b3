/* crc32c.h - the Castagnoli checksum, by the processor where it can
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_CRC32C_H
#define WARDBOX_CRC32C_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The checksum of n bytes. */
typedef uint32_t crc32c_fn(const void *bytes, size_t n);

/* In plain C. */
uint32_t crc32c(const void *bytes, size_t n);

/* The fastest function of this machine; ask once and keep the answer. sha: the
 * processor computes SHA-256, and so also this. */
crc32c_fn *crc32c_pick(bool sha);

#endif
