/* file.c - files that others may be reading, writing or faking
 * SPDX-License-Identifier: MIT
 */
#include "sys/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h> /* renameat */
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "base/str.h"
#include "sys/proc_text.h"

enum { PROC_FILE = 1000 };

int file_read(int dirfd, const char *path, struct buf *b)
{
	autofd int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	int err;

	if (fd < 0 || fstat(fd, &st))
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	if (st.st_size > 0 && (uint64_t)st.st_size > b->max - b->len)
		return -EFBIG;
	/* A file of /proc tells no size, and most are short. */
	if (!st.st_size && b->max - b->len > PROC_FILE)
		buf_reserve(b, PROC_FILE);
	err = buf_read_fd(b, fd);
	return err == -ENOBUFS ? -EFBIG : err;
}

int file_write_all(int fd, const void *bytes, size_t n)
{
	const char *p = bytes;

	while (n) {
		ssize_t done = write(fd, p, n);

		if (done < 0 && fd_again(fd, POLLOUT))
			continue;
		if (done < 0)
			return -errno;
		p += done;
		n -= (size_t)done;
	}
	return 0;
}

/* Makes a temporary file beside name; its own name goes to temp. */
static int open_temporary(
	int dirfd, const char *name, char *temp, size_t size, mode_t mode)
{
	for (int tries = 0; tries < 16; tries++) {
		struct buf b = {.data = temp, .cap = size, .max = size - 1};
		uint64_t nonce;
		int fd;

		if (getrandom(&nonce, sizeof nonce, 0) != sizeof nonce)
			return -EIO;
		buf_addf(&b, "%s.%08x.tmp", name, (unsigned)nonce);
		if (b.err)
			return -ENAMETOOLONG;
		fd = openat(dirfd, buf_str(&b),
			O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			mode & 0600);
		if (fd >= 0)
			return fd;
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

/* All steps that can fail between the making of the temporary and its
 * rename. */
static int fill_temporary(
	int fd, const void *bytes, size_t n, mode_t mode, bool sync)
{
	int err = file_write_all(fd, bytes, n);

	if (!err && fchmod(fd, mode))
		err = -errno;
	if (!err && sync && fdatasync(fd))
		err = -errno;
	return err;
}

int file_replace(int dirfd, const char *name, const void *bytes, size_t n,
	mode_t mode, bool sync)
{
	char temp[PATH_MAX];
	autofd int fd = open_temporary(dirfd, name, temp, sizeof temp, mode);
	int err;

	if (fd < 0)
		return fd;
	err = fill_temporary(fd, bytes, n, mode, sync);
	if (!err && renameat(dirfd, temp, dirfd, name))
		err = -errno;
	if (err)
		unlinkat(dirfd, temp, 0);
	return err;
}

/* In a user namespace the kernel shows this number for every owner without a
 * number there: for the owner of a planted file as for this process's. */
static bool is_unmapped(uid_t uid)
{
	enum { SHOWN = 65534, MAP_MAX = 1 << 16 };
	autobuf struct buf text = BUF_INIT(MAP_MAX), ids = BUF_INIT(MAP_MAX);
	uint32_t extent[3]; /* first inside, first outside, count */

	if (uid != SHOWN)
		return false;
	if (file_read(AT_FDCWD, "/proc/self/uid_map", &text) || !buf_str(&text))
		return true;
	proc_numbers(&ids, text.data, text.len);
	for (size_t at = 0; at + sizeof extent <= ids.len; at += sizeof extent) {
		memcpy(extent, ids.data + at, sizeof extent);
		if (uid - extent[0] < extent[2])
			return false;
	}
	return true;
}

static int tell_unmapped(const char *name, struct diag *d)
{
	diag_fail(d, -EPERM,
		"who owns %s cannot be told: this user namespace has no number"
		" for that user",
		name);
	diag_hint(d, "start it outside of the namespace, or with the owner mapped"
		" (unshare --map-root-user)");
	return -EPERM;
}

int file_trusted(
	const struct stat *st, uid_t uid, const char *name, struct diag *d)
{
	const char *why = NULL;

	if (is_unmapped(st->st_uid))
		return tell_unmapped(name, d);
	if (st->st_uid != 0 && st->st_uid != uid)
		why = "is owned by someone else";
	else if (st->st_mode & (S_IWGRP | S_IWOTH))
		why = "can be written by its group or by anyone";
	if (!why)
		return 0;
	diag_fail(d, -EPERM, "%s %s (uid %u, mode %04o)", name, why, st->st_uid,
		st->st_mode & 07777u);
	diag_hint(d, "chown %u %s && chmod go-w %s", uid, name, name);
	return -EPERM;
}

int file_check_trusted(int fd, uid_t uid, const char *name, struct diag *d)
{
	struct stat st;

	return fstat(fd, &st) ? diag_errno(d, -errno, "%s", name)
			      : file_trusted(&st, uid, name, d);
}

int file_check_regular(int fd, uid_t uid, const char *name, struct stat *st,
	struct diag *d)
{
	if (fstat(fd, st))
		return diag_errno(d, -errno, "%s", name);
	return S_ISREG(st->st_mode)
		? file_trusted(st, uid, name, d)
		: diag_fail(d, -EINVAL, "%s is no regular file", name);
}

int file_private_dir(
	int dirfd, const char *name, uid_t uid, bool make, struct diag *d)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	autofd int fd = openat(dirfd, name, flags);
	struct stat st;

	/* Most of the time the directory exists. */
	if (fd < 0 && errno == ENOENT && make) {
		if (mkdirat(dirfd, name, 0700) && errno != EEXIST)
			return diag_errno(d, -errno, "cannot make %s", name);
		fd = openat(dirfd, name, flags);
	}
	if (fd < 0)
		return diag_errno(d, -errno, "cannot open %s", name);
	if (fstat(fd, &st))
		return diag_errno(d, -errno, "%s", name);
	if (is_unmapped(st.st_uid))
		return tell_unmapped(name, d);
	if (st.st_uid != uid || (st.st_mode & 077)) {
		char full[PATH_MAX];

		/* The person who has to mend it needs the whole path. */
		if (!path_of_fd(fd, full, sizeof full))
			name = full;
		diag_fail(d, -EPERM,
			"%s is not private (uid %u, mode %04o; expected uid %u,"
			" mode 0700)",
			name, st.st_uid, st.st_mode & 07777u, uid);
		diag_hint(d, "remove it, or chown %u %s && chmod 700 %s", uid,
			name, name);
		return -EPERM;
	}
	return fd_steal(&fd);
}

/* Is the directory safe: can nobody but uid and root replace what lies below?
 * Its owner can, and all who may write to it, unless it is sticky. A user's
 * private group has the user's number. Where root has no number, in a user
 * namespace, the root directory's owner counts as root. */
static bool dir_is_safe(const struct stat *st, uid_t uid, uid_t root)
{
	if (st->st_uid != 0 && st->st_uid != uid && st->st_uid != root)
		return false;
	if (st->st_mode & S_ISVTX)
		return true;
	return !(st->st_mode & S_IWOTH) &&
		(!(st->st_mode & S_IWGRP) || st->st_gid == 0 ||
			(st->st_uid == uid && st->st_gid == uid));
}

int file_check_parents(int fd, uid_t uid, struct diag *d)
{
	char path[PATH_MAX] = "..";
	struct buf above = BUF_FIXED(path);
	struct stat now, up, root;
	autofd int at = -1;

	if (fstat(fd, &now) || stat("/", &root))
		return diag_errno(d, -errno, "the directories above");
	for (above.len = 2;; now = up) {
		if (above.err || fstatat(fd, buf_str(&above), &up, 0))
			return diag_errno(d, above.err ? above.err : -errno,
				"the directories above");
		if (up.st_ino == now.st_ino && up.st_dev == now.st_dev)
			return 0;
		if (!dir_is_safe(&up, uid, root.st_uid))
			break;
		buf_adds(&above, "/..");
	}
	at = openat(fd, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (at < 0 || path_of_fd(at, path, sizeof path))
		path[0] = '\0';
	diag_fail(d, -EPERM,
		"others could move what lies in %s (uid %u, mode %04o)", path,
		up.st_uid, up.st_mode & 07777u);
	diag_hint(d, "chown %u %s && chmod go-w %s", uid, path, path);
	return -EPERM;
}

int file_mkdirs(const char *path, mode_t mode)
{
	char part[PATH_MAX];
	size_t n = strlen(path);
	int denied = 0; /* why later parts may be missing */

	if (!n || n >= sizeof part)
		return n ? -ENAMETOOLONG : -ENOENT;
	memcpy(part, path, n + 1);
	for (char *p = part + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		if (mkdir(part, 0755) && errno != EEXIST) {
			if (errno != EROFS && errno != EACCES && !denied)
				return -errno;
			denied = denied ? denied : -errno;
		}
		*p = '/';
	}
	if (mkdir(part, mode) && errno != EEXIST)
		return errno == ENOENT && denied ? denied : -errno;
	return 0;
}

int file_make(const char *path, const void *bytes, size_t n, mode_t mode,
	bool sync)
{
	const size_t n_dir = (size_t)(path_base(path) - path);
	char dir[1200];
	int err = n_dir < sizeof(dir) ? 0 : -ENAMETOOLONG;
	mode_t mask;

	if (n_dir && !err) {
		memcpy(dir, path, n_dir);
		dir[n_dir] = '\0';
		/* A file that everybody may read needs directories that
		 * everybody may search. */
		mask = umask(022);
		if (!(mode & S_IROTH))
			umask(mask);
		err = file_mkdirs(dir, 0755);
		umask(mask);
	}
	return err ? err : file_replace(AT_FDCWD, path, bytes, n, mode, sync);
}

bool file_is_replaced(const char *path)
{
	struct stat st;

	return (stat(path, &st) || S_ISREG(st.st_mode)) &&
		!str_after(path, "/dev/std") && !str_after(path, "/dev/fd/") &&
		!str_after(path, "/proc/");
}

int file_put(const char *path, const void *bytes, size_t n, mode_t mode,
	bool make)
{
	autofd int fd = -1;

	if (file_is_replaced(path))
		return make ? file_make(path, bytes, n, mode, true)
			    : file_replace(
				      AT_FDCWD, path, bytes, n, mode, false);
	fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -errno : file_write_all(fd, bytes, n);
}
