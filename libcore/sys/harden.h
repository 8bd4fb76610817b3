/* harden.h - what the C library leaves undone for a static PIE
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_HARDEN_H
#define WARDBOX_HARDEN_H

/* Makes the RELRO segment read-only: musl does that in its dynamic loader
 * only, so a static PIE would keep its const pointer tables writable. The very
 * first act of main. 0 or -errno. */
int harden_relro(void);

/* Fills closed descriptors 0, 1, 2 with /dev/null opened the wrong way round,
 * so that no later open lands there and a read or write on it fails as it
 * would have. Bit n of *was_closed says that n was closed; NULL if of no
 * interest. 0 or -errno. */
int harden_stdio(unsigned *was_closed);

#endif
