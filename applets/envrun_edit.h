/* envrun_edit.h - one line from a person at a terminal
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_ENVRUN_EDIT_H
#define WARDBOX_ENVRUN_EDIT_H

#include <stddef.h>

#include "base/buf.h"

enum { HISTORY_MAX = 1000 };

struct history {
	char *line[HISTORY_MAX];
	size_t count;
};

/* Shows prompt and reads a line into line, which is empty, with cursor keys,
 * the usual control keys and the history; keys in typed come first. 0; -ENODATA
 * at the end; -EINTR when it was dropped; -E2BIG when it does not fit; -ENOTTY when the terminal cannot be set. The terminal is as
 * it was before, in every case. */
int envrun_edit(const char *prompt, const struct history *h, struct buf *typed,
	struct buf *line);

#endif
