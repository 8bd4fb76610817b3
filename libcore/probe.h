/* probe.h - what this kernel and container give, found by doing it
 * SPDX-License-Identifier: MIT
 *
 * Whether a feature works is never concluded from a version, a file or the
 * first call of several: the whole operation runs in a child that is thrown
 * away.
 */
#ifndef WARDBOX_PROBE_H
#define WARDBOX_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The sandbox's filter answers prctl(PROBE_INSIDE_OPTION) with an errno that no
 * kernel gives. Proof of being inside of a guarded tree; a variable is none. */
enum {
	PROBE_INSIDE_OPTION = 0x57415244,
	PROBE_INSIDE_ERRNO = 2827,
};

/* One system call; errno is left alone. */
bool probe_inside(void);

/* The Landlock ABI; 0 when there is none; *why (may be NULL) is 0, -ENOSYS (not
 * built) or -EOPNOTSUPP (disabled at boot). */
int probe_landlock_abi(int *why);

#endif
