/* serve_own.c - what an applet of this binary prints, as an answer
 * SPDX-License-Identifier: MIT
 *
 * The log and the journals are read by the applets that read them anyway, each in
 * a process of its own, so that a large log keeps nobody waiting.
 */
#include "serve/serve_server_in.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"

enum {
	OWN_MAX = 8, /* that run at a time */
	OWN_S = 60,
	PIECE_MAX = 64 << 10,
	SAID_MAX = 1024,
};

static size_t own_count(const struct serve *s)
{
	size_t n = 0;

	for (const struct serve_command *c = s->first; c; c = c->next)
		n += c->own && !c->ended;
	return n;
}

void own_open(struct serve_conn *c, const struct http_request *r,
	const char *type, struct buf *words)
{
	autofree char **argv = NULL;
	struct serve_spec spec = {.session = "page", .env = c->server->env,
		.text = "page", .own = true};
	struct serve_command *command;
	struct diag d = {0};

	spec.argv = argv = args_argv(words);
	if (!argv) {
		conn_refuse(c, r, 400, "too long");
		return;
	}
	if (own_count(c->server->engine) >= OWN_MAX ||
		serve_start(c->server->engine, &spec, &command, &d)) {
		conn_refuse(c, r, 503, d.text[0] ? d.text : "too much at once");
		return;
	}
	c->state = CONN_OWN;
	c->type = type;
	serve_attach(command, &c->reader);
	serve_timer_set(&c->server->engine->loop, &c->timer,
		OWN_S * 1000000000ULL);
}

/* It printed nothing: why it did not stands in what it said. */
static void tell_failure(struct serve_conn *c, const struct serve_command *of)
{
	const struct http_request last = {.keep = false};
	autobuf struct buf said = BUF_INIT(SAID_MAX);
	uint64_t at = 0;
	size_t n;

	serve_copy(of, SERVE_ERR, &at, SAID_MAX - 1, &said);
	n = str_line(buf_str(&said), said.len);
	said.len = n;
	/* An applet that finds nothing of what was asked for ends with 1. */
	conn_refuse(c, &last, of->report.code == 1 ? 404
			: of->report.code == 2	   ? 400
						   : 503,
		said.len ? buf_str(&said) : "it says nothing");
}

void own_pump(struct serve_conn *c)
{
	struct serve_command *of = c->reader.command;
	const char *bytes;
	size_t n = 0;

	if (!of)
		return;
	serve_took(&c->reader, SERVE_ERR,
		(size_t)(of->ring[SERVE_ERR].end - c->reader.at[SERVE_ERR]));
	while (c->out.len < CONN_OUT_ENOUGH &&
		(n = serve_peek(&c->reader, SERVE_OUT, &bytes))) {
		n = n < PIECE_MAX ? n : PIECE_MAX;
		if (!c->said)
			http_stream(&c->out, c->type);
		c->said = true;
		buf_add(&c->out, bytes, n);
		serve_took(&c->reader, SERVE_OUT, n);
	}
	if (n || !of->ended)
		return;
	if (!c->said && !of->report.code)
		http_stream(&c->out, c->type);
	else if (!c->said)
		tell_failure(c, of);
	serve_detach(&c->reader);
	serve_forget(of);
	c->state = CONN_LAST;
}
