/* path.h - paths as text, and opened without surprises
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_PATH_H
#define WARDBOX_PATH_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The part behind the last '/', or the whole; "" for "a/". */
const char *path_base(const char *path);

/* Folds "//", "." and ".." away, by the text alone; ".." of "/" is "/". base is
 * put before a relative path and must be absolute. -ENAMETOOLONG, -EINVAL. */
int path_normal(char *out, size_t size, const char *base, const char *path);

/* dir + "/" + name, without doubling the slash. -ENAMETOOLONG. */
int path_join(char *out, size_t size, const char *dir, const char *name);

/* Is path dir itself or beneath it? Both normalised; "/a/bc" is not beneath
 * "/a/b". */
bool path_beneath(const char *dir, const char *path);

/* Compares two paths, so that the paths beneath a directory come right behind
 * it: '/' is less than any byte of a name. */
int path_order(const char *a, const char *b);

/* openat2 with RESOLVE_* flags; -ENOSYS on kernels before 5.6 is returned, not
 * worked round. A descriptor (always close-on-exec), or -errno. */
int path_openat2(int dirfd, const char *path, int flags, unsigned mode,
	uint64_t resolve);

/* The kernel's name for a descriptor, from /proc/self/fd; without /proc only
 * for the current directory, else -ENOENT. */
int path_of_fd(int fd, char *out, size_t size);

/* The kernel's name for the file at path, through all links. out holds nothing of
 * use after an error. */
int path_real(const char *path, char out[static PATH_MAX]);

/* The real name of an absolute path. Links on the way must stand in directories
 * for which lasts() is true: those that nobody can change who must not choose
 * where a link leads. -EPERM: another link is on the way; -errno. */
int path_settle(const char *path, char out[static PATH_MAX],
	bool (*lasts)(void *ctx, const char *dir), void *ctx);

/* The path through all links (PATH_MAX bytes), and the file's stat. Of a
 * missing file, even behind a link: the place where it would be made, and a
 * mode of 0. -errno. */
struct stat;
int path_made(const char *path, char *out, struct stat *st);

/* Finds the program that execvp would: name itself when it has a slash, else in
 * list, a value of PATH (NULL: the usual places; an empty entry is cwd).
 * Relative paths are below cwd, if that is not NULL. -EACCES when the files
 * found cannot be executed, -ENOENT, -ENAMETOOLONG. */
int path_find(char *out, size_t size, const char *name, const char *list,
	const char *cwd);

/* The current directory by the kernel's name; -ENOENT when it is gone. */
int path_cwd(char *out, size_t size);

#endif
