/* cleanup.c - resources that release themselves at the end of their scope
 * SPDX-License-Identifier: MIT
 */
#include "base/cleanup.h"

void cleanup_fd(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}
