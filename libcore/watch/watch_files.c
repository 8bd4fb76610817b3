/* watch_files.c - which files a system call is about
 * SPDX-License-Identifier: MIT
 */
#include "watch/watch_in.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "base/path.h"
#include "base/str.h"
#include "base/uapi/nr.h"

/* Must the name exist? A call on a name that is not as required fails by
 * itself: mkdir -p asks for existing directories. */
enum there { ABSENT, THERE, EITHER };

/* Finds the directory of path's last name; the name stands behind that in the
 * room. */
static int name_dir(struct watch_root *root, pid_t pid, int dirfd,
	char *path, char *real)
{
	char name[NAME_MAX + 1];
	size_t n = strlen(path);
	char *slash;
	int err;

	while (n > 1 && path[n - 1] == '/')
		path[--n] = '\0';
	err = str_copy(name, sizeof(name), path_base(path));
	slash = strrchr(path, '/');
	if (slash)
		slash[slash == path] = '\0';
	if (err == 0)
		err = watch_name(root, pid, dirfd, slash ? path : "", real);
	return err ? err : path_join(real + PATH_MAX, PATH_MAX, real, name);
}

/* Finds the name that is about to be made: by its directory, unless the name is
 * a link to an existing place. */
static int name_made(struct watch_root *root, pid_t pid, int dirfd,
	char *path, char *real)
{
	struct stat st;
	int err = name_dir(root, pid, dirfd, path, real);

	if (err == 0)
		err = path_made(real + PATH_MAX, real, &st);
	if (err == 0 && !st.st_mode) {
		char *slash = strrchr(real, '/');

		slash[slash == real] = '\0';
	}
	return err;
}

/* Takes a path that is in the room already. */
static int see_entry(struct watch_root *root, pid_t pid, int dirfd,
	enum there want, char *room, struct watch_access *a)
{
	char *real = room + PATH_MAX;
	struct stat st;

	if (name_dir(root, pid, dirfd, room, real) < 0)
		return 0;
	if (want != EITHER &&
		(lstat(real + PATH_MAX, &st) == 0) != (want == THERE))
		return 0;
	*a = (struct watch_access){
		.pid = pid, .path = real, .wants = SANDBOX_WRITE};
	return 1;
}

static int one_entry(struct watch_root *root, const struct sc_notif *n,
	int dir, int at, enum there want, char *room, struct watch_access *a)
{
	pid_t pid = (pid_t)n->pid;

	if (watch_str(pid, n->data.args[at], room, PATH_MAX) < 0)
		return 0;
	return see_entry(root, pid, dir < 0 ? AT_FDCWD : (int)n->data.args[dir],
		want, room, a);
}

/* Takes the two names of a call. A linked file may be named by its descriptor,
 * and nothing can be linked in /proc. If both have one directory, it is
 * reported once. */
static int two_entries(struct watch_root *root, const struct sc_notif *n,
	const struct watch_call *c, char *room, struct watch_access *a)
{
	bool link = c->how == WATCH_LINK;
	int dir2 = c->dir < 0 ? WATCH_NO : 2;

	if (!one_entry(root, n, c->dir, c->path, link ? EITHER : THERE, room,
		    a) ||
		!one_entry(root, n, dir2, c->arg, link ? ABSENT : EITHER,
			room + 2 * PATH_MAX, a + 1))
		return 0;
	if (link && str_after(a[0].path, "/proc/"))
		a[0] = a[1];
	return str_eq(a[0].path, a[1].path) ? 1 : 2;
}

static int one_open(struct watch_root *root, const struct sc_notif *n,
	const struct watch_call *c, uint64_t flags, char *room, struct watch_access *a)
{
	pid_t pid = (pid_t)n->pid;
	int dirfd = c->dir < 0 ? AT_FDCWD : (int)n->data.args[c->dir], err;
	char *path = room, *real = room + PATH_MAX;
	unsigned wants = (flags & O_ACCMODE) == O_WRONLY ? 0 : SANDBOX_READ;

	if (flags & O_PATH)
		return 0;
	if (flags & (O_WRONLY | O_RDWR | O_TRUNC))
		wants |= SANDBOX_WRITE;
	if (watch_str(pid, n->data.args[c->path], path, PATH_MAX) < 0)
		return 0;
	err = watch_name(root, pid, dirfd, path, real);
	if (err == 0 && flags & O_CREAT && flags & O_EXCL)
		return 0;
	if (err == -ENOENT && flags & O_CREAT) {
		wants |= SANDBOX_WRITE;
		err = flags & (O_EXCL | O_NOFOLLOW) ?
			      name_dir(root, pid, dirfd, path, real) :
			      name_made(root, pid, dirfd, path, real);
	}
	*a = (struct watch_access){
		.pid = pid, .path = real, .wants = wants};
	return err == 0;
}

static int one_address(
	struct watch_root *root, const struct sc_notif *n, bool make,
	char *room, struct watch_access *a)
{
	pid_t pid = (pid_t)n->pid;
	struct sockaddr_un addr = {.sun_family = 0};
	uint64_t len = n->data.args[2];

	if (len > sizeof(addr))
		len = sizeof(addr);
	if (watch_mem(
			pid, n->data.args[1], &addr, (size_t)len) < 0 ||
		addr.sun_family != AF_UNIX || !addr.sun_path[0])
		return 0;
	/* A name that fills the struct has no NUL. */
	memcpy(room, addr.sun_path, sizeof(addr.sun_path));
	room[sizeof(addr.sun_path)] = '\0';
	if (make)
		return see_entry(root, pid, AT_FDCWD, ABSENT, room, a);
	if (watch_name(root, pid, AT_FDCWD, room, room + PATH_MAX) < 0)
		return 0;
	*a = (struct watch_access){
		.pid = pid, .path = room + PATH_MAX, .wants = SANDBOX_UNIX};
	return 1;
}

bool watch_goes_to(const struct watch *w, const struct sc_notif *n)
{
	struct sockaddr_in to = {0};
	uint64_t len = n->data.args[2];

	if (len > sizeof to)
		len = sizeof to;
	if (watch_mem((pid_t)n->pid, n->data.args[1], &to, (size_t)len) < 0)
		return false;
	if (to.sin_family == AF_UNIX || to.sin_family == AF_UNSPEC)
		return true;
	return to.sin_family == AF_INET && len == sizeof to &&
		to.sin_port == htons(w->port) &&
		to.sin_addr.s_addr == htonl(INADDR_LOOPBACK);
}

int watch_files(struct watch_root *root, const struct watch_call *c,
	const struct sc_notif *n, char *room, struct watch_access *a)
{
	uint64_t flags = 0;

	switch ((enum watch_use)c->how) {
	case WATCH_OPEN:
		return one_open(root, n, c, n->data.args[c->arg], room, a);
	case WATCH_OPEN2:
		if (watch_mem((pid_t)n->pid, n->data.args[c->arg],
			    &flags, sizeof(flags)) < 0)
			return 0;
		return one_open(root, n, c, flags, room, a);
	case WATCH_WRITE:
		return one_open(root, n, c,
			n->data.nr == __NR_truncate ?
				O_WRONLY :
				O_WRONLY | O_CREAT | O_TRUNC,
			room, a);
	case WATCH_MAKE:
	case WATCH_REMOVE:
		return one_entry(root, n, c->dir, c->path,
			c->how == WATCH_MAKE ? ABSENT : THERE, room, a);
	case WATCH_LINK:
	case WATCH_RENAME:
		return two_entries(root, n, c, room, a);
	case WATCH_CONNECT:
	case WATCH_BIND:
		return one_address(root, n, c->how == WATCH_BIND, room, a);
	}
	return 0;
}
