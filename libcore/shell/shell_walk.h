/* shell_walk.h - the commands of a shell text, as far as they are plain
 * SPDX-License-Identifier: MIT
 *
 * The text is parsed and each simple command is reported, wherever it stands:
 * in lists, branches, loops, functions, subshells, substitutions, and in code
 * that is handed to eval, trap or a child shell as plain text. A word is plain
 * when it is made of literals, quotes, and variables whose value is plain; all
 * other text is marked as unknown. What is unknown is decided when it starts,
 * by who watches; so this reader need not be sure: a branch is taken to run, a
 * loop to run once, a cd to succeed.
 */
#ifndef WARDBOX_SHELL_WALK_H
#define WARDBOX_SHELL_WALK_H

#include "base/arena.h"
#include "base/diag.h"
#include "shell/shell_ast_in.h"

enum {
	SHELL_MAX_LEVELS = 16, /* shell code inside shell code */
	SHELL_MAX_ROUNDS = 16, /* words of a for loop that are tried singly */
	SHELL_MAX_STEPS = 16384, /* commands; some pieces of words are one */
	SHELL_MAX_WALK = 4 * 1024 * 1024, /* a good maximum for the arena */
};

/* Three bytes stand for unknown text and never occur in known text. SHELL_REL:
 * any text without '/' that does not make "." or ".." with its neighbours: what
 * a glob matches. SHELL_ANY: any text, or none. SHELL_NUM: a whole number
 * without a sign: $!, $$, $?, ${#x}. */
#define SHELL_REL '\1'
#define SHELL_ANY '\2'
#define SHELL_NUM '\6'
/* The same as strings. */
#define SHELL_REL_S "\1"
#define SHELL_ANY_S "\2"
#define SHELL_NUM_S "\6"

/* How much of a word, or an argument, is known. */
enum shell_kind {
	SHELL_CONST,   /* all of it */
	SHELL_BOUNDED, /* it holds SHELL_REL or SHELL_NUM, no SHELL_ANY */
	SHELL_UNKNOWN, /* it holds SHELL_ANY; the rest of it is known */
};

struct shell_val {
	enum shell_kind kind;
	struct shell_str text;
	/* The value stands for any number of arguments, even none: an unquoted
	 * unknown expansion, "$@", a glob. */
	bool many;
	bool glob; /* file names that match a pattern */
	struct shell_span span;
};

/* A variable that is set, or taken away. */
struct shell_set {
	struct shell_str name; /* holds SHELL_ANY when it is not known */
	struct shell_val value;
	bool unset;
	bool prefix; /* name=value command: for that command alone */
	struct shell_span span;
};

/* A file opened by a redirection. Given text (<<, <<<) and pure duplications
 * (2>&1, <&-) are not reported. */
struct shell_open {
	bool reads, writes;
	struct shell_val path;
	struct shell_span span;
};

enum shell_input {
	SHELL_IN_INHERIT, /* the input of the whole line */
	SHELL_IN_PIPE,    /* output of another command, which is not seen */
	SHELL_IN_TEXT,    /* here-document or here-string: .input_text */
	SHELL_IN_FILE,    /* .input_text is the file's path */
	SHELL_IN_UNKNOWN, /* another descriptor, closed, several of these */
};

enum shell_resolve {
	SHELL_IS_PROGRAM,  /* a program, or a builtin without effect here */
	SHELL_IS_BUILTIN,  /* a builtin that may change the shell */
	SHELL_IS_FUNCTION, /* a function, whose body is reported by itself */
};

struct shell_walk;

struct shell_cmd {
	const struct shell_val *argv; /* argc >= 1, after expansion */
	size_t argc;
	const struct shell_set *sets; /* prefix assignments */
	size_t nsets;
	enum shell_resolve resolve;
	/* The directory: absolute, normalised as text; SHELL_ANY where it is
	 * not known. */
	const struct shell_val *cwd;
	enum shell_input input;
	const struct shell_val *input_text;
	struct shell_span span; /* in the outermost text */
};

/* Reasons, beside commands, to leave a decision to the start of programs. */
enum shell_risk {
	SHELL_RISK_NAME,       /* the name of a variable is not known */
	SHELL_RISK_CODE,       /* eval, trap, mapfile -C of unknown text */
	SHELL_RISK_SOURCE,     /* "." */
	SHELL_RISK_ALIAS,      /* an alias is defined */
	SHELL_RISK_INDIRECT,   /* declare -n */
	SHELL_RISK_PROMPT,     /* ${x@P} */
	SHELL_RISK_HASH,       /* hash -p: a name for another file */
	SHELL_RISK_LEVELS,     /* code deeper than SHELL_MAX_LEVELS */
	SHELL_RISK_UNPARSABLE, /* nested text that cannot be read */
	SHELL_RISK_DIALECT,    /* UNION: dash may read it otherwise */
};

/* One line for a person. */
const char *shell_risk_text(enum shell_risk risk);

/* Each callback returns 0 to go on; any other value ends the walk and is
 * returned by shell_walk(). All but command may be NULL. Their arguments live
 * as long as the walk. */
struct shell_walk_ops {
	/* Called for each command in the order of evaluation, after the sets,
	 * opens and substitutions that it contains. From inside it the caller
	 * may use shell_walk_child(). */
	int (*command)(
		void *ctx, struct shell_walk *w, const struct shell_cmd *cmd);
	int (*set)(void *ctx, struct shell_walk *w, const struct shell_set *s);
	int (*open)(void *ctx, struct shell_walk *w, const struct shell_open *o,
		const struct shell_val *cwd);
	/* cd, pushd: the directory of the shell from now on: absolute, as it is
	 * written, so ".." is still in it. (The shells remove it by text;
	 * shell_cmd.cwd is the result.) */
	int (*chdir)(void *ctx, struct shell_walk *w,
		const struct shell_val *target, struct shell_span span);
	/* what: the piece of text for the message. */
	int (*risk)(void *ctx, struct shell_walk *w, enum shell_risk risk,
		struct shell_str what, struct shell_span span);
	/* A variable's value when the line starts: 1 and *value, 0: unset, -1:
	 * not known. NULL: nothing is known. */
	int (*getvar)(
		void *ctx, struct shell_str name, struct shell_str *value);
};

struct shell_walk_opts {
	const char *cwd; /* absolute; NULL: not known */
	/* UNION: the first of bash, dash and ash that can read the text. */
	enum shell_dialect dialect;
	/* $0 and the positional parameters; NULL: none, $0 not known. */
	const struct shell_val *args;
	size_t nargs;
};

/* Reports the commands of a text. 0; -errno as shell_parse() when it cannot be
 * parsed (the part before the error was reported); or a callback's result. */
int shell_walk(struct arena *a, const char *text, size_t len,
	const struct shell_walk_opts *opts, const struct shell_walk_ops *ops,
	void *ctx, struct diag *d);

/* For `sh -c TEXT NAME ARGS…` and similar, from inside ops->command: a new
 * shell that sees the exported variables and the command's own sets. args[0] is
 * $0. env: variables that a wrapper (env A=1 …) adds. clean: env -i. A text
 * that is not known, cannot be read or is too deep is a risk. */
struct shell_child {
	const struct shell_val *text;
	enum shell_dialect dialect;
	const struct shell_val *args;
	size_t nargs;
	const struct shell_set *env;
	size_t nenv;
	bool clean;
	const struct shell_val *cwd; /* NULL: the command's */
};
int shell_walk_child(struct shell_walk *w, const struct shell_child *child);

/* The text, or NULL when a part of it is not known or it stands for several
 * words. */
const struct shell_str *shell_val_text(const struct shell_val *v);

/* The known text before the first unknown byte. */
struct shell_str shell_val_prefix(struct shell_str text);

/* Does the text hold SHELL_ANY (or, with rel, anything not known)? */
bool shell_str_unknown(struct shell_str s, bool rel);

/* The length of the walk: a command is one. */
unsigned shell_walk_steps(const struct shell_walk *w);

#endif
