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
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>

#include "base/path.h"
#include "base/str.h"
#include "base/uapi/linux.h"
#include "sys/file.h"
#include "sys/ns.h"

static const struct {
	const char *path, *name;
} shared[] = {{"/tmp", "tmp"}, {"/var/tmp", "var"}, {"/dev/shm", "shm"}};

/* Makes such a directory below the private directory in, with the mode that
 * programs expect of /tmp; the command may have changed that mode. */
static int make_shared(const struct guard_place *p, int in, const char *name)
{
	enum { OPEN_MODE = 01777 };
	struct stat st;

	/* Most of the time the directory exists. */
	if (fstatat(in, name, &st, AT_SYMLINK_NOFOLLOW) < 0 &&
		(errno != ENOENT ||
			(mkdirat(in, name, 0700) < 0 && errno != EEXIST) ||
			fstatat(in, name, &st, AT_SYMLINK_NOFOLLOW) < 0))
		return -errno;
	if (!S_ISDIR(st.st_mode) || st.st_uid != p->uid)
		return -EPERM;
	if ((st.st_mode & 07777) != OPEN_MODE &&
		fchmodat(in, name, OPEN_MODE, 0) < 0)
		return -errno;
	return 0;
}

static bool is_memory(const char *path)
{
	struct statfs fs;

	return statfs(path, &fs) < 0 || (uint32_t)fs.f_type == TMPFS_MAGIC_;
}

/* Finds the place that keeps what commands leave: beside the sessions, or in
 * /var/tmp where the sessions are in memory and /var/tmp is not. Sets .lay and
 * .lay_base. */
static int find_lay(struct guard_place *p)
{
	char base[32];
	const char *const bases[] = {
		BUF_PRINT(base, "/var/tmp/wardbox-%u", (unsigned)p->uid), NULL};
	const struct session_where disk = {
		.uid = p->uid, .bases = bases, .workspace = "/dev/null"};

	if (p->lay)
		return p->lay < 0 ? -ENOENT : 0;
	if (guard_place_base(p, NULL).own < 0)
		return -ENOENT;
	p->lay = -1;
	if (!p->inside && is_memory(p->base) && !is_memory("/var/tmp"))
		p->lay = session_base(&disk, true, NULL, NULL);
	if (p->lay >= 0)
		return guard_keep(&p->texts, &p->lay_base, base);
	p->lay = p->own;
	p->lay_base = p->base;
	return 0;
}

/* Opens BASE/<uid>/at-CALLER, once: the descriptor stays the place's. -ENOENT if
 * there is no place for it. Whenever a new one is made, old ones that nobody used
 * for long are removed. */
static int open_own(struct guard_place *p)
{
	enum { DAY = 86400 };
	struct session_where where;
	char caller[SESSION_CALLER_SIZE], name[16];
	char path[SESSION_BASE_MAX + 48];
	int fd, err = p->at_dir ? 0 : find_lay(p);
	struct stat st;

	if (err || p->at_dir)
		return err ? err : p->at_dir;
	where = guard_place_base(p, NULL);
	session_caller(&where, caller);
	BUF_PRINT(name, "at-%s", caller);
	fd = file_private_dir(p->lay, name, p->uid, false, NULL);
	if (fd == -ENOENT)
		guard_prune(p->lay, name);
	if (fd < 0)
		fd = guard_place_dir(p, p->lay, name, NULL);
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) == 0 && st.st_mtime + DAY < time(NULL))
		futimens(fd, NULL);
	err = guard_keep(&p->texts, &p->at,
		BUF_PRINT(path, "%s/%u/%s", p->lay_base, p->uid, name));
	if (err) {
		close(fd);
		return err;
	}
	p->at_dir = fd;
	return fd;
}

static int keep_below(struct guard_place *p, const char **where, const char *name)
{
	char path[SESSION_BASE_MAX + 64];

	return guard_keep(
		&p->texts, where, BUF_PRINT(path, "%s/%s", p->at, name));
}

int guard_place_tmp(struct guard_place *p)
{
	int own = p->tmp[0] ? -ENOENT : open_own(p), err;

	if (own < 0)
		return own == -ENOENT ? 0 : own;
	err = make_shared(p, own, shared[0].name);
	return err ? err : keep_below(p, &p->tmp, shared[0].name);
}

/* Makes the directory that will stand at name, except for the home, and says where
 * it lies. */
static int make_own(
	struct guard_place *p, int own, const char *name, const char **from)
{
	for (size_t i = 0; i < ARRAY_SIZE(shared); i++) {
		int err;

		if (!str_eq(shared[i].path, name))
			continue;
		err = make_shared(p, own, shared[i].name);
		return err ? err : keep_below(p, from, shared[i].name);
	}
	*from = guard_home_name(p);
	return *from ? 0 : -ENOMEM;
}

int guard_own_find(struct guard_place *p, const struct policy_grants *grants)
{
	int err = guard_place_tmp(p);
	const bool view = !ns_is_refused();
	size_t n = err || !p->tmp[0] ? 0
				     : policy_places(grants, p->root, p->home,
					       p->base, view, p->own_name);
	int own;

	if (!n || !view)
		return err;
	own = open_own(p);
	if (own < 0)
		return own;
	for (size_t i = 0; !err && i < n; i++)
		err = make_own(p, own, p->own_name[i], &p->own_from[i]);
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

/* Directories of the root that programs need and that tell nothing about the
 * machine's users: the view shows them unchanged. */
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

/* Covers all other directories of the root, except for what is granted in
 * them. */
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

/* Does the command keep an open directory? Names would lead from it out of the
 * view. */
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

/* Does the view show a place where other users have their sockets? Where the
 * guard tells of itself there is none. */
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

/* Files beside a project below the home are meant for the person. They must not
 * be written to a home of the command's own, where nobody would look for them,
 * so those directories are covered. */
static int cover_beside(struct guard_box *b, const struct guard_place *p)
{
	char dir[PATH_MAX];
	const char *beside;

	if (p->no_project || !guard_owns(p, p->home) ||
		path_normal(dir, sizeof dir, p->root, "..") ||
		str_eq(dir, p->home) || !path_beneath(p->home, dir))
		return 0;
	return guard_keep(b->texts, &beside, dir)
		? -ENOMEM
		: sandbox_cover(&b->plan, beside, "beside the project");
}

/* A terminal that the command inherits has the name that it got outside; in a
 * view with such a terminal no other is made. */
static bool has_terminal(const struct guard *g)
{
	if (guard_mode(g) == RUN_PTY)
		return true;
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (isatty(fd))
			return true;
	return false;
}

int guard_own_cover(struct guard_box *b, const struct guard_place *p)
{
	struct stat st;
	int err;

	if (!b->plan.view)
		return 0;
	b->plan.unix_view = !shows_sockets(b) && !keeps_directory(b);
	if (b->plan.unix_view && !lstat("/dev/log", &st) && S_ISSOCK(st.st_mode))
		b->plan.unix_view = false;
	err = cover_beside(b, p);
	if (!err)
		err = cover_rest(b);
	/* The rest of the root shows only the names of the system and of what
	 * is granted. */
	return err ? err : sandbox_grant_viewed(&b->plan, "/", SANDBOX_LIST,
				   "names in directories");
}

/* Does a person's yes give the command more of the network than other commands
 * have? */
static bool gains_network(const struct guard *g)
{
	return g->out->confirmed &&
	       g->out->verdict.net > g->terms.grants.net;
}

/* Gives a command with more network a fresh home with copies of the person's
 * files alone, because other commands may have left settings in the shared one
 * that run a program. */
__attribute__((noinline)) static int bind_kept(
	struct guard_box *b, const struct guard_place *p)
{
	char path[SESSION_BASE_MAX + 48];
	autofd int kept = guard_place_dir(p, p->lay, "kept", NULL);
	const char *from;
	int err = kept < 0 ? kept
			   : guard_keep(b->texts, &from,
				     BUF_PRINT(path, "%s/%u/kept", p->lay_base,
					     p->uid));

	return err ? err
		   : sandbox_bind(&b->plan, p->home, from, SANDBOX_RO,
			     "what its home has of the person's");
}

/* Without a view: grants the machine's own directories, if the policy shares
 * them. */
static int grant_shared(struct guard_box *b, const struct guard *g)
{
	const struct guard_place *p = &g->place;
	const char *name[POLICY_PLACES + 1];
	const size_t n = policy_places(
		&g->terms.grants, p->root, p->home, p->base, false, name);
	int err = 0;

	for (size_t i = 0; !err && i < n; i++)
		err = sandbox_grant_bare(&b->plan, name[i],
			SANDBOX_RW | SANDBOX_EXEC, "shared by the policy");
	b->shared = name[0];
	return err;
}

int guard_own_grant(struct guard_box *b, const struct guard *g)
{
	const struct guard_place *p = &g->place;
	char real[PATH_MAX];
	int err = 0;

	if (g->terms.grants.tmp_shared && b->opens)
		err = grant_shared(b, g);
	if (!err && p->own_home && b->opens)
		err = sandbox_grant(&b->plan, p->own_home,
			SANDBOX_RW | SANDBOX_EXEC, true, "its own home");
	if (!b->plan.view)
		return err;
	if (!err && !b->brief && !has_terminal(g))
		err = sandbox_grant_terminals(&b->plan);
	if (guard_owns(p, p->home) && !path_real(p->home, real) &&
		!str_eq(real, p->home))
		(void)guard_home_link(p, p->home, real);
	for (size_t i = 0; !err && i < p->own_count; i++)
		err = str_eq(p->own_name[i], p->home) && gains_network(g)
			? bind_kept(b, p)
			: sandbox_bind(&b->plan, p->own_name[i],
				  p->own_from[i], SANDBOX_RW | SANDBOX_EXEC,
				  "its own place");
	return err;
}
