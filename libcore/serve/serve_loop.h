/* serve_loop.h - waits for descriptors and times, and calls whom they concern
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_SERVE_LOOP_H
#define WARDBOX_SERVE_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A descriptor that is waited for. It stands in what it concerns, which is not
 * freed from within a call but by serve_loop_bury(). */
struct serve_watch {
	int fd; /* -1: not waited for */
	uint32_t events;
	void (*ready)(struct serve_watch *w, uint32_t events);
};

/* A time that is waited for. */
struct serve_timer {
	uint64_t at_ns; /* of CLOCK_MONOTONIC; 0: not waited for */
	void (*due)(struct serve_timer *t);
	struct serve_timer *next, *prev;
};

struct serve_grave {
	struct serve_grave *next;
};

struct serve_loop {
	int epoll;
	bool stop; /* serve_loop_run() returns */
	struct serve_timer *timers, *last; /* the earliest first */
	struct serve_grave *graves;
};
#define SERVE_LOOP_INIT ((struct serve_loop){.epoll = -1})

int serve_loop_open(struct serve_loop *l);
void serve_loop_close(struct serve_loop *l);

/* Begins to wait for events (EPOLLIN, EPOLLOUT) of w->fd, or for other ones. 0
 * waits for the end of the other side alone. -errno. */
int serve_watch_set(struct serve_loop *l, struct serve_watch *w, int fd,
	uint32_t events);
/* Waits no more; the descriptor stays open. */
void serve_watch_stop(struct serve_loop *l, struct serve_watch *w);

/* So many nanoseconds from now; a timer that is set is set anew. */
void serve_timer_set(
	struct serve_loop *l, struct serve_timer *t, uint64_t ns);
void serve_timer_stop(struct serve_loop *l, struct serve_timer *t);

/* Frees p (malloc'ed, a grave its first member) once no call can know it. */
void serve_loop_bury(struct serve_loop *l, struct serve_grave *p);

/* One round: waits, calls. -errno when it cannot wait. */
int serve_loop_turn(struct serve_loop *l);
/* Until somebody sets stop. */
int serve_loop_run(struct serve_loop *l);

#endif
