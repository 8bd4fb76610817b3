/* guard_log.h - the one log of a user, for who writes it and who reads it
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_GUARD_LOG_H
#define WARDBOX_GUARD_LOG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "session/session.h"

/* Opens /var/log/wardbox/UID, else $XDG_STATE_HOME/wardbox/audit or the same
 * below ~/.local, else STATE BASE/UID/audit: the first that exists; with make,
 * the first that can be made. So a log that was begun is found from everywhere.
 * A place that somebody else prepared is refused and named. With not_home none
 * is made in the home. Returns a descriptor, and the path where path is not
 * NULL; -ENOENT; -errno. */
struct guard_log {
	char *const *env;
	const struct session_where *where;
	bool make, not_home;
};
int guard_log_open(const struct guard_log *l, char *path, size_t size,
	struct diag *d);

#endif
