/* serve_in.h - what the files of the engine share
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_SERVE_IN_H
#define WARDBOX_SERVE_IN_H

#include <sys/uio.h>

#include "serve/serve.h"

#define CONTAINER(p, type, member)                                             \
	((type *)(void *)((char *)(p) - offsetof(type, member)))

/* Takes an item out of a list that is linked by its .next. */
#define LIST_DROP(first, item)                                                 \
	do {                                                                   \
		__typeof__(&(first)) at_ = &(first);                           \
                                                                               \
		while (*at_ && *at_ != (item))                                 \
			at_ = &(*at_)->next;                                   \
		if (*at_)                                                      \
			*at_ = (item)->next;                                   \
	} while (0)

/* Where the ring's next bytes go, two places at most; their number. Those that a
 * ring of that capacity has no room for are not asked for. */
int ring_room(const struct serve_ring *r, struct iovec to[static 2]);
/* Doubles the capacity, or begins with SERVE_RING_MIN. 0 or -ENOMEM. */
int ring_grow(struct serve_ring *r);
/* The oldest n bytes go. */
void ring_drop(struct serve_ring *r, uint64_t n);
void ring_release(struct serve_ring *r);

/* Waits for the streams of a new process, for its end, and for what it reports. */
int command_watch(struct serve_command *c, int pidfd, int said);
/* Gives the memory of its output back. */
void command_empty(struct serve_command *c);
/* Forgets the oldest of more commands than are remembered after their end. */
void serve_trim(struct serve *s);
/* Tells each reader of the command. */
void command_changed(struct serve_command *c);

#endif
