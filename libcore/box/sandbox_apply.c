/* sandbox_apply.c - the irreversible part, between fork and exec
 * SPDX-License-Identifier: MIT
 *
 * System calls alone: no allocation, no locks, nothing that a fork from a busy
 * process could find half done.
 */
#include "box/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "box/landlock_in.h"
#include "sys/ns.h"
#include "sys/probe.h"
#include "box/sandbox_mount_in.h"
#include "box/seccomp_in.h"
#include "base/uapi/linux.h"

static int apply_group(struct sandbox *s)
{
	if (s->plan->own_group && setpgid(0, 0) < 0)
		return -errno;
	return 0;
}

static int apply_limits(struct sandbox *s)
{
	return limits_enter(&s->limits);
}

static int apply_namespaces(struct sandbox *s)
{
	uid_t uid;
	gid_t gid;

	if (s->join && s->join->user >= 0 && setns(s->join->user, NS_USER) < 0)
		return -errno;
	if (s->join && setns(s->join->net, NS_NET) < 0)
		return -errno;
	if (s->join && s->join->ipc >= 0 && setns(s->join->ipc, NS_IPC) < 0)
		return -errno;
	if (!s->unshare_flags)
		return 0;
	uid = geteuid();
	gid = getegid();
	if (syscall(__NR_unshare, s->unshare_flags) < 0)
		return -errno;
	return s->unshare_flags & NS_USER ? ns_map(uid, gid) : 0;
}

static int apply_mounts(struct sandbox *s)
{
	return s->enforced & SANDBOX_MOUNTNS ? sandbox_mount_all(s) : 0;
}

static int apply_proc(struct sandbox *s)
{
	int err = s->clone_flags & NS_PID ? ns_proc() : 0;

	/* The old directory would lead around the new mounts. */
	if (err < 0 || !s->cwd || (s->cwd[0] && chdir(s->cwd) == 0))
		return err;
	return !s->cwd[0] || errno == ENOENT || errno == EACCES ?
		       sandbox_enter_gone() :
		       -errno;
}

static int apply_loopback(struct sandbox *s)
{
	return s->enforced & SANDBOX_NETNS && !s->join ? ns_loopback() : 0;
}

/* Drops capabilities from the bounding set, one by one; past the last there is
 * EINVAL. */
static int bound_caps(uint64_t keep)
{
	for (int cap = 0; cap <= CAP_MAX_TRIED; cap++) {
		if (keep >> cap & 1)
			continue;
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0)
			return errno == EINVAL ? 0 : -errno;
	}
	return 0;
}

static int apply_caps(struct sandbox *s)
{
	/* Locked securebits: uid 0 gains nothing by exec or setuid, and no
	 * capability is ever ambient. With no_new_privs no way leads to the
	 * bounding set then; dropping that would take forty calls. */
	enum { NO_ROOT_LOCKED = 0xef };
	struct cap_head head = {.version = CAP_VERSION3};
	struct cap_data data[2];
	uint64_t keep = s->plan->keep_caps;
	int err = 0;

	if (!(s->enforced & SANDBOX_CAPS))
		return 0;
	if (syscall(__NR_capget, &head, data) < 0)
		return -errno;
	if (data[0].effective & (1U << CAP_SETPCAP_)) {
		if (keep)
			err = bound_caps(keep);
		else if (prctl(PR_SET_SECUREBITS, NO_ROOT_LOCKED, 0, 0, 0) < 0)
			err = -errno;
	}
	for (unsigned i = 0; i < 2; i++) {
		uint32_t part = (uint32_t)(keep >> (32 * i));

		data[i].effective &= part;
		data[i].permitted &= part;
		data[i].inheritable = 0;
	}
	if (err == 0 && syscall(__NR_capset, &head, data) < 0)
		err = -errno;
	/* The ambient set goes with the permitted set, except for kept
	 * capabilities. */
	if (err == 0 && keep &&
		prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
		err = -errno;
	return err;
}

static int apply_nnp(struct sandbox *s)
{
	if (s->plan->set_ids)
		return 0;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? -errno : 0;
}

static int close_range_cloexec(unsigned from, unsigned to)
{
	if (from > to)
		return 0;
	return syscall(NR_CLOSE_RANGE, from, to, CLOSE_RANGE_CLOEXEC_) < 0 ?
		       -errno :
		       0;
}

static int apply_fds(struct sandbox *s)
{
	unsigned from = 3;

	/* Marks the ranges between the kept descriptors, lowest first. */
	for (;;) {
		unsigned next = ~0U;
		int err;

		for (size_t i = 0; i < s->plan->keep_fd_count; i++) {
			int fd = s->plan->keep_fds[i];

			if (fd >= 0 && (unsigned)fd >= from &&
				(unsigned)fd < next)
				next = (unsigned)fd;
		}
		if (next == ~0U)
			return close_range_cloexec(from, ~0U);
		err = close_range_cloexec(from, next - 1);
		if (err == 0 && fcntl((int)next, F_SETFD, 0) < 0)
			err = -errno;
		if (err < 0)
			return err;
		from = next + 1;
	}
}

static int apply_landlock(struct sandbox *s)
{
	int fd, err;

	if (s->ruleset_fd < 0)
		return 0;
	for (size_t i = 0; i < s->rule_count; i++) {
		const struct sandbox_rule *r = &s->rules[i];

		/* The place to be covered does not exist, so it needs no
		 * rule. */
		if (!r->late || !r->rights ||
			((r->access & SANDBOX_HIDE || r->pts) &&
				!(s->enforced & SANDBOX_MOUNTNS)))
			continue;
		fd = openat(AT_FDCWD, r->path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			return -errno;
		err = landlock_add_path(s->ruleset_fd, fd, r->rights);
		close(fd);
		if (err < 0)
			return err;
	}
	err = landlock_restrict(s->ruleset_fd,
		s->plan->log && s->abi >= 7 ?
			LL_LOG_SAME_EXEC_OFF | LL_LOG_NEW_EXEC_ON :
			0);
	if (err < 0 || !(s->enforced & SANDBOX_LANDLOCK) || s->root_granted)
		return err;
	/* An open that must fail does fail. */
	fd = openat(AT_FDCWD, "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		return -EBADE;
	return errno == EACCES ? 0 : -errno;
}

static int apply_seccomp(struct sandbox *s)
{
	int fd;

	if (!s->filter || s->filtered)
		return 0;
	fd = seccomp_install(
		s->filter, s->filter_len, s->enforced & SANDBOX_WATCH);
	if (fd < 0 || !(s->enforced & SANDBOX_WATCH))
		return fd;
	return watch_hand_over(&s->watch, fd);
}

int sandbox_filter_first(struct sandbox *s)
{
	int err = apply_nnp(s);

	if (err == 0)
		err = seccomp_install(s->filter, s->filter_len, true);
	if (err < 0)
		return err;
	s->watch.fd = err;
	s->filtered = true;
	/* Unshares the descriptor table without the listener, which could
	 * answer for its own process. Containers that refuse unshare() allow
	 * this call. */
	return syscall(NR_CLOSE_RANGE, err, err, CLOSE_RANGE_UNSHARE_) < 0 ?
		       -errno :
		       0;
}

/* Tests that a call that must fail does fail. */
static int apply_selftest(struct sandbox *s)
{
	return s->enforced & SANDBOX_SECCOMP && !probe_inside() ? -EBADE : 0;
}

int sandbox_exec(const struct sandbox *s, const char *path, char *const *argv,
	char *const *env)
{
	syscall(__NR_execve, path, argv, env, 0, (uint32_t)s->pass,
		(uint32_t)(s->pass >> 32));
	return -errno;
}

int sandbox_apply(struct sandbox *s)
{
	static int (*const steps[])(struct sandbox *) = {
		[SANDBOX_STEP_GROUP] = apply_group,
		[SANDBOX_STEP_LIMITS] = apply_limits,
		[SANDBOX_STEP_NAMESPACES] = apply_namespaces,
		[SANDBOX_STEP_MOUNT] = apply_mounts,
		[SANDBOX_STEP_PROC] = apply_proc,
		[SANDBOX_STEP_LOOPBACK] = apply_loopback,
		[SANDBOX_STEP_CAPS] = apply_caps,
		[SANDBOX_STEP_NNP] = apply_nnp,
		[SANDBOX_STEP_FDS] = apply_fds,
		[SANDBOX_STEP_LANDLOCK] = apply_landlock,
		[SANDBOX_STEP_SECCOMP] = apply_seccomp,
		[SANDBOX_STEP_SELFTEST] = apply_selftest,
	};
	struct sandbox_shared *out = s->shared ? s->shared : &s->local;

	for (int i = SANDBOX_STEP_GROUP; i <= SANDBOX_STEP_SELFTEST; i++) {
		int err = steps[i] ? steps[i](s) : 0;

		if (err < 0) {
			out->err = err;
			out->step = i;
			return err;
		}
	}
	out->applied = 1;
	return 0;
}
