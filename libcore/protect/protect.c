/* protect.c - names of a project: looked at, and looked at again
 * SPDX-License-Identifier: MIT
 */
#include "protect/protect_in.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/path.h"
#include "base/str.h"
#include "protect/gitconf.h"
#include "sys/file.h"

void protect_list_release(struct protect_list *l)
{
	free(l->item);
	arena_release(&l->arena);
	*l = (struct protect_list){0};
}

int protect_join(char *out, const char *dir, const char *name)
{
	return *dir ? path_join(out, PROTECT_PATH, dir, name)
		    : str_copy(out, PROTECT_PATH, name);
}

/* Removes the last part; false when there is none. */
static bool path_up(char *path)
{
	char *slash = strrchr(path, '/');

	if (!*path)
		return false;
	*(slash ? slash : path) = '\0';
	return true;
}

bool protect_within(const struct protect *p, const char *file, const char *path,
	char *out)
{
	const char *root = p->spec->root;
	size_t n = strlen(root);

	if (str_copy(out, PROTECT_PATH, file))
		return false;
	path_up(out);
	if (path[0] == '/') {
		if (strncmp(path, root, n) != 0 || path[n] != '/')
			return false;
		path += n;
		*out = '\0';
	}
	while (*path) {
		size_t len = strcspn(path, "/"), at = strlen(out);

		if (len == 2 && memcmp(path, "..", 2) == 0) {
			if (!path_up(out))
				return false;
		} else if (len && !(len == 1 && *path == '.')) {
			if (at + len + 2 > PROTECT_PATH)
				return false;
			if (at)
				out[at++] = '/';
			memcpy(out + at, path, len);
			out[at + len] = '\0';
		}
		path += len;
		path += strspn(path, "/");
	}
	return *out;
}

const struct protect_seen *protect_find(
	const struct protect_list *l, const char *name)
{
	for (size_t i = 0; i < l->count; i++)
		if (str_eq(l->item[i].name, name))
			return &l->item[i];
	return NULL;
}

static enum protect_how how_of(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return PROTECT_FILE;
	case S_IFLNK:
		return PROTECT_LINK;
	case S_IFDIR:
		return PROTECT_DIR;
	default:
		return PROTECT_OTHER;
	}
}

static uint64_t time_ns(struct timespec t)
{
	return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

static void mark_stat(struct protect_mark *m, const struct stat *st)
{
	m->how = (uint8_t)how_of(st->st_mode);
	/* Of a directory only its existence counts. */
	if (m->how == PROTECT_DIR)
		return;
	m->dev = st->st_dev;
	m->ino = st->st_ino;
	m->size = (uint64_t)st->st_size;
	m->mtime = time_ns(st->st_mtim);
	m->ctime = time_ns(st->st_ctim);
	m->mode = st->st_mode;
	m->uid = st->st_uid;
	m->gid = st->st_gid;
}

int protect_push(struct protect_list *l, const char *name,
	const struct protect_mark *mark)
{
	const struct protect_seen *old = protect_find(l, name);
	size_t n = strlen(name) + 1;
	struct protect_seen *to;
	char *copy;

	if (old) {
		l->item[old - l->item].mark.strict |= mark->strict;
		return 0;
	}
	if (l->count == PROTECT_FILES_MAX) {
		l->full = true;
		return 0;
	}
	if (!l->item) {
		l->item = calloc(PROTECT_FILES_MAX, sizeof *l->item);
		l->arena = ARENA_INIT(2 * PROTECT_BYTES_MAX);
		l->when = clock_ns(CLOCK_REALTIME);
	}
	copy = l->item ? arena_bytes(&l->arena, n) : NULL;
	if (!copy)
		return -ENOMEM;
	memcpy(copy, name, n);
	to = &l->item[l->count++];
	*to = (struct protect_seen){.mark = *mark, .name = copy};
	to->mark.name_len = (uint32_t)n - 1;
	return 0;
}

int protect_add(struct protect_list *l, int dirfd, const char *dir,
	const char *base, enum protect_kind kind, bool strict)
{
	struct protect_mark mark = {.kind = (uint8_t)kind, .strict = strict};
	char name[PROTECT_PATH];
	struct stat st;

	if (fstatat(dirfd, base, &st, AT_SYMLINK_NOFOLLOW) ||
		protect_join(name, dir, base))
		return 0;
	/* A directory in place of a file that git reads has no meaning. */
	if (S_ISDIR(st.st_mode) && kind != PROTECT_WHOLE)
		return 0;
	mark_stat(&mark, &st);
	return protect_push(l, name, &mark);
}

int protect_parent(int root, const char *name, const char **base)
{
	const char *slash = strrchr(name, '/');
	char dir[PROTECT_PATH] = ".";

	*base = slash ? slash + 1 : name;
	if (slash && (size_t)(slash - name) >= sizeof dir)
		return -ENAMETOOLONG;
	if (slash) {
		memcpy(dir, name, (size_t)(slash - name));
		dir[slash - name] = '\0';
	}
	return path_openat2(
		root, dir, O_PATH | O_DIRECTORY, 0, PROTECT_RESOLVE);
}

void protect_open_up(int fd)
{
	const uid_t uid = geteuid();
	char name[32];
	struct stat st;

	/* Root needs no rights. */
	if (uid && fstat(fd, &st) == 0 && st.st_uid == uid &&
		(st.st_mode & 0700) != 0700)
		(void)chmod(BUF_PRINT(name, "/proc/self/fd/%d", fd),
			(st.st_mode & 07777) | 0700);
}

int protect_add_name(const struct protect *p, struct protect_list *l,
	const char *name, enum protect_kind kind, bool strict)
{
	struct protect_mark mark = {.kind = (uint8_t)kind, .strict = strict};
	const char *base;
	autofd int fd = protect_parent(p->root, name, &base);
	struct stat st;

	if (fd >= 0 && !fstatat(fd, base, &st, AT_SYMLINK_NOFOLLOW))
		mark_stat(&mark, &st);
	return protect_push(l, name, &mark);
}

int protect_read(int root, const char *name, struct buf *b)
{
	autofd int fd = path_openat2(root, name,
		O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0,
		PROTECT_RESOLVE);
	struct stat st;
	int err;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	if ((uint64_t)st.st_size > b->max)
		return -EFBIG;
	err = buf_read_fd(b, fd);
	return err == -ENOBUFS ? -EFBIG : err;
}

void protect_text(struct protect_list *l, struct protect_seen *s,
	const char *text, size_t n)
{
	char *copy = l->bytes + n > PROTECT_BYTES_MAX
		? NULL : arena_bytes(&l->arena, n + 1);

	if (!copy)
		return;
	if (n)
		memcpy(copy, text, n);
	copy[n] = '\0';
	l->bytes += n;
	s->text = copy;
	s->mark.text_len = (uint32_t)n;
	s->mark.kept = true;
}

/* Keeps a file's text. A file that cannot be read, or is too large, can only be
 * reported. */
static void keep_one(const struct protect *p, struct protect_list *l,
	struct protect_seen *s)
{
	autobuf struct buf b = BUF_INIT(PROTECT_FILE_MAX);
	const char *base;
	char link[PROTECT_PATH];

	if (s->mark.how == PROTECT_FILE &&
		!protect_read(p->root, s->name, &b)) {
		protect_text(l, s, b.data, b.len);
	} else if (s->mark.how == PROTECT_LINK) {
		autofd int fd = protect_parent(p->root, s->name, &base);
		ssize_t n = fd < 0 ? -1 : readlinkat(fd, base, link, sizeof link);

		if (n > 0 && (size_t)n < sizeof link)
			protect_text(l, s, link, (size_t)n);
	}
}

struct include_ctx {
	const struct protect *p;
	struct protect_list *l;
	const char *from; /* the including file */
	bool strict;
};

/* Adds a file of the project that git's settings include. */
static int keep_include(void *ctx, const struct gitconf_var *var)
{
	const struct include_ctx *x = ctx;
	char to[PROTECT_PATH];

	if (!str_eq(var->name, "include.path") &&
		!(str_after(var->name, "includeif.") &&
			str_ends(var->name, ".path")))
		return 0;
	if (!protect_within(x->p, x->from, var->value, to))
		return 0;
	return protect_add_name(x->p, x->l, to, PROTECT_CONFIG, x->strict);
}

int protect_keep(const struct protect *p, struct protect_list *l)
{
	int err = 0;

	/* The list grows while it is read. */
	for (size_t i = 0; i < l->count && err != -ENOMEM; i++) {
		struct protect_seen *s = &l->item[i];
		struct include_ctx x = {.p = p,
			.l = l,
			.from = s->name,
			.strict = s->mark.strict};

		keep_one(p, l, s);
		if (s->mark.kind == PROTECT_CONFIG && s->mark.kept &&
			s->mark.how == PROTECT_FILE)
			err = gitconf_read(
				s->text, s->mark.text_len, keep_include, &x);
	}
	return err == -ENOMEM ? err : 0;
}

static int look_now(struct protect *p)
{
	int err = protect_look(p, &p->before);

	return err ? err : protect_keep(p, &p->before);
}

int protect_begin(struct protect **out, const struct protect_spec *spec)
{
	autoprotect struct protect *p = calloc(1, sizeof *p);
	int err;

	*out = NULL;
	if (!p)
		return -ENOMEM;
	p->spec = spec;
	p->store = -1;
	p->root = open(spec->root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (p->root < 0)
		return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
	err = protect_share(p);
	if (err > 0)
		err = look_now(p);
	if (err)
		return err;
	protect_shared(p);
	*out = p;
	p = NULL;
	return 0;
}

int protect_check(struct protect *p)
{
	return p ? protect_compare(p) : 0;
}

void protect_end(struct protect *p)
{
	if (!p)
		return;
	protect_unshare(p);
	if (p->root >= 0)
		close(p->root);
	protect_list_release(&p->before);
	free(p);
}
