/* sandbox_explain.c - who may do what at a path, and by which grant
 * SPDX-License-Identifier: MIT
 */
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "path.h"
#include "str.h"

/* The path through all links; of one that does not exist, its directory's and
 * its name. */
static int resolve(const char *path, char *out, size_t size)
{
	char dir[PATH_MAX];
	autofd int fd = openat(AT_FDCWD, path, O_PATH | O_CLOEXEC);
	const char *slash = strrchr(path, '/');
	autofd int up = -1;
	int err;

	if (fd >= 0)
		return path_of_fd(fd, out, size);
	if (errno != ENOENT)
		return -errno;
	if (!slash)
		err = str_copy(dir, sizeof(dir), ".");
	else if ((size_t)(slash - path) >= sizeof(dir) - 1)
		err = -ENAMETOOLONG;
	else
		err = 0;
	if (err == 0 && slash) {
		memcpy(dir, path, (size_t)(slash - path) + 1);
		dir[slash - path + 1] = '\0';
	}
	if (err == 0) {
		up = openat(AT_FDCWD, dir, O_PATH | O_CLOEXEC);
		err = up < 0 ? -errno : path_of_fd(up, dir, sizeof(dir));
	}
	return err < 0 ? err :
			 path_join(out, size, dir, slash ? slash + 1 : path);
}

unsigned sandbox_explain(const struct sandbox *s, const char *path,
	const struct sandbox_grant **grant)
{
	const struct sandbox_grant *g = NULL;
	unsigned access = 0;
	char real[PATH_MAX];

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
	if (resolve(path, real, sizeof(real)) < 0)
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
