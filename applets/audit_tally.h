/* audit_tally.h - what stats counts
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_APPLET_AUDIT_TALLY_H
#define WARDBOX_APPLET_AUDIT_TALLY_H

#include "audit.h"

enum { TALLY_MAX = 4096, TALLY_BUCKETS = 10, TALLY_SLOW = 10 };

/* How often each text was met. Beyond TALLY_MAX different ones, the rest is
 * counted together. */
struct tally_row {
	char *text;
	uint64_t count;
};
struct tally {
	struct tally_row *rows;
	size_t count;
	uint64_t rest;
};

enum {
	TALLY_DENIED,
	TALLY_FAILED,
	TALLY_PROGRAMS,
	TALLY_RULES,
	TALLY_EVENTS,
	TALLY_HOSTS,
	TALLY_REFUSED,
	TALLIES,
};

/* A command that has begun and not ended. */
struct tally_open {
	uint64_t exec;
	char *line;
};

struct tallies {
	uint64_t records, commands, first, last;
	uint64_t decisions[5], exits[4]; /* 0, other, signal, none */
	uint64_t buckets[TALLY_BUCKETS]; /* < 1 ms, < 4 ms, ... */
	uint64_t bytes[3], truncated, timeouts, duration;
	struct tally tally[TALLIES];
	struct {
		uint64_t exec, duration;
		char *line;
	} slow[TALLY_SLOW];
	struct tally_open *open;
};
int tallies_note(void *state, const struct audit_record *r);
void tallies_finish(struct tallies *t);
void tallies_release(struct tallies *t);

/* "< 1 ms", ... of bucket i. */
const char *tallies_bucket(uint64_t i);

#endif
