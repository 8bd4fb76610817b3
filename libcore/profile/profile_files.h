/* profile_files.h - which files a shell reads when it starts, and which of
 * them get written
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_PROFILE_FILES_H
#define WARDBOX_PROFILE_FILES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "profile/shellkind.h"

/* The four ways a shell is started, as bits. */
enum {
	SESSION_LOGIN_INTERACTIVE = 1,
	SESSION_LOGIN_COMMAND = 2,
	SESSION_INTERACTIVE = 4,
	SESSION_COMMAND = 8,
	SESSION_LOGIN = 3,
	SESSION_ALL = 15,
	SESSIONS = 4,
};

/* "login_interactive" for the first bit, and so on. */
const char *profile_session_name(unsigned index);

/* Where to look. Strings may be NULL when they are not set. */
struct profile_place {
	const char *root; /* "" or what is put before absolute system paths */
	const char *home;
	const char *zdotdir, *xdg_config, *env, *bash_env;
};

struct profile_file {
	unsigned sessions; /* that read it, if it is there */
	bool system;       /* belongs to the machine, not to the user */
	bool exists;
	const char *shadowed_by; /* why no session reads it; or NULL */
	char path[PATH_MAX];
};

enum { PROFILE_FILES = 16 };

struct profile_files {
	size_t count;
	struct profile_file file[PROFILE_FILES];
};

/* In the order of reading. -EINVAL for a shell without such files;
 * -ENAMETOOLONG. */
int profile_files_list(struct profile_files *files, enum shell_kind kind,
	const struct profile_place *place);

enum {
	SCOPE_LOGIN = 1,
	SCOPE_INTERACTIVE = 2,
	SCOPE_ALL = 4,
};

/* The user's files to write for the scopes; paths may not exist yet. Never
 * ~/.bash_profile or ~/.bash_login unless they are there: making one would
 * hide ~/.profile. */
int profile_targets_user(struct profile_files *files, enum shell_kind kind,
	unsigned scope, const char *id, const struct profile_place *place);

/* The machine's. zsh has only a file that every script reads: with force. */
int profile_targets_system(struct profile_files *files, enum shell_kind kind,
	const char *id, bool force, const struct profile_place *place,
	struct diag *d);

/* The directory of zsh's files: ZDOTDIR as ~/.zshenv sets it, else as the
 * environment has it, else the home. */
int profile_zdotdir(const struct profile_place *place, char *out, size_t size);

#endif
