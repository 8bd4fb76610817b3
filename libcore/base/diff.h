/* diff.h - two texts as a unified diff
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_DIFF_H
#define WARDBOX_DIFF_H

#include <stddef.h>

#include "base/buf.h"

/* Appends a unified diff for patch(1): names behind --- and +++, three lines of
 * context, the mark for a missing last newline. Nothing when the texts are
 * equal. Always correct; the shortest one while the changed parts are small. 0,
 * -ENOMEM, or out's error. */
int diff_unified(struct buf *out, const char *old_name, const char *new_name,
	const char *a, size_t a_len, const char *b, size_t b_len);

#endif
