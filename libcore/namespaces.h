/* namespaces.h - own processes, mounts, IPC and network
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_NAMESPACES_H
#define WARDBOX_NAMESPACES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Does the whole of what a part (SANDBOX_PIDNS …) needs work here? Tried out in
 * a child that is thrown away. */
bool namespaces_work(unsigned part);

/* The CLONE_NEW flags for these parts: those that the fork needs, and those
 * that are entered before exec. A user namespace is added, and *user set, when
 * this process lacks CAP_SYS_ADMIN. */
void namespaces_flags(unsigned parts, bool *user, unsigned *at_fork,
	unsigned *at_apply);

/* The life of a pid namespace's first process: forwards to the command what is
 * sent to it, reaps, and ends when the command does. *status is its status.
 * Each time that the command stops, *stopped becomes the signal and 1 is added
 * to the eventfd. */
void namespaces_init(pid_t command, int eventfd, int *stopped, int *status);

#endif
