/* sandbox_meta.c - whose metadata the command may change
 * SPDX-License-Identifier: MIT
 */
#include "box/sandbox_meta_in.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "base/str.h"

enum { DEPTH = 3, FILES_MAX = 8192, PTS_MAJOR = 136, PTS_LAST = 143 };

static void dir_close(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

/* Does dir hold a name of the file? A directory that cannot be read through
 * might. */
static bool has_name(int at, const char *name, unsigned depth,
	const struct stat *st, unsigned *seen)
{
	autofd int fd = openat(at, name,
		O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	autoclean(dir_close) DIR *dir = NULL;
	struct dirent *e;
	struct stat in;

	if (fd < 0)
		return errno != ENOENT && errno != ENOTDIR;
	dir = fdopendir(fd);
	if (!dir)
		return true;
	(void)fd_steal(&fd);
	while ((e = readdir(dir))) {
		if (str_eq(e->d_name, ".") || str_eq(e->d_name, ".."))
			continue;
		if (++*seen > FILES_MAX ||
			fstatat(dirfd(dir), e->d_name, &in,
				AT_SYMLINK_NOFOLLOW) < 0 ||
			(in.st_ino == st->st_ino && in.st_dev == st->st_dev))
			return true;
		if (S_ISDIR(in.st_mode) &&
			(!depth || has_name(dirfd(dir), e->d_name, depth - 1,
					   st, seen)))
			return true;
	}
	return false;
}

/* Is the object another name of a file that is kept from the command? */
static bool is_linked(const struct sandbox_plan *p, const struct stat *st)
{
	unsigned seen = 0;

	if (S_ISDIR(st->st_mode) || st->st_nlink < 2)
		return false;
	for (const char *const *own = p->own; own && *own; own++) {
		struct stat at;

		if (lstat(*own, &at) < 0) {
			if (errno == ENOENT || errno == ENOTDIR)
				continue;
			return true;
		}
		if (at.st_dev != st->st_dev)
			continue;
		if (S_ISDIR(at.st_mode) ?
				has_name(AT_FDCWD, *own, DEPTH, st, &seen) :
				at.st_ino == st->st_ino)
			return true;
	}
	return false;
}

/* Does the object lie in no tree: a pipe, a socket, a file in memory? */
static bool is_placeless(const struct watch_object *o)
{
	if (S_ISFIFO(o->st.st_mode))
		return str_after(o->path, "pipe:[");
	if (S_ISSOCK(o->st.st_mode))
		return str_after(o->path, "socket:[");
	if (S_ISREG(o->st.st_mode) && !o->st.st_nlink)
		return str_after(o->path, "/memfd:");
	return str_after(o->path, "anon_inode:");
}

/* Devices are everybody's: where one is granted, its times may be set and its
 * mode may not, except for a terminal that is open. */
static bool may_node(const struct sandbox *s, const struct watch_object *o)
{
	const unsigned kind = major(o->st.st_rdev);

	if (o->change == WATCH_CHANGE_OWNER || o->change == WATCH_CHANGE_XATTR)
		return false;
	if (o->open && S_ISCHR(o->st.st_mode) && kind >= PTS_MAJOR &&
		kind <= PTS_LAST)
		return true;
	if (o->change != WATCH_CHANGE_TIMES)
		return false;
	for (size_t i = 0; i < s->plan->grant_count; i++)
		if (s->plan->grants[i].device &&
			s->plan->grants[i].access & SANDBOX_WRITE &&
			str_eq(s->plan->grants[i].path, o->path))
			return true;
	return false;
}

int sandbox_may_change(void *ctx, const struct watch_object *o)
{
	const struct sandbox *s = ctx;
	bool may = false;

	if (is_placeless(o))
		return 0;
	if (S_ISCHR(o->st.st_mode) || S_ISBLK(o->st.st_mode))
		return may_node(s, o) ? 0 : -EPERM;
	/* Rules are sorted by path, so later ones lie further inside. */
	for (size_t i = 0; i < s->rule_count; i++) {
		const struct sandbox_rule *r = &s->rules[i];

		if (r->mount == SANDBOX_MOUNT_PIN ||
			!path_beneath(r->path, o->path) ||
			(!r->dir && !str_eq(r->path, o->path)))
			continue;
		if (r->access & SANDBOX_HIDE || r->mount == SANDBOX_MOUNT_RO)
			may = false;
		else if (r->access & SANDBOX_WRITE)
			may = true;
	}
	for (const char *const *own = s->plan->own; own && *own; own++)
		if (path_beneath(*own, o->path))
			may = false;
	if (!may || is_linked(s->plan, &o->st))
		return -EPERM;
	return 0;
}
