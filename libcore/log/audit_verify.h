/* audit_verify.h - is the log whole, and by the right hand?
 * SPDX-License-Identifier: MIT
 *
 * Findings come as they are met. Trust comes from outside the log: the
 * fingerprint of its first public key, the seed, an anchor noted earlier.
 */
#ifndef WARDBOX_AUDIT_VERIFY_H
#define WARDBOX_AUDIT_VERIFY_H

#include "log/audit_read.h"
#include "log/keys_in.h"

struct audit_trust {
	const uint8_t *pin;  /* SHA-256 of pk_0, or NULL */
	const uint8_t *seed; /* or NULL */
	const uint8_t *anchor_link; /* or NULL */
	uint64_t anchor_seq;
	uint64_t from;   /* begin with the segment of that seq */
	bool partial;    /* these are some segments of a log, not all */
	bool links_only; /* only links: no signatures, no aggregate, no head */
	bool portable;   /* no instructions that not every processor has */
};

enum audit_level {
	AUDIT_NOTE,
	AUDIT_LOSS,   /* something is gone, and the log says why */
	AUDIT_TAMPER, /* something was changed, or cannot be explained */
};

struct audit_finding {
	enum audit_level level;
	const char *kind; /* one word, for programs: "link", "signature", ... */
	bool placed;      /* at that record; else it is of the whole log */
	uint64_t seq;     /* the record at which it was found */
	uint64_t segment, offset;
	const char *text; /* for people */
};
typedef void audit_report(void *state, const struct audit_finding *f);

/* The result. */
struct audit_verdict {
	uint64_t records, bytes, segments, epochs, purged;
	uint64_t first, last; /* seqs */
	uint64_t unsigned_from; /* records from here on are not signed yet */
	uint64_t strays; /* files of the directory that are no part of the log */
	uint64_t findings[3];   /* per audit_level */
	uint8_t link[AUDIT_HASH], pin[AUDIT_HASH], log_id[AUDIT_ID];
	bool pinned;   /* the given pin is the log's, and the chain holds */
	bool seeded;   /* the aggregate fits the seed */
	bool anchored; /* the anchor is in the log */
	bool partial;  /* the options asked for a part of the log only */
	bool ended;    /* the head, or the anchor, says that nothing is cut
			* off */
};

enum audit_outcome {
	AUDIT_INTACT = 0,
	AUDIT_TAMPERED = 1,
	AUDIT_DECLARED_LOSS = 3,
	AUDIT_UNAUTHENTICATED = 4,
};
enum audit_outcome audit_outcome(const struct audit_verdict *v);

/* Verifies a directory with its head and spine. The head is read under the
 * lock, so writers may go on. -ENODATA: there is no log; -errno when it cannot
 * be read. */
int audit_verify_dir(int dirfd, const struct audit_trust *trust,
	audit_report *report, void *state, struct audit_verdict *v,
	struct diag *d);

/* Verifies only segments, as the reader shows them. */
int audit_verify_reader(struct audit_reader *r, const struct audit_trust *trust,
	audit_report *report, void *state, struct audit_verdict *v,
	struct diag *d);

#endif
