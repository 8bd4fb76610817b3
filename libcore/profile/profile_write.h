/* profile_write.h - somebody's startup file, changed so that it never breaks
 * SPDX-License-Identifier: MIT
 *
 * Under a lock on the directory: read, edit, check, write beside, compare
 * again, rename. A reader, and a kill at any moment, sees the old file or the
 * new one.
 */
#ifndef WARDBOX_PROFILE_WRITE_H
#define WARDBOX_PROFILE_WRITE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/diag.h"
#include "profile/profile_edit.h"

/* Makes the new text. missing: there is no file yet. */
typedef int profile_editor(void *ctx, const char *text, size_t n, bool missing,
	struct buf *out, enum profile_action *action, struct diag *d);
/* May the new text replace the old one? */
typedef int profile_checker(void *ctx, const struct buf *before,
	const struct buf *after, struct diag *d);

struct profile_write {
	const char *path; /* absolute */
	profile_editor *edit;
	profile_checker *check; /* or NULL */
	void *ctx;
	const char *backup_dir; /* "" for beside the file; NULL: none */
	unsigned flags;         /* PROFILE_OPEN_NOFOLLOW, _TRUSTED, _PUBLIC */
	mode_t less, more; /* of a file that is there: bits to take and to give */
	bool dry_run;
	unsigned wait_ms; /* for the lock */
};

struct profile_written {
	enum profile_action action;
	struct buf before, after; /* released by profile_written_release */
	char backup[1280];        /* where the old bytes went; "" for nowhere */
	bool missing;             /* there was no file */
	bool in_place;            /* a rename was not possible */
};

void profile_written_release(struct profile_written *w);

/* out is all zero, or what an earlier call left there.
 * 0; -EACCES -EROFS -EPERM (cannot be written; -ELOOP: not followed); -EAGAIN
 * (locked, or changing all the time); -EBADMSG -EFBIG -EINVAL and others from
 * edit and check: nothing was changed. */
int profile_write(const struct profile_write *job, struct profile_written *out,
	struct diag *d);

#endif
