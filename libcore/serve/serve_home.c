/* serve_home.c - where a user's server is
 * SPDX-License-Identifier: MIT
 */
#include "serve/serve_home.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "base/str.h"
#include "serve/serve_server.h"
#include "sys/file.h"

int serve_home(bool make, char path[static SERVE_PATH_MAX], struct diag *d)
{
	const struct session_where w = {.cwd = "/", .uid = geteuid()};
	char base[SESSION_BASE_MAX];
	struct buf b = {
		.data = path, .cap = SERVE_PATH_MAX, .max = SERVE_PATH_MAX - 1};
	autofd int own = session_base(&w, make, base, d);

	if (own < 0)
		return own;
	buf_addf(&b, "%s/%ju/serve", base, (uintmax_t)w.uid);
	buf_str(&b);
	if (b.err)
		return diag_errno(d, -ENAMETOOLONG, "%s", base);
	return file_private_dir(own, "serve", w.uid, make, d);
}

int serve_home_connect(struct serve_client *c, const struct serve_place *at,
	struct diag *d)
{
	char path[SERVE_PATH_MAX], token[SERVE_PATH_MAX];
	autofd int dir = -1;
	int err;

	if (strstr(at->server, "://"))
		return serve_client_open_url(
			c, at->server, at->token_file, at->cert_file, d);
	err = str_copy(path, sizeof path, at->server);
	if (str_eq(at->server, "local")) {
		dir = serve_home(false, path, d);
		if (dir < 0)
			return diag_fail(d, -ENOENT, "no server runs: 'wardbox"
				" serve' starts one");
		BUF_PRINT(token, "%s/" SERVE_SOCKET, path);
		err = token[0] ? str_copy(path, sizeof path, token)
			       : -ENAMETOOLONG;
	}
	if (err)
		return diag_errno(d, -ENAMETOOLONG, "%s", at->server);
	BUF_PRINT(token, "%.*s" SERVE_TOKEN_RUN,
		(int)(path_base(path) - path), path);
	return serve_client_open(
		c, path, at->token_file ? at->token_file : token, d);
}
