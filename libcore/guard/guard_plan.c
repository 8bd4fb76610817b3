/* guard_plan.c - the command's sandbox, from the policy's grants
 * SPDX-License-Identifier: MIT
 */
#include "guard/guard_in.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "base/str.h"
#include "sys/ns.h"
#include "sys/pty.h"

/* What programs need in order to start and to know where they are. Nothing of
 * it can be written. */
static const char *const system_programs[] = {
	"/usr", "/opt", "/nix/store",
	/* Links into /usr on most systems. */
	"/lib64", "/lib", "/bin", "/sbin", "/lib32", "/libx32",
};
enum { LOADERS = 3, LOADERS_END = 5 };
static const char *const system_facts[] = {"/proc", "/sys/devices/system"};
/* What sandbox_grant_devices() grants. */
static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/full",
	"/dev/random", "/dev/urandom", "/dev/tty"};

static int grant_list(struct guard *g, const char *const *paths, size_t n,
	unsigned access, const char *why)
{
	int err = 0;

	for (size_t i = 0; !err && i < n; i++)
		err = sandbox_grant(&g->plan, paths[i], access, true, why);
	return err;
}

/* A link into /usr, whose grant covers what is behind it. */
static bool is_merged(const char *path)
{
	char to[32];
	ssize_t n = readlink(path, to, sizeof to - 1);

	to[n > 0 ? n : 0] = '\0';
	return (str_after(to, "usr/") || str_after(to, "/usr/")) &&
		!str_find(to, "..");
}

static int grant_programs(struct guard *g)
{
	unsigned merged = 0;
	int err = 0;

	for (size_t i = 0; !err && i < ARRAY_SIZE(system_programs); i++) {
		/* Where loaders lie are links only when all are. */
		if (i == LOADERS_END && merged == LOADERS_END - LOADERS)
			break;
		if (i >= LOADERS && is_merged(system_programs[i]))
			merged++;
		else
			err = sandbox_grant(&g->plan, system_programs[i],
				SANDBOX_ROX, true, "system programs");
	}
	return err;
}

/* Is that the person's own terminal, in whose place the command gets another
 * one? What is written to the person's, or read from it, would be in no log. */
static bool is_replaced(const struct guard *g, int fd)
{
	dev_t own = 0;

	if (guard_mode(g) != RUN_PTY)
		return false;
	if (g->q->pty_all && fd <= STDERR_FILENO)
		return true;
	for (int i = 0; i <= STDERR_FILENO && !own; i++)
		own = pty_device(i);
	return own && pty_device(fd) == own;
}

/* The devices that every program expects, as many of them as are meant, and what
 * the command is given. */
static int grant_devices(struct guard *g, size_t most)
{
	enum { OWN = STDERR_FILENO + 1 };
	int err = sandbox_grant_devices(&g->plan, most);
	const char *name;
	char text[32];

	for (size_t i = 0; !err && i < OWN + g->keep_count; i++) {
		int fd = i < OWN ? (int)i : g->keep[i - OWN];

		if (is_replaced(g, fd))
			continue;
		err = guard_keep(
			g, &name, BUF_PRINT(text, "/proc/self/fd/%d", fd));
		if (!err)
			err = sandbox_grant_open(&g->plan, fd, name);
	}
	return err;
}

bool guard_opens(const struct guard *g)
{
	const char *line = g->q->text;
	size_t n = g->q->len;

	return !g->brief || memchr(line, '/', n) || memchr(line, '<', n) ||
		memchr(line, '>', n);
}

/* What starts no program is served without one, but where it may mean a place of
 * its own. */
static bool wants_view(const struct guard *g)
{
	static const char names[] = "tmp\0TMP\0shm\0~\0HOME\0XDG\0cd\0pushd\0";
	const char *line = g->q->text;

	if (ns_is_refused())
		return false;
	if (!g->brief || (g->no_project && guard_opens(g)))
		return true;
	for (const char *at = names; guard_opens(g) && *at; at = str_nth(at, 1))
		if (memmem(line, g->q->len, at, strlen(at)))
			return true;
	return false;
}

/* All that a shell which starts nothing opens by itself, or its line with it. */
static int grant_brief(struct guard *g)
{
	enum { NULL_AND_TTY = 2 };
	static const char *const cache[] = {"/etc/ld.so.cache"};
	const size_t most =
		guard_opens(g) ? SIZE_MAX : NULL_AND_TTY;
	int err = grant_programs(g);

	if (!err)
		err = grant_list(g, cache, 1, SANDBOX_RO, "system files");
	return err ? err : grant_devices(g, most);
}

static int grant_system(struct guard *g)
{
	static const char *const etc[] = {"/etc"};
	int err = grant_programs(g);

	if (!err && g->uid)
		err = grant_list(g, etc, 1, SANDBOX_RO, "system files");
	/* Who is not root is kept from secrets by their modes. */
	if (!err && !g->uid)
		err = sandbox_grant_etc(&g->plan, "system files");
	if (!err)
		err = grant_list(g, system_facts, ARRAY_SIZE(system_facts),
			SANDBOX_RO, "system facts");
	return err ? err : grant_devices(g, SIZE_MAX);
}

static bool is_under(const char *path, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (path_beneath(list[i], path))
			return true;
	return false;
}

/* Is what stands in dir out of the command's reach? */
static bool lasts(void *ctx, const char *dir)
{
	const struct policy_grants *p = &((const struct guard *)ctx)->grants;
	char real[PATH_MAX];

	for (size_t i = 0; i < p->path_count; i++)
		if (p->path[i].write &&
			(path_beneath(p->path[i].path, dir) ||
				(!path_real(p->path[i].path, real) &&
					path_beneath(real, dir))))
			return false;
	return true;
}

/* Does the command have it without the policy? A brief one does not name it. */
static bool has_anyway(const struct guard *g, const struct policy_path *p)
{
	struct stat st;

	if (p->write || p->exec)
		return false;
	if (is_under(p->path, system_programs, ARRAY_SIZE(system_programs)) ||
		is_under(p->path, system_facts, ARRAY_SIZE(system_facts)))
		return true;
	return path_beneath("/etc", p->path) &&
		(g->brief || g->uid || stat(p->path, &st) ||
			st.st_mode & S_IROTH);
}

/* The policy's own paths. The project's root may run what is built in it;
 * anything else that can be written cannot be executed. */
static int grant_policy(struct guard *g)
{
	char real[PATH_MAX];
	int err = 0, found;

	for (size_t i = 0; !err && i < g->grants.path_count; i++) {
		const struct policy_path *p = &g->grants.path[i];
		unsigned access = (p->write ? SANDBOX_RW : SANDBOX_RO) |
			(p->exec ? SANDBOX_EXEC : 0U);
		const char *name = p->path;

		/* What programs need, where none runs. */
		if (g->brief && p->runtime && !path_beneath(p->path, g->root))
			continue;
		/* /dev/stdout and its kin are links to what is open anyway. */
		if (p->many || has_anyway(g, p) ||
			(p->runtime && guard_is_copied(g, p->path)) ||
			str_after(p->path, "/dev/std") ||
			str_after(p->path, "/dev/fd") ||
			is_under(p->path, devices, ARRAY_SIZE(devices)))
			continue;
		found = str_eq(p->path, g->root) ? 0 : path_real(p->path, real);
		if (found == -ENOENT)
			continue;
		if (str_eq(p->path, g->root)) {
			access |= SANDBOX_EXEC;
		} else if (!found && !str_eq(real, name)) {
			/* By its real name, which may be known to be the
			 * guard's own; unless the command could choose that. */
			if (path_settle(name, real, lasts, g))
				continue;
			if (g->plan.view)
				(void)guard_lay_link(g, name, real);
			err = guard_keep(g, &name, real);
		}
		if (!err)
			err = sandbox_grant(
				&g->plan, name, access, true, "policy");
	}
	for (size_t i = 0; !err && !g->brief && i < g->grants.exec.count; i++) {
		const char *dir = g->grants.exec.item[i];

		if (!is_under(dir, system_programs,
			    ARRAY_SIZE(system_programs)))
			err = sandbox_grant(
				&g->plan, dir, SANDBOX_ROX, true, "policy");
	}
	return err;
}

/* The first n grants say what programs need, and take nothing away: where the
 * policy lets write around one of them, it may be written, too. */
static void widen(struct guard *g, size_t n)
{
	for (size_t i = n; i < g->plan.grant_count; i++) {
		const struct sandbox_grant *around = &g->plan.grants[i];

		if (!(around->access & SANDBOX_WRITE))
			continue;
		for (size_t k = 0; k < n; k++)
			if (path_beneath(around->path, g->plan.grants[k].path))
				g->plan.grants[k].access |= SANDBOX_RW;
	}
}

static void set_limits(struct guard *g)
{
	const struct policy_limits *from = &g->grants.limits;
	struct limits_spec *to = &g->plan.limits;

	to->brief = g->brief;
	to->cpu_ns = from->cpu;
	to->wall_ns = from->wall;
	to->mem = from->mem;
	to->output = from->out;
	/* Children: the command itself is one more. */
	to->procs = from->procs ? (uint32_t)from->procs + 1 : 0;
	to->files = (uint32_t)from->files;
	if (g->q->timeout_ns &&
		(!to->wall_ns || g->q->timeout_ns < to->wall_ns))
		to->wall_ns = g->q->timeout_ns;
}

static void set_relaxed(struct guard *g)
{
	for (size_t i = 0; i < g->grants.relax.count; i++)
		g->plan.relax |= sandbox_part_named(g->grants.relax.item[i]);
}

static enum sandbox_net granted_net(const struct guard *g)
{
	enum policy_net net = g->grants.net > g->r->verdict.net
		? g->grants.net
		: g->r->verdict.net;

	switch (net) {
	case POLICY_NET_NONE:
		return SANDBOX_NET_NONE;
	case POLICY_NET_LOCAL:
		return SANDBOX_NET_LOCAL;
	case POLICY_NET_ALL:
		return SANDBOX_NET_ALL;
	}
	return SANDBOX_NET_NONE;
}

static enum sandbox_net net_of(const struct guard *g)
{
	/* An own loopback costs a network namespace; without a program nobody
	 * is there to use it. */
	if (g->brief)
		return SANDBOX_NET_NONE;
	return granted_net(g);
}

static void plan_nothing(struct sandbox_plan *plan)
{
	plan->net = SANDBOX_NET_ALL;
	plan->unix_all = true;
	plan->watch_alone = true;
	plan->without = SANDBOX_LANDLOCK | SANDBOX_SECCOMP | SANDBOX_CAPS |
		SANDBOX_SCOPE;
}

int guard_make_plan(struct guard *g, struct diag *d)
{
	size_t needed;
	int err;

	/* What the front end does itself has no sandbox. */
	if (g->q->inside)
		return 0;
	g->plan.watch_names = g->grants.supervise || g->q->becomes;
	/* The shell's own commands change nothing but contents. */
	g->plan.watch_meta = g->grants.confine && !g->brief;
	if (g->plan.watch_names || g->plan.watch_meta)
		g->plan.want |= SANDBOX_WATCH;
	if (!g->grants.confine) {
		plan_nothing(&g->plan);
		return 0;
	}
	g->plan.cwd = g->q->cwd;
	g->plan.net = net_of(g);
	set_limits(g);
	set_relaxed(g);
	/* The shell's own commands change nothing but contents. See goes_without()
	 * for what is found out later. */
	g->plan.view = wants_view(g);
	if (!g->brief && !g->plan.view && g->plan.net == SANDBOX_NET_LOCAL &&
		!(g->plan.relax & SANDBOX_NETNS))
		g->plan.net = SANDBOX_NET_NONE;
	err = g->brief ? grant_brief(g) : grant_system(g);
	needed = g->plan.grant_count;
	if (!err)
		err = grant_policy(g);
	widen(g, needed);
	if (!err)
		err = guard_startup(g);
	if (!err && g->q->also_exec)
		err = sandbox_grant(&g->plan, g->q->also_exec, SANDBOX_ROX,
			false, "wardbox");
	if (!err)
		err = guard_grant_places(g);
	if (!err && g->tmp[0])
		err = guard_owns(g, "/tmp")
			? sandbox_grant_bare(&g->plan, g->tmp,
				  SANDBOX_RW | SANDBOX_EXEC, "temporary files")
			: sandbox_grant(&g->plan, g->tmp,
				  SANDBOX_RW | SANDBOX_EXEC, true,
				  "temporary files");
	/* npx, go and their like run what they have put there. */
	if (!err && g->cache[0] && guard_opens(g))
		err = sandbox_grant(&g->plan, g->cache,
			SANDBOX_RW | SANDBOX_EXEC, true, "caches");
	if (err)
		return diag_errno(d, err, "cannot plan the sandbox");
	err = guard_carve(g, d);
	return err ? err : guard_cover_rest(g);
}
