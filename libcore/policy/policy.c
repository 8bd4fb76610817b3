/* policy.c - names, which profile is in force, where a command has directories of its
 * own
 * SPDX-License-Identifier: MIT
 */
#include "policy/policy.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "base/str.h"
#include "policy/policy_image.h"

static const char profile_names[] = "SAFE\0DEV\0FULL-AUTO\0OBSERVE\0";

const char policy_protections[POLICY_PROTECTIONS][9] = {"landlock", "seccomp",
	"caps", "scope", "net", "unix", "pid", "mount", "ipc", "netns",
	"limits", "watch", "audit"};

const char *const policy_shared[POLICY_SHARED] = {
	"/tmp", "/var/tmp", "/dev/shm"};

static bool same_name(const char *a, const char *name)
{
	for (; *a && *name; a++, name++) {
		char c = *a == '_' ? '-' : *a;

		if (c >= 'a' && c <= 'z')
			c = (char)(c - 'a' + 'A');
		if (c != *name)
			return false;
	}
	return *a == *name;
}

int policy_profile_parse(const char *name, enum policy_profile *out)
{
	if (strlen(name) > 8 &&
		(str_after(name, "PROFILE-") || str_after(name, "profile-")))
		name += 8;
	for (unsigned i = 0; i < POLICY_PROFILES; i++) {
		if (same_name(name, str_nth(profile_names, i))) {
			*out = (enum policy_profile)i;
			return 0;
		}
	}
	return -EINVAL;
}

const char *policy_profile_name(enum policy_profile profile)
{
	return str_nth(profile_names, profile);
}

const char *policy_decision_name(enum policy_decision decision)
{
	return str_nth(POLICY_DECISIONS, decision);
}

const char *policy_layer_name(enum policy_layer layer)
{
	return str_nth("system\0user\0project\0", layer);
}

enum policy_profile policy_profile(
	const struct policy *p, const char *wish, struct diag *d)
{
	enum policy_profile now = POLICY_DEV, asked;

	diag_fail(d, -EINVAL, "%s", "");
	if (p->state == POLICY_BROKEN)
		return POLICY_SAFE;
	for (unsigned i = 0; i < POLICY_LAYERS; i++) {
		unsigned use =
			p->layer[i] ? p->layer[i]->head->use : POLICY_PROFILES;

		if (i == POLICY_LAYER_SYSTEM && p->use)
			use = p->use - 1U;
		if (use < POLICY_PROFILES && (i == 0 || use < (unsigned)now))
			now = (enum policy_profile)use;
	}
	if (!wish || !*wish)
		return now;
	if (policy_profile_parse(wish, &asked) < 0) {
		diag_fail(
			d, -EINVAL, "%s: no such profile, SAFE is taken", wish);
		diag_hint(d, "one of SAFE, DEV, FULL-AUTO, OBSERVE");
		return POLICY_SAFE;
	}
	if (asked > now) {
		diag_fail(d, -EPERM,
			"profile %s is looser than %s, which stays in force",
			policy_profile_name(asked), policy_profile_name(now));
		diag_hint(d, "say `use %s` in " POLICY_SYSTEM,
			policy_profile_name(asked));
		return now;
	}
	return asked;
}

const char *policy_place(const char *pattern, const char *root,
	const char *home, const char **rest)
{
	const char *behind = str_after(pattern, "$HOME"), *place = home;

	if (!behind) {
		behind = str_after(pattern, "$ROOT");
		place = root;
	}
	if (!behind || (*behind && *behind != '/')) {
		*rest = pattern;
		return "";
	}
	*rest = behind;
	return place;
}

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
