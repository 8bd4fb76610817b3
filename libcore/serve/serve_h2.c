/* serve_h2.c - HTTP/2 for gRPC: nghttp2 between a connection and its calls
 * SPDX-License-Identifier: MIT
 *
 * nghttp2 reads c->in and writes c->out, and calls back. It holds windows, frames
 * and compressed fields to the protocol; how much of all that is too much is said
 * here.
 */
#include "base/kconfig.h"
#if IS_ENABLED(CONFIG_SERVE_GRPC)
#include "serve/serve_h2_in.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"

enum {
	H2_WINDOW = 1 << 20, /* of the connection */
	H2_RESETS = 200,     /* that a client may do at once, */
	H2_RESETS_S = 20,    /* and then a second */
	H2_ACKS_MAX = 100,   /* of SETTINGS and PING that wait to be sent */
};

static struct call *call_of(nghttp2_session *s, int32_t stream)
{
	return nghttp2_session_get_stream_user_data(s, stream);
}

static int on_begin(nghttp2_session *s, const nghttp2_frame *f, void *arg)
{
	struct h2 *h = arg;
	struct call *c;

	if (f->hd.type != NGHTTP2_HEADERS ||
		f->headers.cat != NGHTTP2_HCAT_REQUEST)
		return 0;
	c = call_new(h, f->hd.stream_id);
	if (c)
		nghttp2_session_set_stream_user_data(s, f->hd.stream_id, c);
	return c ? 0 : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
}

static int on_field(nghttp2_session *s, const nghttp2_frame *f,
	const uint8_t *name, size_t len, const uint8_t *value, size_t n,
	uint8_t flags, void *arg)
{
	struct call *c = call_of(s, f->hd.stream_id);

	(void)flags;
	(void)arg;
	/* A trailer says nothing that counts. */
	if (!c || !c->head)
		return 0;
	c->head_bytes += len + n + 32;
	if (c->head_bytes > CALL_HEAD_WORST)
		nghttp2_session_terminate_session(s, NGHTTP2_ENHANCE_YOUR_CALM);
	call_field(c, (const char *)name, len, (const char *)value, n);
	return 0;
}

static int on_frame(nghttp2_session *s, const nghttp2_frame *f, void *arg)
{
	struct h2 *h = arg;
	struct call *c = f->hd.stream_id ? call_of(s, f->hd.stream_id) : NULL;

	if (f->hd.type == NGHTTP2_PING && f->hd.flags & NGHTTP2_FLAG_ACK)
		h->conn->pong = true;
	if (!c || (f->hd.type != NGHTTP2_HEADERS && f->hd.type != NGHTTP2_DATA))
		return 0;
	if (c->head)
		call_begin(c);
	if (f->hd.flags & NGHTTP2_FLAG_END_STREAM)
		call_ended(c);
	return 0;
}

static int on_data(nghttp2_session *s, uint8_t flags, int32_t stream,
	const uint8_t *bytes, size_t n, void *arg)
{
	struct call *c = call_of(s, stream);

	(void)flags;
	(void)arg;
	/* The connection's window opens at once, so that a call that does not read stops
	 * no other one. */
	nghttp2_session_consume_connection(s, n);
	if (c)
		call_bytes(c, bytes, n);
	return 0;
}

/* Once an answer has ended, the client is told to send no more; not before, because
 * that would be the end of what still waits. */
static int on_sent(nghttp2_session *s, const nghttp2_frame *f, void *arg)
{
	struct call *c = f->hd.type == NGHTTP2_HEADERS &&
			f->hd.flags & NGHTTP2_FLAG_END_STREAM
		? call_of(s, f->hd.stream_id)
		: NULL;

	(void)arg;
	return c && !c->ended &&
			nghttp2_submit_rst_stream(s, NGHTTP2_FLAG_NONE,
				c->stream, NGHTTP2_NO_ERROR)
		? NGHTTP2_ERR_CALLBACK_FAILURE
		: 0;
}

static int on_close(nghttp2_session *s, int32_t stream, uint32_t code, void *arg)
{
	struct call *c = call_of(s, stream);

	(void)code;
	(void)arg;
	if (c)
		call_free(c);
	return 0;
}

static nghttp2_ssize on_read(nghttp2_session *s, int32_t stream, uint8_t *to,
	size_t n, uint32_t *flags, nghttp2_data_source *source, void *arg)
{
	struct call *c = source->ptr;
	bool last = false;
	ssize_t got = call_read(c, to, n, &last);

	(void)s;
	(void)stream;
	(void)arg;
	if (last) {
		*flags |= NGHTTP2_DATA_FLAG_EOF |
			NGHTTP2_DATA_FLAG_NO_END_STREAM;
		h2_trailer(c);
	}
	return got < 0 ? NGHTTP2_ERR_DEFERRED : got;
}

static nghttp2_nv make_field(const char *name, const char *value)
{
	return (nghttp2_nv){.name = (uint8_t *)(uintptr_t)name,
		.value = (uint8_t *)(uintptr_t)value,
		.namelen = strlen(name),
		.valuelen = strlen(value)};
}

static void note_error(struct call *c, int err)
{
	if (err)
		c->h2->broken = true;
}

/* How it ended, as two fields. */
static size_t put_code(struct call *c, nghttp2_nv *nv, char code[static 4],
	struct buf *why)
{
	(void)buf_print(code, 4, "%u", (unsigned)c->code);
	nv[0] = make_field("grpc-status", code);
	if (!c->why[0])
		return 1;
	grpc_put_escaped(why, c->why);
	nv[1] = make_field("grpc-message", buf_str(why));
	return 2;
}

void h2_answer(struct call *c, bool last)
{
	const nghttp2_data_provider2 source = {
		.source.ptr = c, .read_callback = on_read};
	autobuf struct buf why = BUF_INIT(1024);
	char code[4];
	nghttp2_nv nv[4] = {make_field(":status", "200"),
		make_field("content-type", "application/grpc")};
	size_t n = 2;

	if (c->answered)
		return;
	c->answered = true;
	if (last)
		n += put_code(c, nv + 2, code, &why);
	note_error(c, nghttp2_submit_response2(c->h2->session, c->stream, nv, n,
			 last ? NULL : &source));
}

void h2_refuse(struct call *c, int status)
{
	char text[8];
	const nghttp2_nv nv = make_field(":status", BUF_PRINT(text, "%d", status));

	c->answered = c->over = true;
	note_error(c, nghttp2_submit_response2(
			 c->h2->session, c->stream, &nv, 1, NULL));
}

void h2_trailer(struct call *c)
{
	autobuf struct buf why = BUF_INIT(1024);
	char code[4];
	nghttp2_nv nv[2];
	size_t n = put_code(c, nv, code, &why);

	note_error(c, nghttp2_submit_trailer(c->h2->session, c->stream, nv, n));
}

void h2_resume(struct call *c)
{
	if (c->answered)
		(void)nghttp2_session_resume_data(c->h2->session, c->stream);
}

void h2_consume(struct call *c, size_t n)
{
	if (n)
		note_error(c, nghttp2_session_consume_stream(
				 c->h2->session, c->stream, n));
}

/* nghttp2's limits; NULL: out of memory. */
static nghttp2_option *make_option(void)
{
	nghttp2_option *o;

	if (nghttp2_option_new(&o))
		return NULL;
	nghttp2_option_set_no_auto_window_update(o, 1);
	nghttp2_option_set_max_outbound_ack(o, H2_ACKS_MAX);
	nghttp2_option_set_stream_reset_rate_limit(o, H2_RESETS, H2_RESETS_S);
	nghttp2_option_set_max_deflate_dynamic_table_size(o, 4096);
	nghttp2_option_set_no_closed_streams(o, 1);
	return o;
}

static int make_session(struct h2 *h)
{
	nghttp2_session_callbacks *calls;
	nghttp2_option *option = make_option();
	int err = option ? nghttp2_session_callbacks_new(&calls) : -1;

	if (err) {
		nghttp2_option_del(option);
		return err;
	}
	nghttp2_session_callbacks_set_on_begin_headers_callback(calls, on_begin);
	nghttp2_session_callbacks_set_on_header_callback(calls, on_field);
	nghttp2_session_callbacks_set_on_frame_recv_callback(calls, on_frame);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
		calls, on_data);
	nghttp2_session_callbacks_set_on_frame_send_callback(calls, on_sent);
	nghttp2_session_callbacks_set_on_stream_close_callback(calls, on_close);
	err = nghttp2_session_server_new2(&h->session, calls, h, option);
	nghttp2_session_callbacks_del(calls);
	nghttp2_option_del(option);
	return err;
}

bool h2_open(struct serve_conn *c)
{
	static const nghttp2_settings_entry settings[] = {
		{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, CALLS_MAX},
		{NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, CALL_HEAD_MAX},
		{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, CALL_WINDOW},
		{NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 0},
	};
	struct h2 *h = conn_dear(c) ? calloc(1, sizeof *h) : NULL;

	if (!h)
		return false;
	h->conn = c;
	if (make_session(h)) {
		free(h);
		return false;
	}
	c->h2 = h;
	c->state = CONN_H2;
	c->pong = true;
	if (nghttp2_submit_settings(h->session, NGHTTP2_FLAG_NONE, settings,
		    ARRAY_SIZE(settings) - 1) ||
		nghttp2_session_set_local_window_size(
			h->session, NGHTTP2_FLAG_NONE, 0, H2_WINDOW))
		h->broken = true;
	return true;
}

void h2_close(struct serve_conn *c)
{
	struct h2 *h = c->h2;

	c->h2 = NULL;
	while (h->first)
		call_free(h->first);
	nghttp2_session_del(h->session);
	serve_loop_bury(&c->server->engine->loop, &h->grave);
}

void h2_read(struct serve_conn *c)
{
	struct h2 *h = c->h2;
	nghttp2_ssize n = nghttp2_session_mem_recv2(
		h->session, (const uint8_t *)c->in.data, c->in.len);

	if (n < 0) {
		h->broken = true;
		nghttp2_session_terminate_session(h->session,
			n == NGHTTP2_ERR_FLOODED ? NGHTTP2_ENHANCE_YOUR_CALM
						 : NGHTTP2_PROTOCOL_ERROR);
	}
	buf_consume(&c->in, n < 0 ? c->in.len : (size_t)n);
}

void h2_pump(struct serve_conn *c)
{
	struct h2 *h = c->h2;
	const uint8_t *bytes;
	nghttp2_ssize n = 1;

	while (n > 0 && c->out.len < CONN_OUT_ENOUGH) {
		n = nghttp2_session_mem_send2(h->session, &bytes);
		if (n > 0)
			buf_add(&c->out, bytes, (size_t)n);
	}
	if (n < 0 || (!n && (h->broken ||
				(!nghttp2_session_want_read(h->session) &&
					!nghttp2_session_want_write(
						h->session)))))
		c->state = CONN_LAST;
}

void h2_check_keys(struct serve_conn *c, const struct serve_keys *keys)
{
	for (struct call *call = c->h2->first; call; call = call->next)
		call_check_key(call, keys);
}

void h2_due(struct serve_conn *c)
{
	struct h2 *h = c->h2;

	if ((!c->pong && !c->local) || (!h->first && !c->who.roles)) {
		conn_close(c);
		return;
	}
	c->pong = false;
	/* A client without calls is told to connect anew for the next one. */
	if (!h->first)
		nghttp2_session_terminate_session(h->session, NGHTTP2_NO_ERROR);
	else
		nghttp2_submit_ping(h->session, NGHTTP2_FLAG_NONE, NULL);
	serve_timer_set(&c->server->engine->loop, &c->timer,
		CONN_PING_S * 1000000000ULL);
	conn_flush(c);
}
#endif
