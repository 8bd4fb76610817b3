/* fuzz_h2.c - what a client of HTTP/2 says, against the whole of the glue
 * SPDX-License-Identifier: MIT
 *
 * The first byte says how many bytes come at a time. A key that views is known; a
 * command that has ended can be attached to. Without SERVE_GRPC there is nothing to
 * try.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/kconfig.h"
#if IS_ENABLED(CONFIG_SERVE_GRPC)
#include "serve/serve_server_in.h"

static struct serve engine;
static struct serve_server server;
static struct serve_command past;

static void prepare(void)
{
	if (engine.loop.epoll > 0)
		return;
	engine = SERVE_INIT;
	if (serve_loop_open(&engine.loop))
		abort();
	server.engine = &engine;
	server.dir = -1;
	server.owner[0].roles = SERVE_VIEW;
	serve_key_digest("k", server.owner[0].digest);
	past = (struct serve_command){.engine = &engine, .id = "c1",
		.session = "s", .ended = true, .report = {.there = true, .ran = true}};
	past.ring[SERVE_OUT] = (struct serve_ring){
		.data = calloc(1, 65536), .cap = 65536, .end = 50000};
	engine.first = &past;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char magic[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
	struct serve_conn c = {.server = &server, .local = true,
		.in = BUF_INIT(CONN_IN_MAX), .out = BUF_INIT(CONN_OUT_MAX)};
	size_t step = size ? data[0] * 64 + 1 : 1;

	prepare();
	if (!h2_open(&c))
		abort();
	buf_add(&c.in, magic, sizeof magic - 1);
	for (size_t at = 1; at < size && c.state == CONN_H2; at += step) {
		buf_add(&c.in, data + at, size - at < step ? size - at : step);
		h2_read(&c);
		h2_pump(&c);
		if (c.in.len || c.out.len > 4 * CONN_OUT_ENOUGH)
			abort();
		buf_clear(&c.out);
	}
	h2_close(&c);
	if (server.refused || past.readers || engine.loop.timers)
		abort();
	while (engine.loop.graves) {
		struct serve_grave *first = engine.loop.graves;

		engine.loop.graves = first->next;
		free(first);
	}
	buf_release(&c.in);
	buf_release(&c.out);
	return 0;
}
#else
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	(void)data;
	(void)size;
	return 0;
}
#endif
