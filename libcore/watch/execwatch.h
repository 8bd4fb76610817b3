/* execwatch.h - every execve in a tree, shown to a supervisor before it runs
 * SPDX-License-Identifier: MIT
 *
 * Seccomp user notification. What is shown was read from the memory of a
 * process that may have other threads: it is for policy, audit and messages.
 * The floor that no race passes is Landlock's EXECUTE, from the plan's grants.
 */
#ifndef WARDBOX_EXECWATCH_H
#define WARDBOX_EXECWATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sys/limits.h"

enum {
	/* A default stack of 8 MB lets 2 MB through. Never touched, most of it. */
	EXECWATCH_ARGS_MAX = 1 << 18,
	EXECWATCH_BYTES_MAX = 4 << 20, /* of all arguments together */
	EXECWATCH_QUEUE = 16,
};

/* What a grant gives beneath its path. Grants add up (Landlock knows no
 * subtraction); HIDE, or RO inside of RW, is carved out by a mount. */
enum sandbox_access {
	SANDBOX_READ = 1,
	SANDBOX_EXEC = 2,  /* start programs; libraries need READ alone */
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

struct execwatch_event {
	pid_t pid;        /* as seen by the supervisor */
	const char *path; /* as the process named it */
	const char *exe;  /* the file: absolute, through links; "" if none */
	int missing;      /* -errno: why exe is "" */
	char *const *argv; /* NULL-terminated */
	size_t argc;
	bool cut;    /* argv is longer than the maxima: its start is here */
	/* the rest is private */
	uint64_t env; /* where its new environment's pointers are, there */
	char *room;   /* for its directory */
	const struct execwatch_root *root;
};

/* 0 lets it go on; a negative errno (-EACCES, -EPERM …) denies with that. */
typedef int execwatch_decide(void *ctx, const struct execwatch_event *ev);

/* A file that a process is about to use; it goes on, whatever comes. */
struct execwatch_access {
	pid_t pid;
	const char *path; /* absolute, through links; what would be created or
			   * removed is named by its directory */
	unsigned wants;   /* enum sandbox_access: READ, WRITE, UNIX */
};
typedef void execwatch_see(void *ctx, const struct execwatch_access *a);

/* The tree's root directory, once a name was looked up there, and what it is
 * called from here: of a chroot in a mount namespace of its own not "/". */
struct execwatch_root {
	int fd;      /* -1: not yet */
	char *above; /* NULL: "/" */
};

struct execwatch {
	execwatch_decide *decide;
	execwatch_see *see; /* called with plan.watch_files */
	void *ctx;
	/* Called before a denial is answered; NULL: not wanted. */
	void (*denying)(void *ctx);
	void *denying_ctx;
	/* No program is started (EAGAIN) beyond that many processes; spare is
	 * how many of this process's children are no part of the tree. */
	uint32_t procs_max, spare;
	bool idle; /* the tree is not expected to start any program */
	uint64_t seen, denied, refused; /* refused: too many processes */
	/* the rest is private */
	int fd;        /* the listener */
	int sock[2];   /* 0 supervisor's end, 1 child's end */
	void *notif, *resp; /* notif: a queue */
	size_t waiting;     /* in it */
	size_t notif_size, resp_size;
	char *bytes; /* one allocation: arguments, pointers, paths */
	struct execwatch_root root;
	struct limits_guess guess;
};
#define EXECWATCH_INIT                                                         \
	((struct execwatch){.fd = -1, .sock = {-1, -1}, .root.fd = -1})

/* In the parent, before fork. -ENOTSUP, -ENOMEM, -errno. */
int execwatch_prepare(struct execwatch *w);
void execwatch_release(struct execwatch *w);

/* For a child with descriptors of its own. -errno. */
int execwatch_connect(struct execwatch *w);

/* In the child, right after the filter was installed: hands the listener over
 * and closes it. Raw calls alone. */
int execwatch_hand_over(struct execwatch *w, int listener);

/* In the parent, after fork: waits for the listener, unless it is there.
 * -EPIPE when the child ended before it had one. */
int execwatch_take(struct execwatch *w);

/* For poll(POLLIN); -1 when there is none (any more). */
static inline int execwatch_fd(const struct execwatch *w)
{
	return w->fd;
}

/* Answers what is pending; revents is what poll said of it, and not 0. 0;
 * -EPIPE: the tree is gone, fd is closed. Fails closed: what cannot be read is
 * denied. */
int execwatch_step(struct execwatch *w, int revents);

/* While ev is decided: its current directory; "" when that cannot be read. */
const char *execwatch_cwd(const struct execwatch_event *ev);

/* While ev is decided: adds the strings of the environment that the program
 * would get, each with its NUL; what out has no room for is left out. 0, or
 * -errno. */
struct buf;
int execwatch_env(const struct execwatch_event *ev, struct buf *out);

#endif
