/* harden.h - what the C library leaves undone for a static PIE
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_HARDEN_H
#define WARDBOX_HARDEN_H

/* Makes the RELRO segment read-only. musl does that only in its dynamic loader,
 * so a static PIE would keep its const pointer tables writable. Call it first
 * in main. 0 or -errno. */
int harden_relro(void);

/* Fills closed descriptors 0, 1, 2 with /dev/null, opened the wrong way round,
 * so that no later open lands there and a read or write fails as on a closed
 * descriptor. Bit n of *was_closed says that n was closed; NULL: not wanted. 0
 * or -errno. */
int harden_stdio(unsigned *was_closed);

#endif
