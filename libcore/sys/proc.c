/* proc.c - a child that is what its parent was, but for what is named
 * SPDX-License-Identifier: MIT
 */
#include "sys/proc.h"

#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"


int proc_also(struct proc_setup *s, int from, int to)
{
	if (s->also_count == PROC_ALSO_MAX)
		return -EMFILE;
	s->also[s->also_count][0] = from;
	s->also[s->also_count][1] = to;
	s->also_count++;
	return 0;
}

int proc_setup(const struct proc_setup *s)
{
	if (s->job && setpgid(0, 0) < 0)
		return -errno;
	if (s->group)
		setpgid(0, s->group);
	if (s->front >= 0 && tcsetpgrp(s->front, getpid()) < 0)
		return -errno;
	if (s->parent) {
		prctl(PR_SET_PDEATHSIG,
			s->parent_signal ? s->parent_signal : SIGKILL, 0, 0, 0);
		if (getppid() != s->parent)
			return -ESRCH;
	}
	for (int fd = 0; fd <= 2; fd++)
		if (s->fd[fd] >= 0 && dup2(s->fd[fd], fd) < 0)
			return -errno;
	/* If 0 is no terminal, the session gets none. */
	if (s->leads)
		(void)(setsid() < 0 || ioctl(0, TIOCSCTTY, 0));
	for (size_t i = 0; i < s->also_count; i++)
		if (dup2(s->also[i][0], s->also[i][1]) < 0)
			return -errno;
	if (s->cwd && chdir(s->cwd) < 0)
		return -errno;
	return 0;
}

static rlim_t least_limit(rlim_t a, rlim_t b)
{
	return a < b ? a : b;
}

static const int raised[PROC_LIMITS] = {RLIMIT_NOFILE, RLIMIT_FSIZE};

/* Raises a limit. Returns the new limit. */
static rlim_t raise_to(struct proc_limits *l, size_t i, rlim_t wanted)
{
	struct rlimit *had = &l->was[i], more;

	if (getrlimit(raised[i], had) < 0 || had->rlim_cur >= wanted)
		return wanted;
	more = (struct rlimit){wanted, wanted};
	if (more.rlim_max < had->rlim_max)
		more.rlim_max = had->rlim_max;
	l->raised[i] = prlimit(0, raised[i], &more, NULL) == 0;
	if (!l->raised[i]) {
		more.rlim_cur = more.rlim_max = had->rlim_max;
		l->raised[i] = prlimit(0, raised[i], &more, NULL) == 0;
	}
	return l->raised[i] ? more.rlim_cur : had->rlim_cur;
}

size_t proc_raise(size_t files, struct proc_limits *l)
{
	raise_to(l, 1, RLIM_INFINITY);
	return (size_t)least_limit(raise_to(l, 0, files), files);
}

void proc_lower(const struct proc_limits *l)
{
	for (size_t i = 0; i < PROC_LIMITS; i++) {
		struct rlimit now;

		if (!l->raised[i] || getrlimit(raised[i], &now) < 0)
			continue;
		now.rlim_cur = least_limit(now.rlim_cur, l->was[i].rlim_cur);
		now.rlim_max = least_limit(now.rlim_max, l->was[i].rlim_max);
		prlimit(0, raised[i], &now, NULL);
	}
}

void proc_restore(const struct proc_setup *s)
{
	proc_lower(&s->limits);
	if (s->chld_ignored)
		signal(SIGCHLD, SIG_IGN);
	sigprocmask(SIG_SETMASK, &s->mask, NULL);
}

void proc_stay(struct proc_place *p)
{
	unsigned cpu = (unsigned)sched_getcpu();
	cpu_set_t here = {0};

	p->stays = false;
	if (cpu >= CPU_SETSIZE ||
		sched_getaffinity(0, sizeof p->all, &p->all) < 0)
		return;
	CPU_SET(cpu, &here);
	p->stays = sched_setaffinity(0, sizeof here, &here) == 0;
}

void proc_leave(const struct proc_place *p)
{
	cpu_set_t any, now;

	if (!p->stays)
		return;
	/* Only a choice of the user's is restored, because CPUs that a control
	 * group or the machine gets later are for this process, too. */
	memset(&any, 0xff, sizeof any);
	if (sched_setaffinity(0, sizeof any, &any) < 0 ||
		sched_getaffinity(0, sizeof now, &now) < 0 ||
		!CPU_EQUAL(&now, &p->all))
		sched_setaffinity(0, sizeof p->all, &p->all);
}

pid_t proc_vfork(
	int (*child)(void *ctx), void *ctx, unsigned flags, int *pidfd)
{
	/* the frames of this function and of the system call */
	enum { OWN = 1024 };
	uintptr_t below = (uintptr_t)__builtin_frame_address(0) - OWN;
	pid_t pid = clone(child, (void *)(below & ~(uintptr_t)15),
		(int)(CLONE_VM | CLONE_VFORK | SIGCHLD | flags), ctx, pidfd);

	return pid < 0 ? -errno : pid;
}

bool proc_stopped(pid_t child, int status)
{
	int sig = WSTOPSIG(status);

	if (!WIFSTOPPED(status) ||
		ptrace(PTRACE_DETACH, child, 0, (void *)(intptr_t)sig) == 0)
		return false;
	return sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN ||
	       sig == SIGTTOU;
}

struct spawn {
	struct proc_place place;
	const struct proc_setup *setup;
	const char *path;
	char *const *argv, *const *env;
	enum proc_step step;
	int err;
};

static int spawn_child(void *arg)
{
	struct spawn *s = arg;

	proc_leave(&s->place);
	s->step = PROC_SETUP;
	s->err = proc_setup(s->setup);
	if (s->err)
		_exit(125);
	s->step = PROC_EXEC;
	proc_restore(s->setup);
	execve(s->path, s->argv, s->env);
	s->err = -errno;
	_exit(125);
}

int proc_spawn(const struct proc_setup *s, const char *path, char *const *argv,
	char *const *env, pid_t *pid, enum proc_step *step)
{
	struct spawn spawn = {.setup = s, .path = path, .argv = argv, .env = env};
	pid_t child;

	*step = PROC_FORK;
	proc_stay(&spawn.place);
	child = proc_vfork(spawn_child, &spawn, 0, NULL);
	proc_leave(&spawn.place);
	if (child < 0)
		return child;
	*step = spawn.step;
	if (spawn.err) {
		while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
			;
		return spawn.err;
	}
	*pid = child;
	return 0;
}
