/* profile_undo.h - what a repair changed, kept until it is taken back
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_PROFILE_UNDO_H
#define WARDBOX_PROFILE_UNDO_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/diag.h"

/* One file as it was and as the repair left it. */
struct profile_undo {
	char path[1024];
	mode_t mode; /* as it was; 0: it was not there */
	struct buf before, after;
};

void profile_undo_release(struct profile_undo *u);

/* The directory of records below the user's state directory, made if make is
 * set: a descriptor, or -errno. state is XDG_STATE_HOME or NULL. */
int profile_undo_dir(
	const char *state, const char *home, int make, struct diag *d);

/* Writes a record that does not count before profile_undo_settle(). It has the
 * "before" of an older one of the same file that had led to what is there now. */
int profile_undo_save(int dir, const char *path, mode_t mode,
	const struct buf *before, const struct buf *after, struct diag *d);

/* The file was changed (done): its record counts, instead of an older one. Or it
 * was not: the record is taken away. */
int profile_undo_settle(int dir, const char *path, bool done, struct diag *d);

/* Reads a record by its file's name in dir. -EBADMSG when it is none. */
int profile_undo_load(int dir, const char *name, struct profile_undo *u);

#endif
