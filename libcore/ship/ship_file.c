/* ship_file.c - the records themselves, in files as the log has them
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "ship/ship_in.h"
#include "sys/file.h"

static int segment_open(const struct ship *s, uint64_t first, int flags)
{
	char name[AUDIT_NAME];
	int fd;

	audit_segment_name(name, first);
	fd = openat(s->dir, name,
		flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);
	return fd < 0 ? -errno : fd;
}

/* The last whole record of one file, where it ends, and what is wrong. */
struct last {
	uint64_t seq, end;
	uint8_t *link;
};

static int segment_last(struct last *l, int fd, struct diag *d)
{
	autoreader struct audit_reader r = AUDIT_READER_INIT;
	struct audit_damage damage;
	struct audit_record rec;
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	int got = own < 0 ? diag_errno(d, -errno, "a file of the receiver")
			  : audit_reader_fds(&r, &own, 1, d);

	while (got >= 0 && (got = audit_next(&r, &rec, &damage, d)) > 0) {
		if (got == AUDIT_GOT_BAD || got == AUDIT_GOT_ALIEN)
			return diag_fail(d, -EBADMSG, "byte %llu is damaged",
				(unsigned long long)damage.offset);
		if (got != AUDIT_GOT_RECORD)
			continue;
		l->seq = rec.seq;
		l->end = rec.offset + rec.frame.len;
		memcpy(l->link, rec.frame.link, AUDIT_HASH);
	}
	return got;
}

/* One file; what is cut at its end goes, because it comes again. */
static int segment_mend(const struct ship *s, uint64_t first, struct last *l,
	struct diag *d)
{
	autofd int fd = segment_open(s, first, O_RDWR);
	char name[AUDIT_NAME];
	int err = fd < 0 ? diag_errno(d, fd, "cannot open it")
			 : segment_last(l, fd, d);

	if (!err && ftruncate(fd, (off_t)l->end))
		err = diag_errno(d, -errno, "cannot cut it");
	if (err && d) {
		audit_segment_name(name, first);
		diag_at(d, name, 0, 0);
	}
	return err;
}

int ship_file_open(struct ship *s, uint64_t *seq,
	uint8_t link[static AUDIT_HASH], struct diag *d)
{
	struct last l = {.link = link};
	autofree uint64_t *firsts = NULL;
	int n = file_mkdirs(s->to.path, 0700);

	if (!n)
		s->dir = open(s->to.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (n || s->dir < 0)
		return diag_errno(d, n ? n : -errno, "%s", s->to.path);
	/* What is cut there may be a record that is being written. */
	if (!faccessat(s->dir, "head", F_OK, AT_SYMLINK_NOFOLLOW))
		return diag_fail(d, -EEXIST, "%s: a log is written there",
			s->to.path);
	if (flock(s->dir, LOCK_EX | LOCK_NB))
		return diag_fail(d, -EBUSY, "%s: another one ships there",
			s->to.path);
	n = audit_segments(s->dir, &firsts, d);
	/* The last file may have been begun and no more. */
	while (n > 0 && !l.end) {
		int err = segment_mend(s, firsts[--n], &l, d);

		if (err)
			return err;
	}
	*seq = l.seq;
	return n < 0 ? n : l.end != 0;
}

/* Appends the bytes of [from, to), of one segment; all or nothing. */
static int segment_append(const struct ship *s, size_t from, size_t to)
{
	const size_t at = from ? s->item[from - 1].end : 0,
		     n = s->item[to - 1].end - at;
	autofd int fd = segment_open(
		s, s->item[from].segment, O_WRONLY | O_CREAT | O_APPEND);
	struct stat st;
	int err;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st))
		return -errno;
	err = file_write_all(fd, s->bytes.data + at, n);
	if (!err && fsync(fd))
		err = -errno;
	if (err && ftruncate(fd, st.st_size))
		err = -errno;
	return err;
}

int ship_file_send(struct ship *s, struct diag *d)
{
	while (s->done < s->count) {
		size_t to = s->done + 1;
		int err;

		while (to < s->count &&
			s->item[to].segment == s->item[s->done].segment)
			to++;
		err = segment_append(s, s->done, to);
		if (err)
			return diag_errno(d, err, "%s", s->to.path);
		s->done = to;
	}
	return fsync(s->dir) ? diag_errno(d, -errno, "%s", s->to.path) : 0;
}
