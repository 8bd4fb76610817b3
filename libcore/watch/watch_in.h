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
	/* a script, its interpreter, and so on */
	WATCH_SCRIPTS = 5,
	SCRIPT_LINE = 256, /* the kernel reads no more of a script */
	/* The pointers, the arguments, and three paths; for each interpreter a
	 * line and a path. */
	WATCH_ROOM = (WATCH_ARGS_MAX + 1) * (int)sizeof(char *) +
			 WATCH_BYTES_MAX + 3 * PATH_MAX +
			 WATCH_SCRIPTS * (PATH_MAX + SCRIPT_LINE),
};

/* The use of files by a call of WATCH_FILES. */
enum watch_use {
	WATCH_OPEN,  /* as the flags at .arg say */
	WATCH_OPEN2, /* as the struct at .arg says */
	WATCH_WRITE, /* writes the file */
	WATCH_MAKE,  /* makes or removes a name: writes the directory */
	WATCH_REMOVE,
	WATCH_LINK,   /* makes another name; the file's path is at .arg */
	WATCH_RENAME, /* both of these */
	WATCH_CONNECT,
	WATCH_BIND, /* makes a name, if the address is one */
};
/* The change by a call of WATCH_METADATA; its new values are in the arguments
 * from .arg on. */
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
	WATCH_NO = -1,       /* no such argument */
	WATCH_NOFOLLOW = -2, /* .flags: the call means the link itself */
};
/* A watched call, and the places of its arguments. */
struct watch_call {
	int16_t nr;
	uint8_t kind; /* enum watch_kind */
	uint8_t how;  /* enum watch_use, or watch_alter */
	int8_t dir, path, arg, flags; /* indices of arguments; without a path,
				       * .dir is the descriptor of the object */
};
/* The row of a call; NULL: not watched. */
const struct watch_call *watch_call(int nr);

/* The answer to a call that changes metadata: 0, -errno. w->bytes is
 * allocated. */
int watch_meta(struct watch *w, const struct watch_call *c,
	const struct sc_notif *n);

/* Tells w->before what a call is about to change. 0 lets it go on; -errno. */
int watch_writes(struct watch *w, const struct watch_call *c,
	const struct sc_notif *n);

/* Does a connection go to w->port of this machine's loopback, or to no network
 * at all? The floor is Landlock's right for that port alone, because a thread
 * may write another address after this look. */
bool watch_goes_to(const struct watch *w, const struct sc_notif *n);

/* A signal that a process sends: WATCH_DONE, it is sent; -errno, it is not; 0, the
 * kernel sends it. */
int watch_send(struct watch *w, const struct sc_notif *n);

/* The number in "/proc/self/fd/N" and its like, and the rest behind it; -1 for
 * any other path. */
int watch_own_fd(pid_t pid, const char *path, const char **rest);

/* 0 while the asking process still waits, so that what was read before was its
 * own; else -ESRCH. */
int watch_still(const struct watch *w, const struct sc_notif *n);

/* Opens the tree's root, once. 0, -errno. */
int watch_root_open(struct watch_root *root, pid_t pid);

/* Reads the call into room (WATCH_ROOM bytes, aligned for pointers); *ev points
 * there, and the caller closes ev->file in any case. -EFAULT: its pointers lead
 * nowhere. -errno. */
int watch_read(struct watch_root *root, const struct sc_notif *n,
	char *room, struct watch_event *ev);

/* Turns ev, if its file is a script, into the start of its interpreter: 1. 0:
 * it is no script. -errno: that cannot be known. */
int watch_script(struct watch_root *root, struct watch_event *ev);

/* The files of a call, at most two, with names in room. Returns their number; 0
 * when there is none, or the call fails by itself. */
int watch_files(struct watch_root *root, const struct watch_call *c,
	const struct sc_notif *n, char *room, struct watch_access *a);

/* Shared parts. Reads a string of another process to out[0..size): its length,
 * -E2BIG, -errno. */
ssize_t watch_str(pid_t pid, uint64_t at, char *out, size_t size);
/* Reads n bytes of another process; the count, or -errno. */
ssize_t watch_mem(pid_t pid, uint64_t at, void *out, size_t n);
/* As watch_name(); *file becomes an O_PATH descriptor of it, and the one that was
 * there is closed. */
int watch_find(struct watch_root *root, pid_t pid, int dirfd,
	const char *path, char *real, int *file);
/* The real name (PATH_MAX bytes) of what path means to a process, with its
 * root, directory and view of mounts; dirfd is the process's, or AT_FDCWD. 0;
 * -EXDEV for a path above its root; -errno. */
int watch_name(struct watch_root *root, pid_t pid, int dirfd,
	const char *path, char *real);

#endif
