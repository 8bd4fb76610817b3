/* profile_goals.c - what to write, and into which files
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "sys/file.h"
#include "base/path.h"
#include "profile.h"
#include "profile/profile_probe.h"
#include "base/str.h"

int profile_code(int err)
{
	switch (err) {
	case 0:
		return EXIT_OK;
	case -EINVAL:
		return EXIT_USAGE;
	case -EBADMSG:
	case -EFBIG:
	case -E2BIG:
	case -ELOOP:
	case -ENOEXEC:
		return PROFILE_EXIT_REFUSED;
	case -EAGAIN:
		return PROFILE_EXIT_RACE;
	default:
		return PROFILE_EXIT_WRITE;
	}
}

void profile_items_release(struct profile_items *items)
{
	free(items->item);
	free(items->dir);
	free(items->exists);
}

static void *array_grown(void *old, size_t count, size_t size)
{
	void *new = reallocarray(old, count ? count : 1, size);

	if (!new)
		cli_die(PROFILE_EXIT_WRITE, "out of memory");
	return new;
}

static void add_var(struct profile_item *item, char *pair,
	enum shell_family family, unsigned flags)
{
	char *equals = strchr(pair, '=');
	struct diag d = {0};

	if (!equals)
		cli_die(EXIT_USAGE, "'%s': expected NAME=VALUE", pair);
	*equals = '\0';
	item->name = pair;
	item->value = equals + 1;
	if (profile_var_check(item->name, item->value, family, flags, &d))
		cli_die_diag(EXIT_USAGE, &d);
}

static unsigned line_flags(const struct profile_opts *o)
{
	return (o->absolute ? PROFILE_ABSOLUTE : 0u) |
	       (o->system ? PROFILE_SYSTEM : 0u) |
	       (o->force ? PROFILE_FORCE : 0u);
}

void profile_items_add(struct profile_items *items,
	const struct profile_who *who, const struct profile_opts *o,
	enum profile_what what, int argc, char *const *argv)
{
	size_t from = items->count, count = from + (size_t)argc;

	if (count > 256)
		cli_die(EXIT_USAGE, "more than 256 lines at once");
	items->item = array_grown(items->item, count, sizeof *items->item);
	items->dir = array_grown(items->dir, count, sizeof *items->dir);
	items->exists = array_grown(items->exists, count,
		sizeof *items->exists);
	for (size_t i = from; i < count; i++) {
		struct profile_item *item = &items->item[i];
		struct diag d = {0};

		*item = (struct profile_item){.what = what};
		items->exists[i] = false;
		if (what == PROFILE_VAR) {
			add_var(item, argv[i - from],
				shellkind_family(who->kind), line_flags(o));
			continue;
		}
		if (profile_dir_parse(&items->dir[i], argv[i - from], who->home,
			    line_flags(o), &d))
			cli_die_diag(EXIT_USAGE, &d);
		items->exists[i] = access(items->dir[i].text, F_OK) == 0;
	}
	items->count = count;
	/* The array may have moved. */
	for (size_t i = 0; i < count; i++)
		items->item[i].dir = items->item[i].what == PROFILE_VAR
					     ? NULL
					     : &items->dir[i];
}

void profile_goals_release(struct profile_goals *goals)
{
	free(goals->goal);
	*goals = (struct profile_goals){0};
}

static bool has_goal(const struct profile_goals *goals, const char *path)
{
	for (size_t i = 0; i < goals->count; i++) {
		if (str_eq(goals->goal[i].file.path, path))
			return true;
	}
	return false;
}

static void add_goals(struct profile_goals *goals, enum shell_kind kind,
	const struct profile_files *files)
{
	for (size_t i = 0; i < files->count; i++) {
		struct profile_goal *g;

		if (has_goal(goals, files->file[i].path))
			continue;
		goals->goal = array_grown(
			goals->goal, goals->count + 1, sizeof *goals->goal);
		g = &goals->goal[goals->count++];
		g->file = files->file[i];
		g->kind = kind;
		g->family = shellkind_family(kind);
	}
}

/* By what the name ends with, begins with or has in it ('e', 'b', 'i'). */
static const struct {
	char where, text[9];
	uint8_t kind;
} named[] = {
	{'e', ".fish", SHELL_FISH},
	{'i', "bash", SHELL_BASH},
	{'i', "csh", SHELL_TCSH},
	{'b', ".login", SHELL_TCSH},
	{'b', ".z", SHELL_ZSH},
	{'b', "zsh", SHELL_ZSH},
	{'b', "zp", SHELL_ZSH},
	{'b', "zl", SHELL_ZSH},
	{'e', ".zsh", SHELL_ZSH},
	{'b', ".mkshrc", SHELL_MKSH},
};

enum shell_kind profile_kind_of(const char *path, enum shell_kind fallback)
{
	const char *base = path_base(path);

	for (size_t i = 0; i < ARRAY_SIZE(named); i++) {
		const char *text = named[i].text;

		if (named[i].where == 'e'       ? str_ends(base, text)
			: named[i].where == 'b' ? str_after(base, text) != NULL
						: str_find(base, text) != NULL)
			return (enum shell_kind)named[i].kind;
	}
	return shellkind_family(fallback) == FAMILY_SH ? fallback : SHELL_SH;
}

static int named_file(struct profile_goals *goals,
	const struct profile_who *who, const struct profile_opts *o,
	struct diag *d)
{
	autofree struct profile_files *files = profile_alloc(sizeof *files);
	autofree char *cwd = profile_alloc(PATH_MAX);
	struct profile_file *f;
	bool given = profile_shell_given(o);
	const char *rest = o->file + profile_home_prefix(o->file);
	int err;

	f = &files->file[0];
	files->count = 1;
	f->sessions = SESSION_ALL;
	err = path_cwd(cwd, PATH_MAX);
	if (rest != o->file)
		err = path_join(f->path, sizeof f->path, who->home,
			rest + (*rest == '/'));
	else if (o->file[0] == '/')
		err = str_copy(f->path, sizeof f->path, o->file);
	else if (!err)
		err = path_join(f->path, sizeof f->path, cwd, o->file);
	if (err)
		return diag_of(d, err, o->file);
	f->exists = access(f->path, F_OK) == 0;
	add_goals(goals,
		given ? who->kind : profile_kind_of(f->path, who->kind), files);
	return 0;
}

static int of_kind(struct profile_goals *goals, enum shell_kind kind,
	const struct profile_who *who, const struct profile_opts *o,
	struct diag *d)
{
	autofree struct profile_files *files = profile_alloc(sizeof *files);
	int err;

	if (!shellkind_writable(kind))
		return diag_fail(d, -ENOEXEC,
			"%s has no startup file that is written here\036%s",
			shellkind_name(kind),
			shellkind_family(kind) == FAMILY_NONE
				? "--shell NAME says for which one to write"
				: "'profile print' gives its lines");
	err = o->system ? profile_targets_system(
				  files, kind, o->id, o->force, &who->place, d)
			: profile_targets_user(
				  files, kind, o->scopes, o->id, &who->place);
	if (err && !o->system)
		diag_of(d, err, who->home);
	if (!err)
		add_goals(goals, kind, files);
	return err;
}

/* Every shell that is on the machine, or has left a file. */
static int of_all(struct profile_goals *goals, const struct profile_who *who,
	const struct profile_opts *o, struct diag *d)
{
	char place[64];
	int err = 0;

	for (unsigned k = SHELL_SH; k < SHELL_KINDS && !err; k++) {
		enum shell_kind kind = (enum shell_kind)k;

		if (!shellkind_writable(kind) ||
			(o->system && kind != SHELL_SH && kind != SHELL_FISH))
			continue;
		if (profile_shell_find(
			    shellkind_name(kind), place, sizeof place) == 0)
			err = of_kind(goals, kind, who, o, d);
	}
	return err;
}

/* A marker of that id at the start of a line. */
static bool has_marker(const char *path, const char *id)
{
	autobuf struct buf text = BUF_INIT(PROFILE_TEXT_MAX);
	autobuf struct buf mark = BUF_INIT(128);

	/* With the end of the line before it, which the first line lacks. */
	buf_addf(&mark, "\n# >>> profile:%s >>>", id);
	buf_addc(&text, '\n');
	if (file_read(AT_FDCWD, path, &text) || mark.err)
		return false;
	return memmem(text.data, text.len, mark.data, mark.len);
}

static void add_marked(struct profile_goals *goals, enum shell_kind kind,
	const struct profile_who *who, const struct profile_opts *o)
{
	autofree struct profile_files *files = profile_alloc(sizeof *files);
	autofree struct profile_files *one = profile_alloc(sizeof *one);

	for (unsigned pass = 0; pass < 2; pass++) {
		int err = o->system
			? profile_targets_system(files, kind, o->id, true,
				  &who->place, NULL)
			: pass ? profile_targets_user(files, kind, o->scopes,
					 o->id, &who->place)
			       : profile_files_list(files, kind, &who->place);

		for (size_t i = 0; !err && i < files->count; i++) {
			const struct profile_file *f = &files->file[i];

			if (f->system != o->system || !f->exists ||
				!has_marker(f->path, o->id))
				continue;
			one->file[0] = *f;
			one->count = 1;
			add_goals(goals, kind, one);
		}
	}
}

void profile_goals_with_block(struct profile_goals *goals,
	const struct profile_who *who, const struct profile_opts *o)
{
	bool one = profile_shell_given(o);

	for (unsigned k = SHELL_SH; k < SHELL_KINDS; k++) {
		enum shell_kind kind = (enum shell_kind)k;

		if (shellkind_writable(kind) && (!one || kind == who->kind))
			add_marked(goals, kind, who, o);
	}
}

int profile_goals_find(struct profile_goals *goals,
	const struct profile_who *who, const struct profile_opts *o,
	struct diag *d)
{
	*goals = (struct profile_goals){0};
	if (o->file)
		return named_file(goals, who, o, d);
	if (!o->system && (!who->home[0] || who->home[0] != '/'))
		return diag_fail(d, -EINVAL,
			"no home directory is known; give --home DIR");
	if (o->shell && str_eq(o->shell, "all"))
		return of_all(goals, who, o, d);
	return of_kind(goals, who->kind, who, o, d);
}
