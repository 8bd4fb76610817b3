/* guard_env.c - the command's environment, and its place for temporary files
 * SPDX-License-Identifier: MIT
 */
#include "guard/guard_in.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/file.h"
#include "base/path.h"
#include "base/str.h"

/* What a make around us tells one below us: flags, overrides, the job server.
 * It is the caller's word; a command's own is denied where it sets it. */
static bool of_make(const struct guard *g, const char *name)
{
	const char *rest = str_after(name, "MAKE");

	return rest && (str_eq(rest, "FLAGS") || str_eq(rest, "LEVEL")) &&
		!g->q->saved_env && env_get(g->q->env, "MAKELEVEL");
}

static bool keeps(const struct guard *g, const char *name)
{
	if (of_make(g, name))
		return true;
	switch (policy_env(&g->grants, name)) {
	case POLICY_ENV_KEEP:
		return true;
	case POLICY_ENV_DROP:
		return g->q->saved_env && !g->q->strict;
	case POLICY_ENV_DENY:
		return false;
	}
	return false;
}

/* What the environment keeps under the policy; of what was asked for by name, all
 * that is not denied. */
static int keep_allowed(struct guard *g, char *const *from, bool by_name)
{
	for (char *const *pair = from; pair && *pair; pair++) {
		char name[256];
		size_t n = strcspn(*pair, "=");
		int err;

		if (!n || !(*pair)[n] || n >= sizeof name)
			continue;
		memcpy(name, *pair, n);
		name[n] = '\0';
		if (by_name ? g->grants.confine &&
				      policy_env(&g->grants, name) ==
					      POLICY_ENV_DENY
			    : !keeps(g, name))
			continue;
		err = env_put(&g->env, *pair);
		if (err)
			return err;
	}
	return 0;
}

int guard_own_dir(const struct guard *g, int in, const char *name,
	struct diag *d)
{
	int dir = file_private_dir(in, name, g->uid, true, d);
	struct stat st;

	/* Nobody else can put another one in its place. */
	if (dir >= 0 || fstatat(in, name, &st, AT_SYMLINK_NOFOLLOW) ||
		!S_ISDIR(st.st_mode) || st.st_uid != g->uid ||
		fchmodat(in, name, 0700, 0))
		return dir;
	return file_private_dir(in, name, g->uid, true, d);
}

static int set_temporary(struct guard *g)
{
	char prefix[SESSION_BASE_MAX + 48];
	const char *tmp = guard_owns(g, "/tmp") ? "/tmp" : g->tmp;
	int err;

	if (!tmp[0])
		return 0;
	err = env_set(&g->env, "TMPDIR", tmp);
	/* zsh's own word for it. */
	if (!err)
		err = path_join(prefix, sizeof prefix, tmp, "zsh");
	return err ? err : env_set(&g->env, "TMPPREFIX", prefix);
}

int guard_make_env(struct guard *g, struct diag *d)
{
	char *const *from = g->q->saved_env ? g->q->saved_env : g->q->env;
	int err = 0;

	if (!g->grants.confine) {
		for (; !err && from && *from; from++)
			err = env_add(&g->env, *from);
	} else {
		err = keep_allowed(g, from, false);
	}
	if (!err)
		err = keep_allowed(g, g->q->also_env, true);
	if (g->grants.confine) {
		for (size_t i = 0; !err && i < g->grants.env_set.count; i++)
			err = env_put(&g->env, g->grants.env_set.item[i]);
		if (!err && !g->q->inside)
			err = guard_find_places(g);
		if (!err && !g->q->inside)
			err = set_temporary(g);
		if (!err && !g->q->inside)
			err = guard_find_cache(g, d);
	}
	if (!err)
		err = env_set(&g->env, "WARDBOX_IN_SESSION", "1");
	if (!err)
		err = env_set(&g->env, "WARDBOX_SESSION_ID", g->r->session);
	if (!err && g->grants.confine)
		err = guard_set_caches(g);
	return err ? diag_errno(d, err, "cannot make the environment") : 0;
}

int guard_lose_view(struct guard *g)
{
	g->plan.view = false;
	g->place_count = 0;
	return set_temporary(g);
}
