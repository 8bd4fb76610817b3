/* policy_log.h - decisions out of the audit log
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_POLICY_LOG_H
#define WARDBOX_POLICY_LOG_H

#include <stdint.h>

#include "base/buf.h"

struct logged {
	uint64_t wall;        /* nanoseconds since the epoch */
	const char *decision; /* as in the log: "allow", "open", ... */
	const char *rule;     /* "net", "would-deny:net" */
	const char *reason;
	const char *line; /* the shell line, or the words */
	const char *cwd;  /* "": not known */
	bool host; /* line is a host that was refused */
};

typedef void logged_each(void *ctx, const struct logged *one);

/* All decisions of this user's log, oldest first. Says when there is none,
 * and what is damaged. */
void policy_log_each(logged_each *each, void *ctx);

#endif
