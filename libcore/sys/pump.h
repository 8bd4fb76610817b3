/* pump.h - bytes from one descriptor to another, looked at on their way
 * SPDX-License-Identifier: MIT
 *
 * Never blocks in one direction while another waits. From pipe to pipe, what
 * was written undivided (4096 bytes at most) is passed on undivided: little is
 * copied in one piece, so that it lies densely in the pipe behind as it did in
 * the one before; of more the pages themselves are moved, as the writers
 * filled them, and who looks is shown a second view of them.
 */
#ifndef WARDBOX_PUMP_H
#define WARDBOX_PUMP_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pump_answer { PUMP_MORE, PUMP_ENOUGH, PUMP_DROP, PUMP_TAIL };

/* A second view of what passes: pages are taken along and stay in their pipe.
 * Two of them in turn hold the last bytes of a stream without a copy. Zeroed:
 * closed. */
struct pump_tail {
	bool open, keeps;
	int now[2], before[2]; /* reading end, writing end */
};
/* False when there are no descriptors for it. */
bool pump_tail_open(struct pump_tail *t);
/* From now on what is in it stays, but for the oldest. */
void pump_tail_keep(struct pump_tail *t);
void pump_tail_close(struct pump_tail *t);
/* Takes up to max bytes of a pipe along, whole pages, that stay in it. How
 * many, or -errno. */
long pump_tail_tee(struct pump_tail *t, int from, size_t max);
void pump_tail_add(struct pump_tail *t, const char *bytes, size_t n);
/* Bytes held. */
size_t pump_tail_size(const struct pump_tail *t);
/* The oldest of them, taken out; 0 when there are none left. */
size_t pump_tail_read(struct pump_tail *t, char *buf, size_t size);

/* Zeroed: never lives. */
struct pump {
	bool live;     /* false: ended, or never began */
	int from;      /* owned; -1: nothing comes but .first */
	int to;       /* -1: nowhere, shown alone; stays open and the owner's */
	bool to_socket, to_tty;
	bool spliced; /* both are pipes */
	/* Shown before they are passed on: PUMP_MORE; PUMP_ENOUGH: show no
	 * more; PUMP_TAIL: nor that, but keep the last ones in .tail;
	 * PUMP_DROP: pass on .allow of them and then nothing. -errno ends. */
	int (*show)(void *ctx, struct pump *p, const void *bytes, size_t n);
	void *ctx;
	int tag; /* the owner's */
	size_t allow;
	uint64_t bytes; /* seen to come, passed on or not */
	bool paused;
	bool last; /* nothing is read any more: ends when all was passed on */
	bool dry;  /* the last read found nothing */
	struct pump_tail tail; /* stays when the pump ends */
	/* private */
	size_t teed; /* of .bytes, still to be moved out of .from */
	bool plain, drop, full, ending;
	char *buf;
	size_t at, len;
};

static inline bool pump_ended(const struct pump *p)
{
	return !p->live;
}

/* Fills what to poll for: from, to. */
void pump_poll(const struct pump *p, struct pollfd fds[2]);
enum { PUMP_GONE = 1 };
/* After poll. 0; -errno of .show, or -ENOMEM; PUMP_GONE when there is no reader
 * any more, which pump_end() is to tell the writer. */
int pump_step(struct pump *p, const struct pollfd fds[2]);

/* Who reads may wait for our end: when the pipe behind is full, it is made to
 * hold what is left. */
void pump_ending(struct pump *p);
/* What .bytes will be when all is read that waits in .from now. */
uint64_t pump_due(const struct pump *p);
/* All of .bytes was passed on. */
bool pump_idle(const struct pump *p);

/* What was read of .from and did not go through. */
const char *pump_held(const struct pump *p, size_t *n);

/* Closes, frees. */
void pump_end(struct pump *p);

#endif
