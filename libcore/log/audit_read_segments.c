/* audit_read_segments.c - the segments of a log directory
 * SPDX-License-Identifier: MIT
 */
#include "log/audit_read_segments_in.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log/audit_format_in.h"
#include "base/cleanup.h"

static int by_number(const void *a, const void *b)
{
	uint64_t x, y;

	memcpy(&x, a, sizeof x);
	memcpy(&y, b, sizeof y);
	return x < y ? -1 : x > y;
}

static int add_first(uint64_t **firsts, int *n, uint64_t first)
{
	enum { SEGMENTS_MAX = 1 << 20 };
	uint64_t *grown;

	if (*n >= SEGMENTS_MAX)
		return -E2BIG;
	if (!(*n & (*n - 1))) {
		size_t cap = *n ? 2 * (size_t)*n : 1;

		grown = reallocarray(*firsts, cap, sizeof **firsts);
		if (!grown)
			return -ENOMEM;
		*firsts = grown;
	}
	(*firsts)[(*n)++] = first;
	return 0;
}

static void close_dir(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

int audit_segments(int dirfd, uint64_t **firsts, struct diag *d)
{
	autofd int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	autoclean(close_dir) DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	int n = 0, err = 0;

	*firsts = NULL;
	if (!dir)
		return diag_errno(d, -errno, "audit log: cannot list it");
	fd_steal(&fd);
	while (!err && (errno = 0, entry = readdir(dir))) {
		uint64_t first;

		if (!audit_segment_parse(entry->d_name, &first))
			err = add_first(firsts, &n, first);
	}
	if (!err && errno)
		err = -errno;
	if (err) {
		free(*firsts);
		*firsts = NULL;
		return diag_errno(d, err, "audit log: cannot list it");
	}
	if (n)
		qsort(*firsts, (size_t)n, sizeof **firsts, by_number);
	return n;
}
