/* session_live.h - which supervisors of a session stay with what commands left
 * SPDX-License-Identifier: MIT
 *
 * Below the sessions' directory a session has ID.live, with a file for each
 * supervisor that outlives its command. The supervisor keeps that file locked:
 * a file that nobody has locked is what a killed one left, and is taken away.
 */
#ifndef WARDBOX_SESSION_LIVE_H
#define WARDBOX_SESSION_LIVE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/diag.h"
#include "session/session.h"

struct session_live {
	int dir;  /* ID.live; -1: there is none */
	int lock; /* the supervisor's file */
	pid_t pid;
	char id[SESSION_ID_MAX + 1];
};
#define SESSION_LIVE_INIT ((struct session_live){.dir = -1, .lock = -1})

/* Makes the file of process pid and locks it. dir is from session_dir(). 0 or
 * -errno; *l is to be closed by session_live_leave(). */
int session_live_enter(
	int dir, const char *id, pid_t pid, struct session_live *l);
/* Takes the file away; ID.live stays as long as the session. */
void session_live_leave(struct session_live *l);

/* That a command of the session runs now. Nothing when it has no ID.live. */
void session_live_use(int dir, const char *id);
/* When the last one did: nanoseconds since 1970; 0: not known. */
uint64_t session_live_used(const struct session_live *l);

/* Called for each supervisor that lives, in this process's pid namespace; not 0
 * ends it and is the result. */
typedef int session_live_each(void *ctx, pid_t supervisor);
int session_live(int dir, const char *id, session_live_each *each, void *ctx);

/* Has each of them end what it stays with, and waits for that. 0; -ETIMEDOUT:
 * some would not end; -errno. */
int session_live_end(int dir, const char *id, struct diag *d);

#endif
