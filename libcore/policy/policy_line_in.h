/* policy_line_in.h - the directories that a line names
 * SPDX-License-Identifier: MIT
 *
 * A place to work in is looked for before a policy judges the line, by the words
 * that are plain.
 */
#ifndef WARDBOX_POLICY_LINE_IN_H
#define WARDBOX_POLICY_LINE_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct line_dir {
	const char *word; /* absolute */
	bool enters;      /* the line works there: cd, pushd, -C, --prefix;
			   * otherwise it names a file there by a whole path */
	bool goes;        /* cd, pushd: the rest of the line works there */
};
/* Returns true to go on. */
typedef bool line_dir_each(void *ctx, const struct line_dir *w);

/* Shows the directories in order: the one that the first command enters, and
 * those of whole paths; also in a text for a shell within the line. home may be
 * NULL. */
void line_dirs(const char *line, size_t len, const char *cwd, const char *home,
	line_dir_each *each, void *ctx);

/* Is what root lies in a directory of uid's that holds one repository, its worktrees,
 * bare repositories, files, and nothing else? To out, of PATH_MAX bytes. */
bool root_around(const char *root, uid_t uid, char *out, size_t size);

#endif
