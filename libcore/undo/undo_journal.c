/* undo_journal.c - records, appended one by one, each with its checksum
 * SPDX-License-Identifier: MIT
 */
#include "undo/undo_in.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/str.h"
#include "sys/file.h"

enum { JOURNAL_VERSION = 1, RECORD_MAX = 1 << 18, JOURNAL_MAX = 1 << 30 };
/* .flags of an object: the command made it, and .st is how it was first seen. */
enum { FLAG_MADE = 0x100, FLAG_STAYS = 0x200 };
enum record_type { BEGIN = 1, OBJ, ENT, SAVED, LOSS, OBJ_END, ENT_END, END, ALSO };

struct frame {
	uint32_t size; /* of what follows the frame */
	uint32_t type;
	uint32_t sum; /* of type and what follows */
};
struct rec_begin {
	char magic[8];
	uint32_t version, kind, roots, spare;
	uint64_t of, exec_id, began;
};
struct rec_obj {
	struct undo_stat st; /* OBJ: before; OBJ_END: after */
	uint32_t id, parent, xattr_len, flags;
	uint8_t sha_old[UNDO_SHA], sha_new[UNDO_SHA]; /* OBJ_END */
};
struct rec_ent {
	uint32_t index, dir, object, flags;
};
struct rec_saved {
	uint32_t id, saved;
};
struct rec_end {
	uint64_t ended, bytes;
	uint32_t complete, made, changed, removed, moved, lost;
};

static const char journal_magic[8] = "undo\r\n\x1a";

/* Strings lie behind the fixed part, each with its NUL; then bytes. */
struct record {
	struct buf b;
	char room[1024];
};

/* Few records are longer than the room: those are on the heap. */
static void record_begin(
	struct record *r, const void *fixed, size_t n, size_t more)
{
	const struct frame none = {.size = 0};

	r->b = sizeof none + n + more < sizeof r->room
		       ? buf_fixed(r->room, sizeof r->room)
		       : BUF_INIT(RECORD_MAX);
	buf_add(&r->b, &none, sizeof none);
	buf_add(&r->b, fixed, n);
}

static void record_str(struct record *r, const char *s)
{
	buf_add(&r->b, s ? s : "", s ? strlen(s) + 1 : 1);
}

int undo_flush(struct undo_out *out)
{
	const size_t n = out->used;

	out->used = 0;
	return n ? file_write_all(out->fd, out->room, n) : 0;
}

static int record_write(
	struct record *r, struct undo_out *out, enum record_type type)
{
	struct frame f = {
		.size = (uint32_t)(r->b.len - sizeof f), .type = type};
	int err = r->b.err;

	if (!err) {
		memcpy(r->b.data, &f, sizeof f);
		f.sum = crc32c(r->b.data + 4, r->b.len - 4);
		memcpy(r->b.data, &f, sizeof f);
		if (out->used + r->b.len > sizeof out->room)
			err = undo_flush(out);
		if (!err && r->b.len > sizeof out->room) {
			err = file_write_all(out->fd, r->b.data, r->b.len);
		} else if (!err) {
			memcpy(out->room + out->used, r->b.data, r->b.len);
			out->used += r->b.len;
		}
	}
	buf_release(&r->b);
	return err;
}

int undo_write_begin(struct undo_out *out, const struct undo_model *m)
{
	struct rec_begin x = {.version = JOURNAL_VERSION,
		.kind = m->info.kind,
		.roots = m->root_count,
		.of = m->info.of,
		.exec_id = m->info.exec_id,
		.began = m->info.began_ns};
	struct record r;

	memcpy(x.magic, journal_magic, sizeof x.magic);
	record_begin(&r, &x, sizeof x, RECORD_MAX);
	record_str(&r, m->info.session);
	record_str(&r, m->info.text);
	for (uint32_t i = 0; i < m->root_count; i++)
		record_str(&r, m->root[i]);
	return record_write(&r, out, BEGIN);
}

static int write_obj(struct undo_out *out, const struct undo_model *m, uint32_t id, bool end)
{
	const struct undo_obj *o = &m->obj[id];
	const bool made = !o->before.mode;
	struct rec_obj x = {.st = end || made ? o->after : o->before,
		.id = id,
		.parent = end ? o->parent2 : o->parent,
		.flags = o->touched | (made ? FLAG_MADE : 0U) |
			(o->stays ? FLAG_STAYS : 0U)};
	struct record r;

	if (end) {
		memcpy(x.sha_old, o->sha_old, UNDO_SHA);
		memcpy(x.sha_new, o->sha_new, UNDO_SHA);
	} else {
		x.xattr_len = o->xattr_len;
	}
	record_begin(&r, &x, sizeof x,
		x.xattr_len || undo_is_link(&x.st) ? RECORD_MAX : NAME_MAX + 2);
	record_str(&r, end ? o->name2 : o->name);
	record_str(&r, end ? o->link2 : o->link);
	buf_add(&r.b, o->xattr, x.xattr_len);
	return record_write(&r, out, end ? OBJ_END : OBJ);
}

int undo_write_obj(struct undo_out *out, const struct undo_model *m, uint32_t id)
{
	return write_obj(out, m, id, false);
}

int undo_write_obj_end(struct undo_out *out, const struct undo_model *m, uint32_t id)
{
	return write_obj(out, m, id, true);
}

static int write_ent(struct undo_out *out, const struct undo_model *m, uint32_t i, bool end)
{
	const struct undo_ent *e = &m->ent[i];
	const struct rec_ent x = {.index = i,
		.dir = e->dir,
		.object = end ? e->after : e->before,
		.flags = e->foreign};
	struct record r;

	record_begin(&r, &x, sizeof x, NAME_MAX + 1);
	record_str(&r, end ? "" : e->name);
	return record_write(&r, out, end ? ENT_END : ENT);
}

int undo_write_ent(struct undo_out *out, const struct undo_model *m, uint32_t index)
{
	return write_ent(out, m, index, false);
}

int undo_write_ent_end(struct undo_out *out, const struct undo_model *m, uint32_t index)
{
	return write_ent(out, m, index, true);
}

int undo_write_saved(struct undo_out *out, const struct undo_model *m, uint32_t id)
{
	const struct rec_saved x = {.id = id, .saved = m->obj[id].saved};
	struct record r;

	record_begin(&r, &x, sizeof x, 0);
	return record_write(&r, out, SAVED);
}

int undo_write_loss(struct undo_out *out, const char *path, const char *why)
{
	struct record r;

	record_begin(&r, "", 0, RECORD_MAX);
	record_str(&r, path);
	record_str(&r, why);
	return record_write(&r, out, LOSS);
}

int undo_write_also(struct undo_out *out, const char *text)
{
	struct record r;

	record_begin(&r, "", 0, RECORD_MAX);
	record_str(&r, text);
	return record_write(&r, out, ALSO);
}

int undo_write_end(struct undo_out *out, const struct undo_model *m)
{
	const struct undo_info *i = &m->info;
	const struct rec_end x = {.ended = i->ended_ns,
		.bytes = i->bytes,
		.complete = i->complete,
		.made = i->made,
		.changed = i->changed,
		.removed = i->removed,
		.moved = i->moved,
		.lost = i->lost};
	struct record r;

	record_begin(&r, &x, sizeof x, 0);
	return record_write(&r, out, END);
}

/* What is left of a record. */
struct rest {
	const char *at, *end;
};

static bool take_record(struct rest *r, void *out, size_t n)
{
	if ((size_t)(r->end - r->at) < n)
		return false;
	memcpy(out, r->at, n);
	r->at += n;
	return true;
}

static const char *take_str(struct rest *r)
{
	const char *s = r->at;
	const char *nul = s < r->end ? memchr(s, 0, (size_t)(r->end - s)) : NULL;

	if (!nul)
		return NULL;
	r->at = nul + 1;
	return s;
}

static bool read_begin(struct undo_model *m, struct rest *r)
{
	struct rec_begin x;
	const char *session, *text, *root;

	if (m->root_count || !take_record(r, &x, sizeof x) ||
		memcmp(x.magic, journal_magic, sizeof x.magic) != 0 ||
		x.version != JOURNAL_VERSION || x.kind > UNDO_REDO || !x.roots ||
		x.roots > UNDO_ROOTS_MAX)
		return false;
	session = take_str(r);
	text = session ? take_str(r) : NULL;
	if (!text || str_copy(m->info.session, sizeof m->info.session, session) ||
		str_copy(m->info.text, sizeof m->info.text, text))
		return false;
	m->info.kind = (enum undo_kind)x.kind;
	m->info.of = x.of;
	m->info.exec_id = x.exec_id;
	m->info.began_ns = x.began;
	for (uint32_t i = 0; i < x.roots; i++) {
		root = take_str(r);
		if (!root || root[0] != '/' || strlen(root) >= UNDO_PATH)
			return false;
		m->root[i] = undo_keep(m, root);
		if (!m->root[i] || undo_add_obj(m, 0, "") != i + UNDO_ROOT)
			return false;
	}
	m->root_count = x.roots;
	return !str_copy(m->info.root, sizeof m->info.root, m->root[0]);
}

/* A name that leads nowhere but into its directory. */
static bool is_name(const char *s)
{
	return *s && !str_eq(s, ".") && !str_eq(s, "..") && !strchr(s, '/') &&
		strlen(s) <= NAME_MAX;
}

/* Attributes as set_xattrs() walks over them. */
static bool is_xattrs(const char *at, size_t n)
{
	const char *end = at + n;
	uint32_t size;

	while (at < end) {
		const char *nul = memchr(at, 0, (size_t)(end - at));

		if (!nul || end - nul - 1 < (ptrdiff_t)sizeof size)
			return false;
		memcpy(&size, nul + 1, sizeof size);
		at = nul + 1 + sizeof size;
		if (size > (size_t)(end - at))
			return false;
		at += size;
	}
	return true;
}

static bool read_obj(struct undo_model *m, struct rest *r)
{
	struct rec_obj x;
	struct undo_obj *o;
	const char *name, *link;
	char *xattr = NULL;
	uint32_t id;

	if (!take_record(r, &x, sizeof x) || !(name = take_str(r)) ||
		!(link = take_str(r)) || x.xattr_len > (size_t)(r->end - r->at))
		return false;
	if (x.id > m->obj_count || !x.id ||
		(x.id > m->root_count && (!is_name(name) || !x.parent ||
						 x.parent >= m->obj_count)))
		return false;
	id = x.id < m->obj_count ? x.id : undo_add_obj(m, x.parent, name);
	if (!id || !is_xattrs(r->at, x.xattr_len))
		return false;
	if (x.xattr_len) {
		xattr = arena_bytes(&m->arena, x.xattr_len);
		if (!xattr)
			return false;
		memcpy(xattr, r->at, x.xattr_len);
	}
	o = &m->obj[id];
	if (x.flags & FLAG_MADE)
		o->after = x.st;
	else
		o->before = x.st;
	o->touched = (uint8_t)x.flags;
	o->link = undo_keep(m, link);
	o->xattr = xattr;
	o->xattr_len = x.xattr_len;
	return o->link;
}

static bool read_obj_end(struct undo_model *m, struct rest *r)
{
	struct rec_obj x;
	struct undo_obj *o;
	const char *name, *link;

	if (!take_record(r, &x, sizeof x) || !(name = take_str(r)) ||
		!(link = take_str(r)) || !x.id)
		return false;
	if (x.id == m->obj_count && (!is_name(name) ||
					    !undo_add_obj(m, x.parent, name)))
		return false;
	if (x.id >= m->obj_count || x.parent >= m->obj_count)
		return false;
	if (x.st.mode && x.id > m->root_count && !is_name(name))
		return false;
	o = &m->obj[x.id];
	o->after = x.st;
	o->stays = x.flags & FLAG_STAYS;
	o->parent2 = x.parent;
	o->touched = (uint8_t)x.flags;
	o->name2 = undo_keep(m, name);
	o->link2 = undo_keep(m, link);
	memcpy(o->sha_old, x.sha_old, UNDO_SHA);
	memcpy(o->sha_new, x.sha_new, UNDO_SHA);
	return o->name2 && o->link2;
}

static bool read_ent(struct undo_model *m, struct rest *r, bool end)
{
	struct rec_ent x;
	const char *name;

	if (!take_record(r, &x, sizeof x) || !(name = take_str(r)) ||
		x.object >= m->obj_count || !x.dir || x.dir >= m->obj_count)
		return false;
	if (!end)
		return x.index == m->ent_count && is_name(name) &&
			undo_add_ent(m, x.dir, name, x.object) >= 0;
	if (x.index >= m->ent_count)
		return false;
	m->ent[x.index].after = x.object;
	if (x.object && x.object != m->ent[x.index].before &&
		!m->obj[x.object].dest)
		m->obj[x.object].dest = x.index + 1;
	m->ent[x.index].foreign = x.flags & 1;
	return true;
}

static bool read_end(struct undo_info *i, struct rest *r)
{
	struct rec_end x;

	if (!take_record(r, &x, sizeof x))
		return false;
	i->ended = true;
	i->ended_ns = x.ended;
	i->bytes = x.bytes;
	i->complete = x.complete;
	i->made = x.made;
	i->changed = x.changed;
	i->removed = x.removed;
	i->moved = x.moved;
	i->lost = x.lost;
	return true;
}

static bool read_one(struct undo_model *m, uint32_t type, struct rest *r)
{
	struct rec_saved s;
	const char *path, *why;

	if (!m->root_count && type != BEGIN)
		return false;
	switch ((enum record_type)type) {
	case BEGIN:
		return read_begin(m, r);
	case OBJ:
		return read_obj(m, r);
	case OBJ_END:
		return read_obj_end(m, r);
	case ENT:
	case ENT_END:
		return read_ent(m, r, type == ENT_END);
	case SAVED:
		if (!take_record(r, &s, sizeof s) || !s.id || s.id >= m->obj_count)
			return false;
		m->obj[s.id].saved = (uint8_t)s.saved;
		return true;
	case LOSS:
		path = take_str(r);
		why = path ? take_str(r) : NULL;
		return why && !undo_add_loss(m, path, why);
	case ALSO:
		path = take_str(r);
		if (path && m->also_count < UNDO_ALSO)
			m->also[m->also_count++] = undo_keep(m, path);
		return path;
	case END:
		return read_end(&m->info, r);
	}
	return false;
}

int undo_read(int fd, struct undo_model *m)
{
	autobuf struct buf b = BUF_INIT(JOURNAL_MAX);
	size_t at = 0;

	if (lseek(fd, 0, SEEK_SET) || buf_read_fd(&b, fd))
		return -EIO;
	while (b.len - at >= sizeof(struct frame) && !m->info.ended) {
		struct frame f, summed;
		struct rest r;

		memcpy(&f, b.data + at, sizeof f);
		r.at = b.data + at + sizeof f;
		if (f.size > RECORD_MAX || f.size > b.len - at - sizeof f)
			break;
		r.end = r.at + f.size;
		summed = (struct frame){.size = f.size, .type = f.type};
		memcpy(b.data + at, &summed, sizeof summed);
		if (crc32c(b.data + at + 4, sizeof f - 4 + f.size) != f.sum)
			break;
		if (!read_one(m, f.type, &r))
			return -EBADMSG;
		at += sizeof f + f.size;
	}
	m->whole = at;
	return m->root_count ? 0 : -EBADMSG;
}

/* The record at an offset, where it has that type and is whole; the bytes behind
 * its frame are to be freed. */
static char *read_at(int fd, off_t at, enum record_type type, struct rest *r)
{
	struct frame f, summed;
	char *bytes = NULL;

	if (pread(fd, &f, sizeof f, at) != (ssize_t)sizeof f ||
		f.type != type || f.size > RECORD_MAX)
		return NULL;
	summed = (struct frame){.type = f.type};
	bytes = malloc(sizeof f + f.size);
	if (!bytes)
		return NULL;
	memcpy(bytes, &summed, sizeof f);
	if (pread(fd, bytes + sizeof f, f.size, at + (off_t)sizeof f) !=
			(ssize_t)f.size ||
		crc32c(bytes + 4, sizeof f - 4 + f.size) != f.sum) {
		free(bytes);
		return NULL;
	}
	r->at = bytes + sizeof f;
	r->end = r->at + f.size;
	return bytes;
}

int undo_read_info(int fd, struct undo_info *info)
{
	const off_t tail = sizeof(struct frame) + sizeof(struct rec_end);
	const off_t size = lseek(fd, 0, SEEK_END);
	autoundo_model struct undo_model *m = undo_model_new();
	const uint64_t number = info->number;
	autofree char *head = NULL, *end = NULL;
	struct rest r;

	if (!m)
		return -ENOMEM;
	head = read_at(fd, 0, BEGIN, &r);
	if (!head || !read_begin(m, &r))
		return -EBADMSG;
	if (size >= tail) {
		end = read_at(fd, size - tail, END, &r);
		if (end)
			(void)read_end(&m->info, &r);
	}
	*info = m->info;
	info->number = number;
	return 0;
}
