/* ns.h - entering namespaces, and whether that works here
 * SPDX-License-Identifier: MIT
 *
 * Raw system calls, usable between fork and exec; 0 or -errno.
 */
#ifndef WARDBOX_NS_H
#define WARDBOX_NS_H

#include <stdbool.h>
#include <sys/types.h>

/* Can this process make namespaces without a user namespace (CAP_SYS_ADMIN)? */
bool ns_is_admin(void);

/* Does a filter around this process refuse all namespaces, as in most
 * containers? One call; if false, a kernel may still refuse them. */
bool ns_is_refused(void);

/* Is this in a container, as far as that has a pid namespace of its own? */
bool ns_is_contained(void);

/* In a new user namespace: maps the ids that the process had outside. */
int ns_map(uid_t uid, gid_t gid);

/* In new mount and pid namespaces: mounts a fresh /proc over the old one. */
int ns_proc(void);

/* In a new mount namespace: keeps mounts from spreading outside. */
int ns_private(void);

/* In a new network: starts its loopback. */
int ns_loopback(void);

/* All of this for these CLONE_NEW flags, in this process: unshare, map, mounts,
 * /proc, loopback. A user namespace is added where one is needed. */
int ns_try(unsigned flags);

#endif
