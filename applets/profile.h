/* profile.h - what the parts of the profile applet share
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_APPLET_PROFILE_H
#define WARDBOX_APPLET_PROFILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/cli.h"
#include "profile/profile_files.h"
#include "profile/profile_line.h"
#include "profile/profile_write.h"
#include "profile/shellkind.h"

/* Beyond 0, 1 and 2. */
enum {
	PROFILE_EXIT_CONSENT = 3,
	PROFILE_EXIT_WRITE = 4,
	PROFILE_EXIT_REFUSED = 5,
	PROFILE_EXIT_RACE = 6,
	PROFILE_EXIT_PARTIAL = 7,
};

struct profile_opts {
	const char *shell, *scope, *file, *id, *position, *user, *home, *root;
	const char *backup_dir, *shell_flags;
	bool append, system, absolute, force, dry_run, yes, backup, follow;
	bool no_follow, no_exec, ci, docker, json, quiet, session, then, fix;
	uint64_t timeout;
	unsigned scopes; /* SCOPE_ bits of scope */
	/* For a verb that runs within another verb: the open array of that
	 * verb's object, and why nothing is done; or NULL. */
	struct json *changes;
	const char *withheld;
	int argc;        /* what stands behind the verb, for --then */
};

/* For whom, and with which shell. */
struct profile_who {
	const char *source; /* where the shell's name comes from */
	uid_t uid;
	enum shell_kind kind;
	bool restricted, other;
	bool asked_parents;
	unsigned flags; /* PROFILE_OPEN_TRUSTED when still root */
	struct profile_place place;
	char current[64];   /* the shell that called, or "" */
	char name[64];
	char shell[256];    /* the program; "" when there is none */
	char home[1024];
};

/* Finds out, and gives root's rights up for good when the files are somebody
 * else's. Ends the process with a message when it cannot. */
void profile_who_find(struct profile_who *who, struct profile_opts *o);

/* Adds what the processes above this one tell: the calling shell, and whether
 * it is a restricted one. */
void profile_who_parents(struct profile_who *who);

/* Does --shell name one, rather than "auto" or "all"? */
bool profile_shell_given(const struct profile_opts *o);

/* The shell that reads the file, by its name; else fallback. */
enum shell_kind profile_kind_of(const char *path, enum shell_kind fallback);

/* The environment this process was started with. */
char **profile_environ(void);

int profile_code(int err);

/* add, append, set, remove */
int profile_verb_add(void *into, int argc, char **argv);
int profile_verb_append(void *into, int argc, char **argv);
int profile_verb_set(void *into, int argc, char **argv);
int profile_verb_remove(void *into, int argc, char **argv);
int profile_verb_print(void *into, int argc, char **argv);
int profile_verb_list(void *into);
int profile_verb_files(void *into);
int profile_verb_detect(void *into);
int profile_verb_check(void *into, int argc, char **argv);
int profile_verb_apply(void *into, int argc, char **argv);
int profile_verb_doctor(void *into, int argc, char **argv);
int profile_verb_fix(void *into, int argc, char **argv);
int profile_verb_undo(void *into, int argc, char **argv);
int profile_verb_sandbox(void *into);

/* Items built from operands; freed with the process. */
struct profile_items {
	struct profile_item *item;
	struct profile_dir *dir;
	bool *exists;
	size_t count;
};
#define PROFILE_ITEMS_INIT ((struct profile_items){0})
void profile_items_release(struct profile_items *items);

/* Parses directories, or NAME=VALUE pairs for PROFILE_VAR. Dies with a message
 * for what cannot be written. */
void profile_items_add(struct profile_items *items,
	const struct profile_who *who, const struct profile_opts *o,
	enum profile_what what, int argc, char *const *argv);

/* Where the items go: heap-allocated, owned by the caller. */
struct profile_goal {
	struct profile_file file;
	enum shell_kind kind;
	enum shell_family family;
};
struct profile_goals {
	struct profile_goal *goal;
	size_t count;
};
void profile_goals_release(struct profile_goals *goals);
int profile_goals_find(struct profile_goals *goals,
	const struct profile_who *who, const struct profile_opts *o,
	struct diag *d);

/* Every file of the user's shells, or of the machine's with --system, that has
 * the block, whatever would be written today. */
void profile_goals_with_block(struct profile_goals *goals,
	const struct profile_who *who, const struct profile_opts *o);

/* Does one thing to the goals: looks at all, asks, does it. The exit code. */
struct profile_act {
	const struct profile_items *items;
	const char *raw; /* instead of items: the block's lines */
	bool remove;
	bool at_top;
};
int profile_act_run(const struct profile_act *act,
	const struct profile_goals *goals, const struct profile_who *who,
	const struct profile_opts *o);

/* A file that its shell could read must stay one that it can read: 0, or -EBADMSG
 * with d. One that was broken before, by something else, may stay so with
 * broken. */
int profile_still_read(const char *path, enum shell_kind kind,
	const struct buf *before, const struct buf *after, bool broken,
	struct diag *d);

/* The outcome of a change for one file. */
struct profile_outcome {
	struct profile_written w;
	struct diag d;
	int err;
};

/* Asks unless -y; EXIT_OK to go on, else the code to end with. */
int profile_consent(const struct profile_opts *o, const char *question);

/* Adds what was, or would be, changed, as patch takes it. */
void profile_add_diff(
	struct buf *out, const char *path, const struct profile_written *w);

/* A diff for a person: escaped and coloured on a terminal. Clears diff. */
void profile_show_diff(struct buf *diff);

/* The object around all that a verb prints. Where json_putf() says "KEY %s", ""
 * is null in it, and what is no UTF-8 gets a KEY_b64. */
struct json profile_json_begin(struct buf *out);

/* Opens the array of changed files in the object of a verb. */
void profile_json_changes(struct json *j, const struct profile_opts *o);

/* Writes one change; the caller closes the map. withheld: why a possible change
 * was not made; or NULL. */
void profile_json_change(struct json *j, const char *path, enum shell_kind kind,
	const struct profile_outcome *oc, const char *withheld);

/* Adds text from outside, escaped for a terminal, between two own texts. */
void profile_shown(struct buf *out, const char *before, const char *text,
	const char *behind);

/* Zeroed; ends the process rather than return NULL. */
void *profile_alloc(size_t size);

#endif
