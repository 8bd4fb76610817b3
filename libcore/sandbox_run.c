/* sandbox_run.c - the child and its end
 * SPDX-License-Identifier: MIT
 */
#include "sandbox.h"

#include <errno.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "namespaces.h"
#include "ns.h"
#include "uapi/linux.h"

/* The raw call: the third argument is where the pidfd goes, everywhere. */
static pid_t raw_fork(unsigned flags, int *pidfd)
{
	long pid = syscall(__NR_clone,
		(unsigned long)(flags | SIGCHLD | (pidfd ? PIDFD_FLAG : 0)), 0,
		pidfd, 0, 0);

	return pid < 0 ? -errno : (pid_t)pid;
}

/* The supervisor's end is the tree's end. */
static void die_with(pid_t parent, bool same_namespace)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (same_namespace && getppid() != parent)
		_exit(125);
}

/* Runs as the first process of the pid namespace; the command returns. */
static int become_init(struct sandbox *s, uid_t uid, gid_t gid)
{
	sigset_t all, old;
	pid_t pid;
	int err = s->clone_flags & NS_USER ? ns_map(uid, gid) : 0;

	if (err < 0)
		sandbox_child_fail(s, SANDBOX_STEP_NAMESPACES, err);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &old);
	pid = raw_fork(0, NULL);
	if (pid == 0) {
		sigprocmask(SIG_SETMASK, &old, NULL);
		return 0;
	}
	if (pid < 0)
		sandbox_child_fail(s, SANDBOX_STEP_NAMESPACES, pid);
	/* A pipe that the command closes must be seen closed. */
	dup2(s->stop_fd, 0);
	syscall(NR_CLOSE_RANGE, 1, ~0U, 0);
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	namespaces_init(pid, 0, &s->shared->stopped, &s->shared->status);
	s->shared->done = 1;
	_exit(0);
}

pid_t sandbox_fork(struct sandbox *s)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	void *page = mmap(NULL, sizeof(*s->shared), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid;

	if (page == MAP_FAILED)
		return -errno;
	s->shared = page;
	s->parent = getpid();
	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		return -errno;
	if (s->clone_flags & NS_PID)
		s->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->clone_flags & NS_PID && s->stop_fd < 0)
		return -errno;
	pid = raw_fork(s->clone_flags, &s->pidfd);
	if (pid < 0)
		return pid;
	if (pid == 0) {
		s->pidfd = -1;
		die_with(s->parent, !(s->clone_flags & NS_PID));
		return s->clone_flags & NS_PID ? become_init(s, uid, gid) : 0;
	}
	s->pid = pid;
	limits_start(&s->limits);
	return pid;
}

void sandbox_child_fail(struct sandbox *s, enum sandbox_step step, int err)
{
	if (s->shared && !s->shared->step) {
		s->shared->err = err;
		s->shared->step = (int)step;
	}
	_exit(125);
}

void sandbox_apply_diag(const struct sandbox *s, struct diag *d)
{
	const struct sandbox_shared *from = s->shared ? s->shared : &s->local;

	diag_errno(d, from->err, "%s",
		sandbox_step_text((enum sandbox_step)from->step));
	if (from->step == SANDBOX_STEP_NAMESPACES ||
		from->step == SANDBOX_STEP_MOUNT ||
		from->step == SANDBOX_STEP_PROC)
		diag_hint(d, "'wardbox doctor' shows which namespaces work "
			     "here; --best-effort=NAME goes without");
	else
		diag_hint(d, "'wardbox doctor' shows what works here");
}

bool sandbox_outcome(struct sandbox *s, int *status, struct diag *d)
{
	if (s->shared->step) {
		sandbox_apply_diag(s, d);
		return false;
	}
	if (s->clone_flags & NS_PID && s->shared->done)
		*status = s->shared->status;
	return true;
}

int sandbox_kill(struct sandbox *s)
{
	limits_kill(&s->limits);
	if (s->pidfd >= 0)
		syscall(NR_PIDFD_SEND_SIGNAL, s->pidfd, SIGKILL, NULL, 0);
	return limits_sweep();
}
