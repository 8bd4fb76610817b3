/* doctor_shells.c - is this machine's shell still the guarded one?
 * SPDX-License-Identifier: MIT
 */
#include <unistd.h>

#include "applet.h"
#include "base/str.h"
#include "doctor.h"
#include "shim/shim_install.h"

/* A hint: how to keep a package manager from replacing the shell again. */
static const char *keeper_hint(void)
{
	if (access("/var/lib/dpkg/status", F_OK) == 0)
		return "'wardbox install --yes' puts it back; 'dpkg-divert "
		       "--local --no-rename --divert NAME.real --add NAME' keeps "
		       "it there through upgrades";
	if (access("/lib/apk/db", F_OK) == 0)
		return "'wardbox install --yes' puts it back; a script in "
		       "/etc/apk/commit_hooks.d that runs it keeps it there";
	return "'wardbox install --yes' puts it back";
}

int doctor_shells(struct diag *d, const char **fix)
{
	static struct shim_root r;
	int found = 0;

	r = SHIM_ROOT_INIT;
	*fix = keeper_hint();
	if (shim_root_open(&r, "/", NULL, NULL, d) < 0) {
		*fix = "";
		found = d->text[0] ? -1 : 0;
	} else if (r.recorded) {
		found = 1;
	}
	for (size_t i = 0; found > 0 && i < r.entry_count; i++) {
		const struct shim_entry *e = &r.entry[i];

		if (!shim_record_has(&r.record, e->path) ||
			(e->state == SHIM_GUARDED && !r.changed))
			continue;
		diag_fail(d, -1, "%s is %s: %s", e->path,
			shim_entry_state(&r, e), shim_entry_advice(&r, e));
		found = -1;
	}
	shim_root_release(&r);
	return found;
}
