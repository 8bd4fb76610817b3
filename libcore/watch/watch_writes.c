/* watch_writes.c - what a system call is about to change, by directory and name
 * SPDX-License-Identifier: MIT
 *
 * For a journal of what was there before. The call goes on afterwards and reads
 * its path again, so what is told here is no floor: who journals compares in the
 * end. What cannot be found here cannot be found by the call either.
 */
#include "watch/watch_in.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/path.h"
#include "base/str.h"
#include "base/uapi/nr.h"

enum {
	LINKS_MAX = 40,
	AT_RENAME_EXCHANGE = 2, /* a flag of renameat2 */
	META_NOFOLLOW = 0x100,
	META_EMPTY = 0x1000,
	LINK_FOLLOW = 0x400,
};

/* A name in a directory that is open here. */
struct spot {
	int dir;
	char name[NAME_MAX + 1];
};

static void spot_release(struct spot *s)
{
	cleanup_fd(&s->dir);
}
#define autospot autoclean(spot_release)

struct asked {
	struct watch *w;
	const struct watch_call *c;
	const struct sc_notif *n;
	char *room; /* two paths */
};

static pid_t pid_of(const struct asked *a)
{
	return (pid_t)a->n->pid;
}

/* The process's own directory, or one of its descriptors. */
static int base_of(const struct asked *a, int dirfd)
{
	char name[48];
	int fd;

	if (dirfd == AT_FDCWD)
		BUF_PRINT(name, "/proc/%d/cwd", (int)pid_of(a));
	else
		BUF_PRINT(name, "/proc/%d/fd/%d", (int)pid_of(a), dirfd);
	fd = openat(AT_FDCWD, name, O_PATH | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Finds the spot of path as the process would, from base, which becomes the
 * spot's directory if path is a bare name; -1 for an absolute path. */
static int dir_of(const struct asked *a, int *base, char *path, struct spot *s)
{
	size_t n = strlen(path);
	char *slash;
	int err;

	while (n > 1 && path[n - 1] == '/')
		path[--n] = '\0';
	slash = strrchr(path, '/');
	if (str_copy(s->name, sizeof s->name, slash ? slash + 1 : path))
		return -ENAMETOOLONG;
	if (!slash) {
		s->dir = fd_steal(base);
		return 0;
	}
	slash[slash == path] = '\0';
	err = path[0] == '/' ? watch_root_open(&a->w->root, pid_of(a)) : 0;
	if (err)
		return err;
	s->dir = path_openat2(path[0] == '/' ? a->w->root.fd : *base, path,
		O_PATH | O_DIRECTORY, 0,
		RESOLVE_NO_MAGICLINKS |
			(path[0] == '/' ? RESOLVE_IN_ROOT : 0));
	return s->dir < 0 ? s->dir : 0;
}

/* Finds the spot of the file that a descriptor of ours has open. A removed file
 * has none. */
static int spot_of_fd(const struct asked *a, int fd, char *room, struct spot *s)
{
	struct stat is, st;
	char *slash;
	int err = path_of_fd(fd, room, PATH_MAX);

	if (err)
		return err;
	slash = strrchr(room, '/');
	if (room[0] != '/' || !slash || !slash[1] || fstat(fd, &is) ||
		str_copy(s->name, sizeof s->name, slash + 1))
		return -ENOENT;
	slash[slash == room] = '\0';
	err = watch_root_open(&a->w->root, pid_of(a));
	if (err)
		return err;
	s->dir = a->w->root.above
			 ? open(room, O_PATH | O_DIRECTORY | O_CLOEXEC)
			 : path_openat2(a->w->root.fd, room,
				   O_PATH | O_DIRECTORY, 0,
				   RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
	if (s->dir < 0 ||
		fstatat(s->dir, s->name, &st, AT_SYMLINK_NOFOLLOW) ||
		st.st_ino != is.st_ino || st.st_dev != is.st_dev)
		return -ENOENT;
	return 0;
}

static int spot_of_own(const struct asked *a, int dirfd, char *room,
	struct spot *s)
{
	autofd int fd = base_of(a, dirfd);

	return fd < 0 ? fd : spot_of_fd(a, fd, room, s);
}

/* Follows links at the end of the path, as open and chmod do. */
static int follow_path(const struct asked *a, struct spot *s, char *room)
{
	struct stat st;
	int err = 0;

	for (int i = 0; !err && i < LINKS_MAX; i++) {
		struct spot next = {.dir = -1};
		ssize_t n;

		if (fstatat(s->dir, s->name, &st, AT_SYMLINK_NOFOLLOW) ||
			!S_ISLNK(st.st_mode))
			return 0;
		n = readlinkat(s->dir, s->name, room, PATH_MAX - 1);
		if (n <= 0)
			return -ENOENT;
		room[n] = '\0';
		err = dir_of(a, &s->dir, room, &next);
		spot_release(s);
		*s = next;
	}
	return err ? err : -ELOOP;
}

/* Replaces "." and ".." by the directory's real name. */
static int settle_path(const struct asked *a, struct spot *s, char *room)
{
	autofd int fd = -1;

	if (s->name[0] && !str_eq(s->name, ".") && !str_eq(s->name, ".."))
		return 0;
	fd = openat(s->dir, s->name[0] ? s->name : ".", O_PATH | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	spot_release(s);
	s->dir = -1;
	return spot_of_fd(a, fd, room, s);
}

/* Finds the spot that a call's arguments at dir (WATCH_NO: none) and at
 * mean. */
static int spot_of(const struct asked *a, int dir, int at, bool follows,
	struct spot *s)
{
	const uint64_t *args = a->n->data.args;
	const int dirfd = dir == WATCH_NO ? AT_FDCWD : (int)args[dir];
	const char *rest = NULL;
	autofd int base = -1;
	char *path = a->room;
	ssize_t n = watch_str(pid_of(a), args[at], path, PATH_MAX);
	int own, err;

	if (n < 0)
		return (int)n;
	if (!n)
		return -ENOENT;
	own = path[0] == '/' ? watch_own_fd(pid_of(a), path, &rest) : -1;
	if (own >= 0 && !*rest)
		return follows ? spot_of_own(a, own, a->room + PATH_MAX, s)
			       : -ENOENT;
	if (own >= 0)
		memmove(path, rest, strlen(rest) + 1);
	if (path[0] != '/') {
		base = base_of(a, own >= 0 ? own : dirfd);
		if (base < 0)
			return base;
	}
	err = dir_of(a, &base, path, s);
	if (!err && follows)
		err = follow_path(a, s, a->room + PATH_MAX);
	return err ? err : settle_path(a, s, a->room + PATH_MAX);
}

static int tell_writes(const struct asked *a, enum watch_doing what,
	const struct spot *s, const struct spot *to)
{
	const struct watch_write x = {.pid = pid_of(a),
		.what = what,
		.dir = s->dir,
		.name = s->name,
		.dir2 = to ? to->dir : -1,
		.name2 = to ? to->name : ""};
	int err = watch_still(a->w, a->n);

	return err ? err : a->w->before(a->w->ctx_before, &x);
}

static int before_open(const struct asked *a, uint64_t flags)
{
	const bool nofollow = flags & O_NOFOLLOW ||
		(flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL);
	autospot struct spot s = {.dir = -1};
	struct stat st;
	int err;

	if (flags & O_PATH || (flags & O_TMPFILE) == O_TMPFILE)
		return 0;
	err = spot_of(a, a->c->dir, a->c->path, !nofollow, &s);
	if (err)
		return err;
	if (fstatat(s.dir, s.name, &st, AT_SYMLINK_NOFOLLOW))
		return flags & O_CREAT ? tell_writes(a, WATCH_MAKES, &s, NULL) : 0;
	if (!S_ISREG(st.st_mode) || (flags & O_CREAT && flags & O_EXCL))
		return 0;
	return tell_writes(a, WATCH_FILLS, &s, NULL);
}

static int before_link(const struct asked *a)
{
	const bool at = a->c->dir != WATCH_NO;
	const uint64_t flags = at ? a->n->data.args[4] : 0;
	autospot struct spot old = {.dir = -1}, new = {.dir = -1};
	int err;

	if (flags & META_EMPTY)
		err = spot_of_own(a, (int)a->n->data.args[0], a->room, &old);
	else
		err = spot_of(a, a->c->dir, a->c->path, flags & LINK_FOLLOW, &old);
	/* A file without a name has no former name to restore. */
	err = err ? 0 : tell_writes(a, WATCH_LINKS, &old, NULL);
	if (!err)
		err = spot_of(a, at ? 2 : WATCH_NO, a->c->arg, false, &new);
	return err ? err : tell_writes(a, WATCH_MAKES, &new, NULL);
}

static int before_rename(const struct asked *a)
{
	const uint64_t *args = a->n->data.args;
	const bool swap = a->n->data.nr == __NR_renameat2 &&
		args[4] & AT_RENAME_EXCHANGE;
	autospot struct spot old = {.dir = -1}, new = {.dir = -1};
	int err = spot_of(a, a->c->dir, a->c->path, false, &old);

	if (!err)
		err = spot_of(a, a->c->dir == WATCH_NO ? WATCH_NO : 2, a->c->arg,
			false, &new);
	return err ? err : tell_writes(a, swap ? WATCH_SWAPS : WATCH_MOVES, &old, &new);
}

static int before_bind(const struct asked *a)
{
	const uint64_t *args = a->n->data.args;
	struct sockaddr_un addr = {.sun_family = 0};
	autospot struct spot s = {.dir = -1};
	autofd int base = -1;
	const size_t len = args[2] < sizeof addr ? (size_t)args[2] : sizeof addr;
	int err;

	if (watch_mem(pid_of(a), args[1], &addr, len) < 0 ||
		addr.sun_family != AF_UNIX || !addr.sun_path[0])
		return 0;
	memcpy(a->room, addr.sun_path, sizeof addr.sun_path);
	a->room[sizeof addr.sun_path] = '\0';
	base = base_of(a, AT_FDCWD);
	err = base < 0 ? base : dir_of(a, &base, a->room, &s);
	return err ? err : tell_writes(a, WATCH_MAKES, &s, NULL);
}

static int before_meta(const struct asked *a)
{
	const struct watch_call *c = a->c;
	const uint64_t *args = a->n->data.args;
	const uint64_t flags = c->flags == WATCH_NOFOLLOW ? META_NOFOLLOW
			       : c->flags == WATCH_NO     ? 0
							  : args[c->flags];
	autospot struct spot s = {.dir = -1};
	bool fd = c->path == WATCH_NO;
	char byte = 1;
	int err;

	/* A call on a descriptor's times has no path, and an empty path means
	 * the descriptor. */
	if (!fd && c->dir != WATCH_NO)
		fd = !args[c->path] ||
			(flags & META_EMPTY &&
				watch_mem(pid_of(a), args[c->path], &byte, 1) == 1 &&
				!byte);
	if (fd)
		err = spot_of_own(a, (int)args[c->dir], a->room, &s);
	else
		err = spot_of(a, c->dir, c->path, !(flags & META_NOFOLLOW), &s);
	return err ? err : tell_writes(a, WATCH_ALTERS, &s, NULL);
}

static int before_name(const struct asked *a, enum watch_doing what)
{
	autospot struct spot s = {.dir = -1};
	int err = spot_of(a, a->c->dir, a->c->path, false, &s);

	return err ? err : tell_writes(a, what, &s, NULL);
}

static int before_file(const struct asked *a)
{
	const uint64_t *args = a->n->data.args;

	switch ((enum watch_use)a->c->how) {
	case WATCH_OPEN:
		return before_open(a, args[a->c->arg]);
	case WATCH_WRITE:
		return before_open(a, a->n->data.nr == __NR_truncate
					      ? O_WRONLY
					      : O_WRONLY | O_CREAT | O_TRUNC);
	case WATCH_MAKE:
		return before_name(a, WATCH_MAKES);
	case WATCH_REMOVE:
		return before_name(a, WATCH_REMOVES);
	case WATCH_LINK:
		return before_link(a);
	case WATCH_RENAME:
		return before_rename(a);
	case WATCH_BIND:
		return before_bind(a);
	case WATCH_OPEN2:
	case WATCH_CONNECT:
		break;
	}
	return 0;
}

int watch_writes(struct watch *w, const struct watch_call *c,
	const struct sc_notif *n)
{
	const struct asked a = {.w = w, .c = c, .n = n, .room = w->bytes};
	const struct watch_write blind = {.pid = (pid_t)n->pid, .dir = -1,
		.name = "", .dir2 = -1, .name2 = ""};
	int err = c->kind == WATCH_METADATA ? before_meta(&a) : before_file(&a);

	switch (err) {
	case -EPERM:
	case -ESRCH:
		/* The process may not be looked at, or is gone. */
		err = watch_still(w, n);
		return err ? err : w->before(w->ctx_before, &blind);
	case -ENOENT:
	case -ENOTDIR:
	case -ELOOP:
	case -EACCES:
	case -EBADF:
	case -E2BIG:
	case -ENAMETOOLONG:
	case -EXDEV:
		/* The call fails for that reason by itself. */
		return 0;
	default:
		return err;
	}
}
