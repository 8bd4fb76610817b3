/* fuzz_wire.c - messages of the server's clients, and the file of its keys
 * SPDX-License-Identifier: MIT
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "serve/serve_keys.h"
#include "serve/serve_wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_message(const char *text, size_t n)
{
	struct wire w;
	char **argv;

	if (!wire_read(&w, text, n, WIRE_START) && w.type == WIRE_START) {
		argv = args_argv(&w.words);
		if (!argv || !w.count || argv[w.count] ||
			argv[w.count - 1] + strlen(argv[w.count - 1]) + 1 !=
				w.words.data + w.words.len)
			abort();
		free(argv);
	}
	wire_release(&w);
}

/* Keys that are read are written and read alike. */
static void read_keys(const char *text, size_t n)
{
	static struct serve_keys k, again;
	struct buf out = BUF_INIT(1 << 16);

	if (!serve_keys_parse(&k, text, n, NULL)) {
		serve_keys_write(&k, &out);
		if (out.err || serve_keys_parse(&again, out.data, out.len, NULL) ||
			again.count != k.count)
			abort();
		for (size_t i = 0; i < k.count; i++)
			if (k.key[i].roles == (SERVE_RUN | SERVE_APPROVE) ||
				!serve_keys_find(again.key, again.count,
					k.key[i].digest))
				abort();
	}
	buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size ? size : 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	read_message(text, size);
	read_keys(text, size);
	free(text);
	return 0;
}
