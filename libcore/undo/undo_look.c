/* undo_look.c - where everything is when a command has ended
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

/* The directories that are still to be looked at, and what is known of each. */
struct looking {
	struct undo *u;
	uint32_t *queue;    /* numbers of directories that were found */
	uint32_t queued, done;
	uint32_t *first_ent; /* of a directory: 1 more than an entry */
	uint32_t *first_obj, *next_obj; /* first seen in that directory */
	uint32_t known; /* objects that have room above */
};

static void looking_release(struct looking *l)
{
	free(l->queue);
	free(l->first_ent);
	free(l->first_obj);
	free(l->next_obj);
}

static const char *target_of(struct undo_model *m, int dir, const char *name)
{
	char to[PATH_MAX];
	ssize_t n = readlinkat(dir, name, to, sizeof to - 1);

	to[n > 0 ? n : 0] = '\0';
	return undo_keep(m, to);
}

/* The object stands at dir/name now, where it may have stood before. */
static int found_at(struct looking *l, uint32_t id, uint32_t dir, int fd,
	const char *name, const struct undo_stat *st, bool stays)
{
	struct undo_model *m = l->u->m;
	struct undo_obj *o = &m->obj[id];

	if (!o->found || (stays && !o->stays)) {
		o->parent2 = dir;
		o->name2 = undo_keep(m, name);
	}
	o->stays |= stays;
	if (o->found)
		return o->name2 ? 0 : -ENOMEM;
	o->found = true;
	o->after = *st;
	if (undo_is_link(st))
		o->link2 = target_of(m, fd, name);
	if (undo_is_dir(st) && id < l->known)
		l->queue[l->queued++] = id;
	return o->name2 ? 0 : -ENOMEM;
}

static int look_at_entry(struct looking *l, uint32_t dir, int fd, uint32_t at)
{
	struct undo *u = l->u;
	const char *name = u->m->ent[at].name;
	struct undo_stat st = {.mode = 0};
	uint32_t id;
	int err;

	if (undo_stat(fd, name, &st))
		return 0;
	id = undo_find_obj(u, &st);
	if (!id) {
		id = undo_add_obj(u->m, dir, name);
		if (!id)
			return -ENOMEM;
		u->m->obj[id].after = st;
		undo_hash_obj(u, id);
		/* What is older than the command came from elsewhere. */
		if (st.btime && st.btime < u->began &&
			u->m->info.kind == UNDO_COMMAND)
			u->m->ent[at].foreign = true;
	}
	err = found_at(l, id, dir, fd, name, &st, id == u->m->ent[at].before);
	u->m->ent[at].after = id;
	if (id != u->m->ent[at].before && !u->m->obj[id].dest)
		u->m->obj[id].dest = at + 1;
	return err;
}

/* An overlay breaks a file of a lower layer away from its other names when it is
 * first written to: another object stands there then. */
static int look_broken_away(struct looking *l, uint32_t dir, int fd, uint32_t id,
	const struct undo_stat *st)
{
	struct undo *u = l->u;
	const struct undo_stat *was = &u->m->obj[id].before;
	int64_t e;
	int err;

	if (was->nlink < 2 || was->btime || st->nlink > 1 ||
		(st->mode ^ was->mode) & S_IFMT || undo_find_obj(u, st))
		return 0;
	e = undo_add_ent(u->m, dir, u->m->obj[id].name, id);
	if (e < 0)
		return -ENOMEM;
	undo_hash_ent(u, (uint32_t)e);
	err = undo_write_ent(&u->out, u->m, (uint32_t)e);
	return err ? err : look_at_entry(l, dir, fd, (uint32_t)e);
}

/* Looks for an object at the untouched name where it was first seen. */
static int look_at_object(struct looking *l, uint32_t dir, int fd, uint32_t id)
{
	struct undo_model *m = l->u->m;
	const char *name = m->obj[id].name;
	struct undo_stat st;

	if (undo_find_ent(l->u, dir, name) >= 0 || undo_stat(fd, name, &st))
		return 0;
	return undo_same_object(&st, undo_key(&m->obj[id]))
		? found_at(l, id, dir, fd, name, &st, m->obj[id].before.mode)
		: look_broken_away(l, dir, fd, id, &st);
}

static int look_at_dir(struct looking *l, uint32_t dir)
{
	struct undo_model *m = l->u->m;
	autofd int fd = undo_open_dir(m, dir, true);
	int err = 0;

	/* The directory went away meanwhile, with all that was in it. */
	if (fd < 0)
		return 0;
	for (uint32_t e = l->first_ent[dir]; !err && e; e = m->ent[e - 1].sibling)
		err = look_at_entry(l, dir, fd, e - 1);
	for (uint32_t id = l->first_obj[dir]; !err && id; id = l->next_obj[id])
		err = look_at_object(l, dir, fd, id);
	return err;
}

static int look_begin(struct looking *l)
{
	struct undo_model *m = l->u->m;
	const uint32_t n = m->obj_count;

	l->known = n;
	l->queue = calloc(n, sizeof *l->queue);
	l->first_ent = calloc(n, sizeof *l->first_ent);
	l->first_obj = calloc(n, sizeof *l->first_obj);
	l->next_obj = calloc(n, sizeof *l->next_obj);
	if (!l->queue || !l->first_ent || !l->first_obj || !l->next_obj)
		return -ENOMEM;
	for (uint32_t i = m->ent_count; i-- > 0;) {
		m->ent[i].after = UNDO_NONE;
		m->ent[i].sibling = l->first_ent[m->ent[i].dir];
		l->first_ent[m->ent[i].dir] = i + 1;
	}
	for (uint32_t id = n; id-- > UNDO_ROOT;) {
		m->obj[id].found = m->obj[id].stays = false;
		m->obj[id].dest = 0;
		if (id <= m->root_count)
			continue;
		l->next_obj[id] = l->first_obj[m->obj[id].parent];
		l->first_obj[m->obj[id].parent] = id;
	}
	for (uint32_t i = 0; i < m->root_count; i++) {
		struct undo_obj *o = &m->obj[UNDO_ROOT + i];

		o->found = o->stays = true;
		if (!undo_stat(AT_FDCWD, m->root[i], &o->after))
			l->queue[l->queued++] = UNDO_ROOT + i;
	}
	return 0;
}

/* Names what came into a directory that is known and was not seen. */
static int look_for_more(struct undo *u, uint32_t dir)
{
	autofree char *path = malloc(2 * UNDO_PATH);
	autodir DIR *d = undo_dir_of(undo_open_dir(u->m, dir, true));
	struct dirent *e;
	struct undo_stat st;
	int err = 0;

	while (path && !err && d && (e = readdir(d)))
		if (!str_eq(e->d_name, ".") && !str_eq(e->d_name, "..") &&
			undo_find_ent(u, dir, e->d_name) < 0 &&
			!undo_stat(dirfd(d), e->d_name, &st) &&
			st.ctime >= u->began + UNDO_TICK_NS &&
			!undo_find_obj(u, &st) &&
			!undo_path(u->m, dir, true, path) &&
			!path_join(path + UNDO_PATH, UNDO_PATH, path, e->d_name))
			err = undo_lose(u, path + UNDO_PATH, UNDO_UNSEEN);
	return path ? 0 : -ENOMEM;
}

int undo_look(struct undo *u)
{
	autoclean(looking_release) struct looking l = {.u = u};
	struct undo_model *m = u->m;
	int err = look_begin(&l);

	while (!err && l.done < l.queued)
		err = look_at_dir(&l, l.queue[l.done++]);
	for (uint32_t id = UNDO_ROOT; id < m->obj_count; id++)
		if (!m->obj[id].found)
			m->obj[id].after = (struct undo_stat){.mode = 0};
	for (uint32_t i = 0; !err && u->others && u->dirs_go && i < l.queued; i++)
		err = look_for_more(u, l.queue[i]);
	return err;
}

static void drop_saved(struct undo_model *m, uint32_t id, uint8_t what)
{
	struct undo_obj *o = &m->obj[id];
	char name[16];

	if (!(o->saved & what))
		return;
	unlinkat(m->dir, undo_saved_name(name, what == UNDO_HELD ? 'o' : 'c', id),
		0);
	o->saved &= (uint8_t)~what;
}

static void sum_old(struct undo_model *m, uint32_t id, uint64_t *budget)
{
	struct undo_obj *o = &m->obj[id];
	char name[16];
	autofd int fd = -1;

	if (!undo_is_file(&o->before) || !(o->saved & (UNDO_HELD | UNDO_COPIED)))
		return;
	fd = undo_open_file(m->dir, undo_saved_name(name,
					    o->saved & UNDO_COPIED ? 'c' : 'o',
					    id));
	if (fd >= 0 && undo_sum_file(fd, budget, o->sha_old))
		o->touched |= UNDO_T_SHA_OLD;
}

static void sum_new(struct undo_model *m, uint32_t id, uint64_t *budget)
{
	struct undo_obj *o = &m->obj[id];
	autofd int dir = -1, fd = -1;

	if (!undo_is_file(&o->after) || !*budget)
		return;
	dir = undo_open_dir(m, o->parent2, true);
	fd = dir < 0 ? -1 : undo_open_file(dir, o->name2);
	if (fd >= 0 && undo_sum_file(fd, budget, o->sha_new))
		o->touched |= UNDO_T_SHA_NEW;
}

static bool same_meta(const struct undo_stat *a, const struct undo_stat *b)
{
	return a->mode == b->mode && a->uid == b->uid && a->gid == b->gid;
}

bool undo_untouched(const struct undo_model *m, const struct undo_obj *o)
{
	const struct undo_stat *a = &o->before, *b = &o->after;

	/* A file system's clock moves in steps: two changes can have one time. */
	return a->ctime == b->ctime && a->ctime < m->info.began_ns &&
		a->mtime == b->mtime && a->size == b->size;
}

bool undo_differs(const struct undo_obj *o)
{
	const struct undo_stat *a = &o->before, *b = &o->after;
	const uint8_t both = UNDO_T_SHA_OLD | UNDO_T_SHA_NEW;

	if (!a->mode || !b->mode)
		return a->mode != b->mode;
	if (!same_meta(a, b))
		return true;
	/* A directory's times change with its names, which their entries tell. */
	if (undo_is_dir(a))
		return o->touched & UNDO_T_META && a->ctime != b->ctime;
	if ((o->touched & both) == both &&
		memcmp(o->sha_old, o->sha_new, UNDO_SHA) != 0)
		return true;
	if (a->ctime == b->ctime && a->size == b->size && a->mtime == b->mtime)
		return false;
	return a->size != b->size || a->mtime != b->mtime ||
		o->touched & UNDO_T_META;
}

/* Counts blocks on disk, because holes take none. */
static uint64_t held_bytes(const struct undo_model *m, uint32_t id)
{
	enum { SECTOR = 512 };
	const bool copied = m->obj[id].saved & UNDO_COPIED;
	const uint64_t size = m->obj[id].before.size;
	struct stat st;
	char name[16];

	undo_saved_name(name, copied ? 'c' : 'o', id);
	if (fstatat(m->dir, name, &st, AT_SYMLINK_NOFOLLOW) ||
		(uint64_t)st.st_blocks * SECTOR > size)
		return size;
	return (uint64_t)st.st_blocks * SECTOR;
}

void undo_settle(struct undo_model *m)
{
	enum { GONE_SUMMED = 256 };
	uint64_t budget = UNDO_HASHED_ALL, bytes = 0;
	unsigned gone = 0;

	for (uint32_t id = UNDO_ROOT; id < m->obj_count; id++) {
		struct undo_obj *o = &m->obj[id];
		const struct undo_stat *a = &o->before, *b = &o->after;

		if (b->mode)
			drop_saved(m, id, UNDO_HELD);
		if (b->mode && undo_untouched(m, o))
			drop_saved(m, id, UNDO_COPIED);
		if (b->mode ? o->saved & UNDO_COPIED : gone++ < GONE_SUMMED)
			sum_old(m, id, &budget);
		if (b->mode && (!a->mode || o->saved & UNDO_COPIED))
			sum_new(m, id, &budget);
		if (o->saved & (UNDO_HELD | UNDO_COPIED))
			bytes += held_bytes(m, id);
	}
	m->info.bytes = bytes;
}

int undo_write_found(struct undo_out *out, struct undo_model *m)
{
	int err = 0;

	for (uint32_t id = UNDO_ROOT; !err && id < m->obj_count; id++) {
		const struct undo_obj *o = &m->obj[id];

		if (o->after.mode || o->touched & UNDO_T_SHA_OLD)
			err = undo_write_obj_end(out, m, id);
		if (!err && o->before.mode && o->after.mode && !o->saved)
			err = undo_write_saved(out, m, id);
	}
	for (uint32_t i = 0; !err && i < m->ent_count; i++)
		if (m->ent[i].after)
			err = undo_write_ent_end(out, m, i);
	if (!err)
		err = undo_write_end(out, m);
	return err ? err : undo_flush(out);
}
