/* fuzz_landlock_log.c - what the kernel's audit says, or anything else
 * SPDX-License-Identifier: MIT
 *
 * Input: a byte that picks the type, then the record's text; with bit 1 the
 * whole message, as it comes from the socket.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "box/landlock_log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(void *ctx, unsigned type, const struct landlock_record *r)
{
	(void)ctx;
	(void)type;
	if (!memchr(r->rights, 0, sizeof(r->rights)) ||
		!memchr(r->object, 0, sizeof(r->object)))
		abort();
}

static void receive(const uint8_t *data, size_t size)
{
	int fd[2], err;

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, fd) < 0)
		abort();
	if (send(fd[1], data, size, 0) < 0)
		abort();
	err = landlock_log_read(fd[0], NULL, check);
	if (err != 0 && err != -EPROTO)
		abort();
	close(fd[0]);
	close(fd[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct landlock_record r;
	int err;

	if (!size)
		return 0;
	if (data[0] & 2) {
		receive(data + 1, size - 1);
		return 0;
	}
	err = landlock_record_parse(
		data[0] & 1 ? LANDLOCK_LOG_DENIED : LANDLOCK_LOG_DOMAIN,
		(const char *)data + 1, size - 1, &r);
	if (err != 0 && err != -EBADMSG)
		abort();
	check(NULL, 0, &r);
	return 0;
}
