/* undo_in.h - what the files of undo share
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_UNDO_IN_H
#define WARDBOX_UNDO_IN_H

#include <dirent.h>
#include <limits.h>

#include "base/arena.h"
#include "sys/file.h"
#include "undo/undo.h"

enum {
	UNDO_NONE = 0, /* no object */
	UNDO_ROOT = 1, /* the first root; the others follow */
	UNDO_XATTR_MAX = 1 << 17,
	UNDO_DIRS_OPEN = 16,
	UNDO_HASHED_MAX = 8 << 20,   /* a longer file gets no checksum */
	UNDO_HASHED_ALL = 256 << 20, /* nor do those behind so many bytes */
	/* The clock of file systems is behind by up to a tick. */
	UNDO_TICK_NS = 20000000,
};

/* On disk as it is. Times are nanoseconds. */
struct undo_stat {
	uint64_t dev, ino, btime, ctime, mtime, atime, size, rdev;
	uint32_t mode, uid, gid, nlink; /* mode 0: there is nothing */
};

struct undo_ident {
	uint64_t dev, ino, btime;
};

enum {
	UNDO_HELD = 1,   /* store/N/o<id> is a link to the very object */
	UNDO_COPIED = 2, /* store/N/c<id> is a copy of the content */
	UNDO_GONE = 4,   /* could not be saved */
};
enum {
	UNDO_T_CONTENT = 1,
	UNDO_T_META = 2,
	UNDO_T_DIR = 4, /* names in it changed */
	UNDO_T_XATTR = 8, /* .xattr is known */
	UNDO_T_SHA_OLD = 16,
	UNDO_T_SHA_NEW = 32,
};

struct undo_obj {
	struct undo_stat before; /* .mode 0: the command made it */
	struct undo_stat after;  /* .mode 0: it is gone */
	const char *name, *name2; /* first seen at, and in the end */
	const char *link;         /* a symbolic link's target before, */
	const char *link2;        /* and after */
	const char *xattr; /* name, NUL, 32 bits of length, value; … */
	uint32_t xattr_len;
	uint32_t parent, parent2;
	uint32_t next;  /* of its hash chain */
	uint32_t entry; /* 1 more than the entry whose .before it is; 0 */
	uint32_t dest;  /* 1 more than the entry that it came to; 0 */
	uint8_t saved, touched;
	bool found, skip, hashed;
	bool stays; /* in the end it has a name that it had before */
	bool staged, fresh;  /* while it is restored: put aside, made anew */
	const char *alive;   /* another name of it that there is */
	uint32_t placed; /* 1 more than the entry where it stands again */
	uint64_t seen; /* undo_mark() of it as the restore found or made it */
	struct undo_ident now; /* what stands for it since the last restore */
	uint8_t sha_old[UNDO_SHA], sha_new[UNDO_SHA];
};

struct undo_ent {
	const char *name;
	uint32_t dir, before, after;
	uint32_t next;    /* of its hash chain */
	uint32_t sibling; /* in its directory; 1 more than the index */
	uint64_t seen;    /* undo_mark() of what the restore found there; 0 */
	bool foreign;     /* what came there is of outside: it stays */
	bool skip; /* not what was asked for, or as before already */
};

struct undo_loss {
	const char *path, *why;
};

enum { UNDO_ALSO = 16 };

struct undo_model {
	struct arena arena;
	struct undo_info info;
	int dir; /* store/N */
	uint64_t whole; /* bytes of its journal that are */
	const char *root[UNDO_ROOTS_MAX];
	uint32_t root_count;
	struct undo_obj *obj; /* [0] is nobody */
	uint32_t obj_count, obj_cap;
	struct undo_ent *ent;
	uint32_t ent_count, ent_cap;
	struct undo_loss *lost;
	uint32_t lost_count, lost_cap;
	const char *also[UNDO_ALSO]; /* what else takes it back */
	uint32_t also_count;
};

static inline bool undo_is_dir(const struct undo_stat *s)
{
	return (s->mode & 0170000) == 0040000;
}
static inline bool undo_is_file(const struct undo_stat *s)
{
	return (s->mode & 0170000) == 0100000;
}
static inline bool undo_is_link(const struct undo_stat *s)
{
	return (s->mode & 0170000) == 0120000;
}
bool undo_same_object(const struct undo_stat *a, const struct undo_stat *b);
/* Tells one object from another that has been given its name. */
uint64_t undo_mark(const struct undo_stat *st);

/* undo_model.c. Ids; UNDO_NONE when there is no memory, or -1 of an entry. */
struct undo_model *undo_model_new(void);
uint32_t undo_add_obj(struct undo_model *m, uint32_t parent, const char *name);
int64_t undo_add_ent(struct undo_model *m, uint32_t dir, const char *name,
	uint32_t before);
int undo_add_loss(struct undo_model *m, const char *path, const char *why);
const char *undo_keep(struct undo_model *m, const char *s);
/* Absolute; of an object before the command, or after it. -ENOENT: nowhere. */
int undo_path(const struct undo_model *m, uint32_t id, bool after, char *out);
int undo_ent_path(const struct undo_model *m, const struct undo_ent *e,
	bool after, char *out);
/* The root that an object lies in, and how deep; UNDO_NONE: in none. */
uint32_t undo_root(
	const struct undo_model *m, uint32_t id, bool after, unsigned *depth);
/* Where it was: its entry's place, else where it was first seen. */
void undo_was_at(const struct undo_model *m, uint32_t id, uint32_t *parent,
	const char **name);

/* A directory to be read, by its name or of a descriptor that it takes over; NULL:
 * it cannot be. */
DIR *undo_dir_open(int at, const char *name);
DIR *undo_dir_of(int fd);

/* undo_save.c: statx of dir/name, through no link; name "" is dir itself. */
int undo_stat(int dir, const char *name, struct undo_stat *out);
/* Its extended attributes, as .xattr has them. */
int undo_xattrs(int dir, const char *name, struct buf *out);
/* Copies content, with its holes; a clone where the file system can. left, where
 * it is not NULL, is how many bytes may be copied, and gets what remains of it:
 * -EFBIG. */
int undo_copy(int from, int to, uint64_t size, uint64_t *left);
/* Content of a regular file, opened without a trace. */
int undo_open_file(int dir, const char *name);
/* Its checksum; false when it has none. */
bool undo_sum_file(int fd, uint64_t *budget, uint8_t out[static UNDO_SHA]);
/* "o17", "c17". */
const char *undo_saved_name(char out[static 16], char kind, uint32_t id);
/* Sets all that .before has, on dir/name, through no link. -ESTALE when o, which
 * may be NULL, is not what stands there. */
int undo_set_meta(int dir, const char *name, const struct undo_stat *to,
	const struct undo_obj *o);

/* undo_journal.c: what is written together. */
struct undo_out {
	int fd; /* -1: there is no journal yet */
	size_t used;
	char room[3072];
};
int undo_flush(struct undo_out *out);
/* Each appends one record. */
int undo_write_begin(struct undo_out *out, const struct undo_model *m);
int undo_write_obj(struct undo_out *out, const struct undo_model *m, uint32_t id);
int undo_write_ent(struct undo_out *out, const struct undo_model *m, uint32_t index);
int undo_write_saved(struct undo_out *out, const struct undo_model *m, uint32_t id);
int undo_write_loss(struct undo_out *out, const char *path, const char *why);
int undo_write_also(struct undo_out *out, const char *text);
int undo_write_obj_end(struct undo_out *out, const struct undo_model *m, uint32_t id);
int undo_write_ent_end(struct undo_out *out, const struct undo_model *m, uint32_t index);
int undo_write_end(struct undo_out *out, const struct undo_model *m);
/* All records up to the first that is not whole. */
int undo_read(int fd, struct undo_model *m);
/* The header, and the end where there is one. */
int undo_read_info(int fd, struct undo_info *info);

/* undo_again.c. Notes which object stands for a file since the restore by. */
int undo_again_note(int store, uint64_t by, const struct undo_ident *was,
	const struct undo_stat *is);
/* Gives the model's objects the identity that they have now. */
int undo_again_follow(int store, struct undo_model *m);
struct undo_ident undo_ident(const struct undo_stat *st);

/* undo_store.c: a new journal's directory, and its locked file. */
int undo_new(int store, struct undo_info *info, int *dir, int *journal);
/* Removes it with all that it holds. */
int undo_drop(int store, uint64_t number);

/* undo_end.c. Counts what became of all paths. */
void undo_count(const struct undo_model *m, struct undo_info *to);
/* Whether an object that was there before is other than before. */
bool undo_differs(const struct undo_obj *o);
/* Whether nothing at all can have changed it. */
bool undo_untouched(const struct undo_model *m, const struct undo_obj *o);

/* Opens a root; -ESTALE when another directory stands in its place. */
int undo_open_root(const struct undo_model *m, uint32_t root);
/* Opens a directory of the model, from its root, through no link. */
int undo_open_dir(const struct undo_model *m, uint32_t id, bool after);

/* undo_plan.c: marks the entries that a wish leaves out, and says why. */
int undo_check(struct undo_model *m, const struct undo_wish *w,
	struct undo_acts *out);
int undo_act_add(struct undo_acts *a, enum undo_became became,
	const char *path, const char *why);
/* Is what stands at dir/name as the object was before, or after? */
bool undo_is_as(const struct undo_obj *o, bool after, int dir,
	const char *name, const struct undo_stat *st);
/* Tells of what changed while the command ran and its journal does not know: a
 * lost race, or somebody else. */
typedef int undo_unknown(void *ctx, const char *path);
int undo_find_unseen(struct undo_model *m, undo_unknown *tell, void *ctx);
/* Fills .alive of objects that lost one of many names. */
void undo_find_alive(struct undo_model *m);
/* Must it go back to a name that it lost? */
bool undo_goes_back(const struct undo_model *m, uint32_t id);

#endif
