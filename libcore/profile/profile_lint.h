/* profile_lint.h - what is wrong with a startup file, by reading it
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_PROFILE_LINT_H
#define WARDBOX_PROFILE_LINT_H

#include <stdbool.h>

#include "base/buf.h"
#include "profile/profile_problem.h"
#include "profile/shellkind.h"

struct profile_lint {
	const char *path; /* for messages; its last part tells what it is */
	const char *text;
	size_t len;
	enum shell_kind kind;
	const char *home;
	bool system; /* the machine's: setting PATH anew is its business */
	/* Tells the kind of an absolute path: 0 nothing, 'f' something, 'd' a
	 * directory, 'w' a directory that anyone may write to. */
	char (*look)(void *ctx, const char *path);
	void *ctx;
};

/* Adds what it finds. 0 or -ENOMEM. */
int profile_lint(
	const struct profile_lint *lint, struct profile_problems *problems);

/* Judges a PATH that a shell really has; where says in which session. */
void profile_lint_path(const struct profile_lint *lint, const char *path,
	const char *where, struct profile_problems *problems);

/* Does the file source another one, whatever the condition? name is the last
 * part of that one's path (".bashrc"). */
bool profile_sources(const struct profile_lint *lint, const char *name);

/* Repairs text: DANGLING_SOURCE, CRLF, BASHISM, PATH_CORRUPT. Writes the
 * whole new text; the number of places that were changed, or -errno. */
int profile_repair(const struct profile_lint *lint,
	enum profile_problem_code code, struct buf *out);

#endif
