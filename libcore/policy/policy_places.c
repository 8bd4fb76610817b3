/* policy_places.c - by which names a command finds directories of its own
 * SPDX-License-Identifier: MIT
 */
#include "policy/policy.h"

#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "base/str.h"

/* Is the path the project's, or does a path of the policy open the machine's
 * directory? */
static bool is_opened(
	const struct policy_grants *g, const char *root, const char *path)
{
	if (path_beneath(root, path))
		return true;
	for (size_t i = 0; i < g->path_count; i++)
		if (path_beneath(g->path[i].path, path))
			return true;
	return false;
}

/* Can HOME be another directory of the same name than the person's? */
static bool is_home(const char *path)
{
	static const char *const system[] = {"/usr", "/etc", "/proc", "/sys",
		"/dev", "/bin", "/sbin", "/lib", "/lib64", "/opt", "/nix",
		"/tmp", "/var/tmp"};
	struct stat st;

	if (path[0] != '/' || !path[1])
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(system); i++)
		if (str_eq(system[i], path) || path_beneath(path, system[i]) ||
			(path_beneath(system[i], path) &&
				!str_find(system[i], "tmp")))
			return false;
	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

size_t policy_places(const struct policy_grants *g, const char *root,
	const char *home, const char *state, bool view,
	const char *out[static POLICY_PLACES + 1])
{
	struct stat st;
	size_t n = 0;

	out[0] = NULL;
	if (!g->confine || !(view || g->tmp_shared))
		return 0;
	for (size_t i = 0; i < POLICY_SHARED; i++)
		if (!is_opened(g, root, policy_shared[i]) && !lstat(policy_shared[i], &st) &&
			S_ISDIR(st.st_mode) &&
			(view || (!path_beneath(policy_shared[i], state) &&
					 !path_beneath(policy_shared[i], home))))
			out[n++] = policy_shared[i];
	if (view && is_home(home) && !is_opened(g, root, home))
		out[n++] = home;
	out[n] = NULL;
	return n;
}
