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

/* Limits that this process raised for itself: what they were. */
enum { PROC_LIMITS = 2 };
struct proc_limits {
	struct rlimit was[PROC_LIMITS]; /* of open files, of a file's size */
	bool raised[PROC_LIMITS];
};

/* What a child does to itself between fork and exec. Descriptors 0, 1, 2 of
 * the parent are open (harden_stdio), so what is moved onto them lies above. */
struct proc_setup {
	int fd[3];                  /* becomes 0, 1, 2; -1: as it is */
	int also[PROC_ALSO_MAX][2]; /* further ones: what, where to */
	size_t also_count;
	sigset_t mask;     /* the caller's */
	bool chld_ignored; /* SIGCHLD was SIG_IGN */
	struct proc_limits limits;
	const char *cwd; /* NULL: as it is */
	pid_t parent;    /* dies with it; 0: does not */
	int parent_signal; /* which then ends it; 0: SIGKILL */
	bool leads; /* in a session of its own, whose terminal is 0 if it is one */
	bool job;        /* in a process group of its own */
	pid_t group;     /* in this one, as far as it is still there; 0: as it is */
	int front;       /* which the terminal there has in front; or -1 */
};
#define PROC_SETUP_INIT ((struct proc_setup){.fd = {-1, -1, -1}, .front = -1})

/* The descriptor to of the child is to be our from. -EMFILE: there is no room for
 * more of them. */
int proc_also(struct proc_setup *s, int from, int to);
/* In the child: all but the signals. System calls alone. 0 or -errno. */
int proc_setup(const struct proc_setup *s);
/* In the child, last: gives the caller's mask, SIGCHLD and limit on open files
 * back. */
void proc_restore(const struct proc_setup *s);

/* This process is to have so many descriptors, and files as long as it likes,
 * whatever its caller allows the command: as far as the hard limit, or being
 * root, lets it. The number of descriptors that it has now. */
size_t proc_raise(size_t files, struct proc_limits *l);
/* Goes back to what they were, or to less if they are less by now. */
void proc_lower(const struct proc_limits *l);

/* A child that shares its parent's memory runs while the parent waits: on the
 * parent's CPU nothing has to be woken for it, and no other CPU's view of that
 * memory flushed. proc_stay() keeps this process there, and the child that it
 * starts then; both leave, the child before anything else, and may run wherever
 * they might before. Where that cannot be had nothing happens. */
struct proc_place {
	cpu_set_t all;
	bool stays;
};
void proc_stay(struct proc_place *p);
void proc_leave(const struct proc_place *p);

/* vfork, and child(ctx) in it, which does not return. It stands on this
 * process's stack, below where this process waits: that memory was touched
 * before. The pid, or -errno; flags are clone's. */
pid_t proc_vfork(
	int (*child)(void *ctx), void *ctx, unsigned flags, int *pidfd);

/* A child that stopped for job control. One that asked its parent to trace it
 * (PTRACE_TRACEME) stops at every signal of its choice, which is none of ours: it
 * is let go, with the signal. */
bool proc_stopped(pid_t child, int status);

/* Where proc_spawn() failed. */
enum proc_step { PROC_FORK, PROC_SETUP, PROC_EXEC };

/* A child that shares this process's memory until it execs: no copy of page
 * tables, and its failure is known on return. All signals are to be blocked.
 * 0; -errno with *step, and then no child is left. */
int proc_spawn(const struct proc_setup *s, const char *path, char *const *argv,
	char *const *env, pid_t *pid, enum proc_step *step);

#endif
