/* shimlinks.h - from a shim to the shell it stands in for
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_SHIMLINKS_H
#define WARDBOX_SHIMLINKS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"

/* The record that install wrote. */
#define SHIM_RECORD "/etc/wardbox/install"

enum {
	SHIM_SHELLS = 4,
	SHIM_NAME_MAX = 8,
};
/* The names of shells to which a shim answers. */
extern const char shim_shells[SHIM_SHELLS][SHIM_NAME_MAX];
bool shim_is_shell(const char *name);

/* Finds which shim was executed, whatever argv[0] says: "exec -a NAME bash", a
 * login's "-su", a link to a shell with another name ("rbash"). execfn is the
 * kernel's word (AT_EXECFN), which for a script is the script: then argv0
 * counts. out gets the path with the shell's name; -ENOENT when it was no
 * shell's. */
int shim_called(
	const char *argv0, const char *execfn, char *out, size_t size);

/* Finds the real shell behind a shim that was called as `called` (argv[0] or
 * shim_called()'s result; with or without a directory and a leading '-'). The
 * places, in order: DIR/NAME.real, /bin/NAME.real, /usr/bin/NAME.real, the
 * record's word about NAME (record NULL: SHIM_RECORD), and where no shim stands
 * DIR/NAME, /bin/NAME, /usr/bin/NAME. With "" as the record only DIR is looked
 * into, for callers who name a file. wardbox itself (device and inode) is never
 * the answer; if a link leads to another shim ("sh.real" -> "dash"), that
 * shim's original is. Links in the path are not resolved, so that policy and
 * busybox see the name; the caller keeps argv[0]. -ENOENT when there is none,
 * -ENAMETOOLONG. */
int shim_real(const char *called, const char *record, char *out, size_t size,
	struct diag *d);

#endif
