/* shell_walk.h - every command a shell text can run, with what is known of it
 * SPDX-License-Identifier: MIT
 *
 * An abstract run: all branches are taken, words become sets of texts, and
 * whatever would run is reported to the caller, who judges. Reachability is
 * ignored. The walker itself knows what changes the shell: assignments, cd,
 * pushd, export, declare, local, read, mapfile, unset, set, shift, getopts,
 * printf -v, alias, eval, ".", source, trap, let, test -v, exec, exit, return,
 * also behind `command` and `builtin`, and functions. Everything else (what a
 * program is, which operands are paths, wrappers, nested `sh -c`) is for the
 * caller, who hands nested shell code back with shell_walk_child().
 */
#ifndef WARDBOX_SHELL_WALK_H
#define WARDBOX_SHELL_WALK_H

#include "base/arena.h"
#include "base/diag.h"
#include "shell/shell_ast_in.h"

enum {
	SHELL_MAX_ALTS = 16,   /* texts in one value */
	SHELL_MAX_LEVELS = 16, /* shell code inside shell code */
	SHELL_MAX_CALLS = 8,   /* functions inside functions */
	SHELL_MAX_VARS = 256,
	SHELL_MAX_FUNCS = 512, /* definitions, also by a join */
	SHELL_MAX_WALK = 4 * 1024 * 1024, /* a good maximum for the arena */
};

/* Three bytes stand for text that is not known. They are never in known text.
 *  SHELL_REL  text, or none, without '/', that does not make "." or ".." with
 *             its neighbours: what a glob matches;
 *  SHELL_ANY  any text, or none;
 *  SHELL_NUM  a whole number, without a sign: $!, $$, $?, ${#x}. */
#define SHELL_REL '\1'
#define SHELL_ANY '\2'
#define SHELL_NUM '\6'
/* As texts. */
#define SHELL_REL_S "\1"
#define SHELL_ANY_S "\2"
#define SHELL_NUM_S "\6"

/* What one word, or argument, may be: one of alts. */
enum shell_kind {
	SHELL_CONST,   /* one text, all of it known */
	SHELL_SET,     /* several, all of them known */
	SHELL_BOUNDED, /* some hold SHELL_REL or SHELL_NUM, none SHELL_ANY */
	SHELL_UNKNOWN, /* some hold SHELL_ANY; what stands beside it is known */
};

struct shell_val {
	enum shell_kind kind;
	unsigned n; /* 1..SHELL_MAX_ALTS */
	const struct shell_str *alts;
	/* Stands for any number of arguments (none, too), each one of alts:
	 * an unquoted expansion that splits, "$@", a glob. */
	bool many;
	bool vanishes; /* an empty text is no argument at all */
	bool glob;   /* alts come from file names that match a pattern */
	bool array;  /* NAME=(...) of a declaration, whose words are judged */
	struct shell_span span;
};

/* A variable that is set, or taken away. */
struct shell_set {
	struct shell_str name; /* holds SHELL_ANY when it is not known */
	struct shell_val value;
	bool unset;
	bool prefix; /* name=value command: for that one alone */
	struct shell_span span;
};

/* A file opened by a redirection. Text that is given (<<, <<<) and pure
 * duplications (2>&1, <&-) are not reported. */
struct shell_open {
	bool reads, writes;
	struct shell_val path;
	struct shell_span span;
};

enum shell_input {
	SHELL_IN_INHERIT, /* what the whole line was given */
	SHELL_IN_PIPE,    /* output of another command: unseen */
	SHELL_IN_TEXT,    /* here-document or here-string: .input_text */
	SHELL_IN_FILE,    /* .input_text is its path */
	SHELL_IN_UNKNOWN, /* another descriptor, closed, several of these */
};

enum shell_resolve {
	SHELL_IS_PROGRAM,  /* a program, or a builtin without effect here */
	SHELL_IS_BUILTIN,  /* one whose effect on the shell the walker models */
	SHELL_IS_FUNCTION, /* its body is reported by itself */
	SHELL_IS_EITHER,   /* a function on some way only: judge it as a program
			    */
};

struct shell_state;
struct shell_walk;

struct shell_cmd {
	const struct shell_val *argv; /* argc >= 1, after expansion */
	size_t argc;
	const struct shell_set *sets; /* prefix assignments */
	size_t nsets;
	enum shell_resolve resolve;
	/* Where it may stand: absolute texts, normalised as far as text goes;
	 * SHELL_ANY in one that is not known. */
	const struct shell_val *cwd;
	enum shell_input input;
	const struct shell_val *input_text;
	enum shell_dialect dialect; /* the reading it comes from */
	bool second; /* … is not the text's first: only some shells run it */
	struct shell_span span;     /* in the outermost text */
	struct shell_span at;       /* in the text it stands in */
};

/* What the walker alone can tell. Each is a reason to deny, but for the ones
 * of which another verdict is said. Texts and rules stand elsewhere in this
 * order. */
enum shell_risk {
	SHELL_RISK_DYNAMIC,   /* command word not known */
	SHELL_RISK_NAME,      /* variable or function name not known */
	SHELL_RISK_CODE,      /* eval, trap, mapfile -C of unknown text */
	SHELL_RISK_SOURCE,    /* "." of a file whose text is not at hand */
	SHELL_RISK_ALIAS,     /* an alias is defined */
	SHELL_RISK_IFS,       /* own IFS and an unquoted expansion */
	SHELL_RISK_SUBSCRIPT, /* a subscript that would run a command */
	SHELL_RISK_ARITH,    /* arithmetic over an unknown text: "unresolved" */
	SHELL_RISK_INDIRECT, /* ${!x} of an unknown name, declare -n */
	SHELL_RISK_PROMPT,   /* ${x@P} and the like */
	SHELL_RISK_OPTION,   /* set -k, set -H, shopt of what changes reading */
	SHELL_RISK_SHADOW,   /* a function named as a builtin */
	SHELL_RISK_HASH,     /* hash -p, BASH_CMDS: a name for another file */
	SHELL_RISK_NONASCII, /* a command word that is not ASCII */
	SHELL_RISK_RECURSION,  /* functions deeper than SHELL_MAX_CALLS */
	SHELL_RISK_LEVELS,     /* code deeper than SHELL_MAX_LEVELS */
	SHELL_RISK_UNPARSABLE, /* nested text that no shell can read */
	SHELL_RISK_LIMIT, /* more variables, alternatives … than are held */
};

/* One line for a person. */
const char *shell_risk_text(enum shell_risk risk);

/* Each callback returns 0 to go on; anything else ends the walk and is what
 * shell_walk() returns. All but command may be NULL. What they are given
 * lives as long as the walk. */
struct shell_walk_ops {
	/* Called for each command in the order of evaluation, after the sets,
	 * opens and substitutions that it contains. From inside it the caller
	 * may use shell_walk_child(). */
	int (*command)(
		void *ctx, struct shell_walk *w, const struct shell_cmd *cmd);
	int (*set)(void *ctx, struct shell_walk *w, const struct shell_set *s);
	int (*open)(void *ctx, struct shell_walk *w, const struct shell_open *o,
		const struct shell_val *cwd);
	/* cd, pushd: where the shell may stand from now on: absolute, as it is
	 * written, so ".." is still in it. (The shells take it away by text;
	 * shell_cmd.cwd is what they then have.) */
	int (*chdir)(void *ctx, struct shell_walk *w,
		const struct shell_val *target, struct shell_span span);
	/* what: the piece of text it is about, for the message. */
	int (*risk)(void *ctx, struct shell_walk *w, enum shell_risk risk,
		struct shell_str what, struct shell_span span);
	/* The text of a file that "." reads; path as written. 0 and *text (it
	 * must live as long as the walk), or -errno: then RISK_SOURCE. */
	int (*source)(void *ctx, struct shell_walk *w,
		const struct shell_val *path, const struct shell_val *cwd,
		struct shell_str *text);
	/* A variable's value when the line starts: 1 and *value, 0 it is unset,
	 * -1 not known. NULL: nothing is known. */
	int (*getvar)(
		void *ctx, struct shell_str name, struct shell_str *value);
	/* Is this a directory, and still one when the line gets here, so that
	 * a cd to it cannot fail? Asked in dry runs, too. */
	bool (*is_dir)(void *ctx, const struct shell_val *dir);
};

struct shell_walk_opts {
	const char *cwd; /* absolute; NULL: not known */
	enum shell_dialect dialect;
	/* $0 and the positional parameters; NULL: none, $0 not known. */
	const struct shell_val *args;
	size_t nargs;
};

/* Walks every reading of text. 0 when all was reported; -errno as
 * shell_parse() when a reading that counts cannot be parsed: the text must be
 * refused then, whatever was reported before; or what a callback returned.
 * (In SHELL_UNION the readings of dash and ash may end in a syntax error: what
 * they would have run before it is reported.) */
int shell_walk(struct arena *a, const char *text, size_t len,
	const struct shell_walk_opts *opts, const struct shell_walk_ops *ops,
	void *ctx, struct diag *d);

/* For `sh -c TEXT NAME ARGS…` and its like, from inside ops->command: a new
 * shell that sees the exported variables and the command's own sets. args[0]
 * is $0. env: what a wrapper (env A=1 …) adds. clean: env -i. A text that is
 * not known, cannot be read or is too deep is a risk. */
struct shell_child {
	const struct shell_val *text; /* every alternative is walked */
	enum shell_dialect dialect;
	const struct shell_val *args;
	size_t nargs;
	const struct shell_set *env;
	size_t nenv;
	bool clean;
	const struct shell_val *cwd; /* NULL: the command's */
};
int shell_walk_child(struct shell_walk *w, const struct shell_child *child);

/* The only text, or NULL when there are several or it is not all known. */
const struct shell_str *shell_val_text(const struct shell_val *v);

/* The known text before the first unknown byte of one alternative. */
struct shell_str shell_val_prefix(struct shell_str alt);

/* Does the text hold SHELL_ANY (or, with rel, anything not known)? */
bool shell_str_unknown(struct shell_str s, bool rel);

/* How much was walked: a command is one. */
unsigned shell_walk_steps(const struct shell_walk *w);

#endif
