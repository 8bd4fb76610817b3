/* profile_files.c - which files a shell reads when it starts, and which of
 * them get written
 * SPDX-License-Identifier: MIT
 */
#include "profile/profile_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "sys/file.h"
#include "base/path.h"
#include "profile/profile_line.h"
#include "profile/rc_path.h"
#include "profile/rcfile.h"
#include "base/str.h"

/* A home or a ZDOTDIR longer than this is refused. */
enum { DIR_MAX = 2048 };

struct listing {
	struct profile_files *files;
	const struct profile_place *place;
	char dir[DIR_MAX]; /* of zsh's or fish's own files */
	int err;
};

/* Groups of shells with the same files. */
enum { BASH = 1, SH = 2, MKSH = 4, KSH = 8, ZSH = 16, FISH = 32, CSH = 64 };

enum { PRIVATE = SESSION_LOGIN_INTERACTIVE | SESSION_INTERACTIVE };

static const struct row {
	uint8_t groups, sessions;
	uint8_t scopes; /* in which it is written; 0: never */
	enum where {
		HOME,
		SYSTEM,
		OWN,      /* the directory of zsh's or fish's own files */
		ZSHENV,   /* looked for before ZDOTDIR can be set in it */
		ENV,      /* what the variable names */
		BASH_ENV, /* the same */
	} where : 8;
	bool first;   /* of the rows in a row, only one that exists is read */
	bool not_env; /* only while there is no $ENV */
	char name[30]; /* NUL the other place, if it is not there */
} rows[] = {
	{BASH | SH | MKSH | KSH, SESSION_LOGIN, 0, SYSTEM, 0, 0, "etc/profile"},
	{BASH | SH | MKSH | KSH, SESSION_LOGIN, 0, SYSTEM, 0, 0,
		"etc/profile.d"},
	{BASH, SESSION_LOGIN, SCOPE_LOGIN | SCOPE_ALL, HOME, 1, 0,
		".bash_profile"},
	{BASH, SESSION_LOGIN, SCOPE_LOGIN | SCOPE_ALL, HOME, 1, 0,
		".bash_login"},
	{BASH, SESSION_LOGIN, SCOPE_LOGIN | SCOPE_ALL, HOME, 1, 0, ".profile"},
	{BASH, SESSION_INTERACTIVE, 0, SYSTEM, 0, 0, "etc/bash.bashrc\0etc/bashrc"},
	{BASH, SESSION_INTERACTIVE, SCOPE_INTERACTIVE | SCOPE_ALL, HOME, 0, 0,
		".bashrc"},
	{BASH, SESSION_LOGIN_COMMAND | SESSION_COMMAND, 0, BASH_ENV, 0, 0, ""},
	{SH | MKSH | KSH, SESSION_LOGIN, SCOPE_LOGIN | SCOPE_ALL, HOME, 0, 0,
		".profile"},
	{SH | MKSH | KSH, PRIVATE, SCOPE_INTERACTIVE | SCOPE_ALL, ENV, 0, 0, ""},
	{MKSH, PRIVATE, SCOPE_INTERACTIVE | SCOPE_ALL, HOME, 0, 1, ".mkshrc"},
	{KSH, PRIVATE, SCOPE_INTERACTIVE | SCOPE_ALL, HOME, 0, 1, ".kshrc"},
	{ZSH, SESSION_ALL, 0, SYSTEM, 0, 0, "etc/zsh/zshenv\0etc/zshenv"},
	{ZSH, SESSION_ALL, SCOPE_ALL, ZSHENV, 0, 0, ".zshenv"},
	{ZSH, SESSION_LOGIN, 0, SYSTEM, 0, 0, "etc/zsh/zprofile\0etc/zprofile"},
	{ZSH, SESSION_LOGIN, SCOPE_LOGIN | SCOPE_ALL, OWN, 0, 0, ".zprofile"},
	{ZSH, PRIVATE, 0, SYSTEM, 0, 0, "etc/zsh/zshrc\0etc/zshrc"},
	{ZSH, PRIVATE, SCOPE_INTERACTIVE | SCOPE_ALL, OWN, 0, 0, ".zshrc"},
	{ZSH, SESSION_LOGIN, 0, SYSTEM, 0, 0, "etc/zsh/zlogin\0etc/zlogin"},
	{ZSH, SESSION_LOGIN, 0, OWN, 0, 0, ".zlogin"},
	{FISH, SESSION_ALL, 0, OWN, 0, 0, "conf.d"},
	{FISH, SESSION_ALL, 0, SYSTEM, 0, 0, "etc/fish/conf.d"},
	{FISH, SESSION_ALL, 0, SYSTEM, 0, 0, "etc/fish/config.fish"},
	{FISH, SESSION_ALL, 0, OWN, 0, 0, "config.fish"},
	{CSH, SESSION_ALL, 0, SYSTEM, 0, 0, "etc/csh.cshrc"},
	{CSH, SESSION_LOGIN, 0, SYSTEM, 0, 0, "etc/csh.login"},
	{CSH, SESSION_ALL, 7, HOME, 1, 0, ".tcshrc"},
	{CSH, SESSION_ALL, 7, HOME, 1, 0, ".cshrc"},
	{CSH, SESSION_LOGIN, 0, HOME, 0, 0, ".login"},
};

static unsigned group_of(enum shell_kind kind)
{
	switch ((int)kind) {
	case SHELL_BASH:
		return BASH;
	case SHELL_MKSH:
		return MKSH;
	case SHELL_KSH:
		return KSH;
	case SHELL_ZSH:
		return ZSH;
	default:
		return shellkind_family(kind) == FAMILY_FISH  ? FISH
		       : shellkind_family(kind) == FAMILY_CSH ? CSH
							      : SH;
	}
}

const char *profile_session_name(unsigned index)
{
	static const char names[SESSIONS][24] = {"login_interactive",
		"login_noninteractive", "nonlogin_interactive",
		"nonlogin_noninteractive"};

	return names[index];
}

static struct profile_file *add_file(struct listing *l, enum where where,
	const char *name, unsigned sessions)
{
	const struct profile_place *p = l->place;
	const char *dir = where == SYSTEM                 ? p->root
			  : where == OWN                  ? l->dir
			  : where == ZSHENV && p->zdotdir ? p->zdotdir
							  : p->home;
	struct profile_file *f = &l->files->file[l->files->count];

	if (!l->err && l->files->count == PROFILE_FILES)
		l->err = -E2BIG;
	if (l->err)
		return NULL;
	*f = (struct profile_file){
		.sessions = sessions, .system = where == SYSTEM};
	l->err = path_join(f->path, sizeof f->path, *dir ? dir : "/", name);
	if (l->err)
		return NULL;
	f->exists = access(f->path, F_OK) == 0;
	l->files->count++;
	return f;
}

/* $ENV and $BASH_ENV: a path that may begin with the home. mksh expands neither,
 * dash and ash no tilde. */
static struct profile_file *add_variable(struct listing *l, unsigned group,
	const char *value, unsigned sessions)
{
	size_t prefix = group == MKSH || (group == SH && value[0] == '~')
		? 0
		: profile_home_prefix(value);
	struct profile_file *f;

	if (prefix)
		return add_file(l, HOME,
			value + prefix + (value[prefix] == '/'), sessions);
	if (value[0] != '/')
		return NULL;
	f = add_file(l, HOME, "", sessions);
	if (f) {
		l->err = str_copy(f->path, sizeof f->path, value);
		f->exists = access(f->path, F_OK) == 0;
	}
	return f;
}

/* fish's own directory is under XDG_CONFIG_HOME when that is absolute. */
static int own_dir(struct listing *l, unsigned group)
{
	const char *xdg = l->place->xdg_config;

	if (group == ZSH)
		return profile_zdotdir(l->place, l->dir, sizeof l->dir);
	if (group != FISH)
		return 0;
	return xdg && xdg[0] == '/'
		       ? path_join(l->dir, sizeof l->dir, xdg, "fish")
		       : path_join(l->dir, sizeof l->dir, l->place->home,
				 ".config/fish");
}

/* Chooses among rows that exclude each other. In a list the file that is read
 * hides the others; for writing, the file that exists is taken, else the
 * last. */
static void choose_one(struct listing *l, const struct row *r,
	struct profile_file *f, const char **winner, bool list)
{
	if (list && *winner) {
		f->shadowed_by = f->exists ? *winner : NULL;
		f->sessions = 0;
	} else if (!list && (*winner || (!f->exists && r[1].first))) {
		l->files->count--;
	}
	if (!*winner && f->exists)
		*winner = r->name;
}

/* The files that are read (scope 0) or written in the scope. */
static int walk_rows(struct listing *l, enum shell_kind kind, unsigned scope)
{
	unsigned group = group_of(kind);
	const char *winner = NULL;
	bool env = false;

	l->files->count = 0;
	if (!shellkind_writable(kind))
		return -EINVAL;
	l->err = own_dir(l, group);
	for (const struct row *r = rows; r < rows + ARRAY_SIZE(rows); r++) {
		const char *value = r->where == ENV        ? l->place->env
				    : r->where == BASH_ENV ? l->place->bash_env
							   : NULL;
		struct profile_file *f;
		const char *other;

		if (!(r->groups & group) || (scope && !(r->scopes & scope)) ||
			(r->not_env && env))
			continue;
		if (r->where >= ENV) {
			if (!value || !*value)
				continue;
			f = add_variable(l, group, value, r->sessions);
			/* One that is not the user's own is left alone. */
			if (scope && f &&
				!path_beneath(l->place->home, f->path)) {
				l->files->count--;
				continue;
			}
			env = f || !scope;
			continue;
		}
		f = add_file(l, r->where, r->name, r->sessions);
		other = r->name + strlen(r->name) + 1;
		if (f && !f->exists && *other) {
			l->files->count--;
			f = add_file(l, r->where, other, r->sessions);
		}
		if (f && r->first)
			choose_one(l, r, f, &winner, !scope);
	}
	return l->err;
}

int profile_files_list(struct profile_files *files, enum shell_kind kind,
	const struct profile_place *place)
{
	struct listing l = {.files = files, .place = place};

	return walk_rows(&l, kind, 0);
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

int profile_targets_user(struct profile_files *files, enum shell_kind kind,
	unsigned scope, const char *id, const struct profile_place *place)
{
	struct listing l = {.files = files, .place = place};
	char name[96];
	int err = walk_rows(&l, kind, scope);

	if (err || files->count)
		return err;
	/* fish has a directory for such; plain sh only its login file. */
	if (group_of(kind) == FISH) {
		BUF_PRINT(name, "conf.d/profile-%s.fish", id);
		add_file(&l, OWN, name, SESSION_ALL);
	} else {
		add_file(&l, HOME, ".profile", SESSION_LOGIN);
	}
	return l.err;
}

int profile_targets_system(struct profile_files *files, enum shell_kind kind,
	const char *id, bool force, const struct profile_place *place,
	struct diag *d)
{
	struct listing l = {.files = files, .place = place};
	const struct profile_file *file;
	char name[160];

	files->count = 0;
	if (kind == SHELL_FISH) {
		BUF_PRINT(name, "etc/fish/conf.d/profile-%s.fish", id);
		add_file(&l, SYSTEM, name, SESSION_ALL);
	} else if (kind == SHELL_ZSH) {
		if (!force)
			return diag_fail(d, -EPERM,
				"zsh reads no system file but the one that "
				"every script reads: /etc/zsh/zshenv\036"
				"--force writes it");
		file = add_file(&l, SYSTEM, "etc/zsh/zshenv", SESSION_ALL);
		if (!file || !file->exists) {
			files->count = 0;
			add_file(&l, SYSTEM, "etc/zshenv", SESSION_ALL);
		}
	} else if (shellkind_family(kind) == FAMILY_SH) {
		BUF_PRINT(name, "etc/profile.d/profile-%s.sh", id);
		add_file(&l, SYSTEM, name, SESSION_LOGIN);
	} else {
		return diag_fail(d, -EPERM,
			"no system-wide file is known for %s",
			shellkind_name(kind));
	}
	return l.err;
}
