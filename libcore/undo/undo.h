/* undo.h - what a command changed in a project, and back
 * SPDX-License-Identifier: MIT
 *
 *	undo_begin(&u, &spec);            // before the command; no file is made
 *	undo_touch(u, &touch);            // before each change
 *	undo_end(&u, &sum, &d);           // what it came to
 *
 *	undo_load(store, n, &m, &d);      // later: what the journal says
 *	undo_plan(m, &spec, &plan, &d);   // what would be done; changes nothing
 *	undo_apply(plan, &spec, &sum, &d);
 *
 * The store is a directory of the guard's own. The journal of a command is
 * whole up to the last change that went on, because each record is written
 * before that. What is on disk has this machine's byte order.
 */
#ifndef WARDBOX_UNDO_H
#define WARDBOX_UNDO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/diag.h"

enum {
	UNDO_ROOTS_MAX = 8,
	UNDO_SHA = 32,
	UNDO_TEXT = 512,     /* of a command's text that is kept */
	UNDO_SESSION = 129,
	UNDO_PATH = 4096,
	UNDO_ENTRIES = 1 << 20, /* the most that any bound allows */
};

enum undo_kind {
	UNDO_COMMAND,
	UNDO_UNDO, /* took another journal back */
	UNDO_REDO, /* took an undo back */
};

struct undo_bounds {
	uint64_t bytes;   /* that are copied for one command; 0: no bound */
	uint64_t entries; /* names and objects of one command */
	uint64_t keep;    /* bytes that all journals of the store hold */
	uint64_t session; /* those of one session */
	uint64_t age_ns;  /* of a journal, before it is pruned */
};

/* A path that cannot be brought back, told before the change goes on. 0: it goes
 * on; -errno: it is refused. */
typedef int undo_lost(void *ctx, const char *path, const char *why);

struct undo_spec {
	int store;                /* undo_store_open() */
	const char *const *roots; /* absolute, and the kernel's own names */
	size_t root_count;
	const char *session, *text;
	uint64_t exec_id;
	enum undo_kind kind;
	uint64_t of; /* the journal that UNDO and REDO take back */
	struct undo_bounds bounds;
	undo_lost *lost; /* NULL: everything goes on */
	void *ctx;
};

enum undo_what {
	UNDO_MAKE,    /* a name: something is made there */
	UNDO_REMOVE,  /* a name: what is there goes, or is replaced */
	UNDO_MOVE,    /* a name goes to another one */
	UNDO_SWAP,    /* two names are exchanged */
	UNDO_CONTENT, /* what stands at the name is written */
	UNDO_META,    /* its mode, owner, times or attributes change */
	UNDO_KNOWN,   /* it gets one more name */
};

/* A change that is about to happen. */
struct undo_touch {
	enum undo_what what;
	pid_t who; /* a thread */
	int dir; /* O_PATH is enough; as whoever changes it sees it */
	const char *name;
	int dir2; /* MOVE, SWAP */
	const char *name2;
};

struct undo;

/* 0 or -ENOMEM. The spec must live as long as *out. */
int undo_begin(struct undo **out, const struct undo_spec *spec);
/* Notes what else takes the command back, for who reads the journal. 0, -ENOMEM,
 * or a journal that cannot be written. */
int undo_also(struct undo *u, const char *text);
/* 0: it may go on; -errno: spec.lost, or a journal that cannot be written. */
int undo_touch(struct undo *u, const struct undo_touch *t);
/* A change that could not be looked at. As undo_touch(). */
int undo_unseen(struct undo *u, const char *path, const char *why);

/* What became of one path. */
enum undo_became { UNDO_MADE, UNDO_CHANGED, UNDO_REMOVED, UNDO_MOVED, UNDO_LOST };
/* "made" "changed" "removed" "moved" "lost". */
const char *undo_became_name(enum undo_became became);
struct undo_change {
	enum undo_became became;
	const char *path; /* absolute */
	const char *from; /* MOVED: where it was; LOST: why */
	uint32_t mode; /* of what it is now, or was */
	uint64_t size;
	const uint8_t *old_sha, *new_sha; /* NULL: none, or not known */
	uint32_t old; /* for undo_old(); 0: there was nothing */
};
typedef int undo_each(void *ctx, const struct undo_change *c);

struct undo_sum {
	uint64_t number; /* the journal; 0: nothing was touched */
	uint32_t made, changed, removed, moved, lost;
	uint64_t bytes; /* that it holds */
};

/* Compares what the journal says with what is there, and closes it; *u is freed
 * whatever comes. each may be NULL. complete is false for an undo that left
 * something out. */
int undo_end(struct undo **u, bool complete, undo_each *each, void *ctx,
	struct undo_sum *sum, struct diag *d);

/* The store of that name in dir, a private directory, locked for one who
 * restores when alone is set, and is waited for: -EBUSY after 20 s. A descriptor. */
int undo_store_open(int dir, const char *name, bool make, bool alone,
	struct diag *d);

/* One journal, by its header and its end. */
struct undo_info {
	uint64_t number, of, exec_id, began_ns, ended_ns, bytes;
	enum undo_kind kind;
	bool running;  /* its command lives */
	bool ended;    /* false and not running: it was cut off */
	bool complete;
	bool undone;   /* by one of the store's journals */
	uint32_t made, changed, removed, moved, lost;
	char session[UNDO_SESSION];
	char text[UNDO_TEXT];
	char root[UNDO_PATH]; /* the first root */
};
/* The store's journals, the oldest first; root NULL: of all projects. *out is
 * one allocation. */
int undo_list(int store, const char *root, struct undo_info **out, size_t *n,
	struct diag *d);
/* Removes a journal, and all that it holds. -EBUSY: its command lives. */
int undo_forget(int store, uint64_t number, struct diag *d);
/* Removes what is beyond the bounds, the oldest first. The bytes freed. */
uint64_t undo_prune(int store, const struct undo_bounds *b);

struct undo_model;
void undo_free(struct undo_model **m);
#define autoundo_model autoclean(undo_free)

/* Reads a journal. One that was cut off counts as ended now. -EBUSY: its command
 * lives; -ENOENT; -EBADMSG. */
int undo_load(int store, uint64_t number, struct undo_model **m,
	struct diag *d);
const struct undo_info *undo_info(const struct undo_model *m);
/* What else takes it back, number n; NULL: there are no more. */
const char *undo_else(const struct undo_model *m, size_t n);
/* Calls each for every path that changed. */
int undo_changes(const struct undo_model *m, undo_each *each, void *ctx);
/* A descriptor of what a changed or removed file's content was before; -ENOENT:
 * it is not kept. */
int undo_old(const struct undo_model *m, uint32_t old);

/* One step of a restore, for the person who asks. */
struct undo_act {
	enum undo_became became; /* what happens to the path */
	const char *path;
	const char *why; /* not NULL: it cannot, or must not, be done */
};
struct undo_wish {
	int store;
	const char *const *paths; /* absolute; NULL: all */
	size_t path_count;
	bool force; /* also what somebody else changed since */
	const char *session;
	uint64_t exec_id;
	struct undo_bounds bounds;
	void (*progress)(void *ctx, size_t done, size_t of); /* may be NULL */
	void *ctx;
};
struct undo_acts {
	struct undo_act *act;
	size_t count;
	size_t refused; /* of them, those with a reason */
	void *arena;
};
#define UNDO_ACTS_INIT ((struct undo_acts){0})
void undo_acts_release(struct undo_acts *a);
#define autoundo_acts autoclean(undo_acts_release)

/* What a restore would do; changes nothing. 0, -ENOMEM. */
int undo_plan(struct undo_model *m, const struct undo_wish *w,
	struct undo_acts *out, struct diag *d);
/* Does it, after a plan without refusals or with force. failed gets what could
 * not be done, or is other than before. -EIO with a list: partial. */
int undo_apply(struct undo_model *m, const struct undo_wish *w,
	struct undo_sum *sum, struct undo_acts *failed, struct diag *d);

#endif
