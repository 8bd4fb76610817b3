/* serve_client.h - the server's own client
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_SERVE_CLIENT_H
#define WARDBOX_SERVE_CLIENT_H

#include "serve/serve_http.h"
#include "serve/serve_keys.h"
#include "tls/tls.h"
#include "serve/serve_ws.h"

struct serve_client {
	int fd;
	struct tls *tls; /* NULL: none */
	char host[256];  /* as a request names the server */
	char token[SERVE_KEY_SIZE];
	struct buf in; /* bytes behind the last answer */
};
#define SERVE_CLIENT_INIT                                                      \
	((struct serve_client){.fd = -1, .host = "localhost", .in = BUF_INIT(8 << 20)})
void serve_client_close(struct serve_client *c);
#define autoclient autoclean(serve_client_close)

/* Connects to the socket at path, with the token that the file says. -errno. */
int serve_client_open(struct serve_client *c, const char *path,
	const char *token_file, struct diag *d);
/* Connects to https://HOST[:PORT], a server that has the key of the certificate in
 * the file. -errno. */
int serve_client_open_url(struct serve_client *c, const char *url,
	const char *token_file, const char *cert_file, struct diag *d);
/* What it says and is told, without waiting: as recv() and send(), with -errno. */
ssize_t serve_client_recv(struct serve_client *c, void *to, size_t n);
ssize_t serve_client_send(struct serve_client *c, const void *from, size_t n);
/* Bytes that were taken wait for the socket: sending none writes them. */
bool serve_client_waits(const struct serve_client *c);
/* Asks; body gets the answer's. The status, or -errno with d. */
int serve_client_ask(struct serve_client *c, const char *method,
	const char *path, const char *json, struct buf *body, struct diag *d);
/* Makes a WebSocket of the connection: for the session's terminal. */
int serve_client_upgrade(
	struct serve_client *c, const char *session, struct diag *d);
/* Speaks MCP's lines from then on. */
int serve_client_mcp(struct serve_client *c, const char *session, struct diag *d);

#endif
