/* profile_change.h - items on their way to files, a CI system or a Dockerfile
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_APPLET_PROFILE_CHANGE_H
#define WARDBOX_APPLET_PROFILE_CHANGE_H

#include "profile.h"

/* As the options say: --docker prints, --ci tells, else files are written. */
int profile_change_items(const struct profile_items *items,
	const struct profile_who *who, const struct profile_opts *o);

/* Which item comes i-th, so that the first directory given is the first on PATH:
 * what is put in front last comes out first. */
size_t profile_in_order(const struct profile_items *items, size_t i);

/* Where a startup file must not or need not be written: says so, fills d and
 * returns the exit code; else EXIT_OK. */
int profile_refuse_useless(const struct profile_who *who,
	const struct profile_opts *o, struct diag *d);

#endif
