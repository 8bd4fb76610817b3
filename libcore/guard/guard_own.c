/* guard_own.c - what is the guarded user's own where others share
 * SPDX-License-Identifier: MIT
 *
 * BASE/<uid>/at-CALLER holds one directory for each of /tmp, /var/tmp and /dev/shm.
 * In a view of mounts they stand at those names; without one TMPDIR names the
 * first. CALLER is the login or the container that the command comes from.
 */
#include "guard/guard_in.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "base/str.h"
#include "sys/ns.h"

static const struct {
	const char *path, *name;
} shared[] = {{"/tmp", "tmp"}, {"/var/tmp", "var"}, {"/dev/shm", "shm"}};

/* Makes one below the private directory in, with the mode that programs expect of
 * /tmp, which the command may have changed. */
static int make_shared(const struct guard_place *p, int in, const char *name)
{
	enum { OPEN_MODE = 01777 };
	struct stat st;

	if (mkdirat(in, name, 0700) < 0 && errno != EEXIST)
		return -errno;
	if (fstatat(in, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (!S_ISDIR(st.st_mode) || st.st_uid != p->uid)
		return -EPERM;
	if ((st.st_mode & 07777) != OPEN_MODE &&
		fchmodat(in, name, OPEN_MODE, 0) < 0)
		return -errno;
	return 0;
}

/* Opens BASE/<uid>/at-CALLER; -ENOENT without a state base. */
static int open_own(struct guard_place *p)
{
	const struct session_where where = guard_place_base(p, NULL);
	char caller[SESSION_CALLER_SIZE], name[16];
	char path[SESSION_BASE_MAX + 48];
	int fd, err;

	if (where.own < 0)
		return -ENOENT;
	session_caller(&where, caller);
	BUF_PRINT(name, "at-%s", caller);
	fd = guard_place_dir(p, p->own, name, NULL);
	if (fd < 0 || p->at[0])
		return fd;
	err = guard_keep(&p->texts, &p->at,
		BUF_PRINT(path, "%s/%u/%s", p->base, p->uid, name));
	if (err)
		close(fd);
	return err ? err : fd;
}

static int keep_below(struct guard_place *p, const char **where, const char *name)
{
	char path[SESSION_BASE_MAX + 64];

	return guard_keep(
		&p->texts, where, BUF_PRINT(path, "%s/%s", p->at, name));
}

int guard_place_tmp(struct guard_place *p)
{
	autofd int own = p->tmp[0] ? -ENOENT : open_own(p);
	int err;

	if (own < 0)
		return own == -ENOENT ? 0 : own;
	err = make_shared(p, own, shared[0].name);
	return err ? err : keep_below(p, &p->tmp, shared[0].name);
}

/* Where the directory that stands at name lies. */
static int make_own(struct guard_place *p, const struct policy_grants *grants,
	int own, const char *name, const char **from)
{
	for (size_t i = 0; i < ARRAY_SIZE(shared); i++) {
		int err;

		if (!str_eq(shared[i].path, name))
			continue;
		err = make_shared(p, own, shared[i].name);
		return err ? err : keep_below(p, from, shared[i].name);
	}
	return guard_home_make(p, grants, from);
}

int guard_own_find(struct guard_place *p, const struct policy_grants *grants)
{
	int err = guard_place_tmp(p);
	size_t n = err || !p->tmp[0] ? 0
				     : policy_places(grants, p->root, p->home,
					       p->own_name);
	autofd int own = n ? open_own(p) : -1;

	if (n && own < 0)
		return own;
	for (size_t i = 0; !err && i < n; i++)
		err = make_own(p, grants, own, p->own_name[i], &p->own_from[i]);
	if (!err)
		p->own_count = n;
	return err;
}

bool guard_owns(const struct guard_place *p, const char *name)
{
	for (size_t i = 0; i < p->own_count; i++)
		if (str_eq(p->own_name[i], name))
			return true;
	return false;
}

/* What programs need, and what tells nobody anything: it shows what it is. */
static bool is_shown(const char *name)
{
	static const char shown[] = "usr\0etc\0proc\0sys\0dev\0bin\0sbin\0opt\0nix\0";

	return str_index(shown, name) >= 0 || str_after(name, "lib");
}

static bool is_granted(const struct guard_box *b, const char *path)
{
	for (size_t i = 0; i < b->plan.grant_count; i++)
		if (path_beneath(b->plan.grants[i].path, path))
			return true;
	return false;
}

/* All else in the root directory is empty, but for what is granted in it. */
static int cover_rest(struct guard_box *b)
{
	DIR *root = is_granted(b, "/") ? NULL : opendir("/");
	struct dirent *e;
	int err = 0;

	while (root && !err && (e = readdir(root))) {
		char name[NAME_MAX + 2];
		const char *path;

		if (e->d_type != DT_DIR || e->d_name[0] == '.' ||
			is_shown(e->d_name))
			continue;
		err = guard_keep(b->texts, &path, BUF_PRINT(name, "/%s", e->d_name));
		if (!err && !is_granted(b, path))
			err = sandbox_cover(&b->plan, path, "nothing of its own");
	}
	if (root)
		closedir(root);
	return err;
}

/* From a directory that is open, names lead out of the view. */
static bool keeps_directory(const struct guard_box *b)
{
	enum { OWN = STDERR_FILENO + 1 };
	struct stat st;

	for (size_t i = 0; i < OWN + b->keep_count; i++)
		if (!fstat(i < OWN ? (int)i : b->keep[i - OWN], &st) &&
			S_ISDIR(st.st_mode))
			return true;
	return false;
}

/* Does the view show a place where others have their sockets? Where the guard
 * tells of itself there is none. */
static bool shows_sockets(const struct guard_box *b)
{
	static const char *const theirs[] = {
		"/run", "/var/run", "/tmp", "/var/tmp", "/dev/shm", "/home", "/root"};

	for (size_t i = 0; i < b->plan.grant_count; i++)
		for (size_t k = 0; k < ARRAY_SIZE(theirs); k++)
			if (!b->plan.grants[i].from && !b->plan.grants[i].frame &&
				!b->plan.grants[i].bare &&
				b->plan.grants[i].path != b->told &&
				path_beneath(b->plan.grants[i].path, theirs[k]))
				return true;
	return false;
}

int guard_own_cover(struct guard_box *b)
{
	struct stat st;

	if (!b->plan.view)
		return 0;
	b->plan.unix_view = !shows_sockets(b) && !keeps_directory(b);
	if (b->plan.unix_view && !lstat("/dev/log", &st) && S_ISSOCK(st.st_mode))
		b->plan.unix_view = false;
	return cover_rest(b);
}

int guard_own_grant(struct guard_box *b, const struct guard *g)
{
	const struct guard_place *p = &g->place;
	char real[PATH_MAX];
	int err = 0;

	if (!b->plan.view)
		return 0;
	if (guard_owns(p, p->home) && !path_real(p->home, real) &&
		!str_eq(real, p->home))
		(void)guard_home_link(p, p->home, real);
	for (size_t i = 0; !err && i < p->own_count; i++)
		err = sandbox_bind(&b->plan, p->own_name[i], p->own_from[i],
			SANDBOX_RW | SANDBOX_EXEC, "its own place");
	return err;
}
