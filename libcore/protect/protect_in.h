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
	PROTECT_CONFIG, /* settings of git: put back one by one */
	PROTECT_COMMON, /* a file that names the directory of the settings */
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

/* A name as it was seen. Its numbers have one size, because they are written as
 * they are. */
struct protect_mark {
	uint64_t dev, ino, size, mtime, ctime; /* times in nanoseconds */
	uint32_t mode, uid, gid;
	uint32_t name_len, text_len;
	uint8_t kind, how, strict, kept; /* kept: text is complete */
};

struct protect_seen {
	struct protect_mark mark;
	const char *name;
	const char *text; /* a file's bytes, or a link's target */
};

struct protect_list {
	struct protect_seen *item; /* room for PROTECT_FILES_MAX */
	size_t count;
	bool full; /* there are more names than are looked at */
	uint64_t bytes, when; /* bytes of kept texts; time of the look */
	struct arena arena;
};

struct protect {
	const struct protect_spec *spec;
	int root;  /* a descriptor */
	int store; /* the file that commands at the same time share; -1: none */
	bool first; /* no other command has it */
	bool wiped; /* and the last one left zeros */
	bool again; /* a later look: closed directories were opened */
	struct protect_list before;
};

/* The way names below the root are opened: through no link, which the command
 * could have made. */
enum {
	/* RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH */
	PROTECT_RESOLVE = 0x02 | 0x04 | 0x08,
};

void protect_list_release(struct protect_list *l);
#define autoprotect_list autoclean(protect_list_release)
const struct protect_seen *protect_find(
	const struct protect_list *l, const char *name);
/* Adds a name as it was seen, unless the list has it. 0, -ENOMEM. */
int protect_push(struct protect_list *l, const char *name,
	const struct protect_mark *mark);
/* Keeps the file's bytes, unless there are too many. */
void protect_text(struct protect_list *l, struct protect_seen *s,
	const char *text, size_t n);
/* Adds base, in the directory dirfd, which is called dir. 0, even when it does
 * not exist; -ENOMEM. */
int protect_add(struct protect_list *l, int dirfd, const char *dir,
	const char *base, enum protect_kind kind, bool strict);

/* Adds a name, even when it does not exist. 0, -ENOMEM. */
int protect_add_name(const struct protect *p, struct protect_list *l,
	const char *name, enum protect_kind kind, bool strict);

/* protect_look.c: adds the protected names that exist now, without their texts.
 * 0, -ENOMEM. */
int protect_look(const struct protect *p, struct protect_list *l);
/* Reads the texts, as many as may be kept. 0, -ENOMEM. */
int protect_keep(const struct protect *p, struct protect_list *l);

enum { PROTECT_PATH = 1024 }; /* of a name below the root */

/* DIR/NAME, PROTECT_PATH bytes, of a dir that is "" for the root. -ENAMETOOLONG. */
int protect_join(char *out, const char *dir, const char *name);
/* Resolves path in the directory of file, relative to the root (PROTECT_PATH
 * bytes), by its text alone. False if it leads elsewhere, or to the root. */
bool protect_within(const struct protect *p, const char *file, const char *path,
	char *out);
/* Opens the directory of name; *base is the last part. A descriptor, -errno. */
int protect_parent(int root, const char *name, const char **base);
/* Gives the owner of a directory, if that is us, its rights again. */
void protect_open_up(int fd);
/* Reads a regular file below the root. */
int protect_read(int root, const char *name, struct buf *b);

/* protect_store.c: for commands that run at the same time. protect_share is 1
 * when this command is the first and has to look itself, 0 when .before is what
 * the first one saw; -ENOMEM. Changes that a killed supervisor left are put
 * back there. protect_shared publishes the first look. */
int protect_share(struct protect *p);
void protect_shared(struct protect *p);
void protect_unshare(struct protect *p);

/* protect_back.c */
int protect_compare(struct protect *p);

/* protect_config.c: takes the changes against was (NULL: no file) out of b and
 * reports each. 0: nothing to put back; 1: b is the text to write; -EINVAL:
 * only the whole file can be put back. */
int protect_config(struct protect *p, const struct protect_seen *was,
	const char *name, bool strict, struct buf *b);
/* The same for one member of a JSON file. */
int protect_member(const struct protect_seen *was, const char *member,
	struct buf *b);

#endif
