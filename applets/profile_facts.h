/* profile_facts.h - what the user's shell does when it starts
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_APPLET_PROFILE_FACTS_H
#define WARDBOX_APPLET_PROFILE_FACTS_H

#include "profile.h"
#include "profile/profile_probe.h"
#include "profile/profile_problem.h"

struct profile_session {
	bool probed;
	enum profile_probe_status status;
	unsigned ms;
	char *path; /* PATH there; NULL when unknown; freed with the facts */
	char noise[128]; /* the start of what it printed */
	size_t noise_len;
};

struct profile_facts {
	bool probed; /* at least one session answered or failed */
	bool healthy;
	char version[64];  /* "" when the shell has none to say */
	char program[256]; /* the shell's file; "" when it is not here */
	struct profile_session session[SESSIONS];
	/* bash as sshd starts it for a command, scp and rsync included. */
	struct profile_session remote;
	char login_profile[1024], rc_file[1024];
	struct profile_files files;
};

void profile_facts_release(struct profile_facts *f);

/* Lists the files and, unless --no-exec, starts the four sessions. */
void profile_facts_find(struct profile_facts *f, const struct profile_who *who,
	const struct profile_opts *o);

/* The keys "shell", "sessions", "path_healthy", "path_login" and
 * "path_nonlogin" of an open map. */
void profile_facts_json(struct json *j, const struct profile_facts *f,
	const struct profile_who *who);

/* Adds what the sessions show. */
void profile_facts_judge(const struct profile_facts *f,
	const struct profile_who *who, struct profile_problems *problems);

/* The next entry of the PATH list, "" for an empty one; those beyond size are
 * passed over. path may be NULL. */
bool profile_path_next(const char *path, size_t *at, char *dir, size_t size);

/* Is dir an entry of the PATH list? */
bool profile_path_lists(const char *path, const char *dir);

#endif
