/* profile_check.c - is it on PATH: now, after a restart, or not at all?
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/env.h"
#include "sys/file.h"
#include "base/path.h"
#include "profile_check.h"
#include "profile_facts.h"
#include "profile/rc_path.h"
#include "base/str.h"

/* Where installers put programs that are on no default PATH. A leading '~' is
 * the home. */
static const char known_dirs[] = "~/.local/bin\0"
				 "~/.cargo/bin\0"
				 "~/go/bin\0"
				 "~/bin\0"
				 "~/.npm-global/bin\0"
				 "~/.deno/bin\0"
				 "~/.bun/bin\0"
				 "~/.volta/bin\0"
				 "~/.rbenv/shims\0"
				 "~/.pyenv/shims\0"
				 "~/.pyenv/bin\0"
				 "~/.asdf/shims\0"
				 "~/.local/share/mise/shims\0"
				 "~/.dotnet/tools\0"
				 "~/.yarn/bin\0"
				 "~/.foundry/bin\0"
				 "~/.krew/bin\0"
				 "~/.nix-profile/bin\0"
				 "~/.poetry/bin\0"
				 "~/.local/share/pnpm\0"
				 "/usr/local/bin\0"
				 "/usr/local/go/bin\0"
				 "/opt/homebrew/bin\0"
				 "/home/linuxbrew/.linuxbrew/bin\0"
				 "/snap/bin\0"
				 "/var/lib/flatpak/exports/bin\0"
				 "/nix/var/nix/profiles/default/bin\0";

bool profile_known_dir(
	unsigned index, const struct profile_who *who, char *out, size_t size)
{
	const char *dir = str_nth(known_dirs, index);

	*out = '\0';
	if (!*dir)
		return false;
	if (dir[0] != '~')
		str_copy(out, size, dir);
	else if (who->home[0])
		path_join(out, size, who->home, dir + 2);
	return true;
}

static bool is_executable(const char *dir, const char *name)
{
	char path[2048];
	struct stat st;

	return path_join(path, sizeof path, dir, name) == 0 &&
	       stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
	       access(path, X_OK) == 0;
}

/* nvm keeps a directory per version: the first that has the program. */
static bool in_nvm(
	const char *name, const struct profile_who *who, char *dir, size_t size)
{
	char versions[1024], one[1024];
	const struct dirent *e;
	bool found = false;
	autodir DIR *d = NULL;

	if (path_join(
		    versions, sizeof versions, who->home, ".nvm/versions/node"))
		return false;
	d = opendir(versions);
	while (d && !found && (e = readdir(d)) != NULL) {
		if (e->d_name[0] != 'v' ||
			path_join(one, sizeof one, versions, e->d_name) ||
			path_join(dir, size, one, "bin"))
			continue;
		found = is_executable(dir, name);
	}
	return found;
}

bool profile_find_command(
	const char *name, const struct profile_who *who, char *dir, size_t size)
{
	static const char moved[] = "CARGO_HOME\0bin\0GOBIN\0.\0GOPATH\0bin\0"
				    "PNPM_HOME\0.\0";

	for (size_t i = 0; *str_nth(moved, i); i += 2) {
		const char *value = env_get(profile_environ(), str_nth(moved, i));

		/* GOPATH, CARGO_HOME and the like move a known directory. */
		if (value && value[0] == '/' &&
			path_normal(dir, size, value, str_nth(moved, i + 1)) == 0 &&
			is_executable(dir, name))
			return true;
	}
	for (unsigned i = 0; profile_known_dir(i, who, dir, size); i++) {
		if (*dir && is_executable(dir, name))
			return true;
	}
	return in_nvm(name, who, dir, size);
}

bool profile_on_path(const char *path, const char *name, char *dir, size_t size)
{
	size_t at = 0;

	while (profile_path_next(path, &at, dir, size)) {
		if (*dir && is_executable(dir, name))
			return true;
	}
	return false;
}

bool profile_file_adds(const char *path, enum shell_kind kind, const char *home,
	const char *dir)
{
	autobuf struct buf text = BUF_INIT(PROFILE_TEXT_MAX);
	struct rc_source source = {.family = shellkind_family(kind),
		.zsh = kind == SHELL_ZSH,
		.home = home};

	if (file_read(AT_FDCWD, path, &text))
		return false;
	source.text = buf_str(&text);
	source.len = text.len;
	return rc_path_has(&source, dir, true, NULL, 0) == 1;
}

/* Does one of the files this shell reads add it? */
static bool file_of_shell(const struct profile_who *who, enum shell_kind kind,
	const char *dir, char *out, size_t size)
{
	autofree struct profile_files *files = profile_alloc(sizeof *files);

	if (profile_files_list(files, kind, &who->place))
		return false;
	for (size_t i = 0; i < files->count; i++) {
		const struct profile_file *f = &files->file[i];
		char snippet[1024];

		if (!f->exists || f->shadowed_by)
			continue;
		if (str_ends(f->path, "conf.d") &&
			path_join(snippet, sizeof snippet, f->path,
				"profile-default.fish") == 0 &&
			profile_file_adds(snippet, kind, who->home, dir))
			return str_copy(out, size, snippet) == 0;
		if (!str_ends(f->path, ".d") &&
			profile_file_adds(f->path, kind, who->home, dir))
			return str_copy(out, size, f->path) == 0;
	}
	return false;
}

bool profile_other_shell(
	const struct profile_who *who, const char *dir, char *file, size_t size)
{
	for (unsigned k = SHELL_SH; k < SHELL_KINDS; k++) {
		enum shell_kind kind = (enum shell_kind)k;

		if (kind != who->kind && shellkind_writable(kind) &&
			file_of_shell(who, kind, dir, file, size))
			return true;
	}
	return false;
}

enum state { CURRENT, PENDING, ABSENT, UNKNOWN };

struct answer {
	enum state state;
	const char *what; /* as asked */
	bool command;
	char dir[2048];   /* of the command; or the directory itself */
	char file[1024];  /* that adds it, or would */
	char other[1024]; /* another shell's file that has it */
	struct buf line;
};

static void find_target(struct answer *a, const struct profile_who *who,
	const struct profile_opts *o)
{
	autoclean(profile_goals_release) struct profile_goals goals = {0};
	autofree struct profile_dir *dir = malloc(sizeof *dir);
	struct profile_item item = {.what = PROFILE_PREPEND, .dir = dir};
	struct diag d = {0};

	if (!dir || profile_goals_find(&goals, who, o, &d) || !goals.count)
		return;
	/* The last is the interactive one: what people call their rc file. */
	str_copy(
		a->file, sizeof a->file, goals.goal[goals.count - 1].file.path);
	if (profile_dir_parse(dir, a->dir, who->home, 0, &d) == 0 &&
		profile_line(&a->line, shellkind_family(who->kind), &item, NULL,
			&d) == 0 &&
		a->line.len)
		a->line.len--;
}

static void find_answer(struct answer *a, const struct profile_who *who,
	const struct profile_opts *o)
{
	const char *path = env_get(profile_environ(), "PATH");
	autofree struct profile_dir *dir = malloc(sizeof *dir);
	struct diag d = {0};

	a->command = !strchr(a->what, '/') && !profile_home_prefix(a->what);
	if (a->command) {
		if (profile_on_path(path, a->what, a->dir, sizeof a->dir)) {
			a->state = CURRENT;
			return;
		}
		if (!profile_find_command(
			    a->what, who, a->dir, sizeof a->dir)) {
			a->state = UNKNOWN;
			return;
		}
	} else {
		if (!dir || profile_dir_parse(dir, a->what, who->home, 0, &d))
			cli_die_diag(EXIT_USAGE, &d);
		if (str_copy(a->dir, sizeof a->dir, dir->text))
			cli_die(EXIT_USAGE, "%s: too long", a->what);
		if (profile_path_lists(path, a->dir)) {
			a->state = CURRENT;
			return;
		}
	}
	a->state = ABSENT;
	if (file_of_shell(who, who->kind, a->dir, a->file, sizeof a->file)) {
		a->state = PENDING;
		return;
	}
	profile_other_shell(who, a->dir, a->other, sizeof a->other);
	find_target(a, who, o);
}

static const char *state_name(enum state state)
{
	static const char names[][16] = {
		"current", "pending-restart", "absent", "not-found"};

	return names[state];
}

static void answer_json(struct json *j, struct answer *a)
{
	json_putf(j,
		"asked %s state %s dir %s file %s other_shell_file %s line %s",
		a->what, state_name(a->state), a->dir, a->file, a->other,
		buf_str(&a->line));
}

static void answer_text(struct answer *a)
{
	autobuf struct buf out = BUF_INIT(65536);

	cli_escape_str(&out, a->what);
	if (a->command && a->state != UNKNOWN) {
		profile_shown(&out, " is installed at ", a->dir, "/");
		cli_escape_str(&out, a->what);
	}
	buf_adds(&out,
		!a->command || a->state == UNKNOWN ? ": "
		: a->state == CURRENT              ? ", "
						   : " but ");
	switch (a->state) {
	case UNKNOWN:
		buf_adds(&out, "not found on PATH nor where installers put "
			       "programs\n");
		break;
	case CURRENT:
		buf_adds(&out, "on PATH\n");
		break;
	case PENDING:
		profile_shown(&out, "not yet on PATH: ", a->file,
			" adds it to new shells\n");
		break;
	case ABSENT:
	default:
		buf_adds(&out, "not on PATH\n");
		if (a->other[0])
			profile_shown(&out,
				"  another shell's file adds it: ", a->other,
				"\n");
		profile_shown(&out, "  Add to ", a->file, ":\n    ");
		buf_adds(&out, buf_str(&a->line));
		profile_shown(&out, "\n  or: wardbox profile check --fix ",
			a->what, "\n");
	}
	cli_print(&out);
}

static int check_one(
	const char *what, const struct profile_who *who, struct profile_opts *o)
{
	autofree struct answer *a = profile_alloc(sizeof *a);
	autobuf struct buf out = BUF_INIT(64u << 20);
	struct json j = profile_json_begin(&out);
	char *add[] = {a->dir, a->dir};
	int code;

	a->what = what;
	a->line = BUF_INIT(65536);
	find_answer(a, who, o);
	if (o->json)
		answer_json(&j, a);
	else if (!o->quiet)
		answer_text(a);
	buf_release(&a->line);
	code = a->state == CURRENT || a->state == PENDING ? EXIT_OK
							  : EXIT_FOUND;
	if (o->fix && a->state == ABSENT) {
		struct profile_opts within = *o;

		json_put_open(&j, "changes", '[');
		within.changes = &j;
		code = profile_verb_add(&within, 2, add);
	}
	if (o->json)
		cli_print_json(&j);
	return code;
}

int profile_verb_check(void *into, int argc, char **argv)
{
	struct profile_opts *o = into;
	struct profile_who who;

	if (argc != 2)
		cli_die(EXIT_USAGE, "check: one directory or command is"
			" needed");
	profile_who_find(&who, o);
	return check_one(argv[1], &who, o);
}
