/* guard_startup.c - a confined bash is not sent to a file that it cannot read
 * SPDX-License-Identifier: MIT
 *
 * An interactive bash reads ~/.bashrc. A home of the command's own has a copy
 * where the policy says so; the person's own file is read where the policy grants
 * it. Else bash is called with another file in its place, one that is empty,
 * so that it does not begin with a message. The system's own start-up file is
 * read as ever.
 */
#include "guard/guard_in.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "base/str.h"

static bool is_readable(const struct sandbox_plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->grant_count; i++)
		if (plan->grants[i].access & SANDBOX_READ &&
			path_beneath(plan->grants[i].path, path))
			return true;
	return false;
}

int guard_startup(struct guard_box *b, const struct guard *g)
{
	static const char *const words[] = {"--rcfile", "/dev/null"};
	char path[PATH_MAX];
	size_t n = 0;

	if (!g->command->reads_rc || g->command->dialect != POLICY_SH_BASH ||
		!g->place.home[0] ||
		path_join(path, sizeof path, g->place.home, ".bashrc") ||
		access(path, F_OK) || is_readable(&b->plan, path) ||
		(b->plan.view && guard_home_has(g, path)))
		return 0;
	while (g->command->argv[n])
		n++;
	if (!n)
		return 0;
	/* bash wants its long options in front of all others. */
	b->own_argv = calloc(n + 3, sizeof *b->own_argv);
	if (!b->own_argv)
		return -ENOMEM;
	b->own_argv[0] = g->command->argv[0];
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		str_copy(b->rc_words[i], sizeof b->rc_words[i], words[i]);
		b->own_argv[i + 1] = b->rc_words[i];
	}
	memcpy(b->own_argv + 3, g->command->argv + 1,
		(n - 1) * sizeof *b->own_argv);
	b->argv = b->own_argv;
	return 0;
}
