/* guard_terms.c - which policy, which profile, and what they grant
 * SPDX-License-Identifier: MIT
 */
#include "guard/guard_in.h"

#include <errno.h>
#include <unistd.h>

#include "base/path.h"
#include "base/str.h"

/* Makes the user's temporary files the jail of a command without a project.
 * OBSERVE confines nothing, so no place for them is needed. */
static int jail_in_tmp(
	struct guard_place *p, enum policy_profile profile, struct diag *d)
{
	int err = guard_place_tmp(p);

	p->root = p->tmp[0] ? p->tmp : POLICY_NOWHERE;
	if (p->tmp[0] || profile == POLICY_OBSERVE)
		return 0;
	return diag_fail(d, err ? err : -ENOENT,
		"%s is no project, and there is no place for temporary files"
		"\036'install -d -o 0 -m 1777 /run/wardbox', by root, makes "
		"one",
		p->cwd);
}

/* In a guarded tree the policy is out of reach and not asked any more; the
 * built-in one still says which variables outlive a command. */
static int load_built_in(struct guard_terms *t, struct guard_place *p,
	const struct guard_caller *who, const struct guard_command *command,
	struct diag *d)
{
	const struct policy_where nowhere = {.uid = p->uid, .brief = true};
	int err = policy_load(&t->policy, &nowhere, d);

	t->profile = POLICY_OBSERVE;
	if (!err)
		err = guard_place_project(
			p, t->policy, who->workspace, command, d);
	/* The guard around decides by itself where the project is. */
	if (!err && p->no_project)
		p->root = p->cwd;
	return err;
}

/* Loads the policy that lies in the project, on top of the policy by which the
 * project was found. */
static int load_project(struct guard_terms *t, struct guard_place *p,
	struct policy_where *where, struct diag *d)
{
	autobuf struct buf path = BUF_INIT(PATH_MAX);
	int err;

	buf_addf(&path, "%s/.wardbox/policy", p->root);
	if (p->no_project || access(buf_str(&path), F_OK))
		return 0;
	policy_free(t->policy);
	t->policy = NULL;
	err = guard_keep(&p->texts, &where->project, buf_str(&path));
	return err ? err : policy_load(&t->policy, where, d);
}

/* Finds the profile in force, and the remark for the policy's owner. */
static void choose_profile(
	struct guard_terms *t, const char *wished, bool foreign)
{
	struct diag wish = {0};

	t->remark = t->policy->why;
	t->profile = policy_profile(t->policy, wished, &wish);
	if (foreign && !wish.text[0])
		diag_fail(&wish, -EPERM, "%s is somebody else's: not followed",
			t->user_file);
	if (wish.text[0] && !t->remark.text[0])
		t->remark = wish;
}

int guard_terms_policy(struct guard_terms *t, struct guard_place *p,
	const struct guard_caller *who, const struct guard_command *command,
	struct diag *d)
{
	struct policy_where where = {
		.system = POLICY_SYSTEM,
		.system_dir = POLICY_SYSTEM_DIR,
		.image = POLICY_IMAGE,
		.key = POLICY_KEY,
		.uid = p->uid,
		.brief = true,
	};
	char path[PATH_MAX];
	int err, user;

	if (p->inside)
		return load_built_in(t, p, who, command, d);
	user = policy_user_file(env_get(who->env, "XDG_CONFIG_HOME"), p->home,
		p->uid, path, sizeof path);
	err = guard_keep(&p->texts, &t->user_file, path);
	if (user != -ENOENT && user != -ENOTDIR && user != -EPERM)
		where.user = t->user_file;
	if (!err)
		err = policy_load(&t->policy, &where, d);
	if (!err)
		err = guard_place_project(
			p, t->policy, who->workspace, command, d);
	if (!err)
		err = load_project(t, p, &where, d);
	if (err)
		return err;
	policy_keep(t->policy, &where);
	choose_profile(t, who->profile, user == -EPERM);
	return p->no_project ? jail_in_tmp(p, t->profile, d) : 0;
}

int guard_terms_load(struct guard_terms *t, struct guard_place *p,
	const struct guard_caller *who, const struct guard_command *command,
	struct diag *d)
{
	int err = guard_terms_policy(t, p, who, command, d);

	return err ? err
		   : policy_grants(t->policy, t->profile, p->root, p->home,
			     &t->grants);
}

void guard_terms_release(struct guard_terms *t)
{
	policy_grants_release(&t->grants);
	policy_free(t->policy);
	t->policy = NULL;
}
