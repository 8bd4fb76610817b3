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

/* A record on its way: its type and the pairs with keys above AUDIT_K_BOOT. */
struct audit_rec {
	struct audit_log *log;
	enum audit_type type;
	struct cbor_map map; /* of rest; the head byte is not used */
	struct buf rest;
	struct buf text; /* what is being redacted */
};
#define AUDIT_REC(in, kind)                                                    \
	((struct audit_rec){.log = (in),                                       \
		.type = (kind),                                                \
		.map = {.last = AUDIT_K_BOOT},                                 \
		.rest = BUF_INIT(AUDIT_BODY_MAX - 128),                        \
		.text = BUF_INIT(AUDIT_BODY_MAX)})
void audit_rec_release(struct audit_rec *r);
#define autorec autoclean(audit_rec_release)
/* The key of the value put next; returns where to put it. */
struct buf *audit_rec_key(struct audit_rec *r, enum audit_key key);
void audit_rec_text(struct audit_rec *r, enum audit_key key, const char *s);

/* Takes the lock, reads the head, repairs what a dead writer left, and opens
 * the live segment. */
int audit_lock(struct audit_log *log, struct audit_head *h, struct diag *d);
/* The lock alone: for a log that is not there yet. */
int audit_lock_head(struct audit_log *log, struct diag *d);
/* Wipes *h. */
void audit_unlock(struct audit_log *log, struct audit_head *h);

/* Appends one record; its seq is h->next before. */
int audit_put(struct audit_log *log, struct audit_head *h, struct audit_rec *r,
	struct diag *d);
/* The same, but that the head is not written. */
int audit_put_untold(struct audit_log *log, struct audit_head *h,
	const struct audit_rec *r, struct diag *d);
/* Signs the open epoch, if anything is in it. */
int audit_put_checkpoint(
	struct audit_log *log, struct audit_head *h, struct diag *d);

/* lock, rotate when due, put, checkpoint when due, unlock, sync as configured
 * or when must_sync. *seq may be NULL. */
int audit_append(struct audit_log *log, struct audit_rec *r, bool must_sync,
	uint64_t *seq, struct diag *d);

/* Brings the head forward over one record that is in the segment. */
void audit_head_step(const struct audit_log *log, struct audit_head *h,
	const uint8_t link[static AUDIT_HASH], size_t len, bool ckpt,
	uint64_t wall);
int audit_head_write(
	const struct audit_log *log, const struct audit_head *h, struct diag *d);

/* Begins the segment named after h->next, which follows h->link, and makes it
 * the live one. why, or NULL, is the record behind its header: who dies before
 * both are on the disk leaves a head that knows of neither. */
int audit_segment_begin(struct audit_log *log, struct audit_head *h,
	const struct audit_rec *why, struct diag *d);
/* Opens the live segment if it is not open. -ENOENT. */
int audit_segment_open(
	struct audit_log *log, const struct audit_head *h, struct diag *d);
/* A file of the log: private, regular, not a symlink, ours. */
int audit_file_open(const struct audit_log *log, const char *name, int flags,
	struct diag *d);
/* How long the file is, and how many names it has. Its times are not
 * asked for: once they were, the kernel brings the exact time of the next write
 * into its journal, which costs more than the write. */
int audit_file_size(int fd, uint64_t *size, uint64_t *held, uint32_t *links,
	struct diag *d);

/* Sees to it that what runs can be ended in the log: behind its end some disk is
 * allocated that starts may not use up, output by half, and ends all of it.
 * -ENOSPC when there is none; a file system that cannot allocate is left as it
 * is. */
int audit_keep_room(struct audit_log *log, const struct audit_head *h,
	bool start, struct diag *d);

/* Deletes what is too old, after a segment was begun. */
int audit_retain(struct audit_log *log, struct audit_head *h, struct diag *d);

/* A new log, or a new beginning of one whose head is gone. seed may be NULL. */
int audit_keys_begin(struct audit_log *log, struct audit_head *h,
	const uint8_t *seed, struct diag *d);

/* The head could not be read: begin anew, behind whatever segments there are. */
int audit_recover_head(
	struct audit_log *log, struct audit_head *h, struct diag *d);
/* The live segment is missing or not as long as the head says. size is its
 * length, or -1. */
int audit_recover_tail(struct audit_log *log, struct audit_head *h,
	int64_t size, struct diag *d);

/* Is the live segment whole up to the record that the head knows? When a machine
 * goes down a file may keep its length and lose some of what was in it: what was
 * written last is looked at. */
bool audit_ends_well(const struct audit_log *log, const struct audit_head *h);

/* Is there a whole frame anywhere in p[0..n)? */
bool audit_frame_within(crc32c_fn *crc, const uint8_t *p, size_t n);

/* The key of redaction's digests, of the log at from. -errno. */
int audit_mark_key(void *from, uint8_t key[static REDACT_KEY]);

void audit_now(const struct audit_log *log, uint64_t *wall, uint64_t *boot);

#endif
