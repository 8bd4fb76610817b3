/* guard_undo.h - where the journals of guarded commands lie
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_GUARD_UNDO_H
#define WARDBOX_GUARD_UNDO_H

#include <stdbool.h>

#include "guard/guard.h"

/* The caller's store, for undo.h; alone locks it for one who restores. -ENOENT:
 * no command was journaled yet. */
int guard_undo_open(const struct guard_caller *who, bool alone, struct diag *d);

/* What the command changed, as members of an object: "journal", "changed"; none
 * where it has no journal. */
struct json;
void guard_undo_json(struct json *j, const struct guard_caller *who,
	const struct guard_outcome *out);

#endif
