/* profile_doctor.h - the problems of a user's startup files
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_APPLET_PROFILE_DOCTOR_H
#define WARDBOX_APPLET_PROFILE_DOCTOR_H

#include "profile_facts.h"
#include "profile/profile_lint.h"
#include "profile/profile_problem.h"

/* Finds them all; words are commands that should be found on PATH. */
void profile_doctor_find(struct profile_problems *problems,
	struct profile_facts *facts, const struct profile_who *who,
	const struct profile_opts *o, int words, char **word);

/* Looks at a path for profile_lint. */
char profile_look(void *ctx, const char *path);

/* The shell that reads the file, for its language. */
enum shell_kind profile_language(
	const char *path, const struct profile_who *who);

/* The user's directory of records: a descriptor, or -errno with d. */
int profile_undo_open(const struct profile_who *who, bool make, struct diag *d);

#endif
