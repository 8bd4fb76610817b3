/* undo_plan.c - what a restore would do, and what stands against it
 * SPDX-License-Identifier: MIT
 */
#include "undo/undo_rec_in.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "base/str.h"

enum { ACTS_BYTES = 1 << 30 };

void undo_acts_release(struct undo_acts *a)
{
	struct arena *arena = a->arena;

	if (arena)
		arena_release(arena);
	free(arena);
	free(a->act);
	*a = UNDO_ACTS_INIT;
}

static const char *acts_keep(struct undo_acts *a, const char *s)
{
	size_t n = strlen(s) + 1;
	char *copy;

	if (!a->arena) {
		struct arena *arena = malloc(sizeof *arena);

		if (!arena)
			return NULL;
		*arena = ARENA_INIT(ACTS_BYTES);
		a->arena = arena;
	}
	copy = arena_bytes(a->arena, n);
	return copy ? memcpy(copy, s, n) : NULL;
}

int undo_act_add(struct undo_acts *a, enum undo_became became,
	const char *path, const char *why)
{
	struct undo_act *act;

	/* Grows at powers of two. */
	if (!(a->count & (a->count - 1))) {
		act = realloc(a->act,
			(a->count ? a->count * 2 : 1) * sizeof *act);
		if (!act)
			return -ENOMEM;
		a->act = act;
	}
	act = &a->act[a->count];
	*act = (struct undo_act){.became = became,
		.path = acts_keep(a, path),
		.why = why ? acts_keep(a, why) : NULL};
	if (!act->path || (why && !act->why))
		return -ENOMEM;
	a->count++;
	a->refused += why != NULL;
	return 0;
}

static bool is_sum(int dir, const char *name, const uint8_t *want)
{
	autofd int fd = undo_open_file(dir, name);
	uint64_t budget = UINT64_MAX;
	uint8_t is[UNDO_SHA];

	return fd >= 0 && undo_sum_file(fd, &budget, is) &&
		!memcmp(is, want, UNDO_SHA);
}

bool undo_is_as(const struct undo_obj *o, bool after, int dir,
	const char *name, const struct undo_stat *st)
{
	const struct undo_stat *want = after ? &o->after : &o->before;
	const char *link = after ? o->link2 : o->link;
	const bool sum = o->touched & (after ? UNDO_T_SHA_NEW : UNDO_T_SHA_OLD);
	char to[PATH_MAX];
	ssize_t n;

	if ((st->mode ^ want->mode) & S_IFMT)
		return false;
	/* A directory's entries are looked at by themselves. */
	if (undo_is_dir(st))
		return true;
	if (!sum && undo_same_object(st, want) && st->ctime == want->ctime)
		return true;
	if (st->uid != want->uid || st->gid != want->gid ||
		st->mtime != want->mtime)
		return false;
	if (undo_is_link(st)) {
		n = readlinkat(dir, name, to, sizeof to - 1);
		to[n > 0 ? n : 0] = '\0';
		return link && str_eq(to, link);
	}
	if (st->mode != want->mode || st->rdev != want->rdev)
		return false;
	if (!undo_is_file(st))
		return true;
	return st->size == want->size &&
		(!sum || is_sum(dir, name,
				 after ? o->sha_new : o->sha_old));
}

bool undo_goes_back(const struct undo_model *m, uint32_t id)
{
	const struct undo_obj *o = &m->obj[id];

	return o->before.mode && o->after.mode && !o->stays;
}

struct checking {
	struct undo_model *m;
	const struct undo_wish *w;
	struct undo_acts *out;
	struct undo names; /* for its hash of entries */
	uint32_t dir;      /* that .fd is open on, as it was after */
	int fd;
	char path[UNDO_PATH], path2[UNDO_PATH], why[NAME_MAX + 64];
};

static int open_after(struct checking *c, uint32_t dir)
{
	if (c->dir == dir)
		return c->fd;
	if (c->fd >= 0)
		close(c->fd);
	c->dir = dir;
	c->fd = undo_open_dir(c->m, dir, true);
	return c->fd;
}

static bool is_wanted(const struct undo_wish *w, const char *path)
{
	for (size_t i = 0; i < w->path_count; i++)
		if (path_beneath(w->paths[i], path))
			return true;
	return !w->path_count;
}

/* True when the wish names the entry's path before the command, or after it. */
static bool entry_wanted(struct checking *c, const struct undo_ent *e)
{
	return !c->w->path_count ||
		(!undo_ent_path(c->m, e, false, c->path) &&
			is_wanted(c->w, c->path)) ||
		(!undo_ent_path(c->m, e, true, c->path) &&
			is_wanted(c->w, c->path));
}

/* A file comes back with the directories that it was in. */
static void want_around(struct undo_model *m, const struct undo_ent *e)
{
	uint32_t dir = e->dir;

	for (unsigned i = 0; i < 1024 && dir > m->root_count; i++) {
		const char *name;

		if (!m->obj[dir].after.mode && m->obj[dir].entry)
			m->ent[m->obj[dir].entry - 1].skip = false;
		m->obj[dir].skip = false;
		undo_was_at(m, dir, &dir, &name);
	}
}

/* Its content or metadata changed where it stands. */
static bool object_changed(const struct undo_obj *o)
{
	return o->before.mode && o->after.mode &&
		(undo_differs(o) || o->touched & UNDO_T_META);
}

static void select_all(struct checking *c)
{
	struct undo_model *m = c->m;

	for (uint32_t id = UNDO_ROOT; id < m->obj_count; id++)
		m->obj[id].skip = c->w->path_count &&
			(undo_path(m, id, false, c->path) ||
				!is_wanted(c->w, c->path));
	for (uint32_t i = 0; i < m->ent_count; i++)
		m->ent[i].skip = m->ent[i].before == m->ent[i].after ||
			!entry_wanted(c, &m->ent[i]);
	for (uint32_t i = 0; i < m->ent_count && c->w->path_count; i++)
		if (!m->ent[i].skip)
			want_around(m, &m->ent[i]);
}

/* The first name in a directory that the command did not make; false: there is
 * none. */
static bool has_other(struct checking *c, uint32_t dir, char name[NAME_MAX + 1])
{
	autodir DIR *d = undo_dir_of(undo_open_dir(c->m, dir, true));
	bool other = false;
	struct dirent *e;

	while (d && !other && (e = readdir(d))) {
		int64_t at;

		if (str_eq(e->d_name, ".") || str_eq(e->d_name, ".."))
			continue;
		at = undo_find_ent(&c->names, dir, e->d_name);
		other = at < 0 || c->m->ent[at].foreign;
		(void)str_copy(name, NAME_MAX + 1, e->d_name);
	}
	return other;
}

/* True when what was saved of an object is there, and as it was then. */
static bool is_kept(const struct undo_model *m, uint32_t id, char kind)
{
	const struct undo_obj *o = &m->obj[id];
	struct undo_stat st;
	char name[16];

	if (undo_stat(m->dir, undo_saved_name(name, kind, id), &st))
		return false;
	if (!undo_is_file(&o->before))
		return true;
	/* A program that had the file open could still write to it. */
	return st.size == o->before.size &&
		(kind == 'c' || st.mtime == o->before.mtime ||
			o->touched & UNDO_T_META) &&
		(!(o->touched & UNDO_T_SHA_OLD) ||
			is_sum(m->dir, name, o->sha_old));
}

/* NULL when there is something to make it from. */
static const char *cannot_come_back(const struct undo_model *m, uint32_t id)
{
	const struct undo_obj *o = &m->obj[id];

	if (o->after.mode || undo_is_dir(&o->before) ||
		(o->saved & UNDO_COPIED && is_kept(m, id, 'c')) ||
		(o->saved & UNDO_HELD && is_kept(m, id, 'o')) ||
		(undo_is_link(&o->before) && o->link && *o->link) ||
		S_ISFIFO(o->before.mode) || S_ISSOCK(o->before.mode))
		return NULL;
	return o->saved & (UNDO_HELD | UNDO_COPIED)
		? "what was saved of it was changed since"
		: "it was not saved";
}

static const char *moved_around(struct checking *c, const struct undo_ent *e)
{
	if (!undo_path(c->m, e->dir, false, c->path) &&
		!undo_path(c->m, e->dir, true, c->path2) &&
		!str_eq(c->path, c->path2))
		return "the directory around it was moved: undo all of it";
	return NULL;
}

static const char *check_entry(struct checking *c, struct undo_ent *e)
{
	struct undo_model *m = c->m;
	const int fd = open_after(c, e->dir);
	struct undo_stat st = {.mode = 0};
	char other[NAME_MAX + 1];
	const char *why;

	if (e->foreign)
		return "it came from outside of the project, and stays";
	if (fd >= 0)
		(void)undo_stat(fd, e->name, &st);
	else if (m->obj[e->dir].after.mode)
		return fd == -ESTALE ? "another project stands in its place"
				     : "its directory is gone";
	e->seen = st.mode ? undo_mark(&st) : 0;
	if (st.mode && e->before &&
		!(e->after && undo_same_object(&st, &m->obj[e->after].after)) &&
		undo_is_as(&m->obj[e->before], false, fd, e->name, &st) &&
		!undo_is_dir(&st)) {
		e->skip = true;
		return NULL;
	}
	if (!st.mode && !e->before) {
		e->skip = true;
		return NULL;
	}
	if (!st.mode != !e->after)
		return st.mode ? "somebody made it since"
			       : "somebody removed it since";
	if (st.mode && !undo_is_as(&m->obj[e->after], true, fd, e->name, &st))
		return "somebody changed it since";
	if (e->after && undo_is_dir(&st) && !m->obj[e->after].before.mode &&
		has_other(c, e->after, other))
		return buf_print(c->why, sizeof c->why,
			"somebody made %s in it since", other);
	why = e->before ? cannot_come_back(m, e->before) : NULL;
	return why || !c->w->path_count ? why : moved_around(c, e);
}

static const char *check_object(struct checking *c, uint32_t id)
{
	struct undo_obj *o = &c->m->obj[id];
	const bool root = id <= c->m->root_count;
	const bool same = root || !object_changed(o);
	const int fd = open_after(c, root ? id : o->parent2);
	struct undo_stat st = {.mode = 0};

	if (fd < 0 || undo_stat(fd, root ? "" : o->name2, &st))
		return same ? NULL : "it is gone";
	o->seen = undo_mark(&st);
	if (same)
		return NULL;
	if (undo_is_file(&st) && undo_is_as(o, false, fd, o->name2, &st) &&
		st.atime == o->before.atime && !(o->touched & UNDO_T_META)) {
		o->skip = true;
		return NULL;
	}
	if (!undo_is_as(o, true, fd, o->name2, &st))
		return "somebody changed it since";
	if (undo_is_file(&st) &&
		!(o->saved & UNDO_COPIED && is_kept(c->m, id, 'c')) &&
		(o->before.size != o->after.size ||
			(o->before.mtime != o->after.mtime &&
				!(o->touched & UNDO_T_META))))
		return "its content was not saved";
	return NULL;
}

static int add_entry(struct checking *c, struct undo_ent *e)
{
	enum undo_became became = !e->before ? UNDO_REMOVED
				  : !e->after ? UNDO_MADE
					      : UNDO_CHANGED;
	const char *why = check_entry(c, e);

	if (e->skip && !why)
		return 0;
	if (why && (!c->w->force || e->foreign))
		e->skip = true;
	if (undo_ent_path(c->m, e, e->before == UNDO_NONE, c->path) &&
		undo_ent_path(c->m, e, e->before != UNDO_NONE, c->path))
		return 0;
	if (!e->before && e->after && undo_goes_back(c->m, e->after) && !why)
		return 0; /* told where it comes back */
	return undo_act_add(c->out, became, c->path, why);
}

static int add_object(struct checking *c, uint32_t id)
{
	struct undo_obj *o = &c->m->obj[id];
	const char *why;

	if (o->skip || !o->before.mode || !o->after.mode)
		return 0;
	why = check_object(c, id);
	if ((!why && !object_changed(o)) || undo_path(c->m, id, false, c->path))
		return 0;
	if (why && !c->w->force)
		o->skip = true;
	if (o->skip && !why)
		return 0;
	return undo_act_add(c->out, UNDO_CHANGED, c->path, why);
}

static int add_unseen(void *ctx, const char *path)
{
	struct checking *c = ctx;

	return is_wanted(c->w, path)
		       ? undo_act_add(c->out, UNDO_LOST, path,
				 "it changed meanwhile, and nobody saw it")
		       : 0;
}

int undo_check(struct undo_model *m, const struct undo_wish *w,
	struct undo_acts *out)
{
	autofree struct checking *c = calloc(1, sizeof *c);
	int err = 0;

	if (!c)
		return -ENOMEM;
	c->m = c->names.m = m;
	c->w = w;
	c->out = out;
	c->fd = -1;
	for (uint32_t i = 0; i < m->ent_count; i++)
		undo_hash_ent(&c->names, i);
	select_all(c);
	for (uint32_t i = 0; !err && i < m->ent_count; i++)
		if (!m->ent[i].skip)
			err = add_entry(c, &m->ent[i]);
	for (uint32_t id = UNDO_ROOT; !err && id < m->obj_count; id++)
		err = add_object(c, id);
	for (uint32_t i = 0; !err && i < m->lost_count; i++)
		if (is_wanted(w, m->lost[i].path))
			err = undo_act_add(
				out, UNDO_LOST, m->lost[i].path, m->lost[i].why);
	if (!err && m->info.kind == UNDO_COMMAND)
		err = undo_find_unseen(m, add_unseen, c);
	if (c->fd >= 0)
		close(c->fd);
	free(c->names.ents);
	return err;
}

int undo_plan(struct undo_model *m, const struct undo_wish *w,
	struct undo_acts *out, struct diag *d)
{
	int err = undo_check(m, w, out);

	return err ? diag_errno(d, err, "cannot plan the undo") : 0;
}
