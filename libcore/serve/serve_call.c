/* serve_call.c - calls of gRPC: who may, what is asked, and what is told
 * SPDX-License-Identifier: MIT
 */
#include "base/kconfig.h"
#if IS_ENABLED(CONFIG_SERVE_GRPC)
#include "serve/serve_h2_in.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

enum { IN_MAX = GRPC_HEAD + GRPC_MESSAGE_MAX + CALL_WINDOW };

static const char way_names[] = "/wardbox.v1.Terminal/Run\0"
			   "/grpc.health.v1.Health/Check\0"
			   "/grpc.health.v1.Health/Watch\0";

static void call_due(struct serve_timer *t);
static void call_changed(struct serve_reader *r);

static struct serve_guest guest_of(struct call *c)
{
	return (struct serve_guest){c->h2->conn->server, &c->who, c->session,
		&c->reader, &c->own, &c->view};
}

static struct serve_loop *loop_of(const struct call *c)
{
	return &c->h2->conn->server->engine->loop;
}

struct call *call_new(struct h2 *h, int32_t stream)
{
	struct call *c = calloc(1, sizeof *c);

	if (!c)
		return NULL;
	c->head = calloc(1, sizeof *c->head);
	if (!c->head) {
		free(c);
		return NULL;
	}
	c->h2 = h;
	c->stream = stream;
	c->in = BUF_INIT(IN_MAX);
	c->out = BUF_INIT(CALL_PIECE + 8192);
	c->timer.due = call_due;
	c->reader.changed = call_changed;
	c->next = h->first;
	h->first = c;
	return c;
}

/* The call waits no more to be told that its key is none. */
static void settle_late(struct call *c)
{
	c->h2->conn->server->refused -= c->late;
	c->late = false;
	serve_timer_stop(loop_of(c), &c->timer);
}

void call_free(struct call *c)
{
	const struct serve_guest guest = guest_of(c);

	LIST_DROP(c->h2->first, c);
	settle_late(c);
	guest_leave(&guest);
	nghttp2_session_set_stream_user_data(c->h2->session, c->stream, NULL);
	free(c->head);
	buf_release(&c->in);
	buf_release(&c->out);
	serve_loop_bury(loop_of(c), &c->grave);
}

/* Ends the call: what its client says from now on does not count. */
static void call_end(struct call *c, enum grpc_code code, const char *why)
{
	const struct serve_guest guest = guest_of(c);

	if (c->over)
		return;
	c->over = true;
	c->code = code;
	(void)BUF_PRINT(c->why, "%s", why);
	settle_late(c);
	guest_leave(&guest);
	buf_clear(&c->in);
	if (c->answered)
		h2_resume(c);
	else
		h2_answer(c, true);
}

void call_field(struct call *c, const char *name, size_t len,
	const char *value, size_t n)
{
	static const char grpc[] = "application/grpc";
	char text[32] = "";
	int status = 0;

	if (c->code)
		return;
	if (c->head_bytes > CALL_HEAD_MAX || c->fields++ == CALL_FIELDS_MAX)
		status = 431;
	else if (len == 12 && !memcmp(name, "content-type", len))
		c->typed = n >= sizeof grpc - 1 &&
			!memcmp(value, grpc, sizeof grpc - 1) &&
			(n == sizeof grpc - 1 || strchr("+;", value[16]));
	else if (len == 12 && !memcmp(name, "grpc-timeout", len)) {
		memcpy(text, value, n < sizeof text ? n : 0);
		if (grpc_timeout(text, &c->deadline_ns))
			status = 400;
	} else {
		status = http_field(c->head, name, len, value, n);
	}
	if (!status)
		return;
	c->code = grpc_code_of(status);
	(void)BUF_PRINT(c->why, "%.*s: %s", len < 40 ? (int)len : 40, name,
		http_reason(status));
}

/* Finds out who calls: 0, or a status that was told or will be. */
static int admit_caller(struct call *c)
{
	struct serve_conn *conn = c->h2->conn;
	int status = api_judge(conn, c->head, &c->who);

	if (!status) {
		conn->who.roles |= c->who.roles;
		return 0;
	}
	/* A check of health is anybody's, as it is by HTTP/1. */
	if (status != 403 && c->way == CALL_CHECK)
		return 0;
	if (status == 401) {
		c->late = true;
		conn->server->refused++;
		serve_timer_set(loop_of(c), &c->timer, API_REFUSED_NS);
	} else {
		call_end(c, grpc_code_of(status), api_judged(status));
	}
	return status;
}

void call_begin(struct call *c)
{
	autofree struct http_request *head = c->head;
	int way = str_index(way_names, head->path);

	c->way = way < 0 ? CALL_NONE : (enum call_way)way;
	if (c->code) {
		enum grpc_code code = c->code;
		char why[sizeof c->why];

		memcpy(why, c->why, sizeof why);
		call_end(c, code, why);
	} else if (!str_eq(head->method, "POST")) {
		h2_refuse(c, 405);
	} else if (!c->typed) {
		h2_refuse(c, 415);
	} else if (!admit_caller(c)) {
		if (c->deadline_ns)
			serve_timer_set(loop_of(c), &c->timer, c->deadline_ns);
		if (way < 0)
			call_end(c, GRPC_UNIMPLEMENTED,
				"there is no method of that name");
	}
	c->head = NULL;
}

/* A message for Health. */
static void do_health(struct call *c, const char *message, size_t n)
{
	const char *name = grpc_read_health(message, &n);
	static const char ours[] = "wardbox.v1.Terminal";
	bool known = !n || (n == sizeof ours - 1 && !memcmp(name, ours, n));

	if (!name) {
		call_end(c, GRPC_INVALID_ARGUMENT, "no HealthCheckRequest");
	} else if (!known) {
		call_end(c, GRPC_NOT_FOUND, "there is no such service");
	} else {
		grpc_put_health(&c->out);
		h2_answer(c, false);
		if (c->way == CALL_CHECK)
			call_end(c, GRPC_OK, "");
		h2_resume(c);
	}
}

static void do_run(struct call *c, const char *message, size_t n)
{
	const struct serve_guest guest = guest_of(c);
	struct grpc_input in = {0};
	bool begins = !c->reader.command;
	struct diag d = {0};
	int status;

	if (grpc_read(&in, message, n)) {
		call_end(c, GRPC_INVALID_ARGUMENT, in.wire.said);
		wire_release(&in.wire);
		return;
	}
	if (begins && !in.typed)
		memcpy(c->session, in.session, sizeof c->session);
	if (in.typed)
		status = guest_type(&guest, in.bytes, in.n, &d);
	else if (begins && in.wire.type <= WIRE_ATTACH &&
		!session_id_valid(in.session)) {
		status = 404;
		diag_fail(&d, -ENOENT, "there is no such session");
	} else {
		status = guest_do(&guest, &in.wire, &d);
	}
	wire_release(&in.wire);
	if (status == GUEST_LEFT) {
		call_end(c, GRPC_OK, "");
	} else if (status) {
		call_end(c, grpc_code_of(status), d.text);
	} else if (begins) {
		grpc_put_started(&c->out, c->reader.command);
		h2_answer(c, false);
	}
}

/* Messages that are whole, as far as the command reads. */
static void take_messages(struct call *c)
{
	const struct serve_guest guest = guest_of(c);
	size_t at = 0, n;
	int got = 1;

	while (!c->over && !guest_full(&guest)) {
		got = grpc_head(c->in.data + at, c->in.len - at, &n);
		if (got <= 0 || c->in.len - at - GRPC_HEAD < n)
			break;
		at += GRPC_HEAD;
		if (c->way == CALL_RUN)
			do_run(c, c->in.data + at, n);
		else
			do_health(c, c->in.data + at, n);
		at += n;
	}
	if (c->over) {
		buf_clear(&c->in);
		return;
	}
	buf_consume(&c->in, at);
	if (got < 0)
		call_end(c, (enum grpc_code)-got,
			got == -GRPC_UNIMPLEMENTED
				? "no compressed messages"
				: "a message is larger than 512 KiB");
	else if (c->in.err)
		call_end(c, GRPC_RESOURCE_EXHAUSTED, "too much at once");
	/* The window opens as far as the bytes went on. */
	if (!guest_full(&guest)) {
		h2_consume(c, c->owed);
		c->owed = 0;
	}
}

/* The client's end is the end of what the command reads. */
static void pass_end(struct call *c)
{
	const struct serve_guest guest = guest_of(c);

	if (!c->ended || c->over || c->late || c->shut || guest_full(&guest))
		return;
	c->shut = true;
	if (c->in.len) {
		call_end(c, GRPC_INVALID_ARGUMENT, "a message is cut off");
		return;
	}
	if (c->way == CALL_WATCH && c->answered)
		return;
	if (!c->reader.command)
		call_end(c, GRPC_INVALID_ARGUMENT, "no message came");
	else if (!c->view)
		(void)serve_shut(c->reader.command);
}

void call_bytes(struct call *c, const void *bytes, size_t n)
{
	c->owed += n;
	/* A call without a key, or one that has ended, is not read. */
	if (c->over || c->late)
		return;
	buf_add(&c->in, bytes, n);
	take_messages(c);
}

void call_ended(struct call *c)
{
	c->ended = true;
	pass_end(c);
}

/* One message of a stream; false: there is none. */
static bool put_stream(struct call *c, enum serve_stream s)
{
	const char *bytes;
	size_t n = serve_peek(&c->reader, s, &bytes);

	if (!n)
		return false;
	n = n < CALL_PIECE ? n : CALL_PIECE;
	grpc_put_output(&c->out, s, bytes, n);
	serve_took(&c->reader, s, n);
	return true;
}

/* More of its answer, where all that was there has been taken. */
static void refill_out(struct call *c)
{
	const struct serve_command *of = c->reader.command;

	if (c->over || !of || put_stream(c, SERVE_OUT) || put_stream(c, SERVE_ERR))
		return;
	if (!of->ended)
		return;
	grpc_put_exit(&c->out, of, c->reader.lost);
	serve_detach(&c->reader);
	call_end(c, GRPC_OK, "");
}

ssize_t call_read(struct call *c, void *to, size_t n, bool *last)
{
	if (!c->out.len)
		refill_out(c);
	n = c->out.len < n ? c->out.len : n;
	if (n) {
		memcpy(to, c->out.data, n);
		buf_consume(&c->out, n);
	}
	*last = c->over && !c->out.len;
	return n || *last ? (ssize_t)n : -1;
}

static void call_changed(struct serve_reader *r)
{
	struct call *c = CONTAINER(r, struct call, reader);
	struct serve_conn *conn = c->h2->conn;

	/* A reader that was told before may have ended this call. */
	if (!r->command)
		return;
	take_messages(c);
	pass_end(c);
	h2_resume(c);
	if (conn->out.len < CONN_OUT_ENOUGH)
		conn_flush(conn);
}

static void call_due(struct serve_timer *t)
{
	struct call *c = CONTAINER(t, struct call, timer);
	struct serve_conn *conn = c->h2->conn;

	if (c->late)
		call_end(c, GRPC_UNAUTHENTICATED, api_judged(401));
	else
		call_end(c, GRPC_DEADLINE_EXCEEDED, "the deadline has come");
	conn_flush(conn);
}

void call_check_key(struct call *c, const struct serve_keys *keys)
{
	if (!c->over && !c->late && c->who.roles &&
		!server_knows(c->h2->conn->server, keys, &c->who))
		call_end(c, GRPC_UNAUTHENTICATED, "the key was revoked");
}
#endif
