/* pump.h - bytes from one descriptor to another, looked at on their way
 * SPDX-License-Identifier: MIT
 *
 * Never blocks in one direction while another waits, and holds at most one
 * buffer. What arrives in small pieces is copied, so that it lies as densely
 * in the pipe behind as it did in the one before, and is cut between lines,
 * so that writers who share a pipe do not tear each other's; much at once is
 * moved without a copy when nobody looks.
 */
#ifndef WARDBOX_PUMP_H
#define WARDBOX_PUMP_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pump_answer { PUMP_MORE, PUMP_ENOUGH, PUMP_DROP, PUMP_TAIL };

/* The last bytes of a stream that nobody looked at: two pipes in turn that hold
 * on to the pages as they pass, without a copy. */
struct pump_tail {
	int now[2], before[2]; /* reading end, writing end; -1 */
	int null;
};
#define PUMP_TAIL_INIT                                                         \
	((struct pump_tail){.now = {-1, -1}, .before = {-1, -1}, .null = -1})
/* False, and all closed, when there are no descriptors for it. */
bool pump_tail_open(struct pump_tail *t);
void pump_tail_close(struct pump_tail *t);
/* Takes up to max bytes of a pipe along that stay in it. How many, or -errno. */
long pump_tail_tee(struct pump_tail *t, int from, size_t max);
void pump_tail_add(struct pump_tail *t, const char *bytes, size_t n);
/* Bytes held. */
size_t pump_tail_size(const struct pump_tail *t);
/* The oldest of them, taken out; 0 when there are none left. */
size_t pump_tail_read(struct pump_tail *t, char *buf, size_t size);

struct pump {
	bool live; /* false: ended, or never began */
	int from;  /* owned; -1: nothing comes but .first */
	int to;    /* -1: nowhere, shown alone */
	bool close_to; /* at the end; else .to stays open and the owner's */
	bool to_pipe, to_socket, to_tty;
	bool spliced;  /* both are pipes */
	/* Shown before they are passed on: PUMP_MORE; PUMP_ENOUGH: show no
	 * more; PUMP_TAIL: nor that, but keep the last ones in .tail;
	 * PUMP_DROP: pass on .allow of them and then nothing. -errno ends. */
	int (*show)(void *ctx, struct pump *p, const void *bytes, size_t n);
	void *ctx;
	int tag; /* the owner's */
	size_t allow;
	uint64_t bytes; /* taken out of .from */
	/* Comes first. Borrowed. */
	const char *first;
	size_t first_len;
	bool paused;
	bool last; /* nothing is read any more: ends when all was passed on */
	struct pump_tail tail; /* stays when the pump ends; see .tailed */
	bool tailed;
	/* private */
	size_t teed; /* waits in .from and is in .tail already */
	bool plain, drop, full, kept;
	bool dry; /* the last read found nothing */
	char *buf;
	size_t at, len;
};
#define PUMP_INIT                                                              \
	((struct pump){.from = -1, .to = -1, .tail = PUMP_TAIL_INIT})

static inline bool pump_ended(const struct pump *p)
{
	return !p->live;
}

/* Fills what to poll for: from, to. */
void pump_poll(const struct pump *p, struct pollfd fds[2]);
/* After poll. 0; -errno of .show, or -ENOMEM. Reader gone: the writer is told
 * by closing. */
int pump_step(struct pump *p, const struct pollfd fds[2]);

/* Bytes that were taken but not passed on, and those that wait in .from. */
size_t pump_waiting(const struct pump *p);

/* Closes, frees. */
void pump_end(struct pump *p);

#endif
