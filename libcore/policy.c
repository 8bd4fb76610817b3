/* policy.c - names, and which profile is in force
 * SPDX-License-Identifier: MIT
 */
#include "policy.h"

#include <errno.h>
#include <string.h>

#include "path.h"
#include "policy_image.h"
#include "str.h"

static const char *const profile_names[POLICY_PROFILES] = {
	[POLICY_SAFE] = "SAFE",
	[POLICY_DEV] = "DEV",
	[POLICY_FULL_AUTO] = "FULL-AUTO",
	[POLICY_OBSERVE] = "OBSERVE",
};

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
		if (same_name(name, profile_names[i])) {
			*out = (enum policy_profile)i;
			return 0;
		}
	}
	return -EINVAL;
}

const char *policy_profile_name(enum policy_profile profile)
{
	return profile < POLICY_PROFILES ? profile_names[profile] : "?";
}

const char *policy_decision_name(enum policy_decision decision)
{
	static const char *const name[] = {"allow", "confirm", "deny"};

	return decision <= POLICY_DENY ? name[decision] : "?";
}

const char *policy_layer_name(enum policy_layer layer)
{
	static const char *const name[] = {"system", "user", "project"};

	return layer < POLICY_LAYERS ? name[layer] : "?";
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

static bool has_marker(const struct policy *p, const char *dir)
{
	const struct policy_image *sys = p->layer[POLICY_LAYER_SYSTEM];
	char path[4096 - 1024];

	for (uint32_t i = 0; sys && i < sys->head->set[IMG_SET_ROOT].count; i++)
		if (path_join(path, sizeof(path), dir,
			    img_ref(sys, sys->head->set[IMG_SET_ROOT], i)) ==
				0 &&
			access(path, F_OK) == 0)
			return true;
	return false;
}

int policy_find_root(const struct policy *p, const char *cwd, const char *home,
	char *out, size_t size)
{
	char *slash;

	if (str_copy(out, size, cwd) < 0)
		return -ENAMETOOLONG;
	while (out[0] == '/' && out[1] && !(home && str_eq(out, home))) {
		if (has_marker(p, out))
			return 0;
		slash = strrchr(out, '/');
		slash[slash == out] = 0;
	}
	return str_copy(out, size, cwd);
}
