/* profile_block.h - the marked lines of ours in somebody else's file
 * SPDX-License-Identifier: MIT
 *
 *	# >>> profile:ID >>> +nl +file
 *	LINE...
 *	# <<< profile:ID <<<
 *
 * "+nl": the newline before the block is ours (twice: two are, behind a
 * backslash). "+file": the file is. So that taking the block out gives back the
 * very bytes that were there. Pure.
 */
#ifndef WARDBOX_PROFILE_BLOCK_H
#define WARDBOX_PROFILE_BLOCK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/diag.h"
#include "profile/shellkind.h"

enum { PROFILE_ID_MAX = 64, PROFILE_BLOCKS = 128 };

struct profile_block {
	size_t begin, end; /* with both markers and the last newline */
	size_t body, body_end;
	char id[PROFILE_ID_MAX + 1];
	unsigned nl; /* newlines before the block that are ours: 0 to 2 */
	bool file;
};

struct profile_blocks {
	struct profile_block block[PROFILE_BLOCKS];
	size_t count;
};

/* [A-Za-z0-9_.-]{1,64} */
bool profile_id_valid(const char *id);

/* Finds every block, of whatever id, in the order of the text. -EBADMSG with d
 * (line) when markers do not come in ordered pairs; -E2BIG for too many. What
 * stands within a here-document is text. */
int profile_blocks_find(struct profile_blocks *blocks, const char *text,
	size_t n, enum shell_family family, struct diag *d);

/* The block of that id, or NULL. */
struct profile_block *profile_block_of(
	struct profile_blocks *blocks, const char *id);

/* The two marker lines. */
void profile_block_begin(
	struct buf *out, const char *id, unsigned nl, bool file);
void profile_block_end(struct buf *out, const char *id);

#endif
