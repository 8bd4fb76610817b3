/* shebang_path.c - the directories in which the walks begin
 * SPDX-License-Identifier: MIT
 */
#include "shebang/shebang_in.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "base/str.h"

size_t shebang_cut(const char *path, const char **base, size_t *base_len)
{
	size_t n = strlen(path), from;

	while (n > 1 && path[n - 1] == '/')
		n--;
	for (from = n; from && path[from - 1] != '/'; from--)
		;
	if (n == 1 && from == 1)
		from = 0;
	*base = path + from;
	*base_len = n - from;
	if (!from)
		return n == 1 && path[0] == '/' ? 1 : 0;
	while (from > 1 && path[from - 1] == '/')
		from--;
	return from;
}

/* The kernel marks the name of a directory that was removed; a living one may
 * end like that, too. */
static bool is_gone(int fd, const char *name)
{
	struct stat here, there;

	if (!str_ends(name, " (deleted)"))
		return false;
	return fstat(fd, &here) || stat(name, &there) ||
		here.st_dev != there.st_dev || here.st_ino != there.st_ino;
}

/* Makes the name of the directory in out physical without /proc. */
static int without_proc(struct buf *out)
{
	autofree char *name = realpath(out->data, NULL);

	if (!name)
		return -errno;
	buf_clear(out);
	buf_adds(out, name);
	return out->err;
}

/* Has the path nothing that would have to be folded away? */
static bool is_plain(const char *dir, size_t n)
{
	for (size_t at = n && dir[0] == '/', len; at < n; at += len + 1) {
		const char *part = dir + at;

		for (len = 0; at + len < n && part[len] != '/'; len++)
			;
		if (!len || (part[0] == '.' &&
				    (len == 1 || (len == 2 && part[1] == '.'))))
			return false;
	}
	return true;
}

/* The physical name of a plain path without links on its way: its own, behind
 * the current directory's if it is relative. */
static int plain_dir(const char *dir, size_t n, struct buf *out)
{
	int err = 0;

	buf_clear(out);
	if (!n || dir[0] != '/') {
		err = path_cwd(out->data, out->cap);
		if (err)
			return err;
		out->len = strlen(out->data);
		if (n && out->len > 1)
			buf_addc(out, '/');
	}
	buf_add(out, dir, n);
	return out->err;
}

/* Behind a "/." only a directory that may be searched is opened. */
static const char *search_place(const char *dir, size_t n, struct buf *out)
{
	buf_clear(out);
	buf_add(out, n ? dir : ".", n ? n : 1);
	buf_adds(out, "/.");
	return buf_str(out);
}

/* Writes the physical name of the directory dir[0..n), "" being ".". From one
 * whose name is too long for the kernel, the nearest above it: no candidate
 * below can be executed by its name, either. */
static int physical_dir(const char *dir, size_t n, struct buf *out)
{
	int err;

	while (n && dir[0] == '.' && (n == 1 || dir[1] == '/'))
		for (dir++, n--; n && dir[0] == '/'; dir++, n--)
			;
	search_place(dir, n, out);
	if (out->err)
		return out->err;
	/* Asking /proc for the name takes many times as long as this. */
	autofd int fd = path_openat2(AT_FDCWD, out->data,
		O_PATH | O_DIRECTORY, 0, RESOLVE_NO_SYMLINKS);
	if (fd >= 0 && is_plain(dir, n) && !plain_dir(dir, n, out))
		return 0;
	search_place(dir, n, out);
	if (fd < 0)
		fd = openat(AT_FDCWD, out->data,
			O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while ((err = path_of_fd(fd, out->data, out->cap)) == -ENAMETOOLONG) {
		int above = openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);

		if (above < 0)
			return -errno;
		close(fd);
		fd = above;
	}
	if (err)
		return without_proc(out);
	out->len = strlen(out->data);
	return out->data[0] != '/' || is_gone(fd, out->data) ? -ENOENT : 0;
}

/* path with its directory made physical; symbolic links in the last component
 * stay. */
static int path_normalize(const char *path, struct buf *out)
{
	const char *base;
	size_t base_len, n = shebang_cut(path, &base, &base_len);
	int err = physical_dir(path, n, out);

	if (err)
		return err;
	buf_addc(out, '/');
	buf_add(out, base, base_len);
	buf_str(out);
	return out->err;
}

/* Ends the string in buffer behind its directory part. */
static const char *keep_dir(char *path)
{
	const char *base;
	size_t base_len, n = shebang_cut(path, &base, &base_len);

	path[n] = '\0';
	return path;
}

/* Follows the links that begin at path; their end, normalised, goes to out. */
static int follow_link(struct shebang *s, const char *path, struct buf *out)
{
	struct buf at = BUF_FIXED(s->link[0]);
	ssize_t n;

	buf_adds(&at, path);
	for (unsigned hops = 0;; hops++) {
		const char *base;
		size_t base_len;

		n = readlink(buf_str(&at), s->link[1], SHEBANG_PATH - 1);
		if (n < 0)
			break;
		if (hops == SHEBANG_HOPS)
			return shebang_fail(s, SHEBANG_BAD,
				"symlink cycle (>%d hops): %s", SHEBANG_HOPS,
				path);
		s->link[1][n] = '\0';
		at.len = s->link[1][0] == '/'
			? 0
			: shebang_cut(at.data, &base, &base_len);
		if (at.len)
			buf_addc(&at, '/');
		buf_adds(&at, s->link[1]);
		buf_str(&at);
	}
	if (at.err || path_normalize(at.data, out))
		return shebang_fail(s, SHEBANG_MISSING,
			"cannot resolve directory of: %s",
			at.err ? path : at.data);
	return SHEBANG_FOUND;
}

int shebang_origins(struct shebang *s)
{
	struct buf near = shebang_room(s), real;
	const char *link_dir, *real_dir;
	bool link_first;
	int code;

	if (path_normalize(s->rq->script, &near))
		return shebang_fail(s, SHEBANG_MISSING,
			"cannot resolve directory of: %s", s->rq->script);
	shebang_keep(s, &near);
	shebang_trace(s, "normalized: %s", near.data);
	if (str_eq(s->conf.value[SHEBANG_FOLLOW], "no") ||
		readlink(near.data, s->link[1], 1) < 0) {
		s->origin[0] = keep_dir(near.data);
		return SHEBANG_FOUND;
	}
	real = shebang_room(s);
	code = follow_link(s, near.data, &real);
	if (code)
		return code;
	shebang_keep(s, &real);
	shebang_trace(s, "real path: %s", real.data);
	real_dir = keep_dir(real.data);
	shebang_trace(s, "real dir: %s", real_dir);
	link_dir = keep_dir(near.data);
	shebang_trace(s, "symlink dir: %s", link_dir);
	link_first = str_eq(s->conf.value[SHEBANG_PRIORITY], "symlink-first");
	s->origin[0] = link_first ? link_dir : real_dir;
	if (!str_eq(link_dir, real_dir))
		s->origin[1] = link_first ? real_dir : link_dir;
	return SHEBANG_FOUND;
}
