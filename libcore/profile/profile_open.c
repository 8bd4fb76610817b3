/* profile_open.c - a path followed to its directory, with every step looked at
 * SPDX-License-Identifier: MIT
 */
#include "profile/profile_open.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"

enum { LINKS_MAX = 40 };

struct walk {
	int dir;
	char *rest; /* what is still to be walked; PATH_MAX */
	unsigned flags, links;
	size_t own; /* of rest: bytes at its end that no link's text brought */
	struct diag *d;
	const char *path; /* as given, for messages */
};

static int refuse_owner(const struct walk *w, const char *what, unsigned uid)
{
	return diag_fail(w->d, -EPERM,
		"%s: as root, not through %s of uid %u\036"
		"run it as that user, or give --user",
		w->path, what, uid);
}

static int walk_failed(const struct walk *w, int error)
{
	return diag_of(w->d, -error, w->path);
}

static int check_dir(const struct walk *w, int fd)
{
	struct stat st;

	if (!(w->flags & PROFILE_OPEN_TRUSTED))
		return 0;
	if (fstat(fd, &st))
		return walk_failed(w, errno);
	if (st.st_uid)
		return refuse_owner(w, "a directory", st.st_uid);
	if (!(st.st_mode & S_ISVTX) &&
		((st.st_mode & S_IWOTH) ||
			((st.st_mode & S_IWGRP) && st.st_gid)))
		return diag_fail(w->d, -EPERM,
			"%s: as root, not through a directory that others may "
			"write to",
			w->path);
	return 0;
}

/* linked: a link brought the name, and no directory is made by it. */
static int enter_dir(struct walk *w, const char *name, bool linked)
{
	autofd int next = openat(
		w->dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int err;

	if (next < 0 && errno == ENOENT && !linked &&
		(w->flags & PROFILE_OPEN_MAKE)) {
		mode_t mode = w->flags & PROFILE_OPEN_PUBLIC ? 0755 : 0700;

		if (mkdirat(w->dir, name, mode) && errno != EEXIST)
			return diag_errno(w->d, -errno, "%s: cannot make %s",
				w->path, name);
		if (w->flags & PROFILE_OPEN_PUBLIC)
			fchmodat(w->dir, name, mode, 0);
		next = openat(w->dir, name,
			O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	}
	if (next < 0)
		return walk_failed(w, errno);
	err = check_dir(w, next);
	if (err)
		return err;
	close(w->dir);
	w->dir = fd_steal(&next);
	return 0;
}

/* Puts the link's text in front of what is still to be walked. */
static int follow_link(struct walk *w, const char *name, const char *behind)
{
	autofree char *target = malloc(2 * (size_t)PATH_MAX);
	struct stat st;
	ssize_t n;
	size_t left = strlen(behind);

	if (!target)
		return -ENOMEM;
	if (++w->links > LINKS_MAX)
		return walk_failed(w, ELOOP);
	n = readlinkat(w->dir, name, target, PATH_MAX);
	if (n < 0 || fstatat(w->dir, name, &st, AT_SYMLINK_NOFOLLOW))
		return walk_failed(w, errno);
	if ((w->flags & PROFILE_OPEN_TRUSTED) && st.st_uid)
		return refuse_owner(w, "a symlink", st.st_uid);
	if ((size_t)n + left + 2 > PATH_MAX)
		return walk_failed(w, ENAMETOOLONG);
	target[n] = '\0';
	w->own = left < w->own ? left : w->own;
	if (*behind) {
		target[n] = '/';
		memcpy(target + n + 1, behind, left + 1);
	}
	if (target[0] == '/') {
		int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

		if (root < 0)
			return diag_errno(w->d, -errno, "/");
		close(w->dir);
		w->dir = root;
	}
	return str_copy(w->rest, PATH_MAX, target);
}

static bool is_link(const struct walk *w, const char *name)
{
	struct stat st;

	return fstatat(w->dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISLNK(st.st_mode);
}

/* Takes the first component off rest. */
static const char *next_name(struct walk *w, char name[NAME_MAX + 1])
{
	char *rest = w->rest + strspn(w->rest, "/");
	size_t n = strcspn(rest, "/");

	if (n > NAME_MAX)
		return NULL;
	memcpy(name, rest, n);
	name[n] = '\0';
	rest += n;
	rest += strspn(rest, "/");
	return rest;
}

static int walk_path(struct walk *w, struct profile_open *at)
{
	for (;;) {
		const char *rest = next_name(w, at->name);
		bool linked;
		int err;

		if (!rest)
			return walk_failed(w, ENAMETOOLONG);
		if (!*rest && (!at->name[0] || str_eq(at->name, ".") ||
				      str_eq(at->name, "..")))
			return diag_fail(
				w->d, -EISDIR, "%s is a directory", w->path);
		if (is_link(w, at->name)) {
			at->through_link |= !*rest;
			if (!*rest && (w->flags & PROFILE_OPEN_NOFOLLOW))
				return diag_fail(w->d, -ELOOP,
					"%s is a symlink, and --no-follow was "
					"given",
					w->path);
			err = follow_link(w, at->name, rest);
			if (err)
				return err;
			continue;
		}
		if (!*rest)
			return 0;
		memmove(w->rest, rest, strlen(rest) + 1);
		linked = w->links && strlen(w->rest) >= w->own;
		err = enter_dir(w, at->name, linked);
		at->dangling = err == -ENOENT && linked;
		if (err)
			return err;
	}
}

static void walk_close(struct walk *w)
{
	cleanup_fd(&w->dir);
}

int profile_open_path(struct profile_open *at, const char *path, unsigned flags,
	struct diag *d)
{
	autofree char *rest = malloc(PATH_MAX);
	autoclean(walk_close) struct walk w = {
		.dir = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC),
		.rest = rest, .flags = flags, .d = d, .path = path,
		.own = PATH_MAX};
	struct stat st;
	int err;

	*at = (struct profile_open){.dirfd = -1};
	if (!rest)
		return walk_failed(&w, ENOMEM);
	if (w.dir < 0)
		return diag_errno(d, -errno, "/");
	if (path[0] != '/')
		return diag_fail(d, -EINVAL, "%s: not absolute", path);
	if (str_copy(rest, PATH_MAX, path))
		return walk_failed(&w, ENAMETOOLONG);
	err = walk_path(&w, at);
	if (err)
		return err;
	at->dirfd = openat(w.dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (at->dirfd < 0)
		return walk_failed(&w, errno);
	at->dangling = at->through_link && fstatat(at->dirfd, at->name, &st,
						   AT_SYMLINK_NOFOLLOW) < 0;
	return 0;
}
