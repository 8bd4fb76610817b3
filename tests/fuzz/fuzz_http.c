/* fuzz_http.c - heads of requests, and what follows from them
 * SPDX-License-Identifier: MIT
 *
 * A head that is taken is taken alike whether it comes at once or byte by byte, and
 * nothing behind its end counts.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "serve/serve_http.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct http_request r, again;
	struct buf out = BUF_INIT(1 << 20), value = BUF_INIT(256);
	uint64_t n = 0;
	char *text = malloc(size ? size : 1);
	int head, part = 0;

	if (!text)
		return 0;
	memcpy(text, data, size);
	head = http_read(&r, text, size);
	if (head > 0) {
		if ((size_t)head > size || r.length > HTTP_BODY_MAX ||
			r.path[0] != '/' || !r.host[0])
			abort();
		/* Each shorter piece asks for more. */
		for (int i = head > 64 ? head - 64 : 0; i < head; i++)
			if (http_read(&again, text, (size_t)i))
				abort();
		part = http_read(&again, text, (size_t)head);
		if (part != head || memcmp(&r, &again, sizeof r) != 0)
			abort();
		if (!http_query(&r, "offset", 100, &n) && n > 100)
			abort();
		if (http_query_text(&r, "command", size % 3, &value) == 1 &&
			value.len && memchr(value.data, 0, value.len))
			abort();
		http_lists(r.protocols, "wardbox.v1");
	}
	if (head > 0)
		http_answer(&out, 200, "text/plain", "", text, size, r.keep);
	buf_release(&out);
	buf_release(&value);
	free(text);
	return 0;
}
