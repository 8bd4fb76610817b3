/* protect_look.c - which protected names are there now
 * SPDX-License-Identifier: MIT
 *
 * Of a repository: its settings, its hooks, what leads git to others, and the
 * same of its worktrees and submodules. Of other patterns the files that match.
 */
#include "protect/protect_in.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "base/str.h"

/* A look: for whom, and into which list. */
struct look {
	const struct protect *p;
	struct protect_list *l;
	bool strict;
	int err;
};

static void look_add(struct look *k, int fd, const char *dir, const char *base,
	enum protect_kind kind)
{
	int err = protect_add(k->l, fd, dir, base, kind, k->strict);

	if (err && !k->err)
		k->err = err;
}

/* Is it NAME.denied or NAME.denied.N, a file that was put aside? */
static bool is_aside(const char *name)
{
	size_t n = strlen(name);

	while (n && chr_digit(name[n - 1]))
		n--;
	if (name[n] && n && name[n - 1] == '.')
		n--;
	return n >= 7 && memcmp(name + n - 7, ".denied", 7) == 0;
}

static int open_dir(int fd, const char *name)
{
	return path_openat2(
		fd, name, O_PATH | O_DIRECTORY, 0, PROTECT_RESOLVE);
}

typedef void look_entry(struct look *k, int fd, const char *dir,
	const char *name, unsigned depth);

/* Calls each for everything in base, a directory in fd, called dir. A link in
 * its place counts as a file. */
static void look_list(struct look *k, int fd, const char *dir,
	const char *base, look_entry *each, unsigned depth)
{
	const int how =
		O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
	int at = openat(fd, base, how);
	const struct dirent *e;
	char name[PROTECT_PATH];
	DIR *list;

	if (at < 0 && errno == EACCES && k->p->again) {
		autofd int closed = open_dir(fd, base);

		if (closed >= 0)
			protect_open_up(closed);
		at = openat(fd, base, how);
	}
	if (at < 0) {
		if (errno == ENOTDIR || errno == ELOOP)
			look_add(k, fd, dir, base, PROTECT_WHOLE);
		return;
	}
	list = protect_join(name, dir, base) ? NULL : fdopendir(at);
	if (!list) {
		close(at);
		return;
	}
	while ((e = readdir(list)) && !k->l->full)
		if (!str_eq(e->d_name, ".") && !str_eq(e->d_name, ".."))
			each(k, at, name, e->d_name, depth);
	closedir(list);
}

static void look_hook(struct look *k, int fd, const char *dir,
	const char *name, unsigned depth)
{
	(void)depth;
	if (!is_aside(name) && !str_ends(name, ".sample"))
		look_add(k, fd, dir, name, PROTECT_HOOK);
}

static void look_git(struct look *k, int fd, const char *dir, unsigned depth);

static void look_worktree(struct look *k, int fd, const char *dir,
	const char *name, unsigned depth)
{
	autofd int at = open_dir(fd, name);
	char path[PROTECT_PATH];

	(void)depth;
	if (at < 0 || protect_join(path, dir, name))
		return;
	look_add(k, at, path, "config.worktree", PROTECT_CONFIG);
	look_add(k, at, path, "commondir", PROTECT_COMMON);
}

/* Looks at a submodule. Its name may hold slashes, and it may have
 * submodules. */
static void look_module(struct look *k, int fd, const char *dir,
	const char *name, unsigned depth)
{
	autofd int at = open_dir(fd, name);
	char path[PROTECT_PATH];

	if (at < 0 || protect_join(path, dir, name))
		return;
	if (depth == PROTECT_DEPTH_MAX)
		k->l->full = true;
	else if (faccessat(at, "HEAD", F_OK, AT_SYMLINK_NOFOLLOW) == 0 ||
		faccessat(at, "config", F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		look_git(k, at, path, depth + 1);
	else
		look_list(k, fd, dir, name, look_module, depth + 1);
}

static void look_git(struct look *k, int fd, const char *dir, unsigned depth)
{
	if (k->p->again)
		protect_open_up(fd);
	look_add(k, fd, dir, "config", PROTECT_CONFIG);
	look_add(k, fd, dir, "config.worktree", PROTECT_CONFIG);
	look_add(k, fd, dir, "commondir", PROTECT_COMMON);
	look_list(k, fd, dir, "hooks", look_hook, depth);
	look_list(k, fd, dir, "worktrees", look_worktree, depth);
	look_list(k, fd, dir, "modules", look_module, depth);
}

/* The target of the file or link .git in dir, relative to the root; false if it
 * lies elsewhere. */
static bool git_target(
	const struct look *k, const char *dir, const char *name, char *out)
{
	autobuf struct buf b = BUF_INIT(PROTECT_PATH);
	char link[PROTECT_PATH];
	autofd int fd = open_dir(k->p->root, *dir ? dir : ".");
	ssize_t n = fd < 0 ? -1 : readlinkat(fd, ".git", link, sizeof link - 1);
	const char *to = NULL;

	if (n > 0) {
		link[n] = '\0';
		to = link;
	} else if (!protect_read(k->p->root, name, &b)) {
		to = str_after(buf_str(&b), "gitdir: ");
		if (to)
			b.data[strcspn(b.data, "\r\n")] = '\0';
	}
	return to && protect_within(k->p, name, to, out);
}

/* Looks at the repository of dir ("" is the root), and at dir itself, which git
 * may take for a bare repository. */
static void look_repository(struct look *k, const char *dir)
{
	char name[PROTECT_PATH], to[PROTECT_PATH];
	autofd int fd = -1, at = -1;

	if (protect_join(name, dir, ".git"))
		return;
	fd = open_dir(k->p->root, name);
	if (fd == -ENOTDIR || fd == -ELOOP) {
		at = open_dir(k->p->root, *dir ? dir : ".");
		if (at >= 0)
			look_add(k, at, dir, ".git", PROTECT_WHOLE);
		if (git_target(k, dir, name, to)) {
			fd = open_dir(k->p->root, to);
			str_copy(name, sizeof name, to);
		}
	}
	if (fd >= 0) {
		look_git(k, fd, name, 0);
		return;
	}
	at = at < 0 ? open_dir(k->p->root, *dir ? dir : ".") : at;
	if (at >= 0 && faccessat(at, "HEAD", F_OK, AT_SYMLINK_NOFOLLOW) == 0 &&
		faccessat(at, "refs", F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		look_git(k, at, dir, 0);
}

static void look_repositories(struct look *k)
{
	enum { UPWARDS_MAX = 16 };
	const char *root = k->p->spec->root;
	char dir[PROTECT_PATH];
	unsigned n = 0;
	char *end;

	if (path_beneath(root, k->p->spec->cwd) && !str_eq(root, "/") &&
		!str_copy(dir, sizeof dir, k->p->spec->cwd + strlen(root)))
		for (; *dir && n < UPWARDS_MAX; n++) {
			look_repository(k, dir + 1);
			end = strrchr(dir, '/');
			*end = '\0';
		}
	look_repository(k, "");
}

static bool is_skipped(const struct look *k, const char *dir, const char *name)
{
	const struct protect_spec *spec = k->p->spec;
	char path[PROTECT_PATH], own[PROTECT_PATH];

	if (protect_join(path, dir, name))
		return true;
	for (size_t i = 0; i < spec->skip_count; i++)
		if (protect_within(k->p, "", spec->skip[i], own) &&
			(path_beneath(path, own) || path_beneath(own, path)))
			return true;
	return false;
}

/* Looks at a file of a protected tree, or at everything beneath a directory of
 * it. */
static void look_beneath(struct look *k, int fd, const char *dir,
	const char *name, unsigned depth)
{
	struct stat st;

	if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) || is_aside(name) ||
		is_skipped(k, dir, name))
		return;
	if (!S_ISDIR(st.st_mode))
		look_add(k, fd, dir, name, PROTECT_WHOLE);
	else if (depth == PROTECT_DEPTH_MAX)
		k->l->full = true;
	else
		look_list(k, fd, dir, name, look_beneath, depth + 1);
}

/* Looks at one protected pattern that is not git's. */
static void look_name(struct look *k, const struct protect_name *what)
{
	const char *base, *slash = strrchr(what->path, '/');
	autofd int fd = protect_parent(k->p->root, what->path, &base);
	char dir[PROTECT_PATH] = "";
	const struct dirent *e;
	DIR *list = NULL;
	int at;

	if (fd < 0 || (size_t)(base - what->path) >= sizeof dir)
		return;
	if (slash)
		memcpy(dir, what->path, (size_t)(slash - what->path));
	dir[slash ? slash - what->path : 0] = '\0';
	if (!strpbrk(base, "*?")) {
		look_add(k, fd, dir, base, PROTECT_WHOLE);
		if (what->tree)
			look_list(k, fd, dir, base, look_beneath, 0);
		return;
	}
	at = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (at >= 0 && !(list = fdopendir(at)))
		close(at);
	while (list && (e = readdir(list)) && !k->l->full)
		if ((e->d_name[0] != '.' || base[0] == '.') &&
			str_glob(base, e->d_name) &&
			!is_aside(e->d_name))
			look_add(k, fd, dir, e->d_name, PROTECT_WHOLE);
	if (list)
		closedir(list);
}

/* Is it a file that git reads, of which only single settings count? */
static bool is_git(const struct protect_name *what)
{
	return str_eq(what->path, ".git");
}

int protect_look(const struct protect *p, struct protect_list *l)
{
	struct look k = {.p = p, .l = l};
	bool git = false;

	for (size_t i = 0; i < p->spec->name_count && !k.err; i++) {
		const struct protect_name *what = &p->spec->names[i];

		k.strict = what->strict;
		if (!is_git(what))
			look_name(&k, what);
		else if (!git)
			look_repositories(&k);
		git |= is_git(what);
	}
	return k.err;
}
