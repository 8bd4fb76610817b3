/* fuzz_capture.c - what a command's shell claims to have left behind
 * SPDX-License-Identifier: MIT
 *
 * The command has the descriptor, too: any bytes may lie in it. What is taken
 * from them is within the caps, and a state that can be written.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "session/capture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BYTES = 4096, VARIABLES = 32 };

static void check(const struct capture *c)
{
	size_t bytes = 0;

	if (c->code > 255 || c->env.count > VARIABLES ||
		c->cwd < c->text.data || !memchr(c->cwd, '\0',
			(size_t)(c->text.data + c->text.len - c->cwd)))
		abort();
	for (size_t i = 0; i < c->env.count; i++) {
		const char *eq = strchr(c->env.vec[i], '=');

		if (!eq || eq == c->env.vec[i])
			abort();
		bytes += strlen(c->env.vec[i]) + 1;
	}
	if (bytes > BYTES)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	autocapture struct capture c = CAPTURE_INIT;
	int fd = memfd_create("fuzz", 0);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size ||
		dup2(fd, CAPTURE_FD) < 0)
		abort();
	close(fd);
	if (capture_read(&c, BYTES, VARIABLES) == CAPTURED)
		check(&c);
	return 0;
}
