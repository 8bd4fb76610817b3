/* guard_carve.c - what lies within the grants and is not the command's
 * SPDX-License-Identifier: MIT
 */
#include "guard/guard_in.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "base/str.h"

/* Takes a path out of a grant; the copy of the path lives as long as g. */
static int carve_path(
	struct guard_box *b, const char *path, unsigned access, const char *why)
{
	const char **own = b->carved + b->carved_count;
	int err;

	if (b->carved_count == ARRAY_SIZE(b->carved))
		return -E2BIG;
	err = guard_keep(b->texts, own, path);
	if (err)
		return err;
	b->carved_count++;
	return sandbox_grant(&b->plan, *own, access, true, why);
}

static bool is_granted(
	const struct guard_box *b, unsigned access, const char *path)
{
	for (size_t i = 0; i < b->plan.grant_count; i++)
		if (b->plan.grants[i].access & access &&
			!b->plan.grants[i].from && !b->plan.grants[i].frame &&
			path_beneath(b->plan.grants[i].path, path))
			return true;
	return false;
}

/* Takes name out of the grants that give such access to it, also by the
 * kernel's name for it, because a home may be a link. */
static int carve_from(struct guard_box *b, unsigned access, const char *name,
	const char *real, unsigned left, const char *why)
{
	struct stat st;

	if ((!is_granted(b, access, name) && !is_granted(b, access, real)) ||
		lstat(name, &st))
		return 0;
	return carve_path(b, real, left, why);
}

/* A grant that names a secret, or something inside of it, is meant: the secret
 * is not hidden then. */
static int hide_secret(
	struct guard_box *b, const struct guard *g, const char *name)
{
	autofree char *real = NULL;
	struct stat st;

	/* Most secrets do not exist. */
	if (lstat(name, &st))
		return 0;
	real = malloc(PATH_MAX);
	if (!real)
		return -ENOMEM;
	if (path_real(name, real))
		return 0;
	for (size_t i = 0; i < g->terms.grants.path_count; i++)
		if (path_beneath(name, g->terms.grants.path[i].path))
			return 0;
	return carve_from(b, SANDBOX_RO, name, real, SANDBOX_HIDE, "a secret");
}

static int sessions_of(const struct guard_place *p, char *out, size_t size)
{
	struct buf b = {.data = out, .cap = size, .max = size - 1};

	buf_addf(&b, "%s/%u/sessions", p->base, p->uid);
	return *buf_str(&b) ? b.err : -ENAMETOOLONG;
}

/* Takes out what the command must not have, whatever the policy opens around
 * it: paths that the policy denies in the project, the policy itself, the log,
 * the sessions. Taking away within a grant needs a mount namespace, so only
 * what exists is taken out. */
static int carve_out(struct guard_box *b, const struct guard *g)
{
	/* The state base is one of these two, or lies in the project. */
	const char *const system[] = {"/etc/wardbox", "/run/wardbox",
		"/var/log/wardbox", g->place.base};
	const char *name = g->terms.user_file;
	char path[PATH_MAX];
	struct stat st;
	int err = 0;

	for (size_t i = 0; !err && i < g->terms.grants.protect_count; i++) {
		const struct policy_protect *p = &g->terms.grants.protect[i];

		/* A directory and what lies in it are one. */
		if (i && p->decision == p[-1].decision &&
			str_eq(p->path, p[-1].path))
			continue;
		if (p->decision != POLICY_DENY || strpbrk(p->path, "*?") ||
			path_join(path, sizeof path, g->place.root, p->path) ||
			lstat(path, &st))
			continue;
		err = carve_path(b, path, SANDBOX_RO,
			"protected by the policy");
	}
	if (!err && g->place.whole && !path_real("/proc/self/exe", path))
		err = carve_path(b, path, SANDBOX_RO, "the guard's own");
	for (size_t i = 0; !err && i < ARRAY_SIZE(system); i++)
		if (system[i][0])
			err = carve_from(b, SANDBOX_WRITE, system[i], system[i],
				SANDBOX_RO, "the guard's own");
	if (!err && name[0] && !path_real(name, path))
		err = carve_from(b, SANDBOX_WRITE, name, path, SANDBOX_RO,
			"the user's policy");
	/* .../wardbox: everything in it is taken out. */
	if (!err && name[0] && !path_normal(path, sizeof path, name, ".."))
		err = carve_from(b, SANDBOX_WRITE, path, path, SANDBOX_RO,
			"the user's policy");
	if (!err && g->entry.path[0]) {
		if (str_after(g->entry.path, "/var/log/") || !g->entry.on ||
			path_of_fd(g->entry.log.dirfd, path, sizeof path))
			err = str_copy(path, sizeof path, g->entry.path);
		if (!err)
			err = carve_from(b, SANDBOX_RO, g->entry.path, path,
				SANDBOX_HIDE, "the log");
	}
	for (size_t i = 0; !err && i < g->terms.grants.hide.count && b->opens;
		i++)
		err = hide_secret(b, g, g->terms.grants.hide.item[i]);
	if (!err && g->place.base[0]) {
		err = sessions_of(&g->place, path, sizeof path);
		if (!err)
			err = carve_from(b, SANDBOX_RO, path, path,
				SANDBOX_HIDE, "the sessions");
	}
	return err;
}

/* What the caller wishes to be kept, or kept from it, by its real name. */
static int carve_wished(struct guard_box *b, const struct guard *g)
{
	static const struct guard_narrow none;
	const struct guard_narrow *wish =
		g->caller->narrow ? g->caller->narrow : &none;
	autofree char *real = malloc(PATH_MAX);
	int err = real ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < wish->keep_count; i++)
		if (!path_real(wish->keep[i], real))
			err = carve_from(b, SANDBOX_WRITE, wish->keep[i], real,
				SANDBOX_RO, "the caller's wish");
	for (size_t i = 0; !err && i < wish->hide_count; i++)
		if (!path_real(wish->hide[i], real))
			err = carve_from(b, SANDBOX_RO, wish->hide[i], real,
				SANDBOX_HIDE, "the caller's wish");
	return err;
}

static bool protects_git(const struct guard *g)
{
	for (size_t i = 0; i < g->terms.grants.protect_count; i++)
		if (str_eq(g->terms.grants.protect[i].path, ".git"))
			return true;
	return false;
}

static int keep_hooks(struct guard_box *b, const char *dir, const char *name)
{
	autofree char *real = malloc(PATH_MAX);
	char path[PATH_MAX];
	const char *own;
	struct stat st;

	if (path_join(path, sizeof path, dir, name) || !real ||
		path_real(path, real) || !str_eq(path, real) || lstat(path, &st) ||
		!S_ISDIR(st.st_mode))
		return 0;
	if (guard_keep(b->texts, &own, path))
		return -ENOMEM;
	return sandbox_grant_in_view(&b->plan, own, SANDBOX_RO, "git's hooks");
}

/* git's hooks are read-only in a view of mounts: the project's, and where that is
 * the directory around a repository those of what lies in it. What does not exist
 * yet, and git's settings, which git replaces by renaming, no mount can keep:
 * guard_protect.c compares them. */
static int carve_hooks(struct guard_box *b, const struct guard *g)
{
	enum { NAMES_MAX = 64 };
	const char *root = g->place.root;
	char git[PATH_MAX], name[NAME_MAX + 16];
	const struct dirent *e;
	unsigned seen = 0;
	struct stat st;
	DIR *dir;
	int err;

	if (b->brief || !protects_git(g) || guard_protect_allowed(g))
		return 0;
	err = keep_hooks(b, root, ".git/hooks");
	if (err || g->place.no_project || g->place.whole ||
		path_join(git, sizeof git, root, ".git") || !lstat(git, &st))
		return err;
	dir = opendir(root);
	while (dir && !err && (e = readdir(dir)) && seen++ < NAMES_MAX) {
		if (e->d_name[0] == '.' || e->d_type != DT_DIR)
			continue;
		err = keep_hooks(b, root,
			BUF_PRINT(name, "%s/.git/hooks", e->d_name));
		if (!err && str_ends(e->d_name, ".git"))
			err = keep_hooks(b, root,
				BUF_PRINT(name, "%s/hooks", e->d_name));
	}
	if (dir)
		closedir(dir);
	return err;
}

/* The file that chose this session must not be written by it, because another
 * session has another state and other approvals. */
static int carve_session_file(
	struct guard_box *b, const struct guard *g, struct diag *d)
{
	const char *name = env_get(g->caller->env, "WARDBOX_SESSION_FILE");
	autofd int fd = name && *name
				? open(name, O_PATH | O_NOFOLLOW | O_CLOEXEC)
				: -1;
	char given[PATH_MAX / 2], real[PATH_MAX / 2];
	struct stat st;

	if (fd < 0)
		return 0;
	/* A relative name begins at this process's directory. */
	if (!g->place.real && path_cwd(given, sizeof given))
		str_copy(given, sizeof given, "/");
	else if (g->place.real)
		str_copy(given, sizeof given, g->place.cwd);
	if (path_normal(real, sizeof real, given, name) ||
		str_copy(given, sizeof given, real) ||
		path_of_fd(fd, real, sizeof real) || fstat(fd, &st))
		return diag_fail(d, -EINVAL, "cannot find %.80s", name);
	if (!is_granted(b, SANDBOX_WRITE, given) &&
		!is_granted(b, SANDBOX_WRITE, real))
		return 0;
	if (str_eq(given, real) && st.st_nlink == 1)
		return carve_path(b, real, SANDBOX_RO, "the session's file");
	return diag_fail(d, -EPERM,
		"WARDBOX_SESSION_FILE: the command could"
		" change a link to %s",
		real);
}

/* Since make 4.4 the job server is a FIFO in the temporary directory. */
static int grant_job_server(struct guard_box *b, const struct guard *g)
{
	const char *flags = env_get(b->env.vec, "MAKEFLAGS");
	const char *at =
		flags ? str_find(flags, "--jobserver-auth=fifo:") : NULL;
	autofree char *path = NULL;
	struct stat st;

	if (!at)
		return 0;
	at = strchr(at, ':') + 1;
	path = strndup(at, strcspn(at, " "));
	if (!path || lstat(path, &st) || !S_ISFIFO(st.st_mode) ||
		st.st_uid != g->place.uid)
		return 0;
	return carve_path(b, path, SANDBOX_RW, "make's job server");
}

/* Adds the path, and the kernel's name for it where that differs. */
static int add_place(struct guard_box *b, size_t *n, const char *path)
{
	char real[PATH_MAX];
	int err = 0;

	if (!path || !path[0])
		return 0;
	if (*n + 2 >= ARRAY_SIZE(b->places))
		return -E2BIG;
	err = guard_keep(b->texts, &b->places[(*n)++], path);
	if (!err && !path_real(path, real) && !str_eq(path, real))
		err = guard_keep(b->texts, &b->places[(*n)++], real);
	return err;
}

/* Notes where the policy, the log and the sessions lie, for the box to protect
 * whatever is granted. */
static int name_places(struct guard_box *b, const struct guard *g)
{
	char sessions[PATH_MAX];
	size_t n = 0;
	int err = g->place.base[0]
			  ? sessions_of(&g->place, sessions, sizeof sessions)
			  : str_copy(sessions, sizeof sessions, "");

	if (!err)
		err = add_place(b, &n, "/etc/wardbox");
	if (!err)
		err = add_place(b, &n, g->entry.path);
	if (!err)
		err = add_place(b, &n, sessions);
	if (!err)
		err = add_place(b, &n, g->terms.user_file);
	b->plan.own = b->places;
	return err;
}

int guard_carve(struct guard_box *b, const struct guard *g, struct diag *d)
{
	int err = carve_out(b, g);

	if (!err)
		err = carve_wished(b, g);
	if (!err)
		err = carve_hooks(b, g);
	if (!err && b->plan.watch_meta)
		err = name_places(b, g);
	if (!err)
		err = grant_job_server(b, g);
	if (err)
		return diag_errno(d, err, "cannot plan the sandbox");
	return carve_session_file(b, g, d);
}
