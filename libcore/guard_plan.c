/* guard_plan.c - the command's environment and sandbox, from the policy's grants
 * SPDX-License-Identifier: MIT
 */
#include "guard_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"
#include "path.h"
#include "str.h"

/* What a make around us tells one below us: flags, overrides, the job server.
 * It is the caller's word; a command's own is denied where it sets it. */
static bool of_make(const struct guard *g, const char *name)
{
	const char *rest = str_after(name, "MAKE");

	return rest && (str_eq(rest, "FLAGS") || str_eq(rest, "LEVEL")) &&
		!g->q->saved_env && env_get(g->q->env, "MAKELEVEL");
}

static bool keeps(const struct guard *g, const char *name)
{
	if (of_make(g, name))
		return true;
	switch (policy_env(&g->grants, name)) {
	case POLICY_ENV_KEEP:
		return true;
	case POLICY_ENV_DROP:
		return g->q->saved_env && !g->q->strict;
	case POLICY_ENV_DENY:
		return false;
	}
	return false;
}

/* What the environment keeps under the policy; of what was asked for by name, all
 * that is not denied. */
static int keep_allowed(struct guard *g, char *const *from, bool by_name)
{
	for (char *const *pair = from; pair && *pair; pair++) {
		char name[256];
		size_t n = strcspn(*pair, "=");
		int err;

		if (!n || !(*pair)[n] || n >= sizeof name)
			continue;
		memcpy(name, *pair, n);
		name[n] = '\0';
		if (by_name ? g->grants.confine &&
				      policy_env(&g->grants, name) ==
					      POLICY_ENV_DENY
			    : !keeps(g, name))
			continue;
		err = env_put(&g->env, *pair);
		if (err)
			return err;
	}
	return 0;
}

/* /tmp is everybody's. The place lies beside the sessions, of which the command
 * gets nothing else. */
int guard_find_tmp(struct guard *g)
{
	char path[SESSION_BASE_MAX + 32];
	struct buf b = BUF_FIXED(path);
	autofd int tmp = -1;

	if (g->tmp[0] || guard_base(g, NULL).own < 0)
		return 0;
	tmp = file_private_dir(g->own, "tmp", g->uid, true, NULL);
	if (tmp < 0)
		return tmp;
	buf_addf(&b, "%s/%u/tmp", g->base, g->uid);
	return b.err ? b.err : guard_keep(g, &g->tmp, buf_str(&b));
}

static int set_temporary(struct guard *g)
{
	char prefix[SESSION_BASE_MAX + 36];
	int err = guard_find_tmp(g);

	if (err || !g->tmp[0])
		return err;
	err = env_set(&g->env, "TMPDIR", g->tmp);
	/* zsh's own word for it. */
	if (!err)
		err = path_join(prefix, sizeof prefix, g->tmp, "zsh");
	return err ? err : env_set(&g->env, "TMPPREFIX", prefix);
}

int guard_make_env(struct guard *g, struct diag *d)
{
	char *const *from = g->q->saved_env ? g->q->saved_env : g->q->env;
	int err = 0;

	if (!g->grants.confine) {
		for (; !err && from && *from; from++)
			err = env_add(&g->env, *from);
	} else {
		err = keep_allowed(g, from, false);
	}
	if (!err)
		err = keep_allowed(g, g->q->also_env, true);
	if (g->grants.confine) {
		for (size_t i = 0; !err && i < g->grants.env_set.count; i++)
			err = env_put(&g->env, g->grants.env_set.item[i]);
		if (!err && !g->q->inside)
			err = set_temporary(g);
	}
	if (!err)
		err = env_set(&g->env, "WARDBOX_IN_SESSION", "1");
	if (!err)
		err = env_set(&g->env, "WARDBOX_SESSION_ID", g->r->session);
	return err ? diag_errno(d, err, "cannot make the environment") : 0;
}

/* What programs need in order to start and to know where they are. Nothing of
 * it can be written. */
static const char *const system_programs[] = {
	"/usr", "/opt", "/nix/store",
	/* Links into /usr on most systems. */
	"/lib64", "/lib", "/bin", "/sbin", "/lib32", "/libx32",
};
enum { LOADERS = 3, LOADERS_END = 5 };
/* As musl's loader calls the machine in the name of its configuration. */
#if defined(__aarch64__)
#define MUSL_PATH "/etc/ld-musl-aarch64.path"
#elif defined(__arm__)
#define MUSL_PATH "/etc/ld-musl-armhf.path"
#elif defined(__riscv)
#define MUSL_PATH "/etc/ld-musl-riscv64.path"
#else
#define MUSL_PATH "/etc/ld-musl-x86_64.path"
#endif
/* Of /etc nothing that is a secret for a command run by root; anybody else is
 * kept from secrets by their modes. */
static const char *const system_files[] = {
	"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d",
	MUSL_PATH, "/etc/localtime", "/etc/timezone",
	"/etc/nsswitch.conf", "/etc/passwd", "/etc/group", "/etc/hosts",
	"/etc/host.conf", "/etc/resolv.conf", "/etc/services",
	"/etc/protocols", "/etc/gai.conf", "/etc/ssl/certs",
	"/etc/ssl/openssl.cnf", "/etc/ssl/cert.pem", "/etc/alternatives",
	"/etc/terminfo", "/etc/inputrc", "/etc/profile", "/etc/profile.d",
	"/etc/bash.bashrc", "/etc/os-release", "/etc/debian_version",
	"/etc/alpine-release", "/etc/shells", "/etc/gitconfig", "/etc/mime.types",
	"/etc/magic", "/etc/java", "/etc/perl", "/etc/python3", "/etc/npmrc",
};
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

/* The devices that every program expects, and what the command is given. */
static int grant_devices(struct guard *g)
{
	enum { OWN = STDERR_FILENO + 1 };
	int err = sandbox_grant_devices(&g->plan);
	const char *name;
	char text[32];

	for (size_t i = 0; !err && i < OWN + g->keep_count; i++) {
		int fd = i < OWN ? (int)i : g->keep[i - OWN];
		struct buf b = BUF_FIXED(text);

		buf_addf(&b, "/proc/self/fd/%d", fd);
		err = guard_keep(g, &name, buf_str(&b));
		if (!err)
			err = sandbox_grant_open(&g->plan, fd, name);
	}
	return err;
}

/* All that a shell which starts nothing opens by itself. */
static int grant_brief(struct guard *g)
{
	static const char *const cache[] = {"/etc/ld.so.cache"};
	int err = grant_programs(g);

	if (!err)
		err = grant_list(g, cache, 1, SANDBOX_RO, "system files");
	return err ? err : grant_devices(g);
}

static int grant_system(struct guard *g)
{
	static const char *const etc[] = {"/etc"};
	int err = grant_programs(g);

	if (!err && g->uid)
		err = grant_list(g, etc, 1, SANDBOX_RO, "system files");
	if (!err && !g->uid)
		err = grant_list(g, system_files, ARRAY_SIZE(system_files),
			SANDBOX_RO, "system files");
	if (!err)
		err = grant_list(g, system_facts, ARRAY_SIZE(system_facts),
			SANDBOX_RO, "system facts");
	return err ? err : grant_devices(g);
}

static bool is_under(const char *path, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (path_beneath(list[i], path))
			return true;
	return false;
}

/* The policy's own paths. The project's root may run what is built in it;
 * anything else that can be written cannot be executed. */
static int grant_policy(struct guard *g)
{
	int err = 0;

	for (size_t i = 0; !err && i < g->grants.path_count; i++) {
		const struct policy_path *p = &g->grants.path[i];
		unsigned access = p->write ? SANDBOX_RW : SANDBOX_RO;

		/* What programs need, where none runs. */
		if (g->brief && p->runtime && !path_beneath(p->path, g->root))
			continue;
		/* /dev/stdout and its kin are links to what is open anyway. */
		if (strchr(p->path, '*') || str_after(p->path, "/dev/std") ||
			str_after(p->path, "/dev/fd") ||
			is_under(p->path, devices, ARRAY_SIZE(devices)))
			continue;
		if (str_eq(p->path, g->root))
			access |= SANDBOX_EXEC;
		err = sandbox_grant(&g->plan, p->path, access, true, "policy");
	}
	for (size_t i = 0; !err && i < g->grants.exec.count; i++) {
		const char *dir = g->grants.exec.item[i];

		if (!is_under(dir, system_programs,
			    ARRAY_SIZE(system_programs)))
			err = sandbox_grant(
				&g->plan, dir, SANDBOX_ROX, true, "policy");
	}
	return err;
}

/* Takes something out of a grant; the copy of path lives as long as g. */
static int carve(struct guard *g, const char *path, unsigned access,
	const char *why)
{
	const char **own = g->carved + g->carved_count;
	int err;

	if (g->carved_count == ARRAY_SIZE(g->carved))
		return -E2BIG;
	err = guard_keep(g, own, path);
	if (err)
		return err;
	g->carved_count++;
	return sandbox_grant(&g->plan, *own, access, true, why);
}

static bool is_granted(const struct guard *g, unsigned access, const char *path)
{
	for (size_t i = 0; i < g->plan.grant_count; i++)
		if (g->plan.grants[i].access & access &&
			path_beneath(g->plan.grants[i].path, path))
			return true;
	return false;
}

/* Takes what is at name out of the grants that give such access to it, by this
 * name or by the kernel's, if that is known: a home may be a link. */
static int carve_from(struct guard *g, unsigned access, const char *name,
	const char *real, unsigned left, const char *why)
{
	struct stat st;

	if ((!is_granted(g, access, name) && !is_granted(g, access, real)) ||
		lstat(name, &st))
		return 0;
	return carve(g, real, left, why);
}

/* What must not be the command's, whatever the policy opens around it: its
 * denied paths in the project, the policy itself, the log, the sessions. Taking
 * away within a grant needs a mount namespace, so only what exists is taken. */
static int carve_out(struct guard *g)
{
	static const char *const system[] = {"/etc/wardbox", "/run/wardbox"};
	const char *name = g->user_policy;
	char path[PATH_MAX];
	struct stat st;
	int err = 0;

	for (size_t i = 0; !err && i < g->grants.protect_count; i++) {
		const struct policy_protect *p = &g->grants.protect[i];

		if (p->decision != POLICY_DENY || strpbrk(p->path, "*?") ||
			path_join(path, sizeof path, g->root, p->path) ||
			lstat(path, &st))
			continue;
		err = carve(g, path, SANDBOX_RO, "protected by the policy");
	}
	for (size_t i = 0; !err && i < ARRAY_SIZE(system); i++)
		err = carve_from(g, SANDBOX_WRITE, system[i], system[i],
			SANDBOX_RO, "the policy");
	if (!err && name[0]) {
		autofd int fd = open(name, O_PATH | O_CLOEXEC);

		if (fd >= 0)
			err = path_of_fd(fd, path, sizeof path);
		if (fd >= 0 && !err)
			err = carve_from(g, SANDBOX_WRITE, name, path,
				SANDBOX_RO, "the user's policy");
	}
	if (!err && g->log_path[0]) {
		if (str_after(g->log_path, "/var/log/") || !g->recording ||
			path_of_fd(g->log.dirfd, path, sizeof path))
			err = str_copy(path, sizeof path, g->log_path);
		if (!err)
			err = carve_from(g, SANDBOX_RO, g->log_path, path,
				SANDBOX_HIDE, "the log");
	}
	/* BASE/<uid>/sessions, beside BASE/<uid>/tmp. */
	if (!err && g->tmp[0]) {
		err = path_normal(path, sizeof path, g->tmp, "../sessions");
		if (!err)
			err = carve_from(g, SANDBOX_RO, path, path,
				SANDBOX_HIDE, "the sessions");
	}
	return err;
}

/* What chose this session must not choose the next one's: another session has
 * another's state and approvals. */
static int carve_session_file(struct guard *g, struct diag *d)
{
	const char *name = env_get(g->q->env, "WARDBOX_SESSION_FILE");
	autofd int fd = name && *name
		? open(name, O_PATH | O_NOFOLLOW | O_CLOEXEC) : -1;
	char given[PATH_MAX / 2], real[PATH_MAX / 2];
	struct stat st;

	if (fd < 0)
		return 0;
	if (path_cwd(given, sizeof given))
		str_copy(given, sizeof given, "/");
	if (path_normal(real, sizeof real, given, name) ||
		str_copy(given, sizeof given, real) ||
		path_of_fd(fd, real, sizeof real) || fstat(fd, &st))
		return diag_fail(d, -EINVAL, "cannot find %.80s", name);
	if (!is_granted(g, SANDBOX_WRITE, given) &&
		!is_granted(g, SANDBOX_WRITE, real))
		return 0;
	if (str_eq(given, real) && st.st_nlink == 1)
		return carve(g, real, SANDBOX_RO, "the session's file");
	return diag_fail(d, -EPERM, "WARDBOX_SESSION_FILE: the command could"
		" change a link to %s", real);
}

/* Since make 4.4 the job server is a FIFO in the temporary directory. */
static int grant_job_server(struct guard *g)
{
	const char *flags = env_get(g->env.vec, "MAKEFLAGS");
	const char *at = flags ? str_find(flags, "--jobserver-auth=fifo:") : NULL;
	autofree char *path = NULL;
	struct stat st;

	if (!at)
		return 0;
	at = strchr(at, ':') + 1;
	path = strndup(at, strcspn(at, " "));
	if (!path || lstat(path, &st) || !S_ISFIFO(st.st_mode) || st.st_uid != g->uid)
		return 0;
	return carve(g, path, SANDBOX_RW, "make's job server");
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
	int err;

	/* What the front end does itself has no sandbox. */
	if (g->q->inside)
		return 0;
	if (g->grants.supervise || g->q->becomes)
		g->plan.want |= SANDBOX_WATCH;
	if (!g->grants.confine) {
		plan_nothing(&g->plan);
		return 0;
	}
	g->plan.net = net_of(g);
	set_limits(g);
	set_relaxed(g);
	err = g->brief ? grant_brief(g) : grant_system(g);
	if (!err)
		err = grant_policy(g);
	if (!err && g->q->also_exec)
		err = sandbox_grant(&g->plan, g->q->also_exec, SANDBOX_ROX,
			false, "wardbox");
	if (!err && g->tmp[0])
		err = sandbox_grant(&g->plan, g->tmp, SANDBOX_RW, true,
			"temporary files");
	if (!err)
		err = carve_out(g);
	if (!err)
		err = grant_job_server(g);
	if (err)
		return diag_errno(d, err, "cannot plan the sandbox");
	return carve_session_file(g, d);
}
