/* undo_apply.c - takes a command's changes back
 * SPDX-License-Identifier: MIT
 *
 * Three passes. What the command brought is taken away from its names, the
 * deepest first: what was there before is put aside, what the command made goes.
 * Then each name gets its object again, the outermost first. Then content and
 * metadata, the deepest first, because names change the times of directories.
 * All of it is recorded like a command.
 */
#include "undo/undo_apply_in.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h> /* renameat */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "undo/undo_rec_in.h"

struct rank {
	uint32_t depth, dir, at;
};

static int by_rank(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;

	if (x->depth != y->depth)
		return x->depth < y->depth ? -1 : 1;
	if (x->dir != y->dir)
		return x->dir < y->dir ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static void fail_path(struct applying *a, const char *path, int err)
{
	(void)undo_act_add(a->failed, UNDO_LOST, path,
		err == -ESTALE || err == -EEXIST ? "somebody changed it meanwhile"
						 : strerror(-err));
}

static __attribute__((noinline)) void fail_entry(
	struct applying *a, const struct undo_ent *e, int err)
{
	char path[UNDO_PATH];

	if (undo_ent_path(a->m, e, false, path) &&
		undo_ent_path(a->m, e, true, path))
		(void)str_copy(path, sizeof path, e->name);
	fail_path(a, path, err);
}

static __attribute__((noinline)) void fail_object(
	struct applying *a, uint32_t id, int err)
{
	char path[UNDO_PATH];

	if (!undo_path(a->m, id, false, path))
		fail_path(a, path, err);
}

static void step_one(struct applying *a)
{
	if (a->w->progress)
		a->w->progress(a->w->ctx, ++a->done, a->of);
}

int undo_at_dir(struct applying *a, uint32_t dir, bool after)
{
	if (a->dir == dir && a->dir_after == after && a->fd >= 0)
		return a->fd;
	if (a->fd >= 0)
		close(a->fd);
	a->dir = dir;
	a->dir_after = after;
	a->fd = undo_open_dir(a->m, dir, after);
	return a->fd;
}

int undo_at_touch(struct applying *a, enum undo_what what, int fd,
	const char *name)
{
	const struct undo_touch t = {
		.what = what, .dir = fd, .name = name, .dir2 = -1};

	return undo_touch(a->u, &t);
}

/* Opens up a directory of this user's that denies changes; its former mode is set
 * at the end. */
static bool unlocked_step(int fd, int err)
{
	struct stat st;

	return err == -EACCES && !fstat(fd, &st) && st.st_uid == geteuid() &&
		(st.st_mode & 0300) != 0300 &&
		!fchmod(fd, (st.st_mode & 07777) | 0300);
}

const char *undo_aside_name(const struct undo_model *m, char out[static 40])
{
	return buf_print(out, 40, ".wardbox-undo-%llu",
		(unsigned long long)m->info.number);
}

int undo_at_aside(struct applying *a, uint32_t dir, bool after)
{
	unsigned depth;
	const uint32_t in = undo_root(a->m, dir, after, &depth);
	const uint32_t root = in ? in - UNDO_ROOT : 0;
	struct aside *s = &a->aside[root];
	autofd int fd = -1;
	int err;

	if (s->fd >= 0)
		return s->fd;
	fd = undo_open_root(a->m, root);
	err = fd < 0 ? fd : undo_stat(fd, "", &s->root);
	if (err)
		return err;
	undo_aside_name(a->m, s->name);
	err = undo_at_touch(a, UNDO_MAKE, fd, s->name);
	if (!err && mkdirat(fd, s->name, 0700) && errno != EEXIST)
		err = -errno;
	if (err)
		return err;
	s->fd = openat(fd, s->name,
		O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return s->fd < 0 ? -errno : s->fd;
}

static void aside_close(struct applying *a)
{
	for (uint32_t i = 0; i < a->m->root_count; i++) {
		struct aside *s = &a->aside[i];
		autofd int fd = -1;

		if (s->fd < 0)
			continue;
		close(s->fd);
		fd = undo_open_root(a->m, i);
		if (fd < 0 || unlinkat(fd, s->name, AT_REMOVEDIR))
			fail_path(a, s->name, -errno);
		else
			(void)undo_set_meta(fd, "", &s->root, NULL);
	}
}

static int put_aside(struct applying *a, const struct undo_ent *e, int fd)
{
	const uint32_t id = e->after;
	const int to = undo_at_aside(a, e->dir, true);
	struct undo_stat st;
	char name[16];
	int err = to < 0 ? to : 0;

	undo_saved_name(name, 'm', id);
	if (!err)
		err = undo_at_touch(a, UNDO_MAKE, fd, e->name);
	if (!err)
		err = undo_at_touch(a, UNDO_MAKE, to, name);
	if (!err && renameat(fd, e->name, to, name))
		err = -errno;
	if (err)
		return err;
	/* Nobody else reaches what was moved: it is looked at once more. */
	err = undo_stat(to, name, &st);
	if (!err && undo_mark(&st) != e->seen)
		err = renameat(to, name, fd, e->name) ? -errno : -ESTALE;
	a->m->obj[id].staged = !err;
	a->m->obj[id].seen = e->seen;
	return err;
}

static int take_away(struct applying *a, const struct undo_ent *e)
{
	const int fd = undo_at_dir(a, e->dir, true);
	struct undo_obj *o = e->after ? &a->m->obj[e->after] : NULL;
	struct undo_stat st;
	int err;

	if (fd < 0 || undo_stat(fd, e->name, &st))
		return 0;
	if (undo_mark(&st) != e->seen)
		return -ESTALE;
	if (o && undo_goes_back(a->m, e->after) && !o->staged)
		return put_aside(a, e, fd);
	err = undo_at_touch(a, UNDO_REMOVE, fd, e->name);
	if (!err && unlinkat(fd, e->name, undo_is_dir(&st) ? AT_REMOVEDIR : 0))
		err = -errno;
	return err;
}

static bool is_verified(const struct undo_obj *o, const struct undo_stat *st)
{
	const struct undo_stat *b = &o->before;

	return st->mode == b->mode && st->uid == b->uid && st->gid == b->gid &&
		st->mtime == b->mtime &&
		(undo_is_dir(b) || st->size == b->size);
}

static int finish_at(struct applying *a, uint32_t id, int fd, const char *name)
{
	struct undo_obj *o = &a->m->obj[id];
	struct undo_stat st;
	int err = 0;

	if (undo_stat(fd, name, &st))
		return -ENOENT;
	if (undo_is_file(&o->before) && !o->fresh &&
		!undo_is_as(o, false, fd, name, &st)) {
		if (o->saved & UNDO_COPIED)
			err = undo_put_content(a, id, fd, name);
		else if (st.size != o->before.size ||
			o->touched & UNDO_T_CONTENT)
			err = -ENODATA;
	}
	/* When some paths alone come back, directories around keep times. */
	if (!err && undo_is_dir(&o->before) && !o->placed &&
		a->w->path_count && !(o->touched & UNDO_T_META))
		return 0;
	if (!err && (!o->placed || o->staged))
		err = undo_at_touch(a, UNDO_META, fd, name);
	if (err)
		return err;
	err = undo_set_meta(fd, name, &o->before, o);
	if (!err && (undo_stat(fd, name, &st) || !is_verified(o, &st)))
		err = -ESTALE;
	if (!err && !undo_is_dir(&st))
		err = undo_again_note(a->w->store, a->u->m->info.number,
			&o->now, &st);
	return err;
}

static int finish_object(struct applying *a, uint32_t id)
{
	const char *name = "";
	uint32_t dir = id;
	int fd;

	if (id > a->m->root_count)
		undo_was_at(a->m, id, &dir, &name);
	fd = undo_at_dir(a, dir, false);
	return fd < 0 ? fd : finish_at(a, id, fd, name);
}

/* True for an object whose content or metadata is to be set at the end. */
static bool needs_finish(const struct undo_model *m, uint32_t id)
{
	const struct undo_obj *o = &m->obj[id];

	if (!o->before.mode || o->skip)
		return false;
	if (o->placed)
		return true;
	if (!o->after.mode || undo_goes_back(m, id))
		return false;
	return undo_is_dir(&o->before) ? !undo_untouched(m, o)
				       : undo_differs(o) ||
						o->touched & UNDO_T_META ||
						o->saved & UNDO_COPIED;
}

static size_t rank_entries(const struct undo_model *m, bool after,
	struct rank *out)
{
	size_t n = 0;

	for (uint32_t i = 0; i < m->ent_count; i++) {
		const struct undo_ent *e = &m->ent[i];
		unsigned depth;

		if (e->skip || !(after ? e->after : e->before))
			continue;
		(void)undo_root(m, e->dir, after, &depth);
		out[n++] = (struct rank){
			after ? UINT32_MAX - depth : depth, e->dir, i};
	}
	qsort(out, n, sizeof *out, by_rank);
	return n;
}

static size_t rank_objects(const struct undo_model *m, struct rank *out)
{
	size_t n = 0;

	for (uint32_t id = UNDO_ROOT; id < m->obj_count; id++) {
		const char *name;
		uint32_t dir = id;
		unsigned depth;

		if (!needs_finish(m, id))
			continue;
		if (id > m->root_count)
			undo_was_at(m, id, &dir, &name);
		(void)undo_root(m, id, false, &depth);
		out[n++] = (struct rank){UINT32_MAX - depth, dir, id};
	}
	qsort(out, n, sizeof *out, by_rank);
	return n;
}

/* True when a directory was opened up, so that another try can work. */
static int try_again(struct applying *a, int err)
{
	return err && a->fd >= 0 && unlocked_step(a->fd, err);
}

static void restore_one(struct applying *a, struct rank *rank)
{
	struct undo_model *m = a->m;
	size_t n = rank_entries(m, true, rank);
	int err;

	for (size_t i = 0; i < n; i++, step_one(a)) {
		err = take_away(a, &m->ent[rank[i].at]);
		if (try_again(a, err))
			err = take_away(a, &m->ent[rank[i].at]);
		if (err)
			fail_entry(a, &m->ent[rank[i].at], err);
	}
	n = rank_entries(m, false, rank);
	for (size_t i = 0; i < n; i++, step_one(a)) {
		err = undo_put_back(a, rank[i].at);
		if (try_again(a, err))
			err = undo_put_back(a, rank[i].at);
		if (err)
			fail_entry(a, &m->ent[rank[i].at], err);
	}
	aside_close(a);
	n = rank_objects(m, rank);
	for (size_t i = 0; i < n; i++, step_one(a)) {
		err = finish_object(a, rank[i].at);
		if (try_again(a, err))
			err = finish_object(a, rank[i].at);
		if (err)
			fail_object(a, rank[i].at, err);
	}
}

static int apply_all(struct applying *a)
{
	struct undo_model *m = a->m;
	const size_t n = (size_t)m->ent_count + m->obj_count;
	autofree struct rank *rank = calloc(n + 1, sizeof *rank);

	if (!rank)
		return -ENOMEM;
	a->of = 2 * (size_t)m->ent_count + m->obj_count;
	for (size_t i = 0; i < UNDO_ROOTS_MAX; i++)
		a->aside[i].fd = -1;
	undo_put_links(a);
	restore_one(a, rank);
	if (a->fd >= 0)
		close(a->fd);
	return 0;
}

int undo_apply(struct undo_model *m, const struct undo_wish *w,
	struct undo_sum *sum, struct undo_acts *failed, struct diag *d)
{
	const struct undo_spec spec = {.store = w->store,
		.roots = m->root,
		.root_count = m->root_count,
		.session = w->session,
		.text = m->info.text,
		.exec_id = w->exec_id,
		.kind = m->info.kind == UNDO_UNDO ? UNDO_REDO : UNDO_UNDO,
		.of = m->info.number};
	struct applying a = {.m = m,
		.w = w,
		.failed = failed,
		.fd = -1,
		.began = clock_ns(CLOCK_REALTIME)};
	autoundo_acts struct undo_acts plan = UNDO_ACTS_INIT;
	int err = undo_check(m, w, &plan);

	*sum = (struct undo_sum){.number = 0};
	if (err)
		return diag_errno(d, err, "cannot plan the undo");
	if (plan.refused && !w->force)
		return diag_fail(d, -ESTALE,
			"%zu path%s cannot be brought back: nothing was done",
			plan.refused, str_plural(plan.refused));
	err = undo_begin(&a.u, &spec);
	if (!err)
		err = apply_all(&a);
	for (size_t i = 0; !err && i < plan.count; i++)
		if (plan.act[i].why &&
			undo_act_add(failed, plan.act[i].became,
				plan.act[i].path, plan.act[i].why))
			err = -ENOMEM;
	if (a.u) {
		/* What --force leaves is not tried again by itself. */
		int ended = undo_end(&a.u,
			(!failed->count || w->force) && !w->path_count, NULL,
			NULL, sum, d);

		err = err ? err : ended;
	}
	if (err)
		return diag_errno(d, err, "the undo");
	return failed->count
		       ? diag_fail(d, -EIO, "%zu path%s not brought back",
				 failed->count, failed->count == 1 ? " was" : "s were")
		       : 0;
}
