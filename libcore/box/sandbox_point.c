/* sandbox_point.c - a place to mount on, in a directory that a command may change
 * SPDX-License-Identifier: MIT
 *
 * Raw calls alone: this is done in the child, before it is confined. What an
 * earlier command left on the way, a link, a file, a closed directory, neither
 * leads elsewhere nor keeps a later command from starting.
 */
#include "box/sandbox_mount_in.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/path.h"
#include "base/uapi/linux.h"

/* Opens a closed directory, because without its search right nothing beneath
 * can be reached. */
static void point_unlock(int fd, const struct stat *st)
{
	char name[32];

	if (st->st_uid == geteuid() && (st->st_mode & 0700) != 0700)
		(void)chmod(BUF_PRINT(name, "/proc/self/fd/%d", fd),
			(st->st_mode & 07777) | 0700);
}

/* Opens the directory or file called name, making it if it is missing. */
static int point_step(int in, const char *name, bool dir)
{
	enum { TRIES = 3 };
	struct stat st;

	for (int i = 0; i < TRIES; i++) {
		int fd = openat(in, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		int err = fd < 0 ? -errno : fstat(fd, &st) < 0 ? -EIO : 0;

		if (err == 0 && (dir ? S_ISDIR(st.st_mode)
				     : S_ISREG(st.st_mode))) {
			if (dir)
				point_unlock(fd, &st);
			return fd;
		}
		if (fd >= 0)
			close(fd);
		if (err < 0 && err != -ENOENT)
			return err;
		if (err == 0 && unlinkat(in, name, 0) < 0)
			return -errno;
		if (dir) {
			if (mkdirat(in, name, 0755) < 0 && errno != EEXIST)
				return -errno;
			continue;
		}
		fd = openat(in, name,
			O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			0644);
		if (fd >= 0)
			close(fd);
		else if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

int sandbox_point(char *path, size_t laid, bool dir)
{
	char *at = path + laid;
	int fd, next;

	*at = '\0';
	fd = path_openat2(AT_FDCWD, path, O_PATH | O_DIRECTORY, 0,
		RESOLVE_NO_SYMLINKS_ | RESOLVE_NO_MAGICLINKS_);
	*at = '/';
	while (fd >= 0) {
		char *end = strchr(at + 1, '/');

		if (end)
			*end = '\0';
		next = point_step(fd, at + 1, end || dir);
		if (end)
			*end = '/';
		close(fd);
		fd = next;
		if (!end)
			break;
		at = end;
	}
	return fd;
}
