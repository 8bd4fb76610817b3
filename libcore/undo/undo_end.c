/* undo_end.c - begins to record a command, and ends with what its changes came to
 * SPDX-License-Identifier: MIT
 */
#include "undo/undo_rec_in.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"

int undo_begin(struct undo **out, const struct undo_spec *spec)
{
	struct undo *u = calloc(1, sizeof *u);

	*out = NULL;
	if (!u)
		return -ENOMEM;
	u->spec = spec;
	u->out.fd = -1;
	u->began = clock_ns(CLOCK_REALTIME) - UNDO_TICK_NS;
	for (size_t i = 0; i < UNDO_DIRS_OPEN; i++)
		u->open[i].fd = -1;
	*out = u;
	return 0;
}

int undo_also(struct undo *u, const char *text)
{
	size_t n = 0;
	int err;

	if (u->m && u->out.fd >= 0) {
		err = undo_write_also(&u->out, text);
		return err ? err : undo_flush(&u->out);
	}
	while (n < UNDO_ALSO && u->also[n])
		n++;
	if (n < UNDO_ALSO && !(u->also[n] = strdup(text)))
		return -ENOMEM;
	return 0;
}

void undo_recorder_free(struct undo **slot)
{
	struct undo *u = *slot;

	if (!u)
		return;
	for (size_t i = 0; i < UNDO_DIRS_OPEN; i++)
		if (u->open[i].fd >= 0)
			close(u->open[i].fd);
	if (u->out.fd >= 0)
		close(u->out.fd);
	for (size_t i = 0; i < UNDO_ALSO; i++)
		free(u->also[i]);
	undo_free(&u->m);
	free(u->objs);
	free(u->ents);
	free(u);
	*slot = NULL;
}
#define autorecorder autoclean(undo_recorder_free)

const char *undo_became_name(enum undo_became became)
{
	static const char *const names[] = {[UNDO_MADE] = "made",
		[UNDO_CHANGED] = "changed",
		[UNDO_REMOVED] = "removed",
		[UNDO_MOVED] = "moved",
		[UNDO_LOST] = "lost"};

	return names[became];
}

struct telling {
	const struct undo_model *m;
	undo_each *each;
	void *ctx;
	struct undo_info *count;
};

static int tell_change(struct telling *t, struct undo_change *c)
{
	uint32_t *counts[] = {&t->count->made, &t->count->changed,
		&t->count->removed, &t->count->moved, &t->count->lost};

	++*counts[c->became];
	return t->each ? t->each(t->ctx, c) : 0;
}

/* Fills in mode, size and checksums of before and of now. */
static void describe_change(const struct undo_model *m, struct undo_change *c,
	const struct undo_obj *old, const struct undo_obj *now)
{
	const struct undo_stat *st = now ? &now->after : &old->before;

	if (old && old->before.mode)
		c->old = (uint32_t)(old - m->obj);
	c->mode = st->mode;
	c->size = st->size;
	if (old && old->touched & UNDO_T_SHA_OLD)
		c->old_sha = old->sha_old;
	if (now && now->touched & UNDO_T_SHA_NEW)
		c->new_sha = now->sha_new;
}

/* True when the object went from its name to one where nothing was. */
static bool has_moved(const struct undo_model *m, uint32_t id)
{
	const struct undo_obj *o = &m->obj[id];

	return undo_goes_back(m, id) && o->dest && !m->ent[o->dest - 1].before;
}

static int tell_entry(struct telling *t, const struct undo_ent *e)
{
	const struct undo_model *m = t->m;
	const struct undo_obj *old = e->before ? &m->obj[e->before] : NULL;
	const struct undo_obj *now = e->after ? &m->obj[e->after] : NULL;
	char path[UNDO_PATH];
	autofree char *from = NULL;
	struct undo_change c = {.path = path};

	if (e->before == e->after || e->foreign)
		return 0;
	if (!now) {
		if (has_moved(m, e->before))
			return 0;
		c.became = UNDO_REMOVED;
	} else if (old) {
		c.became = has_moved(m, e->before) ? UNDO_MADE : UNDO_CHANGED;
	} else {
		const struct undo_obj *came = &m->obj[e->after];

		c.became = has_moved(m, e->after) &&
					came->dest == e - m->ent + 1
				? UNDO_MOVED
				: UNDO_MADE;
	}
	describe_change(m, &c, old, now);
	if (c.became == UNDO_MOVED) {
		from = malloc(UNDO_PATH);
		if (!from || undo_path(m, e->after, false, from))
			return from ? 0 : -ENOMEM;
		c.from = from;
	}
	if (undo_ent_path(m, e, c.became != UNDO_REMOVED, path) &&
		undo_ent_path(m, e, c.became == UNDO_REMOVED, path))
		return 0;
	return tell_change(t, &c);
}

static int tell_object(struct telling *t, uint32_t id)
{
	const struct undo_obj *o = &t->m->obj[id];
	char path[UNDO_PATH];
	struct undo_change c = {.became = UNDO_CHANGED, .path = path};

	if (!o->before.mode || !o->after.mode || !undo_differs(o) ||
		undo_path(t->m, id, true, path))
		return 0;
	/* Its entry tells it, as a move or as a change. */
	if (o->dest && t->m->ent[o->dest - 1].before)
		return 0;
	describe_change(t->m, &c, o, o);
	return tell_change(t, &c);
}

static int tell_all(struct telling *t)
{
	const struct undo_model *m = t->m;
	int err = 0;

	for (uint32_t i = 0; !err && i < m->ent_count; i++)
		err = tell_entry(t, &m->ent[i]);
	for (uint32_t id = UNDO_ROOT; !err && id < m->obj_count; id++)
		err = tell_object(t, id);
	for (uint32_t i = 0; !err && i < m->lost_count; i++) {
		struct undo_change c = {.became = UNDO_LOST,
			.path = m->lost[i].path,
			.from = m->lost[i].why};

		err = tell_change(t, &c);
	}
	return err;
}

int undo_changes(const struct undo_model *m, undo_each *each, void *ctx)
{
	struct undo_info count = {.number = 0};
	struct telling t = {.m = m, .each = each, .ctx = ctx, .count = &count};

	return tell_all(&t);
}

int undo_old(const struct undo_model *m, uint32_t old)
{
	const uint8_t saved = old < m->obj_count ? m->obj[old].saved : 0;
	char name[16];

	if (!(saved & (UNDO_HELD | UNDO_COPIED)))
		return -ENOENT;
	return undo_open_file(m->dir,
		undo_saved_name(name, saved & UNDO_COPIED ? 'c' : 'o', old));
}

/* Compares the journal with what is there, and takes checksums. */
static int find_all(struct undo *u, undo_each *each, void *ctx)
{
	struct undo_info *info = &u->m->info, count = {.number = 0};
	struct telling t = {
		.m = u->m, .each = each, .ctx = ctx, .count = &count};
	int err = undo_look(u);

	if (err)
		return err;
	undo_settle(u->m);
	err = tell_all(&t);
	info->made = count.made;
	info->changed = count.changed;
	info->removed = count.removed;
	info->moved = count.moved;
	info->lost = u->lost > count.lost ? u->lost : count.lost;
	return err;
}

int undo_end_cut(struct undo *u)
{
	struct undo_info *info = &u->m->info;
	int err = find_all(u, NULL, NULL);

	info->ended_ns = clock_ns(CLOCK_REALTIME);
	info->ended = true;
	return err ? err : undo_write_found(&u->out, u->m);
}

/* The time that the file system gives to a change now. The first look makes it
 * use a finer clock where it has one. */
static uint64_t file_clock(int fd)
{
	struct undo_stat st;

	return undo_stat(fd, "", &st) || fchmod(fd, 0600) ||
			       undo_stat(fd, "", &st)
		       ? clock_ns(CLOCK_REALTIME_COARSE)
		       : st.ctime;
}

int undo_end(struct undo **slot, bool complete, undo_each *each, void *ctx,
	struct undo_sum *sum, struct diag *d)
{
	struct undo *u = *slot;
	struct undo_info *info;
	int err;

	*sum = (struct undo_sum){.lost = u ? u->lost : 0};
	if (!u || !u->m || u->out.fd < 0) {
		undo_recorder_free(slot);
		return 0;
	}
	info = &u->m->info;
	info->ended_ns = file_clock(u->out.fd);
	err = find_all(u, each, ctx);
	info->complete = complete && !u->failed;
	/* A journal without a change is not kept. */
	if (!err && !info->made && !info->changed && !info->removed &&
		!info->moved && !info->lost && !info->kind) {
		undo_drop(u->spec->store, info->number);
		info->number = 0;
	} else if (!err) {
		err = undo_write_found(&u->out, u->m);
	}
	*sum = (struct undo_sum){.number = info->number,
		.made = info->made,
		.changed = info->changed,
		.removed = info->removed,
		.moved = info->moved,
		.lost = info->lost,
		.bytes = info->bytes};
	undo_recorder_free(slot);
	return err ? diag_errno(d, err, "the undo journal") : 0;
}
