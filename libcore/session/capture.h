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
	CAPTURE_FD = 200, /* so high that no shell and no job server uses it */
	CAPTURE_MAX = 1 << 22,
};

enum capture_outcome {
	CAPTURED,
	CAPTURE_NO_DUMP,   /* no dump: exec, a lost trap, a closed descriptor */
	CAPTURE_TOO_LARGE, /* larger than a state may be */
	CAPTURE_KILLED,    /* the shell itself was killed */
};
/* "captured", "no-dump", "too-large", "killed" */
const char *capture_name(enum capture_outcome outcome);

/* Quotes text for a shell, whatever it holds. */
void capture_quote(struct buf *out, const char *text);

/* The first arguments of the call of this binary that capture_wrap() writes. */
extern const char *const capture_argv[];

/* The facts on which the text around a command depends. */
struct capture_before {
	unsigned code;      /* $? when the command starts */
	const char *prefix; /* of builtins: "\\", or "\\builtin " in shells where
			     * a function may have such a name */
	bool trap_tells;    /* the shell ends with the code of its trap */
	const char *oldpwd; /* OLDPWD for a shell that does not take it from the
			     * environment; else NULL */
};

/* Builds the text for -c around the command, which will be $1. self: this
 * binary's absolute path; becomes: the shell may execute self in its own place,
 * because it goes on, or runs its trap, if that fails. */
void capture_wrap(struct buf *out, const char *self,
	const struct capture_before *before, bool becomes);

/* Opens a memory file at CAPTURE_FD, not close-on-exec, so that the command's
 * shell inherits it. -errno. */
int capture_open(struct diag *d);

/* In the dumping process: writes its own state and env to CAPTURE_FD. code, a
 * number, is the command's, and this process ends with it in any case. */
int capture_dump(const char *code, char *const *env);

/* For a shell that executes another program in its own place, where no trap
 * runs: the supervisor writes what that program is given. */
struct capture_exec {
	int shell; /* the last shell that was seen; ends with its memory */
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

/* Reads the dump at CAPTURE_FD and closes it. env_max: bytes of environment
 * that may be kept. */
enum capture_outcome capture_read(
	struct capture *c, size_t env_max, size_t vars_max);

/* The same for a shell that could change nothing: the present name of dir,
 * which is its cwd, or -1, and the environment that it was given, or NULL for
 * none. */
enum capture_outcome capture_given(struct capture *c, const char *cwd, int dir,
	char *const *env, size_t env_max, size_t vars_max);

#endif
