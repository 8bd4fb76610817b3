/* serve_server.h - the engine's commands over HTTP, WebSocket and gRPC
 * SPDX-License-Identifier: MIT
 *
 * On a unix socket the peer's uid is one of ours and a token is presented; on a
 * port a key is: of the loopback, or of any address with TLS. What is served, and
 * what each key may, stands in api_routes[] of serve_api.c; without a key come /health,
 * the page's files and a question's page (serve_slip.h).
 */
#ifndef WARDBOX_SERVE_SERVER_H
#define WARDBOX_SERVE_SERVER_H

#include "page/page.h"
#include "serve/serve.h"
#include "serve/serve_keys.h"
#include "tls/tls.h"

enum {
	SERVE_GIVEN_MAX = 4,
	SERVE_LISTEN_MAX = SERVE_GIVEN_MAX + 2, /* and --port, --tls */
	SERVE_UIDS_MAX = 16,
	SERVE_TICKETS_MAX = 64, /* the oldest goes */
};

struct serve_server;
struct serve_listener {
	struct serve_watch watch;
	struct serve_server *server;
	bool local;  /* a unix socket */
	bool sealed; /* spoken to by TLS */
};

/* The asker, by the key that was presented. */
struct serve_who {
	unsigned roles; /* 0: nobody */
	bool owner;     /* has one of the owner's tokens */
	bool local;     /* on a unix socket */
	unsigned char digest[SERVE_DIGEST]; /* of the key */
};

/* Good for one command's output, once. */
struct serve_ticket {
	struct serve_who who; /* whose it is */
	unsigned char digest[SERVE_DIGEST];
	char id[SERVE_ID_SIZE];
	uint64_t until_ns; /* CLOCK_MONOTONIC */
};

struct serve_server {
	struct serve *engine;
	/* The page's files; NULL: there is no page. */
	const struct page_file *(*page)(const char *path);
	char *const *env; /* of the commands */
	const char *version; /* wardbox's */
	const char *home, *shell; /* of the user, for codex; "" unknown */
	char session[SESSION_ID_MAX + 1]; /* of /mcp; "": there is none */
	uint64_t approver_ns; /* see serve_spec */
	unsigned page_port; /* where questions have a page; 0: nowhere */
	bool page_opens; /* one is opened when the first question needs it */
	int dir;          /* where the keys are; see serve_keys_load() */
	uid_t uids[SERVE_UIDS_MAX]; /* who may connect locally */
	size_t uid_count;
	bool bound; /* the socket in dir is this server's */
	struct tls_keys *tls; /* of new connections; NULL: there is no TLS */
	/* The owner's tokens: for run and for approve. */
	struct serve_key owner[2];
	/* its own */
	struct serve_watch keys; /* the directory of the file of keys */
	struct serve_listener listeners[SERVE_LISTEN_MAX];
	size_t listening;
	struct serve_conn *first, *last; /* newest first */
	struct serve_peer *peers;
	struct serve_ticket tickets[SERVE_TICKETS_MAX];
	struct mcp_post *posts;
	size_t count, max;               /* connections */
	size_t refused;                  /* wait to be told so */
	size_t dear;  /* connections with TLS or HTTP/2 */
	size_t paged; /* that have not taken a file of the page yet */
};

/* Files of the server's directory. */
#define SERVE_SOCKET "socket"
#define SERVE_TOKEN_RUN "token"
#define SERVE_TOKEN_APPROVE "approver"

enum serve_door { SERVE_LOCAL, SERVE_PLAIN, SERVE_SEALED };
/* Waits for connections on fd, a listening socket, which is closed with the
 * server. */
int serve_listen(struct serve_server *s, int fd, enum serve_door door);
void serve_server_close(struct serve_server *s);
/* A listening socket. path is made anew, 0600; -EADDRINUSE: a server answers
 * there. -errno with d. */
int serve_bind_local(const char *path, struct diag *d);
/* On 127.0.0.1. */
int serve_bind_loopback(unsigned port, struct diag *d);
/* On ADDRESS:PORT or [ADDRESS]:PORT, of numbers. */
int serve_bind_address(const char *text, struct diag *d);
/* A socket that the caller's supervisor listens on already; beyond the loopback it
 * is one for TLS. */
int serve_listen_given(struct serve_server *s, int fd, struct diag *d);
/* How many connections so many descriptors are good for. */
enum { SERVE_FILES = 16384 };
size_t serve_max(size_t files);
/* s->dir is this process's for as long as it lives. -EADDRINUSE: another server's. */
int serve_lock(const struct serve_server *s, struct diag *d);
/* Makes the owner's tokens in s->dir, and takes them away; from then on a key that is
 * revoked ends what it began. */
int serve_tokens_make(struct serve_server *s, struct diag *d);
void serve_tokens_remove(const struct serve_server *s);

#endif
