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

/* A second view of what passes: pages that stay in a pipe. Two pipes in turn
 * hold the last bytes of a stream without a copy. Zeroed: closed. */
struct pump_tail {
	bool open, keeps;
	int now[2], before[2]; /* reading end, writing end */
};
/* Opens the pipes. False when there are no descriptors for them. */
bool pump_tail_open(struct pump_tail *t);
/* From now on keeps the pages, except for the oldest. */
void pump_tail_keep(struct pump_tail *t);
void pump_tail_close(struct pump_tail *t);
/* Takes up to max bytes of a pipe along, in whole pages, without taking them
 * out. Their number, or -errno. */
long pump_tail_tee(struct pump_tail *t, int from, size_t max);
void pump_tail_add(struct pump_tail *t, const char *bytes, size_t n);
/* Bytes held. */
size_t pump_tail_size(const struct pump_tail *t);
/* Takes the oldest bytes out; 0 when none are left. */
size_t pump_tail_read(struct pump_tail *t, char *buf, size_t size);

/* Zeroed: never lives. */
struct pump {
	bool live;     /* false: ended, or never begun */
	int from;      /* owned; -1: there is only .first */
	int to;       /* not owned; -1: nowhere, bytes are only shown */
	bool to_socket, to_tty;
	bool spliced; /* both are pipes */
	/* Shows bytes before they are passed on. PUMP_MORE; PUMP_ENOUGH: show
	 * no more; PUMP_TAIL: the same, but keep the last ones in .tail;
	 * PUMP_DROP: pass on .allow of them and then nothing. -errno ends. */
	int (*show)(void *ctx, struct pump *p, const void *bytes, size_t n);
	void *ctx;
	int tag; /* for the owner */
	size_t allow;
	uint64_t bytes; /* bytes that came, passed on or not */
	bool paused;
	bool last; /* read nothing more; ends when all is passed on */
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

/* Fills what must be polled for: from, to. */
void pump_poll(const struct pump *p, struct pollfd fds[2]);
enum { PUMP_GONE = 1 };
/* Call it after poll. 0; -errno of .show, or -ENOMEM; PUMP_GONE when the reader
 * is gone: pump_end() then tells the writer. */
int pump_step(struct pump *p, const struct pollfd fds[2]);

/* The reader may wait for our end: makes a full pipe hold what is left. */
void pump_ending(struct pump *p);
/* The value that .bytes will have when everything that waits in .from is
 * read. */
uint64_t pump_due(const struct pump *p);
/* Was all of .bytes passed on? */
bool pump_idle(const struct pump *p);

/* The bytes that were read of .from and did not go through. */
const char *pump_held(const struct pump *p, size_t *n);

/* Closes, frees. */
void pump_end(struct pump *p);

#endif
