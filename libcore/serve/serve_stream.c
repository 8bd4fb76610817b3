/* serve_stream.c - a running command for asciinema's player, and tickets for it
 * SPDX-License-Identifier: MIT
 *
 * A player sets no field of its request, and a key is not to stand in an address
 * that is logged. A ticket may: it is good for one command's output, once, and for
 * a minute.
 */
#include "serve/serve_server_in.h"

#include <string.h>

#include "base/clock.h"
#include "base/str.h"

enum {
	PIECE_MAX = 64 << 10,
	MESSAGE_MAX = 1 << 20,
	TICKET_S = 60,
	NS = 1000000000,
};

void ticket_make(struct serve_conn *c, const struct api_ask *a)
{
	const struct http_request *r = a->r;
	const struct serve_command *of = a->command;
	struct serve_server *s = c->server;
	struct serve_ticket *oldest = &s->tickets[0];
	autobuf struct buf body = BUF_INIT(1024);
	struct json j = JSON_INIT(&body);
	char text[SERVE_KEY_SIZE], path[128];

	for (size_t i = 1; i < SERVE_TICKETS_MAX; i++)
		if (s->tickets[i].until_ns < oldest->until_ns)
			oldest = &s->tickets[i];
	if (serve_key_make(text, oldest->digest)) {
		conn_refuse(c, r, 503, "the kernel gives no randomness");
		return;
	}
	oldest->who = c->who;
	oldest->until_ns = clock_ns(CLOCK_MONOTONIC) + (uint64_t)TICKET_S * NS;
	(void)str_copy(oldest->id, sizeof oldest->id, of->id);
	BUF_PRINT(path, "/api/v1/commands/%s/stream?ticket=%s", of->id, text);
	json_putf(&j, "{ path %s seconds %ju }", path, (uintmax_t)TICKET_S);
	conn_answer(c, r, 201, &j);
}

bool ticket_take(struct serve_server *s, const struct http_request *r,
	struct serve_who *who)
{
	unsigned char digest[SERVE_DIGEST];
	char text[SERVE_KEY_SIZE], path[64];
	struct buf b = BUF_FIXED(text);
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	bool good = false;

	if (http_query_text(r, "ticket", 0, &b) <= 0)
		return false;
	serve_key_digest(buf_str(&b), digest);
	for (size_t i = 0; i < SERVE_TICKETS_MAX; i++) {
		struct serve_ticket *t = &s->tickets[i];

		if (!serve_digest_eq(t->digest, digest) || t->until_ns < now)
			continue;
		BUF_PRINT(path, "/api/v1/commands/%s/stream", t->id);
		good = str_eq(path, r->path) && server_roles(s, &t->who);
		if (good)
			*who = t->who;
		*t = (struct serve_ticket){.until_ns = 0};
	}
	if (good)
		who->roles = SERVE_VIEW;
	return good;
}

static uint64_t since_start(const struct serve_command *of)
{
	uint64_t now = clock_ns(CLOCK_REALTIME);

	return now > of->started_ns ? (now - of->started_ns) / 1000 : 0;
}

/* One message, as the connection has it. */
static void cast_say(struct serve_conn *c, const struct buf *message)
{
	if (c->state != CONN_SOCKET)
		buf_add(&c->out, message->data, message->len);
	else
		ws_frame_add(&c->out,
			c->cast.form == CAST_ALIS ? WS_BINARY : WS_TEXT,
			message->data, message->len, NULL);
	c->out.err |= message->err;
}

static void say_begin(struct serve_conn *c, const struct serve_command *of)
{
	autobuf struct buf message = BUF_INIT(MESSAGE_MAX);

	if (c->cast.form == CAST_ALIS)
		ws_frame_add(&c->out, WS_BINARY, "ALiS\1", 5, NULL);
	cast_begin(&c->cast, &message, since_start(of), of->rows, of->cols,
		of->text, of->started_ns / NS);
	cast_say(c, &message);
}

/* The form that the player prefers of those that are known here. */
static enum cast_form form_of(const struct http_request *r, const char **name)
{
	static const char *const names[] = {[CAST_V2] = "v2.asciicast",
		[CAST_V3] = "v3.asciicast", [CAST_ALIS] = "v1.alis"};

	for (enum cast_form f = CAST_ALIS; f > CAST_NONE; f--)
		if (http_lists(r->protocols, names[f])) {
			*name = names[f];
			return f;
		}
	return CAST_NONE;
}

void cast_open(struct serve_conn *c, const struct api_ask *a)
{
	const struct http_request *r = a->r;
	struct serve_command *of = a->command;
	uint64_t version = 3;
	const char *name = "";

	c->cast = (struct cast){.pipes = !of->pty};
	if (r->upgrade[0]) {
		c->cast.form = form_of(r, &name);
		if (!c->cast.form) {
			conn_refuse(c, r, 400, "protocols: v1.alis, v3.asciicast"
				" or v2.asciicast");
			return;
		}
		if (!socket_begin(c, r, name, WS_TEXT_MAX))
			return;
	} else if (http_query(r, "version", 3, &version) || version < 2) {
		conn_refuse(c, r, 400, "version: 2 or 3");
		return;
	} else {
		c->cast.form = version == 2 ? CAST_V2 : CAST_V3;
		http_stream(&c->out, "application/x-asciicast");
		c->state = CONN_EVENTS;
		serve_timer_stop(&c->server->engine->loop, &c->timer);
	}
	c->view = c->reader.looks = true;
	c->rows = of->rows;
	c->cols = of->cols;
	serve_attach(of, &c->reader);
	say_begin(c, of);
}

/* What has come of one stream, in whole characters; false: nothing. */
static bool pump_cast(struct serve_conn *c, enum serve_stream s)
{
	struct serve_command *of = c->reader.command;
	autobuf struct buf some = BUF_INIT(PIECE_MAX + 1);
	autobuf struct buf message = BUF_INIT(MESSAGE_MAX);
	uint64_t from = c->reader.at[s], at = from;
	uint64_t lost = serve_copy(of, s, &at, PIECE_MAX, &some);
	size_t n = cast_whole(some.data, some.len);

	/* What never becomes whole is no character. */
	if (of->ended && at == of->ring[s].end)
		n = some.len;
	if (!n)
		return false;
	c->reader.lost[s] += lost;
	cast_output(&c->cast, &message, since_start(of), some.data, n);
	cast_say(c, &message);
	serve_took(&c->reader, s, (size_t)(lost + n));
	return true;
}

bool cast_pump(struct serve_conn *c)
{
	struct serve_command *of = c->reader.command;
	autobuf struct buf message = BUF_INIT(MESSAGE_MAX);
	bool more = of;

	if (of && (of->rows != c->rows || of->cols != c->cols)) {
		c->rows = of->rows;
		c->cols = of->cols;
		cast_resize(&c->cast, &message, since_start(of), c->rows, c->cols);
		cast_say(c, &message);
		buf_clear(&message);
	}
	while (more && c->out.len < CONN_OUT_ENOUGH) {
		more = pump_cast(c, SERVE_OUT);
		more |= pump_cast(c, SERVE_ERR);
	}
	if (!of || more || !of->ended)
		return false;
	cast_exit(&c->cast, &message, (of->ended_ns - of->started_ns) / 1000,
		(unsigned)of->report.code);
	cast_say(c, &message);
	serve_detach(&c->reader);
	return true;
}
