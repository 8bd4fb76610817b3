/* clock.c - the time as one number
 * SPDX-License-Identifier: MIT
 */
#include "base/clock.h"

uint64_t clock_ns(clockid_t clock)
{
	struct timespec t = {0};

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}
