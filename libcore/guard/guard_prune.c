/* guard_prune.c - takes away what logins and containers that are gone have left
 * SPDX-License-Identifier: MIT
 */
#include "guard/guard_in.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/str.h"

enum {
	PRUNE_DEPTH = 64,
	PRUNE_MOST = 200000, /* names at one time; the rest goes the next time */
	PRUNE_AGE = 10 * 86400,
};

/* Removes the directory called name and everything in it. A link counts as a
 * file. The directories are private, so nobody replaces one meanwhile. */
static void prune_tree(int in, const char *name, unsigned depth, unsigned *left)
{
	int fd = openat(in, name,
		O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct dirent *e;
	DIR *dir;

	if (fd < 0 && errno == EACCES &&
		fchmodat(in, name, 0700, AT_SYMLINK_NOFOLLOW) == 0)
		fd = openat(in, name,
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir && fd >= 0)
		close(fd);
	if (dir)
		fchmod(fd, 0700);
	while (dir && *left && (e = readdir(dir))) {
		if (str_eq(e->d_name, ".") || str_eq(e->d_name, ".."))
			continue;
		--*left;
		if (unlinkat(fd, e->d_name, 0) < 0 && depth < PRUNE_DEPTH)
			prune_tree(fd, e->d_name, depth + 1, left);
	}
	if (dir)
		closedir(dir);
	unlinkat(in, name, AT_REMOVEDIR);
}

void guard_prune(int at, const char *keep)
{
	int fd = openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	unsigned left = PRUNE_MOST;
	struct dirent *e;
	struct stat st;

	if (!dir && fd >= 0)
		close(fd);
	while (dir && (e = readdir(dir)))
		if (str_after(e->d_name, "at-") && !str_eq(e->d_name, keep) &&
			fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
			S_ISDIR(st.st_mode) &&
			st.st_mtime + PRUNE_AGE < time(NULL))
			prune_tree(fd, e->d_name, 0, &left);
	if (dir)
		closedir(dir);
}
