/* run_pty_in.h - a command on a terminal of its own, under a monitor
 * SPDX-License-Identifier: MIT
 *
 * Private to run*.c. The monitor leads the session that the new terminal
 * belongs to; the command is a job of it. That way the command can be stopped:
 * a session's leader, or a job whose parent is in another session, cannot.
 */
#ifndef WARDBOX_RUN_PTY_IN_H
#define WARDBOX_RUN_PTY_IN_H

#include <stdbool.h>
#include <stddef.h>

#include "sys/proc.h"

struct run_state;

enum run_word {
	/* to the monitor */
	RUN_SAY_SIGNAL, /* value: for the command */
	RUN_SAY_RESUME, /* value: 1 in the foreground, 0 in the background */
	/* from it */
	RUN_SAY_STARTED, /* value: the command's process group */
	RUN_SAY_FAILED,  /* value: -errno, more: enum proc_step */
	RUN_SAY_STOPPED, /* value: by which signal */
	RUN_SAY_ENDED,   /* value: wait status */
};
struct run_message {
	int word, value, more;
};

/* Makes the terminal; 0 or -errno with the state's diag. */
int run_pty_open(struct run_state *st);
/* In a fork: becomes the monitor, never returns. */
__attribute__((noreturn)) void run_monitor(struct run_state *st);
/* Waits for the first word: 0 when the command was started, else -errno and the
 * step. */
int run_pty_start(struct run_state *st, enum proc_step *step);
/* Reads a word of the monitor. */
void run_pty_read(struct run_state *st);
/* Handles a signal that came to this process or, with whole, to all of its
 * group. */
void run_pty_signal(struct run_state *st, int sig, bool kernel, bool whole);
/* Takes over the size of the user's terminal; true when it had changed. */
bool run_pty_size(struct run_state *st);
/* Handles keys that went in. */
void run_pty_keys(struct run_state *st, const char *keys, size_t n);
/* Will typed keys stay invisible? */
bool run_pty_hidden(struct run_state *st);
/* Handles the end of the user's terminal, or of what stands for it. */
void run_pty_gone(struct run_state *st);
/* Gives the user's terminal back its own settings. */
/* Keeps the keys that the command, which is gone, did not read. */
void run_pty_keep(struct run_state *st);
void run_pty_close(struct run_state *st);

#endif
