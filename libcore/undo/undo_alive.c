/* undo_alive.c - finds other names of objects that lost one
 * SPDX-License-Identifier: MIT
 */
#include "undo/undo_rec_in.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/path.h"
#include "base/str.h"

enum { ALIVE_DEPTH = 128 };

/* Has one been seen whose other name could be anywhere? */
static bool is_sought(const struct undo_obj *o)
{
	return o->before.nlink > 1 && !o->after.mode && !undo_is_dir(&o->before);
}

/* What is done with each object of a tree. */
typedef int see_one(void *ctx, const char *path, const struct undo_stat *st);

static int walk(int fd, const char *path, unsigned depth, see_one *see, void *ctx)
{
	DIR *dir = fdopendir(fd);
	struct dirent *e;
	int err = 0;

	if (!dir) {
		close(fd);
		return 0;
	}
	while (!err && (e = readdir(dir))) {
		autofree char *in = NULL;
		struct undo_stat st;
		int below;

		if (str_eq(e->d_name, ".") || str_eq(e->d_name, "..") ||
			undo_stat(dirfd(dir), e->d_name, &st))
			continue;
		in = malloc(UNDO_PATH);
		if (!in || path_join(in, UNDO_PATH, path, e->d_name))
			continue;
		err = see(ctx, in, &st);
		below = err || !undo_is_dir(&st) || depth == ALIVE_DEPTH
				? -1
				: openat(dirfd(dir), e->d_name,
					  O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
						  O_CLOEXEC);
		if (below >= 0)
			err = walk(below, in, depth + 1, see, ctx);
	}
	closedir(dir);
	return err;
}

static int walk_roots(const struct undo_model *m, see_one *see, void *ctx)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < m->root_count; i++) {
		int fd = undo_open_root(m, i);

		if (fd >= 0)
			err = walk(fd, m->root[i], 0, see, ctx);
	}
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

	/* What goes through a pipe is none of its content. */
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
		/* What somebody makes right behind it can seem as old as it. */
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
