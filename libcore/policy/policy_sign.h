/* policy_sign.h - policy files that somebody stands up for
 * SPDX-License-Identifier: MIT
 *
 * ECDSA P-256 over SHA-256, raw r and s. Each kind of file is one line of text:
 * "wardbox-policy-public-1 HEX".
 */
#ifndef WARDBOX_POLICY_SIGN_H
#define WARDBOX_POLICY_SIGN_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/diag.h"

enum {
	SIGN_PRIVATE = 32,
	SIGN_PUBLIC = 65,
	SIGN_SIGNATURE = 64,
};

/* Reads the bytes of a key or signature from a file's text of n bytes. -EINVAL
 * with d. */
int policy_sign_parse(const char *name, const char *text, uint8_t *out,
	size_t n, struct diag *d);
void policy_sign_format(struct buf *out, const uint8_t *bytes, size_t n);

/* Makes a pair from random bytes of the kernel. -EINVAL when they are no
 * private key (try again). */
int policy_sign_pair(const uint8_t priv[static SIGN_PRIVATE],
	uint8_t pub[static SIGN_PUBLIC]);

int policy_sign(const uint8_t priv[static SIGN_PRIVATE], const void *text,
	size_t n, uint8_t sig[static SIGN_SIGNATURE]);
/* Verifies the signature. 0 or -EBADMSG. */
int policy_sign_verify(const uint8_t pub[static SIGN_PUBLIC], const void *text,
	size_t n, const uint8_t sig[static SIGN_SIGNATURE]);

/* Checks text against the file PATH.sig. -EBADMSG, -ENOENT with d. */
int policy_sign_check(const uint8_t pub[static SIGN_PUBLIC], const char *path,
	const void *text, size_t n, struct diag *d);

#endif
