/* watch.h - what a tree asks the kernel for, shown to its supervisor before
 * SPDX-License-Identifier: MIT
 *
 * Seccomp user notification. What is shown was read from the memory of a
 * process that may have other threads: it is for policy, audit and messages.
 * The floor that no race passes is Landlock's EXECUTE, from the plan's grants.
 */
#ifndef WARDBOX_WATCH_H
#define WARDBOX_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/uapi/linux.h"
#include "sys/limits.h"

enum {
	/* a default stack of 8 MB allows 2 MB; most is never touched */
	WATCH_ARGS_MAX = 1 << 18,
	WATCH_BYTES_MAX = 4 << 20, /* of all arguments together */
	WATCH_QUEUE = 16,
	WATCH_MISSED = 32, /* refused programs that are remembered */
	WATCH_NAME = 64,
};

/* The rights of a grant beneath its path. Grants add up (Landlock cannot
 * subtract); HIDE, or RO inside of RW, is carved out by a mount. */
enum sandbox_access {
	SANDBOX_READ = 1,
	SANDBOX_EXEC = 2,  /* start programs; libraries only need READ */
	SANDBOX_WRITE = 4, /* contents, creation, removal, renaming */
	SANDBOX_UNIX = 8,  /* connect to the sockets there (ABI 9) */
	SANDBOX_HIDE = 16, /* an empty, read-only place; a file: no access */
	SANDBOX_LIST = 32, /* the names in directories; READ gives it too */
	SANDBOX_RO = SANDBOX_READ,
	SANDBOX_ROX = SANDBOX_READ | SANDBOX_EXEC,
	SANDBOX_RW = SANDBOX_READ | SANDBOX_WRITE | SANDBOX_UNIX,
	SANDBOX_RWX = SANDBOX_RW | SANDBOX_EXEC,
	SANDBOX_TMPFS = SANDBOX_HIDE | SANDBOX_RW, /* empty, and theirs */
};

/* The kinds of watched calls. All kinds share one filter and one listener,
 * because the kernel allows a tree no second one. watch_table.c has the calls
 * of each kind. */
enum watch_kind {
	WATCH_EXEC = 1,     /* programs that start: .decide */
	WATCH_METADATA = 2, /* modes, owners, times, attributes: done here */
	WATCH_FILES = 4,    /* the use of files: .see */
	WATCH_WRITES = 8,   /* what changes files: .before */
	WATCH_NET = 16,     /* connections: to .port of 127.0.0.1 alone */
	WATCH_SIGNALS = 32, /* signals to single processes and groups: .signal */
	WATCH_SCOPE = 64, /* signals: sent here, and inside of the tree alone */
};
enum { WATCH_CALLS_MAX = 64 };
/* The system calls of these kinds on this architecture; returns their
 * number. */
size_t watch_numbers(unsigned kinds, int16_t out[static WATCH_CALLS_MAX]);

struct watch_event {
	pid_t pid;        /* as seen by the supervisor */
	const char *path; /* as the process named it */
	const char *exe;  /* the file: absolute, through links; "" if none */
	int file;         /* O_PATH: that very file; -1 */
	int missing;      /* -errno: why exe is ""; -EPERM: the process cannot
			   * be looked into, and this is denied */
	char *const *argv; /* NULL-terminated */
	size_t argc;
	bool cut;    /* argv is longer than the maxima; this is its beginning */
	/* 0: the program that the process asked for. For a script its
	 * interpreter follows, as 1, with the arguments that the kernel gives
	 * it; then that one's interpreter. */
	unsigned level;
	uint64_t id; /* of the call: unchanged when the call is decided again */
	/* the rest is private */
	uint64_t env; /* address of the new environment's pointers in that
		       * process */
	char *room;   /* room for its directory */
	const struct watch_root *root;
};

/* 0 lets it go on; a negative errno (-EACCES, -EPERM …) denies with that.
 * WATCH_WAIT: it is decided later, and waits meanwhile; see watch_again(). */
enum { WATCH_WAIT = 1, WATCH_DONE = 2, WATCH_LATER = 128 };
typedef int watch_decide(void *ctx, const struct watch_event *ev);

/* A file that a process is about to use; the use goes on in any case. */
struct watch_access {
	pid_t pid;
	const char *path; /* absolute, through links; a name to be created or
			   * removed is given by its directory */
	unsigned wants;   /* enum sandbox_access: READ, WRITE, UNIX */
};
typedef void watch_see(void *ctx, const struct watch_access *a);

/* A file whose metadata a process is about to change. */
enum watch_change {
	WATCH_CHANGE_MODE,
	WATCH_CHANGE_OWNER,
	WATCH_CHANGE_TIMES,
	WATCH_CHANGE_XATTR,
};
struct watch_object {
	pid_t pid;
	enum watch_change change;
	bool refused; /* the change was refused */
	bool open; /* named by a descriptor that reads or writes it */
	const char *path; /* the kernel's name of the opened object */
	struct stat st;
};
/* 0: the change is made, on that very object; -errno: the call's result. Called
 * without capabilities. */
typedef int watch_allow(void *ctx, const struct watch_object *o);
/* Tells that a change was not allowed. */
typedef void watch_refused_change(void *ctx, const struct watch_object *o);

/* A process is about to send a signal, to a process or, negative, to a group.
 * WATCH_DONE: it was sent; -errno: it is not; 0: the kernel decides. */
typedef int watch_signal(void *ctx, pid_t to, int sig);

/* A change that a process is about to make, by a name in a directory. */
enum watch_doing {
	WATCH_MAKES,
	WATCH_REMOVES, /* removes or replaces a name */
	WATCH_MOVES,   /* moves it to .dir2, .name2 */
	WATCH_SWAPS,
	WATCH_FILLS,  /* opens an existing file for writing */
	WATCH_ALTERS, /* mode, owner, times, attributes */
	WATCH_LINKS,  /* adds a name to the file */
};
struct watch_write {
	pid_t pid;
	enum watch_doing what;
	int dir; /* O_PATH; -1: the process cannot be looked at */
	const char *name;
	int dir2;
	const char *name2;
};
/* 0 lets the call go on; -errno denies with that; -EPERM alone also tells
 * why. */
typedef int watch_before(void *ctx, const struct watch_write *x);

/* The tree's root directory, opened when a name is first looked up, and its
 * name from here: for a chroot in a mount namespace of its own not "/". */
struct watch_root {
	int fd;      /* -1: not opened yet */
	char *above; /* NULL: "/" */
};

struct watch {
	watch_decide *decide;
	watch_refused_change *refused_change; /* may be NULL */
	watch_see *see; /* called with plan.watch_files */
	void *ctx;
	/* Called before a denial is answered; NULL: not wanted. */
	void (*denying)(void *ctx);
	void *denying_ctx;
	watch_allow *allow; /* NULL: no metadata is changed */
	void *ctx_allow;
	unsigned kinds; /* enum watch_kind: of those that are shown */
	watch_signal *signal; /* called with plan.watch_signals */
	watch_before *before; /* called with plan.watch_writes */
	void *ctx_before;
	uint16_t port; /* of WATCH_NET */
	bool other_ids; /* processes of the tree may become other users */
	int err_from; /* the reading end of the pipe that is the command's
		       * standard error; -1: none, or unknown */
	/* With more processes than that no program is started (EAGAIN); spare
	 * children of this process are no part of the tree. */
	uint32_t procs_max, spare;
	bool idle; /* the tree is not expected to start any program */
	uint64_t seen, denied, refused; /* refused: too many processes */
	/* Refused programs that their parents did not start later: their
	 * number, and the first one's name. */
	uint32_t unstarted;
	char unstarted_name[WATCH_NAME];
	/* the rest is private */
	int fd;        /* the listener */
	int sock[2];   /* 0 supervisor's end, 1 child's end */
	void *notif, *resp; /* notif: a queue */
	size_t waiting;     /* length of the queue */
	void *later;        /* calls that wait for a decision */
	size_t later_count;
	struct watch_refused {
		uint64_t file; /* a hash of its name */
		pid_t pid, parent;
	} missed[WATCH_MISSED]; /* the first of unstarted */
	size_t notif_size, resp_size;
	char *bytes; /* one allocation for arguments, pointers and paths */
	struct watch_root root;
	struct limits_guess guess;
	bool caps_known;
	struct cap_data caps[2]; /* this process's own */
};
#define WATCH_INIT                                                         \
	((struct watch){.fd = -1, .sock = {-1, -1}, .root.fd = -1, .err_from = -1})

/* Prepares, in the parent, before fork. -ENOTSUP, -ENOMEM, -errno. */
int watch_prepare(struct watch *w);
void watch_release(struct watch *w);

/* Makes the sockets, for a child with descriptors of its own. -errno. */
int watch_connect(struct watch *w);

/* In the child, right after the filter was installed: hands the listener over
 * and closes it. Raw calls alone. */
int watch_hand_over(struct watch *w, int listener);

/* In the parent, after fork: waits for the listener, unless it is known. -EPIPE
 * when the child ended before it had one. */
int watch_take(struct watch *w);

/* The descriptor for poll(POLLIN); -1 when there is none (any more). */
static inline int watch_fd(const struct watch *w)
{
	return w->fd;
}

/* Answers what is pending; revents is poll's result, not 0. 0; -EPIPE: the tree
 * is gone, fd is closed. Fails closed: a call that cannot be read is denied. */
int watch_step(struct watch *w, int revents);

/* Does the call still wait for a decision? */
bool watch_waits(const struct watch *w, uint64_t id);
/* Decides again about all waiting calls, from their beginning, the call id
 * first; calls that are gone are forgotten. */
void watch_again(struct watch *w, uint64_t id);

/* Frees memory that the next question allocates anew. */
void watch_lean(struct watch *w);

/* While ev is decided: its current directory; "" when that cannot be read. */
const char *watch_cwd(const struct watch_event *ev);

/* While ev is decided: adds the strings of the new environment, each with its
 * NUL, as many as out has room for. 0, or -errno. */
struct buf;
int watch_env(const struct watch_event *ev, struct buf *out);

#endif
