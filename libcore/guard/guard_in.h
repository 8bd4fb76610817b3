/* guard_parts.h - what the files of guard share
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_GUARD_PARTS_H
#define WARDBOX_GUARD_PARTS_H

#include <limits.h>

#include "base/arena.h"
#include "log/audit_write.h"
#include "sys/env.h"
#include "guard/guard.h"
#include "box/sandbox.h"
#include "protect/protect.h"
#include "session/session_live.h"

enum {
	GUARD_TIMEOUT = 124,
	GUARD_OURS = 125,
	GUARD_DENIED = 126,
};

/* Everything one command needs on its way. */
struct guard {
	const struct guard_request *q;
	struct guard_result *r;
	uid_t uid;
	/* The state base, opened by guard_base(), and BASE/<uid>; 0: not yet,
	 * negative: there is none. */
	int own;
	/* "" when unknown */
	const char *home, *cwd, *root, *log_path, *user_policy, *base;
	const char *tmp; /* its TMPDIR; "" for none */
	const char *cache; /* where its caches lie; "" for none */
	struct policy *policy;
	char *const *argv; /* what is executed: the caller's or, of that: */
	char **own_argv;
	char rc_words[2][12]; /* which it has in front */
	size_t carved_count, keep_count;
	size_t cache_vars; /* the last of env: variables that name caches */
	pid_t called, caller; /* this process, as started, and its parent */
	bool guarded;  /* already, by who is around this process */
	bool living;   /* the command has ended, and left something behind */
	bool masked;   /* mask is the caller's */
	bool recording;  /* the log is open */
	bool brief;      /* the shell's own commands alone: starts no program */
	bool no_project; /* root is its TMPDIR */
	bool fresh;      /* its session was made for it */
	bool confirmed;  /* a person said yes to r->verdict */
	bool allows_protected; /* a person said yes to a change of those */
	pid_t refused; /* the last that was told why, so as not to be told again */
	uint64_t denials; /* of programs that it started */
	uint64_t starts;  /* programs that the shell of an open line started */
	uint64_t put_back; /* changes of protected names */
	struct protect *protect; /* NULL: nothing is looked at */
	uint64_t told[32]; /* sums of what was told: a program and a rule */
	size_t told_count;
	/* What is large stands last: all else is near the struct's begin. */
	struct arena names; /* texts; room for paths would be a page for each */
	uint64_t recorded[RUN_STREAMS]; /* bytes shown to the log */
	struct env env; /* the command's */
	struct sandbox_plan plan;
	struct sandbox sandbox;
	struct policy_grants grants;
	struct audit_exec record;
	struct audit_log log;
	struct proc_limits limits; /* before they were raised */
	sigset_t mask;             /* the caller's */
	struct session_live live;
	const char *carved[64]; /* paths of the plan that are ours */
	struct protect_spec protect_spec;
	const char *own_places[2]; /* below which the guard itself writes */
	const char *places[10]; /* where what is ours lies, for plan.own */
	struct diag said; /* of the policy, which holds though it ran */
	int keep[1024]; /* descriptors of the caller's, which the command keeps */
};

/* Nothing ran, for a reason of ours: err. */
static inline int guard_fail(struct guard *g, int code, int err)
{
	g->r->code = code;
	return err;
}

/* Copies text, for as long as g lives. */
int guard_keep(struct guard *g, const char **where, const char *text);

/* guard.c: opens the state base, once; what sessions are looked for by. */
struct session_where guard_base(struct guard *g, struct diag *d);

/* guard_load.c: policy, profile, project; and what they grant. */
int guard_load_policy(struct guard *g, struct diag *d);
int guard_load(struct guard *g, struct diag *d);
/* The project of where the command runs, by g->policy, to g->root; or
 * g->no_project. */
int guard_find_root(struct guard *g, struct diag *d);

/* guard_judge.c: the verdict, and where it asks a person their answer. 0: may
 * run; else the denial is recorded and the diag says why. */
int guard_judge(struct guard *g);

/* guard_startup.c: .argv, from the plan. 0 or -ENOMEM. */
int guard_startup(struct guard *g);

/* guard_env.c: the command's environment, from the grants. guard_find_tmp makes
 * its private place for temporary files and fills .tmp, once; "" stays where
 * there is no state base. */
int guard_find_tmp(struct guard *g);
int guard_make_env(struct guard *g, struct diag *d);

/* Opens a directory of the user's below the 0700 one at in, and makes it if need
 * be; one whose mode the command changed, for it may, gets it back. */
int guard_own_dir(const struct guard *g, int in, const char *name,
	struct diag *d);

/* guard_cache.c: makes the directories for caches and fills .cache, once; puts
 * the variables that name them into the environment. */
int guard_find_cache(struct guard *g, struct diag *d);
int guard_set_caches(struct guard *g);

/* guard_plan.c: the command's sandbox, from the grants. */
int guard_make_plan(struct guard *g, struct diag *d);
/* May it open a file by its name? What starts no program and names none may not. */
bool guard_opens(const struct guard *g);

/* guard_carve.c: takes out of a plan that has its grants what must not be the
 * command's. */
int guard_carve(struct guard *g, struct diag *d);

/* guard_execute.c: runs and records what is planned, and fills the result. 0 also
 * when the command failed; -errno with the diag when it did not run, or not all
 * of it is recorded. */
int guard_execute(struct guard *g);
/* What stands between the command and its caller. */
enum run_mode guard_mode(const struct guard *g);

/* guard_record.c: the log. guard_open_log is 0 with .recording false when root
 * relaxed it by name. */
int guard_open_log(struct guard *g, struct diag *d);
int guard_record_denial(struct guard *g, struct diag *d);
int guard_record_start(struct guard *g, struct diag *d);
int guard_record_end(struct guard *g, struct diag *d);
int guard_record_relaxed(struct guard *g, struct diag *d);
int guard_record_session(struct guard *g, struct diag *d);

/* guard_sink.c: what is recorded while the command runs; the log is open, if it
 * ever is. */
struct run_sink guard_sink(struct guard *g);
/* A script that came on a pipe is nowhere else. */
int guard_record_script(struct guard *g);

/* guard_protect.c: looks at the protected names before the command runs, where
 * programs run that could change them; and, when its tree is empty, puts back
 * and tells what changed. -errno with the diag. */
int guard_protect_begin(struct guard *g, struct diag *d);
int guard_protect_check(struct guard *g, struct diag *d);
/* Did a person say yes to a change of protected names? */
bool guard_protect_allowed(const struct guard *g);

/* guard_live.c: may what the command leaves behind live on? How that is done, for
 * the sink. */
bool guard_stays(const struct guard *g);
/* That the session, which ends when nobody uses it, is used. */
void guard_live_use(struct guard *g);
void guard_live_sink(struct run_sink *sink);
/* In the process that goes on beside the supervisor: what both have by a fork is
 * the supervisor's. A lock of the log is shared by a fork, so it is opened anew. */
int guard_live_leave(struct guard *g);

/* guard_watch.c: judges every program that the tree starts. */
int guard_watch(void *ctx, const struct watch_event *ev);
/* Tells and records that it changed no metadata of what is not its own. */
void guard_watch_change(void *ctx, const struct watch_object *o);

/* guard_git.c: does its environment tell the git that is about to start what the
 * policy allows no line to tell it? Then why. */
bool guard_git_denies(const struct guard *g, const struct watch_event *ev,
	const char *cwd, struct policy_verdict *v);

/* What a person is asked: the request's own text or program, or one that its
 * shell was told to run. */
struct guard_question {
	const struct policy_verdict *v;
	const char *cwd;
	char *const *argv; /* NULL: the request's text */
};

/* The person's answer, as guard_ask gives it, or an earlier "always". */
int guard_put(struct guard *g, const struct guard_question *what);
/* Why it does not run; asked: a person said no. */
void guard_explain(const struct guard *g, const struct policy_verdict *v,
	bool asked, struct diag *d);

/* guard_approve.c: an "always" of a person, for this session. */
bool guard_approved(const struct guard *g, const struct guard_question *what);
void guard_approve(const struct guard *g, const struct guard_question *what);

#endif
