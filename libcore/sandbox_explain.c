/* sandbox_explain.c - who may do what at a path, and by which grant
 * SPDX-License-Identifier: MIT
 */
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buf.h"
#include "path.h"
#include "str.h"

/* The path through all links, and what is there; of one that does not exist,
 * where it would be made. */
static int resolve(const char *path, char *out, size_t size, struct stat *st)
{
	enum { LINKS_MAX = 40 };
	struct buf b = {.data = out, .cap = size, .max = size - 1};
	char name[NAME_MAX + 1], *last;
	autofd int dir = -1;
	int err = *path ? str_copy(out, size, path) : -ENOENT;

	*st = (struct stat){0};
	for (int i = 0; err == 0 && i < LINKS_MAX; i++) {
		autofd int from = fd_steal(&dir);
		int base = from < 0 ? AT_FDCWD : from;
		autofd int fd = openat(base, out, O_PATH | O_CLOEXEC);
		ssize_t n = (ssize_t)strlen(out);

		if (fd >= 0)
			return fstat(fd, st) < 0 ? -errno :
						   path_of_fd(fd, out, size);
		if (errno != ENOENT)
			return -errno;
		while (n > 1 && out[n - 1] == '/')
			out[--n] = '\0';
		last = strrchr(out, '/');
		last = last ? last + 1 : out;
		if (str_copy(name, sizeof(name), last) < 0)
			return -ENAMETOOLONG;
		memcpy(last, ".", 2);
		dir = openat(base, out, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (dir < 0)
			return -errno;
		n = readlinkat(dir, name, out, size - 1);
		if (n < 0) {
			err = path_of_fd(dir, out, size);
			b.len = strlen(out);
			buf_addf(&b, "%s%s", b.len > 1 ? "/" : "", name);
			buf_str(&b);
			return err < 0 ? err : b.err;
		}
		out[n] = '\0';
	}
	return err < 0 ? err : -ELOOP;
}

/* What is so without any grant. */
static unsigned ungranted(const struct sandbox *s, const char *real)
{
	/* A pipe or a socket, by a descriptor's name, has no place in a tree. */
	if (real[0] != '/')
		return SANDBOX_READ | SANDBOX_WRITE;
	if (s->enforced & SANDBOX_LANDLOCK)
		return 0;
	return s->enforced & SANDBOX_MOUNTNS ? SANDBOX_ROX | SANDBOX_UNIX :
					       SANDBOX_RWX;
}

/* What a rule makes of the access that those around it give. */
static unsigned within(const struct sandbox *s, const struct sandbox_rule *r,
	unsigned access)
{
	if (r->access & SANDBOX_HIDE)
		return r->access;
	if (r->mount == SANDBOX_MOUNT_RO && s->enforced & SANDBOX_MOUNTNS)
		access &= ~(unsigned)SANDBOX_WRITE;
	return access | r->access;
}

/* The rule of a file is one for all of its names; a mount is for one. */
static bool other_name(const struct sandbox_rule *r, const struct stat *st)
{
	return !r->dir && !(r->access & SANDBOX_HIDE) && r->ino == st->st_ino &&
	       r->dev == st->st_dev;
}

unsigned sandbox_explain(const struct sandbox *s, const char *path,
	const struct sandbox_grant **grant)
{
	const struct sandbox_grant *g = NULL;
	unsigned access = 0;
	autofree char *real = malloc(PATH_MAX);
	struct stat st;

	if (grant)
		*grant = NULL;
	if (!real || resolve(path, real, PATH_MAX, &st) < 0)
		return 0;
	access = ungranted(s, real);
	for (size_t i = 0; i < s->plan->grant_count; i++) {
		if (!s->plan->grants[i].device ||
			!str_eq(s->plan->grants[i].path, real))
			continue;
		g = &s->plan->grants[i];
		access |= g->access;
	}
	/* Sorted by path, so what comes later lies further in. */
	for (size_t i = 0; i < s->rule_count; i++) {
		const struct sandbox_rule *r = &s->rules[i];

		if (r->mount == SANDBOX_MOUNT_PIN)
			continue;
		if (path_beneath(r->path, real))
			access = within(s, r, access);
		else if (other_name(r, &st))
			access |= r->access & (s->enforced & SANDBOX_MOUNTNS ?
						      SANDBOX_ROX :
						      SANDBOX_RWX);
		else
			continue;
		g = &s->plan->grants[r->grant];
	}
	if (grant)
		*grant = g;
	return access;
}
