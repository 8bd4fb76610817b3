/* drop.h - between the parts of the drop applet
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_DROP_H
#define WARDBOX_DROP_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/arena.h"
#include "cli/cli.h"
#include "sys/env.h"
#include "box/sandbox.h"
#include "net/net.h"

/* A path that the command used, with --learn. */
struct drop_use {
	char *path;
	unsigned wants, gets; /* gets: with the grants around it */
	size_t in;            /* the grant around it */
};

struct drop_uses {
	struct drop_use *item;
	size_t count, room;
	struct timespec since;
	bool full;
};

struct drop_log;

struct drop {
	struct sandbox_plan plan;
	struct net_spec *names; /* of hosts, with --net; or NULL */
	struct net_link link;
	struct sandbox_join join;
	/* options */
	struct cli_list ro, rox, rw, rwx, unix, hide, tmpfs;
	struct cli_list tcp, bind, fd, cap, relax, env, unsetenv;
	bool ignore_missing, add_exec, ldd;
	bool unshare_pid, unshare_ipc, unshare_net, unshare_mount, unshare_all;
	bool open_fs, open_net, open_scope, open_syscalls, open_ipc, share_net;
	bool no_strays, die_with_parent;
	bool clearenv, new_session, dry_run, probe, json;
	bool watch_exec, explain_denials, audit;
	const char *preset, *chdir, *explain, *learn, *argv0, *grants, *net;
	const char *status_fd, *audit_fd, *ignored;
	unsigned children;
	/* what was made of them */
	bool granted; /* some path was, by option or preset */
	int keep_fds[64];
	int status, events; /* descriptors, or -1 */
	struct env child_env;
	char *const *envp; /* it, or our own when nothing changes */
	struct arena strings;
	char *file; /* the command's program */
	struct drop_uses uses; /* with learn */
	const struct sandbox *sandbox;
	struct drop_log *log; /* with audit, or a descriptor for it */
	char *const *outer;   /* our own environment */
};

/* drop_options.c: the index of the command in argv, argc when there is none.
 * Ends the process with 125 and a message on a mistake. */
extern const struct cli_spec drop_cli;
int drop_options(struct drop *o, int argc, char **argv);

/* drop_bwrap.c: bwrap's options become ours, in place: "--setenv A B" is
 * "--env A=B"; its paths become grants. The new count of words. Ends the process
 * as above. */
int drop_fold_bwrap(struct drop *o, int argc, char **argv);

/* drop_preset.c: adds the grants of read-only, workspace or build. -EINVAL for
 * another name. Temporary files and caches get a place of their own. */
int drop_preset(struct drop *o, const char *name, struct diag *d);

/* drop.c: says what of the network was refused, when all is over. */
void drop_names_told(const struct drop *o);

/* drop_exec.c: the program that a name means, as execvp would find it: 0, or
 * the exit code that says why not, with d. */
int drop_find(struct drop *o, const char *name, struct diag *d);
/* Grants a program, its interpreters and (with libs) its libraries. */
int drop_grant_program(
	struct drop *o, const char *file, bool libs, struct diag *d);
/* execve, or its script by the shell when it has no header. The exit code. */
int drop_exec(const struct drop *o, char *const *argv);

/* The interpreter named by a "#!" line, or by an ELF program; "" for none. */
const char *drop_interpreter(struct drop *o, const char *file);

/* drop_learn.c: remembers what is used, and writes the grants for it. */
void drop_learn_exec(struct drop *o, const char *exe);
void drop_learn_file(struct drop *o, const struct watch_access *a);
/* Before anything runs: can the file be written? What it holds stays. */
int drop_learn_ready(struct drop *o, struct diag *d);
int drop_learn_write(struct drop *o, struct diag *d);
/* Adds the grants of a file that was so written. */
int drop_grants_file(struct drop *o, const char *name, struct diag *d);
/* Says on stderr which of these rights no grant gives; silent when all are. */
void drop_explain_denial(
	struct drop *o, const char *path, unsigned wants, pid_t pid);

/* drop_audit.c: the command in the log, and on --audit-fd. The start is recorded before it runs;
 * what cannot be recorded does not run. */
int drop_audit_start(struct drop *o, const struct sandbox *s,
	char *const *argv, struct diag *d);
/* An event of the command; what may be NULL. */
void drop_audit_fact(struct drop *o, const char *event, const char *path,
	const char *what);
int drop_audit_end(struct drop *o, const struct sandbox *s, int status,
	struct diag *d);

/* drop_run.c: supervises; the exit code. */
int drop_supervise(struct drop *o, struct sandbox *s, char *const *argv);

/* drop_show.c: what would be done. */
void drop_parts_json(struct json *j, const char *key, unsigned parts);
void drop_show_plan(const struct drop *o, const struct sandbox *s);
void drop_show_path(
	const struct drop *o, const struct sandbox *s, const char *path);
int drop_show_probe(const struct drop *o);

#endif
