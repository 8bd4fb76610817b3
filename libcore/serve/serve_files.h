/* serve_files.h - a request about files, done by the process that reads it
 * SPDX-License-Identifier: MIT
 *
 * The process runs in a command's box: what the box does not let it do is the
 * answer. It does one request and ends.
 */
#ifndef WARDBOX_SERVE_FILES_H
#define WARDBOX_SERVE_FILES_H

#include "serve/serve_codex.h"

enum {
	FILES_READ_MAX = 40 << 20, /* bytes of a file that is read at once */
	FILES_ENTRIES_MAX = 50000,
	FILES_WALK_DEPTH = 64,
	FILES_WALK_DIRS = 10000,
	FILES_ANSWER_MAX = 64 << 20,
};

/* Reads a message from the memory file fd, does what it asks, and leaves there
 * {"result": {...}} or {"error": {...}} in its place. -errno: it could not. */
int serve_files(int fd);

/* What files_*() share: the open object of the result, and why there is none. */
struct files {
	struct codex_message *m;
	struct json j;
	char path[PATH_MAX], to[PATH_MAX];
	bool follow; /* links; else a link on the way is an error */
	char said[192];
};
/* -errno, with f->said where strerror() does not say it all. */
int files_read(struct files *f);
int files_block(struct files *f);
int files_write(struct files *f);
int files_mkdir(struct files *f);
int files_stat(struct files *f);
int files_real(struct files *f);
int files_list(struct files *f);
int files_walk(struct files *f);
int files_remove(struct files *f);
int files_copy(struct files *f);

/* The directory that path lies in, and its last name there; with follow the path
 * itself from the working directory. A descriptor to be closed, AT_FDCWD, or
 * -errno: -ELOOP, a link is on the way. */
int files_at(const struct files *f, const char *path, char name[static PATH_MAX]);
/* A regular file's descriptor; -EINVAL: it is none. */
int files_open(int dir, const char *name, int flags, bool follow);

#endif
