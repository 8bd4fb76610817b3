/* sandbox.h - what a command may touch, compiled before fork, applied after
 * SPDX-License-Identifier: MIT
 *
 *	plan      what is granted, what is limited (data; strings are borrowed)
 *	compile   in the parent: probes, opens, builds; says what is missing
 *	fork      a child, in new namespaces and under an init where asked
 *	apply     in the child, right before exec; irreversible
 *
 * A wrapper that needs no supervisor skips fork: compile, apply, exec.
 * Every protection of the plan is required. What the kernel cannot give is an
 * error that names it, unless plan.relax names it; then .missing says so.
 */
#ifndef WARDBOX_SANDBOX_H
#define WARDBOX_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "watch/watch.h"
#include "sys/limits.h"

struct sandbox_grant {
	const char *path; /* followed through symlinks when compiled */
	const char *why;  /* where it comes from, for explanations; may be NULL */
	const char *from; /* of sandbox_bind(): what stands at path; or NULL */
	uint8_t access;   /* enum sandbox_access */
	bool optional;    /* a missing path is passed over */
	bool device;      /* of sandbox_grant_devices() or sandbox_grant_open() */
	bool in_view;     /* of sandbox_grant_in_view() */
	bool frame;       /* of sandbox_cover() */
	bool bare;        /* of sandbox_grant_bare() */
	bool viewed;      /* of sandbox_grant_viewed() */
	bool pts;         /* of sandbox_grant_terminals() */
};

enum sandbox_net {
	SANDBOX_NET_NONE,  /* no sockets but socketpair and local ones */
	SANDBOX_NET_LOCAL, /* an own loopback; needs a network namespace */
	SANDBOX_NET_TCP,   /* TCP to and from the listed ports alone */
	SANDBOX_NET_ALL,
};

/* The protections, by name: for relax, enforced and missing. */
enum sandbox_part {
	SANDBOX_LANDLOCK = 1 << 0, /* "landlock": files */
	SANDBOX_SECCOMP = 1 << 1,  /* "seccomp": system calls */
	SANDBOX_CAPS = 1 << 2,     /* "caps": capabilities */
	SANDBOX_SCOPE = 1 << 3,    /* "scope": signals, abstract sockets */
	SANDBOX_NETWORK = 1 << 4,  /* "net" */
	SANDBOX_UNIXPATH = 1 << 5, /* "unix": sockets by path */
	SANDBOX_PIDNS = 1 << 6,    /* "pid": own processes alone, fresh /proc */
	SANDBOX_MOUNTNS = 1 << 7,  /* "mount": ro and hide inside of rw */
	SANDBOX_IPCNS = 1 << 8,    /* "ipc": System V IPC, message queues */
	SANDBOX_NETNS = 1 << 9,    /* "netns": an own network */
	SANDBOX_LIMITS = 1 << 10,  /* "limits": those asked for */
	SANDBOX_WATCH = 1 << 11,   /* "watch": execve supervised */
};
/* "landlock" for SANDBOX_LANDLOCK; NULL for what is no single part. */
const char *sandbox_part_name(unsigned part);
/* The part of a name; 0 when there is none. */
unsigned sandbox_part_named(const char *name);

struct bpf_insn1;

/* A network namespace to be joined. */
struct sandbox_join {
	int net;
	int user; /* that owns it, joined before; -1: none */
};

struct sandbox_plan {
	struct sandbox_grant *grants; /* grown by sandbox_grant() */
	size_t grant_count;
	uint16_t *ports; /* grown by sandbox_port(): connect, then bind */
	size_t port_count, connect_count;
	enum sandbox_net net;
	bool unix_all;      /* socket(AF_UNIX) to any path, granted or not */
	bool unix_view; /* the view shows no socket of others: there, as unix_all */
	bool view; /* MOUNTNS, whether something is taken away or not: all is
		    * read-only but what may be written; not inside of a guard */
	unsigned want;      /* of PIDNS MOUNTNS IPCNS NETNS WATCH: wanted */
	unsigned without; /* LANDLOCK SECCOMP CAPS SCOPE IPCNS: left open */
	unsigned relax;     /* parts that may be missing */
	uint64_t keep_caps; /* capabilities kept, bit per number */
	const int *keep_fds; /* stay open through exec; 0, 1, 2 always do */
	size_t keep_fd_count;
	/* With NETNS: joined in place of a new one, unless PIDNS is wanted. */
	const struct sandbox_join *join;
	const char *cwd; /* where the child goes before the apply; NULL: it stays */
	bool own_group; /* setpgid before anything else */
	bool watch_files; /* WATCH: show the use of files, too */
	bool watch_writes; /* WATCH: show what changes files, before */
	bool watch_signals; /* WATCH: show signals to other processes */
	bool watch_meta; /* WATCH: metadata is changed where it may be written,
			  * and nowhere else, where no view of mounts sees to it */
	/* With watch_meta: places of this process's own, whose files may not be
	 * changed by another name either; NULL-terminated, or NULL. */
	const char *const *own;
	uint16_t watch_port; /* WATCH: connections go to this port of 127.0.0.1
			      * alone; 0: they are not looked at */
	bool watch_names; /* WATCH: what is executed is told, which takes /proc */
	bool own_exec; /* WATCH: the child's own sandbox_exec() is not shown */
	bool watch_alone; /* WATCH without SECCOMP: no call is denied */
	bool log; /* Landlock denials to the kernel's audit log (ABI 7) */
	/* limits.procs is kept by the watch, where programs start: it counts
	 * processes and not threads. */
	struct limits_spec limits;
};
#define SANDBOX_PLAN_INIT ((struct sandbox_plan){.net = SANDBOX_NET_NONE})
void sandbox_plan_release(struct sandbox_plan *plan);
#define autosandbox_plan autoclean(sandbox_plan_release)

enum {
	SANDBOX_GRANTS_MAX = 4096,
	SANDBOX_PORTS_MAX = 256,
	SANDBOX_STACK = 1 << 16, /* of an init in its parent's memory */
};

/* Adds a grant; path and why must outlive the plan. -ENOMEM, -E2BIG. */
int sandbox_grant(struct sandbox_plan *plan, const char *path, unsigned access,
	bool optional, const char *why);
/* Takes away inside of what may be written, SANDBOX_RO or SANDBOX_HIDE, where
 * there is a view or other mounts; where there are none nothing is missed. The
 * directories around path may be renamed, unlike those of other grants. Optional:
 * a missing path is passed over. */
int sandbox_grant_in_view(struct sandbox_plan *plan, const char *path,
	unsigned access, const char *why);
/* In a view, terminals of the command's own making, and none of others by its name.
 */
int sandbox_grant_terminals(struct sandbox_plan *plan);
/* Where there is a view alone. */
int sandbox_grant_viewed(struct sandbox_plan *plan, const char *path,
	unsigned access, const char *why);
/* Where there is no view; what stands for it there is a bind. */
int sandbox_grant_bare(struct sandbox_plan *plan, const char *path,
	unsigned access, const char *why);
/* In a view, the directory from stands at the directory path, with such access;
 * Landlock's rule is for from. What other grants name beneath path is mounted
 * over it, in directories that are made in from where they are missing. A missing
 * path is passed over, and without a view all of it. */
int sandbox_bind(struct sandbox_plan *plan, const char *path, const char *from,
	unsigned access, const char *why);
/* In a view, the directory path holds nothing but what other grants name beneath
 * it. Without a view nothing is missed. */
int sandbox_cover(struct sandbox_plan *plan, const char *path, const char *why);
/* The first of the devices that every program expects: null, tty, zero, full,
 * random, urandom; read and written. */
int sandbox_grant_devices(struct sandbox_plan *plan, size_t most);
/* What programs read of /etc by themselves, as far as it is no secret of root's. */
int sandbox_grant_etc(struct sandbox_plan *plan, const char *why);
/* What a descriptor is open on, where that is a file or a terminal: by its name
 * /dev/stdin or /dev/fd/N the command may do what it may do by the descriptor.
 * name is that in /proc/self/fd. Compile it while it is what it is now. */
int sandbox_grant_open(struct sandbox_plan *plan, int fd, const char *name);
/* Is it one of sandbox_grant_devices()? */
bool sandbox_is_device(const char *path);
/* Allows TCP to (bind false) or on (bind true) a port. */
int sandbox_port(struct sandbox_plan *plan, uint16_t port, bool bind);

/* Where an apply or the exec behind it stopped. */
enum sandbox_step {
	SANDBOX_STEP_NONE,
	SANDBOX_STEP_GROUP,
	SANDBOX_STEP_LIMITS,
	SANDBOX_STEP_NAMESPACES,
	SANDBOX_STEP_MOUNT,
	SANDBOX_STEP_PROC,
	SANDBOX_STEP_LOOPBACK,
	SANDBOX_STEP_CAPS,
	SANDBOX_STEP_NNP,
	SANDBOX_STEP_FDS,
	SANDBOX_STEP_LANDLOCK,
	SANDBOX_STEP_SECCOMP,
	SANDBOX_STEP_LISTENER,
	SANDBOX_STEP_SELFTEST,
	SANDBOX_STEP_SETUP, /* the caller's own, between fork and apply */
	SANDBOX_STEP_EXEC,  /* the caller's exec */
};
/* "restricting file access (Landlock)" */
const char *sandbox_step_text(enum sandbox_step step);

/* A page shared with the child and its init; they write, the parent reads
 * after the wait. Gone from the child with its exec. */
struct sandbox_shared {
	int step;   /* enum sandbox_step; 0 while nothing failed */
	int applied; /* all of it; what follows is the command itself */
	int err;    /* -errno of that step */
	int stopped; /* PIDNS: the signal that stopped the command last */
	int status; /* PIDNS: wait status of the command, once done is set */
	int done;
};

/* A grant as opened. */
struct sandbox_rule {
	char *path; /* through all links */
	uint64_t dev, ino;
	uint64_t rights;  /* Landlock's */
	uint16_t grant;   /* index in the plan */
	uint16_t outer;   /* index of the rule around it; its own for none */
	/* What stands right around it in the view is another directory than
	 * outside: the length of that one's path. 0: what stands there outside. */
	uint16_t laid;
	uint8_t access;   /* enum sandbox_access */
	uint8_t mount;    /* enum sandbox_mount */
	bool dir, node;   /* node: a device, socket or pipe */
	bool frame;       /* of sandbox_cover() */
	bool pts;         /* of sandbox_grant_terminals() */
	const char *from; /* of sandbox_bind(); dev, ino and rights are its */
	bool late;        /* its rule needs the new mounts */
	bool cover;       /* hides what another grant shows */
	bool other;       /* another name of what another rule takes away */
	int tree;         /* while mounting: a copy of what was there */
};
enum sandbox_mount {
	SANDBOX_MOUNT_NO,
	SANDBOX_MOUNT_RO,
	SANDBOX_MOUNT_RW,
	SANDBOX_MOUNT_PIN, /* a directory between: must not be renamed */
	SANDBOX_MOUNT_EMPTY,
	SANDBOX_MOUNT_TMPFS,
	SANDBOX_MOUNT_FRAME, /* an empty one, for other mounts */
	SANDBOX_MOUNT_BIND,
	SANDBOX_MOUNT_PTS,
};

struct sandbox {
	unsigned enforced; /* enum sandbox_part, as compiled */
	unsigned missing;  /* relaxed, and not there */
	int abi;           /* Landlock's; 0 when there is none */
	bool nested;       /* inside of a guarded tree already */
	bool user_ns;      /* namespaces come by way of a user namespace */
	bool unix_free;    /* of plan.unix_view */
	bool carved;       /* the plan takes away what only a mount can */
	uint64_t filter_hash; /* of the BPF, for the record: FNV-1a by words */
	uint64_t pass;        /* with own_exec: lets that one exec through */
	pid_t pid;  /* after fork: the child (with PIDNS, its init) */
	int pidfd;
	int stop_fd; /* PIDNS: an eventfd, readable when the command stopped;
		      * without, the wait says so; -1 */
	/* the rest is private */
	const struct sandbox_plan *plan;
	struct sandbox_shared *shared; /* NULL until there is a fork */
	struct sandbox_rule *rules;
	size_t rule_count;
	struct bpf_insn1 *filter;
	size_t filter_len;
	int ruleset_fd;
	unsigned clone_flags, unshare_flags; /* namespaces: at fork, at apply */
	const struct sandbox_join *join; /* the network at apply, or NULL */
	bool root_granted;                   /* "/" can be listed */
	bool filtered;                       /* the filter came first */
	char *cwd; /* to enter again after mounts; "" when it is gone */
	pid_t parent;
	void *init_stack; /* of an init in this process's memory */
	struct sandbox_shared local;
	/* Of the public ones, but large: what stands behind them takes longer
	 * instructions. */
	struct limits limits;
	struct watch watch;
};
#define SANDBOX_INIT                                                           \
	((struct sandbox){                                                     \
		.pid = -1,                                                     \
		.pidfd = -1,                                                   \
		.stop_fd = -1,                                                 \
		.ruleset_fd = -1,                                              \
		.limits = LIMITS_INIT,                                         \
		.watch = WATCH_INIT,                                       \
	})
/* Closes and frees; removes the cgroup. The tree must have ended. */
void sandbox_release(struct sandbox *s);
#define autosandbox autoclean(sandbox_release)

/* Everything that can fail for a reason worth telling. The plan must outlive
 * s. 0; -ENOTSUP: a protection is missing (d names it, the kernel, the fix);
 * -ENOENT: a path of a grant; -EINVAL: a plan that contradicts itself; other
 * -errno. Call it before the process has a second thread. */
int sandbox_compile(
	const struct sandbox_plan *plan, struct sandbox *s, struct diag *d);

/* Between that and the start: the command may read and write the terminal that
 * fd is, by its name as well. 0 or -errno. */
int sandbox_admit_terminal(struct sandbox *s, int fd);

/* Starts a process that runs child(ctx), which sets up descriptors, terminal and
 * signals, then calls sandbox_apply; only async-signal-safe work there, and it
 * does not return. execs: it soon executes the command; then it may share this
 * process's memory until that, so that it must leave this one's as it is. The
 * pid (also in s->pid, s->pidfd); then sandbox_take_watch() is next.
 * With PIDNS the pid is that of the tree's init, which forwards signals sent to
 * it to the command. -errno. */
pid_t sandbox_spawn(struct sandbox *s, void (*child)(void *ctx), void *ctx,
	bool execs);

/* In the parent, right after that. What cannot be taken over ends the child, and
 * is told by sandbox_outcome(). */
void sandbox_take_watch(struct sandbox *s);

/* In the child, or in a wrapper about to exec. Raw system calls alone, no
 * allocation. 0, or -errno with the step left for sandbox_outcome(). */
int sandbox_apply(struct sandbox *s);
/* Before that, in a child with its parent's memory and descriptors: the filter,
 * whose listener is the parent's at once; then descriptors of its own. */
int sandbox_filter_first(struct sandbox *s);

/* In the child: records the step and leaves with status 125. */
__attribute__((noreturn)) void sandbox_child_fail(
	struct sandbox *s, enum sandbox_step step, int err);

/* In the child, last: the exec that plan.own_exec speaks of. Returns -errno. */
int sandbox_exec(const struct sandbox *s, const char *path, char *const *argv,
	char *const *env);

/* After a failed apply without fork: which step, in words. */
void sandbox_apply_diag(const struct sandbox *s, struct diag *d);

/* In the parent, right after the start: the command's own process, as seen from
 * here; 0 when it has ended already. */
pid_t sandbox_command(const struct sandbox *s);

/* In the parent, with the wait status of s->pid: true when the command ran;
 * *status is then its own. False when nothing ran: d says which step failed. */
bool sandbox_outcome(struct sandbox *s, int *status, struct diag *d);

/* Kills every process of the tree, stray, setsid'd and forked alike, and reaps
 * those that became ours. Call it when the command has ended, too. The caller
 * must be a subreaper (sandbox_spawn makes it one). 0, or -ETIMEDOUT when some
 * would not die within two seconds. */
int sandbox_kill(struct sandbox *s);

/* Does all of what PIDNS, MOUNTNS, IPCNS or NETNS needs work here? Tried out in
 * a child that is thrown away. */
bool sandbox_namespace_works(unsigned part);

/* Says which of those that s needs does not; false when all do. */
bool sandbox_namespace_lacks(const struct sandbox *s, struct diag *d);

/* What a process in the sandbox may do at path: a bit set of enum
 * sandbox_access (HIDE alone: it is covered). *grant (may be NULL) is the
 * innermost grant around it, NULL when there is none. path need not exist; links
 * are followed, also to what is not there. What the grant of another name of the
 * same file gives is there, too. 0 rights when it cannot even be found. */
unsigned sandbox_explain(const struct sandbox *s, const char *path,
	const struct sandbox_grant **grant);

#endif
