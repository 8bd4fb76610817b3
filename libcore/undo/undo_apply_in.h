/* undo_apply_in.h - a restore that is under way
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_UNDO_APPLY_IN_H
#define WARDBOX_UNDO_APPLY_IN_H

#include "undo/undo_in.h"

struct applying {
	struct undo_model *m;
	const struct undo_wish *w;
	struct undo *u;
	struct undo_acts *failed;
	uint64_t began;
	struct aside {
		int fd;
		struct undo_stat root; /* as it was before */
		char name[40];
	} aside[UNDO_ROOTS_MAX];
	uint32_t dir; /* that .fd is open on */
	bool dir_after;
	int fd;
	size_t done, of;
};

/* The directory as it was before, or after; it stays open for the next call. */
int undo_at_dir(struct applying *a, uint32_t dir, bool after);
/* A directory in the root of dir, on that file system, for what is on its way. */
int undo_at_aside(struct applying *a, uint32_t dir, bool after);
const char *undo_aside_name(const struct undo_model *m, char out[static 40]);
/* Journals a change of the restore itself. */
int undo_at_touch(struct applying *a, enum undo_what what, int fd,
	const char *name);

/* undo_put.c: puts aside links to what lost one of many names, because directories
 * around it may move. Where that cannot be, it is copied. */
void undo_put_links(struct applying *a);
/* Gives an entry the object that it had. */
int undo_put_back(struct applying *a, uint32_t index);
/* Gives the object at fd/name the content that it had. */
int undo_put_content(struct applying *a, uint32_t id, int fd, const char *name);

#endif
