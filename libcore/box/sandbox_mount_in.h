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

/* Sorts the opened grants by path, marks each with its enum sandbox_mount, and
 * adds those that the others need. 1 when the plan takes something away, 0 when
 * not; -EINVAL when it contradicts itself. Needs all rules to be opened. */
int sandbox_mounts(struct sandbox *s, struct diag *d);

/* Behind the rules, one for each other name of what r hides or makes read-only;
 * they are counted in *added. -errno. */
int sandbox_views(struct sandbox *s, const struct sandbox_rule *r, size_t *added);

/* In the child, in a new mount namespace: does them. Raw calls alone. */
int sandbox_mount_all(struct sandbox *s);

/* There: opens what is at path, beneath the directory whose name is the first
 * laid bytes of it; makes the directories on the way, and a directory or an empty
 * file at its end, where they are missing, and follows no link. path is changed
 * meanwhile. A descriptor or -errno. */
int sandbox_point(char *path, size_t laid, bool dir);

/* There, for a working directory that cannot be entered again by its name: goes
 * to one that was removed, too, and that leads nowhere. */
int sandbox_enter_gone(void);

#endif
