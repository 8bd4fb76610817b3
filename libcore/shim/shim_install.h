/* shim_install.h - puts shims over the shells of a root, and takes them off
 * SPDX-License-Identifier: MIT
 *
 * Every step leaves a root in which each shell's name works: a second name is
 * linked to the original, then the shim is renamed over the first. Killed
 * anywhere, the next install or uninstall brings it to its end.
 */
#ifndef WARDBOX_SHIM_INSTALL_H
#define WARDBOX_SHIM_INSTALL_H

#include "shim/shim_root_in.h"

struct shim_plan {
	int binary;          /* the wardbox to be installed, open */
	/* For a new policy where there is none: what it includes and the
	 * profile that it uses; NULL leaves that to the included policy. */
	const char *include, *profile;
};

/* Would the program run in that root? It must be a static ELF file for the
 * machine of the root's shells. -ENOEXEC. */
int shim_check_binary(int fd, const struct shim_root *r, struct diag *d);

/* Does this root have a system policy? */
bool shim_has_policy(const struct shim_root *r);

/* Finds out how an install (plan NULL: an uninstall) would fail before anything
 * is changed. Else 1 if it would put the binary in its place, 0 if not. */
int shim_foresee(const struct shim_root *r, const struct shim_plan *plan,
	struct diag *d);

/* Guards every entry. -EROFS, -EACCES, -EAGAIN (another install runs), -EEXIST
 * (another wardbox is where this one should be; a shell without its original,
 * or with a .real that is not ours) before anything is changed; a later failure
 * is taken back. */
int shim_install(
	struct shim_root *r, const struct shim_plan *plan, struct diag *d);

/* Restores every entry's original and, when no shim is left, removes what
 * install made beside them. */
int shim_uninstall(struct shim_root *r, struct diag *d);

#endif
