/* limits_cgroup_in.h - control groups of either version
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_LIMITS_CGROUP_IN_H
#define WARDBOX_LIMITS_CGROUP_IN_H

#include "sys/limits.h"

/* How many processes that many may become before they are taken for a bomb. */
static inline uint32_t limits_forks(uint32_t procs)
{
	return procs < UINT32_MAX / 8 ? 4 * procs + 64 : UINT32_MAX;
}

/* The whole of a file in a directory. */
int limits_read(int dir, const char *name, struct buf *out);
/* Sends a signal to each process of an array of uint32_t. */
void limits_kill_all(const struct buf *pids, int sig);

/* Makes a group that holds what spec asks for (memory, tasks, CPU time):
 * version 2, else 1. Marks l->how for what it took over. Where none can be made
 * that is no error: nothing is marked. */
void limits_cgroup_make(struct limits *l);
void limits_cgroup_remove(struct limits *l);

/* In the child. */
int limits_cgroup_enter(const struct limits *l);

/* SIGKILL to all in it, until it is empty; -ENOENT when there is no group. */
int limits_cgroup_kill(const struct limits *l);

/* What it has used: updates l->cpu_used and l->mem_peak; *killed: the kernel
 * ended a process of it for its memory. */
void limits_cgroup_read(struct limits *l, bool *killed);

#endif
