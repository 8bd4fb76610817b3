/* proc.c - a child that is what its parent was, but for what is named
 * SPDX-License-Identifier: MIT
 */
#include "proc.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cleanup.h"

enum { STACK = 16384 };

int proc_setup(const struct proc_setup *s)
{
	if (s->job && setpgid(0, 0) < 0)
		return -errno;
	if (s->front >= 0 && tcsetpgrp(s->front, getpid()) < 0)
		return -errno;
	if (s->parent) {
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		if (getppid() != s->parent)
			return -ESRCH;
	}
	for (int fd = 0; fd <= 2; fd++)
		if (s->fd[fd] >= 0 && dup2(s->fd[fd], fd) < 0)
			return -errno;
	for (size_t i = 0; i < s->also_count; i++)
		if (dup2(s->also[i][0], s->also[i][1]) < 0)
			return -errno;
	if (s->files_raised && prlimit(0, RLIMIT_NOFILE, &s->files, NULL) < 0)
		return -errno;
	if (s->cwd && chdir(s->cwd) < 0)
		return -errno;
	return 0;
}

void proc_signals(const struct proc_setup *s)
{
	if (s->chld_ignored)
		signal(SIGCHLD, SIG_IGN);
	sigprocmask(SIG_SETMASK, &s->mask, NULL);
}

struct spawn {
	const struct proc_setup *setup;
	const char *path;
	char *const *argv, *const *env;
	enum proc_step step;
	int err;
};

static int spawn_child(void *arg)
{
	struct spawn *s = arg;

	s->step = PROC_SETUP;
	s->err = proc_setup(s->setup);
	if (s->err)
		_exit(125);
	s->step = PROC_EXEC;
	proc_signals(s->setup);
	execve(s->path, s->argv, s->env);
	s->err = -errno;
	_exit(125);
}

int proc_spawn(const struct proc_setup *s, const char *path, char *const *argv,
	char *const *env, pid_t *pid, enum proc_step *step)
{
	autofree char *stack = malloc(STACK);
	struct spawn spawn = {s, path, argv, env, PROC_FORK, 0};
	pid_t child;

	*step = PROC_FORK;
	if (!stack)
		return -ENOMEM;
	child = clone(spawn_child, stack + STACK,
		CLONE_VM | CLONE_VFORK | SIGCHLD, &spawn);
	if (child < 0)
		return -errno;
	*step = spawn.step;
	if (spawn.err) {
		while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
			;
		return spawn.err;
	}
	*pid = child;
	return 0;
}
