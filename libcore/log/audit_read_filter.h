/* audit_read_filter.h - which records, and whose
 * SPDX-License-Identifier: MIT
 *
 * Some conditions are about a record (time, session, kind), some about a
 * command (what ran, how it ended, what it printed). A command's records are
 * scattered, so those conditions need a pass of their own over the log first:
 * audit_filter_note for every record, then audit_filter_match.
 */
#ifndef WARDBOX_AUDIT_READ_FILTER_H
#define WARDBOX_AUDIT_READ_FILTER_H

#include "log/audit_read.h"

enum audit_exit_test {
	AUDIT_EXIT_ANY,
	AUDIT_EXIT_IS,
	AUDIT_EXIT_NOT,
	AUDIT_EXIT_FAIL, /* any but 0, or a signal */
	AUDIT_EXIT_SIGNAL,
};

/* The conditions. Zero, NULL and ANY mean no condition. */
struct audit_filter {
	uint64_t since, until; /* wall ns */
	uint64_t first, last;  /* seqs; last 0: no end */
	uint64_t exec;
	uint32_t types;     /* bit per audit_type */
	uint32_t streams;   /* bit per audit_io, for io records */
	uint32_t decisions; /* bit per audit_decision */
	const char *session; /* the session's name, or the first digits of its
			      * id */
	const char *exe, *command, *cwd, *rule; /* globs */
	const char *event;			/* glob: events of that name alone */
	const char *grep;                       /* text in its output */
	uint64_t pid, min_duration;
	enum audit_exit_test exit;
	int exit_code;
	bool invert; /* the commands that do not match */

	/* Not to be looked into. */
	struct audit_seen *seen;
	size_t seen_cap, seen_count;
	struct audit_ends *ends;
};
void audit_filter_release(struct audit_filter *f);

/* Reads "0", "!0", "fail", "signal"; -EINVAL. */
int audit_filter_exit(struct audit_filter *f, const char *text);

/* The kinds of record, as bits, into which the first pass must look; 0: no
 * condition is about commands, so the pass is not needed. */
uint32_t audit_filter_kinds(const struct audit_filter *f);

/* The first pass. -ENOMEM, -E2BIG beyond 16 million commands, or
 * for a text of more than 255 bytes. */
int audit_filter_note(struct audit_filter *f, const struct audit_record *r);

bool audit_filter_match(
	const struct audit_filter *f, const struct audit_record *r);

/* The number of the command's words, 0 without; each is then taken from *in. */
uint64_t audit_words(const struct audit_record *r, struct cbor_in *in);

/* Appends an argv as a person would type it, quoted where needed. */
void audit_add_command(struct buf *out, const struct audit_record *r);

/* Parts of audit_filter_note that look at texts: whether a start's fields fit,
 * and whether an output holds the text; audit_output_begin makes room for that.
 * -E2BIG, -ENOMEM. */
bool audit_start_fits(
	const struct audit_filter *f, const struct audit_record *r);
int audit_output_begin(struct audit_filter *f);
bool audit_output_fits(struct audit_filter *f, const struct audit_record *r);

#endif
