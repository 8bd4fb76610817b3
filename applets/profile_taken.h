/* profile_taken.h - where repairs are remembered
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_APPLET_PROFILE_TAKEN_H
#define WARDBOX_APPLET_PROFILE_TAKEN_H

#include <stdbool.h>

#include "profile.h"

/* The user's directory of records: a descriptor, or -errno with d. */
int profile_undo_open(const struct profile_who *who, bool make, struct diag *d);

#endif
