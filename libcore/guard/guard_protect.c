/* guard_protect.c - protected names of the project: looked at, put back, told
 * SPDX-License-Identifier: MIT
 *
 * `git -c KEY=VALUE` and `--git-dir=` are judged where they stand in a line. The
 * same can be said by variables, which any program sets for the git that it
 * starts: they are judged by what they say.
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
#include "protect/gitconf.h"

struct git_env {
	const struct guard *g;
	const char *cwd;
	const char *const *var; /* NAME=VALUE, NULL behind the last */
	char key[GITCONF_NAME_MAX]; /* the setting that was found */
	const char *from;           /* the variable that brings it */
};

static const char *git_var(const struct git_env *e, const char *name)
{
	const size_t n = strlen(name);

	for (size_t i = 0; e->var[i]; i++)
		if (strncmp(e->var[i], name, n) == 0 && e->var[i][n] == '=')
			return e->var[i] + n + 1;
	return NULL;
}

/* Would a program of the project gain rights by being started by git? Not where
 * it may run by itself, and the tree has only the profile's network. */
static bool project_gains(const struct guard *g)
{
	return !g->terms.grants.strangers ||
		g->out->verdict.net > g->terms.grants.net;
}

static bool git_runs(struct git_env *e, const char *from, const char *key,
	const char *value)
{
	if (!policy_git_runs(e->g->terms.policy, key, value))
		return false;
	if (policy_git_once(e->g->terms.policy, key, value) &&
		!project_gains(e->g))
		return false;
	str_copy(e->key, sizeof e->key, key);
	e->from = from;
	return true;
}

/* GIT_CONFIG_COUNT settings, each in a pair of variables. */
static bool counted_runs(struct git_env *e)
{
	enum { PREFIX = sizeof "GIT_CONFIG_KEY_" - 1, NAME = 64 };
	char name[NAME];

	if (!git_var(e, "GIT_CONFIG_COUNT"))
		return false;
	for (size_t i = 0; e->var[i]; i++) {
		const char *number = str_after(e->var[i], "GIT_CONFIG_KEY_");
		const char *eq = number ? strchr(number, '=') : NULL;
		const char *value;

		if (!eq || eq - number > NAME / 2)
			continue;
		value = git_var(e, BUF_PRINT(name, "GIT_CONFIG_VALUE_%.*s",
					   (int)(eq - number), number));
		if (git_runs(e, "GIT_CONFIG_KEY", eq + 1, value ? value : ""))
			return true;
	}
	return false;
}

/* Reads a word in single quotes, as git writes it, to out. Returns what stands
 * behind the word, or NULL. */
static const char *quoted_word(const char *at, struct buf *out)
{
	buf_clear(out);
	if (*at++ != '\'')
		return NULL;
	for (;;) {
		size_t n = strcspn(at, "'");

		buf_add(out, at, n);
		at += n;
		if (!*at++ || out->err)
			return NULL;
		if (at[0] != '\\' || (at[1] != '\'' && at[1] != '!') ||
			at[2] != '\'')
			return at;
		buf_addc(out, at[1]);
		at += 3;
	}
}

/* GIT_CONFIG_PARAMETERS, which `git -c` gives to the git that it starts:
 * 'key'='value', or 'key=value'. */
static bool parameters_run(struct git_env *e)
{
	static const char name[] = "GIT_CONFIG_PARAMETERS";
	const char *at = git_var(e, name), *value = "";
	autobuf struct buf key = BUF_INIT(WATCH_ARGS_MAX);
	autobuf struct buf other = BUF_INIT(WATCH_ARGS_MAX);
	char *eq;

	while (at && *(at += strspn(at, " \n\t"))) {
		at = quoted_word(at, &key);
		if (at && *at == '=') {
			at++;
			if (*at == '\'')
				at = quoted_word(at, &other);
			else
				buf_clear(&other);
			value = buf_str(&other);
		} else if (at && buf_str(&key)) {
			eq = key.len ? strchr(key.data, '=') : NULL;
			value = eq ? eq + 1 : "true";
			if (eq)
				*eq = '\0';
		}
		/* A text that cannot be read may hold any setting. */
		if (!at) {
			str_copy(e->key, sizeof e->key, name);
			e->from = name;
			return true;
		}
		if (git_runs(e, name, buf_str(&key), value))
			return true;
	}
	return false;
}

static int place_setting(void *ctx, const struct gitconf_var *var)
{
	struct git_env *e = ctx;

	return git_runs(e, e->from, var->name, var->value) ? -EACCES : 0;
}

/* Does a settings file hold a setting that runs something? Only a file that the
 * command could have written counts. */
static bool file_runs(struct git_env *e, const char *path)
{
	autobuf struct buf b = BUF_INIT(GITCONF_TEXT_MAX);
	autofd int fd = -1;
	struct stat st;
	int err;

	if (!path_beneath(e->g->place.root, path) &&
		!(e->g->place.tmp[0] && path_beneath(e->g->place.tmp, path)))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return false;
	err = fstat(fd, &st) || !S_ISREG(st.st_mode) ? -EINVAL
						     : buf_read_fd(&b, fd);
	str_copy(e->key, sizeof e->key, "of a file that cannot be read");
	return err || gitconf_read(b.data, b.len, place_setting, e) == -EACCES;
}

/* A variable that names a repository, or a file of settings. */
static bool place_runs(struct git_env *e, const char *name, const char *file)
{
	const char *value = git_var(e, name);
	const char *root = e->g->place.root, *own;
	autofree char *path = malloc(PATH_MAX), *to = malloc(PATH_MAX);

	if (!value || !*value || e->cwd[0] != '/')
		return false;
	e->from = name;
	str_copy(e->key, sizeof e->key, "of a name that is too long");
	if (!path || !to || path_normal(path, PATH_MAX, e->cwd, value) ||
		path_join(to, PATH_MAX, path, file))
		return true;
	/* The project's own settings are compared before and behind the command
	 * (guard_protect.c). */
	own = path_beneath(root, path) ? path + strlen(root) : "";
	if (path_beneath("/.git", own))
		return false;
	return file_runs(e, *file ? to : path);
}

/* Variables that name programs, looked at as the settings that mean the
 * same. */
static bool programs_run(struct git_env *e)
{
	static const struct {
		const char *name, *key;
	} same[] = {
		{"GIT_EXTERNAL_DIFF", "diff.external"},
		{"GIT_SSH_COMMAND", "core.sshcommand"},
		{"GIT_SSH", "core.sshcommand"},
		{"GIT_PROXY_COMMAND", "core.gitproxy"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(same) && project_gains(e->g); i++) {
		const char *value = git_var(e, same[i].name);

		if (value && *value &&
			git_runs(e, same[i].name, same[i].key, value))
			return true;
	}
	return false;
}

static bool env_runs(struct git_env *e)
{
	return counted_runs(e) || parameters_run(e) ||
		place_runs(e, "GIT_DIR", "config") ||
		place_runs(e, "GIT_COMMON_DIR", "config") ||
		place_runs(e, "GIT_CONFIG_GLOBAL", "") ||
		place_runs(e, "GIT_CONFIG_SYSTEM", "") ||
		place_runs(e, "GIT_CONFIG", "") || programs_run(e);
}

static bool is_git(const char *exe)
{
	const char *name = path_base(exe);

	return str_eq(name, "git") || str_after(name, "git-");
}

bool guard_git_denies(const struct guard *g, const struct watch_event *ev,
	const char *cwd, struct policy_verdict *v)
{
	enum { ENV_MAX = 4 << 20, VARS_MAX = 4096 };
	autobuf struct buf env = BUF_INIT(ENV_MAX);
	autofree const char **var = NULL;
	struct git_env e = {.g = g, .cwd = cwd, .from = "the environment"};
	size_t n = 0;
	bool bad;

	if (!g->terms.grants.confine || !is_git(ev->exe))
		return false;
	var = calloc(VARS_MAX + 1, sizeof *var);
	bad = !var || watch_env(ev, &env) || env.err;
	for (size_t at = 0; !bad && at < env.len; n++) {
		if (n == VARS_MAX)
			bad = true;
		else
			var[n] = env.data + at;
		at += strlen(env.data + at) + 1;
	}
	e.var = var;
	if (bad)
		str_copy(e.key, sizeof e.key, "it cannot be read");
	if (!bad && !env_runs(&e))
		return false;
	*v = (struct policy_verdict){
		.decision = POLICY_DENY, .would = POLICY_DENY};
	str_copy(v->rule, sizeof v->rule, "git-config");
	BUF_PRINT(v->command, "git, with %.100s", e.from);
	BUF_PRINT(v->reason, "the setting %.100s may run a program", e.key);
	BUF_PRINT(v->alternative, "leave %.100s unset for git", e.from);
	return true;
}

bool guard_protect_allowed(const struct guard *g)
{
	return g->tree.protect_free ||
	       (g->out->confirmed && g->out->verdict.is & POLICY_IS_PROTECT);
}

static bool protect_runs(void *ctx, const char *name, const char *value)
{
	const struct guard *g = ctx;

	return policy_git_runs(g->terms.policy, name, value);
}

static const char *protect_part(void *ctx, const char *name)
{
	const struct guard *g = ctx;

	return policy_protect_member(g->terms.policy, path_base(name));
}

/* Records a change. Of very many only those that double their number are
 * recorded, as with denied programs. */
static void protect_record(
	struct guard *g, const struct protect_change *c, uint64_t count)
{
	enum { EACH = 64 };
	const struct audit_fact facts[] = {
		{.key = "file", .text = c->name},
		{.key = "what", .text = c->what[0] ? c->what : "the file"},
		{.key = "decision", .text = c->strict ? "deny" : "confirm"},
		{.key = "now",
			.text = c->err        ? "as it was left"
				: c->aside[0] ? c->aside
					      : "as before"},
		{.key = "count", .number = count},
	};
	const bool many = count > EACH;

	if (!(many && count & (count - 1)))
		guard_entry_event(
			g, "protect.restore", facts, ARRAY_SIZE(facts) - !many);
}

static void protect_found(void *ctx, const struct protect_change *c)
{
	enum { TOLD = 8 };
	struct guard *g = ctx;
	struct diag d = {0};

	protect_record(g, c, ++g->tree.put_back);
	if (!g->caller->tell || g->tree.put_back > TOLD)
		return;
	if (c->err)
		diag_errno(&d, c->err, "%.150s changed, and cannot be put back",
			c->name);
	else if (c->what[0])
		diag_fail(&d, -EACCES,
			"put back: %.80s in %.90s (rule protect)", c->what,
			c->name);
	else if (c->aside[0])
		diag_fail(&d, -EACCES,
			"put back: %.80s is %.90s now (rule protect)", c->name,
			c->aside);
	else
		diag_fail(&d, -EACCES,
			"put back: %.150s is as before (rule protect)",
			c->name);
	if (g->tree.put_back == TOLD)
		diag_hint(&d, "there is more: 'wardbox audit' has all of it");
	else if (c->err)
		diag_hint(&d, "look at it before anything runs there");
	else if (!c->strict && g->tree.put_back == 1)
		diag_hint(&d, "a line that names it asks a person");
	g->caller->tell(&d, STDERR_FILENO);
}

/* The policy's protected names, in the form of struct protect_name. */
static size_t protect_names(struct guard *g, struct protect_name *names)
{
	size_t n = 0;

	for (size_t i = 0; i < g->terms.grants.protect_count; i++) {
		const struct policy_protect *p = &g->terms.grants.protect[i];
		const char *slash = strrchr(p->path, '/');
		bool wide = slash &&
			    (size_t)(slash - p->path) > strcspn(p->path, "*?");

		/* A yes to the line covers what the line does to the project's
		 * own files. */
		if (wide || (g->out->confirmed && p->decision != POLICY_DENY &&
				    !str_eq(p->path, ".git")))
			continue;
		names[n++] = (struct protect_name){.path = p->path,
			.tree = p->tree,
			.strict = p->decision == POLICY_DENY};
	}
	return n;
}

int guard_protect_begin(struct guard *g, struct diag *d)
{
	struct protect_spec *s = &g->tree.protect_spec;
	struct protect_name *names;
	int err;

	if (!g->terms.grants.confine || g->box.brief || g->place.inside ||
		!g->place.root[0] || !g->terms.grants.protect_count ||
		str_eq(g->place.root, g->place.tmp) ||
		str_eq(g->place.root, "/dev/null"))
		return 0;
	names = arena_zalloc(
		&g->place.texts, g->terms.grants.protect_count * sizeof *names);
	if (!names)
		return diag_errno(d, -ENOMEM, "protected files");
	g->tree.own_places[0] =
		g->entry.path[0] ? g->entry.path : g->place.base;
	g->tree.own_places[1] =
		g->place.base[0] ? g->place.base : g->entry.path;
	*s = (struct protect_spec){
		.root = g->place.root,
		.cwd = g->place.cwd,
		.names = names,
		.name_count = protect_names(g, names),
		.skip = g->tree.own_places,
		.skip_count = g->tree.own_places[1][0] ? 2 : 0,
		.state = guard_place_base(&g->place, NULL).own,
		.runs = protect_runs,
		.member = protect_part,
		.found = protect_found,
		.ctx = g,
	};
	if (s->state <= 0 || path_beneath(g->place.root, g->place.base))
		s->state = -1;
	err = protect_begin(&g->tree.protect, s);
	return err ? diag_errno(d, err, "cannot look at protected files") : 0;
}

int guard_protect_check(struct guard *g, struct diag *d)
{
	int err;

	if (!g->tree.protect)
		return 0;
	g->tree.protect_spec.allowed = guard_protect_allowed(g);
	err = protect_check(g->tree.protect);
	return err ? diag_errno(d, err,
			     "protected files of %.100s cannot be put back",
			     g->place.root)
		   : 0;
}
