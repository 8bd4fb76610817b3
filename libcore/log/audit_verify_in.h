/* audit_verify_in.h - the verifier's state, for its parts
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_AUDIT_VERIFY_IN_H
#define WARDBOX_AUDIT_VERIFY_IN_H

#include "log/audit_verify.h"

/* An expunged record, or an event about one. */
struct audit_purge {
	uint64_t seq, by;
};
enum { AUDIT_PURGES = 65536 };

/* Kinds that the chain needs: headers carry links, recover and pruned records
 * explain what is missing. Of other kinds the chain only needs the place, and
 * of events those about expunged records. */
enum { AUDIT_LINKS = 1 << AUDIT_HEADER | 1 << AUDIT_RECOVER | 1 << AUDIT_PRUNED };

struct audit_extent;
struct audit_check {
	const struct audit_trust *trust;
	struct keys_hw hw;
	audit_report *report;
	void *state;
	struct audit_verdict *v;

	uint64_t next; /* the seq that must come */
	uint8_t link[AUDIT_HASH];
	bool started;       /* a record was seen */
	bool segment_start; /* the next record must be a header */
	/* Segments without a record, for the next header to explain. */
	uint64_t hollow, hollow_first, segment;
	bool named;         /* segments are files named after it */
	bool spined;        /* the state came from the spine */

	/* Missing records, for a recover record to explain. */
	bool gap;
	uint64_t gap_expect, gap_found;
	uint64_t gap_segment, gap_offset;

	/* Records before the first segment, for a pruned record to explain. */
	bool prefix;
	uint64_t prefix_last;
	uint8_t prefix_link[AUDIT_HASH];

	/* Deletions, as pruned records tell: the last deleted record, and when.
	 * For the anchored record the time and perhaps the link. */
	uint64_t deleted_last, deleted_wall, anchor_wall;
	bool deleted, anchor_rowed;
	bool anchor_spined; /* the spine holds the body itself */
	bool anchor_failed;

	/* A segment that did not end with a record; its writer must have seen
	 * that, and gone on in another one. */
	uint64_t torn, torn_segment, torn_offset;
	bool cut; /* the last record is whole, except for zeros in its link */
	/* So many bytes within the segment are no records. Later records in it
	 * are lost with them if the machine went down, else forged. */
	uint64_t hole;

	uint8_t pk[AUDIT_PK], log_id[AUDIT_ID], boot_id[AUDIT_ID];
	bool same_boot; /* the segment was begun in the boot of the one
			 * before */
	bool has_pk, epoch_unsure;
	uint64_t epoch, epoch_first;
	uint64_t wall, boot;

	/* With the seed. After a loss the aggregate is unknown until the next
	 * checkpoint states it. */
	bool has_secret, agg_known, agg_failed;
	uint64_t skipped; /* keys that were passed over for that */
	uint8_t secret[AUDIT_HASH], rk[AUDIT_HASH], agg[AUDIT_HASH];
	uint8_t first_rk[AUDIT_HASH]; /* at the beginning of the epoch */
	/* Before the record that is being checked. */
	uint8_t prev_link[AUDIT_HASH], prev_agg[AUDIT_HASH];

	const struct audit_extent *live; /* what the head said */

	struct audit_purge *purged, *ordered;
	size_t purged_count, ordered_count;
};

/* Reports a finding at r, which may be NULL. */
__attribute__((format(printf, 5, 6))) void audit_find(struct audit_check *c,
	enum audit_level level, const char *kind, const struct audit_record *r,
	const char *fmt, ...);

void audit_check_begin(struct audit_check *c, const struct audit_trust *trust,
	audit_report *report, void *state, struct audit_verdict *v);
void audit_check_release(struct audit_check *c);
#define autocheck autoclean(audit_check_release)

/* Checks one record in order; or one thing that is no record. */
void audit_check_record(struct audit_check *c, const struct audit_record *r);
void audit_check_other(struct audit_check *c, int got,
	const struct audit_damage *damage);
/* Checks all that the reader gives. */
int audit_check_all(
	struct audit_check *c, struct audit_reader *r, struct diag *d);
/* Decides whether the hole is a loss of the machine. */
void audit_check_hole(struct audit_check *c, bool lost);
/* Checks the end of the records. */
void audit_check_end(struct audit_check *c);

/* The parts of audit_check_record. */
void audit_check_anchor(struct audit_check *c, const struct audit_record *r);
void audit_check_header(struct audit_check *c, const struct audit_record *r);
void audit_check_ckpt(struct audit_check *c, const struct audit_record *r);
void audit_check_recover(struct audit_check *c, const struct audit_record *r);
void audit_check_pruned(struct audit_check *c, const struct audit_record *r);

/* Takes the public key, log and secrets of the first epoch. */
void audit_check_identity(struct audit_check *c, const uint8_t *pk,
	const uint8_t *log_id, const struct audit_record *r);

/* A checkpoint's payload. -EBADMSG. */
struct audit_payload {
	uint64_t epoch, first, last, wall;
	const uint8_t *link, *agg, *next;
};
int audit_payload_parse(
	struct audit_payload *p, const uint8_t *bytes, size_t n);
/* Takes the keys of the next epoch from a checkpoint. */
void audit_check_turn(
	struct audit_check *c, const struct audit_payload *p, uint64_t first);

/* Walks the spine (headers and checkpoints of deleted segments) up to the
 * record before. */
int audit_check_spine(struct audit_check *c, int dirfd, uint64_t before,
	struct diag *d);

/* Checks the files beside the segments that were read. */
int audit_check_files(struct audit_check *c, int dirfd,
	const struct audit_extent *e, bool went_down, struct diag *d);

#endif
