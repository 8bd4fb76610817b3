/* guard_undo.h - where the journals of guarded commands lie
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_GUARD_UNDO_H
#define WARDBOX_GUARD_UNDO_H

#include <stdbool.h>

#include "guard/guard.h"

/* Opens the caller's store for undo.h; alone locks it for a caller who
 * restores. -ENOENT: no command was journaled yet. */
int guard_undo_open(const struct guard_caller *who, bool alone, struct diag *d);

/* Adds "journal" and "changed", members of an object, to j; neither where the
 * command has no journal. */
struct json;
void guard_undo_json(struct json *j, const struct guard_caller *who,
	const struct guard_outcome *out);

/* Notes in the log that a command was taken back; without a log it is no less
 * done. */
struct undo_info;
struct undo_sum;
void guard_undo_restored(const struct guard_caller *who,
	const struct undo_info *i, const struct undo_sum *sum);

#endif
