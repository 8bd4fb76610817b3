/* probe.c - the questions that one system call answers
 * SPDX-License-Identifier: MIT
 */
#include "probe.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "uapi/landlock.h"

bool probe_inside(void)
{
	int saved = errno;
	bool inside = prctl(PROBE_INSIDE_OPTION, 0, 0, 0, 0) < 0 &&
		      errno == PROBE_INSIDE_ERRNO;

	errno = saved;
	return inside;
}

int probe_landlock_abi(int *why)
{
	long abi = syscall(LL_NR_CREATE_RULESET, NULL, 0, LL_CREATE_VERSION);
	int err = abi < 0 ? -errno : 0;

	if (why)
		*why = err;
	return abi < 0 ? 0 : (int)abi;
}
