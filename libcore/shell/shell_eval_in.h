/* shell_eval.h - what the files of the shell walker share
 * SPDX-License-Identifier: MIT
 *
 * States are small structs copied by value. What they point to is never
 * changed once a second state may see it: a variable's binding is written in
 * place only while its epoch is that of the state at hand, and forking a state
 * gives both sides new epochs.
 */
#ifndef WARDBOX_SHELL_EVAL_H
#define WARDBOX_SHELL_EVAL_H

#include "shell/shell_parse_in.h"
#include "shell/shell_walk.h"

enum {
	/* A command walked, in a dry run too, beside a variable looked at. */
	SHELL_STEP = 192,
	SHELL_MAX_STEPS = 16384 * SHELL_STEP,
	SHELL_MAX_ARGS = 4096,   /* arguments of one command */
};

struct shell_var {
	struct shell_str name;
	const struct shell_val *value; /* NULL: unset. Arrays: any element */
	const struct shell_val *elems; /* arrays whose elements are known */
	unsigned nelems;
	bool array, exported, integer, readonly;
	bool folds; /* changes the case of what it is given */
	bool maybe_unset;
	uint32_t hash, epoch;
	uint32_t written; /* when, counted: a copy has it from what it copies */
	struct shell_var *next;
};

/* A text being walked, for spans and messages. */
struct shell_source {
	const char *text;
	size_t len;
	unsigned level;
	bool nested; /* .span stands for every place in it */
	struct shell_span span;
};

/* One definition of a function. */
struct shell_def {
	const struct shell_node *body;
	const struct shell_source *source;
	const struct shell_state *seen; /* the state where it was defined */
	struct shell_span span;
	enum shell_dialect dialect;
	bool called;
	struct shell_def *next;
};

struct shell_func {
	struct shell_str name;
	uint32_t hash;
	struct shell_def *defs[4];
	unsigned ndefs;
	bool maybe;    /* on some way it is not defined */
	bool exported; /* a shell started from here may have it */
	unsigned below; /* bindings behind this one */
	struct shell_func *next;
};

struct shell_dirs {
	const struct shell_val *dir;
	struct shell_dirs *next;
};

struct shell_state {
	struct shell_var *vars;
	/* Bindings in the chain, shadowed ones too; and when to drop those. */
	unsigned nvars, maxvars;
	uint32_t epoch;
	struct shell_func *funcs;
	const struct shell_val *cwd;  /* when the last command succeeded */
	const struct shell_val *fail; /* … and when it failed */
	const struct shell_val *sure; /* if cwd is this, it did not fail */
	struct shell_dirs *dirs;
	const struct shell_val *args; /* $0, $1 … */
	size_t nargs;
	bool own_ifs, allexport;
	bool errexit; /* what fails ends the shell, where nothing tests it */
	bool bare; /* behind env -i: what the start gave may be gone */
	bool dead; /* exit, return: nothing goes on from here */
	enum shell_input input;
	const struct shell_val *input_text;
};

/* A binding as it was before something that ends set it again: a local, or a
 * prefix assignment. */
struct shell_saved {
	struct shell_str name;
	const struct shell_val *value;
	bool unset;
	struct shell_saved *next;
};

/* Where the states of return or break come together. */
struct shell_frame {
	struct shell_state acc;
	bool any;
	struct shell_saved *locals;
	struct shell_frame *up; /* the loop, or the call, around it */
};

struct shell_walk {
	struct arena *a;
	const struct shell_walk_ops *ops;
	void *ctx;
	struct diag *diag;
	int err; /* sticky: what the walk returns */
	enum shell_dialect dialect;
	enum shell_dialect inner; /* that code in the code is read in */
	uint32_t epoch, written;
	unsigned steps, quiet, calls, depth, nfuncs;
	unsigned tested; /* conditions around: set -e does nothing in them */
	bool collect; /* only the names that change are of interest */
	bool second;  /* in a reading that is not the first of its text */
	bool nullglob; /* a pattern that fits nothing may be no word: shopt -s */
	bool differs; /* a builtin was called that not all shells have */
	const struct shell_source *source;
	struct shell_state *st;      /* the state at hand */
	const struct shell_val *start; /* where the line stands at first */
	const struct shell_cmd *cmd; /* during ops->command */
	struct shell_frame *func, *loop;
	struct shell_def *defs;
	/* What a shell started from the bindings `of` begins with. */
	struct shell_exports {
		const struct shell_var *of;
		struct shell_var *vars;
		unsigned n, max;
		bool clean;
	} exports;
	/* The text's own list, and how things stood where bash may have dropped
	 * the rest of the line; NULL: nowhere. */
	const struct shell_list *program;
	struct shell_state *tossed;
	struct shell_var *traped;  /* names that a trap's code sets */
	struct shell_state *traps; /* join of all states since the first trap */
	const struct shell_var *told; /* bindings that it has already */
	struct trap {
		const struct shell_val *code;
		const struct shell_source *source;
		struct shell_span span;
		struct trap *next;
	} * trap;
	/* What the start gave these names: the last ones asked for. (Large, so
	 * last: what stands behind it takes longer instructions.) */
	struct shell_outer_var {
		struct shell_str name, text;
		int known;
	} outer[16];
};

extern const struct shell_val shell_val_any, shell_val_rel, shell_val_num,
	shell_val_guess, /* numbers, or none, with blanks: shell_havoc */
	shell_val_empty;

const struct shell_val *shell_val_str(struct shell_walk *w, struct shell_str s);
/* Either of the two; NULL counts as the empty text. */
const struct shell_val *shell_val_union(struct shell_walk *w,
	const struct shell_val *a, const struct shell_val *b);
bool shell_val_same(const struct shell_val *a, const struct shell_val *b);
bool shell_val_has(const struct shell_val *v, struct shell_str s);
/* Is every text that a may be one that b may be? Yes is certain, no is not. */
bool shell_val_within(struct shell_walk *w, const struct shell_val *a,
	const struct shell_val *b);
/* One of what may be many. */
const struct shell_val *shell_val_one(
	struct shell_walk *w, const struct shell_val *v);
/* Digits, numbers and blanks alone: where they are, and how many, tells nobody
 * anything. NULL is nothing at all. */
bool shell_val_numbers(const struct shell_val *v);
/* An argument, whatever it is: it is not none. */
static inline bool shell_val_stays(const struct shell_val *v)
{
	return !v->many && !v->vanishes;
}
/* What vanishes when it is empty, as any number of arguments that are not. */
struct shell_val shell_val_present(
	struct shell_walk *w, const struct shell_val *v);
/* a then b, then c. */
struct shell_str shell_str_join(struct shell_walk *w, struct shell_str a,
	struct shell_str b, struct shell_str c);
/* Sets .kind from the alternatives. */
void shell_val_settle(struct shell_val *v);
uint32_t shell_str_hash(struct shell_str s);
/* Would bash run a command when it takes this for a variable's name? any: it
 * would if the unknown text in it were a substitution. */
bool shell_str_runs(struct shell_str s, bool any);
/* Would it, or may it, run a command when it is expanded? */
bool shell_str_may_run(struct shell_str s);
/* path as seen from each directory of cwd; NULL cwd: not known. Not
 * normalised. */
const struct shell_val *shell_val_at(struct shell_walk *w,
	const struct shell_val *cwd, const struct shell_val *path);
/* The same with "." and ".." taken away by text. */
const struct shell_val *shell_val_normal(
	struct shell_walk *w, const struct shell_val *v);

/* Makes *copy what *st is; from here on they go different ways. */
void shell_fork(struct shell_walk *w, struct shell_state *st,
	struct shell_state *copy);
/* What holds after either; a dead one does not count. */
void shell_join(struct shell_walk *w, struct shell_state *to,
	const struct shell_state *from);
/* Here bash may go on with the next line: a fault in an expansion, or an
 * assignment to a readonly name. Other shells end. */
void shell_toss(struct shell_walk *w);
/* The next line. */
void shell_catch(struct shell_walk *w);
/* What was done since `before` may not have been; then it failed. */
void shell_may_fail(struct shell_walk *w, const struct shell_state *before);
struct shell_var *shell_var_find(
	const struct shell_state *st, struct shell_str name);
/* A binding of the state at hand that may be written; NULL on a limit. */
struct shell_var *shell_var_own(struct shell_walk *w, struct shell_str name);
/* What a name is when it has no binding: whatever the start gave it. */
void shell_var_outside(struct shell_walk *w, struct shell_var *v);
/* To what the name is in `to`, what it is in `from`, and the same of functions. */
void shell_var_join(struct shell_walk *w, struct shell_state *to,
	const struct shell_state *from, const struct shell_var *name);
void shell_func_join(struct shell_walk *w, struct shell_state *to,
	const struct shell_state *from);
/* After a dry run of a loop: all that changed since `before` is unknown, but
 * that numbers stay some. */
void shell_havoc(struct shell_walk *w, struct shell_state *st,
	const struct shell_state *before, const struct shell_state *after);
/* After a round that began with *head: a name that was not as *head says when it
 * ended may be that as well; `again`, it may be anything. Was there one? */
bool shell_widen(struct shell_walk *w, struct shell_state *head,
	const struct shell_state *end, bool again);
struct shell_func *shell_func_find(
	const struct shell_state *st, struct shell_str name);
/* A new binding of the name, without a definition: it is no function. */
struct shell_func *shell_func_push(
	struct shell_walk *w, struct shell_state *st, struct shell_str name);
void shell_func_define(struct shell_walk *w, const struct shell_node *node);

/* Assigns in the state at hand, and reports it. */
void shell_assign_var(struct shell_walk *w, struct shell_str name,
	const struct shell_val *value, bool exported, struct shell_span span);
/* Keeps what the name is now at the head of *list. */
void shell_save_var(
	struct shell_walk *w, struct shell_saved **list, struct shell_str name);
/* Each name of the list may again be what it was. */
void shell_merge_saved(struct shell_walk *w, const struct shell_saved *list);
/* Tells the caller, unless this is a dry run. */
void shell_report_set(struct shell_walk *w, const struct shell_set *s);
void shell_report_open(struct shell_walk *w, const struct shell_open *o);
/* Tells what a variable is set to (NULL: it is unset); nothing else becomes of
 * it here. */
void shell_report(struct shell_walk *w, struct shell_str name,
	const struct shell_val *value, struct shell_span span);
void shell_unset_var(
	struct shell_walk *w, struct shell_str name, struct shell_span span);

/* A growing vector of arguments. */
struct shell_args {
	struct shell_val *v;
	size_t n, cap;
};

struct shell_val *shell_args_add(struct shell_walk *w, struct shell_args *args);
/* All fields of a word, braces, splitting and globs done. */
void shell_expand(struct shell_walk *w, const struct shell_word *word,
	struct shell_args *args);
/* The word as one value, as in an assignment; braces are not expanded. */
const struct shell_val *shell_expand_one(
	struct shell_walk *w, const struct shell_word *word);
/* The same, quoted as inside "…": arithmetic and here-documents. */
const struct shell_val *shell_expand_quoted(struct shell_walk *w,
	const struct shell_part *parts, struct shell_span span);
/* The same as a file name: what looks like a pattern is one. */
const struct shell_val *shell_expand_path(
	struct shell_walk *w, const struct shell_word *word);

/* What the start gave a name: .known as of ops->getvar. */
const struct shell_outer_var *shell_outer_get(
	struct shell_walk *w, struct shell_str name);
struct shell_got {
	const struct shell_val *v; /* NULL: it is unset */
	bool unset;                /* it may be */
};
struct shell_got shell_param_value(struct shell_walk *w, struct shell_str name);
/* The value after REPLACE, SLICE, CASE or TRANSFORM; NULL is an unset one. */
const struct shell_val *shell_edit(struct shell_walk *w,
	const struct shell_val *v, const struct shell_param *p, bool unset);
/* ${…} but for $@, $* and a default word, which the caller splices in:
 * then *word is set and that is meant instead of the value. */
const struct shell_val *shell_expand_param(struct shell_walk *w,
	const struct shell_param *param, struct shell_span span,
	const struct shell_word **word);

/* Judges a text that is evaluated as arithmetic, and does its assignments. */
void shell_arith_text(struct shell_walk *w, const struct shell_val *text,
	struct shell_span span);
/* An operand that bash takes for a variable's name. */
void shell_check_name(struct shell_walk *w, const struct shell_val *v);
/* The inside of name[…], whose text is expanded once more. */
void shell_check_subscript(struct shell_walk *w, const struct shell_word *sub);

void shell_walk_list(struct shell_walk *w, const struct shell_list *list);
/* The list as a condition. */
void shell_walk_test(struct shell_walk *w, const struct shell_list *list);
/* Succeeded or failed: from here on either may be. */
void shell_settle(struct shell_walk *w);
void shell_walk_node(struct shell_walk *w, const struct shell_node *node);
void shell_walk_simple(struct shell_walk *w, const struct shell_node *node);
void shell_walk_arith(struct shell_walk *w, const struct shell_word *word);
void shell_walk_loop(struct shell_walk *w, const struct shell_node *node);
/* A node or a list in a forked state, which is dropped: what reads from input,
 * and sets nothing here. */
void shell_walk_apart(struct shell_walk *w, const struct shell_node *node,
	const struct shell_list *list, enum shell_input input);
void shell_walk_redirs(struct shell_walk *w, const struct shell_redir *redirs);
/* Can one of them keep its command from running? */
bool shell_redirs_fail(const struct shell_redir *redirs);
/* Assignments that are a command of their own. */
void shell_walk_assigns(struct shell_walk *w, const struct shell_assign *a);
/* Before a command: for it alone, unless the builtin keeps them. Reports the *n
 * of them; NULL has stopped the walk. */
const struct shell_set *shell_walk_prefix(
	struct shell_walk *w, const struct shell_assign *a, size_t *n);
/* Every ${…} of the words is walked, for what a declaration's array holds. */
void shell_walk_arrays(struct shell_walk *w, const struct shell_word *word);
/* Any of the definitions that the name may have. */
void shell_walk_call(struct shell_walk *w, const struct shell_func *f,
	const struct shell_args *args);
/* Bodies that nothing called run nowhere that is known, so nothing is known of
 * their arguments; their commands count all the same. */
void shell_walk_uncalled(struct shell_walk *w);
/* Code in this shell: eval, trap, ".". */
void shell_walk_code(struct shell_walk *w, const struct shell_val *text,
	struct shell_span span);
/* One text of such code, or of another shell, in the state at hand. */
void shell_walk_nested(struct shell_walk *w, struct shell_str text,
	enum shell_dialect dialect, struct shell_span span);
/* $0 and any number of parameters, none of them known. */
void shell_forget_args(struct shell_state *st);
/* Are a's parameters no others than those that b has any number of? */
bool shell_args_within(
	const struct shell_state *a, const struct shell_state *b);
/* In the state at hand, without a report. */
void shell_assign_quiet(struct shell_walk *w, const struct shell_set *s);
/* One of those whose effect on the shell is modelled? */
bool shell_is_builtin(struct shell_str name);
/* Does to the state what args->v[first] does, which is a builtin. */
void shell_builtin(
	struct shell_walk *w, const struct shell_args *args, size_t first);
/* What a builtin was called with: its operands, options taken off. */
struct shell_call {
	const struct shell_str *name;
	const struct shell_val *v; /* v[0] is the name */
	size_t n, at;              /* at: the first operand */
	/* The letters that are options, with none other of which each shell goes
	 * on; NULL: any. */
	const char *knows;
	bool odd;                  /* another one was given */
	struct shell_span span;
	const struct shell_val *opt[128]; /* what was given, by its letter */
};
/* Options of export, read … into c->opt; takes arguments where `with` says so.
 * false: an option is not known text. */
bool shell_options(struct shell_walk *w, struct shell_call *c, const char *with);
/* Gives each name of v the value; of name[x], the array. */
void shell_set_names(struct shell_walk *w, const struct shell_call *c,
	const struct shell_val *v, const struct shell_val *value, bool array);
void shell_builtin_decl(struct shell_walk *w, struct shell_call *c);
void shell_builtin_unset(struct shell_walk *w, struct shell_call *c);
void shell_builtin_read(struct shell_walk *w, struct shell_call *c);
void shell_builtin_getopts(struct shell_walk *w, struct shell_call *c);
void shell_builtin_mapfile(struct shell_walk *w, struct shell_call *c);
void shell_builtin_wait(struct shell_walk *w, struct shell_call *c);
void shell_builtin_cd(struct shell_walk *w, struct shell_call *c);
void shell_builtin_popd(struct shell_walk *w, struct shell_call *c);
void shell_builtin_trap(struct shell_walk *w, struct shell_call *c);
void shell_builtin_source(struct shell_walk *w, struct shell_call *c);
void shell_builtin_set(struct shell_walk *w, struct shell_call *c);
void shell_builtin_shift(struct shell_walk *w, struct shell_call *c);
void shell_builtin_shopt(struct shell_walk *w, struct shell_call *c);
/* What holds now may hold when a trap's code runs. */
void shell_tell_traps(struct shell_walk *w);
/* Walks the trap bodies with all that held since the first was set. */
void shell_walk_traps(struct shell_walk *w);
/* export, declare … : their name=value words are not split. */
bool shell_is_decl(struct shell_str name);
/* A builtin after which prefix assignments stay. */
bool shell_is_special(struct shell_str name);

/* The arena's, zeroed or not; NULL has stopped the walk already. */
void *walk_zalloc(struct shell_walk *w, size_t n);
char *walk_bytes(struct shell_walk *w, size_t n);
#define walk_new(w, type) ((type *)walk_zalloc((w), sizeof(type)))

void shell_risk(struct shell_walk *w, enum shell_risk risk,
	struct shell_str what, struct shell_span span);
/* First error wins, and 0 is none; returns NULL. */
void *shell_stop(struct shell_walk *w, int err);
struct shell_span shell_outer(const struct shell_walk *w, struct shell_span at);
/* One more step; false when the walk is to stop. */
bool shell_step(struct shell_walk *w);

#endif
