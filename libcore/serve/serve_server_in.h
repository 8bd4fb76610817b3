/* serve_server_in.h - what the files of the server share
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_SERVE_SERVER_IN_H
#define WARDBOX_SERVE_SERVER_IN_H

#include "base/kconfig.h"
#include "serve/serve_cast.h"
#include "serve/serve_http.h"
#include "serve/serve_in.h"
#include "serve/serve_server.h"
#include "serve/serve_wire.h"
#include "serve/serve_ws.h"

enum conn_state {
	CONN_HTTP,   /* a head, or what of a body belongs to it */
	CONN_SOCKET, /* a WebSocket */
	CONN_EVENTS, /* server-sent events, or asciicast's lines */
	CONN_OWN,    /* what an applet prints */
	CONN_H2,     /* HTTP/2, and gRPC by it */
	CONN_LAST,   /* what is to be written, and then the end */
};

enum {
	CONN_IN_MAX = HTTP_HEAD_MAX + HTTP_BODY_MAX + 1024,
	CONN_OUT_MAX = 8 << 20,
	CONN_OUT_ENOUGH = 256 << 10, /* no more output is taken */
	CONN_HEAD_S = 10,            /* for a head and its body */
	CONN_IDLE_S = 60,            /* between requests */
	CONN_PING_S = 30,
	CONN_LAST_S = 2, /* for the peer to go after the last word */
	CONN_MAX = 12288,
	CONN_REFUSED_MAX = 64, /* that wait for their 401 */
	CONN_DEAR_MAX = 2048, /* with TLS or HTTP/2, which take 40 KB */
	CONN_PAGED_MAX = 64,  /* that wait for a file of the page */
};

struct serve_conn {
	struct serve_grave grave;
	struct serve_server *server;
	struct serve_conn *next, *prev;
	struct serve_watch watch;
	struct serve_timer timer;
	struct buf in, out;
	enum conn_state state;
	struct tls *tls; /* of a sealed one, once it said something */
	struct h2 *h2;   /* of CONN_H2, and then till the end */
	bool local, sealed, refused, shut, dear, paged;
	bool admitted; /* the request whose body is still to come has a key */
	bool pong;       /* there was one since the ping */
	struct serve_who who; /* of the request, or the WebSocket's */
	char session[SESSION_ID_MAX + 1]; /* of a WebSocket */
	struct ws_reader ws;
	struct serve_reader reader; /* attached: a command is followed */
	bool channels, own, view, said; /* own: it ends with the connection */
	unsigned channel; /* of the message that is being read */
	struct codex_link *codex; /* the WebSocket speaks that; NULL */
	unsigned short rows, cols; /* that the peer knows of */
	bool kube;        /* it speaks Kubernetes' channels */
	struct buf size;  /* and tells a size */
	struct cast cast; /* it is asciinema's player */
	const char *type; /* of what an applet prints */
	struct mcp_link *post; /* events answer a request of MCP's; NULL */
};

void conn_close(struct serve_conn *c);
/* The oldest connection of that kind that has shown no key makes room. */
enum conn_kind { CONN_ANY, CONN_DEAR, CONN_PAGED };
void conn_drop(struct serve_server *s, enum conn_kind kind);
/* Counts it among those that take much memory; false: they are too many. */
bool conn_dear(struct serve_conn *c);
/* Writes what is there; closes where that was all. */
void conn_flush(struct serve_conn *c);
/* Answers with what j has written, whose open ends are closed; NULL: with nothing. */
void conn_answer(struct serve_conn *c, const struct http_request *r, int status,
	struct json *j);
/* {"error": why} */
void conn_refuse(struct serve_conn *c, const struct http_request *r, int status,
	const char *why);

/* Fills in the roles that a key has now, and whether it is the owner's; 0: none. */
unsigned server_roles(const struct serve_server *s, struct serve_who *who);
/* Is it one of the keys still? */
bool server_knows(const struct serve_server *s, const struct serve_keys *keys,
	const struct serve_who *who);
/* May the asker of a request go on? 0; 403; 429: too many wrong keys; 401: no key, or
 * a wrong one, which is told API_REFUSED_NS later and counts in s->refused till then. */
int api_judge(const struct serve_conn *c, const struct http_request *r,
	struct serve_who *who);
enum { API_REFUSED_NS = 250000000 };
const char *api_judged(int status);

/* May the rest of the request come? If not it is answered, or will be. */
bool api_admit(struct serve_conn *c, const struct http_request *r);
/* Does what a whole request asks for. */
void api_request(struct serve_conn *c, const struct http_request *r,
	const char *body);
/* A request behind /api/v1/, whose key may ask for it. */
struct api_ask {
	const struct http_request *r;
	const char *body;
	char id[SESSION_ID_MAX + 1]; /* what its path names */
	struct serve_command *command; /* of commands/ID */
};
/* Starts the command that a message asks for. */
int api_start(struct serve_server *s, const struct serve_who *who,
	const char *session, struct wire *w, struct serve_command **out,
	struct diag *d);

/* Who starts and follows a command, whatever front it comes by: what it may stands
 * in one place. */
struct serve_guest {
	struct serve_server *server;
	const struct serve_who *who;
	const char *session;
	struct serve_reader *reader;
	bool *own;  /* the command ends with the guest */
	bool *view; /* it only looks */
};
enum { GUEST_LEFT = 1 };
/* Does what a message asks. 0; GUEST_LEFT: it has detached; else the status of HTTP
 * that refuses it, with d. */
int guest_do(const struct serve_guest *g, struct wire *w, struct diag *d);
/* Types to the command. The same. */
int guest_type(const struct serve_guest *g, const char *bytes, size_t n,
	struct diag *d);
/* The client is not read until the command has read. */
bool guest_full(const struct serve_guest *g);
/* It goes, and what is its own with it. */
void guest_leave(const struct serve_guest *g);

/* Is Host this machine's own, where that is to be asked? */
bool api_host(const struct serve_conn *c, const char *host);

/* The page and its files, which need no key; false: it is none of them. */
bool web_file(struct serve_conn *c, const struct http_request *r);
/* The key's name; the log, its state, a recording; a command's changes. */
void web_me(struct serve_conn *c, const struct api_ask *a);
void web_log(struct serve_conn *c, const struct api_ask *a);
void web_verify(struct serve_conn *c, const struct api_ask *a);
void web_cast(struct serve_conn *c, const struct api_ask *a);
void web_changed(struct serve_conn *c, const struct api_ask *a);
void web_diff(struct serve_conn *c, const struct api_ask *a);
/* Answers with what the applet prints whose words these are, a NUL behind each. */
void own_open(struct serve_conn *c, const struct http_request *r,
	const char *type, struct buf *words);
void own_pump(struct serve_conn *c);
/* A command for asciinema's player. */
void cast_open(struct serve_conn *c, const struct api_ask *a);
/* true: that was all. */
bool cast_pump(struct serve_conn *c);
void ticket_make(struct serve_conn *c, const struct api_ask *a);
/* Is it asked with a ticket that is good for it? The ticket is used up then, and who
 * asks may view what its maker may. */
bool ticket_take(struct serve_server *s, const struct http_request *r,
	struct serve_who *who);
/* A command by Kubernetes' channels. */
void kube_open(struct serve_conn *c, const struct api_ask *a);
/* Bytes of another channel than 0. */
void kube_take(struct serve_conn *c, bool first, const char *bytes, size_t n);
void kube_say_exit(struct serve_conn *c, const struct serve_command *of);

/* The WebSocket of a terminal; and the answer to a handshake alone, with the protocol
 * that was chosen ("": none) and text messages of at most max: false, it was
 * refused. */
void socket_open(struct serve_conn *c, const struct api_ask *a);
bool socket_begin(struct serve_conn *c, const struct http_request *r,
	const char *protocol, size_t max);
void socket_read(struct serve_conn *c);
/* The peer is not read until the command has read. */
bool socket_full(struct serve_conn *c);
void socket_pump(struct serve_conn *c);
void socket_close(struct serve_conn *c, enum ws_code code, const char *why);
/* A client of MCP. */
void peer_open(struct serve_conn *c, const struct api_ask *a);
void peers_close(struct serve_server *s);
/* Connections whose key was revoked end. */
void peers_check_keys(struct serve_server *s, const struct serve_keys *keys);
void h2_check_keys(struct serve_conn *c, const struct serve_keys *keys);
/* A message of MCP's, and its answer. */
void post_open(struct serve_conn *c, const struct api_ask *a);
void post_close(struct serve_conn *c);
/* A question's page; may its form's rest come? */
void slip_request(struct serve_conn *c, const struct http_request *r,
	const char *slip, const char *body);
bool slip_admit(const struct serve_conn *c, const struct http_request *r);
/* Are Host and Origin this server's? */
bool api_is_ours(const struct serve_conn *c, const struct http_request *r);
/* codex's executor protocol on a WebSocket. */
void codex_open(struct serve_conn *c, const struct api_ask *a);
void codex_take(struct serve_conn *c, const char *text, size_t n);
void codex_send(struct serve_conn *c);
/* The client reads too little to be asked for more. */
bool codex_full(const struct serve_conn *c);
void codex_close(struct serve_conn *c);
void events_open(struct serve_conn *c, const struct api_ask *a);
void events_pump(struct serve_conn *c);

/* HTTP/2, with SERVE_GRPC alone. false: out of memory. */
bool h2_open(struct serve_conn *c);
void h2_close(struct serve_conn *c);
void h2_read(struct serve_conn *c);
void h2_pump(struct serve_conn *c);
/* The connection's timer: who is silent goes. */
void h2_due(struct serve_conn *c);

#endif
