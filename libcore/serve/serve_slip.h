/* serve_slip.h - a question's page, by a slip that is good for one answer
 * SPDX-License-Identifier: MIT
 *
 * A slip stands in the address of the page and nowhere else: kept is its digest. It
 * shows one question, and answers it once, with yes or no; it is good for nothing else,
 * and for nobody's other question.
 */
#ifndef WARDBOX_SERVE_SLIP_H
#define WARDBOX_SERVE_SLIP_H

#include "serve/serve_server.h"

enum { SLIP_URL_SIZE = 128 };

/* A new slip for the question that c waits with, and the page's address; one from
 * before is good no more. -ENOTCONN: there is no port for pages, -errno. */
int slip_make(struct serve_server *s, struct serve_command *c,
	char url[static SLIP_URL_SIZE]);

#endif
