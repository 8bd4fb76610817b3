/* landlock_in.h - file, port and scope rules of the kernel's Landlock
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_LANDLOCK_IN_H
#define WARDBOX_LANDLOCK_IN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/uapi/landlock.h"

/* All rights that an ABI knows. A ruleset handles all of them, so that none is
 * left open. 0 for ABI 0. */
uint64_t landlock_all_fs(int abi);
uint64_t landlock_all_net(int abi);

/* The rights of enum sandbox_access at that ABI; only those for a file when dir
 * is false (the kernel refuses others). */
uint64_t landlock_rights(unsigned access, bool dir, int abi);

/* Raw system calls, usable between fork and exec. Each returns 0 (create: a
 * close-on-exec descriptor) or -errno. */
int landlock_create(uint64_t fs, uint64_t net, uint64_t scoped, int abi);
int landlock_add_path(int ruleset, int fd, uint64_t rights);
int landlock_add_port(int ruleset, uint16_t port, uint64_t rights);
int landlock_restrict(int ruleset, unsigned flags);

#endif
