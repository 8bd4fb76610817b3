/* policy_applet.h - between the parts of the policy applet
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_POLICY_APPLET_H
#define WARDBOX_POLICY_APPLET_H

#include <limits.h>

#include "applet.h"
#include "policy/policy.h"
#include "base/str.h"

enum {
	POLICY_EXIT_CONFIRM = 10,
	POLICY_EXIT_DENY = 11,
	POLICY_EXIT_OPEN = 12,
	POLICY_EXIT_BROKEN = 3,
};

struct policy_opts {
	const struct cli_spec *spec;
	const char *profile, *cwd, *root, *dialect, *system, *batch, *output;
	const char *key, *write;
	unsigned count;
	bool json, dry_run;
};

/* Where a line is judged. */
struct policy_here {
	struct policy *policy;
	struct policy_where where;
	enum policy_profile profile;
	char cwd[PATH_MAX], root[PATH_MAX], home[PATH_MAX], user[PATH_MAX];
	char project[PATH_MAX];
	char tmp[PATH_MAX], own[PATH_MAX]; /* as the request has them; or "" */
	bool told;       /* inside: the policy is the one that the guard told */
	const char *places[POLICY_PLACES + 1];
	bool astray;     /* cwd has no project */
	bool no_project; /* nor has the line */
};
void policy_here_release(struct policy_here **h);
#define autohere autoclean(policy_here_release)

/* Finds out, loads the policy, says what is wrong with it. Exits on usage. */
struct policy_here *policy_find_here(const struct policy_opts *o);

/* Where cwd has no project, a line may go to one: what follows is of that. */
void policy_follow_line(struct policy_here *h, const char *line, size_t len);

/* The request for a line, without its text. */
struct policy_request policy_request_here(
	const struct policy_opts *o, const struct policy_here *h);

/* Writes the file, in a directory that is made if need be. Exits when it cannot.
 */
void policy_write(const char *file, const void *bytes, size_t n, mode_t mode);

/* Says that a verb wrote the file (or, in a dry run, that it would), and what
 * there is to say of it, or NULL. */
void policy_wrote(const struct policy_opts *o, struct json *j, const char *file,
	const char *text);

/* A file that is good, or what is wrong with it: a map, left open. */
void policy_tell(struct json *j, const char *path, const struct diag *d);

/* The text of the operands of a verb: argv[1..] joined by blanks. */
void policy_line_of(
	const struct policy_opts *o, int argc, char **argv, struct buf *out);

int policy_status(void *into);
int policy_allowlist(void *into);
int policy_blocklist(void *into);
int policy_test_verb(void *into, int argc, char **argv);
int policy_explain(void *into, int argc, char **argv);
int policy_why(void *into, int argc, char **argv);
int policy_check(void *into, int argc, char **argv);
int policy_compile(void *into);
int policy_export(void *into);
int policy_keygen(void *into);
int policy_sign_verb(void *into, int argc, char **argv);
int policy_verify(void *into, int argc, char **argv);
int policy_history(void *into);
int policy_init(void *into);
int policy_suggest(void *into);
int policy_registries(void *into);

#endif
