/* undo_model.c - what a journal says, in memory
 * SPDX-License-Identifier: MIT
 */
#include "undo/undo_in.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "base/str.h"

enum { DEPTH_MAX = 1024, GROW_FIRST = 64, MODEL_BYTES = 1 << 30 };

bool undo_same_object(const struct undo_stat *a, const struct undo_stat *b)
{
	return a->ino == b->ino && a->dev == b->dev && a->btime == b->btime &&
		!((a->mode ^ b->mode) & 0170000);
}

uint64_t undo_mark(const struct undo_stat *st)
{
	const uint64_t odd = 0x9e3779b97f4a7c15U;

	return ((st->ino * odd ^ st->btime) * odd ^ st->dev) * odd ^
		(st->mode & 0170000) ^ 1;
}

DIR *undo_dir_of(int fd)
{
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

DIR *undo_dir_open(int at, const char *name)
{
	return undo_dir_of(openat(
		at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

void undo_free(struct undo_model **slot)
{
	struct undo_model *m = *slot;

	if (!m)
		return;
	if (m->dir >= 0)
		close(m->dir);
	free(m->obj);
	free(m->ent);
	free(m->lost);
	arena_release(&m->arena);
	free(m);
	*slot = NULL;
}

struct undo_model *undo_model_new(void)
{
	struct undo_model *m = calloc(1, sizeof *m);

	if (!m)
		return NULL;
	m->dir = -1;
	m->arena = ARENA_INIT(MODEL_BYTES);
	m->obj_count = 1;
	return m;
}

const struct undo_info *undo_info(const struct undo_model *m)
{
	return &m->info;
}

const char *undo_else(const struct undo_model *m, size_t n)
{
	return n < m->also_count ? m->also[n] : NULL;
}

/* Room for one more of size bytes each. */
static bool grow_table(void *slot, uint32_t count, uint32_t *cap, size_t size)
{
	void **items = slot;
	uint32_t want = *cap ? *cap * 2 : GROW_FIRST;
	void *more;

	if (count < *cap)
		return true;
	if (want > 4U * UNDO_ENTRIES)
		return false;
	more = realloc(*items, want * size);
	if (!more)
		return false;
	memset((char *)more + *cap * size, 0, (want - *cap) * size);
	*items = more;
	*cap = want;
	return true;
}

const char *undo_keep(struct undo_model *m, const char *s)
{
	size_t n = strlen(s) + 1;
	char *copy = arena_bytes(&m->arena, n);

	return copy ? memcpy(copy, s, n) : NULL;
}

uint32_t undo_add_obj(struct undo_model *m, uint32_t parent, const char *name)
{
	const char *copy = undo_keep(m, name);
	struct undo_obj *o;

	if (!copy || !grow_table(&m->obj, m->obj_count, &m->obj_cap, sizeof *m->obj))
		return UNDO_NONE;
	o = &m->obj[m->obj_count];
	*o = (struct undo_obj){.parent = parent, .name = copy};
	return m->obj_count++;
}

int64_t undo_add_ent(struct undo_model *m, uint32_t dir, const char *name,
	uint32_t before)
{
	const char *copy = undo_keep(m, name);

	if (!copy || !grow_table(&m->ent, m->ent_count, &m->ent_cap, sizeof *m->ent))
		return -1;
	m->ent[m->ent_count] = (struct undo_ent){
		.name = copy, .dir = dir, .before = before};
	if (before && !m->obj[before].entry)
		m->obj[before].entry = m->ent_count + 1;
	return m->ent_count++;
}

int undo_add_loss(struct undo_model *m, const char *path, const char *why)
{
	struct undo_loss *l;

	if (!grow_table(&m->lost, m->lost_count, &m->lost_cap, sizeof *m->lost))
		return -ENOMEM;
	l = &m->lost[m->lost_count];
	l->path = undo_keep(m, path);
	l->why = undo_keep(m, why);
	if (!l->path || !l->why)
		return -ENOMEM;
	m->lost_count++;
	return 0;
}

void undo_was_at(const struct undo_model *m, uint32_t id, uint32_t *parent,
	const char **name)
{
	const struct undo_obj *o = &m->obj[id];

	*parent = o->entry ? m->ent[o->entry - 1].dir : o->parent;
	*name = o->entry ? m->ent[o->entry - 1].name : o->name;
}

/* One step up; false where there is none. */
static bool step_up(const struct undo_model *m, uint32_t id, bool after,
	uint32_t *parent, const char **name)
{
	const struct undo_obj *o = &m->obj[id];

	if (!id || id >= m->obj_count)
		return false;
	if (!after) {
		undo_was_at(m, id, parent, name);
		return o->before.mode && *parent < m->obj_count;
	}
	*parent = o->parent2;
	*name = o->name2;
	return o->after.mode && *name && *parent < m->obj_count;
}

int undo_path(const struct undo_model *m, uint32_t id, bool after, char *out)
{
	char room[UNDO_PATH];
	size_t at = sizeof room - 1;
	const char *root;
	unsigned depth = 0;

	room[at] = '\0';
	while (id > m->root_count || !id) {
		const char *name;
		uint32_t up;
		size_t n;

		if (!step_up(m, id, after, &up, &name) || ++depth > DEPTH_MAX)
			return -ENOENT;
		n = strlen(name);
		if (n + 1 > at)
			return -ENAMETOOLONG;
		at -= n;
		memcpy(room + at, name, n);
		room[--at] = '/';
		id = up;
	}
	root = m->root[id - 1];
	if (strlen(root) + strlen(room + at) >= UNDO_PATH)
		return -ENAMETOOLONG;
	memcpy(out, root, strlen(root) + 1);
	memcpy(out + strlen(root), room + at, strlen(room + at) + 1);
	return 0;
}

int undo_ent_path(const struct undo_model *m, const struct undo_ent *e,
	bool after, char *out)
{
	int err = undo_path(m, e->dir, after, out);

	if (!err && strlen(out) + strlen(e->name) + 2 > UNDO_PATH)
		err = -ENAMETOOLONG;
	if (!err) {
		size_t n = strlen(out);

		out[n] = '/';
		memcpy(out + n + 1, e->name, strlen(e->name) + 1);
	}
	return err;
}

uint32_t undo_root(
	const struct undo_model *m, uint32_t id, bool after, unsigned *depth)
{
	const char *name;
	uint32_t up;

	*depth = 0;
	while (id > m->root_count && *depth < DEPTH_MAX &&
		step_up(m, id, after, &up, &name)) {
		id = up;
		++*depth;
	}
	return id && id <= m->root_count ? id : UNDO_NONE;
}

/* The owner of a directory above can put another one in the place of a root. The
 * number of a disk can change, so that it counts only without a time of birth. */
int undo_open_root(const struct undo_model *m, uint32_t root)
{
	const struct undo_stat *was = &m->obj[UNDO_ROOT + root].before;
	autofd int fd = path_openat2(AT_FDCWD, m->root[root],
		O_RDONLY | O_DIRECTORY, 0, RESOLVE_NO_SYMLINKS);
	struct undo_stat st;

	if (fd < 0)
		return fd;
	if (undo_stat(fd, "", &st) || st.ino != was->ino ||
		st.btime != was->btime || (!st.btime && st.dev != was->dev))
		return -ESTALE;
	return fd_steal(&fd);
}

int undo_open_dir(const struct undo_model *m, uint32_t id, bool after)
{
	char path[UNDO_PATH];
	unsigned depth;
	const uint32_t root = undo_root(m, id, after, &depth);
	const char *rest;
	autofd int base = -1;
	int err = root ? undo_path(m, id, after, path) : -ENOENT, fd;

	if (err)
		return err;
	base = undo_open_root(m, root - UNDO_ROOT);
	if (base < 0)
		return base;
	rest = path + strlen(m->root[root - 1]);
	rest += strspn(rest, "/");
	if (!*rest)
		return fd_steal(&base);
	fd = path_openat2(base, rest, O_RDONLY | O_DIRECTORY, 0,
		RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
	/* Names can be reached in a directory that nobody may list. */
	return fd == -EACCES ? path_openat2(base, rest, O_PATH | O_DIRECTORY, 0,
				       RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS)
			     : fd;
}
