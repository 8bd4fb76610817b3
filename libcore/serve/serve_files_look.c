/* serve_files_look.c - what files and directories are
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

int files_stat(struct files *f)
{
	char name[PATH_MAX];
	int dir = files_at(f, f->path, name), err;
	struct stat st, link;

	if (dir < 0 && dir != AT_FDCWD)
		return dir;
	err = fstatat(dir, name, &link, AT_SYMLINK_NOFOLLOW) ||
			fstatat(dir, name, &st,
				f->follow ? 0 : AT_SYMLINK_NOFOLLOW)
		? -errno
		: 0;
	if (dir != AT_FDCWD)
		close(dir);
	if (err)
		return err;
	json_put_bool(&f->j, "isDirectory", S_ISDIR(st.st_mode));
	json_put_bool(&f->j, "isFile", S_ISREG(st.st_mode));
	json_put_bool(&f->j, "isSymlink", S_ISLNK(link.st_mode));
	json_put_u64(&f->j, "size", (uint64_t)st.st_size);
	json_put_i64(&f->j, "createdAtMs", 0); /* not known */
	json_put_i64(&f->j, "modifiedAtMs", st.st_mtim.tv_sec * 1000 +
			st.st_mtim.tv_nsec / 1000000);
	return 0;
}

int files_real(struct files *f)
{
	char real[PATH_MAX];
	int err = path_real(f->path, real);

	if (!err)
		codex_put_path(&f->j, "path", real);
	return err;
}

int files_list(struct files *f)
{
	DIR *dir = opendir(f->path);
	size_t count = 0;
	struct dirent *e;
	struct stat st;

	if (!dir)
		return -errno;
	json_put_open(&f->j, "entries", '[');
	while ((e = readdir(dir)) && count < FILES_ENTRIES_MAX) {
		if (str_eq(e->d_name, ".") || str_eq(e->d_name, "..") ||
			fstatat(dirfd(dir), e->d_name, &st, 0))
			continue;
		count++;
		json_open(&f->j, '{');
		json_put_str(&f->j, "fileName", e->d_name);
		json_put_bool(&f->j, "isDirectory", S_ISDIR(st.st_mode));
		json_put_bool(&f->j, "isFile", S_ISREG(st.st_mode));
		json_close(&f->j);
	}
	json_close(&f->j);
	closedir(dir);
	if (e)
		(void)str_copy(f->said, sizeof f->said,
			"the directory has more than 50000 entries");
	return e ? -EFBIG : 0;
}

/* A walk, breadth first: paths of directories that wait, and what was seen. */
struct walk {
	struct files *f;
	struct buf queue; /* struct waits, and a path with its NUL, each */
	struct buf errors;
	struct json errors_j;
	uint64_t depth, dirs, entries; /* how many there may be */
	bool follow, prune, cut;
	size_t dir_count, entry_count;
	struct {
		dev_t dev;
		ino_t ino;
	} seen[FILES_WALK_DIRS];
};

struct waits {
	uint64_t depth;
	size_t n; /* of the path, with its NUL */
};

static void walk_error(struct walk *w, const char *path, int err)
{
	json_open(&w->errors_j, '{');
	codex_put_path(&w->errors_j, "path", path);
	json_put_str(&w->errors_j, "message", strerror(err));
	json_close(&w->errors_j);
}

/* A directory that was not seen before waits. */
static void walk_push(
	struct walk *w, const char *path, const struct stat *st, uint64_t depth)
{
	size_t n = strlen(path) + 1;
	struct waits head = {depth, n};

	for (size_t i = 0; i < w->dir_count; i++)
		if (w->seen[i].dev == st->st_dev && w->seen[i].ino == st->st_ino)
			return;
	if (w->dir_count >= w->dirs) {
		w->cut = true;
		return;
	}
	w->seen[w->dir_count].dev = st->st_dev;
	w->seen[w->dir_count++].ino = st->st_ino;
	buf_add(&w->queue, &head, sizeof head);
	buf_add(&w->queue, path, n);
}

static void walk_entry(struct walk *w, const char *dir, const char *name,
	uint64_t depth)
{
	char path[PATH_MAX];
	struct stat link, st;

	if (path_join(path, sizeof path, dir, name))
		return;
	if (lstat(path, &link) || stat(path, &st)) {
		walk_error(w, path, errno);
		return;
	}
	if ((S_ISLNK(link.st_mode) && (!w->follow || !S_ISDIR(st.st_mode))) ||
		(!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode)))
		return;
	json_open(&w->f->j, '{');
	codex_put_path(&w->f->j, "path", path);
	json_put_str(&w->f->j, "kind",
		S_ISDIR(st.st_mode) ? "directory" : "file");
	json_close(&w->f->j);
	if (S_ISDIR(st.st_mode) && depth < w->depth &&
		!(w->prune && name[0] == '.'))
		walk_push(w, path, &st, depth + 1);
}

static void walk_dir(struct walk *w, const char *path, uint64_t depth)
{
	struct dirent **list = NULL;
	int n = scandir(path, &list, NULL, alphasort);

	if (n < 0)
		walk_error(w, path, errno);
	for (int i = 0; i < n; i++) {
		const char *name = list[i]->d_name;

		if (!str_eq(name, ".") && !str_eq(name, "..")) {
			w->cut |= w->entry_count >= w->entries;
			if (w->entry_count++ < w->entries)
				walk_entry(w, path, name, depth);
		}
		free(list[i]);
	}
	free(list);
}

static int walk_options(struct walk *w)
{
	struct codex_message *m = w->f->m;
	uint32_t options = rpc_member(&m->doc, m->params, "options");

	if (!options ||
		codex_number(m, options, "maxDepth", FILES_WALK_DEPTH,
			&w->depth) ||
		codex_number(m, options, "maxDirectories", FILES_WALK_DIRS,
			&w->dirs) ||
		codex_number(m, options, "maxEntries", FILES_ENTRIES_MAX,
			&w->entries) ||
		codex_truth(m, options, "followDirectorySymlinks",
			&w->follow) ||
		codex_truth(m, options, "pruneHiddenDirectories", &w->prune) ||
		!w->dirs || !w->entries) {
		(void)str_copy(w->f->said, sizeof w->f->said,
			m->said[0] ? m->said : "options: no bounds");
		return -EINVAL;
	}
	return 0;
}

/* Those that wait, one after the other; the queue may move as it grows. */
static void walk_all(struct walk *w)
{
	struct files *f = w->f;

	for (size_t at = 0; at < w->queue.len && w->entry_count <= w->entries;) {
		struct waits head;

		memcpy(&head, w->queue.data + at, sizeof head);
		(void)str_copy(f->to, sizeof f->to,
			w->queue.data + at + sizeof head);
		at += sizeof head + head.n;
		walk_dir(w, f->to, head.depth);
	}
}

int files_walk(struct files *f)
{
	autofree struct walk *w = calloc(1, sizeof *w);
	struct stat st, link;
	int err;

	if (!w)
		return -ENOMEM;
	w->f = f;
	w->queue = BUF_INIT(FILES_ANSWER_MAX);
	w->errors = BUF_INIT(FILES_ANSWER_MAX);
	w->errors_j = JSON_INIT(&w->errors);
	err = walk_options(w);
	if (!err && (lstat(f->path, &link) || stat(f->path, &st)))
		err = -errno;
	if (err)
		return err;
	json_open(&w->errors_j, '[');
	json_put_open(&f->j, "entries", '[');
	if (S_ISDIR(st.st_mode) && (w->follow || !S_ISLNK(link.st_mode)))
		walk_push(w, f->path, &st, 0);
	walk_all(w);
	json_close(&f->j);
	json_close(&w->errors_j);
	json_raw(json_key(&f->j, "errors"), w->errors.data, w->errors.len);
	json_put_bool(&f->j, "truncated", w->cut);
	err = w->queue.err ? w->queue.err : w->errors.err;
	buf_release(&w->queue);
	buf_release(&w->errors);
	return err;
}
