/* audit_write.c - appends records to the log, any number of writers at once
 * SPDX-License-Identifier: MIT
 */
#include "log/audit_write.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

#include "log/audit_write_in.h"
#include "base/cbor.h"
#include "base/clock.h"
#include "sys/file.h"
#include "base/str.h"

enum {
	MANY = 64,  /* more records than before a command's start */
	SPINS = 64, /* yields before sleeping for the lock */
	NAP_NS = 100000,
	NAP_MAX_NS = 3200000,
	OVERHEAD = 160, /* of a frame and a body's intro, at most */
	TYPICAL = 400,
	SMALL = 2048,   /* frames up to it are built on the stack */
};
static const uint64_t second = 1000000000;

void audit_now(const struct audit_log *log, uint64_t *wall, uint64_t *boot)
{
	if (log->cfg.now) {
		log->cfg.now(wall, boot);
		return;
	}
	*wall = clock_ns(CLOCK_REALTIME);
	*boot = clock_ns(CLOCK_BOOTTIME);
}

/* Keeps the memory, because a writer of many records would ask the kernel for
 * it each time. */
void audit_rec_release(struct audit_rec *r)
{
	struct buf *spare = &r->log->spare;

	buf_release(&r->text);
	if (spare->data || !r->rest.data || r->rest.cap > SMALL) {
		buf_release(&r->rest);
		return;
	}
	*spare = r->rest;
	r->rest.data = NULL;
}

struct buf *audit_rec_key(struct audit_rec *r, enum audit_key key)
{
	r->map.out = &r->rest;
	if (!r->rest.cap && r->log->spare.data) {
		r->rest.data = r->log->spare.data;
		r->rest.cap = r->log->spare.cap;
		r->log->spare.data = NULL;
	}
	if (!r->rest.cap)
		buf_reserve(&r->rest, TYPICAL);
	return cbor_key(&r->map, (int)key);
}

void audit_rec_text(struct audit_rec *r, enum audit_key key, const char *s)
{
	if (s)
		cbor_put_text(audit_rec_key(r, key), s, strlen(s));
}

/* When a record was written last: it is the head's time. */
static bool others_write(const struct audit_log *log, struct timespec *last)
{
	const struct timespec before = *last;
	struct stat st = {0};

	if (!fstat(log->headfd, &st))
		*last = st.st_mtim;
	return last->tv_sec != before.tv_sec || last->tv_nsec != before.tv_nsec;
}

/* A holder that was stopped must not stop everyone: it is waited for, but not for
 * ever. Others that come and go are waited for, however many they are; the longer
 * that takes, the less often is looked. */
static int take_lock(const struct audit_log *log, struct diag *d)
{
	struct timespec nap = {.tv_nsec = NAP_NS}, last = {0};
	uint64_t wall, start = 0, now = 0;

	for (unsigned i = 0;; i++) {
		if (!flock(log->headfd, LOCK_EX | LOCK_NB))
			return 0;
		if (errno != EWOULDBLOCK && errno != EINTR)
			return diag_errno(
				d, -errno, "cannot lock the audit log");
		if (i < SPINS) {
			sched_yield();
			continue;
		}
		audit_now(log, &wall, &now);
		if (i == SPINS || now - start > log->cfg.lock_wait) {
			if (!others_write(log, &last) && i != SPINS)
				break;
			start = now;
		}
		nanosleep(&nap, NULL);
		if (nap.tv_nsec < NAP_MAX_NS)
			nap.tv_nsec *= 2;
	}
	diag_fail(d, -ETIMEDOUT,
		"the audit log was locked for %ju ms by another process",
		log->cfg.lock_wait / 1000000);
	diag_hint(d, "a writer may be stopped: see 'fuser' on the log's head");
	return -ETIMEDOUT;
}

/* While the lock is held there are keys on the stack, which must not be swapped
 * out and which no other process of the same user may read. The kernel may lock
 * less than that, or nothing; the keys are wiped in any case. A writer of many
 * records starts nothing between them, so its guard stays until the log is
 * closed. */
static void guard_keys(struct audit_log *log)
{
	enum { BELOW = 48 << 10, ABOVE = 16 << 10 };
	uintptr_t here = (uintptr_t)&log & ~(uintptr_t)4095;
	struct sysinfo machine;

	if (!log->guarded && (log->cfg.swaps || sysinfo(&machine) < 0 ||
				     machine.totalswap))
		(void)mlock2((void *)(here - BELOW), BELOW + ABOVE,
			MLOCK_ONFAULT);
	log->guarded = true;
	if (log->dumpable && log->appended <= MANY)
		prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

/* The head may have been deleted while it was open. */
static int head_open(struct audit_log *log, struct diag *d)
{
	if (log->headfd >= 0)
		close(log->headfd);
	log->headfd = audit_file_open(log, "head", O_RDWR | O_CREAT, d);
	return log->headfd < 0 ? log->headfd : 0;
}

int audit_lock_head(struct audit_log *log, struct diag *d)
{
	for (int tries = 0; tries < 8; tries++) {
		uint64_t size, held;
		uint32_t links = 0;
		int err = take_lock(log, d);

		if (!err)
			err = audit_file_size(
				log->headfd, &size, &held, &links, d);
		if (err)
			return err;
		if (links == 1) {
			guard_keys(log);
			return 0;
		}
		err = head_open(log, d);
		if (err)
			return err;
	}
	return diag_fail(d, -EAGAIN,
		"audit log: the head is deleted again and again");
}

/* Records that the boot clock began anew. */
static int note_boot(struct audit_log *log, struct audit_head *h, struct diag *d)
{
	autorec struct audit_rec r = AUDIT_REC(log, AUDIT_EVENT);
	struct buf *b;

	audit_rec_text(&r, AUDIT_K_EVENT, "boot");
	b = audit_rec_key(&r, AUDIT_K_DETAIL);
	cbor_put_map(b, 1);
	cbor_put_text(b, "id", 2);
	cbor_put_bytes(b, log->boot_id, AUDIT_ID);
	memcpy(h->boot_id, log->boot_id, AUDIT_ID);
	return audit_put(log, h, &r, d);
}

static int check_live(struct audit_log *log, struct audit_head *h, struct diag *d)
{
	uint8_t raw[AUDIT_HEAD];
	uint64_t size = 0;
	uint32_t links = 1;
	bool rebooted;
	int err;

	if (pread(log->headfd, raw, sizeof raw, 0) != sizeof raw ||
		audit_head_parse(h, raw, log->hw.crc)) {
		explicit_bzero(raw, sizeof raw);
		return audit_recover_head(log, h, d);
	}
	explicit_bzero(raw, sizeof raw);
	err = audit_segment_open(log, h, d);
	if (!err)
		err = audit_file_size(
			log->segfd, &size, &log->held, &links, d);
	rebooted = memcmp(h->boot_id, log->boot_id, AUDIT_ID) != 0;
	if (err == -ENOENT || (!err && !links))
		err = audit_recover_tail(log, h, -1, d);
	else if (!err && rebooted && !audit_ends_well(log, h))
		err = audit_recover_tail(log, h, 0, d);
	else if (!err && size != h->end)
		err = audit_recover_tail(log, h, (int64_t)size, d);
	if (err)
		return err;
	if (memcmp(h->boot_id, log->boot_id, AUDIT_ID) != 0)
		return note_boot(log, h, d);
	return 0;
}

int audit_lock(struct audit_log *log, struct audit_head *h, struct diag *d)
{
	int err = audit_lock_head(log, d);

	if (err)
		return err;
	audit_now(log, &log->wall, &log->boot);
	err = check_live(log, h, d);
	if (err)
		audit_unlock(log, h);
	return err;
}

void audit_unlock(struct audit_log *log, struct audit_head *h)
{
	explicit_bzero(h, sizeof *h);
	if (log->dumpable && log->appended < MANY)
		prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	flock(log->headfd, LOCK_UN);
}

int audit_head_write(
	const struct audit_log *log, const struct audit_head *h, struct diag *d)
{
	uint8_t raw[AUDIT_HEAD];
	ssize_t done;

	audit_head_pack(h, raw, log->hw.crc);
	do
		done = pwrite(log->headfd, raw, sizeof raw, 0);
	while (done < 0 && errno == EINTR);
	explicit_bzero(raw, sizeof raw);
	if (done == AUDIT_HEAD)
		return 0;
	return diag_errno(d, done < 0 ? -errno : -EIO,
		"cannot write the head of the audit log");
}

void audit_head_step(const struct audit_log *log, struct audit_head *h,
	const uint8_t link[static AUDIT_HASH], size_t len, bool ckpt,
	uint64_t wall)
{
	uint8_t secret[AUDIT_HASH];

	memcpy(h->link, link, AUDIT_HASH);
	keys_fold(&log->hw, h->rk, h->agg, link);
	h->next++;
	h->end += len;
	if (!ckpt)
		return;
	memcpy(secret, h->enext, AUDIT_HASH);
	keys_epoch(&log->hw, secret, h->rk, h->sk, h->enext);
	explicit_bzero(secret, sizeof secret);
	h->epoch++;
	h->epoch_first = h->next;
	h->ckpt_wall = wall;
}

/* Writes the beginning of a body, because seq and time are known now. */
static void put_intro(struct buf *b, const struct audit_rec *r, uint64_t seq,
	uint64_t wall, uint64_t boot)
{
	cbor_put_map(b, 4 + (size_t)r->map.count);
	cbor_put_uint(b, AUDIT_K_TYPE);
	cbor_put_uint(b, r->type);
	cbor_put_uint(b, AUDIT_K_SEQ);
	cbor_put_uint(b, seq);
	cbor_put_uint(b, AUDIT_K_WALL);
	cbor_put_uint(b, wall);
	cbor_put_uint(b, AUDIT_K_BOOT);
	cbor_put_uint(b, boot);
}

/* Takes back a frame that did not fit, so that the next writer finds the log as
 * the head says; if even that fails, recovery handles it. */
static int write_frame(struct audit_log *log, const struct audit_head *h,
	const struct buf *frame, struct diag *d)
{
	int err = file_write_all(log->segfd, frame->data, frame->len);

	if (!err)
		return 0;
	diag_errno(d, err, "cannot write to the audit log");
	diag_hint(d, "nothing runs unrecorded: make room, or repair the disk");
	if (ftruncate(log->segfd, (off_t)h->end))
		diag_hint(d, "; the record's beginning could not be taken back");
	return err;
}

static int put_in(struct audit_log *log, struct audit_head *h,
	const struct audit_rec *r, struct buf *frame, struct diag *d)
{
	uint8_t leaf[AUDIT_HASH], link[AUDIT_HASH];
	char space[64];
	struct buf intro = BUF_FIXED(space);
	const uint8_t *body;
	size_t n;
	int err;

	put_intro(&intro, r, h->next, log->wall, log->boot);
	n = intro.len + r->rest.len;
	audit_frame_open(frame, n);
	buf_add(frame, intro.data, intro.len);
	buf_add(frame, r->rest.data, r->rest.len);
	err = r->rest.err ? r->rest.err : frame->err;
	if (err)
		return diag_errno(d, err, "audit record");
	body = (const uint8_t *)frame->data + frame->len - n;
	keys_leaf(&log->hw, body, n, leaf);
	keys_link(&log->hw, h->link, leaf, link);
	audit_frame_close(frame, log->hw.crc(body, n), link);
	err = frame->err ? diag_errno(d, frame->err, "audit record")
			 : write_frame(log, h, frame, d);
	if (err)
		return err;
	audit_head_step(
		log, h, link, frame->len, r->type == AUDIT_CKPT, log->wall);
	return 0;
}

int audit_put_untold(struct audit_log *log, struct audit_head *h,
	const struct audit_rec *r, struct diag *d)
{
	__attribute__((uninitialized)) char space[SMALL];
	struct buf small = BUF_FIXED(space);
	autobuf struct buf big = BUF_INIT(r->rest.len + OVERHEAD);

	return put_in(log, h, r,
		r->rest.len < SMALL - OVERHEAD ? &small : &big, d);
}

int audit_put(struct audit_log *log, struct audit_head *h, struct audit_rec *r,
	struct diag *d)
{
	int err = audit_put_untold(log, h, r, d);

	return err ? err : audit_head_write(log, h, d);
}

static bool checkpoint_due(const struct audit_log *log, const struct audit_head *h)
{
	if (h->next - h->epoch_first >= log->cfg.epoch_records)
		return true;
	/* Unsigned, so that a clock that went back makes it due, too. */
	return log->wall - h->ckpt_wall > 60 * second;
}

static bool rotation_due(const struct audit_log *log, const struct audit_head *h)
{
	if (h->end >= log->cfg.segment_bytes)
		return true;
	return log->wall > h->segment_wall &&
		log->wall - h->segment_wall > log->cfg.segment_age;
}

/* After fdatasync fails, the pages that it gave up count as clean, and a second
 * call would lie. So the segment stays as it is, and another one is begun. */
static int sync_failed(struct audit_log *log, int err, struct diag *d)
{
	struct audit_head h;
	autorec struct audit_rec r = AUDIT_REC(log, AUDIT_RECOVER);
	int again = audit_lock(log, &h, d);

	if (again)
		return again;
	cbor_put_bytes(audit_rec_key(&r, AUDIT_K_PREV), h.link, AUDIT_HASH);
	cbor_put_array(audit_rec_key(&r, AUDIT_K_LOST), 6);
	cbor_put_uint(&r.rest, AUDIT_WHY_IO);
	cbor_put_uint(&r.rest, h.next);
	cbor_put_uint(&r.rest, h.next);
	cbor_put_uint(&r.rest, 0);
	cbor_put_bytes(&r.rest, "", 0);
	cbor_put_bytes(&r.rest, "", 0);
	again = audit_segment_begin(log, &h, &r, d);
	audit_unlock(log, &h);
	return again ? again
		     : diag_errno(d, err,
			       "the audit log could not be brought to the disk");
}

static int sync_log(struct audit_log *log, uint64_t next, struct diag *d)
{
	struct audit_head h;
	int err;

	if (fdatasync(log->segfd))
		return sync_failed(log, -errno, d);
	err = audit_lock(log, &h, d);
	if (err)
		return err;
	if (h.synced < next) {
		h.synced = next;
		err = audit_head_write(log, &h, d);
	}
	audit_unlock(log, &h);
	return err;
}

/* Drops the lock, then syncs as configured or, if nothing failed, as wanted. */
static int unlock_synced(struct audit_log *log, struct audit_head *h, int err,
	bool sync, struct diag *d)
{
	const uint64_t next = h->next;

	audit_unlock(log, h);
	if (err || log->cfg.sync == AUDIT_SYNC_NONE ||
		(!sync && log->cfg.sync != AUDIT_SYNC_ALWAYS))
		return err;
	return sync_log(log, next, d);
}

int audit_append(struct audit_log *log, struct audit_rec *r, bool must_sync,
	uint64_t *seq, struct diag *d)
{
	struct audit_head h;
	bool ckpt = false;
	uint64_t next;
	int err;

	log->appended++;
	err = audit_lock(log, &h, d);
	if (err)
		return err;
	/* An end record uses the room that was kept, and no new file. */
	if (r->type != AUDIT_END && rotation_due(log, &h)) {
		err = audit_segment_begin(log, &h, NULL, d);
		if (!err)
			err = audit_retain(log, &h, d);
	}
	if (!err && r->type != AUDIT_END)
		err = audit_keep_room(log, &h, r->type == AUDIT_START, d);
	next = h.next;
	if (!err)
		err = audit_put(log, &h, r, d);
	if (!err && seq)
		*seq = next;
	if (!err && checkpoint_due(log, &h)) {
		ckpt = true;
		err = audit_put_checkpoint(log, &h, d);
	}
	return unlock_synced(log, &h, err, must_sync || ckpt, d);
}

int audit_checkpoint(struct audit_log *log, struct diag *d)
{
	struct audit_head h;
	int err = audit_lock(log, &h, d);

	if (err)
		return err;
	err = audit_put_checkpoint(log, &h, d);
	return unlock_synced(log, &h, err, true, d);
}
