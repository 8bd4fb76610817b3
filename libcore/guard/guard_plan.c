/* guard_plan.c - the command's sandbox, from the policy's grants
 * SPDX-License-Identifier: MIT
 */
#include "guard/guard_in.h"

#include <dirent.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "base/str.h"
#include "sys/ns.h"
#include "sys/pty.h"

static bool is_readable(const struct sandbox_plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->grant_count; i++)
		if (plan->grants[i].access & SANDBOX_READ &&
			path_beneath(plan->grants[i].path, path))
			return true;
	return false;
}

/* Sets .argv. An interactive bash reads ~/.bashrc. A home of the command's own has
 * a copy where the policy says so; the person's own file is read where the policy
 * grants it. Else bash is called with an empty file in its place, so that it does
 * not begin with a message. The system's own start-up file is read as ever. */
static int set_startup(struct guard_box *b, const struct guard *g)
{
	static const char *const words[] = {"--rcfile", "/dev/null"};
	char path[PATH_MAX];
	size_t n = 0;

	if (!g->command->reads_rc || g->command->dialect != POLICY_SH_BASH ||
		!g->place.home[0] ||
		path_join(path, sizeof path, g->place.home, ".bashrc") ||
		access(path, F_OK) || is_readable(&b->plan, path) ||
		(b->plan.view && guard_home_has(g, path)))
		return 0;
	while (g->command->argv[n])
		n++;
	if (!n)
		return 0;
	/* bash wants its long options in front of all others. */
	b->own_argv = calloc(n + 3, sizeof *b->own_argv);
	if (!b->own_argv)
		return -ENOMEM;
	b->own_argv[0] = g->command->argv[0];
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		str_copy(b->rc_words[i], sizeof b->rc_words[i], words[i]);
		b->own_argv[i + 1] = b->rc_words[i];
	}
	memcpy(b->own_argv + 3, g->command->argv + 1,
		(n - 1) * sizeof *b->own_argv);
	b->argv = b->own_argv;
	return 0;
}

/* Files that programs need in order to start and to learn where they run. None
 * of them can be written. */
static const char *const system_programs[] = {
	"/usr",
	"/opt",
	"/nix/store",
	/* These are links into /usr on most systems. */
	"/lib64",
	"/lib",
	"/bin",
	"/sbin",
	"/lib32",
	"/libx32",
};
enum { LOADERS = 3, LOADERS_END = 5 };
static const char *const system_facts[] = {"/proc", "/sys/devices/system",
	"/sys/devices/virtual/net/lo", "/sys/class", "/sys/fs/cgroup",
	"/sys/kernel/mm/transparent_hugepage"};
/* The devices of sandbox_grant_devices(). */
static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/full",
	"/dev/random", "/dev/urandom", "/dev/tty"};

/* What installing packages takes of root's rights: other users' files and ids, and
 * programs that bring such rights along. */
static const uint64_t whole_caps = 1U << CAP_CHOWN | 1U << CAP_DAC_OVERRIDE |
	1U << CAP_FOWNER | 1U << CAP_FSETID | 1U << CAP_KILL | 1U << CAP_SETGID |
	1U << CAP_SETUID | 1U << CAP_NET_BIND_SERVICE | 1U << CAP_SETFCAP;

static int grant_list(struct guard_box *b, const char *const *paths, size_t n,
	unsigned access, const char *why)
{
	int err = 0;

	for (size_t i = 0; !err && i < n; i++)
		err = sandbox_grant(&b->plan, paths[i], access, true, why);
	return err;
}

/* Is the path a link into /usr, whose grant covers it? */
static bool is_merged(const char *path)
{
	char to[32];
	ssize_t n = readlink(path, to, sizeof to - 1);

	to[n > 0 ? n : 0] = '\0';
	return (str_after(to, "usr/") || str_after(to, "/usr/")) &&
	       !str_find(to, "..");
}

static int grant_programs(struct guard_box *b)
{
	unsigned merged = 0;
	int err = 0;

	for (size_t i = 0; !err && i < ARRAY_SIZE(system_programs); i++) {
		/* If every loader directory is a link, none needs a grant of
		 * its own. */
		if (i == LOADERS_END && merged == LOADERS_END - LOADERS)
			break;
		if (i >= LOADERS && is_merged(system_programs[i]))
			merged++;
		else
			err = sandbox_grant(&b->plan, system_programs[i],
				SANDBOX_ROX, true, "system programs");
	}
	return err;
}

/* Is the file the person's own terminal, in whose place the command gets
 * another one? Bytes that are read from or written to the person's terminal
 * would be in no log. */
static bool is_replaced(const struct guard *g, int fd)
{
	dev_t own = 0;

	if (guard_mode(g) != RUN_PTY)
		return false;
	if (g->io->pty_all && fd <= STDERR_FILENO)
		return true;
	for (int i = 0; i <= STDERR_FILENO && !own; i++)
		own = pty_device(i);
	return own && pty_device(fd) == own;
}

/* Grants the devices that every program expects, and those that the command
 * inherits. */
static int grant_devices(
	struct guard_box *b, const struct guard *g, size_t most)
{
	enum { OWN = STDERR_FILENO + 1 };
	int err = sandbox_grant_devices(&b->plan, most);
	const char *name;
	char text[32];

	for (size_t i = 0; !err && i < OWN + b->keep_count; i++) {
		int fd = i < OWN ? (int)i : b->keep[i - OWN];

		if (is_replaced(g, fd))
			continue;
		err = guard_keep(b->texts, &name,
			BUF_PRINT(text, "/proc/self/fd/%d", fd));
		if (!err)
			err = sandbox_grant_open(&b->plan, fd, name);
	}
	return err;
}

/* Does the project lie around a repository? What git runs there is told by the
 * repository's own names, which a view of mounts keeps. */
static bool is_around(const struct guard *g)
{
	char git[PATH_MAX];
	struct stat st;

	return !g->place.no_project && !str_eq(g->place.root, g->place.cwd) &&
	       !path_join(git, sizeof git, g->place.root, ".git") &&
	       lstat(git, &st) < 0;
}

/* Decides whether the line is brief: it holds only the shell's own commands,
 * starts no program, and gets fewer grants. A shell that reads start-up files
 * before the line is never brief, because nobody knows what these hold. */
static void find_brief(struct guard_box *b, const struct guard *g)
{
	const unsigned is = g->out->verdict.is;

	b->brief = g->command->kind == GUARD_LINE && !g->command->startup &&
		   is & POLICY_IS_SHELL && !(is & POLICY_IS_STRAYING) &&
		   !(is & POLICY_IS_OPENING && is_around(g));
	b->opens = !b->brief || is & POLICY_IS_OPENING;
}

/* Grants what a shell that starts nothing, or its line, opens by itself. */
static int grant_brief(struct guard_box *b, const struct guard *g)
{
	enum { NULL_AND_TTY = 2 };
	static const char *const cache[] = {"/etc/ld.so.cache"};
	const size_t most = b->opens ? SIZE_MAX : NULL_AND_TTY;
	int err = grant_programs(b);

	if (!err)
		err = grant_list(b, cache, 1, SANDBOX_RO, "system files");
	return err ? err : grant_devices(b, g, most);
}

static int grant_system(struct guard_box *b, const struct guard *g)
{
	static const char *const etc[] = {"/etc"};
	int err = grant_programs(b);

	if (!err && g->place.uid)
		err = grant_list(b, etc, 1, SANDBOX_RO, "system files");
	/* For users other than root, file modes keep secrets in these
	 * directories. */
	if (!err && !g->place.uid)
		err = sandbox_grant_etc(&b->plan, "system files");
	if (!err)
		err = grant_list(b, system_facts, ARRAY_SIZE(system_facts),
			SANDBOX_RO, "system facts");
	return err ? err : grant_devices(b, g, SIZE_MAX);
}

static bool is_under(const char *path, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (path_beneath(list[i], path))
			return true;
	return false;
}

/* Can the command not replace what stands in dir? */
static bool dir_lasts(void *ctx, const char *dir)
{
	const struct policy_grants *p =
		&((const struct guard *)ctx)->terms.grants;
	char real[PATH_MAX];

	for (size_t i = 0; i < p->path_count; i++)
		if (p->path[i].write &&
			(path_beneath(p->path[i].path, dir) ||
				(!path_real(p->path[i].path, real) &&
					path_beneath(real, dir))))
			return false;
	return true;
}

/* Is the path granted without the policy? A brief line does not need it
 * either. */
static bool has_anyway(const struct guard_box *b, const struct guard *g,
	const struct policy_path *p)
{
	struct stat st;

	if (p->write || (p->exec && !g->place.whole))
		return false;
	if (g->place.whole)
		return true;
	if (is_under(p->path, system_programs, ARRAY_SIZE(system_programs)) ||
		is_under(p->path, system_facts, ARRAY_SIZE(system_facts)))
		return true;
	return path_beneath("/etc", p->path) &&
	       (b->brief || g->place.uid || stat(p->path, &st) ||
		       st.st_mode & S_IROTH);
}

/* Grants a path; if it may be written, only as far as the caller's wish names
 * it, too. */
static int grant_wished(struct guard_box *b, const struct guard *g,
	const char *path, unsigned access)
{
	const struct guard_narrow *wish = g->caller->narrow;
	int err;

	if (!wish || !wish->writes || !(access & SANDBOX_WRITE))
		return sandbox_grant(&b->plan, path, access, true, "policy");
	for (size_t i = 0; i < wish->write_count; i++)
		if (path_beneath(wish->write[i], path))
			return sandbox_grant(
				&b->plan, path, access, true, "policy");
	err = sandbox_grant(&b->plan, path, SANDBOX_RO | (access & SANDBOX_EXEC),
		true, "policy");
	for (size_t i = 0; !err && i < wish->write_count; i++)
		if (path_beneath(path, wish->write[i]))
			err = sandbox_grant(&b->plan, wish->write[i], access,
				true, "the caller's wish");
	return err;
}

/* Grants the policy's own paths. Programs that were built in the project's root
 * may run; other writable files cannot be executed. */
static int grant_policy(struct guard_box *b, const struct guard *g)
{
	char real[PATH_MAX];
	int err = 0, found;

	for (size_t i = 0; !err && i < g->terms.grants.path_count; i++) {
		const struct policy_path *p = &g->terms.grants.path[i];
		unsigned access = (p->write ? SANDBOX_RW : SANDBOX_RO) |
				  (p->exec ? SANDBOX_EXEC : 0U);
		const char *name = p->path;

		/* Paths that only programs need are left out of a brief box. */
		if (b->brief && p->runtime &&
			!path_beneath(p->path, g->place.root))
			continue;
		/* /dev/stdout and its like are links to descriptors that are
		 * open anyway. */
		if (p->many || has_anyway(b, g, p) ||
			(p->runtime && guard_home_has(g, p->path)) ||
			str_after(p->path, "/dev/std") ||
			str_after(p->path, "/dev/fd") ||
			is_under(p->path, devices, ARRAY_SIZE(devices)))
			continue;
		found = str_eq(p->path, g->place.root)
				? 0
				: path_real(p->path, real);
		if (found == -ENOENT)
			continue;
		if (str_eq(p->path, g->place.root)) {
			access |= SANDBOX_EXEC;
		} else if (!found && !str_eq(real, name)) {
			/* Grants the path by its real name, so that the guard's
			 * own files are recognised, unless the command could
			 * choose where a link leads. */
			if (path_settle(
				    name, real, dir_lasts,
					(void *)(uintptr_t)g))
				continue;
			if (b->plan.view)
				(void)guard_home_link(&g->place, name, real);
			err = guard_keep(b->texts, &name, real);
		}
		if (!err)
			err = grant_wished(b, g, name, access);
	}
	for (size_t i = 0; !err && !b->brief && i < g->terms.grants.exec.count;
		i++) {
		const char *dir = g->terms.grants.exec.item[i];

		if (!is_under(
			    dir, system_programs, ARRAY_SIZE(system_programs)))
			err = sandbox_grant(
				&b->plan, dir, SANDBOX_ROX, true, "policy");
	}
	return err;
}

/* The first n grants are for programs' needs and must take nothing away: where
 * the policy lets the command write around one of them, that one becomes
 * writable, too. */
static void widen_grants(struct guard_box *b, size_t n)
{
	for (size_t i = n; i < b->plan.grant_count; i++) {
		const struct sandbox_grant *around = &b->plan.grants[i];

		if (!(around->access & SANDBOX_WRITE))
			continue;
		for (size_t k = 0; k < n; k++)
			if (path_beneath(around->path, b->plan.grants[k].path) &&
				!is_under(b->plan.grants[k].path, system_facts,
					ARRAY_SIZE(system_facts)))
				b->plan.grants[k].access |= SANDBOX_RW;
	}
}

/* What an image may have of the machine that builds it, where the root directory is
 * the project: its devices are those that every program expects. */
static int grant_whole(struct guard_box *b)
{
	static const char *const machine[] = {"/proc", "/sys"};
	static const char shown[] = "pts\0ptmx\0shm\0mqueue\0tty\0";
	DIR *dir = opendir("/dev");
	int err = dir ? grant_list(b, machine, ARRAY_SIZE(machine), SANDBOX_RO,
				"the machine's")
		      : -errno;
	const struct dirent *e;

	while (dir && !err && (e = readdir(dir))) {
		char path[NAME_MAX + 6];
		const char *own = BUF_PRINT(path, "/dev/%s", e->d_name);

		if (e->d_name[0] == '.' || e->d_type == DT_LNK ||
			str_index(shown, e->d_name) >= 0 ||
			is_under(path, devices, ARRAY_SIZE(devices)))
			continue;
		err = guard_keep(b->texts, &own, path);
		if (!err)
			err = sandbox_grant(&b->plan, own, SANDBOX_HIDE, true,
				"the machine's");
	}
	if (dir)
		closedir(dir);
	b->plan.keep_caps = whole_caps;
	return err;
}

static void set_limits(struct guard_box *b, const struct guard *g)
{
	const struct policy_limits *from = &g->terms.grants.limits;
	struct limits_spec *to = &b->plan.limits;

	to->brief = b->brief;
	to->cpu_ns = from->cpu;
	to->wall_ns = from->wall;
	to->mem = from->mem;
	to->output = from->out;
	/* The limit counts children; the command itself is one more. */
	to->procs = from->procs ? (uint32_t)from->procs + 1 : 0;
	to->files = (uint32_t)from->files;
	if (g->io->timeout_ns &&
		(!to->wall_ns || g->io->timeout_ns < to->wall_ns))
		to->wall_ns = g->io->timeout_ns;
}

static void set_relaxed(struct guard_box *b, const struct guard *g)
{
	for (size_t i = 0; i < g->terms.grants.relax.count; i++)
		b->plan.relax |=
			sandbox_part_named(g->terms.grants.relax.item[i]);
}

static void plan_nothing(struct sandbox_plan *plan)
{
	plan->net = SANDBOX_NET_ALL;
	plan->unix_all = true;
	plan->watch_alone = true;
	plan->without = SANDBOX_LANDLOCK | SANDBOX_SECCOMP | SANDBOX_CAPS |
			SANDBOX_SCOPE;
}

int guard_box_plan(struct guard_box *b, const struct guard *g, struct diag *d)
{
	size_t needed;
	int err = 0;

	find_brief(b, g);
	b->plan.watch_names = g->terms.grants.supervise || g->carry->becomes;
	/* The shell's own commands change only the contents of files. */
	b->plan.watch_meta = g->terms.grants.confine && !b->brief;
	b->plan.watch_signals = g->terms.grants.confine && guard_signals(g);
	b->plan.watch_scope = g->terms.grants.confine;
	if (b->plan.watch_names || b->plan.watch_meta || b->plan.watch_signals)
		b->plan.want |= SANDBOX_WATCH;
	if (!g->terms.grants.confine) {
		plan_nothing(&b->plan);
		return 0;
	}
	b->plan.cwd = g->caller->cwd;
	set_limits(b, g);
	set_relaxed(b, g);
	b->plan.net = guard_net_of(b, g);
	/* A view that turns out to be impossible later is given up by
	 * goes_without(). */
	b->plan.view = !b->brief && !ns_is_refused();
	/* A line that is brief sees a home only where that is the user's own. */
	if (g->place.own_home ? b->opens
			      : !b->brief && guard_owns(&g->place, g->place.home))
		err = guard_home_make(&g->place, &g->terms.grants.home);
	if (!err)
		err = b->brief ? grant_brief(b, g) : grant_system(b, g);
	needed = b->plan.grant_count;
	if (!err)
		err = grant_policy(b, g);
	if (!err && g->place.whole)
		err = grant_whole(b);
	widen_grants(b, needed);
	if (!err)
		err = set_startup(b, g);
	if (!err && g->carry->helper)
		err = sandbox_grant(&b->plan, g->carry->helper, SANDBOX_ROX,
			false, "wardbox");
	if (!err)
		err = guard_own_grant(b, g);
	if (!err && g->place.tmp[0])
		err = guard_owns(&g->place, "/tmp")
			? sandbox_grant_bare(&b->plan, g->place.tmp,
				  SANDBOX_RW | SANDBOX_EXEC, "temporary files")
			: sandbox_grant(&b->plan, g->place.tmp,
				  SANDBOX_RW | SANDBOX_EXEC, true,
				  "temporary files");
	if (!err && !b->brief)
		err = guard_told_grant(b, &g->place);
	/* npx, go and their like run programs that they have put into the
	 * cache. */
	if (!err && g->place.cache[0] && b->opens)
		err = sandbox_grant(&b->plan, g->place.cache,
			SANDBOX_RW | SANDBOX_EXEC, true, "caches");
	if (err)
		return diag_errno(d, err, "cannot plan the sandbox");
	err = guard_undo_plan(b, g, d);
	if (!err)
		err = guard_carve(b, g, d);
	return err ? err : guard_own_cover(b, &g->place);
}
