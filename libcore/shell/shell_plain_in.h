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
	PLAIN_PARTS = 8, /* so many pieces of words count as a step */
};

/* A variable as the text set it last, or a function. */
struct plain_var {
	struct shell_str name;
	struct shell_str value; /* of UNKNOWN with SHELL_ANY in it */
	enum { PLAIN_KNOWN, PLAIN_UNKNOWN, PLAIN_UNSET, PLAIN_FUNC } is;
	bool exported;
	const struct plain_var *next;
};

/* Lists of variables, newest first. They grow only at their heads, so a copy of
 * the heads is a copy of everything. */
struct plain_names {
	const struct plain_var *of[PLAIN_BUCKETS];
};

/* The knowledge about a shell at one place of the text. */
struct plain_state {
	struct plain_names names;
	struct shell_val cwd;
	enum shell_input input;
	const struct shell_val *input_text;
	const struct shell_val *args; /* $0 $1 …; NULL: not known */
	size_t nargs;
	bool bare;    /* the environment was emptied */
	bool exports; /* set -a */
};

struct shell_walk {
	struct arena *a;
	const struct shell_walk_ops *ops;
	void *ctx;
	struct plain_state st;
	enum shell_dialect dialect;
	struct plain_names later; /* every function of the text, even a later
				   * one */
	unsigned level;           /* shell code inside of shell code */
	unsigned bodies;          /* functions and traps around this place */
	unsigned rounds;          /* rounds of all for loops around,
				   * multiplied */
	unsigned parts, steps;
	struct shell_span outer; /* of nested code: the command that holds it */
	int err;
	const struct shell_cmd *cmd; /* the command whose callback runs */
};

struct plain_args {
	struct shell_val *v;
	size_t n, max;
};

/* The place in the outermost text. */
static inline struct shell_span plain_span(
	const struct shell_walk *w, struct shell_span at)
{
	return w->level ? w->outer : at;
}

/* Sets w->err, if it is not set. Returns NULL. */
void *plain_stop(struct shell_walk *w, int err);
/* n zeroed bytes; NULL stops the walk. */
void *plain_zalloc(struct shell_walk *w, size_t n);
#define plain_new(w, type) ((type *)plain_zalloc((w), sizeof(type)))
/* One more command; false when there are too many. */
bool plain_step(struct shell_walk *w);

/* shell_plain.c: walks a list. The state stays as the list leaves it. */
void plain_list(struct shell_walk *w, const struct shell_list *list);
/* Walks in a subshell, whose state is lost. */
void plain_apart(struct shell_walk *w, const struct shell_node *node,
	const struct shell_list *list, enum shell_input input);
/* Walks text that a command holds, in the current state. */
void plain_nested(struct shell_walk *w, struct shell_str text,
	enum shell_dialect dialect, struct shell_span span);
void plain_risk(struct shell_walk *w, enum shell_risk risk,
	struct shell_str what, struct shell_span span);

/* The facts about names. */
const struct plain_var *plain_named(
	const struct plain_names *names, struct shell_str name, bool func);
void plain_push(
	struct shell_walk *w, struct plain_names *names, struct plain_var v);
void plain_define(struct shell_walk *w, struct plain_names *names,
	struct shell_str func);
/* Finds a variable; if the text did not set it, the result is in *room. */
const struct plain_var *plain_find(
	struct shell_walk *w, struct shell_str name, struct plain_var *room);
/* Sets a variable; value NULL: unset. Reports nothing. */
void plain_assign(struct shell_walk *w, struct shell_str name,
	const struct shell_val *value, bool exported);
/* Makes unknown in to what the current way changed since start. */
void plain_merge(struct shell_walk *w, struct plain_state *to,
	const struct plain_state *start);
/* Goes back to the state before, without what the current way changed. */
void plain_join(struct shell_walk *w, const struct plain_state *before);
/* Leaves what a new shell sees: exported variables; clean: nothing. */
void plain_inherit(struct shell_walk *w, bool clean);
/* Expands parts that are calculated, and sets the names that the calculation
 * assigns. */
void plain_arith(struct shell_walk *w, const struct shell_part *parts,
	struct shell_span span);
void plain_calculate(
	struct shell_walk *w, struct shell_str text, struct shell_span span);
/* Notes the functions that a list defines, even later ones. */
void plain_find_funcs(struct shell_walk *w, const struct shell_list *list);

/* shell_plain_word.c: words to values. */
struct shell_val plain_val(struct shell_str text);
/* The path absolute, without ".", ".." and empty parts, by its text alone. */
struct shell_val plain_normal(struct shell_walk *w, struct shell_val path);
void plain_add(struct shell_walk *w, struct plain_args *to, struct shell_val v);
/* Expands words to arguments: split, with braces and globs. */
void plain_words(struct shell_walk *w, const struct shell_word *word,
	struct plain_args *to);
/* Expands a word to one text: an assignment's value, a target, a pattern. */
struct shell_val plain_one(struct shell_walk *w, const struct shell_word *word);
/* The same for parts in quotes: here-documents, arithmetic. */
struct shell_val plain_quoted(struct shell_walk *w, const struct shell_part *parts,
	struct shell_span span);
/* Expands the target of a redirection: one text, which may be a pattern. */
struct shell_val plain_target(
	struct shell_walk *w, const struct shell_word *word);

/* shell_plain_cmd.c: simple commands, redirections, and what these change. */
void plain_simple(struct shell_walk *w, const struct shell_node *node);
void plain_redirs(struct shell_walk *w, const struct shell_redir *r);
/* Reports code in a subscript: bash runs the command in a[$(command)] where it
 * takes text as the name of a variable: for read, test -v, arithmetic. */
void plain_subscript(
	struct shell_walk *w, struct shell_str s, struct shell_span span);
/* Reports an assignment and carries it out. */
void plain_set(struct shell_walk *w, const struct shell_set *set, bool exported);

/* shell_plain_builtin.c: does to the state what the shell's own command of this
 * name does; false when no such builtin changes the shell. */
bool plain_builtin(struct shell_walk *w, const struct shell_val *v, size_t n,
	struct shell_span span);
bool plain_is_builtin(struct shell_str name);
/* Does the command take NAME=VALUE words as assignments? */
bool plain_declares(struct shell_str name);
/* Does the command run code that sees the assignments before it? */
bool plain_keeps(struct shell_str name);

#endif
