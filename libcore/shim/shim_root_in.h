/* shim_root_in.h - the shells of a root, and how far each is guarded
 * SPDX-License-Identifier: MIT
 *
 * Every path in here is one of the root; links are followed within it. What is
 * to be known is read from the tree itself, so that a run that was killed at
 * any point is understood by the next.
 */
#ifndef WARDBOX_SHIM_ROOT_IN_H
#define WARDBOX_SHIM_ROOT_IN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "shim/shim_record_in.h"
#include "shim/shimlinks.h"

enum {
	SHIM_PLACES = 3, /* /bin, /usr/bin, /usr/local/bin */
	SHIM_ENTRIES = SHIM_PLACES * SHIM_SHELLS,
};

enum shim_state {
	SHIM_ABSENT,      /* there is no such shell */
	SHIM_PLAIN,       /* a shell, not guarded */
	SHIM_DANGLING,    /* a link to nothing: left alone */
	SHIM_HALF,        /* its .real exists, the shim does not yet */
	SHIM_GUARDED,     /* a shim, with the original beside it */
	SHIM_OVERWRITTEN, /* was guarded; the shim was overwritten */
	SHIM_REMOVED,     /* was guarded; the shim was removed */
	SHIM_LOST,        /* a shim without an original */
	SHIM_FOREIGN,     /* a .real that wardbox did not make: left alone */
};

struct shim_place {
	int fd;                   /* of the directory; -1: it does not exist */
	char path[SHIM_PATH_MAX]; /* real path, links resolved */
};

struct shim_entry {
	int dir; /* the place's descriptor */
	char name[SHIM_NAME_MAX];
	char path[SHIM_PATH_MAX];
	enum shim_state state;
	char target[128]; /* target of an original that is a link; else "" */
};

struct shim_root {
	int fd;
	bool host;     /* the root that this process runs in */
	bool recorded; /* the record was read from it */
	bool changed;  /* the binary is not the installed one */
	struct shim_record record;
	struct shim_place place[SHIM_PLACES];
	struct shim_entry entry[SHIM_ENTRIES];
	size_t entry_count;
};

#define SHIM_ROOT_INIT                                                         \
	((struct shim_root){.fd = -1, .place = {{-1, ""}, {-1, ""}, {-1, ""}}})
void shim_root_release(struct shim_root *r);

/* The same for an entry: a shim whose wardbox was overwritten is
 * "overwritten". */
const char *shim_entry_state(
	const struct shim_root *r, const struct shim_entry *e);

/* "guarded", "overwritten", …, and advice about it ("" for none). */
const char *shim_state_name(enum shim_state state);
const char *shim_state_advice(enum shim_state state);

/* The same for an entry, whose original may be a link to nothing. */
const char *shim_entry_advice(
	const struct shim_root *r, const struct shim_entry *e);

/* Opens the directory, its record and its places, and looks at the shells in
 * the list (NULL-terminated; NULL: all names of shims). bindir is wardbox's
 * directory, unless the record tells; NULL: /usr/bin, or /bin where that is
 * missing. -ENOENT, -ENOTDIR, -EPERM, -EINVAL for a record that cannot be read,
 * -ENOSYS before Linux 5.6. r must be released after any result. */
int shim_root_open(struct shim_root *r, const char *path, const char *bindir,
	const char *const *shells, struct diag *d);

/* Looks at the entries again. */
void shim_root_survey(struct shim_root *r);

/* Opens a path of the root, links followed within it. */
int shim_root_openat(
	const struct shim_root *r, const char *path, int flags);

/* The size of the installed binary, and its SHA-256 in hex; *ours (may be
 * NULL): whether it is a wardbox. -errno. */
int shim_binary_sum(const struct shim_root *r, uint64_t *size,
	char out[static 65], bool *ours);

/* Is the root sound? False if only uninstall or a second install puts it
 * right. */
bool shim_root_sound(const struct shim_root *r);

#endif
