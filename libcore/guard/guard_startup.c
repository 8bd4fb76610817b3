/* guard_startup.c - a confined bash is not sent to a file that it cannot read
 * SPDX-License-Identifier: MIT
 *
 * An interactive bash reads ~/.bashrc, which is the person's and may hold secrets:
 * no confined command reads it unless the policy grants it. Without that grant
 * bash is called with another file in its place, one that is empty, so that it
 * does not begin with a message. The system's own start-up file is read as ever.
 */
#include "guard/guard_in.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "base/str.h"

static bool is_readable(const struct guard *g, const char *path)
{
	for (size_t i = 0; i < g->plan.grant_count; i++)
		if (g->plan.grants[i].access & SANDBOX_READ &&
			path_beneath(g->plan.grants[i].path, path))
			return true;
	return false;
}

int guard_startup(struct guard *g)
{
	static const char *const words[] = {"--rcfile", "/dev/null"};
	char path[PATH_MAX];
	size_t n = 0;

	if (!g->q->reads_rc || g->q->dialect != POLICY_SH_BASH || !g->home[0] ||
		path_join(path, sizeof path, g->home, ".bashrc") ||
		access(path, F_OK) || is_readable(g, path))
		return 0;
	while (g->q->argv[n])
		n++;
	if (!n)
		return 0;
	/* Before all others: bash's long options stand in front. */
	g->own_argv = calloc(n + 3, sizeof *g->own_argv);
	if (!g->own_argv)
		return -ENOMEM;
	g->own_argv[0] = g->q->argv[0];
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		str_copy(g->rc_words[i], sizeof g->rc_words[i], words[i]);
		g->own_argv[i + 1] = g->rc_words[i];
	}
	memcpy(g->own_argv + 3, g->q->argv + 1, (n - 1) * sizeof *g->own_argv);
	g->argv = g->own_argv;
	return 0;
}
