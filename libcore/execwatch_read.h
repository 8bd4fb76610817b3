/* execwatch_read.h - what a waiting process is about to start
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_EXECWATCH_READ_H
#define WARDBOX_EXECWATCH_READ_H

#include <limits.h>

#include "execwatch.h"
#include "uapi/seccomp.h"

enum {
	/* The pointers, the arguments, and three paths. */
	EXECWATCH_ROOM = (EXECWATCH_ARGS_MAX + 1) * (int)sizeof(char *) +
			 EXECWATCH_BYTES_MAX + 3 * PATH_MAX,
};

/* Reads it into room (EXECWATCH_ROOM bytes, aligned for pointers); *ev points
 * there. -EFAULT: its pointers lead nowhere. -errno. */
int execwatch_read(const struct sc_notif *n, char *room,
	struct execwatch_event *ev);

#endif
