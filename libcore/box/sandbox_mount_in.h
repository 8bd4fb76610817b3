/* sandbox_mount_in.h - which paths of a plan need a mount of their own
 * SPDX-License-Identifier: MIT
 *
 * Landlock adds up and never takes away. Where a plan takes away (read-only or
 * hidden inside of writable), a mount namespace does: everything is read-only
 * there but the writable grants, which also ends chmod and its like outside.
 */
#ifndef WARDBOX_SANDBOX_MOUNT_IN_H
#define WARDBOX_SANDBOX_MOUNT_IN_H

#include "box/sandbox.h"

/* Sorts the opened grants by path, gives each its enum sandbox_mount, and adds
 * those that others need. 1 when the plan takes something away, 0 when not;
 * -EINVAL when it contradicts itself. All rules must be open. */
int sandbox_mounts(struct sandbox *s, struct diag *d);

/* Adds a rule for each other name of the file that r hides or makes read-only,
 * behind the rules; *added counts them. -errno. */
int sandbox_views(struct sandbox *s, const struct sandbox_rule *r, size_t *added);

/* In the child, in a new mount namespace: mounts. Raw calls alone. */
int sandbox_mount_all(struct sandbox *s);

/* In the child: opens path beneath the directory whose name is its first laid
 * bytes. Missing directories on the way are made, also a directory or an empty
 * file at the end, and no link is followed. path is changed meanwhile. A
 * descriptor or -errno. */
int sandbox_point(char *path, size_t laid, bool dir);

/* In the child, for a working directory that cannot be entered by its name:
 * enters one that was removed, too, and leads nowhere. */
int sandbox_enter_gone(void);

#endif
