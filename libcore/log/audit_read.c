/* audit_read.c - reads a log that anyone may have written, record by record
 * SPDX-License-Identifier: MIT
 */
#include "log/audit_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log/audit_extent_in.h"

enum {
	CHUNK = 262144,
	WINDOW = 2 * AUDIT_FRAME_MAX + CHUNK,
	/* Checksums tried per segment in the search for the next frame, and how
	 * far it goes: a file made of false beginnings, or of a hole, must not
	 * cost hours. */
	EFFORT = 64 * AUDIT_FRAME_MAX,
};

void audit_reader_release(struct audit_reader *r)
{
	cleanup_fd(&r->fd);
	cleanup_fd(&r->dirfd);
	for (size_t i = r->at; r->fds && i < r->count; i++)
		close(r->fds[i]);
	free(r->firsts);
	free(r->fds);
	buf_release(&r->window);
	*r = AUDIT_READER_INIT;
}

static void reader_begin(struct audit_reader *r)
{
	*r = AUDIT_READER_INIT;
	r->window = BUF_INIT(WINDOW);
	r->limit = UINT64_MAX;
	r->deep = UINT32_MAX;
	r->crc = crc32c_pick(false);
}

/* The reader takes the extent's list over. */
static void take_extent(struct audit_reader *r, struct audit_extent *e)
{
	free(r->firsts);
	r->firsts = ptr_steal(&e->firsts);
	r->count = e->count;
	r->live = e->head.segment;
	r->limit = e->good ? e->limit : UINT64_MAX;
}

int audit_reader_extent(struct audit_reader *r, int dirfd,
	struct audit_extent *e, uint64_t from, struct diag *d)
{
	reader_begin(r);
	r->dirfd = fcntl(dirfd, F_DUPFD_CLOEXEC, 3);
	if (r->dirfd < 0)
		return diag_errno(d, -errno, "audit log");
	take_extent(r, e);
	while (r->at + 1 < r->count && r->firsts[r->at + 1] <= from)
		r->at++;
	return 0;
}

int audit_reader_dir(
	struct audit_reader *r, int dirfd, uint64_t from, struct diag *d)
{
	autoextent struct audit_extent e = AUDIT_EXTENT_INIT;
	int err = audit_extent_take(&e, dirfd, crc32c_pick(false), d);

	return err ? err : audit_reader_extent(r, dirfd, &e, from, d);
}

int audit_reader_fds(
	struct audit_reader *r, const int *fds, size_t n, struct diag *d)
{
	reader_begin(r);
	r->fds = reallocarray(NULL, n ? n : 1, sizeof *fds);
	if (!r->fds) {
		for (size_t i = 0; i < n; i++)
			close(fds[i]);
		return diag_errno(d, -ENOMEM, "audit log");
	}
	memcpy(r->fds, fds, n * sizeof *fds);
	r->count = n;
	return 0;
}

/* Opens the next segment: a descriptor, or -errno. */
static int open_next(struct audit_reader *r, struct diag *d)
{
	char name[AUDIT_NAME];
	struct stat st;
	autofd int fd = -1;

	if (r->fds) {
		r->segment = r->at;
		return r->fds[r->at];
	}
	r->segment = r->firsts[r->at];
	audit_segment_name(name, r->segment);
	fd = openat(r->dirfd, name,
		O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, &st))
		return diag_errno(d, -errno, "audit log: %s", name);
	if (!S_ISREG(st.st_mode))
		return diag_fail(d, -EPERM,
			"audit log: %s is no regular file", name);
	return fd_steal(&fd);
}

static int next_segment(
	struct audit_reader *r, struct audit_damage *damage, struct diag *d)
{
	int fd;

	if (r->at == r->count)
		return AUDIT_GOT_END;
	fd = open_next(r, d);
	if (fd < 0)
		return fd;
	r->at++;
	cleanup_fd(&r->fd);
	r->fd = fd;
	r->offset = 0;
	r->pos = 0;
	r->eof = false;
	r->effort = EFFORT;
	buf_clear(&r->window);
	*damage = (struct audit_damage){.segment = r->segment};
	return AUDIT_GOT_SEGMENT;
}

/* Reads more bytes; sets eof when there are none. */
static int window_refill(struct audit_reader *r, struct diag *d)
{
	uint64_t read_to = r->offset + r->window.len;
	size_t want = CHUNK;
	ssize_t got;
	char *to;

	buf_consume(&r->window, r->pos);
	r->offset += r->pos;
	r->pos = 0;
	if (!r->fds && r->segment == r->live && r->limit - read_to < want)
		want = read_to < r->limit ? (size_t)(r->limit - read_to) : 0;
	to = want ? buf_reserve(&r->window, want) : NULL;
	if (want && !to)
		return diag_errno(d, r->window.err, "audit log");
	do
		got = want ? read(r->fd, to, want) : 0;
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return diag_errno(d, -errno, "audit log: cannot read it");
	r->eof = got == 0;
	r->window.len += (size_t)got;
	return 0;
}

/* Reads the frame at the position. 0, -EAGAIN at the end, -EBADMSG, or a read
 * error with *fatal. */
static int frame_here(struct audit_reader *r, struct audit_frame *f, bool *fatal,
	struct diag *d)
{
	for (;;) {
		size_t left = r->window.len - r->pos;
		int err = -EAGAIN;

		if (left)
			err = audit_frame_parse(f,
				(const uint8_t *)r->window.data + r->pos, left);
		if (err != -EAGAIN || r->eof)
			return err;
		err = window_refill(r, d);
		if (err) {
			*fatal = true;
			return err;
		}
	}
}

static bool crc_fits(const struct audit_reader *r, const struct audit_frame *f)
{
	return r->crc(f->body, f->body_len) == f->crc;
}

/* Skips the rest of the segment; a file need not be read for that. */
static int skip_rest(struct audit_reader *r, struct diag *d)
{
	const bool limited = !r->fds && r->segment == r->live;
	const off_t size = r->eof ? -1 : lseek(r->fd, 0, SEEK_END);
	uint64_t end = size < 0 ? 0 : (uint64_t)size;
	int err = 0;

	r->pos = r->window.len;
	if (limited && end > r->limit)
		end = r->limit;
	if (end > r->offset + r->pos)
		r->offset = end - r->pos;
	r->eof |= size >= 0;
	while (!r->eof && !err) {
		err = window_refill(r, d);
		r->pos = r->window.len;
	}
	return err;
}

/* Searches the next good frame, from a place where none begins. */
static int find_frame(
	struct audit_reader *r, struct audit_damage *damage, struct diag *d)
{
	const uint64_t start = r->offset + r->pos;
	bool fatal = false;
	int err;

	*damage = (struct audit_damage){.segment = r->segment, .offset = start};
	for (r->pos++;; r->pos++) {
		const char *from = r->window.data + r->pos;
		const char *at = r->pos < r->window.len
			? memchr(from, 0x83, r->window.len - r->pos)
			: NULL;
		struct audit_frame f;

		r->pos = at ? (size_t)(at - r->window.data) : r->window.len;
		if ((!at && r->eof) || r->offset + r->pos - start > EFFORT)
			break;
		err = frame_here(r, &f, &fatal, d);
		if (fatal)
			return err;
		if (err)
			continue;
		if (f.body_len > r->effort)
			break;
		r->effort -= f.body_len;
		if (!crc_fits(r, &f))
			continue;
		damage->bytes = r->offset + r->pos - start;
		err = r->salvage ? 0 : skip_rest(r, d);
		damage->unread = r->offset + r->pos - start - damage->bytes;
		return err ? err : AUDIT_GOT_BAD;
	}
	/* There is no good frame up to the end, or the effort is used up. */
	err = skip_rest(r, d);
	damage->bytes = r->offset + r->pos - start;
	return err ? err : AUDIT_GOT_TORN;
}

/* A purged record has no kind by which it could be chosen. */
static int take_body(const struct audit_reader *r, struct audit_record *rec)
{
	struct audit_intro in;

	if (r->deep == UINT32_MAX ||
		audit_intro(&in, rec->frame.body, rec->frame.body_len) ||
		(in.type < 32 && r->deep >> in.type & 1))
		return audit_record_parse(rec);
	rec->fields = 0;
	rec->session = NULL;
	rec->boot = rec->exec = 0;
	rec->type = in.type;
	rec->seq = in.seq;
	rec->wall = in.wall;
	return 0;
}

static void note_log(struct audit_reader *r, const struct audit_record *rec)
{
	const struct cbor_item *id = rec->type == AUDIT_HEADER
		? audit_bytes(rec, AUDIT_K_LOG)
		: NULL;

	if (id && id->n == AUDIT_ID)
		memcpy(r->log_id, id->bytes, AUDIT_ID);
}

int audit_next(struct audit_reader *r, struct audit_record *rec,
	struct audit_damage *damage, struct diag *d)
{
	struct audit_frame *f = &rec->frame;
	bool fatal = false;
	int err;

	if (r->fd < 0)
		return next_segment(r, damage, d);
	err = frame_here(r, f, &fatal, d);
	if (fatal)
		return err;
	if (err == -EAGAIN && r->pos == r->window.len)
		return next_segment(r, damage, d);
	if (err == -EAGAIN && r->patient && r->at == r->count)
		return AUDIT_GOT_END;
	if (err || !crc_fits(r, f))
		return find_frame(r, damage, d);
	rec->log_id = r->log_id;
	rec->segment = r->segment;
	rec->offset = r->offset + r->pos;
	r->pos += f->len;
	if (!take_body(r, rec)) {
		if (rec->type == AUDIT_PURGED)
			rec->wall = r->wall;
		r->wall = rec->wall;
		note_log(r, rec);
		return AUDIT_GOT_RECORD;
	}
	*damage = (struct audit_damage){.segment = r->segment,
		.offset = rec->offset,
		.bytes = f->len};
	return AUDIT_GOT_ALIEN;
}

int audit_reader_more(struct audit_reader *r, struct diag *d)
{
	autoextent struct audit_extent e = AUDIT_EXTENT_INIT;
	struct stat st;
	int err;

	r->eof = false;
	if (r->fds)
		return AUDIT_MORE;
	if (fstat(r->dirfd, &st) || !st.st_nlink)
		return diag_fail(d, -ENOENT, "audit log: it was deleted");
	err = audit_extent_take(&e, r->dirfd, r->crc, d);
	if (err)
		return err;
	take_extent(r, &e);
	for (r->at = 0; r->at < r->count; r->at++)
		if (r->fd < 0 || r->firsts[r->at] > r->segment)
			break;
	if (r->fd < 0)
		return AUDIT_MORE;
	/* A writer may have cut off the incomplete record that begins here. */
	r->window.len = r->pos;
	if (lseek(r->fd, (off_t)(r->offset + r->pos), SEEK_SET) < 0 ||
		fstat(r->fd, &st))
		return diag_errno(d, -errno, "audit log: cannot read it");
	if (st.st_nlink || r->at < r->count || !r->count)
		return AUDIT_MORE;
	r->at = 0;
	return AUDIT_ANEW;
}
