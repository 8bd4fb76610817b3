/* path.c - paths as text, and opened without surprises
 * SPDX-License-Identifier: MIT
 */
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/str.h"

const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Appends the components of path to out[0..*len), which holds "" (the root) or
 * "/a/b". */
static int add_components(
	char *out, size_t size, size_t *len, const char *path)
{
	while (*path) {
		size_t n = strcspn(path, "/");

		if (n == 2 && path[0] == '.' && path[1] == '.') {
			while (*len && out[--*len] != '/')
				;
		} else if (n && !(n == 1 && path[0] == '.')) {
			if (n + 2 > size - *len)
				return -ENAMETOOLONG;
			out[(*len)++] = '/';
			memcpy(out + *len, path, n);
			*len += n;
		}
		path += n;
		path += *path == '/';
	}
	return 0;
}

int path_normal(char *out, size_t size, const char *base, const char *path)
{
	size_t len = 0;
	int err = 0;

	if (size < 2)
		return -ENAMETOOLONG;
	if (path[0] != '/') {
		if (!base || base[0] != '/')
			return -EINVAL;
		err = add_components(out, size, &len, base);
	}
	if (!err)
		err = add_components(out, size, &len, path);
	if (err)
		return err;
	if (!len)
		out[len++] = '/';
	out[len] = '\0';
	return 0;
}

int path_join(char *out, size_t size, const char *dir, const char *name)
{
	size_t n = strlen(dir);
	struct buf b = {.data = out, .cap = size, .max = size - 1};

	buf_add(&b, dir, n);
	if (n && dir[n - 1] != '/')
		buf_addc(&b, '/');
	buf_adds(&b, name);
	if (b.err) {
		out[0] = '\0';
		return -ENAMETOOLONG;
	}
	buf_str(&b);
	return 0;
}

bool path_beneath(const char *dir, const char *path)
{
	const char *rest = str_after(path, dir);

	return rest && (*rest == '/' || !*rest || (dir[0] == '/' && !dir[1]));
}

int path_order(const char *a, const char *b)
{
	const unsigned char *x = (const unsigned char *)a;
	const unsigned char *y = (const unsigned char *)b;

	while (*x && *x == *y) {
		x++;
		y++;
	}
	return (*x == '/' ? 1 : *x ? *x + 1 : 0) -
	       (*y == '/' ? 1 : *y ? *y + 1 : 0);
}

/* The kernel's struct open_how, which libc headers often lack. */
struct path_how {
	uint64_t flags, mode, resolve;
};

int path_openat2(int dirfd, const char *path, int flags, unsigned mode,
	uint64_t resolve)
{
	struct path_how how = {
		.flags = (uint64_t)(unsigned)flags | O_CLOEXEC,
		.mode = mode,
		.resolve = resolve,
	};
	long fd = syscall(SYS_openat2, dirfd, path, &how, sizeof how);

	return fd < 0 ? -errno : (int)fd;
}

/* Without /proc only the current directory's name can be found. */
static int name_here(int fd, char *out, size_t size)
{
	struct stat it, here;

	if (fstat(fd, &it) < 0 || stat(".", &here) < 0 ||
		it.st_dev != here.st_dev || it.st_ino != here.st_ino)
		return -ENOENT;
	return path_cwd(out, size);
}

int path_of_fd(int fd, char *out, size_t size)
{
	char name[32];
	ssize_t n = readlink(BUF_PRINT(name, "/proc/self/fd/%d", fd), out, size);

	if (n < 0)
		return errno == ENOENT ? name_here(fd, out, size) : -errno;
	if ((size_t)n >= size)
		return -ENAMETOOLONG;
	out[n] = '\0';
	return 0;
}

int path_real(const char *path, char out[static PATH_MAX])
{
	/* The name of most paths is the real one already. */
	const bool plain = path[0] == '/' &&
		!path_normal(out, PATH_MAX, NULL, path) && str_eq(out, path);
	autofd int fd = plain ? path_openat2(AT_FDCWD, path, O_PATH, 0,
					RESOLVE_NO_SYMLINKS)
			      : -ELOOP;

	if (fd >= 0 || fd == -ENOENT)
		return fd < 0 ? fd : 0;
	/* open() would add a flag of its own. */
	fd = openat(AT_FDCWD, path, O_PATH | O_CLOEXEC);
	return fd < 0 ? -errno : path_of_fd(fd, out, PATH_MAX);
}

int path_settle(const char *path, char out[static PATH_MAX],
	bool (*lasts)(void *ctx, const char *dir), void *ctx)
{
	enum { LINKS_MAX = 40 };
	autobuf struct buf rest = BUF_INIT(2 * PATH_MAX);
	autobuf struct buf next = BUF_INIT(2 * PATH_MAX);
	char to[PATH_MAX];
	size_t n = 0, len;

	buf_adds(&rest, path);
	for (unsigned links = 0; *buf_str(&rest);) {
		const size_t keep = n;
		const char *part = rest.data + strspn(rest.data, "/");
		ssize_t got;

		len = strcspn(part, "/");
		if (len > 2 || strncmp(part, "..", len) != 0) {
			if (n + len + 2 > PATH_MAX)
				return -ENAMETOOLONG;
			out[n++] = '/';
			memcpy(out + n, part, len);
			n += len;
		} else if (len == 2) {
			while (n && out[--n] != '/')
				;
		}
		out[n] = '\0';
		buf_consume(&rest, (size_t)(part - rest.data) + len);
		got = n > keep ? readlink(out, to, sizeof to) : -1;
		if (got < 0 && n > keep && errno != EINVAL)
			return -errno;
		if (got < 0)
			continue;
		out[keep] = '\0';
		if (++links > LINKS_MAX || (size_t)got == sizeof to)
			return -ELOOP;
		if (!lasts(ctx, keep ? out : "/"))
			return -EPERM;
		n = to[0] == '/' ? 0 : keep;
		buf_add(&next, to, (size_t)got);
		buf_adds(&next, buf_str(&rest));
		buf_clear(&rest);
		buf_adds(&rest, buf_str(&next));
		buf_clear(&next);
		if (rest.err || next.err)
			return -ENAMETOOLONG;
	}
	if (!n)
		memcpy(out, "/", 2);
	return 0;
}

/* The kernel's name of what a path leads to. */
static int name_real(char *path, struct stat *st)
{
	int fd = openat(AT_FDCWD, path, O_PATH | O_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	err = fstat(fd, st) < 0 ? -errno : path_of_fd(fd, path, PATH_MAX);
	close(fd);
	return err;
}

int path_made(const char *path, char *out, struct stat *st)
{
	enum { LINKS_MAX = 40 };
	char name[PATH_MAX];
	int err = *path ? str_copy(out, PATH_MAX, path) : -ENOENT;

	for (int i = 0; err == 0 && i < LINKS_MAX; i++) {
		struct buf b = {
			.data = out, .cap = PATH_MAX, .max = PATH_MAX - 1};
		ssize_t n = (ssize_t)strlen(out);
		char *last;

		err = name_real(out, st);
		if (err != -ENOENT)
			return err;
		while (n > 1 && out[n - 1] == '/')
			out[--n] = '\0';
		last = out + (path_base(out) - out);
		memcpy(name, last, strlen(last) + 1);
		memcpy(last, ".", 2);
		err = name_real(out, st);
		if (err < 0)
			return err;
		st->st_mode = 0;
		b.len = strlen(out);
		buf_addf(&b, "%s%s", b.len > 1 ? "/" : "", name);
		n = readlink(buf_str(&b), name, sizeof(name) - 1);
		if (n < 0 || b.err)
			return b.err;
		name[n] = '\0';
		b.len = name[0] == '/' ? 0 : (size_t)(path_base(out) - out);
		buf_adds(&b, name);
		buf_str(&b);
		err = b.err;
	}
	return err < 0 ? err : -ELOOP;
}

/* Is dir/name, below cwd when dir is relative, a program? */
static int try_program(char *out, size_t size, const char *cwd,
	const char *dir, size_t n, const char *name)
{
	struct buf b = {.data = out, .cap = size, .max = size - 1};
	bool relative = n ? dir[0] != '/' : name[0] != '/';
	struct stat st;

	if (relative && cwd)
		buf_addf(&b, "%s/", cwd);
	buf_addf(&b, "%.*s%s%s", (int)n, dir, n ? "/" : "", name);
	if (b.err)
		return -ENAMETOOLONG;
	/* A directory that may not be searched counts as empty. */
	if (stat(buf_str(&b), &st))
		return errno == EACCES && !n ? -EACCES : -ENOENT;
	if (!S_ISREG(st.st_mode) || faccessat(AT_FDCWD, out, X_OK, AT_EACCESS))
		return -EACCES;
	return 0;
}

int path_find(char *out, size_t size, const char *name, const char *list,
	const char *cwd)
{
	int found = -ENOENT;

	if (strchr(name, '/'))
		return try_program(out, size, cwd, "", 0, name);
	if (!list)
		list = "/usr/local/bin:/usr/bin:/bin";
	while (list && *name) {
		size_t n = strcspn(list, ":");
		int err = n ? try_program(out, size, cwd, list, n, name)
			    : try_program(out, size, cwd, ".", 1, name);

		if (err != -ENOENT && err != -ENAMETOOLONG)
			found = err;
		if (!err)
			return 0;
		list = list[n] ? list + n + 1 : NULL;
	}
	return found;
}

int path_cwd(char *out, size_t size)
{
	long n = syscall(SYS_getcwd, out, size);

	if (n < 0)
		return -errno;
	/* For a directory outside of the root the kernel says
	 * "(unreachable)…". */
	return out[0] == '/' ? 0 : -ENOENT;
}
