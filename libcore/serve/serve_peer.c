/* serve_peer.c - a client of MCP at the server
 * SPDX-License-Identifier: MIT
 *
 * A connection that is upgraded to "mcp" speaks MCP's lines from then on. Its
 * commands are the server's: others list, follow and type to them.
 */
#include "serve/serve_server_in.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/str.h"
#include "serve/serve_mcp_in.h"

struct serve_peer {
	struct serve_grave grave;
	struct serve_server *server;
	struct serve_peer *next;
	struct mcp_stdio mcp;
	char session[SESSION_ID_MAX + 1];
	struct serve_who who;
};

static void peer_free(struct serve_peer *p)
{
	struct serve_server *s = p->server;

	LIST_DROP(s->peers, p);
	mcp_stdio_close(&p->mcp);
	close(p->mcp.lines.in);
	close(p->mcp.lines.out);
	serve_loop_bury(&s->engine->loop, &p->grave);
}

static void peer_over(struct serve_lines *l)
{
	peer_free(CONTAINER(l, struct serve_peer, mcp.lines));
}

void peers_close(struct serve_server *s)
{
	while (s->peers)
		peer_free(s->peers);
}

void peers_check_keys(struct serve_server *s, const struct serve_keys *keys)
{
	for (struct serve_peer *p = s->peers, *next; p; p = next) {
		next = p->next;
		if (server_knows(s, keys, &p->who))
			continue;
		while (p->mcp.link.first)
			mcp_cancel(&p->mcp.link, &p->mcp.link.first->id);
		peer_free(p);
	}
}

/* Reading and writing have a copy of the descriptor each: the connection closes its
 * own, and the loop waits for a descriptor once. */
static struct serve_peer *peer_new(struct serve_conn *c, const char *session)
{
	struct serve_peer *p = calloc(1, sizeof *p);

	if (!p)
		return NULL;
	p->server = c->server;
	p->who = c->who;
	(void)str_copy(p->session, sizeof p->session, session);
	p->mcp.link = (struct mcp_link){
		.engine = c->server->engine,
		.session = p->session,
		.env = c->server->env,
		.version = c->server->version,
		.approver_ns = c->server->approver_ns,
		.pages = c->server,
	};
	p->mcp.lines = (struct serve_lines){
		.in = fcntl(c->watch.fd, F_DUPFD_CLOEXEC, 3),
		.out = fcntl(c->watch.fd, F_DUPFD_CLOEXEC, 3),
		.over = peer_over,
	};
	p->next = c->server->peers;
	c->server->peers = p;
	return p;
}

void peer_open(struct serve_conn *c, const struct api_ask *a)
{
	const struct http_request *r = a->r;
	static const char answer[] = "HTTP/1.1 101 Switching Protocols\r\n"
		"Upgrade: mcp\r\nConnection: Upgrade\r\n\r\n";
	struct serve_peer *p;

	if (!http_lists(r->upgrade, "mcp") || !r->connection_upgrade) {
		/* What clients over HTTP take for: no events but a request's. */
		conn_refuse(c, r, 405, "a message is posted, or the connection"
			" upgraded to mcp");
		return;
	}
	if (c->sealed) {
		conn_refuse(c, r, 501, "MCP is spoken on the socket and a plain port");
		return;
	}
	if (c->out.len || r->length) {
		conn_refuse(c, r, 400, "the upgrade stands alone");
		return;
	}
	p = peer_new(c, a->id);
	if (!p || mcp_stdio_open(&p->mcp) || p->mcp.lines.out < 0 ||
		send(c->watch.fd, answer, sizeof answer - 1,
			MSG_NOSIGNAL | MSG_DONTWAIT) != sizeof answer - 1) {
		if (p)
			peer_free(p);
		conn_refuse(c, r, 503, "no room for a client");
		return;
	}
	conn_close(c);
}
