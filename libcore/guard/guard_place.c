/* guard_place.c - where a command runs: directory, project, user, state
 * SPDX-License-Identifier: MIT
 */
#include "guard/guard_in.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "base/str.h"
#include "sys/file.h"
#include "sys/probe.h"

int guard_keep(struct arena *texts, const char **where, const char *text)
{
	size_t n = strlen(text) + 1;
	char *copy = arena_bytes(texts, n);

	if (!copy)
		return -ENOMEM;
	*where = memcpy(copy, text, n);
	return 0;
}

int guard_place_find(
	struct guard_place *p, const struct guard_caller *who, struct diag *d)
{
	const char *home = env_get(who->env, "HOME");
	char cwd[PATH_MAX];
	int err;

	p->uid = geteuid();
	p->inside = probe_inside();
	p->real = !who->cwd;
	if (home && home[0] == '/')
		p->home = home;
	if (p->inside) {
		p->around = env_get(who->env, "TMPDIR");
		p->around = p->around ? p->around : "";
	}
	if (who->cwd)
		err = path_normal(cwd, sizeof cwd, NULL, who->cwd);
	else
		err = path_cwd(cwd, sizeof cwd);
	/* A directory that is gone gives no names; the command still starts in
	 * it. */
	if (err == -ENOENT && !who->cwd) {
		memcpy(cwd, "/", 2);
		err = 0;
	}
	if (!err)
		err = guard_keep(&p->texts, &p->cwd, cwd);
	return err ? diag_errno(d, err, "the current directory") : 0;
}

void guard_place_release(struct guard_place *p)
{
	if (p->lay > 0 && p->lay != p->own)
		close(p->lay);
	if (p->own > 0)
		close(p->own);
	if (p->at_dir > 0)
		close(p->at_dir);
	arena_release(&p->texts);
	*p = GUARD_PLACE_INIT;
}

struct session_where guard_place_base(struct guard_place *p, struct diag *d)
{
	struct session_where where = {
		.cwd = p->cwd,
		.real = p->real,
		.workspace = p->root[0] ? p->root : NULL,
		.uid = p->uid,
		.guarded = p->around,
		.sha = p->sha,
	};
	char base[SESSION_BASE_MAX];

	if (!p->own) {
		p->own = session_base(&where, true, base, d);
		if (p->own >= 0 && guard_keep(&p->texts, &p->base, base)) {
			close(p->own);
			p->own = -ENOMEM;
		}
	}
	if (!p->cgroups) {
		autobuf struct buf text = BUF_INIT(SESSION_CGROUPS_MAX);

		(void)guard_keep(
			&p->texts, &p->cgroups, session_cgroups(&text));
	}
	where.cgroups = p->cgroups;
	where.own = p->own;
	return where;
}

int guard_place_dir(
	const struct guard_place *p, int in, const char *name, struct diag *d)
{
	int dir = file_private_dir(in, name, p->uid, true, d);
	struct stat st;

	/* The parent is private, so nobody else can replace the directory
	 * meanwhile. */
	if (dir >= 0 || fstatat(in, name, &st, AT_SYMLINK_NOFOLLOW) ||
		!S_ISDIR(st.st_mode) || st.st_uid != p->uid ||
		fchmodat(in, name, 0700, 0))
		return dir;
	return file_private_dir(in, name, p->uid, true, d);
}

/* The session's workspace; NULL where that is only the place for temporary
 * files, because the session began without a project. */
static const char *workspace_of(struct guard_place *p, const char *from)
{
	if (!from || from[0] != '/' ||
		(str_ends(from, "/tmp") && !guard_place_tmp(p) &&
			str_eq(from, p->tmp)))
		return NULL;
	return from;
}

int guard_place_project(struct guard_place *p, const struct policy *policy,
	const char *workspace, const struct guard_command *command,
	struct diag *d)
{
	const char *from = workspace_of(p, workspace);
	struct policy_spot at = {
		.cwd = from ? from : p->cwd,
		.home = p->home,
		.uid = p->uid,
	};
	autofree char *path = malloc(PATH_MAX);
	int err;

	if (!path)
		return -ENOMEM;
	if (!from && command && command->kind == GUARD_LINE) {
		at.line = command->text;
		at.len = command->len;
	}
	err = policy_find_root(policy, &at, path, PATH_MAX, NULL);
	if (err == -ENOENT) {
		p->no_project = true;
		return 0;
	}
	if (!err)
		err = guard_keep(&p->texts, &p->root, path);
	p->whole = !err && str_eq(path, "/");
	return err ? diag_errno(d, err, "%s: cannot find its project", p->cwd)
		   : 0;
}
