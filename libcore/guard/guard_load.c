/* guard_load.c - which policy, which profile, which project
 * SPDX-License-Identifier: MIT
 */
#include "guard/guard_in.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "base/str.h"

/* Its own temporary files are all that a command without a project may write.
 * Who only observes needs no place for them, and takes all else for what lies
 * outside. */
static int jail_in_tmp(struct guard *g, struct diag *d)
{
	int err = guard_find_tmp(g);

	g->root = g->tmp[0] ? g->tmp : POLICY_NOWHERE;
	if (g->tmp[0] || g->r->profile == POLICY_OBSERVE)
		return 0;
	return diag_fail(d, err ? err : -ENOENT,
		"%s is no project, and there is no place for temporary files"
		"\036'install -d -o 0 -m 1777 /run/wardbox', by root, makes one",
		g->cwd);
}

/* The session's workspace; NULL where that is but the place for temporary files
 * of who began it without a project. */
static const char *workspace(struct guard *g)
{
	const char *from = g->q->workspace;

	if (!from || from[0] != '/' ||
		(str_ends(from, "/tmp") && !guard_find_tmp(g) &&
			str_eq(from, g->tmp)))
		return NULL;
	return from;
}

/* The session's project where a session has one, else that of cwd. */
int guard_find_root(struct guard *g, struct diag *d)
{
	const char *from = workspace(g);
	struct policy_spot at = {
		.cwd = from ? from : g->cwd,
		.home = g->home,
		.uid = g->uid,
	};
	autofree char *path = malloc(PATH_MAX);
	int err;

	if (!path)
		return -ENOMEM;
	if (!from && g->q->kind == GUARD_LINE) {
		at.line = g->q->text;
		at.len = g->q->len;
	}
	err = policy_find_root(g->policy, &at, path, PATH_MAX, NULL);
	if (err == -ENOENT) {
		g->no_project = true;
		return 0;
	}
	if (!err)
		err = guard_keep(g, &g->root, path);
	return err ? diag_errno(d, err, "%s: cannot find its project", g->cwd)
		   : 0;
}

/* The policy is out of a guarded tree's reach, and no longer asked: what is left
 * to tell is which variables outlive a command. */
static int load_built_in(struct guard *g, struct diag *d)
{
	const struct policy_where nowhere = {.uid = g->uid, .brief = true};
	int err = policy_load(&g->policy, &nowhere, d);

	g->r->profile = POLICY_OBSERVE;
	if (!err)
		err = guard_find_root(g, d);
	/* What is around us has its own idea of where the project is. */
	if (!err && g->no_project)
		g->root = g->cwd;
	return err;
}

/* The policy that lies in the project comes on top of what told where that is. */
static int load_project(
	struct guard *g, struct policy_where *where, struct diag *d)
{
	autobuf struct buf path = BUF_INIT(PATH_MAX);
	int err;

	buf_addf(&path, "%s/.wardbox/policy", g->root);
	if (g->no_project ||
		access(buf_str(&path), F_OK))
		return 0;
	policy_free(g->policy);
	g->policy = NULL;
	err = guard_keep(g, &where->project, buf_str(&path));
	return err ? err : policy_load(&g->policy, where, d);
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
	if (!err)
		err = policy_load(&g->policy, &where, d);
	if (!err)
		err = guard_find_root(g, d);
	if (!err)
		err = load_project(g, &where, d);
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
	return g->no_project ? jail_in_tmp(g, d) : 0;
}

int guard_load(struct guard *g, struct diag *d)
{
	int err = guard_load_policy(g, d);

	return err ? err
		   : policy_grants(g->policy, g->r->profile, g->root, g->home,
			     &g->grants);
}
