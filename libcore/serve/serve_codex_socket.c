/* serve_codex_socket.c - codex's executor protocol on a WebSocket of the server
 * SPDX-License-Identifier: MIT
 */
#include "serve/serve_server_in.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "serve/serve_codex_link.h"

static const char line_end = '\n';

/* Lives as long as its connection. */
struct codex_peer {
	struct serve_grave grave;
	struct codex_link link;
	struct serve_conn *conn;
	bool sending; /* what is said meanwhile is sent, too */
	char session[SESSION_ID_MAX + 1];
};

static struct codex_peer *peer_of(struct serve_conn *c)
{
	return CONTAINER(c->codex, struct codex_peer, link);
}

static void peer_said(struct codex_link *l)
{
	struct codex_peer *p = CONTAINER(l, struct codex_peer, link);

	if (!p->sending)
		conn_flush(p->conn);
}

void codex_open(struct serve_conn *c, const struct api_ask *a)
{
	struct codex_peer *p = calloc(1, sizeof *p);

	if (!p || !socket_begin(c, a->r, "", CODEX_LINE_MAX)) {
		free(p);
		return;
	}
	p->conn = c;
	(void)str_copy(p->session, sizeof p->session, a->id);
	p->link = (struct codex_link){
		.engine = c->server->engine,
		.session = p->session,
		.env = c->server->env,
		.version = c->server->version,
		.home = c->server->home,
		.shell = c->server->shell,
		.approver_ns = c->server->approver_ns,
		.said = peer_said,
	};
	codex_link_init(&p->link);
	c->codex = &p->link;
	c->out.max = CODEX_OUT_MAX;
}

void codex_take(struct serve_conn *c, const char *text, size_t n)
{
	codex_link_line(c->codex, text, n);
}

/* Each line is a message. */
void codex_send(struct serve_conn *c)
{
	struct codex_peer *p = peer_of(c);
	struct codex_link *l = &p->link;
	size_t at = 0;

	p->sending = true;
	codex_link_room(l);
	p->sending = false;
	c->out.err |= l->answers.err;
	if (c->out.err)
		return;
	while (at < l->answers.len && c->out.len < CONN_OUT_ENOUGH) {
		const char *line = l->answers.data + at;
		size_t n = (size_t)((const char *)memchr(line, line_end,
					    l->answers.len - at) - line);

		ws_frame_add(&c->out, WS_TEXT, line, n, NULL);
		at += n + 1;
	}
	buf_consume(&l->answers, at);
}

bool codex_full(const struct serve_conn *c)
{
	return c->codex->answers.len > CODEX_OUT_ENOUGH;
}

void codex_close(struct serve_conn *c)
{
	struct codex_peer *p = peer_of(c);

	c->codex = NULL;
	codex_link_release(&p->link);
	serve_loop_bury(&c->server->engine->loop, &p->grave);
}
