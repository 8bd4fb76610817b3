/* session_place_in.h - what the parts of session.h share
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_SESSION_PLACE_IN_H
#define WARDBOX_SESSION_PLACE_IN_H

#include "session/session.h"

enum {
	SESSION_KEY_SIZE = 40, /* a workspace's file: 32 hex digits, ".sid" */
};

/* The name of the workspace's file. -ENOENT when the workspace is gone. */
int session_key(const struct session_where *w, char key[static SESSION_KEY_SIZE],
	struct diag *d);

/* The one line of a file of ids, checked. fd is read from its start. -ENODATA
 * when the file is empty, -EINVAL when it holds anything else than an id,
 * -EPERM when someone else could have written it. */
int session_read_id(int fd, uid_t uid, const char *name,
	char id[static SESSION_ID_MAX + 1], struct diag *d);

/* flock(2) for at most two seconds; -ETIMEDOUT. */
int session_flock(int fd, const char *name, struct diag *d);

#endif
