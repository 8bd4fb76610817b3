/* audit_write_recover.c - what a dead writer, or a thief, left behind
 * SPDX-License-Identifier: MIT
 *
 * Records that are whole and follow from the head are taken over; a torn one
 * is cut off and its beginning kept; everything else stays as it is, and the
 * log goes on in another segment. Each case but the harmless one is recorded.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log/audit_write.h"
#include "log/audit_write_in.h"
#include "base/cbor.h"

enum { SAMPLE = 4096 };

/* The report of a repair. */
struct finding {
	enum audit_why why;
	uint64_t expect, found; /* seqs of the next record, by the head and by
				 * the log */
	const uint8_t *bytes;   /* the bytes that were cut off */
	size_t len;
};

static void put_report(struct audit_rec *r, const struct audit_head *h,
	const struct finding *f)
{
	uint8_t sha[AUDIT_HASH];
	size_t sample = f->len < SAMPLE ? f->len : SAMPLE;

	keys_hash2(&r->log->hw, f->bytes, f->len, "", 0, sha);
	cbor_put_bytes(audit_rec_key(r, AUDIT_K_PREV), h->link, AUDIT_HASH);
	cbor_put_array(audit_rec_key(r, AUDIT_K_LOST), 6);
	cbor_put_uint(&r->rest, f->why);
	cbor_put_uint(&r->rest, f->expect);
	cbor_put_uint(&r->rest, f->found);
	cbor_put_uint(&r->rest, f->len);
	cbor_put_bytes(&r->rest, sha, f->len ? sizeof sha : 0);
	cbor_put_bytes(&r->rest, f->bytes, sample);
}

/* Writes the report. It may stand in the place of cut bytes, so the head only
 * knows of it when those are gone for good. */
static int put_finding(struct audit_log *log, struct audit_head *h,
	const struct finding *f, struct diag *d)
{
	autorec struct audit_rec r = AUDIT_REC(log, AUDIT_RECOVER);
	int err;

	put_report(&r, h, f);
	err = audit_put_untold(log, h, &r, d);
	if (!err && log->cfg.sync != AUDIT_SYNC_NONE)
		fdatasync(log->segfd);
	return err ? err : audit_head_write(log, h, d);
}

/* Goes on in a new segment, because the old one is evidence. */
static int begin_after(struct audit_log *log, struct audit_head *h,
	const struct finding *f, struct diag *d)
{
	autorec struct audit_rec r = AUDIT_REC(log, AUDIT_RECOVER);

	cleanup_fd(&log->segfd);
	log->segfd = -1;
	put_report(&r, h, f);
	return audit_segment_begin(log, h, &r, d);
}

/* Takes over the whole records at p that follow from the head. Returns their
 * bytes. */
static size_t adopt_records(struct audit_log *log, struct audit_head *h,
	const uint8_t *p, size_t n, uint64_t *records)
{
	size_t at = 0;

	while (at < n) {
		struct audit_frame f;
		struct audit_intro in = {0};

		if (audit_frame_parse(&f, p + at, n - at) ||
			!audit_frame_follows(
				&f, &log->hw, h->next, h->link, &in))
			break;
		audit_head_step(log, h, f.link, f.len, in.type == AUDIT_CKPT,
			in.wall);
		at += f.len;
		(*records)++;
	}
	return at;
}

/* The same for one record that lacks only a part of its link, which can be
 * computed. Returns the next seq. */
static uint64_t adopt_cut(struct audit_log *log, struct audit_head *h,
	const uint8_t *p, size_t n)
{
	uint8_t leaf[AUDIT_HASH], link[AUDIT_HASH];
	struct audit_intro in;
	struct audit_frame f;

	if (audit_frame_parse(&f, p, n) ||
		log->hw.crc(f.body, f.body_len) != f.crc ||
		audit_intro(&in, f.body, f.body_len) || in.seq != h->next)
		return h->next;
	keys_leaf(&log->hw, f.body, f.body_len, leaf);
	keys_link(&log->hw, h->link, leaf, link);
	if (audit_link_cut(f.link, link))
		audit_head_step(log, h, link, f.len, in.type == AUDIT_CKPT,
			in.wall);
	return h->next;
}

bool audit_frame_within(crc32c_fn *crc, const uint8_t *p, size_t n)
{
	for (size_t i = 0; i + 1 < n; i++) {
		struct audit_frame f;

		if (p[i] == 0x83 && p[i + 1] == 0x44 &&
			!audit_frame_parse(&f, p + i, n - i) &&
			crc(f.body, f.body_len) == f.crc)
			return true;
	}
	return false;
}

static int pread_all(int fd, struct buf *b, uint64_t at, size_t n)
{
	while (b->len < n) {
		char *to = buf_reserve(b, n - b->len);
		ssize_t got;

		if (!to)
			return b->err;
		got = pread(fd, to, n - b->len, (off_t)(at + b->len));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? -errno : -EIO;
		b->len += (size_t)got;
	}
	return 0;
}

/* Did the machine go down since the head was written? */
static bool went_down(const struct audit_log *log, const struct audit_head *h)
{
	return memcmp(h->boot_id, log->boot_id, AUDIT_ID) != 0;
}

/* Decides about bytes beyond the head's end that are no records of ours. */
static int settle_rest(struct audit_log *log, struct audit_head *h,
	uint64_t size, struct diag *d)
{
	autobuf struct buf b = BUF_INIT(AUDIT_FRAME_MAX);
	struct finding f = {.expect = h->next, .found = h->next};
	const enum audit_why bad = went_down(log, h) ? AUDIT_WHY_POWER
						     : AUDIT_WHY_CORRUPT;
	size_t filled;
	int err;

	err = pread_all(log->segfd, &b, h->end,
		size - h->end < AUDIT_FRAME_MAX ? (size_t)(size - h->end)
						: AUDIT_FRAME_MAX);
	if (err)
		return diag_errno(d, err, "audit log: cannot read it");
	f.bytes = (const uint8_t *)b.data;
	f.len = b.len;
	f.why = AUDIT_WHY_TORN;
	/* A file may keep its length and lose its end: a record that lacks only
	 * a part of its link counts as cut. */
	for (filled = f.len; filled && !f.bytes[filled - 1];)
		filled--;
	/* A cut record is never longer than a record. */
	if (size - h->end > AUDIT_FRAME_MAX ||
		audit_frame_within(log->hw.crc, f.bytes, filled)) {
		f.why = bad;
		if (bad == AUDIT_WHY_POWER)
			f.expect = f.found = adopt_cut(log, h, f.bytes, b.len);
		return begin_after(log, h, &f, d);
	}
	/* If an append-only file cannot be cut, the segment ends here. */
	if (ftruncate(log->segfd, (off_t)h->end))
		return begin_after(log, h, &f, d);
	return put_finding(log, h, &f, d);
}

static int recover_longer(struct audit_log *log, struct audit_head *h,
	uint64_t size, struct diag *d)
{
	autobuf struct buf b = BUF_INIT(2 * AUDIT_FRAME_MAX);
	struct finding f = {.why = AUDIT_WHY_ADOPTED, .expect = h->next};
	uint64_t records = 0;
	int err = 0;

	while (h->end < size) {
		uint64_t left = size - h->end;
		size_t want = left < AUDIT_FRAME_MAX ? (size_t)left
						     : AUDIT_FRAME_MAX;

		buf_clear(&b);
		err = pread_all(log->segfd, &b, h->end, want);
		if (err)
			return diag_errno(
				d, err, "audit log: cannot read it");
		if (!adopt_records(log, h, (const uint8_t *)b.data, b.len,
			    &records))
			break;
	}
	if (records)
		err = audit_head_write(log, h, d);
	f.found = h->next;
	if (!err && h->end < size)
		err = settle_rest(log, h, size, d);
	/* A kill leaves at most one record; only a machine that went down
	 * leaves more. */
	if (!err && records > 1)
		err = put_finding(log, h, &f, d);
	return err;
}

/* The last whole record of a segment, as far as that can be told without
 * keys. */
struct last {
	uint64_t seq, epoch;
	uint8_t link[AUDIT_HASH], log_id[AUDIT_ID];
	bool any, identified;
};

static void note_last(struct last *l, const struct audit_record *r)
{
	l->any = true;
	l->seq = r->seq;
	memcpy(l->link, r->frame.link, AUDIT_HASH);
	if (r->type == AUDIT_HEADER) {
		const struct cbor_item *id = audit_bytes(r, AUDIT_K_LOG);

		l->epoch = audit_uint(r, AUDIT_K_EPOCH, l->epoch);
		l->identified = id && id->n == AUDIT_ID;
		if (l->identified)
			memcpy(l->log_id, id->bytes, AUDIT_ID);
	}
	l->epoch += r->type == AUDIT_CKPT;
}

/* Searches from a byte on (0: the first), through damage or up to it. */
static int find_last(const struct audit_log *log, uint64_t first, uint64_t from,
	bool through, struct last *l, struct diag *d)
{
	autoreader struct audit_reader reader = AUDIT_READER_INIT;
	struct audit_damage damage;
	struct audit_record r;
	char name[AUDIT_NAME];
	int fd, got;

	audit_segment_name(name, first);
	fd = audit_file_open(log, name, O_RDONLY, d);
	if (fd < 0)
		return fd;
	lseek(fd, (off_t)from, SEEK_SET);
	got = audit_reader_fds(&reader, &fd, 1, d);
	if (got)
		return got;
	reader.deep = 1u << AUDIT_HEADER;
	reader.salvage = true;
	while ((got = audit_next(&reader, &r, &damage, d)) > 0) {
		if (got == AUDIT_GOT_RECORD)
			note_last(l, &r);
		else if (got != AUDIT_GOT_SEGMENT && !through &&
			(l->any || !from))
			return 0;
	}
	return got;
}

bool audit_ends_well(const struct audit_log *log, const struct audit_head *h)
{
	/* More than most systems write before the kernel syncs it, and small
	 * enough for machines that share a log by turns. */
	enum { TAIL = 4 << 20 };
	struct last l = {0};
	int err = find_last(log, h->segment, h->end > TAIL ? h->end - TAIL : 0,
		false, &l, NULL);

	return !err && l.any && l.seq + 1 >= h->next &&
		(l.seq + 1 > h->next ||
			memcmp(l.link, h->link, AUDIT_HASH) == 0);
}

static int recover_shorter(
	struct audit_log *log, struct audit_head *h, bool missing, struct diag *d)
{
	struct finding f = {.expect = h->next, .found = h->segment};
	struct last l = {0};
	int err = missing ? 0 : find_last(log, h->segment, 0, false, &l, d);

	if (err)
		return err;
	if (l.any)
		f.found = l.seq + 1;
	/* A power loss takes only what was never synced. */
	f.why = went_down(log, h) && f.found >= h->synced ? AUDIT_WHY_POWER
						 : AUDIT_WHY_LOST;
	return begin_after(log, h, &f, d);
}

int audit_recover_tail(struct audit_log *log, struct audit_head *h,
	int64_t size, struct diag *d)
{
	if (size > 0 && (uint64_t)size > h->end)
		return recover_longer(log, h, (uint64_t)size, d);
	return recover_shorter(log, h, size < 0, d);
}

/* The very first writer died before the head was written: there is at most the
 * header of an unknown log. */
static bool never_begun(const struct audit_log *log, const uint64_t *firsts,
	int n, const struct last *l)
{
	struct stat st;

	return n == 1 && !firsts[0] && !l->seq && !fstat(log->headfd, &st) &&
		!st.st_size;
}

int audit_recover_head(
	struct audit_log *log, struct audit_head *h, struct diag *d)
{
	struct finding f = {.why = AUDIT_WHY_HEAD};
	autofree uint64_t *firsts = NULL;
	struct last l = {0};
	int n = audit_segments(log->dirfd, &firsts, d), err = 0;

	if (n < 0)
		return n;
	*h = (struct audit_head){0};
	for (int i = n; i-- && !err && !l.any;)
		err = find_last(log, firsts[i], 0, true, &l, d);
	if (!err && never_begun(log, firsts, n, &l)) {
		l = (struct last){0};
		n = 0;
	}
	if (!err && n) {
		h->segment = firsts[n - 1];
		h->next = l.any ? l.seq + 1 : 0;
		if (h->next <= firsts[n - 1])
			h->next = firsts[n - 1] + 1;
		h->epoch_first = h->next;
		h->epoch = l.epoch + 1;
		f.found = h->next;
		memcpy(h->link, l.link, AUDIT_HASH);
	}
	memcpy(h->log_id, l.log_id, AUDIT_ID);
	if (!err && !l.identified)
		err = keys_random(h->log_id, AUDIT_ID);
	if (err)
		return diag_errno(d, err, "audit log: cannot begin anew");
	err = audit_keys_begin(log, h, NULL, d);
	if (err)
		return err;
	return n ? begin_after(log, h, &f, d)
		 : audit_segment_begin(log, h, NULL, d);
}
