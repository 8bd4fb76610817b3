/* watch_in.h - what a waiting process is about to start
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_WATCH_IN_H
#define WARDBOX_WATCH_IN_H

#include <limits.h>
#include <sys/types.h>

#include "watch/watch.h"
#include "base/uapi/seccomp.h"

enum {
	/* The pointers, the arguments, and three paths. */
	WATCH_ROOM = (WATCH_ARGS_MAX + 1) * (int)sizeof(char *) +
			 WATCH_BYTES_MAX + 3 * PATH_MAX,
};

/* Reads it into room (WATCH_ROOM bytes, aligned for pointers); *ev points
 * there. -EFAULT: its pointers lead nowhere. -errno. */
int watch_read(struct watch_root *root, const struct sc_notif *n,
	char *room, struct watch_event *ev);

/* Which files a call is about, at most two, with names in room. Their number; 0
 * when it is about none, or would fail by itself. */
int watch_files(struct watch_root *root, const struct sc_notif *n,
	char *room, struct watch_access *a);

/* Parts that both use. A string of another process, to out[0..size): its length,
 * -E2BIG, -errno. */
ssize_t watch_str(pid_t pid, uint64_t at, char *out, size_t size);
/* n bytes; the count, or -errno. */
ssize_t watch_mem(pid_t pid, uint64_t at, void *out, size_t n);
/* The real name (PATH_MAX bytes) of what path means to a process, with its root,
 * its directory and its view of mounts; dirfd is its own, or AT_FDCWD. 0; -EXDEV
 * for what lies above its root; -errno. */
int watch_name(struct watch_root *root, pid_t pid, int dirfd,
	const char *path, char *real);

#endif
