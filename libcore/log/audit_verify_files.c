/* audit_verify_files.c - every file of the directory is accounted for
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "log/audit_extent_in.h"
#include "log/audit_verify_in.h"

/* Bytes beyond the head's end: a record that was written and not yet noted, or
 * a part of one. */
static void check_beyond(
	struct audit_check *c, int dirfd, const struct audit_extent *e)
{
	autobuf struct buf b = BUF_INIT(AUDIT_FRAME_MAX);
	char name[AUDIT_NAME];
	autofd int fd = -1;
	struct audit_intro in;
	struct audit_frame f;
	size_t at = 0;
	unsigned whole = 0;
	bool follows = true;

	if (!e->good || e->size <= e->limit)
		return;
	if (e->size - e->limit > AUDIT_FRAME_MAX) {
		audit_find(c, AUDIT_TAMPER, "head", NULL,
			"%ju bytes that the head knows nothing of",
			e->size - e->limit);
		return;
	}
	audit_segment_name(name, e->head.segment);
	fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 || lseek(fd, (off_t)e->limit, SEEK_SET) < 0 ||
		buf_read_fd(&b, fd))
		return;
	if (b.len > e->size - e->limit)
		b.len = (size_t)(e->size - e->limit);
	while (at < b.len) {
		const uint8_t *p = (const uint8_t *)b.data + at;

		if (audit_frame_parse(&f, p, b.len - at) ||
			c->hw.crc(f.body, f.body_len) != f.crc)
			break;
		follows = follows &&
			audit_frame_follows(
				&f, &c->hw, c->next + whole, c->link, &in);
		at += f.len;
		whole++;
	}
	if (whole)
		/* A kill leaves at most one such record, the next one. */
		audit_find(c,
			whole > 1 || !follows ? AUDIT_TAMPER : AUDIT_NOTE,
			"adopted", NULL,
			"behind what the head knows of: %u record%s, which the"
			" next writer will look at",
			whole, str_plural(whole));
	if (at < b.len)
		audit_find(c, AUDIT_LOSS, "torn", NULL,
			"the log ends in %zu bytes that are no record: a"
			" writer died; the next one will see to it",
			b.len - at);
}

struct strays {
	struct audit_check *check;
	int dirfd;
	const struct audit_extent *extent;
	bool went_down;
};

/* Does the segment hold only its beginning: the header, the reason for it, or
 * what the machine kept of them? A writer that died as it began it leaves that;
 * no record in it tells of a command. */
static bool holds_beginning(const struct strays *all, const struct audit_stray *s)
{
	autobuf struct buf b = BUF_INIT(AUDIT_ORPHAN_MAX);
	autofd int fd = openat(all->dirfd, s->name,
		O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	struct audit_frame f;
	struct audit_intro in;

	if (fd < 0 || buf_read_fd(&b, fd))
		return false;
	for (size_t at = 0; at < b.len; at++)
		if (!audit_frame_parse(
			    &f, (const uint8_t *)b.data + at, b.len - at) &&
			all->check->hw.crc(f.body, f.body_len) == f.crc &&
			(audit_intro(&in, f.body, f.body_len) ||
				(in.type != AUDIT_HEADER &&
					in.type != AUDIT_RECOVER)))
			return false;
	return true;
}

/* Reports a segment that the head does not know. */
static void tell_segment(const struct strays *all, const struct audit_stray *s)
{
	const struct audit_extent *e = all->extent;
	const struct audit_record at = {.seq = s->first, .segment = s->first};
	/* The machine may have lost the end of the segment before. */
	const bool next = s->first <= e->head.next ||
		(all->went_down && s->first <= all->check->next);

	if (next && s->size <= AUDIT_ORPHAN_MAX && holds_beginning(all, s))
		audit_find(all->check, AUDIT_NOTE, "orphan", &at,
			"%s, %ju bytes, no part of the log: a writer died as "
			"it began a segment", s->name, s->size);
	else
		audit_find(all->check, AUDIT_TAMPER, "segment", &at,
			"%s, %ju bytes, is a segment that the head knows "
			"nothing of: no part of the log, and shown by nothing",
			s->name, s->size);
}

static const char *shape_name(mode_t mode)
{
	return S_ISDIR(mode)    ? "a directory"
		: S_ISLNK(mode) ? "a symbolic link"
		: S_ISFIFO(mode) ? "a pipe"
		: S_ISREG(mode) ? "a file"
				: "no regular file";
}

static void tell_stray(void *ctx, const struct audit_stray *s)
{
	const struct strays *all = ctx;
	struct audit_check *c = all->check;

	c->v->strays++;
	switch (s->kind) {
	case AUDIT_STRAY_BEYOND:
		tell_segment(all, s);
		break;
	case AUDIT_STRAY_SHAPE:
		audit_find(c, AUDIT_TAMPER, "file", NULL,
			"%s is %s where a file of the log must be", s->name,
			shape_name(s->mode));
		break;
	case AUDIT_STRAY_SPELLING:
		audit_find(c, AUDIT_TAMPER, "file", NULL,
			"%s, %s, is nearly a segment's name and none: no part of"
			" the log, and shown by nothing",
			s->name, shape_name(s->mode));
		break;
	case AUDIT_STRAY_TEMPORARY:
		audit_find(c, AUDIT_NOTE, "temporary", NULL,
			"%s, %ju bytes, no part of the log: a writer died as "
			"it wrote it", s->name, s->size);
		break;
	case AUDIT_STRAY_FOREIGN:
		audit_find(c, AUDIT_NOTE, "foreign", NULL,
			"%s, %s, is no part of the log", s->name,
			shape_name(s->mode));
		break;
	}
}

int audit_check_files(struct audit_check *c, int dirfd,
	const struct audit_extent *e, bool went_down, struct diag *d)
{
	struct strays all = {.check = c,
		.dirfd = dirfd,
		.extent = e,
		.went_down = went_down};

	check_beyond(c, dirfd, e);
	return audit_strays(dirfd, e, tell_stray, &all, d);
}
