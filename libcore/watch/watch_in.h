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
	/* A script, its interpreter, and so on. */
	WATCH_SCRIPTS = 5,
	SCRIPT_LINE = 256, /* as much of one as the kernel reads */
	/* The pointers, the arguments, and three paths; of each interpreter a
	 * line and a path. */
	WATCH_ROOM = (WATCH_ARGS_MAX + 1) * (int)sizeof(char *) +
			 WATCH_BYTES_MAX + 3 * PATH_MAX +
			 WATCH_SCRIPTS * (PATH_MAX + SCRIPT_LINE),
};

/* What a call of WATCH_FILES does. */
enum watch_use {
	WATCH_OPEN,  /* by the flags at .arg */
	WATCH_OPEN2, /* by the structure that .arg points to */
	WATCH_WRITE, /* to the file */
	WATCH_MAKE,  /* a name: the directory is written */
	WATCH_REMOVE,
	WATCH_LINK,   /* another name of a file: its path is at .arg */
	WATCH_RENAME, /* both in one */
	WATCH_CONNECT,
	WATCH_BIND, /* makes a name, where the address is one */
};
/* What a call of WATCH_METADATA changes; what it changes that to is in the
 * arguments from .arg on. */
enum watch_alter {
	WATCH_MODE,
	WATCH_OWNER,
	WATCH_OWNER_OLD, /* ids of 16 bits where WATCH_OWNER has another call */
	WATCH_TIME,      /* struct utimbuf */
	WATCH_TIMES,     /* two times of two longs each */
	WATCH_TIMES64,   /* two times of 16 bytes each */
	WATCH_SETXATTR,
	WATCH_RMXATTR,
};
enum {
	WATCH_NO = -1,       /* there is no such argument */
	WATCH_NOFOLLOW = -2, /* .flags: the call means the link itself */
};
/* A watched call, and where it has what. */
struct watch_call {
	int16_t nr;
	uint8_t kind; /* enum watch_kind */
	uint8_t how;  /* enum watch_use, or watch_alter */
	int8_t dir, path, arg, flags; /* indices of arguments; without a path,
				       * .dir is the descriptor that is meant */
};
/* NULL for what is not watched. */
const struct watch_call *watch_call(int nr);

/* What a call that changes metadata is answered with: 0, -errno. w->bytes is
 * there. */
int watch_meta(struct watch *w, const struct watch_call *c,
	const struct sc_notif *n);

/* Tells w->before what a call is about to change. 0 lets it go on; -errno. */
int watch_writes(struct watch *w, const struct watch_call *c,
	const struct sc_notif *n);

/* Does a connection go to w->port of this machine's loopback, or to no network at
 * all? Its floor is Landlock's right for that port alone: a thread may put another
 * address there behind this look. */
bool watch_goes_to(const struct watch *w, const struct sc_notif *n);

/* The number in "/proc/self/fd/N" and its like, and what follows it; -1 for any
 * other path. */
int watch_own_fd(pid_t pid, const char *path, const char **rest);

/* 0 while the process that asked still waits; else -ESRCH. What was read of it
 * before was its own. */
int watch_still(const struct watch *w, const struct sc_notif *n);

/* Opens the tree's root, once. 0, -errno. */
int watch_root_open(struct watch_root *root, pid_t pid);

/* Reads it into room (WATCH_ROOM bytes, aligned for pointers); *ev points
 * there. -EFAULT: its pointers lead nowhere. -errno. */
int watch_read(struct watch_root *root, const struct sc_notif *n,
	char *room, struct watch_event *ev);

/* Makes ev, whose file is a script, that of its interpreter: 1. 0: it is none.
 * -errno: it cannot be told. */
int watch_script(struct watch_root *root, struct watch_event *ev);

/* Which files a call is about, at most two, with names in room. Their number; 0
 * when it is about none, or would fail by itself. */
int watch_files(struct watch_root *root, const struct watch_call *c,
	const struct sc_notif *n, char *room, struct watch_access *a);

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
