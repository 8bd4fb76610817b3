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

/* The directory of a path of the root, opened; the last part goes to name
 * (SHIM_PATH_MAX bytes). */
int shim_open_parent(const struct shim_root *r, const char *path, char *name);

/* Replaces dir/name by way of one temporary name, ".NAME.wardbox", so that
 * what a killed run left is found and taken away. Brought to the disk. */
int shim_put_file(
	int dir, const char *name, const void *bytes, size_t n, mode_t mode);

/* Removes a file, or an empty directory, of the root, and what shim_put_file
 * may have left beside it. Nothing there is no error. */
int shim_remove(const struct shim_root *r, const char *path);
int shim_remove_dir(const struct shim_root *r, const char *path);

/* What is to be done about the binary; REFUSE: another one is there. */
enum shim_fate shim_binary_fate(
	const struct shim_root *r, const struct shim_plan *plan);
int shim_put_binary(const struct shim_root *r, const struct shim_plan *plan,
	struct diag *d);

/* The record, with its directory. shim_end_record marks it complete, without
 * leaving another mtime than the record tells. */
int shim_make_etc(struct shim_root *r, struct diag *d);
int shim_save_record(const struct shim_root *r, struct diag *d);
int shim_end_record(struct shim_root *r, struct diag *d);

/* One entry a step further: a second name for the original, then the shim over
 * the first. */
int shim_entry_prepare(const struct shim_entry *e);
int shim_entry_swap(const struct shim_entry *e, const char *binary);
/* And back: the original over the shim, then its second name away. Between the
 * two, a shim that has just started still finds what it stands in for. */
int shim_entry_restore(struct shim_entry *e);
int shim_entry_forget(const struct shim_entry *e);

/* Remembers the directories' mtimes before, notes them after, puts them back
 * when nobody else has changed the directory since. */
int shim_times_before(struct shim_root *r);
void shim_times_check(struct shim_root *r);
void shim_times_restore(const struct shim_root *r);

#endif
