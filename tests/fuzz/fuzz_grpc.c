/* fuzz_grpc.c - messages of wardbox.proto, and what stands before them
 * SPDX-License-Identifier: MIT
 *
 * Whatever comes, what was read is within its bounds, and has as many words as it
 * says.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/utf8.h"
#include "serve/serve_grpc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_words(const struct wire *w)
{
	char **argv = args_argv(&w->words);
	size_t n = 0, bytes = 0;

	for (; argv && argv[n]; n++) {
		bytes += strlen(argv[n]) + 1;
		if (!utf8_valid(argv[n], strlen(argv[n])))
			abort();
	}
	if (argv && (n != w->count || bytes != w->words.len))
		abort();
	free(argv);
}

static void check_input(const char *text, size_t size)
{
	struct grpc_input in;
	int err = grpc_read(&in, text, size);

	if (err ? !in.wire.said[0] : in.wire.said[0] != '\0')
		abort();
	if (!err && in.typed && in.n &&
		(in.bytes < text || in.bytes + in.n > text + size))
		abort();
	if (!err && in.wire.type == WIRE_START && !in.typed)
		check_words(&in.wire);
	if (!err && (in.wire.rows > WIRE_LENGTH_MAX ||
			    in.wire.cols > WIRE_LENGTH_MAX))
		abort();
	wire_release(&in.wire);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	size_t n = size;
	char head[32];
	uint64_t ns;
	const char *name = grpc_read_health(text, &n);

	if (name && n && (name < text || name + n > text + size))
		abort();
	check_input(text, size);
	if (grpc_head(text, size, &n) == 1 && n > GRPC_MESSAGE_MAX)
		abort();
	n = size < sizeof head - 1 ? size : sizeof head - 1;
	memcpy(head, data, n);
	head[n] = '\0';
	(void)grpc_timeout(head, &ns);
	return 0;
}
