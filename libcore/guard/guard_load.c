/* guard_load.c - which policy, which profile, which project
 * SPDX-License-Identifier: MIT
 */
#include "guard/guard_in.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "base/str.h"

/* Where the project is looked for. */
static const char *workspace(const struct guard *g)
{
	const char *from = g->q->workspace;

	return from && from[0] == '/' ? from : g->cwd;
}

/* The nearest directory that claims to be a project's, for finding the layer
 * of the policy that lies in it. */
static int project_policy(const struct guard *g, char *out, size_t size)
{
	static const char name[] = "/.wardbox/policy";
	size_t n;

	if (path_normal(out, size, NULL, workspace(g)))
		return -EINVAL;
	n = strlen(out);
	while (n > 1) {
		if (n + sizeof name > size)
			return -ENAMETOOLONG;
		memcpy(out + n, name, sizeof name);
		if (access(out, F_OK) == 0)
			return 0;
		while (n > 1 && out[n - 1] != '/')
			n--;
		while (n > 1 && out[n - 1] == '/')
			n--;
	}
	return -ENOENT;
}

/* A command started in "/" has no project: a jail that holds the policy, the
 * log and the programs would be none. */
static bool holds_the_system(const char *root)
{
	static const char *const kept[] = {
		"/etc/wardbox", "/var/log/wardbox", "/run/wardbox", "/usr/bin",
		"/bin", "/dev/null", "/proc/self"};

	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		if (path_beneath(root, kept[i]))
			return true;
	return false;
}

/* Then its own temporary files are all that it may touch. Who only observes
 * needs no place for them, and takes all else for what lies outside. */
static int jail_in_tmp(struct guard *g, struct diag *d)
{
	int err = guard_find_tmp(g);

	g->root = g->tmp[0] ? g->tmp : "/dev/null";
	if (g->tmp[0] || g->r->profile == POLICY_OBSERVE)
		return 0;
	return diag_fail(d, err ? err : -ENOENT,
		"%s is no project, and there is no place for temporary files"
		"\036'install -d -o 0 -m 1777 /tmp/wardbox', by root, makes one",
		g->cwd);
}

int guard_find_root(struct guard *g, struct diag *d)
{
	char path[PATH_MAX];
	int err = policy_find_root(
		g->policy, workspace(g), g->home, path, sizeof path);

	if (!err)
		err = guard_keep(g, &g->root, path);
	return err ? diag_errno(d, err, "%s: cannot find its project", g->cwd)
		   : 0;
}

static int find_project(struct guard *g, struct diag *d)
{
	int err = guard_find_root(g, d);

	return !err && !g->guarded && holds_the_system(g->root) ?
		       jail_in_tmp(g, d) :
		       err;
}

/* The policy is out of a guarded tree's reach, and no longer asked: what is left
 * to tell is which variables outlive a command. */
static int load_built_in(struct guard *g, struct diag *d)
{
	const struct policy_where nowhere = {.uid = g->uid, .brief = true};
	int err = policy_load(&g->policy, &nowhere, d);

	g->r->profile = POLICY_OBSERVE;
	return err ? err : find_project(g, d);
}

int guard_load_policy(struct guard *g, struct diag *d)
{
	struct policy_where where = {
		.system = POLICY_SYSTEM,
		.system_dir = POLICY_SYSTEM_DIR,
		.image = POLICY_IMAGE,
		.key = POLICY_KEY,
		.uid = g->uid,
		.brief = true,
	};
	struct diag wish = {0};
	char path[PATH_MAX];
	int err, user;

	if (g->guarded)
		return load_built_in(g, d);
	user = policy_user_file(env_get(g->q->env, "XDG_CONFIG_HOME"), g->home,
		g->uid, path, sizeof path);
	err = guard_keep(g, &g->user_policy, path);
	if (user != -ENOENT && user != -ENOTDIR && user != -EPERM)
		where.user = g->user_policy;
	if (!project_policy(g, path, sizeof path))
		where.project = path;
	if (!err)
		err = policy_load(&g->policy, &where, d);
	if (err)
		return err;
	policy_keep(g->policy, &where);
	g->said = g->policy->why;
	g->r->profile = policy_profile(g->policy, g->q->profile, &wish);
	if (user == -EPERM && !wish.text[0])
		diag_fail(&wish, user, "%s is somebody else's: not followed",
			g->user_policy);
	if (wish.text[0] && !g->said.text[0])
		g->said = wish;
	return find_project(g, d);
}

int guard_load(struct guard *g, struct diag *d)
{
	int err = guard_load_policy(g, d);

	return err ? err
		   : policy_grants(g->policy, g->r->profile, g->root, g->home,
			     &g->grants);
}
