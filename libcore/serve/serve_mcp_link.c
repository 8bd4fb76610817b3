/* serve_mcp_link.c - what an MCP client asks for
 * SPDX-License-Identifier: MIT
 */
#include "serve/serve_mcp_in.h"

enum { LAST_NS = 1000000000 }; /* for what is asked when the client goes */

void mcp_link_line(struct mcp_link *l, const char *line, size_t n)
{
	automcp struct mcp_message m = {.method = MCP_OTHER};
	int err = mcp_read(&m, line, n, l->initialized);

	if (err == RPC_VERSION) {
		mcp_error_version(&l->answers, &m.id, m.version);
	} else if (err) {
		/* What has no id is no question, unless it is no message. */
		if (m.id.len || err == RPC_PARSE || err == RPC_REQUEST)
			mcp_error(&l->answers, &m.id, err, m.said);
	} else if (m.method == MCP_INITIALIZE) {
		l->initialized = true;
		mcp_initialize(&l->answers, &m, l->version);
	} else if (m.method == MCP_DISCOVER) {
		mcp_discover(&l->answers, &m, l->version);
	} else if (m.method == MCP_LIST) {
		mcp_list(&l->answers, &m, l->version);
	} else if (m.method == MCP_CALL) {
		mcp_do(l, &m);
	} else if (m.method == MCP_CANCELLED) {
		mcp_cancel(l, &m.cancelled);
	} else if (m.method == MCP_PING) {
		struct json j = JSON_INIT(&l->answers);

		mcp_begin(&j, &m.id, m.modern, l->version);
		rpc_end(&j);
	}
}

void mcp_link_init(struct mcp_link *l)
{
	l->answers = BUF_INIT(MCP_OUT_MAX);
}

void mcp_link_gone(struct mcp_link *l)
{
	l->gone = true;
	for (struct mcp_call *c = l->first; c; c = c->next)
		serve_timer_set(&l->engine->loop, &c->tick, LAST_NS);
}

void mcp_link_release(struct mcp_link *l)
{
	while (l->first)
		mcp_call_drop(l->first);
	buf_release(&l->answers);
}

static void stdio_take(struct serve_lines *lines, const char *line, size_t n)
{
	static const struct rpc_token none;
	struct mcp_link *l = &CONTAINER(lines, struct mcp_stdio, lines)->link;

	if (line)
		mcp_link_line(l, line, n);
	else
		mcp_error(&l->answers, &none, RPC_REQUEST,
			"the line is longer than 4 MiB");
}

static void stdio_gone(struct serve_lines *lines)
{
	mcp_link_gone(&CONTAINER(lines, struct mcp_stdio, lines)->link);
}

static void stdio_said(struct mcp_link *l)
{
	serve_lines_flush(&CONTAINER(l, struct mcp_stdio, link)->lines);
}

int mcp_stdio_open(struct mcp_stdio *s)
{
	mcp_link_init(&s->link);
	s->link.said = stdio_said;
	s->lines.loop = &s->link.engine->loop;
	s->lines.max = MCP_LINE_MAX;
	s->lines.answers = &s->link.answers;
	s->lines.waiting = &s->link.calls;
	s->lines.take = stdio_take;
	s->lines.gone = stdio_gone;
	return serve_lines_open(&s->lines);
}

void mcp_stdio_close(struct mcp_stdio *s)
{
	serve_lines_close(&s->lines);
	mcp_link_release(&s->link);
}
