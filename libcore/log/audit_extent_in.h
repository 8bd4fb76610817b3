/* audit_extent_in.h - what of a directory is the log
 * SPDX-License-Identifier: MIT
 *
 * Who shows records and who proves them ask here, and nowhere else, which
 * segments there are and how far the live one goes. So nothing is shown that is
 * not proven. All other files of the directory are strays, which are named.
 */
#ifndef WARDBOX_AUDIT_EXTENT_IN_H
#define WARDBOX_AUDIT_EXTENT_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/diag.h"
#include "log/audit_read.h"

/* A new segment's header and the reason for it are never longer. A segment of
 * at most that size that the head does not know was left by a writer that died
 * as it began it. */
enum { AUDIT_ORPHAN_MAX = 8192 };

/* The head and the segments that it knows of, at one moment. */
struct audit_extent {
	struct audit_head head;
	uint64_t *firsts; /* first seqs of the log's segments, ascending */
	size_t count;
	uint64_t size;  /* size of the live segment, which head.segment names */
	uint64_t limit; /* bytes of it that belong to the log; later ones do not
			 * yet */
	uint8_t boot_id[AUDIT_ID]; /* this boot's */
	bool there;    /* a file with the head's name exists, and is no link */
	bool good;     /* the head could be read; else all segments are the
			* log's */
	bool blank;    /* nothing was ever written to the head */
	bool unlocked; /* a writer held the lock for two seconds */
	bool rebooted; /* nobody wrote since the machine came up */
};
void audit_extent_release(struct audit_extent *e); /* Also wipes the keys. */
#define autoextent autoclean(audit_extent_release)
#define AUDIT_EXTENT_INIT ((struct audit_extent){.limit = UINT64_MAX})

/* Reads the extent under the head's lock, unless a writer does not give the
 * lock. */
int audit_extent_take(struct audit_extent *e, int dirfd, crc32c_fn *crc,
	struct diag *d);
/* Reads only the segments, for a writer, which knows head, limit and good. */
int audit_extent_list(struct audit_extent *e, int dirfd, struct diag *d);

/* Kinds of files in the directory that are neither head nor spine nor a segment
 * of the extent. */
enum audit_stray_kind {
	AUDIT_STRAY_BEYOND,    /* a segment that the head does not know */
	AUDIT_STRAY_SHAPE,     /* a name of the log's, but no regular file */
	AUDIT_STRAY_SPELLING,  /* a name that is nearly a segment's */
	AUDIT_STRAY_TEMPORARY, /* left by a writer that died */
	AUDIT_STRAY_FOREIGN,   /* anything else */
};
struct audit_stray {
	enum audit_stray_kind kind;
	char name[64];  /* printable; cut when it is longer */
	uint64_t first; /* the number in a segment's name */
	uint64_t size;
	mode_t mode;
};
/* Calls each for every stray. -errno. */
int audit_strays(int dirfd, const struct audit_extent *e,
	void (*each)(void *ctx, const struct audit_stray *s), void *ctx,
	struct diag *d);

#endif
