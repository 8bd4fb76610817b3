/* approve.h - questions that wait for a person on another terminal
 * SPDX-License-Identifier: MIT
 *
 * Who asks:
 *	answer = approve_ask(&q, wait_ns, &told);
 * Who answers:
 *	dir = approve_dir(false, &d);
 *	approve_list(dir, &list, &d);
 *	approve_answer(dir, id, APPROVE_YES, &d);
 */
#ifndef WARDBOX_APPROVE_H
#define WARDBOX_APPROVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/diag.h"
#include "base/json.h"

enum {
	APPROVE_ID_SIZE = 16,
	APPROVE_MAX = 64, /* that wait at a time */
};

enum approve_answer {
	APPROVE_NO,
	APPROVE_YES,
	APPROVE_ALWAYS, /* for the rest of the session */
};

/* What a person is to know. */
struct approve_question {
	const char *line;    /* what would run */
	const char *command; /* the part of it that the rule is about; "" */
	const char *rule, *reason, *session, *cwd, *by;
};

/* Told the id as soon as the question can be answered. */
struct approve_told {
	void (*asked)(void *ctx, const char *id);
	void *ctx;
};

/* Asks and waits. 1 yes, 2 always, 0 no; -ETIMEDOUT: somebody saw it, and nobody
 * answered in time; -ENXIO: nobody looked at it; -EAGAIN: too many wait; -EINTR:
 * this process is told to end; else -errno. */
int approve_ask(const struct approve_question *q, uint64_t wait_ns,
	const struct approve_told *told);

/* Where the questions of this user are: a descriptor; -ENOENT: there were none
 * yet. */
int approve_dir(bool make, struct diag *d);

struct approve_list {
	char id[APPROVE_MAX][APPROVE_ID_SIZE];
	size_t count;
};
/* Those that wait, in the order of their ids; what is left of others is removed. */
int approve_list(int dir, struct approve_list *l, struct diag *d);
/* The question as JSON text, which approve_ask() wrote. seen: the reader may answer
 * it, so that it counts as seen. -ENOENT: nobody asks that, or no more. */
int approve_read(int dir, const char *id, bool seen, struct buf *json,
	struct diag *d);
/* -ENOENT; -EEXIST: it was answered before. */
int approve_answer(
	int dir, const char *id, enum approve_answer answer, struct diag *d);
/* "no" "yes" "always", or -EINVAL. */
int approve_word(const char *word);

#endif
