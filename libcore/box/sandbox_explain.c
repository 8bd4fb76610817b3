/* sandbox_explain.c - who may do what at a path, and by which grant
 * SPDX-License-Identifier: MIT
 */
#include "box/sandbox.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/path.h"
#include "base/str.h"

/* The rights without any grant. */
static unsigned rights_ungranted(const struct sandbox *s, const char *real)
{
	/* A pipe or a socket, named by a descriptor, lies in no tree. */
	if (real[0] != '/')
		return SANDBOX_READ | SANDBOX_WRITE;
	if (s->enforced & SANDBOX_LANDLOCK)
		return 0;
	return s->enforced & SANDBOX_MOUNTNS ? SANDBOX_ROX | SANDBOX_UNIX :
					       SANDBOX_RWX;
}

/* The access inside of a rule, given the access of the rules around it. */
static unsigned rights_within(
	const struct sandbox *s, const struct sandbox_rule *r,
	unsigned access)
{
	bool mounts = s->enforced & SANDBOX_MOUNTNS;

	if (r->laid && mounts)
		access = 0;
	/* If no rule shows the place, there is nothing to cover; if it could
	 * not be covered, it is still visible. */
	if (r->access & SANDBOX_HIDE)
		return mounts ? r->access : access ? access : SANDBOX_HIDE;
	if (r->mount == SANDBOX_MOUNT_RO && mounts)
		access &= ~(unsigned)SANDBOX_WRITE;
	return access | r->access;
}

/* Landlock's rule on a file counts for all its names; a mount counts for
 * one. */
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
	if (!real || path_made(path, real, &st) < 0)
		return 0;
	access = rights_ungranted(s, real);
	for (size_t i = 0; i < s->plan->grant_count; i++) {
		if (!s->plan->grants[i].device ||
			!str_eq(s->plan->grants[i].path, real))
			continue;
		g = &s->plan->grants[i];
		access |= g->access;
	}
	/* Rules are sorted by path, so later ones lie further inside. */
	for (size_t i = 0; i < s->rule_count; i++) {
		const struct sandbox_rule *r = &s->rules[i];

		if (r->mount == SANDBOX_MOUNT_PIN)
			continue;
		if (path_beneath(r->path, real))
			access = rights_within(s, r, access);
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
