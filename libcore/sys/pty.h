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
	int outer; /* our own, non-blocking description of the user's terminal;
		    * -1: none */
	bool raw;  /* we set the user's terminal to raw mode */
	bool bare; /* we took output processing from the command's */
	struct termios saved; /* modes of the user's terminal */
	struct termios given; /* modes with which the command began */
	struct winsize size;
};
#define PTY_INIT ((struct pty){.master = -1, .slave = -1, .outer = -1})

/* The device of the terminal, by whatever name it was opened (/dev/tty, too);
 * 0: none. */
dev_t pty_device(int fd);

/* like: a descriptor of the user's terminal, whose modes and size the new one
 * gets, or -1. 0; -errno with d. */
int pty_open(struct pty *p, int like, struct diag *d);
void pty_close(struct pty *p);

/* Is this process in the foreground of the user's terminal? If that is not the
 * terminal of its session: yes. */
bool pty_foreground(const struct pty *p);
/* Sends every key to the command's terminal. Only in the foreground. */
void pty_raw(struct pty *p);
/* Passes what was typed before to the command's terminal, which does not show
 * it again, because the user's did. had bytes of it are in buf; as many more as
 * size allows are read. Returns the bytes in buf. */
size_t pty_typed_ahead(struct pty *p, char *buf, size_t had, size_t size);
/* Restores the user's terminal. */
void pty_restore(struct pty *p);
/* Repeats changes that the command made to its terminal on purpose on the
 * user's. Keys that it did not read are added to keys; NULL: they wait in the
 * user's terminal. */
struct buf;
void pty_hand_back(struct pty *p, struct buf *keys);
/* Takes output processing from the command's terminal while the user's does it,
 * because both would do it twice. */
void pty_bare(struct pty *p, bool bare);
/* Takes the size of the user's terminal over; true when it changed. */
bool pty_resize(struct pty *p);
/* Reads the modes of the command's terminal. */
bool pty_modes(const struct pty *p, struct termios *t);

#endif
