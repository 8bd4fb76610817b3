/* proc.h - a child that is what its parent was, but for what is named
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_PROC_H
#define WARDBOX_PROC_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

enum { PROC_ALSO_MAX = 8 };

/* What a child does to itself between fork and exec. Descriptors 0, 1, 2 of
 * the parent are open (harden_stdio), so what is moved onto them lies above. */
struct proc_setup {
	int fd[3];                  /* becomes 0, 1, 2; -1: as it is */
	int also[PROC_ALSO_MAX][2]; /* further ones: what, where to */
	size_t also_count;
	sigset_t mask;     /* the caller's */
	bool chld_ignored; /* SIGCHLD was SIG_IGN */
	bool files_raised; /* RLIMIT_NOFILE goes back to .files */
	struct rlimit files;
	const char *cwd; /* NULL: as it is */
	pid_t parent;    /* dies with it; 0: does not */
	bool job;        /* in a process group of its own */
	int front;       /* which the terminal there has in front; or -1 */
};
#define PROC_SETUP_INIT ((struct proc_setup){.fd = {-1, -1, -1}, .front = -1})

/* In the child: all but the signals. System calls alone. 0 or -errno. */
int proc_setup(const struct proc_setup *s);
/* In the child, last: gives the caller's mask and SIGCHLD back. */
void proc_signals(const struct proc_setup *s);

/* Where proc_spawn() failed. */
enum proc_step { PROC_FORK, PROC_SETUP, PROC_EXEC };

/* A child that shares this process's memory until it execs: no copy of page
 * tables, and its failure is known on return. All signals are to be blocked.
 * 0; -errno with *step, and then no child is left. */
int proc_spawn(const struct proc_setup *s, const char *path, char *const *argv,
	char *const *env, pid_t *pid, enum proc_step *step);

#endif
