/* serve_follow.h - a command at the server, as if it ran here
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_SERVE_FOLLOW_H
#define WARDBOX_SERVE_FOLLOW_H

#include "base/json.h"
#include "serve/serve.h"
#include "serve/serve_client.h"

struct serve_follow {
	struct serve_client *client; /* upgraded */
	/* The first message: start or attach, with channels. */
	const char *message;
	size_t len;
	bool input;  /* stdin is passed on */
	bool raw;    /* stdin is a terminal that is the command's for now: Ctrl-]
		      * and d detaches, Ctrl-] twice types it */
	bool detach; /* goes as soon as it has started */
	/* Gets the output; NULL: it goes to stdout and stderr. */
	void (*output)(void *ctx, int fd, const void *bytes, size_t n);
	void *output_ctx;
	/* The outcome. */
	char id[SERVE_ID_SIZE], session[SESSION_ID_MAX + 1];
	bool detached;
	struct serve_report report; /* of one that ended */
};

/* Follows it to its end, or until it is detached from. 0; -errno with d. Signals
 * that come meanwhile are the command's, and as they were afterwards. */
int serve_follow(struct serve_follow *f, struct diag *d);

#endif
