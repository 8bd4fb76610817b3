/* proc.h - a child that is what its parent was, but for what is named
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_PROC_H
#define WARDBOX_PROC_H

#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

enum { PROC_ALSO_MAX = 64 };

/* The former values of limits that this process raised for itself. */
enum { PROC_LIMITS = 2 };
struct proc_limits {
	struct rlimit was[PROC_LIMITS]; /* open files, and the size of a file */
	bool raised[PROC_LIMITS];
};

/* The changes of a child between fork and exec. Descriptors 0, 1, 2 of the
 * parent are open (harden_stdio), so those that are moved there lie above. */
struct proc_setup {
	int fd[3];                  /* become 0, 1, 2; -1: unchanged */
	int also[PROC_ALSO_MAX][2]; /* further ones: from, to */
	size_t also_count;
	sigset_t mask;     /* the caller's mask */
	bool chld_ignored; /* SIGCHLD was SIG_IGN */
	struct proc_limits limits;
	const char *cwd; /* NULL: unchanged */
	pid_t parent;    /* the child dies with it; 0: not */
	int parent_signal; /* the signal for that; 0: SIGKILL */
	bool leads; /* leads a session, with 0 as its terminal if that is one */
	bool job;        /* leads a process group */
	pid_t group;     /* joins this group, if it still exists; 0:
			  * unchanged */
	int front;       /* the terminal that gets the group in front; or -1 */
};
#define PROC_SETUP_INIT ((struct proc_setup){.fd = {-1, -1, -1}, .front = -1})

/* Gives the child our descriptor from as its descriptor to. -EMFILE: no room
 * for more. */
int proc_also(struct proc_setup *s, int from, int to);
/* In the child: makes all changes but those of signals. System calls alone. 0
 * or -errno. */
int proc_setup(const struct proc_setup *s);
/* In the child, last: restores the caller's mask, SIGCHLD and limit on open
 * files. */
void proc_restore(const struct proc_setup *s);

/* Raises this process's limits: so many descriptors, and files of any size, as
 * far as the hard limit or being root allows, whatever the caller allows the
 * command. Returns the number of descriptors. */
size_t proc_raise(size_t files, struct proc_limits *l);
/* Lowers the limits to their former values, or leaves them where they are
 * lower. */
void proc_lower(const struct proc_limits *l);

/* A place to run. A child that shares its parent's memory runs while the parent
 * waits: on the same CPU nothing has to be woken, and no other CPU's view of
 * the memory has to be flushed. proc_stay() keeps this process, and the child
 * that it starts then, on its CPU; both leave, the child before anything else,
 * and may run anywhere again. Where that is impossible nothing happens. */
struct proc_place {
	cpu_set_t all;
	bool stays;
};
void proc_stay(struct proc_place *p);
void proc_leave(const struct proc_place *p);

/* A vfork that runs child(ctx), which does not return. The child's stack is
 * this process's, below where this process waits, because that memory is
 * touched already. The pid, or -errno; flags are clone's. */
pid_t proc_vfork(
	int (*child)(void *ctx), void *ctx, unsigned flags, int *pidfd);

/* Did the child stop for job control? A child that asked its parent to trace it
 * (PTRACE_TRACEME) stops at every signal, which does not concern us: it is let
 * go on, with the signal. */
bool proc_stopped(pid_t child, int status);

/* The step at which proc_spawn() failed. */
enum proc_step { PROC_FORK, PROC_SETUP, PROC_EXEC };

/* Starts a child that shares this process's memory until it execs, so that no
 * page tables are copied and a failure is known on return. All signals must be
 * blocked. 0; -errno with *step, and then no child is left. */
int proc_spawn(const struct proc_setup *s, const char *path, char *const *argv,
	char *const *env, pid_t *pid, enum proc_step *step);

#endif
