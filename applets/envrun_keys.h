/* envrun_keys.h - the keys of a person at a terminal, one by one
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_ENVRUN_KEYS_H
#define WARDBOX_ENVRUN_KEYS_H

#include <signal.h>
#include <stdbool.h>
#include <termios.h>

#include "base/buf.h"

#define KEY(c) ((c) & 31)

enum {
	ESC = 27,
	DEL = 127,
	/* Keys of escape sequences, with numbers above all bytes. */
	K_UP = 256,
	K_DOWN,
	K_LEFT,
	K_RIGHT,
	K_HOME,
	K_END,
	K_DELETE,
	K_NONE,
	KEYS_CAUGHT = 5,
};

struct keys {
	struct buf *typed; /* come first */
	struct termios cooked;
	struct sigaction was[KEYS_CAUGHT];
	sigset_t waiting; /* the mask while it waits for a key */
};

/* The terminal in raw mode, and back; false when it cannot be set. The signals
 * that end an edit are caught between, and come again at the end, but for
 * those that only end a line. */
bool keys_open(struct keys *k, struct buf *typed);
void keys_close(struct keys *k);

/* A byte or one of K_*; -ENODATA at the end; -EAGAIN when the window changed;
 * -EINTR when a signal ended it. */
int keys_next(struct keys *k);
/* Is a key there already? */
bool keys_ready(const struct keys *k);
/* As the kernel would: stopped with the group, and again from the start. */
void keys_stop(struct keys *k);

#endif
