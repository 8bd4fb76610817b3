/* fuzz_undo.c - a record of a repair, to be taken back
 * SPDX-License-Identifier: MIT
 *
 * What is taken from it are its own bytes, each once.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "profile/profile_undo.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct profile_undo u;
	char name[32];
	int fd = memfd_create("fuzz", 0);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	if (profile_undo_load(AT_FDCWD, name, &u) == 0) {
		size_t n = u.before.len + u.after.len;

		if (n > size || !memchr(u.path, 0, sizeof u.path) ||
			strncmp(u.path, (const char *)data, size) != 0)
			abort();
		data += size - n;
		if ((u.before.len &&
			    memcmp(data, u.before.data, u.before.len) != 0) ||
			(u.after.len && memcmp(data + u.before.len,
						u.after.data, u.after.len) != 0))
			abort();
	}
	profile_undo_release(&u);
	close(fd);
	return 0;
}
