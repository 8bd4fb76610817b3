/* guard.h - the way of a command: decide, confine, run, record
 * SPDX-License-Identifier: MIT
 *
 * The one pipeline behind sh, exec and envrun. A front end fills a request and
 * gets a result; it forks nothing itself.
 *
 *	struct guard_request q = {.kind = GUARD_LINE, .text = line, ...};
 *	struct guard_result r;
 *
 *	guard_run(&q, &r);
 *	// r.code is what the front end ends with; r.status how the command did
 */
#ifndef WARDBOX_GUARD_H
#define WARDBOX_GUARD_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/diag.h"
#include "policy/policy.h"
#include "run/run.h"
#include "session/session.h"

enum guard_kind {
	GUARD_LINE,   /* text that a shell will read: judged before it runs */
	GUARD_ARGV,   /* a program and its arguments, judged as an execve */
	GUARD_STREAM, /* a shell that reads what no one knows yet (a terminal, a
			 pipe): every program it starts is judged by itself */
};

/* Asks a person. line is what would run. 1 yes, 2 yes and always for this
 * session, 0 no, -ENXIO when there is no one to ask. */
typedef int guard_ask(
	void *ctx, const struct policy_verdict *v, const char *line);

struct guard_request {
	enum guard_kind kind;
	const char *text; /* LINE */
	size_t len;
	bool on_stdin; /* LINE: the text is what waits there */
	bool startup; /* LINE: the shell reads files of its own before */
	bool reads_rc; /* a bash would read ~/.bashrc */
	bool named; /* LINE, STREAM: the caller chose the shell, so that what the
		     * policy says of it as a program counts, too */
	char *const *args; /* LINE: $0, $1 … of the text; NULL for none */
	enum policy_dialect dialect;

	const char *path;  /* the file that is executed */
	char *const *argv; /* given to it unchanged */
	char *const *env;  /* the caller's whole environment */
	/* What an earlier command of the session left, to be the command's in
	 * place of env: what the policy denies is taken out, and with strict
	 * all that it does not keep. NULL: env, as the policy keeps it. */
	char *const *saved_env;
	bool strict;
	const char *cwd;   /* go there first; NULL: stay */
	const char *workspace; /* the session's: the jail is its project, not
				  that of cwd, which a command can change */
	const char *profile; /* a wish to tighten; NULL for none */
	const char *session; /* its id; NULL: resolved from env */
	const char *by;      /* the applet, for the record */
	/* What the record shows in place of argv; NULL: argv. */
	char *const *shown_argv;

	bool pty;            /* on a terminal of its own */
	bool pty_all;        /* and 0, 1, 2 be that, whatever they are here */
	bool own_job;        /* see run_spec */
	struct buf *unread;  /* see run_spec */
	uint64_t timeout_ns; /* 0: the policy's alone */
	guard_ask *ask;
	void *ask_ctx;
	/* Tells the person at the terminal why what was typed does not run. */
	void (*tell)(const struct diag *d, int fd); /* -1: on the terminal */
	/* Sees the output on its way, not redacted; NULL when nobody wants
	 * it. With swallow it goes nowhere else. */
	void (*output)(void *ctx, int fd, const void *bytes, size_t n);
	void *output_ctx;
	bool swallow;
	/* The caller goes on after the run: its descriptors and its signal
	 * mask are given back. Otherwise it is about to end, and lets go of
	 * what the command could be waiting to see closed. */
	bool returns;
	/* What the command leaves behind lives on unless the policy ends it: it
	 * runs in a session that somebody keeps. Otherwise only if the policy
	 * says so. */
	bool keeps;
	/* With which process the session ends; 0: with the caller's login, or
	 * whatever leads its session. */
	pid_t holder;
	/* Done in place of a process: judged and recorded as the command that
	 * argv says, its result is the exit code. */
	int (*inside)(void *ctx);
	void *inside_ctx;
	/* argv[0] cannot be executed, and .inside says so: nothing to judge. */
	bool absent;
	/* A program of the front end's own that the command's shell calls, and
	 * how its arguments begin. NULL for none. */
	const char *also_exec;
	const char *const *also_argv;
	/* Gets what the policy grants, to be released: how a variable that the
	 * command sets is treated, among it. NULL: not wanted. */
	struct policy_grants *grants;
	/* Gets the environment that the command began with; NULL: not wanted. */
	struct env *given;
	/* Told of each program that the command's own process may now become,
	 * while it waits. Wanted, everything that it starts is watched, and
	 * whatever the policy, for that alone. */
	void (*becomes)(void *ctx, const struct watch_event *ev);
	void *becomes_ctx;
	/* Set in the command's environment unless the policy denies or sets them. */
	char *const *also_env;
};

struct guard_result {
	bool ran;
	bool broken; /* it ran, and could not be recorded to its end: see diag */
	int status; /* wait status, when it ran */
	int code;   /* exit code for the caller; see guard_exit_signal() */
	enum policy_profile profile;
	struct run_result run;
	uint64_t exec_id; /* its number in the log; 0 when it has none */
	uint64_t started_ns; /* wall clock */
	uint64_t output_max; /* the policy's limit on output; 0: none */
	char session[SESSION_ID_MAX + 1];
	char rule[48]; /* the rule that allowed or denied it, as recorded */
	struct policy_verdict verdict;
	/* Why nothing ran, or what a person should know though it ran (a
	 * profile that was not followed, a policy that is not the newest). */
	struct diag diag;
};

/* Does all of it. 0 when the command ran (however it ended), else -errno with
 * r->code one of 125, 126, 127 and r->diag filled. In a guarded tree, where the
 * kernel says so, it only runs it, by the rule "inside": the rest is done by the
 * guard around. */
int guard_run(const struct guard_request *q, struct guard_result *r);

/* Would what a policy grants make every command fail, as it would start one in
 * q's directory and environment? -errno with d saying why. What the machine lacks
 * is no fault of the policy's. 0 inside of a guarded tree, where none is made. */
int guard_try(
	const struct guard_request *q, struct policy *policy, struct diag *d);

/* Adds an event to the record of a run that is over. 0, or -errno. */
struct audit_fact;
int guard_note(const struct guard_request *q, const struct guard_result *r,
	const char *event, const struct audit_fact *facts, size_t n);

/* Where a command would run, and the project of that: "/" when there is none. */
struct guard_here {
	char cwd[PATH_MAX], workspace[PATH_MAX];
};
/* Finds that, and what the command's session is found by, which refers to here
 * and to q's environment. q's env and workspace (else this process's directory)
 * count. */
void guard_where(const struct guard_request *q, struct guard_here *here,
	struct session_where *w);

/* The UUID by which the log knows the command, or, of one that is not in it, a
 * random one. */
void guard_correlation(const struct guard_request *q,
	const struct guard_result *r, struct buf *out);

/* The signal that ended the command, to be repeated by the caller; 0. */
int guard_exit_signal(const struct guard_result *r);

#endif
