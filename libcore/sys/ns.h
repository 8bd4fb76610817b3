/* ns.h - entering namespaces, and whether that works here
 * SPDX-License-Identifier: MIT
 *
 * Raw system calls, usable between fork and exec; 0 or -errno.
 */
#ifndef WARDBOX_NS_H
#define WARDBOX_NS_H

#include <stdbool.h>
#include <sys/types.h>

/* Does this process need no user namespace to make others (CAP_SYS_ADMIN)? */
bool ns_is_admin(void);

/* Is there a filter around this process that refuses it all namespaces, as most
 * containers have one? One call; where false, a kernel may still refuse them. */
bool ns_is_refused(void);

/* In a new user namespace: the ids that the process had outside. */
int ns_map(uid_t uid, gid_t gid);

/* In new mount and pid namespaces: a fresh /proc over the old one. */
int ns_proc(void);

/* In a new mount namespace: what is mounted here stays here. */
int ns_private(void);

/* In a new network: its loopback, up. */
int ns_loopback(void);

/* The whole of it for these CLONE_NEW flags, in this process: unshare, map,
 * mounts, /proc, loopback. A user namespace is added where it takes one. */
int ns_try(unsigned flags);

#endif
