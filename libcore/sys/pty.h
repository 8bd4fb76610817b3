/* pty.h - a terminal of our own between a command and its user's
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_PTY_H
#define WARDBOX_PTY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/types.h>
#include <termios.h>

#include "base/diag.h"

struct pty {
	int master; /* non-blocking */
	int slave;
	int outer; /* the user's terminal: our own description of it, non-
		    * blocking; -1 when there is none */
	bool raw;  /* the user's terminal is in raw mode, by us */
	bool bare; /* the command's leaves output as it is, by us */
	struct termios saved; /* of the user's terminal */
	struct termios given; /* what the command began with */
	struct winsize size;
};
#define PTY_INIT ((struct pty){.master = -1, .slave = -1, .outer = -1})

/* Which terminal that is, by whatever name it was opened (/dev/tty, too); 0 for
 * none. */
dev_t pty_device(int fd);

/* like: a descriptor of the user's terminal, whose modes and size the new one
 * gets, or -1. 0; -errno with d. */
int pty_open(struct pty *p, int like, struct diag *d);
void pty_close(struct pty *p);

/* Is this process in the foreground of the user's terminal? Of one that is no
 * terminal of its session it is never behind. */
bool pty_foreground(const struct pty *p);
/* Every key goes to the command's terminal. Only from the foreground. */
void pty_raw(struct pty *p);
/* What was typed before that goes to the command's terminal, which does not
 * show it again: the user's did. had bytes of it are in buf; as many more as
 * size allows are read. Bytes then in buf. */
size_t pty_typed_ahead(struct pty *p, char *buf, size_t had, size_t size);
/* The user's terminal as it was. */
void pty_restore(struct pty *p);
/* What the command did to its terminal on purpose is done to the user's. Keys
 * that it did not read are added to keys; NULL: they wait there for the next
 * one. */
struct buf;
void pty_hand_back(struct pty *p, struct buf *keys);
/* While the user's terminal is not raw it does to output what the command's
 * would do: not both. */
void pty_bare(struct pty *p, bool bare);
/* Takes the size of the user's terminal over; true when it changed. */
bool pty_resize(struct pty *p);
/* The command's terminal as it is now. */
bool pty_modes(const struct pty *p, struct termios *t);

#endif
