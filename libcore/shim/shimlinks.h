/* shimlinks.h - from a shim to the shell it stands in for
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_SHIMLINKS_H
#define WARDBOX_SHIMLINKS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"

/* What install wrote about itself. */
#define SHIM_RECORD "/etc/wardbox/install"

enum {
	SHIM_SHELLS = 4,
	SHIM_NAME_MAX = 8,
};
/* The names of shells that a shim answers to. */
extern const char shim_shells[SHIM_SHELLS][SHIM_NAME_MAX];
bool shim_is_shell(const char *name);

/* Which shim was executed, whatever argv[0] says: "exec -a NAME bash", a login's
 * "-su", a link of another name to a shell ("rbash"). execfn is the kernel's
 * word (AT_EXECFN), which for a script is the script: argv0 counts then. The
 * path of the shell's name goes to out; -ENOENT when it was no shell's. */
int shim_called(
	const char *argv0, const char *execfn, char *out, size_t size);

/* Finds the real shell behind a shim that was called as `called` (argv[0] or
 * what shim_called said; a directory and a leading '-' may be there). Looked for, in this order:
 *
 *	DIR/NAME.real  /bin/NAME.real  /usr/bin/NAME.real
 *	what the record says about NAME (record NULL: SHIM_RECORD)
 *	DIR/NAME  /bin/NAME  /usr/bin/NAME	where no shim stands over it
 *
 * With "" as the record only DIR is looked into: for who names a file.
 *
 * A file that is wardbox itself (device and inode) is never the answer; when
 * it is reached through a link to another shim ("sh.real" -> "dash"), that
 * one's original is. The path is returned as it was found, links in it are not
 * resolved, so that policy and busybox see the name; argv[0] is for the caller
 * to keep. -ENOENT when there is none, -ENAMETOOLONG. */
int shim_real(const char *called, const char *record, char *out, size_t size,
	struct diag *d);

#endif
