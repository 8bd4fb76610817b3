/* capture.h - what a shell's command leaves behind, brought back as data
 * SPDX-License-Identifier: MIT
 *
 * The command runs by eval in a fresh shell; when the shell ends, by whatever
 * way that runs its EXIT trap, it calls this binary, which writes the code,
 * the directory and the environment it was given into a memory file that the
 * parent reads after the wait. No pipe can fill up, no background process can
 * hold it open, nothing is parsed by a shell.
 */
#ifndef WARDBOX_CAPTURE_H
#define WARDBOX_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/diag.h"
#include "sys/env.h"
#include "watch/watch.h"

enum {
	CAPTURE_FD = 200, /* high: no shell and no job server uses it */
	CAPTURE_MAX = 1 << 22,
};

enum capture_outcome {
	CAPTURED,
	CAPTURE_NO_DUMP,   /* exec, a lost trap, a closed descriptor */
	CAPTURE_TOO_LARGE, /* beyond what a state holds */
	CAPTURE_KILLED,    /* the shell itself was killed */
};
/* "captured", "no-dump", "too-large", "killed" */
const char *capture_name(enum capture_outcome outcome);

/* 'text' for a shell, whatever it holds. */
void capture_quote(struct buf *out, const char *text);

/* How the call of this binary begins that capture_wrap() writes. */
extern const char *const capture_argv[];

/* What the text around a command depends on. */
struct capture_before {
	unsigned code;      /* what $? is when the command starts */
	const char *prefix; /* of builtins: "\\", or "\\builtin " in shells where
			     * a function may have such a name */
	bool trap_tells;    /* a shell that ends with what its trap ended with */
	const char *oldpwd; /* for a shell that does not take it from the
			     * environment; else NULL */
};

/* Builds the text for -c around the command that will be $1. self: this
 * binary's absolute path; becomes: the shell may execute self in its own place, as
 * it goes on, or runs its trap, where that fails. */
void capture_wrap(struct buf *out, const char *self,
	const struct capture_before *before, bool becomes);

/* A memory file at CAPTURE_FD, not close-on-exec: the command's shell inherits
 * it. -errno. */
int capture_open(struct diag *d);

/* In the dumping process: writes its own state, of which env is the
 * environment, to CAPTURE_FD. code, as a number, is the command's, and what the
 * process is to end with, come what may. */
int capture_dump(const char *code, char *const *env);

/* For a shell that executes another program in its own place, where no trap
 * runs: what that program is given is written for it, by the supervisor. */
struct capture_exec {
	int shell; /* the shell as it was seen last; ends with its memory */
};
#define CAPTURE_EXEC_INIT ((struct capture_exec){.shell = -1})
void capture_exec_release(struct capture_exec *x);
#define autocapture_exec autoclean(capture_exec_release)
void capture_exec(struct capture_exec *x, const struct watch_event *ev);

struct capture {
	unsigned code;
	char *cwd; /* points into text */
	struct env env;
	struct buf text;
};
#define CAPTURE_INIT ((struct capture){.text = BUF_INIT(CAPTURE_MAX)})
void capture_release(struct capture *c);
#define autocapture autoclean(capture_release)

/* Reads what was dumped to CAPTURE_FD and closes it. env_max: bytes of
 * environment that may be kept. */
enum capture_outcome capture_read(
	struct capture *c, size_t env_max, size_t vars_max);

/* The same of a shell that could change nothing: what dir, which is its cwd, or
 * -1, is called now, and the environment it was given, or NULL for none. */
enum capture_outcome capture_given(struct capture *c, const char *cwd, int dir,
	char *const *env, size_t env_max, size_t vars_max);

#endif
