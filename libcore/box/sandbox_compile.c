/* sandbox_compile.c - from a plan to rules, filter and flags, before fork
 * SPDX-License-Identifier: MIT
 */
#include "box/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/kconfig.h"
#include "box/landlock_in.h"
#include "sys/ns.h"
#include "base/path.h"
#include "sys/probe.h"
#include "box/sandbox_meta_in.h"
#include "box/sandbox_mount_in.h"
#include "box/sandbox_open_in.h"
#include "box/seccomp_in.h"
#include "base/str.h"
#include "base/uapi/linux.h"

/* A part is impossible here: tells it with the kernel and the fix. */
static int tell_missing(unsigned part, struct diag *d, const char *what,
	const char *fix)
{
	struct utsname u;

	if (uname(&u) < 0)
		u.release[0] = '\0';
	return diag_fail(d, -ENOTSUP, "%s: %s (this is Linux %.40s)\036%s",
		sandbox_part_name(part), what, u.release, fix);
}

/* The same, or only a note when the plan relaxes the part. */
static int note_missing(struct sandbox *s, unsigned part, struct diag *d,
	const char *what, const char *fix)
{
	if (!(s->plan->relax & part))
		return tell_missing(part, d, what, fix);
	s->missing |= part;
	return 0;
}

static int need_files(struct sandbox *s, struct diag *d)
{
	int why, err;

	s->abi = probe_landlock_abi(&why);
	if (!(s->plan->without & SANDBOX_LANDLOCK)) {
		if (s->abi >= 1)
			s->enforced |= SANDBOX_LANDLOCK;
		else if ((err = note_missing(s, SANDBOX_LANDLOCK, d,
				  why == -EOPNOTSUPP ?
					  "Landlock is disabled at boot" :
					  "the kernel has no Landlock",
				  why == -EOPNOTSUPP ?
					  "boot with landlock in lsm=" :
					  "Linux 5.13 with "
					  "CONFIG_SECURITY_LANDLOCK has it; a "
					  "container may forbid it")) <
			 0)
			return err;
	}
	if (!(s->plan->without & SANDBOX_SCOPE) && s->abi >= PROBE_SCOPE_ABI)
		s->enforced |= SANDBOX_SCOPE;
	return 0;
}

static int need_net(struct sandbox *s, struct diag *d)
{
	const struct sandbox_plan *p = s->plan;
	bool filter = s->enforced & SANDBOX_SECCOMP;

	switch (p->net) {
	case SANDBOX_NET_ALL:
		return 0;
	case SANDBOX_NET_LOCAL:
		break; /* the namespace itself is the protection */
	case SANDBOX_NET_NONE:
		if (!filter && !(s->enforced & SANDBOX_NETNS))
			return note_missing(s, SANDBOX_NETWORK, d,
				"no network needs seccomp or a namespace",
				"leave seccomp on");
		break;
	case SANDBOX_NET_TCP:
		if (!filter || s->abi < 4)
			return note_missing(s, SANDBOX_NETWORK, d,
				"TCP ports need Landlock ABI 4 and seccomp",
				"Linux 6.7 has it; or --net=none");
		break;
	}
	s->enforced |= SANDBOX_NETWORK;
	return 0;
}

static int need_unix(struct sandbox *s, struct diag *d)
{
	const struct sandbox_plan *p = s->plan;
	bool asked = false;

	if (p->unix_all)
		return 0;
	/* No socket of others has a name there, with or without a path. */
	if (p->unix_view && p->view && s->enforced & SANDBOX_MOUNTNS &&
		s->enforced & (SANDBOX_SCOPE | SANDBOX_NETNS)) {
		s->unix_free = true;
		s->enforced |= SANDBOX_UNIXPATH;
		return 0;
	}
	for (size_t i = 0; i < p->grant_count; i++)
		if ((p->grants[i].access & (SANDBOX_UNIX | SANDBOX_WRITE)) ==
			SANDBOX_UNIX)
			asked = true;
	if (s->abi >= 9 && s->enforced & SANDBOX_LANDLOCK)
		s->enforced |= SANDBOX_UNIXPATH;
	else if (asked)
		return note_missing(s, SANDBOX_UNIXPATH, d,
			"single socket paths need Landlock ABI 9",
			"--best-effort=unix allows all socket paths");
	else if (s->enforced & SANDBOX_SECCOMP)
		s->enforced |= SANDBOX_UNIXPATH;
	else
		return note_missing(s, SANDBOX_UNIXPATH, d,
			"socket paths need Landlock ABI 9 or seccomp",
			"leave seccomp on");
	return 0;
}

/* The kinds of calls to watch. A view in which everything is read-only but the
 * writable grants protects metadata by itself, at no cost. */
static unsigned watched_kinds(const struct sandbox *s)
{
	const struct sandbox_plan *p = s->plan;
	const bool view = p->view && s->enforced & SANDBOX_MOUNTNS;
	unsigned kinds = 0;

	if (p->watch_scope && s->abi < PROBE_SCOPE_ABI &&
		!((s->enforced & SANDBOX_PIDNS) | (p->without & SANDBOX_SCOPE)))
		kinds |= WATCH_SCOPE;
	if (!(p->want & SANDBOX_WATCH))
		return kinds;
	if (p->watch_names || !p->watch_meta || p->limits.procs)
		kinds |= WATCH_EXEC;
	if (p->watch_files)
		kinds |= WATCH_FILES;
	if (p->watch_port)
		kinds |= WATCH_NET;
	if (p->watch_writes)
		kinds |= WATCH_WRITES;
	/* Where numbers of processes mean something else nobody is meant. */
	if (p->watch_signals && !(s->enforced & SANDBOX_PIDNS))
		kinds |= WATCH_SIGNALS;
	if (p->watch_meta && !view && s->enforced & SANDBOX_LANDLOCK)
		kinds |= WATCH_METADATA;
	return kinds;
}

static int need_watch(struct sandbox *s, struct diag *d)
{
	const bool built = IS_ENABLED(CONFIG_SANDBOX_UNOTIFY);
	const unsigned part = s->plan->want & SANDBOX_WATCH ? SANDBOX_WATCH :
							      SANDBOX_SCOPE;
	int err;

	if (!watched_kinds(s))
		return 0;
	if (s->nested)
		return note_missing(s, part, d,
			part == SANDBOX_SCOPE ?
				"inside of a guarded tree it needs Landlock "
				"ABI 6" :
				"this is inside of a guarded tree, which has "
				"a watch",
			part == SANDBOX_SCOPE ?
				"--best-effort=scope goes without" :
				"the outer watch sees these commands already");
	if (!(s->enforced & SANDBOX_SECCOMP) && !s->plan->watch_alone)
		return note_missing(s, part, d,
			"the watch needs seccomp",
			"leave seccomp on");
	err = watch_prepare(&s->watch);
	if (err < 0)
		return err == -ENOTSUP ?
			       note_missing(s, part, d,
				       built ? "no seccomp user notification" :
					       "this wardbox was built without "
					       "SANDBOX_UNOTIFY",
				       built ? "Linux 5.5 has it; a container "
					       "may forbid it" :
					       "build it with that option") :
			       diag_errno(d, err, "watch");
	s->watch.kinds = watched_kinds(s);
	s->watch.port = s->plan->watch_port;
	if ((s->plan->watch_names ||
		    s->watch.kinds &
			    (WATCH_METADATA | WATCH_WRITES | WATCH_SCOPE)) &&
		access("/proc/self/fd", F_OK) < 0)
		return note_missing(s, part, d,
			"no /proc to look into",
			"mount /proc");
	s->watch.idle = s->plan->limits.brief;
	if (IS_ENABLED(CONFIG_SANDBOX_UNOTIFY))
		s->watch.allow = sandbox_may_change;
	s->watch.ctx_allow = s;
	s->watch.other_ids =
		s->plan->keep_caps || !(s->enforced & SANDBOX_CAPS);
	/* The init of a pid namespace does not count as the command's
	 * process. */
	s->watch.spare = !!(s->enforced & SANDBOX_PIDNS);
	s->enforced |= SANDBOX_WATCH;
	return 0;
}

/* Without Landlock's scope, an abstract socket of others has no name in a network
 * namespace or where there is no socket at all; a process of others gets no
 * signal in a pid namespace or by the watch. */
static int need_scope(struct sandbox *s, struct diag *d)
{
	const bool sockets = s->enforced & SANDBOX_NETNS ||
		(s->enforced & SANDBOX_SECCOMP && !s->unix_free &&
			!s->plan->unix_all && s->enforced & SANDBOX_UNIXPATH);
	const bool signals = s->enforced & SANDBOX_PIDNS ||
		(s->enforced & SANDBOX_WATCH && s->watch.kinds & WATCH_SCOPE);

	if ((s->enforced | s->plan->without) & SANDBOX_SCOPE)
		return 0;
	if (!sockets)
		return note_missing(s, SANDBOX_SCOPE, d,
			"abstract sockets need Landlock ABI 6",
			"Linux 6.12 has it; a network namespace or no "
			"local sockets will do");
	if (!signals)
		return note_missing(s, SANDBOX_SCOPE, d,
			"signals need Landlock ABI 6",
			"Linux 6.12 has it; a pid namespace will do");
	s->enforced |= SANDBOX_SCOPE;
	return 0;
}

static const struct {
	unsigned part, flag;
} spaces[] = {{SANDBOX_PIDNS, NS_PID}, {SANDBOX_MOUNTNS, NS_MOUNT},
	{SANDBOX_IPCNS, NS_IPC}, {SANDBOX_NETNS, NS_NET}};

bool sandbox_namespace_works(unsigned part)
{
	unsigned flag = 0;

	for (size_t i = 0; i < ARRAY_SIZE(spaces); i++)
		flag |= part == spaces[i].part ? spaces[i].flag : 0;
	return probe_child(ns_try, flag) == 0;
}

bool sandbox_namespace_lacks(const struct sandbox *s, struct diag *d)
{
	for (size_t i = 0; i < ARRAY_SIZE(spaces); i++) {
		if (!(s->enforced & spaces[i].part) ||
			sandbox_namespace_works(spaces[i].part))
			continue;
		tell_missing(spaces[i].part, d,
			"its namespace, or what is done in it, does not "
			"work here",
			"'wardbox doctor' shows which do; a container or "
			"AppArmor may forbid it; --best-effort=NAME goes "
			"without");
		return true;
	}
	return false;
}

/* Sets the flags for the start, and those for the time before the exec. A fresh
 * /proc is mounted in a mount namespace of its own. */
static void namespace_flags(struct sandbox *s)
{
	unsigned flags = 0;

	for (size_t i = 0; i < ARRAY_SIZE(spaces); i++)
		flags |= s->enforced & spaces[i].part ? spaces[i].flag : 0;
	s->user_ns = flags && !ns_is_admin();
	if (s->plan->join && flags & NS_NET && !(flags & NS_PID)) {
		s->join = s->plan->join;
		if (s->join->ipc >= 0)
			s->enforced |= SANDBOX_IPCNS;
		s->unshare_flags = flags & ~(unsigned)NS_NET;
		return;
	}
	if (flags & NS_PID) {
		s->clone_flags = NS_PID | NS_MOUNT |
				 (s->user_ns ? NS_USER : 0);
		s->unshare_flags = flags & ~(unsigned)(NS_PID | NS_MOUNT);
	} else {
		s->unshare_flags = flags | (s->user_ns ? NS_USER : 0);
	}
}

/* Keeps the directory to enter it again, because a mount may cover it. */
static int keep_cwd(struct sandbox *s, struct diag *d)
{
	int err;

	s->cwd = malloc(PATH_MAX);
	if (s->cwd && s->plan->cwd)
		err = path_real(s->plan->cwd, s->cwd);
	else
		err = s->cwd ? path_cwd(s->cwd, PATH_MAX) : -ENOMEM;
	if (err == -ENOENT && !s->plan->cwd)
		err = s->cwd[0] = '\0';
	if (err < 0)
		return diag_errno(d, err, "current directory");
	for (size_t i = 0; i < s->rule_count; i++)
		if (s->rules[i].access & SANDBOX_HIDE && !s->rules[i].frame &&
			path_beneath(s->rules[i].path, s->cwd) &&
			!str_eq(s->rules[i].path, s->cwd))
			return diag_fail(d, -EINVAL,
				"the current directory lies in %s (hidden)",
				s->rules[i].path);
	return 0;
}

static int need_namespaces(struct sandbox *s, struct diag *d)
{
	enum {
		KINDS = SANDBOX_PIDNS | SANDBOX_MOUNTNS | SANDBOX_IPCNS |
			SANDBOX_NETNS,
	};
	unsigned want = s->plan->want & KINDS;
	int err = sandbox_mounts(s, d);

	if (err < 0)
		return err;
	s->carved = err > 0;
	if (s->carved || (s->plan->view && !s->nested))
		want |= SANDBOX_MOUNTNS;
	if (s->plan->net == SANDBOX_NET_LOCAL)
		want |= SANDBOX_NETNS;
	for (unsigned part = 1; part <= want; part <<= 1) {
		if (!(want & part))
			continue;
		/* A view that takes nothing away may fail. */
		if (part == SANDBOX_MOUNTNS && !s->carved &&
			!(s->plan->want & part)) {
			s->enforced |= part;
			continue;
		}
		if (s->plan->relax & part && !sandbox_namespace_works(part)) {
			s->missing |= part;
			continue;
		}
		if (s->nested) {
			err = note_missing(s, part, d,
				"a guarded tree cannot make namespaces",
				"ask for it where the tree starts");
			if (err < 0)
				return err;
			continue;
		}
		s->enforced |= part;
	}
	namespace_flags(s);
	return (s->clone_flags | s->unshare_flags) & NS_MOUNT ? keep_cwd(s, d) : 0;
}

/* Can the command write files and execute them? Then a program in memory adds
 * nothing. */
static bool write_and_exec(const struct sandbox *s)
{
	if (!(s->enforced & SANDBOX_LANDLOCK))
		return true;
	for (size_t i = 0; i < s->rule_count; i++)
		for (size_t j = 0; j < s->rule_count; j++)
			if (s->rules[i].access & SANDBOX_WRITE &&
				s->rules[i].dir &&
				s->rules[j].access & SANDBOX_EXEC &&
				path_beneath(s->rules[j].path,
					s->rules[i].path))
				return true;
	return false;
}

static int build_filter(struct sandbox *s, struct diag *d)
{
	const struct sandbox_plan *p = s->plan;
	bool tcp = p->net == SANDBOX_NET_TCP &&
		   s->enforced & SANDBOX_NETWORK;
	bool watch = s->enforced & SANDBOX_WATCH;
	struct seccomp_spec spec = {
		.inet = p->net != SANDBOX_NET_NONE,
		.tcp_only = tcp,
		.tcp_listen = p->port_count > p->connect_count,
		.diag = s->enforced & SANDBOX_NETNS,
		.unix_path = !(s->enforced & SANDBOX_UNIXPATH) || s->unix_free ||
			     (s->abi >= 9 && s->enforced & SANDBOX_LANDLOCK),
		.sysv = (s->enforced | p->without) & SANDBOX_IPCNS,
		.memfd_exec = write_and_exec(s),
		.others = s->enforced & SANDBOX_PIDNS,
		.caps = p->keep_caps || !(s->enforced & SANDBOX_CAPS),
		.cores = p->limits.cores,
		.uncut = s->enforced & SANDBOX_LANDLOCK &&
			 s->abi < PROBE_TRUNCATE_ABI &&
			 !(p->view && s->enforced & SANDBOX_MOUNTNS),
		.watch = watch ? watched_kinds(s) : 0,
		.alone = !(s->enforced & SANDBOX_SECCOMP),
	};
	uint64_t hash = 0xcbf29ce484222325U, insn;
	int n;

	if (spec.alone && !watch)
		return 0;
	if (watch && p->own_exec) {
		if (getrandom(&spec.pass, sizeof(spec.pass), 0) < 0)
			return diag_errno(d, -errno, "seccomp");
		s->pass = spec.pass;
		s->watch.seen = 1;
	}
	s->filter = calloc(SECCOMP_INSNS_MAX, sizeof(*s->filter));
	if (!s->filter)
		return diag_errno(d, -ENOMEM, "seccomp");
	n = seccomp_build(&spec, s->filter, SECCOMP_INSNS_MAX);
	if (n < 0)
		return diag_errno(d, n, "seccomp");
	s->filter_len = (size_t)n;
	for (size_t i = 0; i < s->filter_len; i++) {
		memcpy(&insn, &s->filter[i], sizeof(insn));
		hash = (hash ^ insn) * 0x100000001b3U;
	}
	s->filter_hash = hash;
	return 0;
}

static int need_limits(struct sandbox *s, struct diag *d)
{
	struct limits_spec spec = s->plan->limits;
	int err;

	if (spec.procs && !(s->enforced & SANDBOX_WATCH)) {
		err = note_missing(s, SANDBOX_LIMITS, d,
			"a number of processes needs the exec watch",
			"--nproc counts threads too, and needs none");
		if (err < 0)
			return err;
		spec.procs = 0;
	}
	err = limits_prepare(&s->limits, &spec);
	if (err == -ENOTSUP) {
		err = note_missing(s, SANDBOX_LIMITS, d,
			"no control group, no /proc/PID/task/*/children",
			"mount /proc (with CONFIG_PROC_CHILDREN)");
		if (err < 0)
			return err;
		/* Limits that nobody needs to watch are kept. */
		spec.cpu_ns = spec.mem = 0;
		spec.tasks = spec.procs = 0;
		err = limits_prepare(&s->limits, &spec);
	}
	s->watch.procs_max = spec.procs;
	if (err == 0 && !(s->missing & SANDBOX_LIMITS))
		s->enforced |= SANDBOX_LIMITS;
	return err;
}

int sandbox_compile(
	const struct sandbox_plan *plan, struct sandbox *s, struct diag *d)
{
	static int (*const steps[])(struct sandbox *, struct diag *) = {
		need_files,
		sandbox_open_grants,
		need_namespaces,
		need_net,
		need_unix,
		sandbox_open_ports,
		need_watch,
		need_scope,
		build_filter,
		need_limits,
	};
	int err = 0;

	*s = SANDBOX_INIT;
	s->plan = plan;
	s->nested = probe_inside();
	s->enforced = (SANDBOX_SECCOMP | SANDBOX_CAPS) & ~plan->without;
	for (size_t i = 0; i < ARRAY_SIZE(steps) && err == 0; i++)
		err = steps[i](s, d);
	return err;
}
