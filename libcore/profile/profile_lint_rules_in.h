/* profile_lint_rules_in.h - rules that both the finding and the repair ask
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_PROFILE_LINT_RULES_IN_H
#define WARDBOX_PROFILE_LINT_RULES_IN_H

#include <stdbool.h>

#include "profile/profile_lint.h"
#include "profile/rcfile.h"

/* ". FILE" and "source FILE". */
bool lint_is_source(const struct rc_cmd *cmd);

/* The file, as the scanner wants it. */
struct rc_source lint_source(const struct profile_lint *l);

/* Sources, whatever happens, a file that is not there. */
bool lint_is_dangling(const struct profile_lint *l, const struct rc_cmd *cmd);

/* ". X" as "if [ -r X ]; then . X; fi" in the file's language, each word as it was
 * written. */
void lint_guarded(const struct profile_lint *l, const struct rc_cmd *cmd,
	struct buf *out);

/* Something only bash knows, where plain sh reads too. */
bool lint_is_bashism(const struct profile_lint *l, const struct rc_cmd *cmd);

#endif
