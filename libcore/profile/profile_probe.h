/* profile_probe.h - a program run to see what it says, and never waited for
 * longer than was said
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_PROFILE_PROBE_H
#define WARDBOX_PROFILE_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/diag.h"
#include "profile/profile_files.h"
#include "profile/shellkind.h"

struct profile_run {
	const char *path;
	char *const *argv;
	char *const *env;
	const char *cwd; /* or NULL for "/" */
	int in;          /* its stdin; -1: /dev/null */
	int keep;        /* a descriptor it inherits under its own number; -1 */
	bool with_stderr; /* collected too; else it goes nowhere */
	uint64_t timeout; /* nanoseconds */
	/* An answer that may come another way: a pipe's end, or -1. The run is
	 * over when what came through it ends with the mark. */
	int answer_fd;
	struct buf *answer;
	const char *mark;
	size_t mark_len;
};

struct profile_ran {
	int status; /* as of wait; -1 when it was ended by us */
	bool timed_out;
	bool answered;
	unsigned ms;
};

/* Runs it in a session of its own; what it prints goes to out, cut at out's
 * maximum. Ends when it does, or with the answer, or at the time limit: what
 * it left running holds nothing up, and is killed with all its descendants.
 * -errno when it could not be started. */
int profile_run(const struct profile_run *run, struct buf *out,
	struct profile_ran *ran);

enum profile_probe_status {
	PROBE_OK,
	PROBE_TIMEOUT,
	PROBE_NO_ANSWER, /* it ended without running the command */
	PROBE_FAILED,    /* it could not be started */
};

const char *profile_probe_name(enum profile_probe_status status);

struct profile_probe {
	enum profile_probe_status status;
	unsigned ms;
	struct buf env;   /* NUL-ended strings; released by the caller */
	struct buf noise; /* what it printed by itself */
};

struct profile_shell {
	enum shell_kind kind;
	const char *path; /* of the program */
	const char *home, *user;
	const char *term_path; /* the PATH it is given */
	uint64_t timeout;
	bool remote; /* look like a command given to sshd */
};

/* Starts the shell as session (a SESSION_ bit) would and asks it for its
 * environment, which this very binary writes (see profile_answer). */
int profile_probe(const struct profile_shell *shell, unsigned session,
	struct profile_probe *probe);
void profile_probe_release(struct profile_probe *probe);

/* The other side: writes env to the pipe at path. */
int profile_answer(const char *path, char *const *env);

/* The version of the shell, as it says; -ENOENT when it has none to say. */
int profile_shell_version(
	const struct profile_shell *shell, char *out, size_t size);

/* Does the text parse? 0; 1 with d (line, what the shell says); -ENOENT when
 * the shell is not here. path is the shell's program, or NULL to look for it
 * where programs are. */
int profile_syntax(enum shell_kind kind, const char *path, const char *text,
	size_t n, struct diag *d);

/* Looks for the program of a shell in the usual places; "" where it is not. */
int profile_shell_find(const char *name, char *out, size_t size);

#endif
