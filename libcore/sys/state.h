/* state.h - what one command leaves for the next: the file's form
 * SPDX-License-Identifier: MIT
 *
 * Directory, environment, directory stack and exit code, kept as data that no
 * shell ever reads:
 *
 *	wardbox-state 1
 *	cwd 9:/srv/work
 *	env 7:A=1
 *	2
 *	...
 *	end 5
 *
 * "KEY LENGTH:BYTES" and a newline; the bytes are anything but NUL. The last
 * line counts the records, so that a cut file is seen to be one.
 */
#ifndef WARDBOX_STATE_H
#define WARDBOX_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/diag.h"
#include "sys/env.h"
#include "base/kconfig.h"

enum {
	STATE_VARS_MAX = 4096,	/* variables */
	STATE_DIRS_MAX = 256,	/* directories on the stack */
	STATE_PATH_MAX = 4096,	/* bytes of a path, NUL counted */
	STATE_CHANGES_MAX = 32768,
	/* A file of that size holds every possible state. */
	STATE_FILE_MAX = CONFIG_LIMIT_ENV + STATE_VARS_MAX * 16 +
		(STATE_DIRS_MAX + 4) * (STATE_PATH_MAX + 16) +
		STATE_CHANGES_MAX + 16,
};

struct state {
	char *cwd;       /* physical; NULL: the caller's own */
	char *pwd;       /* logical name of cwd; NULL: the same */
	char *old;       /* the target of "cd -"; NULL: nothing yet */
	char *workspace; /* the workspace for which the session was made; or
			  * NULL */
	struct env env;
	bool has_env; /* false: nothing saved yet, the caller's environment
		       * counts */
	/* pushd's stack without its top, which is cwd; nearest first. */
	char **dirs;
	size_t dir_count;
	char *changes;    /* changes by the last command, for people; NULL:
			   * none */
	uint64_t code;    /* $? of the last command */
	uint64_t created; /* wall clock, ns */
	uint64_t used;
	uint64_t commands; /* number of commands in the session */
	/* The file from which it was loaded: its bytes and its inode. */
	struct buf file;
	uint64_t inode, changed_ns;
	/* Where nothing was saved: the caller's directory and environment, with
	 * which the command began. Not saved. */
	const char *first_cwd;
	struct env first_env;
};

#define STATE_INIT ((struct state){0})
void state_release(struct state *s);
#define autostate autoclean(state_release)

/* Is the variable kept? The shell sets some itself, for each command anew, as
 * the capture and the guard do. */
bool state_carries(const char *pair);

/* Sets one of the paths; value NULL unsets it. -EINVAL for a relative or too
 * long one, -ENOMEM; the old value stays then. */
int state_path(char **slot, const char *value);

/* Keeps these lines as the changes; beyond STATE_CHANGES_MAX bytes as many
 * whole lines as fit. -ENOMEM. */
int state_changed(struct state *s, const char *lines, size_t n);

/* Appends the file's text. 0, the buffer's error, -EINVAL for a relative or
 * too long path, -E2BIG for more variables, directories or bytes of
 * environment (CONFIG_LIMIT_ENV) than a state may hold. */
int state_write(const struct state *s, struct buf *out);

/* Reads such a text into an empty s, which must be released after any result.
 * -EINVAL, -E2BIG, -ENOMEM, with the line in d. Unknown keys of a later version
 * are skipped. */
int state_parse(struct state *s, const char *bytes, size_t n, struct diag *d);

/* Puts a directory (absolute) on top of the stack: -E2BIG, -ENOMEM, -EINVAL. */
int state_push(struct state *s, const char *dir);
/* Takes directory number n from the top out, to be freed by the caller; NULL
 * when there is none. */
char *state_take(struct state *s, size_t nth);

/* Load and save a state's file. The reader refuses symlinks, special files,
 * files of users other than uid (and root), and files that others may write;
 * -ENOENT when there is none. The writer replaces the file atomically, mode
 * 0600. */
int state_load(int dirfd, const char *name, uid_t uid, struct state *s,
	struct diag *d);
int state_save(int dirfd, const char *name, const struct state *s,
	struct diag *d);

/* Saves what a command changed in s since it was loaded. If another command has
 * saved meanwhile, its values stay, except for what this command changed; s is
 * then the result. The caller holds the session's lock. */
int state_update(int dirfd, const char *name, uid_t uid, struct state *s,
	struct diag *d);
/* Applies to to the changes from before to after; after may lose what to gets.
 * 0, or -ENOMEM. */
int state_merge(
	const struct state *before, struct state *after, struct state *to);

#endif
