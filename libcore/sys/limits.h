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

/* The limits of a tree; 0: not limited. */
struct limits_spec {
	uint64_t wall_ns; /* since the start; beyond: the tree is killed */
	uint64_t cpu_ns;  /* of the whole tree; beyond: killed */
	uint64_t mem;     /* bytes of the whole tree; beyond: killed */
	uint64_t fsize;   /* bytes of one file: SIGXFSZ */
	uint64_t output;  /* bytes; only stored here, the pump's owner enforces
			   * it */
	uint32_t tasks;   /* threads and processes: fork gives EAGAIN */
	uint32_t procs;   /* processes: exec gives EAGAIN; needs the watch. A
			   * tree that only forks is ended at a multiple of
			   * that */
	uint32_t files;   /* open descriptors a process: EMFILE */
	bool cores;       /* core dumps are left alone */
	bool brief;       /* a short command: the watchdog instead of a
			   * cgroup */
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
	LIMITS_BY_NOTHING, /* no limit was asked for */
	LIMITS_BY_CGROUP2,
	LIMITS_BY_CGROUP1,
	LIMITS_BY_RLIMIT,   /* for each process alone */
	LIMITS_BY_WATCHDOG, /* by looks, twenty times a second */
	LIMITS_BY_WATCH,    /* by the watch, where programs start */
	LIMITS_BY_TIMER,
	LIMITS_BY_COUNT,
};
/* "cgroup v1", "tree watchdog (approximate)" … */
const char *limits_how_name(enum limits_how how);

/* The number of processes at the last count, and the pid of the machine's last
 * process then. */
struct limits_guess {
	unsigned procs, last;
	const struct buf *others; /* as for limits_tree() */
};

enum { LIMITS_GROUPS = 3 }; /* v2: the first; v1: memory, pids, cpuacct */

struct limits {
	struct limits_spec spec;
	uint8_t how[LIMITS_KINDS]; /* enum limits_how */
	enum limits_kind hit;      /* the first limit that was exceeded */
	uint64_t cpu_used;         /* ns, at the last look */
	uint64_t mem_peak;         /* bytes */
	/* the rest is private */
	int version; /* of the cgroup: 0 none, 1, 2 */
	bool born;   /* the tree begins in the cgroup */
	int parent[LIMITS_GROUPS], group[LIMITS_GROUPS]; /* directories */
	char name[32];                                   /* name of the
							  * groups */
	uint64_t start_ns, look_ns, pause_ns;
	uint64_t cpu_seen; /* the watchdog's last sum */
	uint64_t cpu_reaped; /* of processes that no sum includes any more */
	struct limits_guess guess;
	struct buf others; /* limits_others() before the tree began */
	uint32_t nproc; /* the RLIMIT_NPROC to set, 0 for none */
};
#define LIMITS_INIT                                                            \
	((struct limits){                                                      \
		.parent = {-1, -1, -1},                                        \
		.group = {-1, -1, -1},                                         \
	})

/* In the parent: makes the cgroup when spec needs one and one is possible.
 * Where a limit can only be approximated, .how says so. -ENOTSUP: a limit needs
 * looks into /proc, which does not show this process's children. */
int limits_prepare(struct limits *l, const struct limits_spec *spec);
/* Removes the cgroup; the tree must have ended. */
void limits_release(struct limits *l);

/* The cgroup of version 2 in which a process may be created, because joining it
 * later waits for all CPUs, for milliseconds. -1: none. */
static inline int limits_cradle(const struct limits *l)
{
	return l->version == 2 ? l->group[0] : -1;
}

/* In the child: joins the cgroup, sets rlimits. Raw calls alone. -errno. */
int limits_enter(const struct limits *l);

/* In the parent after fork: starts the clock. */
void limits_start(struct limits *l);

/* Milliseconds until the next look is due, for poll(); -1: never. */
int limits_timeout(const struct limits *l);

/* Looks, when a look is due. Returns the limit that was exceeded, LIMITS_NONE
 * while all is well; the caller then kills the tree. Call it once more after
 * the end, with last set, because that finds a process that the kernel killed
 * for memory. */
enum limits_kind limits_check(struct limits *l, bool last);

/* Notes that a process which had become this one's child was waited for: if it
 * is of the tree, nobody else counts its time. */
void limits_reaped(struct limits *l, pid_t pid, const struct rusage *usage);

/* SIGKILLs all processes of the cgroup; -ENOENT when there is none. */
int limits_kill(const struct limits *l);

/* Lists the children that this process has now, from before: none of them
 * belongs to the tree that it is going to start. The caller releases the
 * list. */
int limits_others(struct buf *others);
/* Notes that a child is one of them, or is gone. */
void limits_other(struct buf *others, pid_t pid, bool is);

/* The sums over all descendants of this process, without others (NULL: none)
 * and their descendants. Processes that have ended and were not reaped count
 * only with their time. */
struct limits_tree {
	unsigned procs, tasks, older; /* older: private */
	uint64_t memory, cpu_ns; /* memory when it was asked for */
};
/* 0, -errno. Stops looking at 65536 processes. */
int limits_tree(
	struct limits_tree *out, bool memory, const struct buf *others);

/* Does /proc show children? Some kernels are built without that file, and some
 * places have no /proc. */
bool limits_can_look(void);

/* Does this process have more than max descendants that are not younger than
 * pid (0: any)? The older process is so let go on first, whoever asks first.
 * Counts only if that many could have been started since the last count; true
 * when counting fails. */
bool limits_procs_over(struct limits_guess *g, unsigned max, pid_t pid);

/* The bytes of memory that this process can use: the machine's, or less if its
 * container's cgroup has less. */
uint64_t limits_memory(void);

/* The number of tasks of this process's user. */
unsigned limits_user_tasks(void);

/* The number of living descendants of this process without others; one of them,
 * and its name. */
unsigned limits_left(const struct buf *others, pid_t *first, char name[static 16]);

/* A process of a tree. */
struct limits_process {
	pid_t pid, parent;
	uint64_t since;  /* start time, wall clock, ns */
	uint64_t memory; /* bytes that it uses alone */
	bool guarded;    /* more seccomp filters are in force than here */
};
/* Called for each descendant of root; a result other than 0 ends the walk and
 * is returned. */
typedef int limits_each(void *ctx, const struct limits_process *p);
int limits_descendants(pid_t root, limits_each *each, void *ctx);

/* The first child of a process; 0: it has none. */
pid_t limits_child(pid_t parent);

/* Sends a signal to a process and all its descendants. */
void limits_signal(pid_t root, int sig);

/* SIGKILLs and reaps every descendant of this process without others. Repeats
 * until none is left, or until two seconds and many rounds are over
 * (-ETIMEDOUT). */
int limits_sweep(const struct buf *others);

#endif
