/* protect_in.h - what the files of protect share
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_PROTECT_IN_H
#define WARDBOX_PROTECT_IN_H

#include <limits.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "protect/protect.h"

enum protect_kind {
	PROTECT_CONFIG, /* settings of git: single ones are put back */
	PROTECT_COMMON, /* names the directory that holds the settings */
	PROTECT_HOOK,
	PROTECT_WHOLE,
	PROTECT_KINDS,
};

enum protect_how {
	PROTECT_ABSENT,
	PROTECT_FILE,
	PROTECT_LINK,
	PROTECT_DIR,
	PROTECT_OTHER, /* a FIFO, a socket, a device */
	PROTECT_HOWS,
};

/* One name as it was seen. Numbers of one size: they are written as they are. */
struct protect_mark {
	uint64_t dev, ino, size, mtime, ctime; /* times in nanoseconds */
	uint32_t mode, uid, gid;
	uint32_t name_len, text_len;
	uint8_t kind, how, strict, kept; /* kept: text is all of it */
};

struct protect_seen {
	struct protect_mark mark;
	const char *name;
	const char *text; /* a file's bytes, a link's target */
};

struct protect_list {
	struct protect_seen *item; /* PROTECT_FILES_MAX of them */
	size_t count;
	bool full; /* there are more than are looked at */
	uint64_t bytes, when; /* texts that are kept; the time of the look */
	struct arena arena;
};

struct protect {
	const struct protect_spec *spec;
	int root;  /* a descriptor */
	int store; /* what commands at the same time share; -1: nothing */
	bool first; /* nobody else has it */
	bool wiped; /* and its last one left zeros */
	bool again; /* this is no first look: what was closed is opened */
	struct protect_list before;
};

/* How names below the root are opened: through no link of the command's. */
enum {
	/* RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH */
	PROTECT_RESOLVE = 0x02 | 0x04 | 0x08,
};

void protect_list_release(struct protect_list *l);
#define autoprotect_list autoclean(protect_list_release)
const struct protect_seen *protect_find(
	const struct protect_list *l, const char *name);
/* Adds a name as it was seen, unless it is there. 0, -ENOMEM. */
int protect_push(struct protect_list *l, const char *name,
	const struct protect_mark *mark);
/* Keeps its bytes, unless there are too many. */
void protect_text(struct protect_list *l, struct protect_seen *s,
	const char *text, size_t n);
/* Adds base, which lies in the directory dirfd, called dir. 0, also when there is
 * no such thing; -ENOMEM. */
int protect_add(struct protect_list *l, int dirfd, const char *dir,
	const char *base, enum protect_kind kind, bool strict);

/* Adds a name, also when there is no such thing. 0, -ENOMEM. */
int protect_add_name(const struct protect *p, struct protect_list *l,
	const char *name, enum protect_kind kind, bool strict);

/* protect_look.c: the protected names that are there now, without their texts.
 * 0, -ENOMEM. */
int protect_look(const struct protect *p, struct protect_list *l);
/* Reads the texts, as many as may be kept. 0, -ENOMEM. */
int protect_keep(const struct protect *p, struct protect_list *l);

enum { PROTECT_PATH = 1024 }; /* of a name below the root */

/* DIR/NAME, PROTECT_PATH bytes, of a dir that is "" for the root. -ENAMETOOLONG. */
int protect_join(char *out, const char *dir, const char *name);
/* What path means in the directory of file, relative to the root (PROTECT_PATH
 * bytes), by its text alone. False for what lies elsewhere, or is the root. */
bool protect_within(const struct protect *p, const char *file, const char *path,
	char *out);
/* The directory that name lies in, and its last part. A descriptor, -errno. */
int protect_parent(int root, const char *name, const char **base);
/* Gives the owner of a directory, whom we are, its rights again. */
void protect_open_up(int fd);
/* The bytes of a regular file below the root. */
int protect_read(int root, const char *name, struct buf *b);

/* protect_store.c: for commands that run at the same time. protect_share is 1
 * when this command is the first and has to look for itself, 0 when .before is
 * what the first one saw; -ENOMEM. What was left by one whose supervisor was
 * killed is put back there. protect_shared: it looked, and others may know. */
int protect_share(struct protect *p);
void protect_shared(struct protect *p);
void protect_unshare(struct protect *p);

/* protect_back.c */
int protect_compare(struct protect *p);

/* protect_config.c: takes out of b, or gives back, what differs from was (NULL:
 * there was nothing), and tells each. 0: nothing to put back; 1: b is the text
 * to be written; -EINVAL: only the whole file can be put back. */
int protect_config(struct protect *p, const struct protect_seen *was,
	const char *name, bool strict, struct buf *b);
/* The same of one member of a JSON file. */
int protect_member(const struct protect_seen *was, const char *member,
	struct buf *b);

#endif
