/* rc_path.h - what the commands of a startup file do to PATH
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_RC_PATH_H
#define WARDBOX_RC_PATH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "profile/rcfile.h"

/* If the command changes PATH, the new value goes to out, with ':' between the
 * entries whatever the shell's own way is, RC_PATH where the old value stands
 * and RC_UNKNOWN for what cannot be known. */
bool rc_path_change(
	const struct rc_cmd *cmd, enum shell_family family, struct buf *out);

/* If the command sets the variable, its value. "export N" alone does not. */
bool rc_var_change(const struct rc_cmd *cmd, enum shell_family family,
	const char *name, struct buf *out);

/* The next entry of a ':' list: its length at *at, which moves behind the ':';
 * false at the end. */
bool rc_entry(const char *list, size_t n, size_t *at, const char **entry,
	size_t *len);

/* Are they the same directory as text: "/a//b/" is "/a/b"? */
bool rc_same_dir(const char *a, size_t n, const char *b);

/* Does nothing of the file run behind this command, for certain? */
bool rc_ends(const struct rc_cmd *cmd);

/* Is dir in PATH once the file has run, for certain? Counts what runs without
 * condition, and under [ -d dir ] when dir_exists. Bytes in the skip ranges
 * (begin, end pairs) are passed over. -ENOMEM, else 0 or 1. */
int rc_path_has(const struct rc_source *source, const char *dir,
	bool dir_exists, const size_t (*skip)[2], size_t skips);

/* The same for a variable that has this value at the end. */
int rc_var_has(const struct rc_source *source, const char *name,
	const char *value, const size_t (*skip)[2], size_t skips);

#endif
