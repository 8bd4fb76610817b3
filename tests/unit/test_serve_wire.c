/* test_serve_wire.c - HTTP, WebSocket, messages and keys, case by case
 * SPDX-License-Identifier: MIT
 */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>

#include "base/str.h"
#include "serve/serve_cast.h"
#include "serve/serve_http.h"
#include "serve/serve_keys.h"
#include "serve/serve_wire.h"
#include "serve/serve_ws.h"

static int head(struct http_request *r, const char *text)
{
	return http_read(r, text, strlen(text));
}

#define HOST "Host: localhost\r\n"

static void heads_that_are_taken(void **state)
{
	struct http_request r;
	uint64_t n = 7;
	const char *text = "POST /a/b?x=1&offset=42 HTTP/1.1\r\n" HOST
			   "Content-Length: 5\r\nX-API-Key:  k \r\n\r\nhello";

	(void)state;
	assert_int_equal(head(&r, text), (int)strlen(text) - 5);
	assert_string_equal(r.method, "POST");
	assert_string_equal(r.path, "/a/b");
	assert_string_equal(r.token, "k");
	assert_int_equal(r.length, 5);
	assert_true(r.keep);
	assert_int_equal(http_query(&r, "offset", 100, &n), 0);
	assert_int_equal(n, 42);
	assert_int_equal(http_query(&r, "offset", 41, &n), -EINVAL);
	assert_int_equal(http_query(&r, "set", 100, &n), 0);
	assert_true(head(&r, "GET / HTTP/1.1\r\n" HOST
			"authorization: bearer abc\r\nConnection: x, CLOSE\r\n\r\n") >
		0);
	assert_string_equal(r.token, "abc");
	assert_false(r.keep);
	assert_true(head(&r, "GET / HTTP/1.1\r\n" HOST
			"Accept-Encoding: br, gzip\r\nSec-WebSocket-Protocol:"
			" a, wardbox.key.k1 , b\r\n\r\n") > 0);
	assert_string_equal(r.token, "k1");
	assert_true(r.gzip);
}

static void queries(void **state)
{
	static const struct {
		const char *query, *value;
		size_t nth;
		int got;
	} cases[] = {
		{"a=1", "1", 0, 1},
		{"b=1&a=x%20y+z%2B", "x y z+", 0, 1},
		{"a=&a=2&aa=3", "2", 1, 1},
		{"a=&a=2&aa=3", "", 2, 0},
		{"a", "", 0, 0},
		{"&&a=1&", "1", 0, 1},
		{"a=%", "", 0, -EINVAL},
		{"a=%4", "", 0, -EINVAL},
		{"a=%4&b=1", "", 0, -EINVAL},
		{"a=%zz", "", 0, -EINVAL},
		{"a=%00", "", 0, -EINVAL},
		{"a=%+1", "", 0, -EINVAL},
		{"a=123456789", "", 0, -ENOBUFS},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct http_request r;
		char text[200], value[9];
		struct buf b = BUF_FIXED(value);

		BUF_PRINT(text, "GET /?%s HTTP/1.1\r\n" HOST "\r\n",
			cases[i].query);
		assert_true(head(&r, text) > 0);
		assert_int_equal(
			http_query_text(&r, "a", cases[i].nth, &b), cases[i].got);
		if (cases[i].got == 1)
			assert_string_equal(buf_str(&b), cases[i].value);
	}
}

static void casts(void **state)
{
	autobuf struct buf out = BUF_INIT(4096);
	struct cast c = {.form = CAST_V3, .pipes = true};

	(void)state;
	cast_begin(&c, &out, 5000000, 24, 80, "a \"b\"", 7);
	cast_output(&c, &out, 6500000, "x\ny", 3);
	cast_resize(&c, &out, 6000000, 30, 90);
	cast_exit(&c, &out, 7000000, 3);
	assert_string_equal(buf_str(&out),
		"{\"version\":3,\"term\":{\"cols\":80,\"rows\":24},"
		"\"timestamp\":7,\"command\":\"a \\\"b\\\"\"}\n"
		"[1.500000,\"o\",\"x\\r\\ny\"]\n[0.000000,\"r\",\"90x30\"]\n"
		"[0.500000,\"x\",\"3\"]\n");
	buf_clear(&out);
	c = (struct cast){.form = CAST_V2};
	cast_begin(&c, &out, 5000000, 24, 80, "a", 7);
	cast_output(&c, &out, 6500000, "x\n", 2);
	cast_exit(&c, &out, 7000000, 0);
	assert_string_equal(buf_str(&out),
		"{\"version\":2,\"width\":80,\"height\":24,\"timestamp\":7,"
		"\"command\":\"a\"}\n[1.500000,\"o\",\"x\\n\"]\n"
		"[2.000000,\"x\",\"0\"]\n");
	buf_clear(&out);
	c = (struct cast){.form = CAST_ALIS};
	cast_begin(&c, &out, 300, 24, 200, "a", 7);
	cast_output(&c, &out, 301, "x", 1);
	cast_resize(&c, &out, 301, 1, 2);
	cast_exit(&c, &out, 500, 3);
	assert_int_equal(out.len, 24);
	assert_memory_equal(out.data, "\1\0\xac\2\xc8\1\x18\0\0"
		"o\1\1\1xr\2\0\2\1x\3\xc7\1\3", 24);
	/* A character is not cut in two; what is none is not waited for. */
	assert_int_equal(cast_whole("ab", 2), 2);
	assert_int_equal(cast_whole("a\xe2\x82", 3), 1);
	assert_int_equal(cast_whole("a\xe2\x82\xac", 4), 4);
	assert_int_equal(cast_whole("\xf0\x9f\x98", 3), 0);
	assert_int_equal(cast_whole("\x80\x80\x80\x80", 4), 4);
	assert_int_equal(cast_whole("\xff", 1), 1);
	assert_int_equal(cast_whole("", 0), 0);
}

static void heads_that_are_refused(void **state)
{
	static const struct {
		int status;
		const char *text;
	} cases[] = {
		{0, "GET / HTTP/1.1\r\n" HOST "\r"},
		{400, "GET / HTTP/1.1\r\n\r\n"},
		{400, "GET / HTTP/1.1\r\n" HOST HOST "\r\n"},
		{400, "GET  / HTTP/1.1\r\n" HOST "\r\n"},
		{400, "GET / HTTP/1.1\n" HOST "\r\n\r\n"},
		{400, "GET /\nX: y HTTP/1.1\r\n" HOST "\r\n"},
		{400, "GET / HTTP/1.1\r\nHost : localhost\r\n\r\n"},
		{400, "GET / HTTP/1.1\r\n" HOST " folded\r\n\r\n"},
		{400, "GET / HTTP/1.1\r\n" HOST "A: b\nc\r\n\r\n"},
		{400, "GET http://x/ HTTP/1.1\r\n" HOST "\r\n"},
		{400, "POST / HTTP/1.1\r\n" HOST "Content-Length: 1\r\n"
			"Content-Length: 1\r\n\r\n"},
		{400, "POST / HTTP/1.1\r\n" HOST "Content-Length: +1\r\n\r\n"},
		{400, "POST / HTTP/1.1\r\n" HOST "Content-Length: 1,1\r\n\r\n"},
		{400, "POST / HTTP/1.1\r\n" HOST "Content-Length: \r\n\r\n"},
		{413, "POST / HTTP/1.1\r\n" HOST "Content-Length: 67108864\r\n"
			"\r\n"},
		{501, "POST / HTTP/1.1\r\n" HOST
			"Transfer-Encoding: chunked\r\n\r\n"},
		{501, "POST / HTTP/1.1\r\n" HOST "Content-Length: 1\r\n"
			"transfer-encoding: x\r\n\r\n"},
		{505, "GET / HTTP/1.0\r\n" HOST "\r\n"},
		{505, "GET / HTTP/2.0\r\n" HOST "\r\n"},
		{400, "GET / HTTP/1.1\r\n" HOST "Authorization: Bearer a\r\n"
			"X-API-Key: b\r\n\r\n"},
	};
	struct http_request r;
	static char big[HTTP_HEAD_MAX + 1];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(head(&r, cases[i].text), -cases[i].status);
	memset(big, 'a', HTTP_HEAD_MAX);
	assert_int_equal(head(&r, big), -431);
}

static void websocket_begins(void **state)
{
	char answer[WS_ACCEPT_SIZE];

	(void)state;
	assert_true(ws_accept("dGhlIHNhbXBsZSBub25jZQ==", answer));
	assert_string_equal(answer, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
	assert_false(ws_accept("short", answer));
}

/* What the first piece of these bytes is, as a client's. */
static int first(const char *bytes, size_t n, struct ws_piece *p)
{
	static char copy[256];
	struct ws_reader r = {.client = true, .text = BUF_INIT(WS_TEXT_MAX)};
	size_t at = 0, used;
	int got = 2;

	memcpy(copy, bytes, n);
	while (got == 2) {
		got = ws_next(&r, copy + at, n - at, &used, p);
		at += used;
	}
	if (got == 1 && p->opcode == WS_TEXT) {
		memmove(copy, p->bytes, p->n);
		p->bytes = copy;
	}
	buf_release(&r.text);
	return got;
}
#define FIRST(bytes, p) first(bytes, sizeof(bytes) - 1, p)
#define MASK "\0\0\0\0"

static void frames_case_by_case(void **state)
{
	struct ws_piece p;

	(void)state;
	assert_int_equal(FIRST("\x81\x82" MASK "hi", &p), 1);
	assert_int_equal(p.opcode, WS_TEXT);
	assert_memory_equal(p.bytes, "hi", 2);
	assert_int_equal(FIRST("\x82\x82\1\2\3\4\x61", &p), 1);
	assert_int_equal(p.bytes[0], '\x60');
	/* A text in two frames with a ping between them. */
	assert_int_equal(FIRST("\x01\x81" MASK "h\x89\x80" MASK, &p), 1);
	assert_int_equal(p.opcode, WS_PING);
	assert_int_equal(FIRST("\x01\x81" MASK "h\x80\x81" MASK "i", &p), 1);
	assert_memory_equal(p.bytes, "hi", 2);
	/* Not masked; reserved bits; unknown opcodes; no message to go on. */
	assert_int_equal(FIRST("\x81\x02hi", &p), -WS_PROTOCOL);
	assert_int_equal(FIRST("\xc1\x82" MASK "hi", &p), -WS_PROTOCOL);
	assert_int_equal(FIRST("\x83\x80" MASK, &p), -WS_PROTOCOL);
	assert_int_equal(FIRST("\x8b\x80" MASK, &p), -WS_PROTOCOL);
	assert_int_equal(FIRST("\x80\x80" MASK, &p), -WS_PROTOCOL);
	assert_int_equal(FIRST("\x01\x80" MASK "\x81\x80" MASK, &p),
		-WS_PROTOCOL);
	/* Control frames: whole and short. */
	assert_int_equal(FIRST("\x09\x80" MASK, &p), -WS_PROTOCOL);
	assert_int_equal(FIRST("\x89\xfe\0\x7e" MASK, &p), -WS_PROTOCOL);
	/* Lengths in their shortest form, and none too long. */
	assert_int_equal(FIRST("\x82\xfe\0\x01" MASK, &p), -WS_PROTOCOL);
	assert_int_equal(FIRST("\x82\xff\0\0\0\0\0\0\1\0" MASK, &p),
		-WS_PROTOCOL);
	assert_int_equal(FIRST("\x82\xff\0\0\0\0\4\0\0\0" MASK, &p), -WS_BIG);
	assert_int_equal(FIRST("\x81\xff\0\0\0\0\0\1\0\1" MASK, &p), -WS_BIG);
	/* No UTF-8. */
	assert_int_equal(FIRST("\x81\x81" MASK "\xff", &p), -WS_TEXT_BAD);
	assert_int_equal(FIRST("\x81\x82" MASK "\xc0\x80", &p), -WS_TEXT_BAD);
	assert_int_equal(ws_close_read("", 0), WS_NONE);
	assert_int_equal(ws_close_read("\x03", 1), -WS_PROTOCOL);
	assert_int_equal(ws_close_read("\x03\xe8ok", 4), 1000);
	assert_int_equal(ws_close_read("\x03\xec", 2), -WS_PROTOCOL);
	assert_int_equal(ws_close_read("\x03\xed", 2), -WS_PROTOCOL);
	assert_int_equal(ws_close_read("\x0b\xb8", 2), 3000);
	assert_int_equal(ws_close_read("\x03\xe8\xff", 3), -WS_TEXT_BAD);
}

static int message(struct wire *w, const char *text)
{
	return wire_read(w, text, strlen(text), WIRE_START);
}

static void messages(void **state)
{
	struct wire w;
	char **argv;

	(void)state;
	assert_int_equal(message(&w, "{\"command\":\"a\",\"args\":[\"\",\"b\"],"
		"\"rows\":5,\"timeout\":2.5}"), 0);
	assert_int_equal(w.count, 3);
	argv = args_argv(&w.words);
	assert_string_equal(argv[0], "a");
	assert_string_equal(argv[1], "");
	assert_string_equal(argv[2], "b");
	assert_null(argv[3]);
	assert_true(w.pty && w.rows == 5 && w.timeout_ns == 2500000000);
	free(argv);
	wire_release(&w);
	assert_int_equal(message(&w, "{\"text\":\"t\",\"pty\":false}"), 0);
	assert_int_equal(w.count, 3);
	assert_false(w.pty);
	wire_release(&w);
	static const char *const wrong[] = {"", "[]", "{}", "{\"command\":5}",
		"{\"command\":\"a\",\"text\":\"b\"}",
		"{\"command\":\"a\",\"args\":\"b\"}",
		"{\"command\":\"a\",\"args\":[1]}",
		"{\"command\":\"a\\u0000b\"}",
		"{\"command\":\"a\",\"env\":{}}",
		"{\"command\":\"a\",\"rows\":1001}",
		"{\"command\":\"a\",\"rows\":-1}",
		"{\"type\":\"no\"}", "{\"type\":\"signal\",\"name\":\"X\"}",
		"{\"type\":\"signal\",\"name\":\"0\"}", "{\"type\":\"signal\"}"};

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		assert_int_equal(message(&w, wrong[i]), -EINVAL);
		assert_true(w.said[0]);
		wire_release(&w);
	}
}

static void keys_have_one_role(void **state)
{
	struct serve_keys k = {0}, again;
	struct buf out = BUF_INIT(1 << 16);
	unsigned char digest[SERVE_DIGEST];
	char run[SERVE_KEY_SIZE], approve[SERVE_KEY_SIZE];
	struct diag d;

	(void)state;
	assert_int_equal(serve_role_of("run") & SERVE_APPROVE, 0);
	assert_int_equal(serve_role_of("approve") & SERVE_RUN, 0);
	assert_int_equal(serve_role_of("admin"), 0);
	assert_int_equal(serve_keys_add(&k, "a", serve_role_of("run"), run, &d),
		0);
	assert_int_equal(serve_keys_add(&k, "b", serve_role_of("approve"),
		approve, &d), 0);
	assert_int_equal(serve_keys_add(&k, "a", SERVE_VIEW, run, &d), -EEXIST);
	assert_int_equal(serve_keys_add(&k, "a b", SERVE_VIEW, run, &d),
		-EINVAL);
	assert_string_not_equal(run, approve);
	serve_keys_write(&k, &out);
	/* The key itself is not kept. */
	assert_null(strstr(buf_str(&out), approve + 4));
	assert_int_equal(serve_keys_parse(&again, out.data, out.len, &d), 0);
	serve_key_digest(approve, digest);
	assert_string_equal(
		serve_keys_find(again.key, again.count, digest)->name, "b");
	digest[31] ^= 1;
	assert_null(serve_keys_find(again.key, again.count, digest));
	assert_int_equal(serve_keys_revoke(&again, "a", &d), 0);
	assert_int_equal(serve_keys_revoke(&again, "a", &d), -ENOENT);
	assert_int_equal(again.count, 1);
	assert_int_equal(serve_keys_parse(&again, "a run 00 1\n", 11, &d),
		-EINVAL);
	buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(heads_that_are_taken),
		cmocka_unit_test(heads_that_are_refused),
		cmocka_unit_test(queries),
		cmocka_unit_test(casts),
		cmocka_unit_test(websocket_begins),
		cmocka_unit_test(frames_case_by_case),
		cmocka_unit_test(messages),
		cmocka_unit_test(keys_have_one_role),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
