/* shim_record_in.h - what install did to a root, as plain text
 * SPDX-License-Identifier: MIT
 *
 *	wardbox-install 1
 *	busy
 *	binary made /usr/bin/wardbox
 *	policy kept /etc/wardbox/policy
 *	made /etc
 *	content 825408 HEX
 *	shell /usr/bin/sh
 *	time /usr/bin 1700000000.0 1700000100.5
 *
 * A word per blank; blanks, '%' and control bytes within one are %XX.
 */
#ifndef WARDBOX_SHIM_RECORD_IN_H
#define WARDBOX_SHIM_RECORD_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "base/buf.h"
#include "base/diag.h"

enum {
	SHIM_PATH_MAX = 192,
	SHIM_SHELLS_MAX = 12,
	SHIM_DIRS_MAX = 8,
	SHIM_RECORD_MAX = 64 << 10, /* bytes of the file */
};

/* A directory's mtime before install and as install left it. */
struct shim_time {
	char path[SHIM_PATH_MAX];
	struct timespec before, after;
};

struct shim_record {
	bool busy; /* an install or uninstall began and has not ended */
	bool binary_made, policy_made;
	/* The binary when it was installed: its size, and its SHA-256 in hex;
	 * "" where an old record does not tell. */
	uint64_t size;
	char sum[65];
	char binary[SHIM_PATH_MAX]; /* all paths are seen from within the
				     * root */
	char policy[SHIM_PATH_MAX];
	char made[2][SHIM_PATH_MAX]; /* directories, outer first; "" for none */
	char shell[SHIM_SHELLS_MAX][SHIM_PATH_MAX]; /* of the shims */
	size_t shell_count;
	struct shim_time time[SHIM_DIRS_MAX];
	size_t time_count;
};

/* Pure functions. The writer returns 0 or the buffer's error; the reader 0,
 * -EINVAL or -E2BIG with the line in d, and fills *r in any case. */
int shim_record_write(const struct shim_record *r, struct buf *out);
int shim_record_parse(
	struct shim_record *r, const char *text, size_t n, struct diag *d);

/* Reads the record at dirfd/path; -ENOENT; -EPERM when neither root nor the
 * caller owns it, or others may write it. */
int shim_record_load(int dirfd, const char *path, struct shim_record *r,
	struct diag *d);

/* Adds a shell. -E2BIG or -ENAMETOOLONG; a path that is there already is no
 * error. */
int shim_record_add(struct shim_record *r, const char *shell);
bool shim_record_has(const struct shim_record *r, const char *shell);
void shim_record_drop(struct shim_record *r, const char *shell);

#endif
