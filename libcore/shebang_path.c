/* shebang_path.c - the directories in which the walks begin
 * SPDX-License-Identifier: MIT
 */
#include "shebang_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "path.h"
#include "str.h"

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

/* The physical name of the directory dir[0..n). From one whose name is too long
 * for the kernel, the nearest above it: no candidate below can be executed by
 * its name, either. */
static int physical_dir(
	struct shebang *s, const char *dir, size_t n, char *out, size_t size)
{
	struct buf b = BUF_FIXED(s->place);
	int err;

	buf_add(&b, n ? dir : ".", n ? n : 1);
	/* Behind a "/." only a directory that may be searched is opened. */
	buf_adds(&b, "/.");
	if (b.err)
		return -ENAMETOOLONG;
	autofd int fd = open(buf_str(&b), O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while ((err = path_of_fd(fd, out, size)) == -ENAMETOOLONG) {
		int above = openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);

		if (above < 0)
			return -errno;
		close(fd);
		fd = above;
	}
	if (!err)
		return out[0] != '/' || is_gone(fd, out) ? -ENOENT : 0;
	/* No /proc. */
	return realpath(buf_str(&b), out) ? 0 : -errno;
}

/* path with its directory made physical; symbolic links in the last component
 * stay. */
static int normalize(struct shebang *s, const char *path, struct buf *out)
{
	const char *base;
	size_t base_len, n = shebang_cut(path, &base, &base_len);
	int err = physical_dir(s, path, n, out->data, out->cap);

	if (err)
		return err;
	out->len = strlen(out->data);
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
static int follow(struct shebang *s, const char *path, struct buf *out)
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
	if (at.err || normalize(s, at.data, out))
		return shebang_fail(s, SHEBANG_MISSING,
			"cannot resolve directory of: %s",
			at.err ? path : at.data);
	return SHEBANG_FOUND;
}

int shebang_origins(struct shebang *s)
{
	const char *script = s->rq->script;
	struct buf near = BUF_FIXED(s->start[0]);
	struct buf real = BUF_FIXED(s->start[1]);
	bool link_first;
	int code;

	if (normalize(s, script, &near))
		return shebang_fail(s, SHEBANG_MISSING,
			"cannot resolve directory of: %s", script);
	shebang_trace(s, "normalized: %s", near.data);
	s->origin[0] = s->start[0];
	if (str_eq(s->conf.value[SHEBANG_FOLLOW], "no") ||
		readlink(near.data, s->link[1], 1) < 0) {
		keep_dir(s->start[0]);
		return SHEBANG_FOUND;
	}
	code = follow(s, near.data, &real);
	if (code)
		return code;
	shebang_trace(s, "real path: %s", real.data);
	keep_dir(s->start[0]);
	shebang_trace(s, "real dir: %s", keep_dir(s->start[1]));
	shebang_trace(s, "symlink dir: %s", s->start[0]);
	link_first = str_eq(s->conf.value[SHEBANG_PRIORITY], "symlink-first");
	s->origin[0] = s->start[link_first ? 0 : 1];
	if (!str_eq(s->start[0], s->start[1]))
		s->origin[1] = s->start[link_first ? 1 : 0];
	return SHEBANG_FOUND;
}
