/* applet.h - what an applet is to the dispatcher
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_APPLET_H
#define WARDBOX_APPLET_H

#include "cli/cli.h"

/* Each applets/NAME.c defines one, named NAME_applet with '-' as '_'. Its
 * stanza (see HACKING.md) is all the build needs to know of it. */
struct applet {
	/* argv[0] is what it was called by, untouched: "-sh", "/bin/sh", or the
	 * word behind "wardbox". The result is the exit code. */
	int (*run)(int argc, char **argv);
	const struct cli_spec *cli;
};

/* The generated table, a row per name or pattern ("auto-*"), in byte order. */
struct applet_name {
	char name[16];
	const struct applet *applet;
	const char *about; /* the one line of --list; NULL on an alias */
};
extern const struct applet_name applet_names[];
extern const size_t applet_names_count;

/* By exact name, then by pattern; a directory and one leading '-' (a login
 * shell's mark) are passed over. NULL when there is none. */
const struct applet_name *applet_find(const char *name);

#endif
