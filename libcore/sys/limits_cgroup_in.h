/* limits_cgroup_in.h - control groups of either version
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_LIMITS_CGROUP_IN_H
#define WARDBOX_LIMITS_CGROUP_IN_H

#include "sys/limits.h"

/* The number of processes beyond which a tree with that limit counts as a
 * bomb. */
static inline uint32_t limits_forks(uint32_t procs)
{
	return procs < UINT32_MAX / 8 ? 4 * procs + 64 : UINT32_MAX;
}

/* Reads a whole file of a directory. */
int limits_read(int dir, const char *name, struct buf *out);
/* Sends a signal to each process of an array of uint32_t. */
void limits_kill_all(const struct buf *pids, int sig);

/* Makes a group that enforces what spec asks for (memory, tasks, CPU time):
 * version 2, else 1. Marks in l->how what it enforces. If no group can be made,
 * nothing is marked, which is no error. */
void limits_cgroup_make(struct limits *l);
void limits_cgroup_remove(struct limits *l);

/* In the child: joins the groups. */
int limits_cgroup_enter(const struct limits *l);

/* Sends SIGKILL to all processes of the group until it is empty; -ENOENT when
 * there is no group. */
int limits_cgroup_kill(const struct limits *l);

/* Reads what the group has used into l->cpu_used and l->mem_peak; *killed: the
 * kernel ended a process of it for memory. */
void limits_cgroup_read(struct limits *l, bool *killed);

#endif
