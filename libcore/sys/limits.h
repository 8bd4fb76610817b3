/* limits.h - how much a process tree may use, and its end when that is more
 * SPDX-License-Identifier: MIT
 *
 * cgroup v2 where it can be written, else v1, else rlimits and a watchdog over
 * the tree. How each one is enforced is in .how, for the record.
 */
#ifndef WARDBOX_LIMITS_H
#define WARDBOX_LIMITS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/diag.h"

/* 0 means: not limited. */
struct limits_spec {
	uint64_t wall_ns; /* since the start: the tree is killed */
	uint64_t cpu_ns;  /* of the whole tree: killed */
	uint64_t mem;     /* bytes, whole tree: killed */
	uint64_t fsize;   /* bytes of one file: SIGXFSZ */
	uint64_t output;  /* bytes; enforced by who pumps, carried here */
	uint32_t tasks;   /* threads and processes: fork gives EAGAIN */
	uint32_t procs;   /* processes: exec gives EAGAIN; needs the watch.
			   * Forks alone are ended at some times that many */
	uint32_t files;   /* open descriptors a process: EMFILE */
	bool cores;       /* leave core dumps as they are */
	bool brief;       /* not worth a cgroup: the watchdog will do */
};

enum limits_kind {
	LIMITS_NONE,
	LIMITS_WALL,
	LIMITS_CPU,
	LIMITS_MEM,
	LIMITS_TASKS,
	LIMITS_PROCS,
	LIMITS_FILES,
	LIMITS_FSIZE,
	LIMITS_OUTPUT,
	LIMITS_KINDS,
};
/* "memory", "wall time" … */
const char *limits_name(enum limits_kind kind);

enum limits_how {
	LIMITS_BY_NOTHING, /* not asked for */
	LIMITS_BY_CGROUP2,
	LIMITS_BY_CGROUP1,
	LIMITS_BY_RLIMIT,   /* each process alone */
	LIMITS_BY_WATCHDOG, /* looked at twenty times a second */
	LIMITS_BY_WATCH,    /* where programs start */
	LIMITS_BY_TIMER,
	LIMITS_BY_COUNT,
};
/* "cgroup v1", "tree watchdog (approximate)" … */
const char *limits_how_name(enum limits_how how);

/* How many processes there were, and which number the last one had. */
struct limits_guess {
	unsigned procs, last;
	const struct buf *others; /* as for limits_tree() */
};

enum { LIMITS_GROUPS = 3 }; /* v2: the first; v1: memory, pids, cpuacct */

struct limits {
	struct limits_spec spec;
	uint8_t how[LIMITS_KINDS]; /* enum limits_how */
	enum limits_kind hit;      /* the first limit that was exceeded */
	uint64_t cpu_used;         /* ns; as last looked at */
	uint64_t mem_peak;         /* bytes */
	/* the rest is private */
	int version; /* of the cgroup: 0 none, 1, 2 */
	bool born;   /* the tree begins in it */
	int parent[LIMITS_GROUPS], group[LIMITS_GROUPS]; /* directories */
	char name[32];                                   /* of the groups */
	uint64_t start_ns, look_ns, pause_ns;
	uint64_t cpu_seen; /* the watchdog's last sum */
	uint64_t cpu_reaped; /* of those that are in no sum any more */
	struct limits_guess guess;
	struct buf others; /* as limits_others() says, before the tree began */
	uint32_t nproc; /* the RLIMIT_NPROC to set, 0 for none */
};
#define LIMITS_INIT                                                            \
	((struct limits){                                                      \
		.parent = {-1, -1, -1},                                        \
		.group = {-1, -1, -1},                                         \
	})

/* In the parent: makes the cgroup when spec needs one and it can be had. Where
 * a limit can only be approximated, .how says so. -ENOTSUP: one needs looks into
 * /proc, which does not show this process's children. */
int limits_prepare(struct limits *l, const struct limits_spec *spec);
/* Removes the cgroup; the tree must have ended. */
void limits_release(struct limits *l);

/* The cgroup, of version 2, that a process may be made in: to go there later
 * waits for all CPUs, for milliseconds. -1. */
static inline int limits_cradle(const struct limits *l)
{
	return l->version == 2 ? l->group[0] : -1;
}

/* In the child: joins the cgroup, sets rlimits. Raw calls alone. -errno. */
int limits_enter(const struct limits *l);

/* In the parent after fork: the clock runs. */
void limits_start(struct limits *l);

/* Milliseconds until the next look is due, for poll(); -1: never. */
int limits_timeout(const struct limits *l);

/* Looks, when a look is due. The limit exceeded, LIMITS_NONE while all is well.
 * The caller then kills the tree. Call it once more after the end, with last
 * set: a process that the kernel killed for memory is found there. */
enum limits_kind limits_check(struct limits *l, bool last);

/* That a process which had become this one's child was waited for: if it is of
 * the tree, nobody else tells its time. */
void limits_reaped(struct limits *l, pid_t pid, const struct rusage *usage);

/* SIGKILLs all that is in the cgroup; -ENOENT when there is none. */
int limits_kill(const struct limits *l);

/* The children that this process has now, from before it became what it is: none
 * of them belongs to the tree that it is going to start. To be released. */
int limits_others(struct buf *others);
/* That a child of this process is one of them, or is gone. */
void limits_other(struct buf *others, pid_t pid, bool is);

/* What all descendants of this process use together, but for others (NULL: there
 * are none) and theirs. Those that have ended and
 * were not reaped count for their time alone. */
struct limits_tree {
	unsigned procs, tasks, older; /* older: private */
	uint64_t memory, cpu_ns; /* memory when it was asked for */
};
/* 0, -errno. Stops looking at 65536 processes. */
int limits_tree(
	struct limits_tree *out, bool memory, const struct buf *others);

/* Does /proc show them? Some kernels are built without the file, and some places
 * have no /proc. */
bool limits_can_look(void);

/* Does this process have more than max descendants that are not younger than pid
 * (0: any)? Who came first is so the first to be let go on, whoever asks first.
 * Counts when so many could have been started meanwhile; true when that cannot be
 * done. */
bool limits_procs_over(struct limits_guess *g, unsigned max, pid_t pid);

/* The bytes of memory that this process may count on: the machine's, or less
 * where its container's cgroup has less. */
uint64_t limits_memory(void);

/* Tasks that this process's user runs, anywhere. */
unsigned limits_user_tasks(void);

/* How many descendants of this process but others live, one of them, and its
 * name. */
unsigned limits_left(const struct buf *others, pid_t *first, char name[static 16]);

/* A process of a tree. */
struct limits_process {
	pid_t pid, parent;
	uint64_t since;  /* wall clock, ns */
	uint64_t memory; /* bytes of its own */
	bool guarded;    /* a seccomp filter holds for it */
};
/* Called for each descendant of root; not 0 ends it and is the result. */
typedef int limits_each(void *ctx, const struct limits_process *p);
int limits_descendants(pid_t root, limits_each *each, void *ctx);

/* The first child of a process; 0 when it has none. */
pid_t limits_child(pid_t parent);

/* Sends a signal to a process and all that descend from it. */
void limits_signal(pid_t root, int sig);

/* SIGKILLs and reaps every descendant of this process but others. Repeats until none is
 * left or two seconds, or more of many rounds, are over (-ETIMEDOUT). */
int limits_sweep(const struct buf *others);

#endif
