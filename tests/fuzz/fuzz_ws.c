/* fuzz_ws.c - frames of a WebSocket, in pieces of any size
 * SPDX-License-Identifier: MIT
 *
 * The first byte says how many bytes come at a time, and whether a client speaks.
 * Whatever comes, the messages are the same as when all of it comes at once.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "serve/serve_ws.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What was said, as one text; how it ended. */
static int read_all(const uint8_t *data, size_t size, size_t step, bool client,
	struct buf *said)
{
	struct ws_reader r = {.client = client, .text = BUF_INIT(WS_TEXT_MAX)};
	struct buf in = BUF_INIT(1 << 21);
	int got = 0;

	for (size_t at = 0; at < size && got >= 0; at += step) {
		size_t n = size - at < step ? size - at : step;

		buf_add(&in, data + at, n);
		do {
			struct ws_piece p = {0};
			size_t used;

			got = ws_next(&r, in.data, in.len, &used, &p);
			if (used > in.len || (got == 2 && !used))
				abort();
			if (got == 1) {
				if (p.opcode == WS_TEXT && !utf8_valid(p.bytes, p.n))
					abort();
				if (p.opcode >= WS_CLOSE && p.n > 125)
					abort();
				if (p.first || p.opcode != WS_BINARY)
					buf_addf(said, "|%d|", p.opcode);
				buf_add(said, p.bytes, p.n);
				if (p.opcode == WS_CLOSE)
					ws_close_read(p.bytes, p.n);
			}
			buf_consume(&in, used);
		} while (got > 0);
	}
	buf_release(&in);
	buf_release(&r.text);
	return got;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf one = BUF_INIT(1 << 21), two = BUF_INIT(1 << 21);
	int a, b;

	if (size < 2)
		return 0;
	a = read_all(data + 1, size - 1, size, data[0] & 1, &one);
	b = read_all(data + 1, size - 1, 1 + (data[0] >> 1), data[0] & 1, &two);
	if (a != b || one.len != two.len ||
		(one.len && memcmp(one.data, two.data, one.len) != 0))
		abort();
	buf_release(&one);
	buf_release(&two);
	return 0;
}
