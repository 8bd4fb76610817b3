/* diag.h - what went wrong, for a person, carried up beside -errno
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_DIAG_H
#define WARDBOX_DIAG_H

/* One failure. The function that finds it fills it; only cli_diag() prints
 * it. */
struct diag {
	char file[128];     /* the file that was read; "": none is meant */
	unsigned line, col; /* from 1; 0: no place */
	char text[232];     /* what is wrong, and what was expected */
	char hint[160];     /* the next step; may be "" */
};

/* Fills text and, with the part behind a "\036", hint (cut when too long),
 * clears the rest and returns err, so that "return diag_fail(d, -EINVAL, …)"
 * reads as one thing. d may be NULL. err is negative. */
__attribute__((format(printf, 3, 4))) int diag_fail(
	struct diag *d, int err, const char *fmt, ...);

/* As diag_fail with ": " and the system's words for -err appended. */
__attribute__((format(printf, 3, 4))) int diag_errno(
	struct diag *d, int err, const char *fmt, ...);

/* The same for a failure of the thing called name. */
int diag_of(struct diag *d, int err, const char *name);

/* Sets the next step in a diag that is already filled. */
__attribute__((format(printf, 2, 3))) void diag_hint(
	struct diag *d, const char *fmt, ...);

/* Adds the place to a diag that is already filled. */
void diag_at(struct diag *d, const char *file, unsigned line, unsigned col);

#endif
