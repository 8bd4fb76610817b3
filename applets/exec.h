/* exec.h - what a command asks of a session, and what comes back
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_EXEC_H
#define WARDBOX_EXEC_H

#include <limits.h>

#include "cli/cli.h"
#include "cli/cli_guard.h"

struct exec_opts {
	bool pty, json, unattended, detach, keep, dry;
	const char *argv0, *cwd, *input, *server, *token, *cert;
	unsigned report;
	uint64_t timeout, approver;
	/* A wish for less than the policy grants. */
	bool read_only, offline;
	struct cli_list write, protect, hide;
	unsigned environment;
	bool request;
};

/* Everything of one call: nothing in it depends on how it travels. */
struct exec_request {
	const char *session; /* NULL: the one of this place */
	const char *cwd;     /* below the session's; NULL: there */
	const char *argv0;   /* NULL: the command's own */
	char **command;      /* NULL-terminated */
	uint64_t timeout_ns;
	bool pty;
	const char *server; /* its socket; NULL: none */
	const char *token;  /* the file that has it; NULL: beside the socket */
	const char *cert;   /* of a server by URL */
	bool detach;        /* the server goes on with it; its id is told */
	bool unattended; /* no person sits at its terminal */
	bool keep; /* what it leaves running outlives whoever called */
	uint64_t approver_ns; /* a question waits so long for approve; 0: no */
	const struct guard_narrow *narrow; /* NULL: all that the policy grants */
	char *const *env; /* variables for the command; NULL: none */
	bool request;    /* wardbox does what the words say, as stdin asks */
	int report;      /* a program is told there how it went; 0: none is */
	bool dry;     /* what it changes is thrown away */
	bool capture; /* the output goes to the reply and nowhere else */
};

struct exec_reply {
	int signal;      /* that ended the command; 0 */
	struct buf out, err; /* at most EXEC_OUTPUT_MAX of each are kept */
	char uuid[40];
	char id[24];     /* at the server, of one that is detached from */
	struct guard_outcome result;
	char path[PATH_MAX]; /* the program; "" when it was not found */
	char cwd[PATH_MAX];
	struct guard_here here; /* where the caller is: its session is found by it */
};

enum { EXEC_OUTPUT_MAX = 64 << 20 };

/* How a request gets to its session: within this process, or to a server. 0: reply is filled, whether or not anything
 * ran; else -errno with d. */
struct exec_transport {
	const char *name;
	int (*call)(const struct exec_request *q, struct exec_reply *reply,
		struct diag *d);
};
extern const struct exec_transport exec_local;
extern const struct exec_transport exec_server;

/* The asker of a person elsewhere: a question of the policy waits in the queue,
 * and the reader of the report is told its id. */
struct exec_asker {
	const struct exec_request *q;
	const struct exec_reply *reply;
};
void exec_approver(struct guard_caller *caller, struct exec_asker *asker,
	const struct exec_request *q, const struct exec_reply *reply);

/* The options' word about the command's rights and variables; it lasts as long
 * as the options. */
int exec_wish(const struct exec_opts *o, struct exec_request *q, struct diag *d);

/* Takes back what a command changed, and tells it unless it was told; a failure
 * is the code of the reply. */
void exec_throw_away(struct exec_reply *reply, bool told);

/* The contract's ShellExecutionResult. */
void exec_print_json(
	const struct exec_request *q, const struct exec_reply *reply);
/* The same without the command's words and output, written to fd. */
void exec_report(const struct exec_reply *reply, int fd);
/* Before it: the id of a question that waits, or "" once it does no more. */
void exec_report_question(const char *id, int fd);

#endif
