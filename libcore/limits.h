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
#include <sys/types.h>

#include "diag.h"

/* 0 means: not limited. */
struct limits_spec {
	uint64_t wall_ns; /* since the start: the tree is killed */
	uint64_t cpu_ns;  /* of the whole tree: killed */
	uint64_t mem;     /* bytes, whole tree: killed */
	uint64_t fsize;   /* bytes of one file: SIGXFSZ */
	uint64_t output;  /* bytes; enforced by who pumps, carried here */
	uint32_t tasks;   /* threads and processes: fork gives EAGAIN */
	uint32_t procs;   /* processes: fork gives EAGAIN; needs the watch */
	uint32_t files;   /* open descriptors a process: EMFILE */
	bool cores;       /* leave core dumps as they are */
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
	LIMITS_BY_WATCHDOG, /* looked at ten times a second */
	LIMITS_BY_WATCH,    /* at each fork */
	LIMITS_BY_TIMER,
};
/* "cgroup v1", "tree watchdog (approximate)" … */
const char *limits_how_name(enum limits_how how);

enum { LIMITS_GROUPS = 4 }; /* v2, or v1: memory, pids, cpuacct, freezer */

struct limits {
	struct limits_spec spec;
	uint8_t how[LIMITS_KINDS]; /* enum limits_how */
	enum limits_kind hit;      /* the first limit that was exceeded */
	uint64_t cpu_used;         /* ns; as last looked at */
	uint64_t mem_peak;         /* bytes */
	/* the rest is private */
	int version;              /* of the cgroup: 0 none, 1, 2 */
	int group[LIMITS_GROUPS]; /* directory descriptors, -1 */
	char name[32];            /* of the cgroup directories */
	int parent[LIMITS_GROUPS];
	uint64_t start_ns, look_ns;
	pid_t root;
	uint64_t oom_before;
};
#define LIMITS_INIT                                                            \
	((struct limits){                                                      \
		.group = {-1, -1, -1, -1},                                     \
		.parent = {-1, -1, -1, -1},                                    \
		.root = -1,                                                    \
	})

/* In the parent: makes the cgroup when spec needs one and it can be had. When
 * a limit can only be approximated, .how says so; when it cannot be enforced at
 * all, -ENOTSUP with d. */
int limits_prepare(struct limits *l, const struct limits_spec *spec,
	struct diag *d);
void limits_release(struct limits *l);

/* In the child: joins the cgroup, sets rlimits. Raw calls alone. -errno. */
int limits_enter(const struct limits *l);

/* In the parent after fork: the clock runs. */
void limits_start(struct limits *l, pid_t root);

/* Milliseconds until the next look is due, for poll(); -1: never. */
int limits_timeout(const struct limits *l);

/* Looks. The limit exceeded, LIMITS_NONE while all is well. The caller then
 * kills the tree. Call it also once after the end: a process that the kernel
 * killed for memory is found there. */
enum limits_kind limits_check(struct limits *l);

/* SIGKILLs all that is in the cgroup; -ENOENT when there is none. */
int limits_kill(const struct limits *l);

/* Processes (not threads) beneath root, itself included; at most max are
 * counted. */
unsigned limits_count(pid_t root, unsigned max);

/* SIGKILLs and reaps every descendant of this process but except. Repeats
 * until none is left or two seconds are over (-ETIMEDOUT). */
int limits_sweep(void);

#endif
