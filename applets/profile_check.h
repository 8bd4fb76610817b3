/* profile_check.h - where programs are that no PATH leads to
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_APPLET_PROFILE_CHECK_H
#define WARDBOX_APPLET_PROFILE_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#include "profile.h"

/* The directories that installers use; false behind the last. out is "" for
 * one that does not apply. */
bool profile_known_dir(
	unsigned index, const struct profile_who *who, char *out, size_t size);

/* The known directory that has the program. */
bool profile_find_command(const char *name, const struct profile_who *who,
	char *dir, size_t size);

/* The directory of the PATH list that has the program. */
bool profile_on_path(
	const char *path, const char *name, char *dir, size_t size);

/* Does the startup file put dir on PATH? */
bool profile_file_adds(const char *path, enum shell_kind kind, const char *home,
	const char *dir);

/* A file of a shell that is not the user's which adds dir. */
bool profile_other_shell(const struct profile_who *who, const char *dir,
	char *file, size_t size);

#endif
