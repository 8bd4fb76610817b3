/* undo_touch.c - what is about to change, saved before it does
 * SPDX-License-Identifier: MIT
 */
#include "undo/undo_rec_in.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "base/str.h"

enum {
	LOSSES_MAX = 1000,
};

int undo_lose(struct undo *u, const char *path, const char *why)
{
	int err = u->spec->lost ? u->spec->lost(u->spec->ctx, path, why) : 0;

	if (err)
		return err;
	if (u->m && u->m->lost_count < LOSSES_MAX &&
		!undo_add_loss(u->m, path, why) && u->out.fd >= 0)
		if (!undo_write_loss(&u->out, path, why))
			(void)undo_flush(&u->out);
	u->lost++;
	return 0;
}

static int lose_at(struct undo *u, int dir, const char *name, const char *why)
{
	char path[UNDO_PATH];

	if (path_of_fd(dir, path, sizeof path))
		path[0] = '\0';
	if (path[0] && strlen(path) + strlen(name) + 2 < sizeof path) {
		size_t n = strlen(path);

		path[n] = '/';
		memcpy(path + n + 1, name, strlen(name) + 1);
	}
	return undo_lose(u, path, why);
}

int undo_unseen(struct undo *u, const char *path, const char *why)
{
	return undo_lose(u, path, why);
}

static int start_roots(struct undo *u)
{
	struct undo_model *m = u->m;
	int err = 0;

	for (size_t i = 0; !err && i < u->spec->root_count; i++) {
		uint32_t id = undo_add_obj(m, 0, "");

		m->root[i] = undo_keep(m, u->spec->roots[i]);
		if (!id || !m->root[i])
			return -ENOMEM;
		m->root_count++;
		err = undo_stat(AT_FDCWD, m->root[i], &m->obj[id].before);
	}
	return err;
}

/* The journal, once there is something to write. */
static int start_touch(struct undo *u)
{
	const struct undo_spec *s = u->spec;
	struct undo_info *info;
	int err = 0;

	if (u->m)
		return u->failed;
	u->m = undo_model_new();
	if (!u->m)
		return -ENOMEM;
	info = &u->m->info;
	info->kind = s->kind;
	info->of = s->of;
	info->exec_id = s->exec_id;
	info->began_ns = u->began;
	(void)str_copy(info->session, sizeof info->session,
		s->session ? s->session : "");
	for (size_t n = 0; s->text && s->text[n] && n + 1 < sizeof info->text; n++)
		info->text[n] = s->text[n];
	err = start_roots(u);
	if (!err)
		err = undo_new(s->store, info, &u->m->dir, &u->out.fd);
	if (!err)
		err = undo_write_begin(&u->out, u->m);
	for (size_t i = 0; !err && i < UNDO_ALSO && u->also[i]; i++)
		err = undo_write_also(&u->out, u->also[i]);
	for (uint32_t i = 0; !err && i < u->m->root_count; i++) {
		undo_hash_obj(u, i + UNDO_ROOT);
		err = undo_write_obj(&u->out, u->m, i + UNDO_ROOT);
	}
	/* A journal whose guard is killed now is found by its beginning. */
	if (!err)
		err = undo_flush(&u->out);
	u->failed = err;
	return err;
}

/* True when the command made what stands at an entry and is not known yet. */
static bool is_made(
	const struct undo *u, uint32_t dir, const char *name,
	const struct undo_stat *st)
{
	const int64_t e = undo_find_ent(u, dir, name);

	/* A restore makes objects that can be old. */
	if (st->btime && st->btime < u->began && !u->spec->kind)
		return false;
	/* What was there before is known, by whatever name it stands now. */
	return e >= 0 ? !u->m->ent[e].foreign : !u->m->obj[dir].before.mode;
}

static const char *link_of(struct undo *u, int dir, const char *name)
{
	char to[PATH_MAX];
	ssize_t n = readlinkat(dir, name, to, sizeof to - 1);

	if (n < 0)
		return NULL;
	to[n] = '\0';
	return undo_keep(u->m, to);
}

static int read_xattrs(
	struct undo *u, struct undo_obj *o, int dir, const char *name)
{
	autobuf struct buf b = BUF_INIT(UNDO_XATTR_MAX);
	char *copy;

	if (o->touched & UNDO_T_XATTR || undo_is_link(&o->before))
		return 0;
	if (undo_xattrs(dir, name, &b))
		return lose_at(u, dir, name, "its attributes cannot be read");
	copy = b.len ? arena_bytes(&u->m->arena, b.len) : NULL;
	if (b.len && !copy)
		return -ENOMEM;
	if (copy)
		memcpy(copy, b.data, b.len);
	o->xattr = copy;
	o->xattr_len = (uint32_t)b.len;
	o->touched |= UNDO_T_XATTR;
	return 0;
}

/* A new object that stands at dir/name. 0 when there is no memory. */
static uint32_t new_object(struct undo *u, int dir, uint32_t parent,
	const char *name, const struct undo_stat *st)
{
	const bool made = is_made(u, parent, name, st);
	uint32_t id = undo_add_obj(u->m, parent, name);
	struct undo_obj *o;

	if (!id)
		return UNDO_NONE;
	o = &u->m->obj[id];
	if (made)
		o->after = *st;
	else
		o->before = *st;
	/* The object is somebody else's, or a call meant another directory. */
	if (!made && !u->spec->kind && st->btime >= u->began + UNDO_TICK_NS)
		(void)lose_at(u, dir, name, UNDO_UNSEEN);
	if (undo_is_link(st))
		o->link = link_of(u, dir, name);
	undo_hash_obj(u, id);
	return id;
}

/* dir/name is about to be changed: the object with what it needs to come back. */
static int get_object(struct undo *u, int dir, uint32_t parent,
	const char *name, const struct undo_stat *st, bool attributes,
	uint32_t *id)
{
	const bool known = (*id = undo_find_obj(u, st)) != UNDO_NONE;
	const uint8_t had = known ? u->m->obj[*id].touched : 0;
	struct undo_obj *o;
	int err = 0;

	if (!known && is_made(u, parent, name, st) && !undo_is_dir(st))
		return 0;
	if (!known)
		*id = new_object(u, dir, parent, name, st);
	if (!*id)
		return -ENOMEM;
	o = &u->m->obj[*id];
	if (attributes && o->before.mode)
		err = read_xattrs(u, o, dir, name);
	if (!err && (!known || had != o->touched))
		err = undo_write_obj(&u->out, u->m, *id);
	return err;
}

/* Which of the roots a path lies in; the rest of it. */
static int root_of(const struct undo *u, const char *path, const char **rest)
{
	for (size_t i = 0; i < u->spec->root_count; i++) {
		if (!path_beneath(u->spec->roots[i], path))
			continue;
		*rest = path + strlen(u->spec->roots[i]);
		*rest += strspn(*rest, "/");
		return (int)i;
	}
	return -1;
}

/* All directories from the root down to rest, as they stand there now. */
static int add_chain(struct undo *u, int root, char *rest, uint32_t *id)
{
	autofd int fd = open(u->spec->roots[root],
		O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct undo_stat st;
	char *at = rest;
	int err = fd < 0 ? -errno : 0;

	*id = UNDO_ROOT + (uint32_t)root;
	while (!err && *at) {
		size_t n = strcspn(at, "/");
		const char cut = at[n];
		uint32_t up = *id;
		int in;

		at[n] = '\0';
		err = undo_stat(fd, at, &st);
		if (!err && !undo_is_dir(&st))
			err = -ENOTDIR;
		if (!err)
			err = get_object(u, fd, up, at, &st, false, id);
		in = err ? -1
			 : openat(fd, at,
				   O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (!err && in < 0)
			err = -errno;
		if (in >= 0) {
			close(fd);
			fd = in;
		}
		at[n] = cut;
		at += n + (cut == '/');
	}
	return err;
}

static bool is_outside(const struct undo *u, const struct undo_stat *st)
{
	for (size_t i = 0; i < ARRAY_SIZE(u->outside); i++)
		if (u->outside[i].ino == st->ino && u->outside[i].dev == st->dev)
			return true;
	return false;
}

/* The directory's number; *id is UNDO_NONE for one that no root has. */
static int find_dir(struct undo *u, int dir, uint32_t *id)
{
	struct undo_stat st, own;
	char path[PATH_MAX];
	const char *rest;
	int root, err;

	*id = UNDO_NONE;
	if (undo_stat(dir, "", &st) || !undo_is_dir(&st))
		return 0;
	if (u->m && u->out.fd >= 0)
		*id = undo_find_obj(u, &st);
	if (*id || is_outside(u, &st))
		return 0;
	if (path_of_fd(dir, path, sizeof path))
		return undo_lose(u, "", "a directory has no name");
	root = root_of(u, path, &rest);
	if (root < 0) {
		u->outside[u->outside_next].dev = st.dev;
		u->outside[u->outside_next].ino = st.ino;
		u->outside_next = (u->outside_next + 1) % ARRAY_SIZE(u->outside);
		return 0;
	}
	err = start_touch(u);
	if (err)
		return undo_lose(u, path, "the journal cannot be written");
	err = add_chain(u, root, path + (rest - path), id);
	own = *id ? *undo_key(&u->m->obj[*id]) : st;
	if (!err && undo_same_object(&own, &st))
		return 0;
	*id = UNDO_NONE;
	return err == -ENOMEM ? err
			      : undo_lose(u, path, "another file system's view hides it");
}

/* The same directory by a name of this process: links are made there alone. */
static int own_dir(struct undo *u, uint32_t id, int dir)
{
	const struct undo_stat *want = undo_key(&u->m->obj[id]);
	struct undo_stat st;
	char path[PATH_MAX];
	int fd;

	for (size_t i = 0; i < UNDO_DIRS_OPEN; i++)
		if (u->open[i].id == id && u->open[i].fd >= 0)
			return u->open[i].fd;
	if (path_of_fd(dir, path, sizeof path))
		return -ENOENT;
	fd = path_openat2(AT_FDCWD, path, O_PATH | O_DIRECTORY, 0,
		RESOLVE_NO_SYMLINKS);
	if (fd < 0)
		return fd;
	if (undo_stat(fd, "", &st) || !undo_same_object(&st, want)) {
		close(fd);
		return -ESTALE;
	}
	if (u->open[u->open_next].fd >= 0)
		close(u->open[u->open_next].fd);
	u->open[u->open_next].fd = fd;
	u->open[u->open_next].id = id;
	u->open_next = (u->open_next + 1) % UNDO_DIRS_OPEN;
	return fd;
}

static bool hold_place(struct undo *u, uint32_t parent, int dir, const char *name,
	uint32_t id)
{
	struct undo_obj *o = &u->m->obj[id];
	const int own = own_dir(u, parent, dir);
	struct undo_stat st;
	char to[16];

	undo_saved_name(to, 'o', id);
	if (own < 0 || linkat(own, name, u->m->dir, to, 0))
		return false;
	if (undo_stat(u->m->dir, to, &st) || !undo_same_object(&st, undo_key(o))) {
		unlinkat(u->m->dir, to, 0);
		return false;
	}
	o->saved |= UNDO_HELD;
	return true;
}

static int copy_content(struct undo *u, int dir, const char *name, uint32_t id,
	const char **why)
{
	struct undo_obj *o = &u->m->obj[id];
	uint64_t left = u->spec->bounds.bytes ? u->spec->bounds.bytes - u->copied
					      : UINT64_MAX;
	const uint64_t had = left;
	autofd int from = undo_open_file(dir, name), to = -1;
	struct undo_stat st;
	char as[16];
	int err;

	*why = "its content cannot be read";
	if (from < 0 || undo_stat(from, "", &st))
		return from;
	*why = "another file stands in its place";
	if (!undo_same_object(&st, &o->before))
		return -ESTALE;
	*why = "its copy cannot be written";
	to = openat(u->m->dir, undo_saved_name(as, 'c', id),
		O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (to < 0)
		return -errno;
	err = undo_copy(from, to, st.size, &left);
	if (err) {
		if (err == -EFBIG)
			*why = "it is beyond the bound of bytes";
		unlinkat(u->m->dir, as, 0);
		return err;
	}
	u->copied += had - left;
	o->saved |= UNDO_COPIED;
	return 0;
}

/* What could not be saved is told once. */
static int give_up(struct undo *u, int dir, const char *name, uint32_t id,
	const char *why)
{
	struct undo_obj *o = &u->m->obj[id];

	if (o->saved & UNDO_GONE)
		return 0;
	o->saved |= UNDO_GONE;
	return lose_at(u, dir, name, why);
}

/* A link where nobody else has a name of it, nor writes to it; else a copy. What
 * has more names is found by them: a link would be counted. */
static int save_removed(struct undo *u, uint32_t parent, int dir,
	const char *name, const struct undo_stat *st, uint32_t id)
{
	struct undo_obj *o = &u->m->obj[id];
	const uint8_t had = o->saved;
	const char *why;
	int err = 0;

	if (!o->before.mode || undo_is_dir(st) || had)
		return 0;
	if (st->nlink == 1 && hold_place(u, parent, dir, name, id))
		return undo_write_saved(&u->out, u->m, id);
	if (S_ISCHR(st->mode) || S_ISBLK(st->mode))
		err = give_up(u, dir, name, id, "a device");
	if (!undo_is_file(st))
		return err;
	err = read_xattrs(u, o, dir, name);
	if (!err)
		err = undo_write_obj(&u->out, u->m, id);
	if (!err && copy_content(u, dir, name, id, &why))
		err = give_up(u, dir, name, id, why);
	return err || o->saved == had ? err
				      : undo_write_saved(&u->out, u->m, id);
}

static int save_content(struct undo *u, int dir, const char *name, uint32_t id)
{
	struct undo_obj *o = &u->m->obj[id];
	const char *why;
	int err;

	if (!o->before.mode || o->saved & (UNDO_COPIED | UNDO_GONE))
		return 0;
	o->touched |= UNDO_T_CONTENT;
	if (copy_content(u, dir, name, id, &why))
		return give_up(u, dir, name, id, why);
	err = undo_write_obj(&u->out, u->m, id);
	return err ? err : undo_write_saved(&u->out, u->m, id);
}

static int add_name(struct undo *u, uint32_t dir, const char *name,
	uint32_t before, bool foreign)
{
	int64_t e = undo_add_ent(u->m, dir, name, before);

	if (e < 0)
		return -ENOMEM;
	u->m->ent[e].foreign = foreign;
	undo_hash_ent(u, (uint32_t)e);
	return undo_write_ent(&u->out, u->m, (uint32_t)e);
}

/* A name that is about to be another object's, or nobody's. */
static int touch_name(struct undo *u, int dir, uint32_t id, const char *name,
	bool removed, bool foreign)
{
	const bool seen = undo_find_ent(u, id, name) >= 0;
	struct undo_stat st = {.mode = 0};
	uint32_t object = UNDO_NONE;
	int err = undo_stat(dir, name, &st);

	if (err && err != -ENOENT)
		return 0; /* the call will fail for that reason, too */
	err = 0;
	u->dirs_go |= undo_is_dir(&st) || undo_is_link(&st);
	if (st.mode)
		err = get_object(u, dir, id, name, &st, undo_is_dir(&st) && removed,
			&object);
	if (!err && removed && object)
		err = save_removed(u, id, dir, name, &st, object);
	if (err || seen)
		return err;
	return add_name(u, id, name,
		object && u->m->obj[object].before.mode ? object : UNDO_NONE,
		foreign);
}

/* An object that was first seen by another name has this one, too. */
static int add_other_name(
	struct undo *u, uint32_t dir, const char *name, uint32_t id)
{
	const struct undo_obj *o = &u->m->obj[id];

	if (id <= u->m->root_count || !o->before.mode ||
		(o->parent == dir && str_eq(o->name, name)) ||
		undo_find_ent(u, dir, name) >= 0)
		return 0;
	return add_name(u, dir, name, id, false);
}

static int touch_object(struct undo *u, const struct undo_touch *t, uint32_t dir)
{
	struct undo_stat st;
	uint32_t id;
	int err;

	if (undo_stat(t->dir, t->name, &st))
		return 0;
	if (t->what == UNDO_CONTENT && !undo_is_file(&st))
		return 0;
	err = get_object(u, t->dir, dir, t->name, &st, t->what != UNDO_KNOWN,
		&id);
	if (!err && id)
		err = add_other_name(u, dir, t->name, id);
	if (err || !id)
		return err;
	if (t->what == UNDO_META)
		u->m->obj[id].touched |= UNDO_T_META;
	return t->what == UNDO_CONTENT ? save_content(u, t->dir, t->name, id) : 0;
}

static int touch_move(struct undo *u, const struct undo_touch *t, uint32_t from)
{
	const bool swap = t->what == UNDO_SWAP;
	struct undo_stat st;
	uint32_t to, id;
	int err = find_dir(u, t->dir2, &to);

	if (err || (!from && !to) || undo_stat(t->dir, t->name, &st))
		return err;
	if (undo_is_dir(&st))
		memset(u->outside, 0, sizeof u->outside);
	if (from && !to) {
		if (undo_is_dir(&st))
			return lose_at(u, t->dir, t->name,
				"it goes out of the project");
		err = touch_name(u, t->dir, from, t->name, false, false);
		id = undo_find_obj(u, &st);
		return err || !id || !undo_is_file(&st)
			       ? err
			       : save_content(u, t->dir, t->name, id);
	}
	if (from)
		err = touch_name(u, t->dir, from, t->name, false, false);
	if (!err)
		err = touch_name(u, t->dir2, to, t->name2, !swap, !from);
	return err;
}

static bool is_over(const struct undo *u)
{
	const uint64_t max = u->spec->bounds.entries;

	return u->m && max && u->m->ent_count + u->m->obj_count > max;
}

int undo_touch(struct undo *u, const struct undo_touch *t)
{
	uint32_t dir;
	int err = u->failed ? 0 : find_dir(u, t->dir, &dir);

	/* Without a journal each change is lost, and told up to a limit. */
	if (u->failed)
		return lose_at(u, t->dir, t->name,
			"the journal cannot be written");
	if (err)
		return err;
	u->first = u->first ? u->first : t->who;
	u->others |= u->first != t->who;
	if (!dir && t->what != UNDO_MOVE && t->what != UNDO_SWAP)
		return 0;
	if (is_over(u))
		return lose_at(u, t->dir, t->name,
			"it is beyond the bound of entries");
	switch (t->what) {
	case UNDO_MAKE:
	case UNDO_REMOVE:
		err = touch_name(u, t->dir, dir, t->name,
			t->what == UNDO_REMOVE, false);
		break;
	case UNDO_MOVE:
	case UNDO_SWAP:
		err = touch_move(u, t, dir);
		break;
	case UNDO_CONTENT:
	case UNDO_META:
	case UNDO_KNOWN:
		err = touch_object(u, t, dir);
		break;
	}
	/* Records are in the journal before the change happens. */
	if (u->out.used) {
		int flushed = undo_flush(&u->out);

		err = err ? err : flushed;
	}
	if (err && err != -EPERM && err != -EDQUOT && u->out.fd >= 0)
		u->failed = err;
	return err;
}
