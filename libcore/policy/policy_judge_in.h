/* policy_judge_in.h - the inside of the engine: one command being judged
 * SPDX-License-Identifier: MIT
 *
 * policy_walk.c feeds commands in from the shell walker, policy_decide.c the one
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
	/* What a line may cost, each about a tenth of a microsecond: */
	JUDGE_WORK = 35000,
	JUDGE_LOOK = 6,    /* a look at the file system */
	JUDGE_BYTES = 200, /* as much memory */
};

/* What the walker's texts mean something else by. */
#define JUDGE_MARKS "\1\2\3\4\5\6"

/* Lists of the policy that the engine itself asks. */
enum judge_list {
	LIST_BUILTIN,
	LIST_ENV_UNSET,
	LIST_ENV_FIXED,
	LIST_ENV_SAFE,
	LIST_DATA,        /* programs whose words name no files */
	LIST_WRITES,      /* programs that write what they are given */
	LIST_WRITES_LAST, /* … the last of it */
	LIST_REMOVES,     /* programs that take a link, not what it leads to */
	JUDGE_LISTS,
};

/* One word of one reading: a text that may hold SHELL_REL and SHELL_ANY. */
struct arg {
	const char *s; /* ended by NUL */
	bool many;     /* any number of these */
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
	const char *name; /* that allow rules and schemas know it by; or NULL */
	const char *file; /* physical path; NULL for builtins and missing */
	const char *rel;  /* LOCAL: file beneath the root */
	const char *names[JUDGE_NAMES]; /* any of them is denied: denied */
	unsigned count;
};

struct judge {
	const struct policy *p;
	struct arena *arena;
	struct shell_walk *walk; /* NULL outside of one */
	unsigned work, most; /* spent beside memory and steps; how much may be */
	bool spent;
	uint8_t set[IMG_P_OPEN + 1]; /* the strictest of all layers */
	enum policy_profile profile; /* never OBSERVE, but what it stands for */
	bool observe;
	const char *root, *home, *tmp;
	const char *const *places; /* NULL-terminated, or NULL */
	const char *own; /* beside tmp; or NULL */
	const char *real_home; /* once it was asked for */
	bool no_project;
	char *const *env;
	bool blind;         /* nothing is known of the environment */
	const char *search; /* PATH that names are looked up in */
	const char *cwd;    /* where the line starts */
	enum { JUDGE_NOT_LOOKED, JUDGE_AMONG_SECRETS, JUDGE_ELSEWHERE } start;
	enum shell_dialect dialect;
	unsigned depth;
	bool starts; /* policy_request.starts */
	unsigned seen_count;
	struct judged_dir *dir;   /* the last directory that was walked to */
	/* The first variable set that puts code of the line's choice into
	 * programs; NULL: none. */
	const char *guided;
	unsigned is;    /* enum policy_is: of the line, whatever is decided */
	unsigned found; /* a bit for each of .list that was looked up */
	policy_each *each;
	void *ctx;
	/* What is large stands last: all else is near the struct's begin. */
	struct policy_verdict worst;
	struct img_range list[POLICY_LAYERS][JUDGE_LISTS];
	struct prog_seen {
		const char *word;
		struct prog prog;
	} seen[JUDGE_SEEN]; /* bare names that were looked up */
};

/* The command in hand. */
struct judge_cmd {
	struct judge *j;
	const struct shell_cmd *cmd; /* NULL for an execve */
	const struct shell_val *cwd;
	bool judged; /* v holds something, if only .would and .is */
	/* What v.command is made of, once it is wanted: words, a file. */
	const struct arg *argv;
	size_t argc;
	const struct shell_open *open;
	unsigned wraps;
	const char *exe; /* the file, when the kernel has told it already */
	const char *named; /* as what it was executed; or NULL */
	const struct shell_set *env; /* that wrappers added */
	size_t nenv;
	bool clean;
	const struct arg *args; /* $0 $1 ... of code from standard input */
	size_t nargs;
	bool data; /* its words name no files */
	bool unlinks; /* of a link it takes the link itself */
	struct policy_verdict v; /* large, so last */
};

/* Did the line cost more than it may? Then it is refused, whatever comes of
 * the rest. */
bool judge_spent(struct judge *j);

/* Makes the verdict at least this strict. The first of equals stays: false. */
__attribute__((format(printf, 4, 5))) bool judge_raise(struct judge_cmd *k,
	enum policy_decision d, const char *rule, const char *fmt, ...);
void judge_alternative(struct judge_cmd *k, const char *text);
/* The path, or directory, is not known: what the profile says of that. */
void judge_unresolved(
	struct judge_cmd *k, const struct arg *a, const char *what);
/* The same where a program reads code that is not seen. */
__attribute__((format(printf, 3, 4))) void judge_input(
	struct judge_cmd *k, enum policy_decision d, const char *fmt, ...);
/* The same, by a rule of an image. */
bool judge_rule(struct judge_cmd *k, enum policy_decision d,
	const struct policy_image *img, const struct img_rule *r,
	const char *what);
/* Begins and ends the judging of what stands at span. */
struct judge_cmd judge_begin(struct judge *j, struct shell_span span);
void judge_end(struct judge_cmd *k);
/* A text of the arena with unknown pieces shown as "?". */
const char *judge_show(struct judge *j, const char *s);
/* Copies s[0..n) with a NUL; "" when memory is out (which denies later). */
const char *judge_text(struct judge *j, const char *s, size_t n);

/* The directory that the command runs in. */
const char *judge_cwd(const struct judge_cmd *k);
/* The same of what buf_addf() makes of fmt. */
__attribute__((format(printf, 2, 3))) const char *judge_print(
	struct judge *j, const char *fmt, ...);

/* The same as a word. */
struct arg judge_arg(struct judge *j, const char *s, size_t n);

/* Does word stand in the list of any layer? For lists that deny. */
bool judge_listed(struct judge *j, enum judge_list list, const char *word);
/* In the system's? For lists that allow: a lower layer adds nothing to them. */
bool judge_granted(struct judge *j, enum judge_list list, const char *word);
/* Do commands come from dir, in every layer that speaks of it? */
bool judge_exec_dir(const struct judge *j, const char *dir);
/* May the variable never be set? */
bool judge_env_denied(const struct judge *j, const char *name);

enum path_use {
	PATH_READ,
	PATH_WRITE,
	PATH_PLACE, /* cd */
};

/* One path operand, in every cwd it may be taken from. */
void judge_path(struct judge_cmd *k, const struct arg *a, enum path_use use);
/* All alternatives of a value. */
void judge_path_val(
	struct judge_cmd *k, const struct shell_val *v, enum path_use use);
/* A word that may hold paths: "a=/x", "-I/x", "/x:/y". */
void judge_path_guess(struct judge_cmd *k, const struct arg *a);

/* Is the operand one of these places, or all that lies in one? A pattern begins
 * with '!' that sets a place apart. */
bool judge_at(struct judge_cmd *k, const struct arg *a,
	const struct policy_image *img, struct img_range places);

enum {
	FOUND_NAMES = 1, /* the names below are wanted */
	FOUND_ENTRY = 2, /* a link that ends the path is not followed */
};

struct path_found {
	unsigned want; /* in: of these */
	enum {
		FOUND_IN,     /* beneath the root (or the root) */
		FOUND_OUT,    /* elsewhere */
		FOUND_TOO_LONG,
	} where;
	bool missing;
	/* Names of the last component, link by link; a bit for each that
	 * stands in an exec directory. */
	unsigned count, in_exec;
	char names[JUDGE_NAMES][64];
	char path[JUDGE_PATH]; /* physical, absolute */
};
/* Is it, by its name, in a directory of the command's own? */
bool judge_is_place(const struct judge *j, const char *path);
/* In what the sandbox gives in place of /tmp? No layer has to grant that. */
static inline bool judge_is_tmp(const struct judge *j, const char *physical)
{
	return (j->tmp && *j->tmp && path_beneath(j->tmp, physical)) ||
	       (j->own && *j->own && path_beneath(j->own, physical));
}
/* Resolves path as the kernel would from cwd, following links. */
void judge_resolve(struct judge *j, const char *cwd, const char *path,
	struct path_found *out);

void judge_prog(struct judge_cmd *k, const char *word, struct prog *out);
/* The same for an execve of file as word. */
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
	bool *doubtful; /* may be an unknown option's argument */
	size_t operands;
	const struct arg *cmd; /* the command within, or NULL */
	size_t cmd_count;
	bool wrapper;    /* nothing of its own: no rule is needed for it */
	bool unresolved; /* words that may be anything */
};

/* One command of known structure; wrappers call it again. */
void judge_argv(struct judge_cmd *k, const struct arg *argv, size_t argc);
/* Is a program of that name whatever it is called? */
bool judge_is_multi(struct judge_cmd *k, const char *name);

void judge_rules(struct judge_cmd *k, const struct prog *p,
	const struct arg *argv, size_t argc, const struct parsed *w);

/* policy_to.c: do the words, as far as they say a place at all, lead to where
 * `to:` of a rule says ("loopback", "local"), for sure? */
bool judge_leads(
	struct judge_cmd *k, const char *where, const struct parsed *w);

/* What the walker calls; its ctx is the judge. */
extern const struct shell_walk_ops judge_walk_ops;

/* Shell text given as an argument; args: $0 $1 ... */
void judge_sh(struct judge_cmd *k, const struct arg *text,
	const struct arg *args, size_t nargs, enum shell_dialect dialect);
/* Is this operand another name for standard input? */
bool judge_is_stdin(const char *s);
/* A shell that reads its code from standard input. */
void judge_stdin_code(struct judge_cmd *k);

/* shell_walk_ops.getvar: what the variable is when the line begins. */
int judge_getvar(void *ctx, struct shell_str name, struct shell_str *value);
/* Setting the variable called name to value (NULL: it is not known), or
 * taking it away. Does that hang on the name alone? */
bool judge_setenv(struct judge_cmd *k, const char *name,
	const struct shell_str *value, bool unset);

#endif
