/* audit_write_in.h - what the parts of the writer share
 * SPDX-License-Identifier: MIT
 *
 * Only audit_write*.c include this. Between audit_lock and audit_unlock the
 * head is the caller's copy; each audit_put brings log and head forward.
 */
#ifndef WARDBOX_AUDIT_WRITE_IN_H
#define WARDBOX_AUDIT_WRITE_IN_H

#include "log/audit_read.h"
#include "log/audit_extent_in.h"
#include "log/audit_write.h"
#include "base/cbor.h"

/* A record in the making: its type, and the pairs with keys above
 * AUDIT_K_BOOT. */
struct audit_rec {
	struct audit_log *log;
	enum audit_type type;
	struct cbor_map map; /* of rest; its head byte is not used */
	struct buf rest;
	struct buf text; /* text while it is redacted */
};
#define AUDIT_REC(in, kind)                                                    \
	((struct audit_rec){.log = (in),                                       \
		.type = (kind),                                                \
		.map = {.last = AUDIT_K_BOOT},                                 \
		.rest = BUF_INIT(AUDIT_BODY_MAX - 128),                        \
		.text = BUF_INIT(AUDIT_BODY_MAX)})
void audit_rec_release(struct audit_rec *r);
#define autorec autoclean(audit_rec_release)
/* Writes the key of the next value; returns the buf for the value. */
struct buf *audit_rec_key(struct audit_rec *r, enum audit_key key);
void audit_rec_text(struct audit_rec *r, enum audit_key key, const char *s);

/* Takes the lock, reads the head, repairs what a dead writer left, and opens
 * the live segment. */
int audit_lock(struct audit_log *log, struct audit_head *h, struct diag *d);
/* Only takes the lock: for a log that does not exist yet. */
int audit_lock_head(struct audit_log *log, struct diag *d);
/* Drops the lock and wipes *h. */
void audit_unlock(struct audit_log *log, struct audit_head *h);

/* Appends a record; its seq is h->next. */
int audit_put(struct audit_log *log, struct audit_head *h, struct audit_rec *r,
	struct diag *d);
/* The same without writing the head. */
int audit_put_untold(struct audit_log *log, struct audit_head *h,
	const struct audit_rec *r, struct diag *d);
/* Signs the open epoch, if it has records. */
int audit_put_checkpoint(
	struct audit_log *log, struct audit_head *h, struct diag *d);

/* Lock, rotate when due, put, checkpoint when due, unlock, sync as configured
 * or with must_sync. *seq may be NULL. */
int audit_append(struct audit_log *log, struct audit_rec *r, bool must_sync,
	uint64_t *seq, struct diag *d);

/* Moves the head over one record that is in the segment. */
void audit_head_step(const struct audit_log *log, struct audit_head *h,
	const uint8_t link[static AUDIT_HASH], size_t len, bool ckpt,
	uint64_t wall);
int audit_head_write(
	const struct audit_log *log, const struct audit_head *h, struct diag *d);

/* Begins the segment named after h->next, which follows h->link, and makes it
 * live. why, or NULL, is the record behind its header. A writer that dies
 * before both are on the disk leaves a head that knows of neither. */
int audit_segment_begin(struct audit_log *log, struct audit_head *h,
	const struct audit_rec *why, struct diag *d);
/* Opens the live segment if it is not open. -ENOENT. */
int audit_segment_open(
	struct audit_log *log, const struct audit_head *h, struct diag *d);
/* Opens a file of the log: private, regular, not a symlink, ours. */
int audit_file_open(const struct audit_log *log, const char *name, int flags,
	struct diag *d);
/* The file's length and number of names. Its times are not asked for, because
 * the kernel would then write the exact time of the next write to its journal,
 * which costs more than the write. */
int audit_file_size(int fd, uint64_t *size, uint64_t *held, uint32_t *links,
	struct diag *d);

/* Keeps room for the end of what runs: disk space is allocated behind the end,
 * which starts may not use, output by half, and ends completely. -ENOSPC when
 * there is none; a file system that cannot allocate stays as it is. */
int audit_keep_room(struct audit_log *log, const struct audit_head *h,
	bool start, struct diag *d);

/* Deletes old segments, after a new one was begun. */
int audit_retain(struct audit_log *log, struct audit_head *h, struct diag *d);

/* Begins a new log, or begins one anew whose head is gone. seed may be NULL. */
int audit_keys_begin(struct audit_log *log, struct audit_head *h,
	const uint8_t *seed, struct diag *d);

/* For a head that cannot be read: begins anew, behind the segments that
 * exist. */
int audit_recover_head(
	struct audit_log *log, struct audit_head *h, struct diag *d);
/* For a live segment that is missing or not as long as the head says. size is
 * its length, or -1. */
int audit_recover_tail(struct audit_log *log, struct audit_head *h,
	int64_t size, struct diag *d);

/* Is the live segment whole up to the last record that the head knows? A file
 * may keep its length and lose contents when a machine goes down, so the last
 * bytes are looked at. */
bool audit_ends_well(const struct audit_log *log, const struct audit_head *h);

/* Is there a whole frame anywhere in p[0..n)? */
bool audit_frame_within(crc32c_fn *crc, const uint8_t *p, size_t n);

/* The key of redaction's digests, of the log at from. -errno. */
int audit_mark_key(void *from, uint8_t key[static REDACT_KEY]);

void audit_now(const struct audit_log *log, uint64_t *wall, uint64_t *boot);

#endif
