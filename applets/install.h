/* install.h - what the parts of the install applet share
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_INSTALL_H
#define WARDBOX_INSTALL_H

#include "cli/cli.h"
#include "shim/shim_install.h"

struct install_opts {
	bool uninstall, status, json, dry_run, yes;
	const char *root, *shells, *policy, *profile, *bindir, *binary;
};

/* Can the system policy of the root, where it has one, be read? Each shell of
 * the root ends with 125 where not. -EINVAL and the like, with d. */
int install_check_policy(const struct install_opts *o, struct diag *d);

/* Prints what a run would do. binary: whether it copies the binary; plan NULL:
 * what --uninstall would do. */
void install_print_plan(const struct shim_root *r, const struct shim_plan *plan,
	bool binary, const struct install_opts *o);

/* Prints the shells after a run. */
void install_print(const struct shim_root *r, const struct install_opts *o);

/* The same as facts; the exit code says whether it is installed and sound. */
int install_print_status(
	const struct shim_root *r, const struct install_opts *o);

#endif
