/* profile_files.c - which files a shell reads when it starts, and which of
 * them get written
 * SPDX-License-Identifier: MIT
 */
#include "profile_files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "buf.h"
#include "file.h"
#include "path.h"
#include "profile_line.h"
#include "rc_path.h"
#include "rcfile.h"
#include "str.h"

/* A home or a ZDOTDIR longer than this is refused. */
enum { DIR_MAX = 2048 };

struct listing {
	struct profile_files *files;
	const struct profile_place *place;
	int err;
};

const char *profile_session_name(unsigned index)
{
	static const char names[SESSIONS][24] = {"login_interactive",
		"login_noninteractive", "nonlogin_interactive",
		"nonlogin_noninteractive"};

	return names[index];
}

static struct profile_file *add(
	struct listing *l, const char *dir, const char *name, unsigned sessions)
{
	struct profile_file *f;

	if (l->err)
		return NULL;
	if (l->files->count == PROFILE_FILES) {
		l->err = -E2BIG;
		return NULL;
	}
	f = &l->files->file[l->files->count];
	*f = (struct profile_file){.sessions = sessions};
	l->err = path_join(f->path, sizeof f->path, dir, name);
	if (l->err)
		return NULL;
	f->exists = access(f->path, F_OK) == 0;
	l->files->count++;
	return f;
}

static struct profile_file *add_home(
	struct listing *l, const char *name, unsigned sessions)
{
	return add(l, l->place->home, name, sessions);
}

static struct profile_file *add_system(
	struct listing *l, const char *path, unsigned sessions)
{
	const char *root = l->place->root;
	struct profile_file *f = add(l, *root ? root : "/", path + 1, sessions);

	if (f)
		f->system = true;
	return f;
}

/* The first of two places that exists, else the second. */
static void add_system_either(struct listing *l, const char *path,
	const char *other, unsigned sessions)
{
	struct profile_file *f = add_system(l, path, sessions);

	if (f && !f->exists) {
		l->files->count--;
		add_system(l, other, sessions);
	}
}

/* $ENV and $BASH_ENV: a path that may begin with the home. */
static void add_variable(
	struct listing *l, const char *value, unsigned sessions)
{
	size_t prefix;

	if (!value || !*value)
		return;
	prefix = profile_home_prefix(value);
	if (prefix)
		add_home(l, value + prefix + (value[prefix] == '/'), sessions);
	else if (value[0] == '/')
		add(l, "/", value + 1, sessions);
}

/* Only the first that exists is read. */
static void add_first(
	struct listing *l, const char *const *names, unsigned sessions)
{
	const char *winner = NULL;

	for (; *names; names++) {
		struct profile_file *f = add_home(l, *names, sessions);

		if (!f)
			return;
		if (winner && f->exists)
			f->shadowed_by = winner;
		if (winner)
			f->sessions = 0;
		else if (f->exists)
			winner = *names;
	}
}

static const char *const bash_login[] = {
	".bash_profile", ".bash_login", ".profile", NULL};
static const char *const csh_rc[] = {".tcshrc", ".cshrc", NULL};

static void list_bash(struct listing *l)
{
	add_system(l, "/etc/profile", SESSION_LOGIN);
	add_system(l, "/etc/profile.d", SESSION_LOGIN);
	add_first(l, bash_login, SESSION_LOGIN);
	add_system_either(
		l, "/etc/bash.bashrc", "/etc/bashrc", SESSION_INTERACTIVE);
	add_home(l, ".bashrc", SESSION_INTERACTIVE);
	add_variable(
		l, l->place->bash_env, SESSION_LOGIN_COMMAND | SESSION_COMMAND);
}

static void list_sh(struct listing *l, const char *rc)
{
	unsigned interactive = SESSION_LOGIN_INTERACTIVE | SESSION_INTERACTIVE;

	add_system(l, "/etc/profile", SESSION_LOGIN);
	add_system(l, "/etc/profile.d", SESSION_LOGIN);
	add_home(l, ".profile", SESSION_LOGIN);
	if (l->place->env && *l->place->env)
		add_variable(l, l->place->env, interactive);
	else if (rc)
		add_home(l, rc, interactive);
}

static void list_zsh(struct listing *l)
{
	unsigned interactive = SESSION_LOGIN_INTERACTIVE | SESSION_INTERACTIVE;
	char z[DIR_MAX];

	l->err = profile_zdotdir(l->place, z, sizeof z);
	add_system_either(l, "/etc/zsh/zshenv", "/etc/zshenv", SESSION_ALL);
	/* This one is looked for before ZDOTDIR can be set in it. */
	if (l->place->zdotdir)
		add(l, l->place->zdotdir, ".zshenv", SESSION_ALL);
	else
		add_home(l, ".zshenv", SESSION_ALL);
	add_system_either(
		l, "/etc/zsh/zprofile", "/etc/zprofile", SESSION_LOGIN);
	add(l, z, ".zprofile", SESSION_LOGIN);
	add_system_either(l, "/etc/zsh/zshrc", "/etc/zshrc", interactive);
	add(l, z, ".zshrc", interactive);
	add_system_either(l, "/etc/zsh/zlogin", "/etc/zlogin", SESSION_LOGIN);
	add(l, z, ".zlogin", SESSION_LOGIN);
}

/* fish's own directory, under XDG_CONFIG_HOME when that is absolute. */
static struct profile_file *add_fish(
	struct listing *l, const char *name, unsigned sessions)
{
	char dir[DIR_MAX];
	const char *xdg = l->place->xdg_config;

	if (!l->err)
		l->err = xdg && xdg[0] == '/'
				 ? path_join(dir, sizeof dir, xdg, "fish")
				 : path_join(dir, sizeof dir, l->place->home,
					   ".config/fish");
	return l->err ? NULL : add(l, dir, name, sessions);
}

static void list_fish(struct listing *l)
{
	add_fish(l, "conf.d", SESSION_ALL);
	add_system(l, "/etc/fish/conf.d", SESSION_ALL);
	add_system(l, "/etc/fish/config.fish", SESSION_ALL);
	add_fish(l, "config.fish", SESSION_ALL);
}

static void list_csh(struct listing *l)
{
	add_system(l, "/etc/csh.cshrc", SESSION_ALL);
	add_system(l, "/etc/csh.login", SESSION_LOGIN);
	add_first(l, csh_rc, SESSION_ALL);
	add_home(l, ".login", SESSION_LOGIN);
}

int profile_files_list(struct profile_files *files, enum shell_kind kind,
	const struct profile_place *place)
{
	struct listing l = {.files = files, .place = place};

	files->count = 0;
	if (!shellkind_writable(kind))
		return -EINVAL;
	if (kind == SHELL_BASH)
		list_bash(&l);
	else if (kind == SHELL_ZSH)
		list_zsh(&l);
	else if (kind == SHELL_FISH)
		list_fish(&l);
	else if (shellkind_family(kind) == FAMILY_CSH)
		list_csh(&l);
	else
		list_sh(&l, kind == SHELL_MKSH  ? ".mkshrc"
			    : kind == SHELL_KSH ? ".kshrc"
						: NULL);
	return l.err;
}

struct zdotdir_ctx {
	struct buf value;
};

static int find_zdotdir(void *ctx, const struct rc_cmd *cmd)
{
	struct zdotdir_ctx *c = ctx;
	autobuf struct buf value = BUF_INIT(PATH_MAX);

	if (cmd->guards || cmd->in_function ||
		!rc_var_change(cmd, FAMILY_SH, "ZDOTDIR", &value) ||
		!value.len || value.data[0] != '/' ||
		memchr(value.data, RC_UNKNOWN, value.len))
		return 0;
	buf_clear(&c->value);
	buf_add(&c->value, value.data, value.len);
	return 0;
}

int profile_zdotdir(const struct profile_place *place, char *out, size_t size)
{
	autobuf struct buf text = BUF_INIT(RC_TEXT_MAX);
	const char *first = place->zdotdir && place->zdotdir[0] == '/'
				    ? place->zdotdir
				    : place->home;
	struct zdotdir_ctx ctx = {.value = BUF_INIT(PATH_MAX)};
	struct rc_visitor visitor = {.command = find_zdotdir, .ctx = &ctx};
	struct rc_source source = {.family = FAMILY_SH, .home = place->home};
	int err = path_join(out, size, first, ".zshenv");

	if (!err && file_read(AT_FDCWD, out, &text) == 0) {
		source.text = buf_str(&text);
		source.len = text.len;
		rc_scan(&source, &visitor);
	}
	if (!err)
		err = str_copy(
			out, size, ctx.value.len ? buf_str(&ctx.value) : first);
	buf_release(&ctx.value);
	return err;
}

/* The one of names that exists, else the last. */
static void target_first(
	struct listing *l, const char *const *names, unsigned sessions)
{
	for (; *names; names++) {
		struct profile_file *f = add_home(l, *names, sessions);

		if (!f || f->exists || !names[1])
			return;
		l->files->count--;
	}
}

static void targets_sh(struct listing *l, const char *rc, unsigned scope)
{
	unsigned interactive = SESSION_LOGIN_INTERACTIVE | SESSION_INTERACTIVE;
	size_t before;

	if (scope & (SCOPE_LOGIN | SCOPE_ALL))
		add_home(l, ".profile", SESSION_LOGIN);
	if (!(scope & (SCOPE_INTERACTIVE | SCOPE_ALL)))
		return;
	before = l->files->count;
	add_variable(l, l->place->env, interactive);
	/* A file that is not the user's own is left alone. */
	if (l->files->count > before &&
		!path_beneath(l->place->home, l->files->file[before].path))
		l->files->count = before;
	if (l->files->count == before && rc)
		add_home(l, rc, interactive);
	else if (l->files->count == before && !before)
		add_home(l, ".profile", SESSION_LOGIN);
}

static void targets_zsh(struct listing *l, unsigned scope)
{
	char z[DIR_MAX];

	l->err = profile_zdotdir(l->place, z, sizeof z);
	if (scope & SCOPE_ALL)
		add(l, l->place->zdotdir ? l->place->zdotdir : l->place->home,
			".zshenv", SESSION_ALL);
	if (scope & (SCOPE_LOGIN | SCOPE_ALL))
		add(l, z, ".zprofile", SESSION_LOGIN);
	if (scope & (SCOPE_INTERACTIVE | SCOPE_ALL))
		add(l, z, ".zshrc",
			SESSION_LOGIN_INTERACTIVE | SESSION_INTERACTIVE);
}

static void target_fish(struct listing *l, const char *id)
{
	char name[96];
	struct buf b = BUF_FIXED(name);

	buf_addf(&b, "conf.d/profile-%s.fish", id);
	add_fish(l, buf_str(&b), SESSION_ALL);
}

int profile_targets_user(struct profile_files *files, enum shell_kind kind,
	unsigned scope, const char *id, const struct profile_place *place)
{
	struct listing l = {.files = files, .place = place};

	files->count = 0;
	if (!shellkind_writable(kind))
		return -EINVAL;
	if (kind == SHELL_BASH) {
		if (scope & (SCOPE_LOGIN | SCOPE_ALL))
			target_first(&l, bash_login, SESSION_LOGIN);
		if (scope & (SCOPE_INTERACTIVE | SCOPE_ALL))
			add_home(&l, ".bashrc", SESSION_INTERACTIVE);
	} else if (kind == SHELL_ZSH) {
		targets_zsh(&l, scope);
	} else if (kind == SHELL_FISH) {
		target_fish(&l, id);
	} else if (shellkind_family(kind) == FAMILY_CSH) {
		target_first(&l, csh_rc, SESSION_ALL);
	} else {
		targets_sh(&l,
			kind == SHELL_MKSH  ? ".mkshrc"
			: kind == SHELL_KSH ? ".kshrc"
					    : NULL,
			scope);
	}
	return l.err;
}

int profile_targets_system(struct profile_files *files, enum shell_kind kind,
	const char *id, bool force, const struct profile_place *place,
	struct diag *d)
{
	struct listing l = {.files = files, .place = place};
	char name[160];
	struct buf b = BUF_FIXED(name);

	files->count = 0;
	if (kind == SHELL_FISH) {
		buf_addf(&b, "/etc/fish/conf.d/profile-%s.fish", id);
		add_system(&l, buf_str(&b), SESSION_ALL);
	} else if (kind == SHELL_ZSH) {
		if (!force) {
			diag_fail(d, -EPERM,
				"zsh reads no system file but the one that "
				"every script reads: /etc/zsh/zshenv");
			diag_hint(d, "--force writes it");
			return -EPERM;
		}
		add_system_either(
			&l, "/etc/zsh/zshenv", "/etc/zshenv", SESSION_ALL);
	} else if (shellkind_family(kind) == FAMILY_SH) {
		buf_addf(&b, "/etc/profile.d/profile-%s.sh", id);
		add_system(&l, buf_str(&b), SESSION_LOGIN);
	} else {
		return diag_fail(d, -EPERM,
			"no system-wide file is known for %s",
			shellkind_name(kind));
	}
	return l.err;
}
