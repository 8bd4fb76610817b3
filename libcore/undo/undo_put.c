/* undo_put.c - gives a name its object again, and an object its content
 * SPDX-License-Identifier: MIT
 *
 * Who owns a directory can swap its names at any moment. So nothing is written
 * over, and what gets its owner and mode in the end is known by its mark.
 */
#include "undo/undo_apply_in.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h> /* renameat */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/path.h"
#include "base/str.h"

enum { NO_REPLACE = 1 }; /* a flag of renameat2 */

static int rename_new(int from, const char *name, int to, const char *as)
{
	struct undo_stat st;

	if (!syscall(SYS_renameat2, from, name, to, as, NO_REPLACE))
		return 0;
	if (errno != EINVAL)
		return -errno;
	/* A file system that knows no such flag. */
	if (!undo_stat(to, as, &st))
		return -EEXIST;
	return renameat(from, name, to, as) ? -errno : 0;
}

/* What was made there just now is this process's own, and nothing older. */
static int mark_made(struct applying *a, uint32_t id, int fd, const char *name)
{
	struct undo_stat st;
	int err = undo_stat(fd, name, &st);

	if (!err && (st.uid != geteuid() ||
			    (st.btime && st.btime + UNDO_TICK_NS < a->began)))
		err = -ESTALE;
	a->m->obj[id].seen = err ? 0 : undo_mark(&st);
	return err;
}

/* A copy of the content as a new file. */
static int write_copy(
	struct applying *a, uint32_t id, char kind, int fd, const char *name)
{
	struct undo_obj *o = &a->m->obj[id];
	struct undo_stat st;
	char as[16];
	autofd int from = undo_open_file(
		a->m->dir, undo_saved_name(as, kind, id));
	autofd int to = -1;

	if (from < 0)
		return from;
	to = openat(fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW |
			O_CLOEXEC, 0600);
	if (to < 0 || undo_stat(to, "", &st))
		return -errno;
	o->seen = undo_mark(&st);
	return undo_copy(from, to, o->before.size, NULL);
}

/* Moves what was saved from the store to its name. */
static int from_store(struct applying *a, uint32_t id, int fd, const char *name)
{
	struct undo_obj *o = &a->m->obj[id];
	struct undo_stat st;
	char as[16];
	char kind = o->saved & UNDO_HELD ? 'o' : 'c';
	int err;

	/* The held object may have been written to by another name. */
	if (kind == 'o' && o->saved & UNDO_COPIED &&
		(undo_stat(a->m->dir, undo_saved_name(as, 'o', id), &st) ||
			st.size != o->before.size ||
			st.mtime != o->before.mtime))
		kind = 'c';
	o->fresh = kind == 'c';
	err = undo_stat(a->m->dir, undo_saved_name(as, kind, id), &st);
	if (!err)
		err = rename_new(a->m->dir, as, fd, name);
	o->seen = undo_mark(&st);
	if (err != -EXDEV || !undo_is_file(&o->before))
		return err;
	o->fresh = true;
	return write_copy(a, id, kind, fd, name);
}

static int make_anew(struct applying *a, uint32_t id, int fd, const char *name)
{
	struct undo_obj *o = &a->m->obj[id];
	const struct undo_stat *b = &o->before;
	int err;

	o->fresh = true;
	if (!undo_is_dir(b) && o->saved & (UNDO_HELD | UNDO_COPIED)) {
		err = from_store(a, id, fd, name);
		if (!err || undo_is_file(b))
			return err;
	}
	if (undo_is_file(b))
		return -ENODATA;
	if (undo_is_dir(b))
		err = mkdirat(fd, name, 0700);
	else if (undo_is_link(b) && o->link)
		err = symlinkat(o->link, fd, name);
	else
		err = mknodat(fd, name, b->mode & (S_IFMT | 0777), (dev_t)b->rdev);
	return err ? -errno : mark_made(a, id, fd, name);
}

static int link_from(struct applying *a, uint32_t id, int from, const char *name,
	int fd, const char *as)
{
	struct undo_stat st, is;
	int err = undo_stat(from, name, &st);

	if (!err)
		err = undo_at_touch(a, UNDO_KNOWN, from, name);
	if (!err && linkat(from, name, fd, as, 0))
		err = -errno;
	/* An overlay makes the file anew for a link. */
	if (!err && !st.btime)
		err = undo_stat(from, name, &st);
	if (!err)
		err = undo_stat(fd, as, &is);
	if (!err && undo_mark(&is) != undo_mark(&st))
		err = -ESTALE;
	a->m->obj[id].seen = undo_mark(&st);
	return err;
}

/* Gives one more name to an object that stands somewhere already. */
static int link_again(struct applying *a, uint32_t id, int fd, const char *name)
{
	const struct undo_obj *o = &a->m->obj[id];
	const struct undo_ent *at = o->placed ? &a->m->ent[o->placed - 1] : NULL;
	autofd int from = undo_open_dir(
		a->m, at ? at->dir : o->parent2, !at);

	return from < 0 ? from
			: link_from(a, id, from, at ? at->name : o->name2, fd,
				  name);
}

/* The directory where an object is found that has a name to get back; -1: it is
 * nowhere. */
static int open_found(struct applying *a, uint32_t id, const char **name)
{
	const struct undo_obj *o = &a->m->obj[id];
	struct undo_stat st;
	autofree char *dir = NULL;
	autofd int fd = -1;

	if (o->alive) {
		*name = path_base(o->alive);
		dir = strdup(o->alive);
		if (dir) {
			dir[*name - o->alive - 1] = '\0';
			fd = path_openat2(AT_FDCWD, dir, O_RDONLY | O_DIRECTORY,
				0, RESOLVE_NO_SYMLINKS);
		}
	} else if (o->stays && !undo_is_dir(&o->before)) {
		*name = o->name2;
		fd = undo_open_dir(a->m, o->parent2, true);
	}
	if (fd < 0 || undo_stat(fd, *name, &st) ||
		!undo_same_object(&st, &o->before))
		return -1;
	return fd_steal(&fd);
}

/* Finds objects that a killed undo had put aside: this undo goes on with them. */
static void find_staged(struct applying *a, uint32_t root)
{
	const int fd = undo_at_aside(a, UNDO_ROOT + root, false);
	struct undo_stat st;
	char name[16];

	for (uint32_t id = UNDO_ROOT; fd >= 0 && id < a->m->obj_count; id++) {
		struct undo_obj *o = &a->m->obj[id];

		if (undo_stat(fd, undo_saved_name(name, 'm', id), &st) ||
			!undo_same_object(&st, &o->before))
			continue;
		o->staged = true;
		o->seen = undo_mark(&st);
	}
}

void undo_put_links(struct applying *a)
{
	struct undo_model *m = a->m;

	for (uint32_t i = 0; i < m->root_count; i++) {
		autofd int root = undo_open_root(m, i);
		struct undo_stat st;
		char name[40];

		if (root >= 0 && !undo_stat(root, undo_aside_name(m, name), &st))
			find_staged(a, i);
	}
	undo_find_alive(m);
	for (uint32_t i = 0; i < m->ent_count; i++) {
		const struct undo_ent *e = &m->ent[i];
		struct undo_obj *o = &m->obj[e->before];
		const char *name;
		char as[16];
		autofd int from = -1;
		int to;

		if (e->skip || !e->before || e->after == e->before || o->staged)
			continue;
		from = open_found(a, e->before, &name);
		to = from < 0 ? -1 : undo_at_aside(a, e->dir, false);
		o->staged = to >= 0 &&
			!undo_at_touch(a, UNDO_MAKE, to,
				undo_saved_name(as, 'm', e->before)) &&
			!link_from(a, e->before, from, name, to, as);
	}
}

int undo_put_back(struct applying *a, uint32_t index)
{
	const struct undo_ent *e = &a->m->ent[index];
	struct undo_obj *o = &a->m->obj[e->before];
	const int fd = undo_at_dir(a, e->dir, false);
	int err = fd < 0 ? fd : undo_at_touch(a, UNDO_MAKE, fd, e->name), to;
	char name[16];

	if (err)
		return err;
	if (o->placed) {
		err = link_again(a, e->before, fd, e->name);
	} else if (o->staged) {
		to = undo_at_aside(a, e->dir, false);
		undo_saved_name(name, 'm', e->before);
		err = to < 0 ? to : rename_new(to, name, fd, e->name);
	} else if (o->after.mode && !undo_goes_back(a->m, e->before)) {
		err = link_again(a, e->before, fd, e->name);
	} else {
		err = make_anew(a, e->before, fd, e->name);
	}
	if (!err && !o->placed)
		o->placed = index + 1;
	return err;
}

/* Puts another file in its place, and sets the directory's times back. */
static int replace_file(
	struct applying *a, uint32_t id, int fd, const char *name)
{
	struct undo_obj *o = &a->m->obj[id];
	struct undo_stat dir, st;
	char as[16];
	int err = undo_stat(fd, "", &dir);

	if (!err)
		err = undo_at_touch(a, UNDO_REMOVE, fd, name);
	if (!err)
		err = undo_stat(a->m->dir, undo_saved_name(as, 'c', id), &st);
	if (err)
		return err;
	if (!renameat(a->m->dir, as, fd, name))
		o->seen = undo_mark(&st);
	else if (errno != EXDEV || unlinkat(fd, name, 0))
		err = -errno;
	else
		err = write_copy(a, id, 'c', fd, name);
	o->fresh = !err;
	return err ? err : undo_set_meta(fd, "", &dir, NULL);
}

/* By another file over it; in the same one where that is the one of before and has
 * other names, or is mounted there. */
int undo_put_content(struct applying *a, uint32_t id, int fd, const char *name)
{
	struct undo_obj *o = &a->m->obj[id];
	struct undo_stat st;
	autofd int from = -1, to = -1;
	char as[16];
	int err = undo_stat(fd, name, &st);

	if (!err && (!undo_is_file(&st) || undo_mark(&st) != o->seen))
		err = -ESTALE;
	if (err)
		return err;
	if (st.nlink == 1 || !undo_same_object(&st, &o->before)) {
		err = replace_file(a, id, fd, name);
		if (err != -EBUSY)
			return err;
	}
	err = undo_at_touch(a, UNDO_CONTENT, fd, name);
	if (err)
		return err;
	from = undo_open_file(a->m->dir, undo_saved_name(as, 'c', id));
	if (from < 0)
		return from;
	to = openat(fd, name,
		O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (to < 0)
		return -errno;
	err = undo_stat(to, "", &st);
	if (!err && undo_mark(&st) != o->seen)
		err = -ESTALE;
	if (!err && ftruncate(to, 0))
		err = -errno;
	return err ? err : undo_copy(from, to, o->before.size, NULL);
}
