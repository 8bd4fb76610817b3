/* serve_home.h - where a user's server is
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_SERVE_HOME_H
#define WARDBOX_SERVE_HOME_H

#include "serve/serve_client.h"
#include "session/session.h"

enum { SERVE_PATH_MAX = 108 }; /* of a socket */

/* The server's directory of this user, in the guard's own state: a descriptor, and
 * its path. make: it is made where it is missing. */
int serve_home(bool make, char path[static SERVE_PATH_MAX], struct diag *d);

/* Where a server is, and what is shown to it. */
struct serve_place {
	const char *server; /* a socket, "local": the one in serve_home(), or a URL */
	const char *token_file; /* NULL: the owner's token, beside the socket */
	const char *cert_file;  /* of a URL, see serve_client_open_url() */
};
int serve_home_connect(struct serve_client *c, const struct serve_place *at,
	struct diag *d);

#endif
