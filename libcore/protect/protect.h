/* protect.h - names of a project that no command may change unasked
 * SPDX-License-Identifier: MIT
 *
 * A mount protects only what exists, and git replaces its settings by renaming
 * a new file over them. So the protected names are looked at before a command
 * runs and again when its tree is empty. What the policy did not allow is put
 * back: single settings of git are taken out of their file, other files get
 * the bytes that they had, and what is new is renamed to NAME.denied, where
 * nothing runs it and nothing is lost.
 *
 *	err = protect_begin(&p, &spec);   // before the command
 *	err = protect_check(p);           // when it ended; again when its tree did
 *	protect_end(p);
 *
 * While one command of the project runs, what was there before the first of
 * those that run now counts for all of them: one that began while another had
 * planted something must not bring that back.
 */
#ifndef WARDBOX_PROTECT_H
#define WARDBOX_PROTECT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"

enum {
	PROTECT_FILES_MAX = 512,      /* names that are looked at */
	PROTECT_FILE_MAX = 1 << 20,   /* kept bytes of one file */
	PROTECT_BYTES_MAX = 4 << 20,  /* kept bytes of all files */
	PROTECT_DEPTH_MAX = 6,        /* depth of directories */
};

/* A name that the policy protects, relative to the root. */
struct protect_name {
	const char *path; /* its last part may hold '*' and '?' */
	bool tree;        /* also everything beneath it */
	bool strict;      /* no person can allow it for one command */
};

/* A change that was put back. */
struct protect_change {
	const char *name; /* the file, relative to the root */
	const char *what; /* the setting with its value; "" for the whole
			   * file */
	const char *aside; /* the new name of the file; "": the file got its
			    * former bytes back, or lost the setting */
	bool strict;
	int err; /* -errno: the change could not be put back */
};

struct protect_spec {
	const char *root; /* absolute, by the kernel's name */
	const char *cwd;  /* repositories from here up to the root count */
	const struct protect_name *names;
	size_t name_count;
	/* Absolute directories of the guard's own. */
	const char *const *skip;
	size_t skip_count;
	bool allowed; /* only strict names are put back */
	int state;    /* a directory of the guard's own, through which commands
		       * that run at the same time share what they saw; -1:
		       * none */
	/* Does this setting of git (its name in lower case) run something, or
	 * lead git elsewhere? */
	bool (*runs)(void *ctx, const char *name, const char *value);
	/* The only member of a JSON file that counts; NULL: the whole file. */
	const char *(*member)(void *ctx, const char *name);
	void (*found)(void *ctx, const struct protect_change *change);
	void *ctx;
};

struct protect;

/* Looks at the protected names. The spec must live as long as *out. 0, with
 * *out NULL where the project does not exist; -errno. */
int protect_begin(struct protect **out, const struct protect_spec *spec);
/* Puts back what changed. 0; -errno: some change could not be put back, and was
 * reported. May be called again. */
int protect_check(struct protect *p);
/* Releases p; the check before was the last one. */
void protect_end(struct protect *p);

static inline void protect_release(struct protect **p)
{
	protect_end(*p);
}
#define autoprotect autoclean(protect_release)

#endif
