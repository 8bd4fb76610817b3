/* shell_plain_in.h - what the files of the plain reader share
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_SHELL_PLAIN_IN_H
#define WARDBOX_SHELL_PLAIN_IN_H

#include <errno.h>

#include "shell/shell_walk.h"

/* A variable as the text set it last; the newest stands first in its list. */
struct plain_var {
	struct shell_str name;
	struct shell_str value;
	enum { PLAIN_KNOWN, PLAIN_UNKNOWN, PLAIN_UNSET } is;
	bool exported;
	const struct plain_var *next;
};

struct plain_func {
	struct shell_str name;
	const struct plain_func *next;
};

/* What a shell knows at one place of the text. Lists grow at their head alone,
 * so that a copy of the struct is a copy of the state. */
struct plain_state {
	const struct plain_var *vars;
	const struct plain_func *funcs;
	struct shell_val cwd;
	enum shell_input input;
	const struct shell_val *input_text;
	const struct shell_val *args; /* $0 $1 …; NULL: not known */
	size_t nargs;
	bool bare; /* its environment was emptied */
};

struct shell_walk {
	struct arena *a;
	const struct shell_walk_ops *ops;
	void *ctx;
	struct plain_state st;
	enum shell_dialect dialect;
	const struct plain_func *all; /* every function of the text, also later */
	unsigned level;               /* shell code inside of shell code */
	unsigned bodies;              /* functions around this place */
	unsigned steps;
	struct shell_span outer; /* of nested code: the command it stands in */
	int err;
	const struct shell_cmd *cmd; /* in whose callback we are */
};

struct plain_args {
	struct shell_val *v;
	size_t n, max;
};

/* Where a place of the text at hand is in the outermost text. */
static inline struct shell_span plain_span(
	const struct shell_walk *w, struct shell_span at)
{
	return w->level ? w->outer : at;
}

/* Sets w->err, once; NULL. */
void *plain_stop(struct shell_walk *w, int err);
/* n zeroed bytes; NULL stops the walk. */
void *plain_zalloc(struct shell_walk *w, size_t n);
#define plain_new(w, type) ((type *)plain_zalloc((w), sizeof(type)))
/* One more command or word; false when there are too many. */
bool plain_step(struct shell_walk *w);

/* shell_plain.c: nodes. The state stays as the list leaves it. */
void plain_list(struct shell_walk *w, const struct shell_list *list);
/* The same in a shell of its own, whose state is lost. */
void plain_apart(struct shell_walk *w, const struct shell_node *node,
	const struct shell_list *list, enum shell_input input);
/* Text that a command holds, in the state at hand. */
void plain_nested(struct shell_walk *w, struct shell_str text,
	enum shell_dialect dialect, struct shell_span span);
void plain_risk(struct shell_walk *w, enum shell_risk risk,
	struct shell_str what, struct shell_span span);
/* What one of two ways changed is not known behind them: the state is that of
 * the way at hand, before is that of the other. */
void plain_join(struct shell_walk *w, const struct plain_state *before);

/* shell_plain_word.c: words to values. */
struct shell_val plain_val(struct shell_str text);
/* An absolute path without ".", ".." and empty parts, as text goes. */
struct shell_val plain_normal(struct shell_walk *w, struct shell_val path);
void plain_add(struct shell_walk *w, struct plain_args *to, struct shell_val v);
/* As arguments: split, with braces and globs. */
void plain_words(struct shell_walk *w, const struct shell_word *word,
	struct plain_args *to);
/* As one text: an assignment's value, a target, a pattern. */
struct shell_val plain_one(struct shell_walk *w, const struct shell_word *word);
/* The same of parts that stand in quotes: here-documents, arithmetic. */
struct shell_val plain_quoted(struct shell_walk *w, const struct shell_part *parts,
	struct shell_span span);
const struct plain_var *plain_find(
	struct shell_walk *w, struct shell_str name, struct plain_var *room);
/* value NULL: taken away. Reports nothing. */
void plain_assign(struct shell_walk *w, struct shell_str name,
	const struct shell_val *value, bool exported);

/* shell_plain_cmd.c: simple commands, redirections, and what they change. */
void plain_simple(struct shell_walk *w, const struct shell_node *node);
void plain_redirs(struct shell_walk *w, const struct shell_redir *r);
/* bash runs the command in a[$(command)] where it takes text for the name of a
 * variable: for read, test -v, arithmetic. */
void plain_subscript(
	struct shell_walk *w, struct shell_str s, struct shell_span span);
/* Reports an assignment and carries it out. */
void plain_set(struct shell_walk *w, const struct shell_set *set, bool exported);

/* shell_plain_builtin.c: what the shell's own command of this name does to the
 * state; false when it is none that changes the shell. */
bool plain_builtin(struct shell_walk *w, const struct shell_val *v, size_t n,
	struct shell_span span);
bool plain_is_builtin(struct shell_str name);
/* Does the command take NAME=VALUE as assignments? */
bool plain_declares(struct shell_str name);

#endif
