/* shell_plain_in.h - what the files of the plain reader share
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_SHELL_PLAIN_IN_H
#define WARDBOX_SHELL_PLAIN_IN_H

#include <errno.h>

#include "shell/shell_walk.h"

/* Bytes that mean "not known" here. */
#define PLAIN_MARKS "\1\2\3\4\5\6"
#define PLAIN_BLANKS " \t\n"

enum {
	PLAIN_BUCKETS = 16,
	PLAIN_PARTS = 8, /* as many pieces of words are a step */
};

/* A variable as the text set it last, or a function. */
struct plain_var {
	struct shell_str name;
	struct shell_str value; /* of UNKNOWN with SHELL_ANY in it */
	enum { PLAIN_KNOWN, PLAIN_UNKNOWN, PLAIN_UNSET, PLAIN_FUNC } is;
	bool exported;
	const struct plain_var *next;
};

/* Lists of them, the newest first. They grow at their heads alone, so that a
 * copy of the heads is a copy of all. */
struct plain_names {
	const struct plain_var *of[PLAIN_BUCKETS];
};

/* What a shell knows at one place of the text. */
struct plain_state {
	struct plain_names names;
	struct shell_val cwd;
	enum shell_input input;
	const struct shell_val *input_text;
	const struct shell_val *args; /* $0 $1 …; NULL: not known */
	size_t nargs;
	bool bare;    /* its environment was emptied */
	bool exports; /* set -a */
};

struct shell_walk {
	struct arena *a;
	const struct shell_walk_ops *ops;
	void *ctx;
	struct plain_state st;
	enum shell_dialect dialect;
	struct plain_names later; /* every function of the text, also later */
	unsigned level;           /* shell code inside of shell code */
	unsigned bodies;          /* functions and traps around this place */
	unsigned rounds;          /* of all for loops around it, multiplied */
	unsigned parts, steps;
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
/* One more command; false when there are too many. */
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

/* shell_plain_name.c: what is known of names. */
const struct plain_var *plain_named(
	const struct plain_names *names, struct shell_str name, bool func);
void plain_push(
	struct shell_walk *w, struct plain_names *names, struct plain_var v);
void plain_define(struct shell_walk *w, struct plain_names *names,
	struct shell_str func);
/* The variable; in *room where the text did not set it. */
const struct plain_var *plain_find(
	struct shell_walk *w, struct shell_str name, struct plain_var *room);
/* value NULL: taken away. Reports nothing. */
void plain_assign(struct shell_walk *w, struct shell_str name,
	const struct shell_val *value, bool exported);
/* What the way at hand changed since start is not known in to. */
void plain_merge(struct shell_walk *w, struct plain_state *to,
	const struct plain_state *start);
/* The state before, less what the way at hand changed. */
void plain_join(struct shell_walk *w, const struct plain_state *before);
/* Leaves what a new shell sees: the exported variables; clean: none. */
void plain_inherit(struct shell_walk *w, bool clean);
/* Parts that are calculated, and the names that this sets. */
void plain_arith(struct shell_walk *w, const struct shell_part *parts,
	struct shell_span span);
void plain_calculate(
	struct shell_walk *w, struct shell_str text, struct shell_span span);
/* Notes the functions that a list defines, also those that it defines later. */
void plain_find_funcs(struct shell_walk *w, const struct shell_list *list);

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
/* The target of a redirection: one text, which may be a pattern. */
struct shell_val plain_target(
	struct shell_walk *w, const struct shell_word *word);

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
/* Does it run code, which sees what is assigned before it? */
bool plain_keeps(struct shell_str name);

#endif
