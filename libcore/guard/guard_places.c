/* guard_places.c - what is the guarded user's own where others share
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
static int make_shared(const struct guard *g, int in, const char *name)
{
	enum { OPEN_MODE = 01777 };
	struct stat st;

	if (mkdirat(in, name, 0700) < 0 && errno != EEXIST)
		return -errno;
	if (fstatat(in, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (!S_ISDIR(st.st_mode) || st.st_uid != g->uid)
		return -EPERM;
	if ((st.st_mode & 07777) != OPEN_MODE &&
		fchmodat(in, name, OPEN_MODE, 0) < 0)
		return -errno;
	return 0;
}

/* Opens BASE/<uid>/at-CALLER; -ENOENT without a state base. */
static int open_own(struct guard *g)
{
	const struct session_where where = guard_base(g, NULL);
	char caller[SESSION_CALLER_SIZE], name[16];
	char path[SESSION_BASE_MAX + 48];
	int fd, err;

	if (where.own < 0)
		return -ENOENT;
	session_caller(&where, caller);
	BUF_PRINT(name, "at-%s", caller);
	fd = guard_own_dir(g, g->own, name, NULL);
	if (fd < 0 || g->at[0])
		return fd;
	err = guard_keep(g, &g->at,
		BUF_PRINT(path, "%s/%u/%s", g->base, g->uid, name));
	if (err)
		close(fd);
	return err ? err : fd;
}

static int keep_below(struct guard *g, const char **where, const char *name)
{
	char path[SESSION_BASE_MAX + 64];

	return guard_keep(g, where, BUF_PRINT(path, "%s/%s", g->at, name));
}

int guard_find_tmp(struct guard *g)
{
	autofd int own = g->tmp[0] ? -ENOENT : open_own(g);
	int err;

	if (own < 0)
		return own == -ENOENT ? 0 : own;
	err = make_shared(g, own, shared[0].name);
	return err ? err : keep_below(g, &g->tmp, shared[0].name);
}

static void add_place(struct guard *g, const char *path, const char *from)
{
	g->place[g->place_count] =
		(struct guard_place){.path = path, .from = from};
	g->place_names[g->place_count++] = path;
	g->place_names[g->place_count] = NULL;
}

/* Where the one that stands at path lies. */
static int make_place(struct guard *g, int own, const char *path,
	const char **from)
{
	for (size_t i = 0; i < ARRAY_SIZE(shared); i++) {
		int err;

		if (!str_eq(shared[i].path, path))
			continue;
		err = make_shared(g, own, shared[i].name);
		return err ? err : keep_below(g, from, shared[i].name);
	}
	return guard_make_home(g, from);
}

int guard_find_places(struct guard *g)
{
	const char *name[POLICY_PLACES + 1], *from;
	int err = guard_find_tmp(g);
	size_t n = err || !g->tmp[0]
		? 0
		: policy_places(&g->grants, g->root, g->home, name);
	autofd int own = n ? open_own(g) : -1;

	if (n && own < 0)
		return own;
	for (size_t i = 0; !err && i < n; i++) {
		err = make_place(g, own, name[i], &from);
		if (!err)
			add_place(g, name[i], from);
	}
	return err;
}

bool guard_owns(const struct guard *g, const char *path)
{
	for (size_t i = 0; i < g->place_count; i++)
		if (str_eq(g->place[i].path, path))
			return true;
	return false;
}

/* What programs need, and what tells nobody anything: it shows what it is. */
static bool is_shown(const char *name)
{
	static const char shown[] = "usr\0etc\0proc\0sys\0dev\0bin\0sbin\0opt\0nix\0";

	return str_index(shown, name) >= 0 || str_after(name, "lib");
}

static bool is_granted(const struct guard *g, const char *path)
{
	for (size_t i = 0; i < g->plan.grant_count; i++)
		if (path_beneath(g->plan.grants[i].path, path))
			return true;
	return false;
}

/* All else in the root directory is empty, but for what is granted in it. */
static int cover_rest(struct guard *g)
{
	DIR *root = is_granted(g, "/") ? NULL : opendir("/");
	struct dirent *e;
	int err = 0;

	while (root && !err && (e = readdir(root))) {
		char name[NAME_MAX + 2];
		const char *path;

		if (e->d_type != DT_DIR || e->d_name[0] == '.' ||
			is_shown(e->d_name))
			continue;
		err = guard_keep(g, &path, BUF_PRINT(name, "/%s", e->d_name));
		if (!err && !is_granted(g, path))
			err = sandbox_cover(&g->plan, path, "nothing of its own");
	}
	if (root)
		closedir(root);
	return err;
}

/* From a directory that is open, names lead out of the view. */
static bool keeps_directory(const struct guard *g)
{
	enum { OWN = STDERR_FILENO + 1 };
	struct stat st;

	for (size_t i = 0; i < OWN + g->keep_count; i++)
		if (!fstat(i < OWN ? (int)i : g->keep[i - OWN], &st) &&
			S_ISDIR(st.st_mode))
			return true;
	return false;
}

/* Does the view show a place where others have their sockets? */
static bool shows_sockets(const struct guard *g)
{
	static const char *const theirs[] = {
		"/run", "/var/run", "/tmp", "/var/tmp", "/dev/shm", "/home", "/root"};

	for (size_t i = 0; i < g->plan.grant_count; i++)
		for (size_t k = 0; k < ARRAY_SIZE(theirs); k++)
			if (!g->plan.grants[i].from && !g->plan.grants[i].frame &&
				!g->plan.grants[i].bare &&
				path_beneath(g->plan.grants[i].path, theirs[k]))
				return true;
	return false;
}

int guard_cover_rest(struct guard *g)
{
	struct stat st;

	if (!g->plan.view)
		return 0;
	g->plan.unix_view = !shows_sockets(g) && !keeps_directory(g);
	if (g->plan.unix_view && !lstat("/dev/log", &st) && S_ISSOCK(st.st_mode))
		g->plan.unix_view = false;
	return cover_rest(g);
}

int guard_grant_places(struct guard *g)
{
	char real[PATH_MAX];
	int err = 0;

	if (g->plan.view && guard_owns(g, g->home) &&
		!path_real(g->home, real) && !str_eq(real, g->home))
		(void)guard_lay_link(g, g->home, real);
	for (size_t i = 0; !err && g->plan.view && i < g->place_count; i++)
		err = sandbox_bind(&g->plan, g->place[i].path, g->place[i].from,
			SANDBOX_RW | SANDBOX_EXEC, "its own place");
	return err;
}
