/* serve_loop.c - waits for descriptors and times, and calls whom they concern
 * SPDX-License-Identifier: MIT
 */
#include "serve/serve_loop.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"

enum { BATCH = 64, MS = 1000000 };

int serve_loop_open(struct serve_loop *l)
{
	l->epoll = epoll_create1(EPOLL_CLOEXEC);
	return l->epoll < 0 ? -errno : 0;
}

static void free_graves(struct serve_loop *l)
{
	while (l->graves) {
		struct serve_grave *first = l->graves;

		l->graves = first->next;
		free(first);
	}
}

void serve_loop_close(struct serve_loop *l)
{
	free_graves(l);
	if (l->epoll >= 0)
		close(l->epoll);
	l->epoll = -1;
}

int serve_watch_set(struct serve_loop *l, struct serve_watch *w, int fd,
	uint32_t events)
{
	struct epoll_event ev = {.events = events, .data.ptr = w};
	int op = w->fd < 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;

	if (w->fd >= 0 && w->fd == fd && w->events == events)
		return 0;
	if (epoll_ctl(l->epoll, op, fd, &ev))
		return -errno;
	w->fd = fd;
	w->events = events;
	return 0;
}

void serve_watch_stop(struct serve_loop *l, struct serve_watch *w)
{
	if (w->fd >= 0)
		epoll_ctl(l->epoll, EPOLL_CTL_DEL, w->fd, NULL);
	w->fd = -1;
}

void serve_timer_stop(struct serve_loop *l, struct serve_timer *t)
{
	if (!t->at_ns)
		return;
	*(t->prev ? &t->prev->next : &l->timers) = t->next;
	*(t->next ? &t->next->prev : &l->last) = t->prev;
	t->at_ns = 0;
}

void serve_timer_set(struct serve_loop *l, struct serve_timer *t, uint64_t ns)
{
	struct serve_timer *before;

	serve_timer_stop(l, t);
	before = l->last;
	t->at_ns = clock_ns(CLOCK_MONOTONIC) + ns;
	/* Most wait as long as those before them. */
	while (before && before->at_ns > t->at_ns)
		before = before->prev;
	t->prev = before;
	t->next = before ? before->next : l->timers;
	*(t->next ? &t->next->prev : &l->last) = t;
	*(before ? &before->next : &l->timers) = t;
}

void serve_loop_bury(struct serve_loop *l, struct serve_grave *p)
{
	p->next = l->graves;
	l->graves = p;
}

/* Calls whose time has come; the milliseconds until the next, -1: none. */
static int call_timers(struct serve_loop *l)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	while (l->timers && l->timers->at_ns <= now) {
		struct serve_timer *t = l->timers;

		serve_timer_stop(l, t);
		t->due(t);
	}
	return l->timers
		? (int)((l->timers->at_ns - now) / MS % 1000000000) + 1
		: -1;
}

int serve_loop_turn(struct serve_loop *l)
{
	struct epoll_event ev[BATCH];
	int wait = call_timers(l), n;

	free_graves(l);
	if (l->stop)
		return 0;
	n = epoll_wait(l->epoll, ev, ARRAY_SIZE(ev), wait);
	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	for (int i = 0; i < n; i++) {
		struct serve_watch *w = ev[i].data.ptr;

		if (w->fd >= 0)
			w->ready(w, ev[i].events);
	}
	return 0;
}

int serve_loop_run(struct serve_loop *l)
{
	int err = 0;

	while (!l->stop && !err)
		err = serve_loop_turn(l);
	free_graves(l);
	return err;
}
