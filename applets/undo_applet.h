/* undo_applet.h - what the files of the applet share
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_UNDO_APPLET_H
#define WARDBOX_UNDO_APPLET_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/cli.h"
#include "undo/undo.h"

struct undo_opts {
	bool json, dry_run, force, verbose, session, all;
	uint64_t older;
};

/* The project of the current directory. */
const char *undo_here(void);
/* The caller's store; ends with a message where there is none. */
int undo_store(bool alone);
/* The last that can be taken back, or with redo done again; ends with a message
 * where there is none. */
uint64_t undo_last(int store, const char *root, bool redo);
/* Takes one back, and reports. The exit code. */
int undo_one(const struct undo_opts *o, int store, uint64_t number,
	const char *const *paths, size_t path_count);

/* undo_show.c */
int undo_verb_list(void *into, int argc, char **argv);
int undo_verb_show(void *into, int argc, char **argv);
int undo_verb_diff(void *into, int argc, char **argv);
int undo_print_freed(const struct undo_opts *o, uint64_t bytes);

#endif
