/* policy.c - names, and which profile is in force
 * SPDX-License-Identifier: MIT
 */
#include "policy/policy.h"

#include <errno.h>
#include <string.h>

#include "base/path.h"
#include "policy/policy_image.h"
#include "base/str.h"

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
