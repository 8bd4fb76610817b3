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
	const char *why;  /* the grant's source, for explanations; or NULL */
	const char *from; /* of sandbox_bind(): the directory shown at path; or
			   * NULL */
	uint8_t access;   /* enum sandbox_access */
	bool optional;    /* a missing path is skipped */
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

/* The protections, by bit: for relax, enforced and missing. */
enum sandbox_part {
	SANDBOX_LANDLOCK = 1 << 0, /* "landlock": files */
	SANDBOX_SECCOMP = 1 << 1,  /* "seccomp": system calls */
	SANDBOX_CAPS = 1 << 2,     /* "caps": capabilities */
	SANDBOX_SCOPE = 1 << 3,    /* "scope": signals, abstract sockets */
	SANDBOX_NETWORK = 1 << 4,  /* "net" */
	SANDBOX_UNIXPATH = 1 << 5, /* "unix": sockets by path */
	SANDBOX_PIDNS = 1 << 6,    /* "pid": only own processes, fresh /proc */
	SANDBOX_MOUNTNS = 1 << 7,  /* "mount": ro and hide inside of rw */
	SANDBOX_IPCNS = 1 << 8,    /* "ipc": System V IPC, message queues */
	SANDBOX_NETNS = 1 << 9,    /* "netns": an own network */
	SANDBOX_LIMITS = 1 << 10,  /* "limits": limits of the plan */
	SANDBOX_WATCH = 1 << 11,   /* "watch": supervised execve */
};
/* The name of a part: "landlock" for SANDBOX_LANDLOCK; NULL for several
 * parts. */
const char *sandbox_part_name(unsigned part);
/* The part of a name; 0 when there is none. */
unsigned sandbox_part_named(const char *name);

struct bpf_insn1;

/* Namespaces to be joined. */
struct sandbox_join {
	int net;
	int user; /* the user namespace that owns them, joined first; -1: none */
	int ipc;  /* -1: none */
};

struct sandbox_plan {
	struct sandbox_grant *grants; /* grown by sandbox_grant() */
	size_t grant_count;
	uint16_t *ports; /* grown by sandbox_port(): to connect, then to bind */
	size_t port_count, connect_count;
	enum sandbox_net net;
	bool unix_all;      /* socket(AF_UNIX) to any path, granted or not */
	bool unix_view; /* as unix_all, in a view that shows no socket of
			 * others */
	bool view; /* MOUNTNS even if nothing is taken away: everything is
		    * read-only but the writable grants; not inside of a
		    * guard */
	unsigned want;      /* parts of PIDNS MOUNTNS IPCNS NETNS WATCH that are
			     * wanted */
	unsigned without; /* parts of LANDLOCK SECCOMP CAPS SCOPE IPCNS that are
			   * left out */
	unsigned relax;     /* parts that may be missing */
	uint64_t keep_caps; /* capabilities kept, bit per number */
	const int *keep_fds; /* stay open through exec; 0, 1, 2 always do */
	size_t keep_fd_count;
	/* With NETNS: a namespace to join in place of a new one, unless PIDNS
	 * is wanted. */
	const struct sandbox_join *join;
	const char *cwd; /* the child's directory; NULL: unchanged */
	bool own_group; /* setpgid before anything else */
	bool watch_files; /* WATCH: also show the use of files */
	bool watch_writes; /* WATCH: show changes of files before they happen */
	bool watch_signals; /* WATCH: show signals to other processes */
	bool watch_scope; /* where Landlock keeps no signal in, the watch does,
			   * wanted or not */
	bool watch_meta; /* WATCH: metadata may be changed only where writing is
			  * allowed; for plans without a view of mounts, which
			  * would see to it */
	/* With watch_meta: this process's own places, whose files must not be
	 * changed by another name either; NULL-terminated, or NULL. */
	const char *const *own;
	uint16_t watch_port; /* WATCH: connections may only go to this port of
			      * 127.0.0.1; 0: connections are not watched */
	bool watch_names; /* WATCH: tells the files that are executed; needs
			   * /proc */
	bool own_exec; /* WATCH: the child's own sandbox_exec() is not shown */
	bool watch_alone; /* WATCH without SECCOMP: denies no call */
	bool set_ids; /* set-user-ID programs change the user; without LANDLOCK,
		       * SECCOMP, CAPS and WATCH */
	bool log; /* Landlock denials to the kernel's audit log (ABI 7) */
	/* limits.procs is enforced by the watch, where programs start: it
	 * counts processes, not threads. */
	struct limits_spec limits;
};
#define SANDBOX_PLAN_INIT ((struct sandbox_plan){.net = SANDBOX_NET_NONE})
void sandbox_plan_release(struct sandbox_plan *plan);
#define autosandbox_plan autoclean(sandbox_plan_release)

enum {
	SANDBOX_GRANTS_MAX = 4096,
	SANDBOX_PORTS_MAX = 256,
	SANDBOX_STACK = 1 << 16, /* stack of an init that shares its parent's
				  * memory */
};

/* Adds a grant; path and why must outlive the plan. -ENOMEM, -E2BIG. */
int sandbox_grant(struct sandbox_plan *plan, const char *path, unsigned access,
	bool optional, const char *why);
/* Makes a place inside of a writable grant read-only or hidden (SANDBOX_RO,
 * SANDBOX_HIDE), if there is a view or other mounts; if not, nothing is
 * missing. Unlike with other grants, the directories around path may be
 * renamed. Optional: a missing path is skipped. */
int sandbox_grant_in_view(struct sandbox_plan *plan, const char *path,
	unsigned access, const char *why);
/* In a view: the command makes terminals of its own, and sees no others by
 * name. */
int sandbox_grant_terminals(struct sandbox_plan *plan);
/* A grant for plans with a view only. */
int sandbox_grant_viewed(struct sandbox_plan *plan, const char *path,
	unsigned access, const char *why);
/* A grant for plans without a view; in a view a bind stands for it. */
int sandbox_grant_bare(struct sandbox_plan *plan, const char *path,
	unsigned access, const char *why);
/* In a view the directory from stands at the directory path, with that access;
 * Landlock's rule is for from. Paths beneath path that other grants name are
 * mounted over it, in directories that are made in from if they are missing. A
 * missing path is skipped; without a view the bind is skipped. */
int sandbox_bind(struct sandbox_plan *plan, const char *path, const char *from,
	unsigned access, const char *why);
/* In a view the directory path holds only what other grants name beneath it.
 * Without a view nothing is missing. */
int sandbox_cover(struct sandbox_plan *plan, const char *path, const char *why);
/* The first devices of those that every program expects: null, tty, zero, full,
 * random, urandom; for reading and writing. */
int sandbox_grant_devices(struct sandbox_plan *plan, size_t most);
/* Files of /etc that programs read by themselves, without root's secrets. */
int sandbox_grant_etc(struct sandbox_plan *plan, const char *why);
/* Grants the file or terminal that a descriptor has open, so that the command
 * may do by its names /dev/stdin or /dev/fd/N what it may do by the descriptor.
 * name is the name in /proc/self/fd. The descriptor must be the same when the
 * plan is compiled. */
int sandbox_grant_open(struct sandbox_plan *plan, int fd, const char *name);
/* Is it one of sandbox_grant_devices()? */
bool sandbox_is_device(const char *path);
/* Allows TCP to (bind false) or on (bind true) a port. */
int sandbox_port(struct sandbox_plan *plan, uint16_t port, bool bind);

/* The step at which an apply, or the exec after it, failed. */
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

/* A page shared with the child and its init: they write, the parent reads after
 * the wait. The child loses it at its exec. */
struct sandbox_shared {
	int step;   /* enum sandbox_step; 0 while nothing failed */
	int applied; /* all steps are done; then the command itself runs */
	int err;    /* -errno of that step */
	int stopped; /* PIDNS: the last signal that stopped the command */
	int status; /* PIDNS: wait status of the command, if done is set */
	int done;
};

/* A grant as opened. */
struct sandbox_rule {
	char *path; /* real path, through all links */
	uint64_t dev, ino;
	uint64_t rights;  /* Landlock's rights */
	uint16_t grant;   /* index of the grant in the plan */
	uint16_t outer;   /* index of the rule around it; its own: none */
	/* Another directory than outside stands around path in the view: the
	 * length of that directory's path. 0: the directory outside. */
	uint16_t laid;
	uint8_t access;   /* enum sandbox_access */
	uint8_t mount;    /* enum sandbox_mount */
	bool dir, node;   /* node: a device, a socket or a pipe */
	bool frame;       /* of sandbox_cover() */
	bool pts;         /* of sandbox_grant_terminals() */
	const char *from; /* of sandbox_bind(): dev, ino and rights are
			   * from's */
	bool late;        /* the rule needs the new mounts */
	bool cover;       /* hides a part of what another grant shows */
	bool other;       /* another name of a file that another rule takes
			   * away */
	int tree;         /* while mounting: a copy of the old tree */
};
enum sandbox_mount {
	SANDBOX_MOUNT_NO,
	SANDBOX_MOUNT_RO,
	SANDBOX_MOUNT_RW,
	SANDBOX_MOUNT_PIN, /* a directory between, which must not be renamed */
	SANDBOX_MOUNT_EMPTY,
	SANDBOX_MOUNT_TMPFS,
	SANDBOX_MOUNT_FRAME, /* an empty directory for other mounts */
	SANDBOX_MOUNT_BIND,
	SANDBOX_MOUNT_PTS,
};

struct sandbox {
	unsigned enforced; /* enum sandbox_part, as compiled */
	unsigned missing;  /* relaxed parts that are missing */
	int abi;           /* Landlock's; 0 when there is none */
	bool nested;       /* inside of a guarded tree already */
	bool user_ns;      /* namespaces need a user namespace */
	bool unix_free;    /* of plan.unix_view */
	bool carved;       /* the plan takes away something that only a mount
			    * can */
	uint64_t filter_hash; /* hash of the BPF, for the record: FNV-1a by
			       * words */
	uint64_t pass;        /* with own_exec: the secret that lets that exec
			       * through */
	pid_t pid;  /* after fork: the child (with PIDNS, its init) */
	int pidfd;
	int stop_fd; /* PIDNS: an eventfd, readable when the command stopped;
		      * -1: the wait status tells it */
	/* the rest is private */
	const struct sandbox_plan *plan;
	struct sandbox_shared *shared; /* NULL until there is a fork */
	struct sandbox_rule *rules;
	size_t rule_count;
	struct bpf_insn1 *filter;
	size_t filter_len;
	int ruleset_fd;
	unsigned clone_flags, unshare_flags; /* namespaces entered at fork, and
					      * at apply */
	const struct sandbox_join *join; /* the network to join at apply, or
					  * NULL */
	bool root_granted;                   /* "/" can be listed */
	bool filtered;                       /* the filter is installed first */
	char *cwd; /* the directory to enter again after mounts; "" when it is
		    * gone */
	pid_t parent;
	void *init_stack; /* the stack of an init in this process's memory */
	struct sandbox_shared local;
	/* Public, but large and so behind the others, which have shorter
	 * offsets. */
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

/* Prepares everything that can fail for a reason worth telling. The plan must
 * outlive s. 0; -ENOTSUP: a protection is missing (d names it, the kernel, the
 * fix); -ENOENT: the path of a grant is missing; -EINVAL: the plan contradicts
 * itself; other -errno. Call it before the process has a second thread. */
int sandbox_compile(
	const struct sandbox_plan *plan, struct sandbox *s, struct diag *d);

/* Between compile and start: lets the command read and write the terminal fd by
 * its name, too. 0 or -errno. */
int sandbox_admit_terminal(struct sandbox *s, int fd);

/* Starts a process that runs child(ctx), which sets up descriptors, terminal
 * and signals and then calls sandbox_apply; it does only async-signal-safe work
 * and does not return. execs: child soon executes the command, so it may share
 * this process's memory until then and must leave that memory unchanged.
 * Returns the pid (also in s->pid, s->pidfd); sandbox_take_watch() must follow.
 * With PIDNS the pid is that of the tree's init, which forwards signals to the
 * command. -errno. */
pid_t sandbox_spawn(struct sandbox *s, void (*child)(void *ctx), void *ctx,
	bool execs);

/* In the parent, right after the start: takes the watch over. If that fails,
 * the child is ended, and sandbox_outcome() tells why. */
void sandbox_take_watch(struct sandbox *s);

/* In the child, or in a wrapper about to exec: restricts this process. Only raw
 * system calls, no allocation. 0, or -errno with the step left for
 * sandbox_outcome(). */
int sandbox_apply(struct sandbox *s);
/* Before sandbox_apply(), in a child with its parent's memory and descriptors:
 * installs the filter, whose listener the parent has at once, and then unshares
 * the descriptors. */
int sandbox_filter_first(struct sandbox *s);

/* In the child: records the step and leaves with status 125. */
__attribute__((noreturn)) void sandbox_child_fail(
	struct sandbox *s, enum sandbox_step step, int err);

/* In the child, last: the exec of plan.own_exec. Returns -errno. */
int sandbox_exec(const struct sandbox *s, const char *path, char *const *argv,
	char *const *env);

/* After a failed apply without fork: tells which step failed. */
void sandbox_apply_diag(const struct sandbox *s, struct diag *d);

/* In the parent, right after the start: the command's own pid, as seen here; 0
 * when it has ended already. */
pid_t sandbox_command(const struct sandbox *s);

/* In the parent, with the wait status of s->pid: true when the command ran;
 * *status is then the command's own. False when nothing ran: d says which step
 * failed. */
bool sandbox_outcome(struct sandbox *s, int *status, struct diag *d);

/* Kills every process of the tree, also strays that called setsid or forked,
 * and reaps those that became ours. Call it even when the command has ended.
 * The caller must be a subreaper (sandbox_spawn makes it one). 0, or -ETIMEDOUT
 * when some processes would not die within two seconds. */
int sandbox_kill(struct sandbox *s);

/* Does all that PIDNS, MOUNTNS, IPCNS or NETNS needs work here? Tries it in a
 * child that is thrown away. */
bool sandbox_namespace_works(unsigned part);

/* Names a namespace that s needs and that does not work; false when all
 * work. */
bool sandbox_namespace_lacks(const struct sandbox *s, struct diag *d);

/* The rights of a process in the sandbox at path: a bit set of enum
 * sandbox_access (HIDE alone: covered). *grant (may be NULL) is the innermost
 * grant around path, NULL when there is none. path need not exist; links are
 * followed, even to missing files. Rights by another name of the same file are
 * included. 0 when the path cannot even be found. */
unsigned sandbox_explain(const struct sandbox *s, const char *path,
	const struct sandbox_grant **grant);

#endif
