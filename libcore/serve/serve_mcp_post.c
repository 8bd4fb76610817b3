/* serve_mcp_post.c - MCP over HTTP: a request each, answered as JSON or by events
 * SPDX-License-Identifier: MIT
 *
 * Nothing is remembered from one request to the next, in either era: the commands are
 * the server's. An answer that waits comes as server-sent events; whoever closes the
 * connection before it takes the request back.
 */
#include "serve/serve_server_in.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "serve/serve_mcp_in.h"

struct mcp_post {
	struct serve_grave grave;
	struct serve_conn *conn;
	struct mcp_post *next;
	struct mcp_link link;
	char session[SESSION_ID_MAX + 1];
};

static struct mcp_post *post_of(struct serve_conn *c)
{
	return CONTAINER(c->post, struct mcp_post, link);
}

static void post_free(struct mcp_post *p)
{
	struct serve_server *s = p->conn->server;

	LIST_DROP(s->posts, p);
	mcp_link_release(&p->link);
	serve_loop_bury(&s->engine->loop, &p->grave);
}

void post_close(struct serve_conn *c)
{
	struct mcp_post *p = post_of(c);

	c->post = NULL;
	while (p->link.first)
		mcp_cancel(&p->link, &p->link.first->id);
	post_free(p);
}

/* Each line is an event; the last one is the answer. */
static void post_said(struct mcp_link *l)
{
	struct serve_conn *c = CONTAINER(l, struct mcp_post, link)->conn;
	size_t at = 0;

	while (at < l->answers.len) {
		size_t n = str_line(l->answers.data + at, l->answers.len - at);

		buf_adds(&c->out, "data: ");
		buf_add(&c->out, l->answers.data + at, n);
		buf_adds(&c->out, "\n\n");
		at += n + 1;
	}
	buf_consume(&l->answers, at);
	if (!l->calls) {
		c->state = CONN_LAST;
		c->post = NULL;
		post_free(CONTAINER(l, struct mcp_post, link));
	}
	conn_flush(c);
}

/* What the head says of the message is to be so. */
static bool head_agrees(
	const struct http_request *r, const struct mcp_message *m)
{
	uint32_t params = json_find(&m->doc, 0, "params");
	char method[64], name[64];

	if (!m->modern)
		return true;
	(void)rpc_string(&m->doc, json_find(&m->doc, 0, "method"), method,
		sizeof method);
	(void)rpc_string(&m->doc, rpc_member(&m->doc, params, "name"), name,
		sizeof name);
	return str_eq(r->mcp_version, m->version) &&
		str_eq(r->mcp_method, method) &&
		(m->method != MCP_CALL || str_eq(r->mcp_name, name));
}

/* The status for a message that is read with that result, and answered at once. */
static int status_of(const struct mcp_message *m, int err)
{
	if (!m->id.len && !err)
		return 202;
	if (err == RPC_METHOD && m->modern)
		return 404;
	return err == RPC_PARSE || err == RPC_REQUEST || err == RPC_VERSION
		? 400
		: 200;
}

static void answer_at_once(struct serve_conn *c, const struct http_request *r,
	int status, const struct buf *answer)
{
	http_answer(&c->out, status,
		status == 202 ? NULL : "application/json", "", answer->data,
		answer->len, r->keep);
	if (!r->keep)
		c->state = CONN_LAST;
}

/* A client of the former era says by another request that one is taken back. */
static void post_cancel(struct serve_conn *c, const struct rpc_token *id)
{
	for (struct mcp_post *p = c->server->posts; p; p = p->next)
		if (!memcmp(p->conn->who.digest, c->who.digest,
			    sizeof c->who.digest) &&
			p->link.first && p->link.first->id.len == id->len &&
			!memcmp(p->link.first->id.text, id->text, id->len)) {
			mcp_cancel(&p->link, id);
			post_said(&p->link);
			return;
		}
}

static struct mcp_post *post_new(struct serve_conn *c, const char *session)
{
	struct mcp_post *p = calloc(1, sizeof *p);

	if (!p)
		return NULL;
	p->conn = c;
	(void)str_copy(p->session, sizeof p->session, session);
	p->link = (struct mcp_link){
		.engine = c->server->engine,
		.session = p->session,
		.env = c->server->env,
		.version = c->server->version,
		.approver_ns = c->server->approver_ns,
		.pages = c->server,
		.said = post_said,
		.initialized = true,
	};
	mcp_link_init(&p->link);
	p->next = c->server->posts;
	c->server->posts = p;
	return p;
}

void post_open(struct serve_conn *c, const struct api_ask *a)
{
	const struct http_request *r = a->r;
	automcp struct mcp_message m = {.method = MCP_OTHER};
	const size_t n = (size_t)r->length;
	int err = mcp_read(&m, a->body, n, true);
	autobuf struct buf wrong = BUF_INIT(4096);
	struct mcp_post *p;

	if (!err && !head_agrees(r, &m)) {
		mcp_error(&wrong, &m.id, RPC_HEAD,
			"the head says another version, method or name");
		answer_at_once(c, r, 400, &wrong);
		return;
	}
	if (!err && m.method == MCP_CANCELLED) {
		post_cancel(c, &m.cancelled);
		answer_at_once(c, r, 202, &wrong);
		return;
	}
	p = post_new(c, a->id);
	if (!p) {
		conn_refuse(c, r, 503, "no room for a request");
		return;
	}
	mcp_link_line(&p->link, a->body, n);
	if (!p->link.calls) {
		answer_at_once(c, r, status_of(&m, err), &p->link.answers);
		post_free(p);
		return;
	}
	http_stream(&c->out, "text/event-stream");
	c->state = CONN_EVENTS;
	c->out.max = MCP_OUT_MAX;
	serve_timer_stop(&c->server->engine->loop, &c->timer);
	c->post = &p->link;
}
