/* sandbox_explain.c - who may do what at a path, and by which grant
 * SPDX-License-Identifier: MIT
 */
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buf.h"
#include "path.h"
#include "str.h"

/* The path through all links; of one that does not exist, its directory's and
 * its name. */
static int resolve(const char *path, char *out, size_t size)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t n = slash ? (size_t)(name - path) : 1;
	autofd int fd = openat(AT_FDCWD, path, O_PATH | O_CLOEXEC);
	struct buf b = {.data = out, .cap = size, .max = size - 1};
	int err;

	if (fd >= 0)
		return path_of_fd(fd, out, size);
	if (errno != ENOENT)
		return -errno;
	buf_add(&b, slash ? path : ".", n);
	fd = openat(AT_FDCWD, buf_str(&b), O_PATH | O_CLOEXEC);
	err = fd < 0 ? -errno : path_of_fd(fd, out, size);
	if (err < 0)
		return err;
	b.len = strlen(out);
	buf_addf(&b, "%s%s", b.len > 1 ? "/" : "", name);
	buf_str(&b);
	return b.err;
}

unsigned sandbox_explain(const struct sandbox *s, const char *path,
	const struct sandbox_grant **grant)
{
	const struct sandbox_grant *g = NULL;
	unsigned access = 0;
	autofree char *real = NULL;

	if (grant)
		*grant = NULL;
	for (size_t i = 0; i < s->plan->grant_count; i++) {
		g = &s->plan->grants[i];
		if (!g->device || !str_eq(g->path, path))
			continue;
		if (grant)
			*grant = g;
		return g->access;
	}
	real = malloc(PATH_MAX);
	if (!real || resolve(path, real, PATH_MAX) < 0)
		return 0;
	/* Sorted by path, so what comes later lies further in. */
	for (size_t i = 0; i < s->rule_count; i++) {
		const struct sandbox_rule *r = &s->rules[i];

		if (r->mount == SANDBOX_MOUNT_PIN ||
			!path_beneath(r->path, real))
			continue;
		g = &s->plan->grants[r->grant];
		if (grant)
			*grant = g;
		if (r->access & SANDBOX_HIDE)
			access = r->access & ~(unsigned)SANDBOX_HIDE;
		else if (r->mount == SANDBOX_MOUNT_RO &&
			 s->enforced & SANDBOX_MOUNTNS)
			access &= ~(unsigned)SANDBOX_WRITE;
		access |= r->access;
	}
	return access;
}
