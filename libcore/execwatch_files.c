/* execwatch_files.c - which files a system call is about
 * SPDX-License-Identifier: MIT
 */
#include "execwatch_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "path.h"
#include "sandbox.h"
#include "str.h"
#include "uapi/nr.h"

/* Where a call has its path, and what it does with it. */
enum how {
	OPEN,   /* by the flags at .flags */
	OPEN2,  /* by the structure that .flags points to */
	WRITE,  /* to the file */
	ENTRY,  /* adds or removes a name: the directory is written */
	ENTRY2, /* two of them: the second has its path at .flags */
	CONNECT,
};
enum { NO_DIR = -1 };

static const struct call {
	int16_t nr;
	uint8_t how;
	int8_t dir, path, flags; /* indices of arguments */
} calls[] = {
	{__NR_open, OPEN, NO_DIR, 0, 1},
	{__NR_openat, OPEN, 0, 1, 2},
	{__NR_openat2, OPEN2, 0, 1, 2},
	{__NR_creat, WRITE, NO_DIR, 0, 0},
	{__NR_truncate, WRITE, NO_DIR, 0, 0},
	{__NR_mkdir, ENTRY, NO_DIR, 0, 0},
	{__NR_mkdirat, ENTRY, 0, 1, 0},
	{__NR_rmdir, ENTRY, NO_DIR, 0, 0},
	{__NR_unlink, ENTRY, NO_DIR, 0, 0},
	{__NR_unlinkat, ENTRY, 0, 1, 0},
	{__NR_symlink, ENTRY, NO_DIR, 1, 0},
	{__NR_symlinkat, ENTRY, 1, 2, 0},
	{__NR_mknod, ENTRY, NO_DIR, 0, 0},
	{__NR_mknodat, ENTRY, 0, 1, 0},
	{__NR_rename, ENTRY2, NO_DIR, 0, 1},
	{__NR_renameat, ENTRY2, 0, 1, 3},
	{__NR_renameat2, ENTRY2, 0, 1, 3},
	{__NR_link, ENTRY2, NO_DIR, 0, 1},
	{__NR_linkat, ENTRY2, 0, 1, 3},
	{__NR_connect, CONNECT, NO_DIR, 1, 2},
};

/* The directory that path's last name is in. */
static int name_dir(struct execwatch_root *root, pid_t pid, int dirfd,
	char *path, char *real)
{
	size_t n = strlen(path);
	char *slash;

	while (n > 1 && path[n - 1] == '/')
		path[--n] = '\0';
	slash = strrchr(path, '/');
	if (!slash)
		return execwatch_name(root, pid, dirfd, "", real);
	slash[slash == path] = '\0';
	return execwatch_name(root, pid, dirfd, path, real);
}

/* What is about to be made: by its directory, unless its name is a link that leads
 * elsewhere, where there may be something after all. */
static int name_made(struct execwatch_root *root, pid_t pid, int dirfd,
	char *path, char *real)
{
	char *full = real + PATH_MAX, name[NAME_MAX + 1];
	struct stat st;
	int err = str_copy(name, sizeof(name), path_base(path));

	if (err == 0)
		err = name_dir(root, pid, dirfd, path, real);
	if (err == 0)
		err = path_join(full, PATH_MAX, real, name);
	if (err == 0)
		err = path_made(full, real, &st);
	if (err == 0 && !st.st_mode) {
		char *slash = strrchr(real, '/');

		slash[slash == real] = '\0';
	}
	return err;
}

static int one_entry(struct execwatch_root *root, const struct sc_notif *n,
	int dir, int at, char *room, struct execwatch_access *a)
{
	pid_t pid = (pid_t)n->pid;
	int dirfd = dir < 0 ? AT_FDCWD : (int)n->data.args[dir];
	char *path = room, *real = room + PATH_MAX;

	if (execwatch_str(pid, n->data.args[at], path, PATH_MAX) < 0 ||
		name_dir(root, pid, dirfd, path, real) < 0)
		return 0;
	*a = (struct execwatch_access){
		.pid = pid, .path = real, .wants = SANDBOX_WRITE};
	return 1;
}

static int one_open(struct execwatch_root *root, const struct sc_notif *n,
	const struct call *c, uint64_t flags, char *room, struct execwatch_access *a)
{
	pid_t pid = (pid_t)n->pid;
	int dirfd = c->dir < 0 ? AT_FDCWD : (int)n->data.args[c->dir], err;
	char *path = room, *real = room + PATH_MAX;
	unsigned wants = (flags & O_ACCMODE) == O_WRONLY ? 0 : SANDBOX_READ;

	if (flags & O_PATH)
		return 0;
	if (flags & (O_WRONLY | O_RDWR | O_TRUNC))
		wants |= SANDBOX_WRITE;
	if (execwatch_str(pid, n->data.args[c->path], path, PATH_MAX) < 0)
		return 0;
	err = execwatch_name(root, pid, dirfd, path, real);
	if (err == -ENOENT && flags & O_CREAT) {
		wants |= SANDBOX_WRITE;
		err = flags & (O_EXCL | O_NOFOLLOW) ?
			      name_dir(root, pid, dirfd, path, real) :
			      name_made(root, pid, dirfd, path, real);
	}
	*a = (struct execwatch_access){
		.pid = pid, .path = real, .wants = wants};
	return err == 0;
}

static int one_connect(
	struct execwatch_root *root, const struct sc_notif *n, char *room,
	struct execwatch_access *a)
{
	pid_t pid = (pid_t)n->pid;
	struct sockaddr_un addr = {.sun_family = 0};
	uint64_t len = n->data.args[2];

	if (len > sizeof(addr))
		len = sizeof(addr);
	if (execwatch_mem(
			pid, n->data.args[1], &addr, (size_t)len) < 0 ||
		addr.sun_family != AF_UNIX || !addr.sun_path[0] ||
		str_copy(room, sizeof(addr.sun_path),
			addr.sun_path) < 0 ||
		execwatch_name(root, pid, AT_FDCWD, room, room + PATH_MAX) < 0)
		return 0;
	*a = (struct execwatch_access){
		.pid = pid, .path = room + PATH_MAX, .wants = SANDBOX_UNIX};
	return 1;
}

int execwatch_files(
	struct execwatch_root *root, const struct sc_notif *n, char *room,
	struct execwatch_access *a)
{
	const struct call *c = calls;
	uint64_t flags = 0;
	int dir2, count;

	while (c < calls + ARRAY_SIZE(calls) && c->nr != n->data.nr)
		c++;
	if (c == calls + ARRAY_SIZE(calls))
		return 0;
	switch ((enum how)c->how) {
	case OPEN:
		return one_open(root, n, c, n->data.args[c->flags], room, a);
	case OPEN2:
		if (execwatch_mem((pid_t)n->pid, n->data.args[c->flags],
			    &flags, sizeof(flags)) < 0)
			return 0;
		return one_open(root, n, c, flags, room, a);
	case WRITE:
		return one_open(root, n, c,
			n->data.nr == __NR_truncate ?
				O_WRONLY :
				O_WRONLY | O_CREAT | O_TRUNC,
			room, a);
	case ENTRY:
		return one_entry(root, n, c->dir, c->path, room, a);
	case ENTRY2:
		dir2 = c->dir < 0 ? NO_DIR : 2;
		count = one_entry(root, n, c->dir, c->path, room, a);
		count += one_entry(root, n, dir2, c->flags,
			room + 2 * PATH_MAX, a + count);
		/* One directory is one thing to say. */
		return count == 2 && str_eq(a[0].path, a[1].path) ? 1 : count;
	case CONNECT:
		return one_connect(root, n, room, a);
	}
	return 0;
}
