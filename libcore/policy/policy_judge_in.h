/* policy_judge_in.h - the inside of the engine: one command being judged
 * SPDX-License-Identifier: MIT
 *
 * policy_decide.c feeds commands in from the shell walker, policy_decide.c the one
 * of an execve; the other parts look at one aspect each and raise the verdict.
 */
#ifndef WARDBOX_POLICY_JUDGE_IN_H
#define WARDBOX_POLICY_JUDGE_IN_H

#include "base/arena.h"
#include "base/path.h"
#include "policy/policy_image.h"
#include "shell/shell_walk.h"

enum {
	JUDGE_WRAPS = 16,   /* wrappers within wrappers */
	JUDGE_SEEN = 8,
	JUDGE_NAMES = 6,   /* names of a program along its symlinks */
	JUDGE_PATH = 1024, /* longer paths are denied */
	JUDGE_ARENA = 4 << 20,
	JUDGE_OPTS = 8192,  /* letters of options of one command */
	/* The bounds of a line's cost, each about a tenth of a microsecond: */
	JUDGE_WORK = 35000,
	JUDGE_LOOK = 6,    /* a look at the file system */
	JUDGE_BYTES = 200, /* bytes of memory that count as one */
};

/* Bytes that mean something else in the reader's texts. */
#define JUDGE_MARKS "\1\2\3\4\5\6"

/* Lists of the policy that the engine itself uses. */
enum judge_list {
	LIST_BUILTIN,
	LIST_ENV_UNSET,
	LIST_ENV_FIXED,
	LIST_ENV_SAFE,
	LIST_ENV_SOURCE,
	LIST_DATA,        /* programs whose words name no files */
	LIST_WRITES,      /* programs that write all their operands */
	LIST_WRITES_LAST, /* programs that write the last operand */
	LIST_REMOVES,     /* programs that change a link, not its target */
	JUDGE_LISTS,
};

/* A word: a text that may hold SHELL_REL and SHELL_ANY. */
struct arg {
	const char *s; /* ended by NUL */
	bool many;     /* stands for any number of words */
	bool unknown;  /* holds SHELL_ANY */
	bool rel;      /* holds SHELL_REL */
	bool glob;
};

struct prog {
	enum {
		PROG_BUILTIN,
		PROG_SYSTEM,  /* in an exec directory */
		PROG_MISSING, /* a bare name that no directory has */
		PROG_LOCAL,   /* beneath the root */
		PROG_OUTSIDE,
	} where;
	const char *name; /* the name that allow rules and reads lines know; or
			   * NULL */
	const char *file; /* physical path; NULL for builtins and missing */
	const char *rel;  /* LOCAL: file beneath the root */
	const char *names[JUDGE_NAMES]; /* all its names: a rule denies by any
					 * of them */
	unsigned count;
};

struct judge {
	const struct policy *p;
	struct arena *arena;
	struct shell_walk *walk; /* NULL outside of a walk */
	unsigned work, most; /* cost so far, beside memory and steps; its
			      * bound */
	bool spent;
	uint8_t set[IMG_P_OPEN + 1]; /* settings, the strictest of all layers */
	enum policy_profile profile; /* never OBSERVE, but the profile that it
				      * stands for */
	bool observe;
	const char *root, *home, *tmp;
	const char *const *places; /* NULL-terminated, or NULL */
	const char *own; /* beside tmp; or NULL */
	const char *real_home; /* set when first needed */
	bool no_project;
	char *const *env;
	bool blind;         /* the environment is not known */
	const char *search; /* PATH in which names are looked up */
	const char *cwd;    /* where the line starts */
	enum { JUDGE_NOT_LOOKED, JUDGE_AMONG_SECRETS, JUDGE_ELSEWHERE } start;
	enum shell_dialect dialect;
	unsigned depth;
	bool starts; /* policy_request.starts */
	unsigned seen_count;
	struct judged_dir *dir;   /* the last directory that was resolved */
	/* The first variable set that puts the line's own code into programs;
	 * NULL: none. */
	const char *guided;
	unsigned is;    /* enum policy_is of the line, whatever is decided */
	unsigned found; /* a bit for each .list that was looked up */
	policy_each *each;
	void *ctx;
	char revert[POLICY_REVERT]; /* of all commands */
	/* Large members stand last, so that the others have short offsets. */
	struct policy_verdict worst;
	struct img_range list[POLICY_LAYERS][JUDGE_LISTS];
	struct prog_seen {
		const char *word;
		struct prog prog;
	} seen[JUDGE_SEEN]; /* results for bare names */
};

/* The command that is being judged. */
struct judge_cmd {
	struct judge *j;
	const struct shell_cmd *cmd; /* NULL for an execve */
	const struct shell_val *cwd;
	bool judged; /* v holds something, perhaps only .would and .is */
	/* The sources of v.command, if it is wanted: words, or a file. */
	const struct arg *argv;
	size_t argc;
	const struct shell_open *open;
	unsigned wraps;
	const char *exe; /* the file, if the kernel has named it already */
	const char *named; /* the name that was given to execve; or NULL */
	const struct shell_set *env; /* variables that wrappers added */
	size_t nenv;
	bool clean;
	const struct arg *args; /* $0 $1 ... of code from standard input */
	size_t nargs;
	bool data; /* its words name no files */
	bool unlinks; /* a link itself is removed, not its target */
	struct policy_verdict v; /* last, because it is large */
};

/* Did the line cost more than allowed? Then it is open, whatever the rest
 * brings. */
bool judge_spent(struct judge *j);

/* Makes the verdict at least this strict. False if it was as strict before: the
 * first of equals stays. */
__attribute__((format(printf, 4, 5))) bool judge_raise(struct judge_cmd *k,
	enum policy_decision d, const char *rule, const char *fmt, ...);
void judge_alternative(struct judge_cmd *k, const char *text);
/* The path, or directory, is not known before it runs: raises to OPEN. */
void judge_unresolved(
	struct judge_cmd *k, const struct arg *a, const char *what);
/* The same where a program reads code that is not seen. */
__attribute__((format(printf, 3, 4))) void judge_input(
	struct judge_cmd *k, enum policy_decision d, const char *fmt, ...);
/* Makes the verdict that of a rule of the image. */
bool judge_rule(struct judge_cmd *k, enum policy_decision d,
	const struct policy_image *img, const struct img_rule *r,
	const char *what);
/* Begin and end the judging of the text at span. */
struct judge_cmd judge_begin(struct judge *j, struct shell_span span);
void judge_end(struct judge_cmd *k);
/* The text for people, with unknown pieces as "?". */
const char *judge_show(struct judge *j, const char *s);
/* Copies s[0..n) with a NUL; "" when memory is out (which denies later). */
const char *judge_text(struct judge *j, const char *s, size_t n);

/* The directory in which the command runs. */
const char *judge_cwd(const struct judge_cmd *k);
/* Formats into the arena, as buf_addf() does. */
__attribute__((format(printf, 2, 3))) const char *judge_print(
	struct judge *j, const char *fmt, ...);

/* The text as a word. */
struct arg judge_arg(struct judge *j, const char *s, size_t n);

/* Is the word in that list of any layer? For lists that deny. */
bool judge_listed(struct judge *j, enum judge_list list, const char *word);
/* Is it in the system layer's? For lists that allow, to which a lower layer
 * adds nothing. */
bool judge_granted(struct judge *j, enum judge_list list, const char *word);
/* Do programs come from dir, in every layer that names such directories? */
bool judge_exec_dir(const struct judge *j, const char *dir);
/* Does a layer deny the variable? */
bool judge_env_denied(const struct judge *j, const char *name);

enum path_use {
	PATH_READ,
	PATH_WRITE,
	PATH_PLACE, /* cd */
};

/* Judges one path operand. */
void judge_path(struct judge_cmd *k, const struct arg *a, enum path_use use);
/* The same for a value of the reader. */
void judge_path_val(
	struct judge_cmd *k, const struct shell_val *v, enum path_use use);
/* Judges a word that may hold paths: "a=/x", "-I/x", "/x:/y". */
void judge_path_guess(struct judge_cmd *k, const struct arg *a);

/* Is the operand one of these places, or all that lies in one? A pattern that
 * begins with '!' is an exception. */
bool judge_at(struct judge_cmd *k, const struct arg *a,
	const struct policy_image *img, struct img_range places);

enum {
	FOUND_NAMES = 1, /* fill the names below */
	FOUND_ENTRY = 2, /* a link at the path's end is not followed */
};

struct path_found {
	unsigned want; /* in: a sum of FOUND_ */
	enum {
		FOUND_IN,     /* beneath the root, or the root itself */
		FOUND_OUT,    /* elsewhere */
		FOUND_TOO_LONG,
	} where;
	bool missing;
	/* Names of the last component, link by link, and a bit for each that
	 * stands in an exec directory. */
	unsigned count, in_exec;
	char names[JUDGE_NAMES][64];
	char path[JUDGE_PATH]; /* physical, absolute */
};
/* Is the path in a directory of the command's own, by its name? */
bool judge_is_place(const struct judge *j, const char *path);
/* Is the path in the directories that the sandbox gives in place of /tmp? No
 * layer has to grant those. */
static inline bool judge_is_tmp(const struct judge *j, const char *physical)
{
	return (j->tmp && *j->tmp && path_beneath(j->tmp, physical)) ||
	       (j->own && *j->own && path_beneath(j->own, physical));
}
/* Resolves path as the kernel would from cwd, following links. */
void judge_resolve(struct judge *j, const char *cwd, const char *path,
	struct path_found *out);

void judge_prog(struct judge_cmd *k, const char *word, struct prog *out);
/* The same for an execve of file, called word. */
void judge_prog_file(struct judge_cmd *k, const char *file, const char *word,
	struct prog *out);

struct given_opt {
	const char *name;  /* "-x" or "--xyz", as given */
	const char *value; /* or NULL */
};

struct parsed {
	struct given_opt *opt;
	size_t opts;
	struct arg *operand; /* [-1] is the program's word */
	bool *doubtful; /* the word may be the argument of an unknown option */
	size_t operands;
	const struct arg *cmd; /* the command within, or NULL */
	size_t cmd_count;
	bool wrapper;    /* the program only runs the inner command, so it needs
			  * no rule */
	bool unresolved; /* words that may be anything */
};

/* Judges one command by its words; wrappers call this again. */
void judge_argv(struct judge_cmd *k, const struct arg *argv, size_t argc);
/* Does a program of that name do the same under every name? */
bool judge_is_multi(struct judge_cmd *k, const char *name);

void judge_rules(struct judge_cmd *k, const struct prog *p,
	const struct arg *argv, size_t argc, const struct parsed *w);

/* policy_revert.c: notes how the command is taken back, by a rule whose words are
 * the first from operands. */
void judge_revert(struct judge *j, const struct policy_image *img,
	const struct img_rule *r, const struct prog *p, const struct parsed *w,
	size_t from);

/* policy_to.c: do the words that name a place surely lead to where `to:` of a
 * rule says ("loopback", "local")? */
bool judge_leads(
	struct judge_cmd *k, const char *where, const struct parsed *w);

/* The callbacks for the reader; their ctx is the judge. */
extern const struct shell_walk_ops judge_walk_ops;

/* Judges shell text that is an argument; args: $0 $1 ... */
void judge_sh(struct judge_cmd *k, const struct arg *text,
	const struct arg *args, size_t nargs, enum shell_dialect dialect);
/* Is this operand another name for standard input? */
bool judge_is_stdin(const char *s);
/* Judges a shell that reads its code from standard input. */
void judge_stdin_code(struct judge_cmd *k);

/* shell_walk_ops.getvar: a variable's value when the line begins. */
int judge_getvar(void *ctx, struct shell_str name, struct shell_str *value);
/* Does the variable say where packages come from? */
bool judge_is_source(struct judge *j, const char *name);
/* Notes a variable, or a setting of git, that puts the project's code into a
 * program. */
void judge_guided(struct judge_cmd *k, const char *name);
/* Judges setting the variable called name to value (NULL: not known), or
 * unsetting it. True if the name alone decided. */
bool judge_setenv(struct judge_cmd *k, const char *name,
	const struct shell_str *value, bool unset);

#endif
