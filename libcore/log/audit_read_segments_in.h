/* audit_read_segments.h - the segments of a log directory
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_AUDIT_READ_SEGMENTS_H
#define WARDBOX_AUDIT_READ_SEGMENTS_H

#include <stdint.h>

#include "base/diag.h"

/* First seqs of the segments, ascending; free() them. -errno or the count. */
int audit_segments(int dirfd, uint64_t **firsts, struct diag *d);

/* The first of a segment, its header and the reason for it, is never longer. One
 * that the head does not know and that holds no more is what a writer left that
 * died as it began it. */
enum { AUDIT_ORPHAN_MAX = 8192 };

#endif
