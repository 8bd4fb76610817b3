/* doctor.h - what the parts of doctor share
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_DOCTOR_H
#define WARDBOX_DOCTOR_H

#include <stdbool.h>

#include "base/diag.h"

/* The protections that the policy in force asks of this machine. */
struct doctor_needs {
	bool confined; /* the profile has a sandbox */
	unsigned relax; /* enum sandbox_part: it goes without these */
};

/* For this user, as a command that is started here would find it; a policy that
 * cannot be read asks for all. */
void doctor_needs(struct doctor_needs *needs);

/* Runs this program in a sandbox with a watch and limits, once let go on and once
 * denied, in a child. 0; -errno with d. */
int doctor_box(const struct doctor_needs *needs, struct diag *d);

/* Are the shells guarded that 'install' has guarded here? 1; 0 where it guarded
 * none; -1 where one no longer is: d names it, *fix what puts it back. */
int doctor_shells(struct diag *d, const char **fix);

#endif
