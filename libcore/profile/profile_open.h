/* profile_open.h - a path followed to its directory, with every step looked at
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_PROFILE_OPEN_H
#define WARDBOX_PROFILE_OPEN_H

#include <limits.h>
#include <stdbool.h>

#include "base/diag.h"

struct profile_open {
	int dirfd; /* open for reading and locking; close it */
	char name[NAME_MAX + 1];
	bool through_link; /* the last component was a symlink */
	bool dangling; /* what a symlink on the way names is not there; with
			* -ENOENT, or for the last component alone */
};

enum {
	PROFILE_OPEN_NOFOLLOW = 1, /* refuse a symlink at the end: -ELOOP */
	PROFILE_OPEN_MAKE = 2,     /* make missing directories, mode 0700 */
	/* Each directory and link on the way must belong to root, and only root
	 * may write there (sticky directories apart), so that a user's symlink
	 * leads root nowhere. -EPERM. */
	PROFILE_OPEN_TRUSTED = 4,
	PROFILE_OPEN_PUBLIC = 8, /* what is made is for all to read: 0755 */
};

/* Walks an absolute path one component at a time, by descriptors, so that what
 * was looked at is what is used. The last component need not exist. -ENOENT
 * when a directory is missing. */
int profile_open_path(struct profile_open *at, const char *path, unsigned flags,
	struct diag *d);

#endif
