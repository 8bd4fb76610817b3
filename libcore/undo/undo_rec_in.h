/* undo_rec_in.h - the recorder of one command
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_UNDO_REC_IN_H
#define WARDBOX_UNDO_REC_IN_H

#include "undo/undo_in.h"

#define UNDO_UNSEEN "it came meanwhile, and nobody saw it"

struct undo {
	const struct undo_spec *spec;
	struct undo_model *m; /* NULL: nothing was touched */
	struct undo_out out;
	int failed; /* -errno: the journal could not be written */
	uint64_t began, copied;
	char *also[UNDO_ALSO]; /* noted before there was a journal */
	uint32_t lost;
	/* Who changes it; with others at work a directory that goes elsewhere
	 * can take along what one of them makes in the same moment. */
	pid_t first;
	bool others, dirs_go;
	uint32_t *objs, *ents; /* heads of hash chains: 1 more than an index */
	uint32_t obj_mask, ent_mask;
	struct {
		uint32_t id;
		int fd;
	} open[UNDO_DIRS_OPEN];
	unsigned open_next;
	struct {
		uint64_t dev, ino;
	} outside[32];
	unsigned outside_next;
};

/* What an object is known by: its state before, or of one that the command made
 * its state when it was first seen. */
static inline const struct undo_stat *undo_key(const struct undo_obj *o)
{
	return o->before.mode ? &o->before : &o->after;
}

/* undo_touch.c: says that a path cannot be brought back. */
int undo_lose(struct undo *u, const char *path, const char *why);

/* undo_hash.c */
void undo_hash_obj(struct undo *u, uint32_t id);
void undo_hash_ent(struct undo *u, uint32_t index);
uint32_t undo_find_obj(const struct undo *u, const struct undo_stat *st);
int64_t undo_find_ent(const struct undo *u, uint32_t dir, const char *name);

/* undo_look.c: finds where all objects are now, and what they are. */
int undo_look(struct undo *u);
/* Lets go of what need not be kept; takes checksums. */
void undo_settle(struct undo_model *m);
/* Appends what was found, and the end. */
int undo_write_found(struct undo_out *out, struct undo_model *m);
/* undo_end.c: closes the journal of a command that was cut off. */
int undo_end_cut(struct undo *u);
void undo_recorder_free(struct undo **u);

#endif
