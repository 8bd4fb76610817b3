/* shim_steps_in.h - what the parts of shim_install.h share
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_SHIM_STEPS_IN_H
#define WARDBOX_SHIM_STEPS_IN_H

#include <sys/types.h>

#include "shim/shim_install.h"

enum shim_fate {
	SHIM_MAKE,
	SHIM_KEEP,
	SHIM_REFUSE,
};

/* Opens the directory of a path of the root; the last part goes to name
 * (SHIM_PATH_MAX bytes). */
int shim_open_parent(const struct shim_root *r, const char *path, char *name);

/* Replaces dir/name through one temporary name, ".NAME.wardbox", so that the
 * next run finds and removes what a killed run left. Synced. */
int shim_put_file(
	int dir, const char *name, const void *bytes, size_t n, mode_t mode);

/* Removes a file, or an empty directory, of the root, and its temporary. A
 * missing file is no error. */
int shim_remove(const struct shim_root *r, const char *path);
int shim_remove_dir(const struct shim_root *r, const char *path);

/* Decides about the binary; REFUSE: another one is there. */
enum shim_fate shim_binary_fate(
	const struct shim_root *r, const struct shim_plan *plan);
int shim_put_binary(const struct shim_root *r, const struct shim_plan *plan,
	struct diag *d);

/* Makes the record and its directory. shim_end_record marks the record complete
 * and keeps the mtime that it tells. */
int shim_make_etc(struct shim_root *r, struct diag *d);
int shim_save_record(const struct shim_root *r, struct diag *d);
int shim_end_record(struct shim_root *r, struct diag *d);

/* Moves an entry one step on: a second name for the original, then the shim
 * over the first. */
int shim_entry_prepare(const struct shim_entry *e);
int shim_entry_swap(const struct shim_entry *e, const char *binary);
/* And back: the original over the shim, then removes the second name. Between
 * the two, a shim that has just started still finds its original. */
int shim_entry_restore(struct shim_entry *e);
int shim_entry_forget(const struct shim_entry *e);

/* Remember the directories' mtimes, note them after the change, and restore
 * them where nobody else has changed the directory since. */
int shim_times_before(struct shim_root *r);
void shim_times_check(struct shim_root *r);
void shim_times_restore(const struct shim_root *r);

#endif
