/* audit_write_keep.c - old segments deleted, single records emptied
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h> /* renameat */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "log/audit_read.h"
#include "log/audit_write.h"
#include "log/audit_write_in.h"
#include "base/cbor.h"
#include "sys/file.h"

enum { SPINE_MAX = 1 << 28 };

/* The segments to be deleted, and what remains of them. */
struct doomed {
	struct buf spine;
	uint64_t spined; /* records below it are in the spine already */
	/* The header of the segment behind the current one: the record that it
	 * follows, and whether it says that the machine or the disk lost what
	 * came later. */
	uint64_t last;
	uint8_t link[AUDIT_HASH];
	bool lost;
	struct buf rows; /* rows of the pruned record */
};

/* Keeps headers and checkpoints, which carry the key chain on. */
static void keep_frame(struct doomed *x, const struct audit_record *r)
{
	const struct audit_frame *f = &r->frame;

	if (r->type != AUDIT_HEADER && r->type != AUDIT_CKPT)
		return;
	if (r->seq < x->spined)
		return;
	/* link is the frame's end, so the beginning is known. */
	buf_add(&x->spine, f->link + AUDIT_HASH - f->len, f->len);
	x->spined = r->seq + 1;
}

static int read_frames(struct doomed *x, struct audit_reader *reader,
	bool spine, struct diag *d)
{
	struct audit_damage damage;
	struct audit_record r;
	int got;

	while ((got = audit_next(reader, &r, &damage, d)) != AUDIT_GOT_END) {
		if (got < 0)
			return got;
		if (got == AUDIT_GOT_SEGMENT)
			continue;
		if (got != AUDIT_GOT_RECORD && x->lost && !spine)
			break;
		if (got != AUDIT_GOT_RECORD)
			return diag_fail(d, -EBADMSG,
				"audit log: damage in %s%016jx: nothing is "
				"deleted before 'audit verify' was looked at",
				spine ? "the spine, " : "segment ",
				damage.segment);
		keep_frame(x, &r);
	}
	return x->spine.err ? diag_errno(d, x->spine.err, "audit log: spine")
			    : 0;
}

static int read_file(struct audit_log *log, struct doomed *x, const char *name,
	bool spine, struct diag *d)
{
	autoreader struct audit_reader reader = AUDIT_READER_INIT;
	int fd = audit_file_open(log, name, O_RDONLY, d), err;

	if (fd == -ENOENT && spine)
		return 0;
	if (fd < 0)
		return fd;
	err = audit_reader_fds(&reader, &fd, 1, d);
	return err ? err : read_frames(x, &reader, spine, d);
}

static int read_next(struct audit_log *log, struct doomed *x, uint64_t first,
	struct diag *d)
{
	autoreader struct audit_reader reader = AUDIT_READER_INIT;
	const struct cbor_item *prev = NULL;
	struct audit_damage damage;
	struct audit_record r;
	uint64_t n[4] = {0};
	char name[AUDIT_NAME];
	int err, fd;

	audit_segment_name(name, first);
	fd = audit_file_open(log, name, O_RDONLY, d);
	err = fd < 0 ? fd : audit_reader_fds(&reader, &fd, 1, d);
	if (err)
		return err;
	if (audit_next(&reader, &r, &damage, d) == AUDIT_GOT_SEGMENT &&
		audit_next(&reader, &r, &damage, d) == AUDIT_GOT_RECORD)
		prev = audit_bytes(&r, AUDIT_K_PREV);
	if (!prev || prev->n != AUDIT_HASH || r.seq != first)
		return diag_fail(d, -EBADMSG,
			"audit log: segment %016jx does not say what it "
			"follows", first);
	x->last = first - 1;
	memcpy(x->link, prev->bytes, AUDIT_HASH);
	x->lost = audit_next(&reader, &r, &damage, d) == AUDIT_GOT_RECORD &&
		r.type == AUDIT_RECOVER && !audit_lost_numbers(&r, n) &&
		(n[0] == AUDIT_WHY_POWER || n[0] == AUDIT_WHY_TORN ||
			n[0] == AUDIT_WHY_IO);
	return 0;
}

/* The number of the oldest segments to delete. */
static int choose_oldest(struct audit_log *log, const uint64_t *firsts, int n,
	uint64_t live, uint64_t keep_bytes, uint64_t keep_since)
{
	uint64_t total = 0;
	char name[AUDIT_NAME];
	struct stat st;
	int go = 0;

	for (int i = 0; i < n; i++) {
		audit_segment_name(name, firsts[i]);
		if (!fstatat(log->dirfd, name, &st, AT_SYMLINK_NOFOLLOW))
			total += (uint64_t)st.st_size;
	}
	/* The last segment stays, live or not, because each deleted one is
	 * explained by the next. */
	for (; go + 1 < n && firsts[go] < live; go++) {
		uint64_t ended;

		audit_segment_name(name, firsts[go]);
		if (fstatat(log->dirfd, name, &st, AT_SYMLINK_NOFOLLOW))
			break;
		ended = (uint64_t)st.st_mtim.tv_sec * 1000000000;
		if (!(keep_bytes && total > keep_bytes) &&
			!(keep_since && ended < keep_since))
			break;
		total -= (uint64_t)st.st_size;
	}
	return go;
}

/* Adds a row for each segment, so that whichever of them are gone when the
 * deletion is interrupted, the log begins behind one that is named. */
static void add_row(struct doomed *x)
{
	cbor_put_array(&x->rows, 3);
	cbor_put_uint(&x->rows, 0);
	cbor_put_uint(&x->rows, x->last);
	cbor_put_bytes(&x->rows, x->link, AUDIT_HASH);
}

static int put_pruned(struct audit_log *log, struct audit_head *h,
	const struct doomed *x, size_t n, struct diag *d)
{
	autorec struct audit_rec r = AUDIT_REC(log, AUDIT_PRUNED);

	cbor_put_array(audit_rec_key(&r, AUDIT_K_PRUNED), n);
	buf_add(&r.rest, x->rows.data, x->rows.len);
	return audit_put(log, h, &r, d);
}

static void doomed_release(struct doomed *x)
{
	buf_release(&x->spine);
	buf_release(&x->rows);
}

/* Writes first the spine, then the record, and deletes last, so that an
 * interruption leaves nothing unexplained. */
static int prune_segments(struct audit_log *log, struct audit_head *h,
	const uint64_t *firsts, int go, struct diag *d)
{
	autoclean(doomed_release) struct doomed x = {
		.spine = BUF_INIT(SPINE_MAX),
		.rows = BUF_INIT(AUDIT_BODY_MAX / 2)};
	char name[AUDIT_NAME];
	int err = read_file(log, &x, "spine", true, d);

	for (int i = 0; i < go && !err; i++) {
		audit_segment_name(name, firsts[i]);
		err = read_next(log, &x, firsts[i + 1], d);
		if (!err)
			err = read_file(log, &x, name, false, d);
		add_row(&x);
	}
	if (err)
		return err;
	err = file_replace(
		log->dirfd, "spine", x.spine.data, x.spine.len, 0600, true);
	if (err)
		return diag_errno(d, err, "audit log: cannot write the spine");
	err = put_pruned(log, h, &x, (size_t)go, d);
	if (!err && fdatasync(log->segfd))
		err = diag_errno(d, -errno, "audit log");
	for (int i = 0; i < go && !err; i++) {
		audit_segment_name(name, firsts[i]);
		if (unlinkat(log->dirfd, name, 0))
			err = diag_errno(d, -errno, "audit log: %s", name);
	}
	fsync(log->dirfd);
	return err;
}

/* Deletes segments. Their number, or -errno. */
static int prune_beyond(struct audit_log *log, struct audit_head *h,
	uint64_t keep_bytes, uint64_t keep_since, bool dry, struct diag *d)
{
	autofree uint64_t *firsts = NULL;
	int n = audit_segments(log->dirfd, &firsts, d), go = 0, err = 0;

	if (n > 0)
		go = choose_oldest(log, firsts, n, h->segment, keep_bytes,
			keep_since);
	if (go && !dry)
		err = prune_segments(log, h, firsts, go, d);
	return n < 0 ? n : err ? err : go;
}

int audit_vacuum(struct audit_log *log, uint64_t keep_bytes,
	uint64_t keep_since, bool dry, struct diag *d)
{
	struct audit_head h;
	int err = audit_lock(log, &h, d);

	if (err)
		return err;
	err = prune_beyond(log, &h, keep_bytes, keep_since, dry, d);
	audit_unlock(log, &h);
	return err;
}

/* The default bound: a tenth of the file system. */
static uint64_t usual_keep(int dirfd)
{
	const uint64_t most = UINT64_C(4) << 30;
	struct statvfs fs;
	uint64_t tenth;

	if (fstatvfs(dirfd, &fs))
		return most;
	tenth = (uint64_t)fs.f_blocks * fs.f_frsize / 10;
	return tenth < most ? tenth : most;
}

/* A log that cannot be shortened goes on and says so: damage in an old segment
 * is evidence, and no reason to stop. */
int audit_retain(struct audit_log *log, struct audit_head *h, struct diag *d)
{
	autorec struct audit_rec r = AUDIT_REC(log, AUDIT_EVENT);
	struct diag why = {0};
	uint64_t keep = log->cfg.keep_bytes;
	struct buf *b;

	if (!keep)
		keep = usual_keep(log->dirfd);
	if (prune_beyond(log, h, keep, 0, false, &why) >= 0)
		return 0;
	audit_rec_text(&r, AUDIT_K_EVENT, "retention.failed");
	b = audit_rec_key(&r, AUDIT_K_DETAIL);
	cbor_put_map(b, 1);
	cbor_put_text(b, "reason", 6);
	cbor_put_text(b, why.text, strlen(why.text));
	return audit_put(log, h, &r, d);
}

/* The place of a record. */
struct place {
	uint64_t segment, offset, wall;
	size_t len;
	uint8_t leaf[AUDIT_HASH], link[AUDIT_HASH];
};

/* Is the record needed for verifying, or for explaining the purge? */
static bool is_indispensable(const struct audit_record *r)
{
	if (r->type == AUDIT_EVENT)
		return audit_event_is(r, "boot") || audit_event_is(r, "expunge");
	return r->type != AUDIT_START && r->type != AUDIT_IO &&
		r->type != AUDIT_END;
}

static int find_record(struct audit_log *log, const struct audit_head *h,
	uint64_t seq, struct place *at, struct diag *d)
{
	autoreader struct audit_reader reader = AUDIT_READER_INIT;
	/* The lock is held already. */
	autoextent struct audit_extent e = {.good = true,
		.head.segment = h->segment,
		.limit = h->end};
	struct audit_damage damage;
	struct audit_record r;
	int got = audit_extent_list(&e, log->dirfd, d);

	if (!got)
		got = audit_reader_extent(&reader, log->dirfd, &e, seq, d);
	while (!got && (got = audit_next(&reader, &r, &damage, d)) > 0) {
		if (got != AUDIT_GOT_RECORD || r.seq != seq) {
			got = 0;
			continue;
		}
		if (r.type == AUDIT_PURGED)
			return diag_fail(d, -EPERM,
				"record %ju was expunged before", seq);
		if (is_indispensable(&r))
			return diag_fail(d, -EPERM,
				"record %ju is needed to verify the log, and "
				"cannot be expunged", seq);
		at->segment = r.segment;
		at->offset = r.offset;
		at->len = r.frame.len;
		memcpy(at->link, r.frame.link, AUDIT_HASH);
		keys_leaf(&log->hw, r.frame.body, r.frame.body_len, at->leaf);
		return 0;
	}
	if (got < 0)
		return got;
	return diag_fail(d, -ENOENT, "there is no record %ju", seq);
}

static int copy_bytes(int from, uint64_t at, uint64_t end, int to)
{
	autofree char *chunk = malloc(65536);
	int err = chunk ? 0 : -ENOMEM;

	while (!err && at < end) {
		size_t want = end - at < 65536 ? (size_t)(end - at) : 65536;
		ssize_t got = pread(from, chunk, want, (off_t)at);

		if (got <= 0)
			return got ? -errno : -EIO;
		err = file_write_all(to, chunk, (size_t)got);
		at += (uint64_t)got;
	}
	return err;
}

static int write_without(const struct audit_log *log, int from, int to,
	const struct place *at, const struct buf *body)
{
	char space[256];
	struct buf frame = BUF_FIXED(space);
	struct stat st;
	int err;

	audit_frame_open(&frame, body->len);
	buf_add(&frame, body->data, body->len);
	audit_frame_close(
		&frame, log->hw.crc(body->data, body->len), at->link);
	if (fstat(from, &st))
		return -errno;
	err = copy_bytes(from, 0, at->offset, to);
	if (!err)
		err = file_write_all(to, frame.data, frame.len);
	if (!err)
		err = copy_bytes(
			from, at->offset + at->len, (uint64_t)st.st_size, to);
	if (!err && fsync(to))
		err = -errno;
	return err;
}

/* Writes the segment anew, with [leaf, seq, by] in place of the record. */
static int empty_record(struct audit_log *log, const struct place *at,
	uint64_t seq, uint64_t by, struct diag *d)
{
	static const char temp[] = "expunge.tmp";
	char name[AUDIT_NAME], space[96];
	struct buf body = BUF_FIXED(space);
	autofd int from = -1, to = -1;
	int err;

	audit_segment_name(name, at->segment);
	from = audit_file_open(log, name, O_RDONLY, d);
	if (from < 0)
		return from;
	unlinkat(log->dirfd, temp, 0);
	to = audit_file_open(log, temp, O_WRONLY | O_CREAT | O_EXCL, d);
	if (to < 0)
		return to;
	cbor_put_array(&body, 3);
	cbor_put_bytes(&body, at->leaf, AUDIT_HASH);
	cbor_put_uint(&body, seq);
	cbor_put_uint(&body, by);
	err = write_without(log, from, to, at, &body);
	if (!err && renameat(log->dirfd, temp, log->dirfd, name))
		err = -errno;
	if (!err)
		return fsync(log->dirfd) ? diag_errno(d, -errno, "audit log")
					 : 0;
	unlinkat(log->dirfd, temp, 0);
	return diag_errno(d, err, "audit log: cannot write %s anew", name);
}

static int put_expunged(struct audit_log *log, struct audit_head *h,
	uint64_t seq, const char *reason, struct diag *d)
{
	autorec struct audit_rec r = AUDIT_REC(log, AUDIT_EVENT);
	struct buf *b;

	audit_rec_text(&r, AUDIT_K_EVENT, "expunge");
	b = audit_rec_key(&r, AUDIT_K_DETAIL);
	cbor_put_map(b, reason ? 2 : 1);
	cbor_put_text(b, "seq", 3);
	cbor_put_uint(b, seq);
	if (reason) {
		cbor_put_text(b, "reason", 6);
		cbor_put_text(b, reason, strlen(reason));
	}
	return audit_put(log, h, &r, d);
}

int audit_expunge(struct audit_log *log, uint64_t seq, const char *reason,
	bool dry, struct diag *d)
{
	struct audit_head h;
	struct place at = {0};
	uint64_t by = 0;
	int err = audit_lock(log, &h, d);

	if (err)
		return err;
	err = find_record(log, &h, seq, &at, d);
	if (err || dry) {
		audit_unlock(log, &h);
		return err;
	}
	/* Offsets of the live segment are in the head and in writers'
	 * memory. */
	if (at.segment == h.segment)
		err = audit_segment_begin(log, &h, NULL, d);
	if (!err) {
		by = h.next;
		err = put_expunged(log, &h, seq, reason, d);
	}
	if (!err && fdatasync(log->segfd))
		err = diag_errno(d, -errno, "audit log");
	if (!err)
		err = empty_record(log, &at, seq, by, d);
	audit_unlock(log, &h);
	return err;
}
