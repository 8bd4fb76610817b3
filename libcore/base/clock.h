/* clock.h - the time as one number
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_CLOCK_H
#define WARDBOX_CLOCK_H

#include <stdint.h>
#include <time.h>

/* A clock of clock_gettime(), in nanoseconds. */
uint64_t clock_ns(clockid_t clock);

#endif
