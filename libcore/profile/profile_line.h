/* profile_line.h - a directory or a variable, and the line that sets it
 * SPDX-License-Identifier: MIT
 *
 * Pure. Every line here can be run twice in a row, under set -u and with an
 * empty PATH, without a second entry and without an empty one.
 */
#ifndef WARDBOX_PROFILE_LINE_H
#define WARDBOX_PROFILE_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/diag.h"
#include "profile/shellkind.h"

enum { PROFILE_DIR_MAX = 4095 };

/* A directory as it is compared and as it is written. */
struct profile_dir {
	char text[PROFILE_DIR_MAX + 1]; /* absolute, slashes collapsed */
	size_t home; /* leading bytes that are written $HOME; 0: none */
};

enum {
	PROFILE_ABSOLUTE = 1, /* never write $HOME for the home's own path */
	PROFILE_SYSTEM = 2, /* only a $HOME that was asked for is written so */
	PROFILE_FORCE = 4,  /* protected variables too */
};

/* Takes "~/x", "$HOME/x", "${HOME}/x" and absolute paths; every other '$' is a
 * letter. Collapses "//", "/./" and a trailing "/", follows nothing. home may
 * be NULL when it is not known. -EINVAL with d for what no PATH can hold. */
int profile_dir_parse(struct profile_dir *dir, const char *input,
	const char *home, unsigned flags, struct diag *d);

/* The effect of a managed line. */
enum profile_what { PROFILE_PREPEND, PROFILE_APPEND, PROFILE_VAR };

struct profile_item {
	enum profile_what what;
	struct profile_dir *dir; /* PREPEND, APPEND */
	const char *name;        /* VAR */
	const char *value;
};

/* May a variable of that name be set, to that value, in that family? -EINVAL
 * with d: no name, PATH, one that would break or take over the shell (unless
 * PROFILE_FORCE), a value that does not fit on a line. */
int profile_var_check(const char *name, const char *value,
	enum shell_family family, unsigned flags, struct diag *d);

/* Appends the line and its newline. A value that starts with a home prefix is
 * written with $HOME unless home is given (then with that). -EINVAL with d when
 * the family cannot hold it. */
int profile_line(struct buf *out, enum shell_family family,
	const struct profile_item *item, const char *home, struct diag *d);

/* The same for a Dockerfile: ENV PATH="…" or ENV N="…". */
int profile_line_docker(struct buf *out, const struct profile_item *item,
	const char *home, struct diag *d);

/* Length of a leading "~", "$HOME" or "${HOME}" that stands alone or before a
 * '/'; 0 when there is none. */
size_t profile_home_prefix(const char *s);

/* Quotes s for a word of the family; for messages and fixes. */
void profile_quote(
	struct buf *out, enum shell_family family, const char *s, size_t n);

#endif
