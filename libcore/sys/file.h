/* file.h - files that others may be reading, writing or faking
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_FILE_H
#define WARDBOX_FILE_H

#include <dirent.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/diag.h"

static inline void cleanup_dir(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}
/* DIR *dir, closed unless NULL. */
#define autodir autoclean(cleanup_dir)

/* Reads a whole regular file into b (-EFBIG beyond the maximum of b). */
int file_read(int dirfd, const char *path, struct buf *b);

/* Writes all n bytes, through EINTR and short writes. */
int file_write_all(int fd, const void *bytes, size_t n);

/* Replaces dirfd/name atomically: a temporary file beside it, written, synced
 * when asked, renamed over. A reader sees the old or the new, never a mix; a
 * failure leaves the old and no temporary. */
int file_replace(int dirfd, const char *name, const void *bytes, size_t n,
	mode_t mode, bool sync);

/* Refuses a file that somebody else could have planted. fd is open already, so
 * that the checked file is the used one. The owner must be root or uid, and
 * neither group nor world may write; 0 or -EPERM with d. */
int file_check_trusted(int fd, uid_t uid, const char *name, struct diag *d);
struct stat;
/* The same of a regular file; -EINVAL with d if it is none. Fills st. */
int file_check_regular(int fd, uid_t uid, const char *name, struct stat *st,
	struct diag *d);
/* The same for a stat, where no descriptor can be had. */
int file_trusted(
	const struct stat *st, uid_t uid, const char *name, struct diag *d);

/* Opens (and makes, mode 0700, when make is set) a private directory beneath
 * dirfd: not through a symlink, owned by uid, no permission for others. */
int file_private_dir(
	int dirfd, const char *name, uid_t uid, bool make, struct diag *d);

/* Can nobody but uid and root move the directory fd, or a directory above it,
 * away? Sticky directories are good. -EPERM names the first one that is not. */
int file_check_parents(int fd, uid_t uid, struct diag *d);

/* mkdir -p: makes missing directories with 0755, the last one with mode. */
int file_mkdirs(const char *path, mode_t mode);

/* file_replace, which also makes the missing directories of path: 0755, less
 * the umask unless mode lets everybody read the file. */
int file_make(const char *path, const void *bytes, size_t n, mode_t mode,
	bool sync);

/* file_replace, or with make file_make, for a path that a person named: a
 * device, a pipe or the name of an open descriptor (/dev/stdout) is written to,
 * and not replaced by a file. */
int file_put(const char *path, const void *bytes, size_t n, mode_t mode,
	bool make);
bool file_is_replaced(const char *path);

#endif
