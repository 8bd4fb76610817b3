/* serve_socket.c - a command's terminal or pipes over a WebSocket, and its output
 * as server-sent events
 * SPDX-License-Identifier: MIT
 */
#include "serve/serve_server_in.h"

#include <errno.h>
#include <string.h>

#include "base/kconfig.h"
#include "base/str.h"

enum {
	PIECE_MAX = 64 << 10,
	TEXT_MAX = 1 << 20,
};

void socket_close(struct serve_conn *c, enum ws_code code, const char *why)
{
	ws_close_add(&c->out, code, why, NULL);
	c->state = CONN_LAST;
	/* The last frame is given five seconds, because the peer may read no more. */
	serve_timer_set(&c->server->engine->loop, &c->timer, 5000000000ULL);
}

static void say_text(struct serve_conn *c, struct buf *text)
{
	ws_frame_add(&c->out, WS_TEXT, text->data, text->len, NULL);
	c->out.err |= text->err;
}

static void say_wrong(struct serve_conn *c, int code, const char *message,
	enum ws_code end)
{
	autobuf struct buf text = BUF_INIT(4096);
	struct json j = JSON_INIT(&text);

	json_putf(&j, "{ type %s code %ju message %s }", "error",
		(uintmax_t)code, message);
	say_text(c, &text);
	socket_close(c, end, message);
}

bool socket_begin(struct serve_conn *c, const struct http_request *r,
	const char *protocol, size_t max)
{
	char answer[WS_ACCEPT_SIZE];

	if (!http_lists(r->upgrade, "websocket") || !r->connection_upgrade) {
		conn_refuse(c, r, 426, "a WebSocket is spoken here");
		return false;
	}
	if (!str_eq(r->version, "13") || !ws_accept(r->key, answer) ||
		r->length) {
		conn_refuse(c, r, 400, "no WebSocket of version 13");
		return false;
	}
	buf_addf(&c->out, "HTTP/1.1 101 Switching Protocols\r\n"
		"Upgrade: websocket\r\nConnection: Upgrade\r\n"
		"Sec-WebSocket-Accept: %s\r\n", answer);
	if (*protocol)
		buf_addf(&c->out, "Sec-WebSocket-Protocol: %s\r\n", protocol);
	buf_adds(&c->out, "\r\n");
	c->state = CONN_SOCKET;
	c->pong = true;
	c->ws = (struct ws_reader){.client = true, .text = BUF_INIT(max)};
	/* Of a peer on this machine the kernel tells when it has gone, and one that is
	 * stopped is there. */
	if (c->local)
		serve_timer_stop(&c->server->engine->loop, &c->timer);
	else
		serve_timer_set(&c->server->engine->loop, &c->timer,
			CONN_PING_S * 1000000000ULL);
	return true;
}

void socket_open(struct serve_conn *c, const struct api_ask *a)
{
	bool own = http_lists(a->r->protocols, "wardbox.v1");

	(void)str_copy(c->session, sizeof c->session, a->id);
	if (a->r->protocols[0] && !own)
		kube_open(c, a);
	else
		(void)socket_begin(c, a->r, own ? "wardbox.v1" : "",
			WS_TEXT_MAX);
}

static void say_started(struct serve_conn *c, const struct serve_command *of)
{
	autobuf struct buf text = BUF_INIT(4096);
	struct json j = JSON_INIT(&text);
	const struct serve_ring *ring = &of->ring[SERVE_OUT];
	uint64_t from = c->reader.at[SERVE_OUT];

	c->rows = of->rows;
	c->cols = of->cols;
	from = from > ring->begin ? from : ring->begin;
	json_putf(&j, "{ type %s command_id %s session_id %s pty %d rows %ju"
		" cols %ju backlog %ju }", "started", of->id, of->session,
		of->pty, (uintmax_t)of->rows, (uintmax_t)of->cols,
		(uintmax_t)(ring->end - from));
	say_text(c, &text);
}

static struct serve_guest guest_of(struct serve_conn *c)
{
	return (struct serve_guest){c->server, &c->who, c->session, &c->reader,
		&c->own, &c->view};
}

static void take_text(struct serve_conn *c, const char *text, size_t n)
{
	const struct serve_guest guest = guest_of(c);
	autowire struct wire w = {.type = WIRE_START};
	bool begins = !c->reader.command;
	struct diag d = {0};
	int status;

	if (IS_ENABLED(CONFIG_SERVE_CODEX) && c->codex) {
		codex_take(c, text, n);
		return;
	}
	if (c->kube || c->cast.form) {
		socket_close(c, WS_UNSUPPORTED, "no text is spoken here");
		return;
	}
	if (wire_read(&w, text, n, WIRE_START)) {
		say_wrong(c, 400, w.said, WS_POLICY);
		return;
	}
	status = guest_do(&guest, &w, &d);
	if (status == GUEST_LEFT) {
		socket_close(c, WS_NORMAL, "detached");
	} else if (status) {
		say_wrong(c, status, d.text,
			status == 503 ? WS_INTERNAL : WS_POLICY);
	} else if (begins) {
		c->channels = w.channels;
		say_started(c, c->reader.command);
	}
}

/* Keys, or a channel's bytes. */
static void take_bytes(struct serve_conn *c, const struct ws_piece *p)
{
	const struct serve_guest guest = guest_of(c);
	const char *bytes = p->bytes;
	size_t n = p->n;
	struct diag d = {0};
	int status;

	if (c->channels && p->first) {
		c->channel = (unsigned char)*bytes++;
		n--;
	}
	if (c->kube && c->channel) {
		kube_take(c, p->first, bytes, n);
		return;
	}
	if (c->channels && c->channel) {
		say_wrong(c, 403, "no channel to write to", WS_POLICY);
		return;
	}
	status = guest_type(&guest, bytes, n, &d);
	if (status)
		say_wrong(c, status, d.text, status == 429 ? WS_BIG : WS_POLICY);
}

static void take_piece(struct serve_conn *c, struct ws_piece *p)
{
	int code;

	if (p->opcode == WS_TEXT) {
		take_text(c, p->bytes, p->n);
	} else if (p->opcode == WS_BINARY) {
		take_bytes(c, p);
	} else if (p->opcode == WS_PING) {
		ws_frame_add(&c->out, WS_PONG, p->bytes, p->n, NULL);
	} else if (p->opcode == WS_PONG) {
		c->pong = true;
	} else {
		code = ws_close_read(p->bytes, p->n);
		socket_close(c, code < 0 ? (enum ws_code)-code : WS_NORMAL, "");
	}
}

bool socket_full(struct serve_conn *c)
{
	const struct serve_guest guest = guest_of(c);

	if (IS_ENABLED(CONFIG_SERVE_CODEX) && c->state == CONN_SOCKET && c->codex)
		return codex_full(c);
	return c->state == CONN_SOCKET && guest_full(&guest);
}

void socket_read(struct serve_conn *c)
{
	size_t at = 0, used;

	while (c->state == CONN_SOCKET && !socket_full(c)) {
		struct ws_piece piece = {0};
		int got = ws_next(&c->ws, c->in.data + at, c->in.len - at, &used,
			&piece);

		if (got < 0)
			socket_close(c, (enum ws_code)-got, "");
		else if (got == 1)
			take_piece(c, &piece);
		else if (!got)
			break;
		at += used;
	}
	buf_consume(&c->in, at);
}

static void say_exit(struct serve_conn *c, const struct serve_command *of)
{
	autobuf struct buf text = BUF_INIT(TEXT_MAX);
	struct json j = JSON_INIT(&text);

	json_open(&j, '{');
	json_put_str(&j, "type", "exit");
	wire_put_outcome(&j, of);
	wire_put_facts(&j, of);
	json_put_u64(&j, "stdout_lost", c->reader.lost[SERVE_OUT]);
	json_put_u64(&j, "stderr_lost", c->reader.lost[SERVE_ERR]);
	json_close(&j);
	say_text(c, &text);
}

/* Somebody has given the terminal another size. */
static void say_size(struct serve_conn *c, const struct serve_command *of)
{
	autobuf struct buf text = BUF_INIT(256);
	struct json j = JSON_INIT(&text);

	if (of->rows == c->rows && of->cols == c->cols)
		return;
	c->rows = of->rows;
	c->cols = of->cols;
	json_putf(&j, "{ type %s rows %ju cols %ju }", "resize",
		(uintmax_t)c->rows, (uintmax_t)c->cols);
	say_text(c, &text);
}

/* One frame of what there is; false: there is nothing, or it is not taken. */
static bool pump_stream(struct serve_conn *c, enum serve_stream s)
{
	const char *bytes, channel = (char)(1 + (int)s);
	size_t n = serve_peek(&c->reader, s, &bytes);

	if (!n)
		return false;
	n = n < PIECE_MAX ? n : PIECE_MAX;
	ws_head_add(&c->out, WS_BINARY, n + c->channels);
	if (c->channels)
		buf_addc(&c->out, channel);
	buf_add(&c->out, bytes, n);
	serve_took(&c->reader, s, n);
	return true;
}

void socket_pump(struct serve_conn *c)
{
	struct serve_command *of = c->reader.command;
	bool more = of;

	if (IS_ENABLED(CONFIG_SERVE_CODEX) && c->codex)
		codex_send(c);
	if (c->cast.form) {
		if (cast_pump(c))
			socket_close(c, WS_NORMAL, "");
		return;
	}
	if (of && !c->kube)
		say_size(c, of);
	while (more && c->out.len < CONN_OUT_ENOUGH) {
		more = pump_stream(c, SERVE_OUT);
		more |= pump_stream(c, SERVE_ERR);
	}
	if (!of || more || !of->ended)
		return;
	if (c->kube)
		kube_say_exit(c, of);
	else
		say_exit(c, of);
	serve_detach(&c->reader);
	socket_close(c, WS_NORMAL, "");
}

void events_open(struct serve_conn *c, const struct api_ask *a)
{
	http_stream(&c->out, "text/event-stream");
	c->state = CONN_EVENTS;
	serve_timer_stop(&c->server->engine->loop, &c->timer);
	c->reader.looks = true;
	serve_attach(a->command, &c->reader);
}

static bool event_stream(struct serve_conn *c, enum serve_stream s)
{
	static const char *const name[] = {"stdout", "stderr"};
	struct json j = JSON_INIT(&c->out);
	const char *bytes;
	size_t n = serve_peek(&c->reader, s, &bytes);

	if (!n)
		return false;
	n = n < PIECE_MAX ? n : PIECE_MAX;
	buf_addf(&c->out, "event: %s\nid: %ju\ndata: ", name[s],
		(uintmax_t)(c->reader.at[s] + n));
	json_open(&j, '{');
	json_put_str(&j, "command_id", c->reader.command->id);
	json_put_str(&j, "stream", name[s]);
	json_strn(json_key(&j, "data"), bytes, n);
	json_close(&j);
	buf_adds(&c->out, "\n\n");
	serve_took(&c->reader, s, n);
	return true;
}

void events_pump(struct serve_conn *c)
{
	struct serve_command *of = c->reader.command;
	struct json j = JSON_INIT(&c->out);
	bool more = of;

	if (c->cast.form) {
		if (cast_pump(c))
			c->state = CONN_LAST;
		return;
	}
	while (more && c->out.len < CONN_OUT_ENOUGH) {
		more = event_stream(c, SERVE_OUT);
		more |= event_stream(c, SERVE_ERR);
	}
	if (!of || more || !of->ended)
		return;
	buf_adds(&c->out, "event: done\ndata: ");
	json_open(&j, '{');
	wire_put_outcome(&j, of);
	wire_put_facts(&j, of);
	json_put_u64(&j, "stdout_lost", c->reader.lost[SERVE_OUT]);
	json_put_u64(&j, "stderr_lost", c->reader.lost[SERVE_ERR]);
	json_close(&j);
	buf_adds(&c->out, "\n\n");
	serve_detach(&c->reader);
	c->state = CONN_LAST;
}
