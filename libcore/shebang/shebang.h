/* shebang.h - which interpreter a script means, found by walking up from it
 * SPDX-License-Identifier: MIT
 *
 * Beginning where the script lies, each directory up to the root is probed for
 * a program of the wanted name ("auto-python"). The script may direct the
 * search in its first lines, the environment may overrule the script. Nothing
 * of the script is executed.
 */
#ifndef WARDBOX_SHEBANG_H
#define WARDBOX_SHEBANG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"

enum {
	SHEBANG_LINES = 30,      /* of a script that may hold directives */
	SHEBANG_SCAN = 64 << 10, /* bytes of a script that are looked at */
	SHEBANG_HOPS = 40,       /* symbolic links in a row */
	SHEBANG_PATH = 8192,     /* a path beyond it cannot name a file */
	SHEBANG_WORK = 1 << 18,  /* candidates, places and variables looked at */
	SHEBANG_HEAD = 2048,     /* of a program, where its mark is looked for */
};

/* Results of shebang_resolve(), and exit codes of its callers. */
enum shebang_code {
	SHEBANG_FOUND = 0,
	SHEBANG_NONE = 1,      /* all places were looked at */
	SHEBANG_BAD = 2,       /* a directive or a variable says nonsense */
	SHEBANG_NOEXEC = 126,  /* the one named by a variable */
	SHEBANG_MISSING = 127, /* the same, or the script's directory */
};

enum shebang_key {
	SHEBANG_FOLLOW,
	SHEBANG_PRIORITY,
	SHEBANG_PROBE_DIRS,
	SHEBANG_EXPAND,
	SHEBANG_SUFFIXES,
	SHEBANG_TRUST_ENV,
	SHEBANG_KEYS
};

enum shebang_source { SHEBANG_DEFAULT, SHEBANG_DIRECTIVE, SHEBANG_ENV };

struct shebang_conf {
	const char *value[SHEBANG_KEYS]; /* booleans are "yes" and "no" */
	enum shebang_source source[SHEBANG_KEYS];
};

/* The kind of a place or candidate. */
enum shebang_verdict {
	SHEBANG_USABLE,
	SHEBANG_ABSENT,
	SHEBANG_NO_PLACE, /* the directory itself is not there */
	SHEBANG_NOT_FILE,
	SHEBANG_NOT_EXECUTABLE,
	SHEBANG_SELF,
	SHEBANG_COPY, /* another file, but a resolver like this one */
};

enum shebang_via { SHEBANG_WALK, SHEBANG_OVERRIDE, SHEBANG_FALLBACK };

/* Callbacks that follow the search. */
struct shebang_watch {
	void *arg;
	/* The lines of the trace; NULL for none. */
	void (*trace)(void *arg, const char *line);
	/* Every place without a directory and every candidate, in order. When
	 * set, the search goes on behind the first usable one, which stays the
	 * result. */
	void (*candidate)(void *arg, const char *path, enum shebang_via via,
		enum shebang_verdict verdict);
};

struct shebang_request {
	const char *name;   /* of the interpreter: "auto-python" */
	const char *script; /* need not exist; its directory must */
	char *const *env;
	/* The resolver's own file, which bears SHEBANG_MARK, so that it is
	 * never taken for an interpreter; NULL when it cannot be named. */
	const char *self;
	const struct shebang_watch *watch; /* may be NULL */
};

/* One search. Large, so not for the stack; all zero before the first use. The
 * strings live as long as it and the request's environment do. */
struct shebang {
	const char *result; /* the interpreter, as it is to be executed */
	enum shebang_via via;
	struct shebang_conf conf;
	const char *origin[2]; /* where walks began; NULL when they did not */
	const char *copy;      /* the last resolver passed over, or NULL */
	struct buf message;    /* why, with the codes 2, 126 and 127 */
	bool loops; /* the result is the script, which needs an interpreter */
	char head[SHEBANG_HEAD]; /* how the result's file begins, a string */

	/* Work space. */
	const struct shebang_request *rq;
	dev_t script_dev;
	ino_t script_ino;
	unsigned work;
	bool self_known;
	dev_t self_dev;
	ino_t self_ino;
	/* Texts one behind the other, so that a search touches few pages: the
	 * head of the script, the origins, then the candidate of the moment. */
	size_t used;
	char pool[SHEBANG_SCAN + 1 + 3 * SHEBANG_PATH];
	char link[2][SHEBANG_PATH];
	char entry[2][SHEBANG_PATH];
	char found[SHEBANG_PATH];
	char passed[SHEBANG_PATH];
};

/* Makes the whole search: an enum shebang_code, and the fields above. */
int shebang_resolve(struct shebang *s, const struct shebang_request *rq);

void shebang_release(struct shebang *s);
#define autoshebang autoclean(shebang_release)

/* Can path serve as an interpreter? s gives what is known of the resolver
 * itself; the request in it may be all that is set. */
enum shebang_verdict shebang_judge(struct shebang *s, const char *path);

/* "follow-symlinks", "default", "not executable": for people. */
const char *shebang_key_name(enum shebang_key key);
const char *shebang_source_name(enum shebang_source source);
const char *shebang_verdict_name(enum shebang_verdict verdict);

/* A program that says this at the start of a line within its first
 * SHEBANG_HEAD bytes is a resolver: the ones of this project, whatever their
 * build, and the shell script they are compatible with. Passing them over is
 * what keeps two copies from executing each other for ever. */
#define SHEBANG_MARK "AUTO_SHEBANG_VERSION="

#endif
