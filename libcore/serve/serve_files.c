/* serve_files.c - a request about files, done by the process that reads it
 * SPDX-License-Identifier: MIT
 */
#include "serve/serve_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "base/str.h"
#include "sys/file.h"

int files_at(const struct files *f, const char *path, char name[static PATH_MAX])
{
	autofd int dir = -1;
	int at;

	if (f->follow)
		return str_copy(name, PATH_MAX, path) ? -ENAMETOOLONG : AT_FDCWD;
	dir = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	for (path++; dir >= 0; path += strcspn(path, "/") + 1) {
		size_t n = strcspn(path, "/");
		int next;

		memcpy(name, path, n);
		name[n] = '\0';
		if (!path[n])
			break;
		next = openat(dir, name,
			O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		at = errno;
		close(dir);
		dir = next;
		errno = at == ENOTDIR ? ELOOP : at;
	}
	if (dir < 0)
		return -errno;
	if (!name[0])
		(void)str_copy(name, PATH_MAX, ".");
	at = dir;
	dir = -1;
	return at;
}

int files_open(int dir, const char *name, int flags, bool follow)
{
	/* A pipe's end is not waited for. */
	int fd = openat(dir, name, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY |
			(follow ? 0 : O_NOFOLLOW), 0666);
	struct stat st;
	int err = fd < 0 || fstat(fd, &st) ? -errno : 0;

	if (!err && S_ISDIR(st.st_mode))
		err = -EISDIR;
	if (!err && !S_ISREG(st.st_mode))
		err = -EINVAL;
	if (err && fd >= 0)
		close(fd);
	return err ? err : fd;
}

static int do_method(struct files *f)
{
	static int (*const does[])(struct files *) = {
		[CODEX_FILE_BLOCK] = files_block,
		[CODEX_FILE_READ] = files_read,
		[CODEX_FILE_WRITE] = files_write,
		[CODEX_FILE_MKDIR] = files_mkdir,
		[CODEX_FILE_STAT] = files_stat,
		[CODEX_FILE_REAL] = files_real,
		[CODEX_FILE_LIST] = files_list,
		[CODEX_FILE_WALK] = files_walk,
		[CODEX_FILE_REMOVE] = files_remove,
		[CODEX_FILE_COPY] = files_copy,
	};
	const char *key =
		f->m->method == CODEX_FILE_COPY ? "sourcePath" : "path";

	if (f->m->method >= ARRAY_SIZE(does) || !does[f->m->method])
		return -ENOSYS;
	f->follow = true;
	if (codex_path(f->m, f->m->params, key, f->path) ||
		codex_truth(f->m, f->m->params, "followSymlinks", &f->follow)) {
		(void)str_copy(f->said, sizeof f->said, f->m->said);
		return -EINVAL;
	}
	return does[f->m->method](f);
}

/* codex's clients tell a missing file from all other failures by its code. */
static void put_error(struct buf *out, const struct files *f, int err)
{
	struct json j = JSON_INIT(out);
	bool ours = err == -EACCES || err == -EPERM || err == -EINVAL ||
		err == -EROFS || err == -EEXIST || err == -EISDIR ||
		err == -ELOOP || err == -EFBIG;

	buf_clear(out);
	json_open(&j, '{');
	json_put_open(&j, "error", '{');
	json_put_i64(&j, "code", err == -ENOENT || err == -ENOTDIR
			? RPC_MISSING
			: ours ? RPC_REQUEST : RPC_INTERNAL);
	json_put_str(&j, "message", f->said[0] ? f->said : strerror(-err));
	rpc_end(&j);
}

int serve_files(int fd)
{
	autobuf struct buf text = BUF_INIT(CODEX_LINE_MAX);
	autobuf struct buf out = BUF_INIT(FILES_ANSWER_MAX);
	autocodex struct codex_message m = {.method = CODEX_NONE};
	autofree struct files *f = calloc(1, sizeof *f);
	int err = !f				    ? -ENOMEM
		: lseek(fd, 0, SEEK_SET) ? -errno
					    : buf_read_fd(&text, fd);

	if (err)
		return err;
	f->m = &m;
	f->j = JSON_INIT(&out);
	json_open(&f->j, '{');
	json_put_open(&f->j, "result", '{');
	err = codex_read(&m, text.data, text.len) ? -EINVAL : do_method(f);
	rpc_end(&f->j);
	if (err || out.err)
		put_error(&out, f, err ? err : -EFBIG);
	if (lseek(fd, 0, SEEK_SET) || ftruncate(fd, 0))
		return -errno;
	return file_write_all(fd, out.data, out.len);
}
