/* profile_edit.h - the new text of a startup file, from the old one
 * SPDX-License-Identifier: MIT
 *
 * Pure: text in, text out. What is taken out again leaves the bytes that were
 * there before, whatever their encoding or line ends.
 */
#ifndef WARDBOX_PROFILE_EDIT_H
#define WARDBOX_PROFILE_EDIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/diag.h"
#include "profile/profile_line.h"

enum profile_action {
	PROFILE_UNCHANGED,
	PROFILE_ADDED,
	PROFILE_UPDATED,
	PROFILE_REMOVED,
	PROFILE_UNLINKED, /* nothing is left of a file that was ours */
};

const char *profile_action_name(enum profile_action action);

struct profile_change {
	const char *id;
	enum shell_family family; /* SH, FISH or CSH */
	bool zsh;		  /* its array path counts as PATH */
	const char *home;	  /* to understand the text; or NULL */
	const struct profile_item *item;
	size_t count;
	/* Per directory item: is it there on the disk? NULL: none is. */
	const bool *exists;
	/* The text that every session reads besides the file; its lines count
	 * as if they stood in the file. Or NULL. */
	const struct buf *beside;
	/* Lines given whole instead of items: a fix's block. */
	const char *raw;
	bool remove;  /* the items, or with count 0 the whole block */
	bool force;   /* whatever the user's own lines say */
	bool top;     /* at the start instead of the end */
	bool no_file; /* there is none yet; text is empty */
};

enum { PROFILE_TEXT_MAX = 1 << 20 };

/* Writes the new text to out (which has the maximum) and what was done to
 * *action. -EBADMSG: markers that do not pair; -EFBIG; what profile_line
 * says. */
int profile_edit(const struct profile_change *change, const char *text,
	size_t n, struct buf *out, enum profile_action *action, struct diag *d);

#endif
