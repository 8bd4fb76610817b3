/* guard_log.c - the one log of a user, for who writes it and who reads it
 * SPDX-License-Identifier: MIT
 */
#include "guard/guard_log.h"

#include <errno.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "log/audit_place.h"
#include "sys/env.h"

/* Opens a log below the state base; with make, makes it. */
static int log_in_base(struct audit_place place, const struct session_where *w,
	bool make, char *path, size_t size, struct diag *d)
{
	char base[SESSION_BASE_MAX];
	autofd int own = session_base(w, make, base, d);

	if (own == -EPERM)
		return own;
	if (own >= 0)
		place.state_base = base;
	return audit_place_open(&place, w->uid, make, path, size, d);
}

int guard_log_open(const struct guard_log *l, char *path, size_t size,
	struct diag *d)
{
	const struct session_where *w = l->where;
	struct audit_place place = {
		.state_home = env_get(l->env, "XDG_STATE_HOME"),
		.home = env_get(l->env, "HOME"),
	};
	int fd = audit_place_open(&place, w->uid, false, path, size, d);

	if (fd != -ENOENT)
		return fd;
	/* A base that is refused holds no log, and hides none elsewhere. */
	fd = log_in_base(place, w, false, path, size, d);
	if (fd >= 0 || !l->make)
		return fd;
	if (l->not_home)
		place.state_home = place.home = NULL;
	fd = audit_place_open(&place, w->uid, true, path, size, d);
	return fd == -ENOENT ? log_in_base(place, w, true, path, size, d) : fd;
}
