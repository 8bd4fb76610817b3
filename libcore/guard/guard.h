/* guard.h - the way of a command: decide, confine, run, record
 * SPDX-License-Identifier: MIT
 *
 * The one pipeline behind sh, exec and envrun. A front end says what is to run
 * (command), for whom (caller) and how it is connected (io), and gets an outcome;
 * a front end forks no guarded command by itself.
 *
 *	struct guard_request q = {.command = {.kind = GUARD_LINE, ...}};
 *	struct guard_outcome out;
 *
 *	guard_run(&q, &out);
 *	// out.code is the exit code of the front end; out.status the command's
 */
#ifndef WARDBOX_GUARD_H
#define WARDBOX_GUARD_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/diag.h"
#include "policy/policy.h"
#include "run/run.h"
#include "session/session.h"

enum guard_kind {
	GUARD_LINE,   /* text that a shell will read: judged before it runs */
	GUARD_ARGV,   /* a program and its arguments, judged as an execve */
	GUARD_STREAM, /* a shell whose text is not known beforehand (a terminal,
		       * a pipe): each program is judged when it starts */
};

/* What is to run. */
struct guard_command {
	enum guard_kind kind;
	const char *text; /* LINE */
	size_t len;
	bool on_stdin; /* LINE: the text waits on descriptor 0 */
	bool startup;  /* LINE: the shell reads start-up files before it */
	bool reads_rc; /* a bash would read ~/.bashrc */
	bool named; /* LINE, STREAM: the caller chose the shell, so the policy's
		     * rules about that shell as a program count, too */
	char *const *args; /* LINE: $0, $1 … of the text; NULL for none */
	enum policy_dialect dialect;
	const char *path;   /* the file that is executed */
	char *const *argv;  /* given to it unchanged */
	char *const *shown; /* what the record shows as argv; NULL: argv */
	/* A program of the front end's own that does what the words say, and
	 * its arguments. It runs in place of path and argv, by which the
	 * command is judged and recorded. NULL: path runs. */
	const char *doer;
	char *const *doer_argv;
};

enum guard_answer {
	GUARD_NO,
	GUARD_YES,
	GUARD_ALWAYS,      /* yes, for the rest of this session */
	GUARD_WAITS,       /* not yet */
	GUARD_UNANSWERED,  /* the policy's time was over */
	GUARD_NOBODY,      /* there is no terminal with a person */
	GUARD_NO_APPROVER, /* the policy asks an approver, and there is none */
	GUARD_NEVER,       /* the policy asks nobody */
};

/* An answerer takes one question after the other: a person on a terminal, or
 * somebody elsewhere. */
struct guard_answerer {
	void *ctx;
	/* Puts a question: line is the text that would run, seconds the time for
	 * an answer. 0; -errno when nobody is there. */
	int (*put)(void *ctx, const struct policy_verdict *v, const char *line,
		unsigned seconds);
	/* A descriptor that is readable when poll() has something to look at,
	 * while the question is put. */
	int (*fd)(void *ctx);
	/* GUARD_WAITS, or the answer, with which the question is over. */
	enum guard_answer (*poll)(void *ctx);
	/* Takes the question back; why is told to whoever was asked, or is
	 * NULL. */
	void (*cancel)(void *ctx, const char *why);
};

/* Asks a person. line is the text that would run. 1 yes, 2 yes and always for
 * this session, 0 no, -ENXIO when there is no person to ask, -ETIMEDOUT when the
 * person who saw the question did not answer. */
typedef int guard_ask(
	void *ctx, const struct policy_verdict *v, const char *line);

/* A wish for less than the policy grants. It narrows only the policy's paths:
 * the guarded user's own /tmp, home and caches stay writable. */
struct guard_narrow {
	bool writes; /* only what lies below .write may be written */
	const char *const *write;
	size_t write_count;
	const char *const *keep; /* existing paths that must not change */
	size_t keep_count;
	const char *const *hide; /* paths out of reach */
	size_t hide_count;
	bool offline; /* no network */
};

/* For whom the command runs, and from where. */
struct guard_caller {
	char *const *env;      /* the caller's whole environment */
	const char *cwd;       /* the command's directory; NULL: the caller's */
	const char *workspace; /* the session's workspace: the jail is its
				* project and not that of cwd, which a command
				* can change */
	const char *profile;   /* a profile that the caller wishes, to tighten;
				* NULL for none */
	const struct guard_narrow *narrow; /* a wish for less; or NULL */
	const char *session;   /* the session's id; NULL: resolved from env */
	/* Answerers for "ask tty" and "ask approver". NULL: nobody. */
	const struct guard_answerer *person, *approver;
	guard_ask *ask;        /* asks before anything else and waits for the
				* answer; or NULL */
	void *ask_ctx;
	/* The person is elsewhere and may take long: programs that start in the
	 * midst of a run are not asked about, because the whole run would
	 * wait. */
	bool ask_slow;
	/* Tells the person of a denial: on fd, or with -1 on the person's
	 * terminal. NULL: nobody is told. */
	void (*tell)(const struct diag *d, int fd);
};

/* How the command is connected to its caller. */
struct guard_io {
	bool pty;     /* on a terminal of its own */
	bool pty_all; /* 0, 1, 2 become that terminal, whatever they are here */
	bool own_job; /* see run_spec */
	/* What it changes in its project will be taken back: it is journaled
	 * whatever the policy says, what cannot be is refused, and nothing that
	 * it starts lives on. */
	bool dry;
	struct buf *unread;  /* see run_spec */
	uint64_t timeout_ns; /* 0: only the policy's limit */
	/* Sees the output on its way, not redacted; NULL: not wanted. With
	 * swallow the output goes nowhere else. */
	void (*output)(void *ctx, int fd, const void *bytes, size_t n);
	void *output_ctx;
	bool swallow;
	/* The caller goes on after the run: its descriptors and its signal mask
	 * are given back. Otherwise the caller is about to end, and lets go of
	 * what the command could be waiting to see closed. */
	bool returns;
	/* Background programs live on unless the policy ends them, because the
	 * command runs in a session that somebody keeps. Without keeps they
	 * live on only if the policy says so. */
	bool keeps;
	bool correlate; /* guard_correlation() is going to be asked */
	/* The process with which the session ends; 0: the caller's login, or
	 * the leader of the caller's session. */
	pid_t holder;
};
/* The first process, which ends with the container: no other one. */
enum { GUARD_HELD_BY_NONE = 1 };

/* What one command of a sequence takes from the command before it, and leaves to
 * the next one (envrun). */
struct guard_carry {
	/* The environment that the command before left, in place of the
	 * caller's. Variables that the policy denies are taken out; with strict
	 * also all that the policy does not keep. NULL: the caller's
	 * environment. */
	char *const *env;
	bool strict;
	/* Set in the command's environment unless the policy denies or sets
	 * them; NULL: none. */
	char *const *also_env;
	/* A program of the front end's own that the command's shell calls, and
	 * the beginning of its arguments. NULL for none. */
	const char *helper;
	const char *const *helper_argv;
	/* Called for each program that the command's own process may now
	 * become, while that process waits. With becomes set, all programs are
	 * watched, whatever the policy says. */
	void (*becomes)(void *ctx, const struct watch_event *ev);
	void *becomes_ctx;
	/* Receives what the policy grants, for the caller to release: among it
	 * how a variable that the command sets is treated. NULL: not wanted. */
	struct policy_grants *grants;
	/* Receives the environment that the command began with; NULL: not
	 * wanted. */
	struct env *given;
};

struct guard_request {
	struct guard_command command;
	struct guard_caller caller;
	struct guard_io io;
	const struct guard_carry *carry; /* NULL: the command stands alone */
};

struct guard_outcome {
	bool ran;
	bool broken; /* the command ran, and the record broke before its end:
		      * see diag */
	bool confirmed; /* a person said yes to .verdict */
	int status; /* wait status, when it ran */
	int code;   /* exit code for the caller; see guard_exit_signal() */
	enum policy_profile profile;
	struct run_result run;
	uint64_t exec_id;    /* the command's number in the log; 0: it has
			      * none */
	uint8_t log_id[16]; /* of that log, with io.correlate */
	uint64_t started_ns; /* wall clock */
	uint64_t output_max; /* the policy's limit on output; 0: none */
	char session[SESSION_ID_MAX + 1];
	char rule[48]; /* the rule that allowed or denied it, as recorded */
	struct policy_verdict verdict;
	uint64_t undo;      /* the journal of the command's changes; 0: none */
	uint64_t undo_gone; /* files and directories that the command removed */
	struct diag diag;   /* why nothing ran, or what broke */
	struct diag remark; /* what a person should know although the command
			     * ran: a profile that was not followed, a policy
			     * that is stale */
};

/* Goes the whole way. 0 when the command ran (however it ended), else -errno
 * with .code one of 125, 126, 127 and .diag filled. In a guarded tree, where
 * the kernel says so, guard_run() only runs the command, by the rule "inside":
 * the guard around does the rest. */
int guard_run(const struct guard_request *q, struct guard_outcome *out);

/* The front end does this command itself, in place of a process: it is judged
 * and recorded as q's command, and perform's result is the exit code. */
int guard_perform(const struct guard_request *q, int (*perform)(void *ctx),
	void *ctx, struct guard_outcome *out);

/* The command's program does not exist: nothing is judged or run. The record
 * has it, with the exit code that says so. 0, or -errno with .diag. */
int guard_absent(
	const struct guard_request *q, int code, struct guard_outcome *out);

/* Would a policy's grants make every command fail? Starts one in the caller's
 * directory and environment. -errno with d saying why. What the machine lacks
 * is no fault of the policy. 0 inside of a guarded tree, where no sandbox is
 * made. */
int guard_try(const struct guard_caller *who, struct policy *policy,
	struct diag *d);

/* The names of the caller's variables that a command does not get, with blanks
 * between them. -errno with d. */
int guard_env_left(
	const struct guard_caller *who, struct buf *left, struct diag *d);

/* Adds an event to the record of a run that is over. 0, or -errno. */
struct audit_fact;
int guard_note(const struct guard_caller *who, const struct guard_outcome *out,
	const char *event, const struct audit_fact *facts, size_t n);

/* The directory where a command would run, and its project: "/" when there is
 * none. */
struct guard_here {
	char cwd[PATH_MAX], workspace[PATH_MAX];
};
/* Fills here, and where, by which the command's session is found; where refers
 * to here and to the caller's environment. The caller's workspace counts, else
 * its cwd, else this process's directory. */
void guard_where(const struct guard_caller *who, struct guard_here *here,
	struct session_where *w);

/* The id of the wanted session, or with NULL of the caller's; the session need
 * not exist yet. */
int guard_session(const struct guard_caller *who, const char *wanted,
	char id[static SESSION_ID_MAX + 1], struct diag *d);

/* The UUID by which the log knows the command; a random one where the log does
 * not have it. */
void guard_correlation(const struct guard_outcome *out, struct buf *uuid);

/* The signal that ended the command, for the caller to repeat; 0: none. */
int guard_exit_signal(const struct guard_outcome *out);

#endif
