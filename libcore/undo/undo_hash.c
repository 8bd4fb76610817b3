/* undo_hash.c - finds the objects and the names that were touched
 * SPDX-License-Identifier: MIT
 */
#include "undo/undo_rec_in.h"

#include <stdlib.h>

#include "base/str.h"

enum { HEADS_FIRST = 256 };

static uint32_t mix_hash(uint64_t x)
{
	x *= 0x9e3779b97f4a7c15U;
	return (uint32_t)(x >> 32);
}

static uint32_t obj_sum(const struct undo_stat *st)
{
	return mix_hash(st->ino ^ st->btime << 17 ^ st->dev << 47);
}

static uint32_t ent_sum(uint32_t dir, const char *name)
{
	uint64_t sum = 0xcbf29ce484222325U ^ dir;

	for (; *name; name++)
		sum = (sum ^ (unsigned char)*name) * 0x100000001b3U;
	return mix_hash(sum);
}

/* Grows a table of heads. Without memory the old one stays, and is slower. */
static bool more_heads(uint32_t **heads, uint32_t *mask, uint32_t count)
{
	uint32_t n = *heads ? (*mask + 1) * 4 : HEADS_FIRST;
	uint32_t *fresh;

	if (*heads && count <= *mask)
		return false;
	fresh = calloc(n, sizeof *fresh);
	if (!fresh)
		return false;
	free(*heads);
	*heads = fresh;
	*mask = n - 1;
	return true;
}

static void link_obj(struct undo *u, uint32_t id)
{
	struct undo_obj *o = &u->m->obj[id];
	uint32_t *head = &u->objs[obj_sum(undo_key(o)) & u->obj_mask];

	o->next = *head;
	*head = id;
}

void undo_hash_obj(struct undo *u, uint32_t id)
{
	/* Objects that were hashed before move to the new table. */
	if (more_heads(&u->objs, &u->obj_mask, u->m->obj_count)) {
		for (uint32_t i = UNDO_ROOT; i < id; i++)
			if (u->m->obj[i].hashed)
				link_obj(u, i);
	}
	u->m->obj[id].hashed = true;
	if (u->objs)
		link_obj(u, id);
}

static void link_ent(struct undo *u, uint32_t index)
{
	struct undo_ent *e = &u->m->ent[index];
	uint32_t *head = &u->ents[ent_sum(e->dir, e->name) & u->ent_mask];

	e->next = *head;
	*head = index + 1;
}

void undo_hash_ent(struct undo *u, uint32_t index)
{
	if (more_heads(&u->ents, &u->ent_mask, u->m->ent_count)) {
		for (uint32_t i = 0; i < index; i++)
			link_ent(u, i);
	}
	if (u->ents)
		link_ent(u, index);
}

uint32_t undo_find_obj(const struct undo *u, const struct undo_stat *st)
{
	uint32_t id = u->objs ? u->objs[obj_sum(st) & u->obj_mask] : 0;

	while (id && !undo_same_object(undo_key(&u->m->obj[id]), st))
		id = u->m->obj[id].next;
	return id;
}

int64_t undo_find_ent(const struct undo *u, uint32_t dir, const char *name)
{
	uint32_t at = u->ents ? u->ents[ent_sum(dir, name) & u->ent_mask] : 0;

	while (at && (u->m->ent[at - 1].dir != dir ||
			     !str_eq(u->m->ent[at - 1].name, name)))
		at = u->m->ent[at - 1].next;
	return (int64_t)at - 1;
}
