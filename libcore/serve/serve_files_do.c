/* serve_files_do.c - files read, written, made, removed
 * SPDX-License-Identifier: MIT
 */
#include "serve/serve_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "base/str.h"
#include "sys/file.h"

static int say_why(struct files *f, int err, const char *said)
{
	(void)str_copy(f->said, sizeof f->said, said);
	return err;
}

/* The request's file; dir is closed by the caller. */
static int open_file(const struct files *f, int flags)
{
	char name[PATH_MAX];
	int dir = files_at(f, f->path, name), fd;

	if (dir < 0 && dir != AT_FDCWD)
		return dir;
	fd = files_open(dir, name, flags, f->follow);
	if (dir != AT_FDCWD)
		close(dir);
	return fd;
}

int files_read(struct files *f)
{
	autobuf struct buf bytes = BUF_INIT(FILES_READ_MAX);
	autofd int fd = open_file(f, O_RDONLY);
	int err = fd < 0 ? fd : buf_read_fd(&bytes, fd);

	if (err == -ENOBUFS)
		return say_why(f, -EFBIG, "the file is longer than 40 MiB:"
			" fs/open and fs/readBlock read it");
	if (!err)
		codex_put_bytes(&f->j, "dataBase64", bytes.data, bytes.len);
	return err;
}

int files_block(struct files *f)
{
	autofree char *bytes = malloc(CODEX_BLOCK_MAX);
	autofd int fd = open_file(f, O_RDONLY);
	uint64_t at = 0, len = 0, inode = 0;
	size_t have = 0;
	ssize_t n = 1;
	struct stat st;

	if (codex_number(f->m, f->m->params, "offset", INT64_MAX, &at) ||
		codex_number(f->m, f->m->params, "len", CODEX_BLOCK_MAX, &len) ||
		codex_number(f->m, f->m->params, "inode", UINT64_MAX, &inode))
		return say_why(f, -EINVAL, f->m->said);
	if (fd < 0 || !bytes || fstat(fd, &st))
		return fd < 0 ? fd : -errno;
	if (inode && inode != st.st_ino)
		return say_why(f, -EINVAL, "the file was replaced meanwhile");
	while (have < len && n > 0) {
		n = pread(fd, bytes + have, (size_t)len - have,
			(off_t)(at + have));
		have += n > 0 ? (size_t)n : 0;
	}
	if (n < 0)
		return -errno;
	/* Whoever asks for no bytes asks which file it is. */
	if (!len)
		json_put_u64(&f->j, "inode", st.st_ino);
	codex_put_bytes(&f->j, "chunk", bytes, have);
	json_put_bool(&f->j, "eof", have < len);
	return 0;
}

int files_write(struct files *f)
{
	autobuf struct buf bytes = BUF_INIT(CODEX_LINE_MAX);
	autofd int fd = -1;

	if (codex_bytes(f->m, f->m->params, "dataBase64", &bytes))
		return say_why(f, -EINVAL, f->m->said);
	fd = open_file(f, O_WRONLY | O_CREAT | O_TRUNC);
	return fd < 0 ? fd : file_write_all(fd, bytes.data, bytes.len);
}

/* One directory; with parents one that is there already is good. */
static int make_one(const struct files *f, const char *path, bool parents)
{
	char name[PATH_MAX];
	int dir = files_at(f, path, name), err;
	struct stat st;

	if (dir < 0 && dir != AT_FDCWD)
		return dir;
	err = mkdirat(dir, name, 0777) ? -errno : 0;
	/* What may not be made can be there all the same. */
	if (err && parents && !fstatat(dir, name, &st,
			f->follow ? 0 : AT_SYMLINK_NOFOLLOW))
		err = S_ISDIR(st.st_mode) ? 0 : -EEXIST;
	if (dir != AT_FDCWD)
		close(dir);
	return err;
}

int files_mkdir(struct files *f)
{
	bool parents = true;
	int err = 0;

	if (codex_truth(f->m, f->m->params, "recursive", &parents))
		return say_why(f, -EINVAL, f->m->said);
	for (size_t at = 1; !err && f->path[at - 1]; at++) {
		at += strcspn(f->path + at, "/");
		if (f->path[at] && !parents)
			continue;
		memcpy(f->to, f->path, at);
		f->to[at] = '\0';
		err = make_one(f, f->to, parents);
	}
	return err;
}

/* Empties a directory whose descriptor it closes. */
static int remove_within(int fd)
{
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;
	int err = dir ? 0 : -errno;

	while (!err && (e = readdir(dir))) {
		const char *name = e->d_name;

		if (str_eq(name, ".") || str_eq(name, "..") ||
			!unlinkat(dirfd(dir), name, 0))
			continue;
		err = -errno;
		if (err != -EISDIR)
			break;
		err = remove_within(openat(dirfd(dir), name,
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
		if (!err && unlinkat(dirfd(dir), name, AT_REMOVEDIR))
			err = -errno;
	}
	if (dir)
		closedir(dir);
	return err;
}

int files_remove(struct files *f)
{
	bool recursive = true, force = true;
	char name[PATH_MAX];
	struct stat st;
	int dir, err;

	if (codex_truth(f->m, f->m->params, "recursive", &recursive) ||
		codex_truth(f->m, f->m->params, "force", &force))
		return say_why(f, -EINVAL, f->m->said);
	dir = files_at(f, f->path, name);
	if (dir < 0 && dir != AT_FDCWD)
		return force && dir == -ENOENT ? 0 : dir;
	err = fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) ? -errno : 0;
	if (!err && S_ISDIR(st.st_mode) && recursive)
		err = remove_within(openat(dir, name,
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
	if (!err && unlinkat(dir, name, S_ISDIR(st.st_mode) ? AT_REMOVEDIR : 0))
		err = -errno;
	if (dir != AT_FDCWD)
		close(dir);
	return force && err == -ENOENT ? 0 : err;
}

static int copy_file(const char *from, const char *to, mode_t mode)
{
	enum { PIECE = 1 << 20 };
	autofd int in = files_open(AT_FDCWD, from, O_RDONLY, false);
	autofd int out = in < 0 ? -1
		: files_open(AT_FDCWD, to, O_WRONLY | O_CREAT, true);
	struct stat one, other;
	ssize_t n;

	if (in < 0 || out < 0)
		return in < 0 ? in : out;
	if (fstat(in, &one) || fstat(out, &other))
		return -errno;
	if (one.st_dev == other.st_dev && one.st_ino == other.st_ino)
		return -EINVAL;
	if (ftruncate(out, 0))
		return -errno;
	while ((n = copy_file_range(in, NULL, out, NULL, PIECE, 0)) > 0)
		;
	if (n < 0 && (errno == EXDEV || errno == EINVAL || errno == ENOSYS ||
			     errno == EOPNOTSUPP)) {
		autofree char *bytes = malloc(PIECE);

		while (bytes && (n = read(in, bytes, PIECE)) > 0)
			if (file_write_all(out, bytes, (size_t)n))
				return -EIO;
	}
	if (n < 0)
		return -errno;
	return fchmod(out, mode & 07777) ? -errno : 0;
}

static int copy_link(const char *from, const char *to)
{
	char text[PATH_MAX];
	ssize_t n = readlink(from, text, sizeof text - 1);

	if (n < 0)
		return -errno;
	text[n] = '\0';
	return symlink(text, to) ? -errno : 0;
}

static int copy_any(struct files *f, unsigned depth);

/* What is in the directory f->path, to f->to; both are as before then. */
static int copy_dir(struct files *f, unsigned depth)
{
	DIR *dir = opendir(f->path);
	size_t one = strlen(f->path), other = strlen(f->to);
	struct dirent *e;
	int err = dir ? 0 : -errno;

	if (!err && mkdir(f->to, 0777) && errno != EEXIST)
		err = -errno;
	while (!err && (e = readdir(dir))) {
		size_t n = strlen(e->d_name) + 1;

		if (str_eq(e->d_name, ".") || str_eq(e->d_name, ".."))
			continue;
		if (one + 1 + n > PATH_MAX || other + 1 + n > PATH_MAX) {
			err = -ENAMETOOLONG;
			break;
		}
		f->path[one] = f->to[other] = '/';
		memcpy(f->path + one + 1, e->d_name, n);
		memcpy(f->to + other + 1, e->d_name, n);
		err = copy_any(f, depth + 1);
		f->path[one] = f->to[other] = '\0';
	}
	if (dir)
		closedir(dir);
	return err;
}

static int copy_any(struct files *f, unsigned depth)
{
	struct stat st;

	if (depth > FILES_WALK_DEPTH)
		return -ENAMETOOLONG;
	if (lstat(f->path, &st))
		return -errno;
	if (S_ISDIR(st.st_mode))
		return copy_dir(f, depth);
	if (S_ISLNK(st.st_mode))
		return copy_link(f->path, f->to);
	return S_ISREG(st.st_mode) ? copy_file(f->path, f->to, st.st_mode)
				   : -EINVAL;
}

/* Would the copy of a directory lie within it? */
static bool is_within(const char *path, const char *to)
{
	autofree char *real = malloc(PATH_MAX), *target = malloc(PATH_MAX);
	struct stat st;

	return !real || !target || path_real(path, real) ||
		path_made(to, target, &st) || path_beneath(real, target);
}

int files_copy(struct files *f)
{
	bool recursive = false;
	struct stat st;

	if (codex_path(f->m, f->m->params, "destinationPath", f->to) ||
		codex_truth(f->m, f->m->params, "recursive", &recursive))
		return say_why(f, -EINVAL, f->m->said);
	if (lstat(f->path, &st))
		return -errno;
	if (S_ISDIR(st.st_mode) && !recursive)
		return say_why(f, -EINVAL, "sourcePath is a directory, and recursive"
			" is not true");
	if (S_ISDIR(st.st_mode) && is_within(f->path, f->to))
		return say_why(f, -EINVAL, "a directory cannot be copied into"
			" itself");
	return copy_any(f, 0);
}
