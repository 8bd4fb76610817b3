/* meddle.c - every call that changes or locks what stands at a path
 * SPDX-License-Identifier: MIT
 *
 * meddle PATH... tries each call on each path, in each way to name it, and prints
 * a line for each:
 *
 *	CALL WAY PATH RESULT
 *
 * WAY is path, dirfd (the last name in its opened directory), proc (by
 * /proc/self/fd/N of an O_PATH descriptor), empty (an O_PATH descriptor and no
 * name) or fd (a descriptor open to read). RESULT is "ok" when the call went
 * through, "absent" when neither kernel nor file system knows it, else the name
 * of the errno. Status 0: no call went through; 1: one did; 2: no path.
 *
 * meddle -s TIMES LINK: TIMES calls on LINK while a thread exchanges LINK with
 * LINK.other all the time. Prints how many went through. Status 0.
 *
 * What a call changed stays changed; what was renamed is renamed back, and the
 * removal is tried last.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <unistd.h>

/* One number on every architecture. */
enum { NR_FCHMODAT2 = 452, NR_SETXATTRAT = 463, NR_REMOVEXATTRAT = 466,
	NR_FILE_SETATTR = 469 };
enum { NODUMP = 0x40, MODE = 0777, RENAME_EXCHANGE_FLAG = 2 };

/* What a path leads to, opened in each way; -1 where that is refused. */
struct target {
	const char *path, *name; /* name: the last part, in .dir */
	char proc[32], beside[512], away[512];
	int dir, object, fd, fd_err;
	bool is_dir;
};

static bool through;

static const char *errno_name(int err)
{
	static const struct {
		int err;
		const char *name;
	} names[] = {{EPERM, "EPERM"}, {EACCES, "EACCES"}, {ENOENT, "ENOENT"},
		{EBUSY, "EBUSY"}, {EROFS, "EROFS"}, {EXDEV, "EXDEV"},
		{EAGAIN, "EAGAIN"}, {EINVAL, "EINVAL"}, {EBADF, "EBADF"},
		{EISDIR, "EISDIR"}, {ENOTDIR, "ENOTDIR"}, {EEXIST, "EEXIST"},
		{ENOTEMPTY, "ENOTEMPTY"}, {ENODATA, "ENODATA"}, {ELOOP, "ELOOP"},
		{ETXTBSY, "ETXTBSY"}};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (names[i].err == err)
			return names[i].name;
	return strerror(err);
}

static void tell(const struct target *t, const char *call, const char *way,
	long result)
{
	const bool absent = result < 0 &&
		(errno == ENOSYS || errno == EOPNOTSUPP || errno == ENOTTY);

	through |= result >= 0;
	printf("%s %s %s %s\n", call, way, t->path,
		result >= 0 ? "ok" : absent ? "absent" : errno_name(errno));
}

static void by_path(const struct target *t, const char *way, const char *path)
{
	const struct timespec times[2] = {{1, 0}, {1, 0}};
	const struct timeval older[2] = {{1, 0}, {1, 0}};
	int fd;

	tell(t, "chmod", way, chmod(path, MODE));
	tell(t, "chown", way, chown(path, geteuid(), getegid()));
	tell(t, "utimes", way, utimes(path, older));
	tell(t, "utimensat", way, utimensat(AT_FDCWD, path, times, 0));
	tell(t, "setxattr", way, setxattr(path, "user.meddle", "1", 1, 0));
	tell(t, "removexattr", way, removexattr(path, "user.meddle"));
	if (t->is_dir)
		return;
	fd = open(path, O_WRONLY | O_CLOEXEC);
	tell(t, "open-write", way, fd);
	if (fd >= 0)
		close(fd);
	fd = open(path, O_RDWR | O_APPEND | O_CLOEXEC);
	tell(t, "open-append", way, fd);
	if (fd >= 0)
		close(fd);
	tell(t, "truncate", way, truncate(path, 1));
}

/* The calls that follow no link, as a name in /proc is one. */
static void by_own_path(const struct target *t)
{
	tell(t, "lchown", "path", lchown(t->path, geteuid(), getegid()));
	tell(t, "lsetxattr", "path",
		lsetxattr(t->path, "user.meddle", "1", 1, 0));
	tell(t, "lremovexattr", "path", lremovexattr(t->path, "user.meddle"));
}

/* The calls that take a directory and a name; both ways to use them. */
static void by_name(const struct target *t, const char *way, int dir,
	const char *name, int flags)
{
	static const struct {
		uint64_t xflags;
		uint32_t rest[4];
	} attr = {.xflags = 0x80}; /* nodump */
	const struct timespec times[2] = {{1, 0}, {1, 0}};
	static const struct {
		uint64_t value;
		uint32_t size, flags;
	} none = {(uintptr_t)0, 0, 0};

	if (!flags)
		tell(t, "fchmodat", way, fchmodat(dir, name, MODE, 0));
	tell(t, "fchmodat2", way, syscall(NR_FCHMODAT2, dir, name, MODE, flags));
	tell(t, "fchownat", way,
		fchownat(dir, name, geteuid(), getegid(), flags));
	tell(t, "utimensat", way,
		syscall(SYS_utimensat, dir, name, times, flags));
	tell(t, "setxattrat", way, syscall(NR_SETXATTRAT, dir, name, flags,
		"user.meddle", &none, sizeof none));
	tell(t, "removexattrat", way, syscall(NR_REMOVEXATTRAT, dir, name, flags,
		"user.meddle"));
	tell(t, "file_setattr", way, syscall(NR_FILE_SETATTR, dir, name, &attr,
		sizeof attr, flags));
}

static void by_fd(const struct target *t)
{
	static const char *const calls[] = {"fchmod", "fchown", "futimens",
		"fsetxattr", "fremovexattr", "FS_IOC_SETFLAGS",
		"FS_IOC_FSSETXATTR", "flock-shared", "flock", "fcntl-lock",
		"fcntl-ofd-lock", "fcntl-lease"};
	const struct timespec times[2] = {{1, 0}, {1, 0}};
	struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
	struct fsxattr attr = {0};
	int flags = 0;

	for (size_t i = 0; t->fd < 0 && i < sizeof calls / sizeof *calls; i++) {
		errno = t->fd_err;
		tell(t, calls[i], "fd", -1);
	}
	if (t->fd < 0)
		return;
	tell(t, calls[0], "fd", fchmod(t->fd, MODE));
	tell(t, calls[1], "fd", fchown(t->fd, geteuid(), getegid()));
	tell(t, calls[2], "fd", futimens(t->fd, times));
	tell(t, calls[3], "fd", fsetxattr(t->fd, "user.meddle", "1", 1, 0));
	tell(t, calls[4], "fd", fremovexattr(t->fd, "user.meddle"));
	ioctl(t->fd, FS_IOC_GETFLAGS, &flags);
	flags ^= NODUMP;
	tell(t, calls[5], "fd", ioctl(t->fd, FS_IOC_SETFLAGS, &flags));
	ioctl(t->fd, FS_IOC_FSGETXATTR, &attr);
	attr.fsx_xflags ^= FS_XFLAG_NODUMP;
	tell(t, calls[6], "fd", ioctl(t->fd, FS_IOC_FSSETXATTR, &attr));
	tell(t, calls[7], "fd", flock(t->fd, LOCK_SH | LOCK_NB));
	tell(t, calls[8], "fd", flock(t->fd, LOCK_EX | LOCK_NB));
	flock(t->fd, LOCK_UN);
	tell(t, calls[9], "fd", fcntl(t->fd, F_SETLK, &lock));
	tell(t, calls[10], "fd", fcntl(t->fd, F_OFD_SETLK, &lock));
	tell(t, calls[11], "fd", fcntl(t->fd, F_SETLEASE, F_RDLCK));
	fcntl(t->fd, F_SETLEASE, F_UNLCK);
}

/* Another name for it: here, and in the directory this process stands in. */
static void by_link(const struct target *t)
{
	const char *const to[] = {t->beside, t->away};
	static const char *const way[] = {"beside", "away"};

	for (int i = 0; i < 2; i++) {
		tell(t, "link", way[i], link(t->path, to[i]));
		unlink(to[i]);
		tell(t, "linkat", way[i],
			linkat(t->dir, t->name, AT_FDCWD, to[i], 0));
		unlink(to[i]);
		tell(t, "linkat-proc", way[i], linkat(AT_FDCWD, t->proc, AT_FDCWD,
			to[i], AT_SYMLINK_FOLLOW));
		unlink(to[i]);
		tell(t, "linkat-empty", way[i],
			linkat(t->object, "", AT_FDCWD, to[i], AT_EMPTY_PATH));
		unlink(to[i]);
	}
}

/* Another thing in its place. */
static void by_rename(const struct target *t)
{
	const char *const to[] = {t->beside, t->away};
	static const char *const way[] = {"beside", "away"};
	int fd;

	for (int i = 0; i < 2; i++) {
		long done = rename(t->path, to[i]);

		tell(t, "rename", way[i], done);
		if (done == 0)
			rename(to[i], t->path);
		done = renameat(t->dir, t->name, AT_FDCWD, to[i]);
		tell(t, "renameat", way[i], done);
		if (done == 0)
			rename(to[i], t->path);
		fd = open(to[i], O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		if (fd >= 0)
			close(fd);
		done = syscall(SYS_renameat2, AT_FDCWD, to[i], t->dir, t->name,
			RENAME_EXCHANGE_FLAG);
		tell(t, "exchange", way[i], done);
		if (done == 0)
			syscall(SYS_renameat2, AT_FDCWD, to[i], AT_FDCWD,
				t->path, RENAME_EXCHANGE_FLAG);
		if (!t->is_dir)
			tell(t, "replace", way[i],
				t->fd >= 0 ? renameat(AT_FDCWD, to[i], t->dir,
						     t->name)
					   : rename(to[i], t->path));
		unlink(to[i]);
	}
	if (!t->is_dir)
		return;
	fd = openat(t->object, "meddled", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	tell(t, "create", "dirfd", fd);
	if (fd >= 0)
		close(fd);
	unlinkat(t->object, "meddled", 0);
	tell(t, "mkdir", "dirfd", mkdirat(t->object, "meddled", 0700));
	unlinkat(t->object, "meddled", AT_REMOVEDIR);
	tell(t, "symlink", "dirfd", symlinkat("x", t->object, "meddled"));
	unlinkat(t->object, "meddled", 0);
}

/* A directory is not looked for, but its name is gone when it was empty. */
static void by_removal(const struct target *t)
{
	const int how = t->is_dir ? AT_REMOVEDIR : 0;

	tell(t, t->is_dir ? "rmdir" : "unlink", "path",
		t->is_dir ? rmdir(t->path) : unlink(t->path));
	tell(t, "unlinkat", "dirfd", unlinkat(t->dir, t->name, how));
}

static void meddle(const char *path)
{
	struct target t = {.path = path};
	char parent[512];
	const char *slash = strrchr(path, '/');
	struct stat st;

	snprintf(parent, sizeof parent, "%.*s",
		slash ? (int)(slash - path + (slash == path)) : 1,
		slash ? path : ".");
	t.name = slash ? slash + 1 : path;
	snprintf(t.beside, sizeof t.beside, "%s/meddled", parent);
	snprintf(t.away, sizeof t.away, "meddled-%d", (int)getpid());
	t.dir = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
	t.object = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	t.is_dir = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
	t.fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	t.fd_err = errno;
	snprintf(t.proc, sizeof t.proc, "/proc/self/fd/%d", t.object);
	by_path(&t, "path", path);
	by_own_path(&t);
	by_path(&t, "proc", t.proc);
	by_name(&t, "dirfd", t.dir, t.name, 0);
	by_name(&t, "empty", t.object, "", AT_EMPTY_PATH);
	by_fd(&t);
	if (!t.is_dir)
		by_link(&t);
	by_rename(&t);
	by_removal(&t);
	if (t.fd >= 0)
		close(t.fd);
	if (t.object >= 0)
		close(t.object);
	if (t.dir >= 0)
		close(t.dir);
}

static volatile bool over;

static void *exchange(void *link)
{
	char other[512];

	snprintf(other, sizeof other, "%s.other", (const char *)link);
	while (!over)
		syscall(SYS_renameat2, AT_FDCWD, link, AT_FDCWD, other,
			RENAME_EXCHANGE_FLAG);
	return NULL;
}

/* A path is one thing when it is looked at, and another when it is used. */
static int swapped(long times, char *link)
{
	const struct timespec when[2] = {{1, 0}, {1, 0}};
	long done = 0;
	pthread_t thread;

	if (pthread_create(&thread, NULL, exchange, link))
		return 2;
	for (long i = 0; i < times; i++)
		switch (i % 5) {
		case 0:
			done += chmod(link, MODE) == 0;
			break;
		case 1:
			done += chown(link, geteuid(), getegid()) == 0;
			break;
		case 2:
			done += utimensat(AT_FDCWD, link, when, 0) == 0;
			break;
		case 3:
			done += setxattr(link, "user.meddle", "1", 1, 0) == 0;
			break;
		case 4:
			done += syscall(NR_FCHMODAT2, AT_FDCWD, link, MODE,
					0) == 0;
			break;
		}
	over = true;
	pthread_join(thread, NULL);
	printf("%ld\n", done);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "-s") == 0)
		return swapped(strtol(argv[2], NULL, 10), argv[3]);
	if (argc < 2)
		return 2;
	for (int i = 1; i < argc; i++)
		meddle(argv[i]);
	return through;
}
