/* guard_told.h - what the commands of a session may know of their guard
 * SPDX-License-Identifier: MIT
 *
 * A directory beside the session's temporary files, which its commands can read
 * and cannot write: the last denial, in full, and the policy in force, once one
 * of them asks for that. It informs; nothing is decided by it.
 */
#ifndef WARDBOX_GUARD_TOLD_H
#define WARDBOX_GUARD_TOLD_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "policy/policy.h"
#include "session/session.h"

/* The last denial of a session. */
struct guard_told {
	uint64_t wall;     /* nanoseconds */
	uint64_t line;     /* of the rule in .file; 0: built into the engine */
	uint64_t program;  /* 1: a program was not started; 0: the command */
	char session[SESSION_ID_MAX + 1];
	char profile[16];
	char decision[8];  /* "deny"; "confirm": nobody said yes */
	char layer[8], rule[40], file[128];
	char command[160]; /* the words judged */
	char reason[200];
	char instead[256]; /* what the caller can do next */
	char cwd[1024];
	char what[4096];   /* the whole text, or the program's arguments; secrets
			    * are redacted */
};

/* The policy, as the guard around has it. */
struct guard_told_policy {
	struct policy *policy;
	enum policy_profile profile;
	char root[PATH_MAX], tmp[PATH_MAX], cache[PATH_MAX];
	bool no_project;
};

/* Opens the directory of the session that where describes. -ENOENT, -errno. */
int guard_told_dir(const struct session_where *where);
/* Reads the last denial. -ENOENT: there was none. -errno with d. */
int guard_told_read(
	int dir, const char *session, struct guard_told *t, struct diag *d);
int guard_told_load(int dir, const char *session, struct guard_told_policy *p,
	struct diag *d);

#endif
