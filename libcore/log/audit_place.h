/* audit_place.h - where the log of a user is kept, and in which boot
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_AUDIT_PLACE_H
#define WARDBOX_AUDIT_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "log/audit_format_in.h"
#include "base/diag.h"

/* Values of the environment that the caller knows; each may be NULL. */
struct audit_place {
	const char *log_root;   /* NULL: /var/log/wardbox */
	const char *state_home; /* value of XDG_STATE_HOME */
	const char *home;       /* value of HOME, for ~/.local/state */
	const char *state_base; /* the state base: /run/wardbox, ... */
};

/* Opens the log directory of uid: LOG_ROOT/<uid>, else
 * STATE_HOME/wardbox/audit, else STATE_BASE/<uid>/audit; the first that exists
 * as a private directory of uid or, with make, can be made. An existing
 * candidate that is a symlink, somebody else's, open to others, or below a
 * directory where others could move it away is refused, not skipped. Relative
 * values are skipped. Returns a descriptor and, if path is not NULL, writes the
 * path (for the sandbox to leave out); -ENOENT when there is none. */
int audit_place_open(const struct audit_place *place, uid_t uid, bool make,
	char *path, size_t size, struct diag *d);

/* The id of this boot. Zeros without /proc: then all boots look alike and a
 * shortened log counts as tampering, which is the safe error. */
void audit_boot_id(uint8_t id[static AUDIT_ID]);

#endif
