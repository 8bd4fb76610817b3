/* envrun.h - what the files of envrun share
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_ENVRUN_H
#define WARDBOX_ENVRUN_H

#include "applet.h"
#include "session/capture.h"
#include "cli/cli_guard.h"
#include "base/json.h"
#include "sys/state.h"

enum {
	ENVRUN_OUTPUT_MAX = 16 << 20, /* of each stream, in JSON */
	/* JSON may spell one byte with six. */
	ENVRUN_JSON_MAX = 12 * ENVRUN_OUTPUT_MAX + (64 << 20),
};

struct envrun {
	bool json, strict, diff, repl, serve, nul, trace_exec;
	const char *session, *state_file, *shell;
	uint64_t timeout;
	struct cli_list keep;
	/* resolved once */
	char id[SESSION_ID_MAX + 1];
	pid_t holder; /* with which what lines leave running ends; 0: a login */
	const char *workspace;           /* the project's root */
	int dir;                         /* where the state is kept */
	struct buf *typed;               /* keys that no command read */
	struct state state;              /* as the last command left it */
	/* Behind what is always used: so many pages less are touched. */
	char file_name[STATE_PATH_MAX];  /* of --state, in dir; "" for a session */
	char shell_path[STATE_PATH_MAX];
	char self[STATE_PATH_MAX];
};

/* The outcome of a command: its end, and the changes that it left. */
struct envrun_outcome {
	enum capture_outcome capture;
	struct buf stdout_text, stderr_text; /* with json */
	struct buf stripped;                 /* names, a space between two */
	struct buf changes;                  /* for --diff */
	struct buf notes;                    /* a directory that vanished … */
	struct guard_outcome guard;           /* large, so last */
};

/* Fill .shell_path and .self; do not return without. */
void envrun_find_shell(struct envrun *e);
void envrun_find_self(struct envrun *e);

/* Runs line in the session, saves what it left. The exit code. */
int envrun_line(
	struct envrun *e, const char *line, struct envrun_outcome *out);
void envrun_outcome_release(struct envrun_outcome *out);

/* argv as a record shows it: the shell, and the text that it was asked to run. */
enum { ENVRUN_ARGV_MAX = 10 };
void envrun_shell_argv(const struct envrun *e, const char *text,
	char *argv[static ENVRUN_ARGV_MAX]);
/* Runs the line in a shell and takes over what that leaves. q and carry are copies,
 * which are completed there. */
void envrun_shell(struct envrun *e, struct guard_request q,
	struct guard_carry carry, const char *line,
	struct envrun_outcome *out);

/* The command went on from state's environment, and left that: only where it
 * stood then is taken over. */
void envrun_take_place(struct envrun *e, const struct capture *c,
	struct envrun_outcome *out);
/* Takes what was captured of q's command into the state, and says in out what
 * changed; on doubt the old state stays. */
void envrun_take_over(struct envrun *e, const struct guard_request *q,
	struct capture *c, struct envrun_outcome *out);
/* Notes and records that q's command ran and nothing could be captured of it. */
void envrun_lost(const struct guard_request *q, struct envrun_outcome *out);
/* A change of directory, as a line of .changes; nothing when it is none. */
void envrun_note_move(struct buf *out, const char *from, const char *to);

/* The outcome for people, on stderr. */
void envrun_tell(const struct envrun *e, const struct envrun_outcome *out);

/* The outcome as one line of JSON. */
void envrun_json(const struct envrun *e, const char *line,
	struct envrun_outcome *out, struct buf *text);

/* Prints a failure before the start as a line of JSON; adds the members that
 * tell it. */
void envrun_refuse(int code, const struct diag *d);
void envrun_put_error(struct json *j, const struct diag *d);

/* Reads the state anew; another process may have changed it. 0, -errno. */
int envrun_load(struct envrun *e, struct diag *d);

/* The wrapped shell's work at the end of the line. */
enum envrun_end {
	ENVRUN_END_SAME,  /* nothing: no line can leave less */
	ENVRUN_END_DUMPS, /* it may become the program that dumps */
	ENVRUN_END_TRAPS, /* it may have an EXIT trap of its own, which a shell
			     that becomes another program does not run */
};
enum envrun_end envrun_end_of(const char *line);

/* Loops: for people on a terminal, for programs on stdin. */
int envrun_repl(struct envrun *e);
int envrun_serve(struct envrun *e);

#endif
