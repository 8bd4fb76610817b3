/* undo_alive.c - finds other names of objects that lost one
 * SPDX-License-Identifier: MIT
 */
#include "undo/undo_rec_in.h"

#include <stdlib.h>

#include "base/path.h"
#include "base/str.h"

enum { ALIVE_DEPTH = 128 };

/* True for an object that lost a name and can have another one anywhere. */
static bool is_sought(const struct undo_obj *o)
{
	return o->before.nlink > 1 && !o->after.mode && !undo_is_dir(&o->before);
}

/* What is done with each object of a tree. */
typedef int see_one(void *ctx, const char *path, const struct undo_stat *st);

static int walk_fds(
	DIR *open, const char *path, unsigned depth, see_one *see, void *ctx)
{
	autodir DIR *dir = open;
	struct dirent *e;
	int err = 0;

	while (dir && !err && (e = readdir(dir))) {
		autofree char *in = NULL;
		struct undo_stat st;

		if (str_eq(e->d_name, ".") || str_eq(e->d_name, "..") ||
			undo_stat(dirfd(dir), e->d_name, &st))
			continue;
		in = malloc(UNDO_PATH);
		if (!in || path_join(in, UNDO_PATH, path, e->d_name))
			continue;
		err = see(ctx, in, &st);
		if (!err && undo_is_dir(&st) && depth < ALIVE_DEPTH)
			err = walk_fds(undo_dir_open(dirfd(dir), e->d_name), in,
				depth + 1, see, ctx);
	}
	return err;
}

static int walk_roots(const struct undo_model *m, see_one *see, void *ctx)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < m->root_count; i++)
		err = walk_fds(undo_dir_of(undo_open_root(m, i)), m->root[i], 0, see,
			ctx);
	return err;
}

static int see_alive(void *ctx, const char *path, const struct undo_stat *st)
{
	struct undo *u = ctx;
	const uint32_t id = undo_is_dir(st) ? 0 : undo_find_obj(u, st);

	if (id && !u->m->obj[id].alive)
		u->m->obj[id].alive = undo_keep(u->m, path);
	return 0;
}

void undo_find_alive(struct undo_model *m)
{
	struct undo u = {.m = m};
	bool any = false;

	for (uint32_t id = UNDO_ROOT; id < m->obj_count; id++)
		if (is_sought(&m->obj[id])) {
			undo_hash_obj(&u, id);
			any = true;
		}
	if (any)
		(void)walk_roots(m, see_alive, &u);
	free(u.objs);
}

struct unseen {
	struct undo u;
	uint64_t from, to;
	undo_unknown *tell;
	void *ctx;
};

static int see_unseen(void *ctx, const char *path, const struct undo_stat *st)
{
	struct unseen *x = ctx;

	/* A write to a pipe or a socket changes times, and no content. */
	if (!undo_is_file(st) && !undo_is_dir(st) && !undo_is_link(st))
		return 0;
	return st->ctime < x->from || st->ctime > x->to ||
			       undo_find_obj(&x->u, st)
		       ? 0
		       : x->tell(x->ctx, path);
}

int undo_find_unseen(struct undo_model *m, undo_unknown *tell, void *ctx)
{
	struct unseen x = {.u.m = m,
		.from = m->info.began_ns + UNDO_TICK_NS,
		/* A later change by somebody else can have the time of the end. */
		.to = m->info.ended_ns - 1,
		.tell = tell,
		.ctx = ctx};
	int err;

	for (uint32_t id = UNDO_ROOT; id < m->obj_count; id++)
		m->obj[id].hashed = false;
	for (uint32_t id = UNDO_ROOT; id < m->obj_count; id++)
		undo_hash_obj(&x.u, id);
	err = walk_roots(m, see_unseen, &x);
	free(x.u.objs);
	for (uint32_t id = UNDO_ROOT; id < m->obj_count; id++)
		m->obj[id].hashed = false;
	return err;
}
