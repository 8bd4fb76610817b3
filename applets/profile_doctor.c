/* profile_doctor.c - what is wrong with a user's startup files
 * SPDX-License-Identifier: MIT
 */
#include "profile_doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/env.h"
#include "sys/file.h"
#include "base/path.h"
#include "profile_check.h"
#include "profile/rc_path.h"
#include "base/str.h"

struct exam {
	struct profile_problems *out;
	struct profile_facts *facts;
	const struct profile_who *who;
	const struct profile_opts *o;
};

char profile_look(void *ctx, const char *path)
{
	struct stat st;

	(void)ctx;
	if (stat(path, &st))
		return 0;
	if (!S_ISDIR(st.st_mode))
		return 'f';
	return (st.st_mode & S_IWOTH) && !(st.st_mode & S_ISVTX) ? 'w' : 'd';
}

/* The language of a file: /bin/sh reads ~/.profile and the machine's profile,
 * whoever logs in. */
enum shell_kind profile_language(
	const char *path, const struct profile_who *who)
{
	const char *base = path_base(path);

	if (str_eq(base, ".profile") || str_eq(base, "profile"))
		return SHELL_SH;
	return profile_kind_of(
		path, str_ends(base, ".sh") ? SHELL_SH : who->kind);
}

static void exam_perm(struct exam *e, const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return;
	if (st.st_uid != e->who->uid && st.st_uid != 0)
		profile_problem_add(e->out, PROBLEM_PERM, SEVERITY_ERROR, path,
			0,
			"is owned by uid %u\036"
			"chown %u '%s'",
			st.st_uid, e->who->uid, path);
	else if ((st.st_mode & S_IWOTH) ||
		 ((st.st_mode & S_IWGRP) && st.st_gid != getegid()))
		profile_problem_add(e->out, PROBLEM_PERM,
			SEVERITY_ERROR | PROBLEM_FIXABLE, path, 0,
			"can be written by others (mode %04o)\036"
			"profile fix perm: chmod go-w '%s'",
			st.st_mode & 07777u, path);
}

static void exam_syntax(struct exam *e, const char *path, enum shell_kind kind,
	const struct buf *text)
{
	struct diag d = {0};
	int result;

	if (e->o->no_exec || !text->len)
		return;
	result = profile_syntax(kind, NULL, text->data, text->len, &d);
	if (result == -ENOENT)
		profile_problem_add(e->out, PROBLEM_UNCHECKED, SEVERITY_INFO,
			path, 0,
			"%s is not here to check it\036"
			"install %s",
			shellkind_name(kind), shellkind_name(kind));
	else if (result == 1)
		profile_problem_add(e->out, PROBLEM_SYNTAX,
			str_ends(path, "profile") ? SEVERITY_CRITICAL
						  : SEVERITY_ERROR,
			path, d.line,
			"%s says: %.160s\036"
			"edit line %u; try it with '%s -n %s'",
			shellkind_name(kind), d.text, d.line,
			shellkind_name(kind), path);
}

/* Faults of the machine's files are for their owner to repair; mere notes about
 * them are dropped. */
static void judge_as_system(struct profile_problems *p, size_t from)
{
	size_t kept = from;

	for (size_t i = from; i < p->count; i++) {
		struct profile_problem *one = &p->problem[kept];

		if (p->problem[i].severity == SEVERITY_INFO)
			continue;
		*one = p->problem[i];
		if (one->fixable) {
			BUF_PRINT(one->fix,
				"as root: profile fix %s --file '%s'",
				profile_problem_name(
					(enum profile_problem_code)one->code),
				one->file);
			one->fixable = false;
		}
		kept++;
	}
	p->count = kept;
}

static void exam_file(struct exam *e, const char *path, bool system)
{
	autobuf struct buf text = BUF_INIT(PROFILE_TEXT_MAX);
	enum shell_kind kind = profile_language(path, e->who);
	struct profile_lint lint = {.path = path,
		.kind = kind,
		.home = e->who->home,
		.system = system,
		.look = profile_look};
	size_t from = e->out->count;
	int err = file_read(AT_FDCWD, path, &text);

	if (err == -ENOENT)
		return;
	if (err) {
		profile_problem_add(e->out, PROBLEM_UNCHECKED,
			SEVERITY_WARNING, path, 0,
			"cannot be read: %s\036"
			"look at its mode and owner",
			strerror(-err));
		return;
	}
	lint.text = buf_str(&text);
	lint.len = text.len;
	exam_perm(e, path);
	exam_syntax(e, path, kind, &text);
	/* A login shell of another kind reads ~/.profile as well. */
	if (kind == SHELL_SH && e->who->kind != SHELL_SH &&
		shellkind_family(e->who->kind) == FAMILY_SH &&
		e->who->kind != SHELL_ZSH)
		exam_syntax(e, path, e->who->kind, &text);
	profile_lint(&lint, e->out);
	if (system)
		judge_as_system(e->out, from);
}

static void exam_directory(
	struct exam *e, const char *dir, const char *ending, bool system)
{
	autodir DIR *d = opendir(dir);
	const struct dirent *entry;
	char path[1024];
	unsigned seen = 0;

	while (d && seen < 64 && (entry = readdir(d)) != NULL) {
		if (!str_ends(entry->d_name, ending) ||
			path_join(path, sizeof path, dir, entry->d_name))
			continue;
		exam_file(e, path, system);
		seen++;
	}
}

/* Does path source a file of that name, directly or by one more step? */
static bool leads_to(struct exam *e, const char *path, const char *name)
{
	autobuf struct buf text = BUF_INIT(PROFILE_TEXT_MAX);
	struct profile_lint lint = {.path = path,
		.kind = SHELL_BASH,
		.home = e->who->home,
		.look = profile_look};
	char next[1024];

	if (file_read(AT_FDCWD, path, &text))
		return false;
	lint.text = buf_str(&text);
	lint.len = text.len;
	if (profile_sources(&lint, name))
		return true;
	return !str_ends(path, "/.profile") && !str_eq(name, ".profile") &&
	       profile_sources(&lint, ".profile") &&
	       path_join(next, sizeof next, e->who->home, ".profile") == 0 &&
	       leads_to(e, next, name);
}

static void exam_shadows(struct exam *e)
{
	const struct profile_files *files = &e->facts->files;

	for (size_t i = 0; i < files->count; i++) {
		const struct profile_file *f = &files->file[i];
		const char *name = path_base(f->path);
		struct profile_problem *p;
		char winner[1024];

		if (!f->exists || !f->shadowed_by ||
			path_join(winner, sizeof winner, e->who->home,
				f->shadowed_by) ||
			leads_to(e, winner, name))
			continue;
		p = profile_problem_add(e->out, PROBLEM_SHADOWED,
			SEVERITY_WARNING | PROBLEM_FIXABLE, f->path, 0,
			"is hidden by ~/%s, which does not read it"
			"\036profile fix shadowed: %s reads ~/%s too",
			f->shadowed_by, winner, name);
		if (p)
			str_copy(p->dir, sizeof p->dir, winner);
	}
}

static void exam_bashrc(struct exam *e)
{
	char rc[1024];
	const char *login = e->facts->login_profile;

	if (e->who->kind != SHELL_BASH ||
		path_join(rc, sizeof rc, e->who->home, ".bashrc") ||
		access(rc, F_OK) || leads_to(e, login, ".bashrc"))
		return;
	profile_problem_add(e->out, PROBLEM_LOGIN_SKIPS_BASHRC,
		SEVERITY_WARNING | PROBLEM_FIXABLE, login, 0,
		"%s\036"
		"profile fix login-skips-bashrc",
		access(login, F_OK) ? "is not there to read ~/.bashrc"
				    : "does not read ~/.bashrc");
}

/* The PATH that new shells get: probed, else this process's own. */
static const char *real_path(const struct exam *e, unsigned index)
{
	const char *path = e->facts->session[index].path;

	if (path)
		return path;
	return e->facts->probed ? NULL : env_get(profile_environ(), "PATH");
}

static void tell_missing(struct exam *e, const char *dir, const char *name)
{
	autobuf struct buf quoted = BUF_INIT(8192);
	struct profile_problem *p;
	char other[1024];
	bool login = profile_path_lists(real_path(e, 0), dir);
	bool plain = profile_path_lists(real_path(e, 2), dir);
	const char *where = login   ? " in shells that are no login"
			    : plain ? " in login shells"
				    : "";

	/* A directory of the machine is only missed where no session has it. */
	if ((login && plain) ||
		((login || plain) && !path_beneath(e->who->home, dir)))
		return;
	/* The likeliest cause, said first. */
	if (!login && !plain &&
		profile_other_shell(e->who, dir, other, sizeof other))
		profile_problem_add(e->out, PROBLEM_OTHER_SHELL,
			SEVERITY_WARNING | PROBLEM_FIXABLE, other, 0,
			"adds %s, but %s does not read this file\036"
			"profile fix missing-path",
			dir, shellkind_name(e->who->kind));
	profile_quote(&quoted, FAMILY_SH, dir, strlen(dir));
	p = profile_problem_add(e->out, PROBLEM_MISSING_PATH,
		(*name ? SEVERITY_ERROR : SEVERITY_WARNING) | PROBLEM_FIXABLE,
		e->facts->rc_file, 0,
		*name ? "%s is installed at %s/%s but not on PATH%s"
			"\036profile add -y %s"
		      : "%s%s has programs, but%s is not on PATH%s"
			"\036profile add -y %s",
		*name ? name : "", dir, *name ? name : " it", where,
		buf_str(&quoted));
	if (p)
		str_copy(p->dir, sizeof p->dir, dir);
}

static bool holds_programs(const char *dir)
{
	autodir DIR *d = opendir(dir);
	const struct dirent *e;
	bool found = false;

	while (d && !found && (e = readdir(d)) != NULL) {
		struct stat st;

		found = fstatat(dirfd(d), e->d_name, &st, 0) == 0 &&
			S_ISREG(st.st_mode) && (st.st_mode & 0111);
	}
	return found;
}

static void exam_commands(struct exam *e, int words, char **word)
{
	char dir[1024];

	for (int i = 0; i < words; i++) {
		bool login = profile_on_path(
			real_path(e, 0), word[i], dir, sizeof dir);
		char plain_dir[1024];
		bool plain = profile_on_path(
			real_path(e, 2), word[i], plain_dir, sizeof plain_dir);

		if (login && plain)
			continue;
		if (plain)
			str_copy(dir, sizeof dir, plain_dir);
		if (login || plain ||
			profile_find_command(word[i], e->who, dir, sizeof dir))
			tell_missing(e, dir, word[i]);
		else
			profile_problem_add(e->out, PROBLEM_MISSING_PATH,
				SEVERITY_WARNING, "", 0,
				"%s is nowhere installers put programs\036"
				"install it, or give its directory to "
				"'profile add'",
				word[i]);
	}
	for (unsigned i = 0;
		!words && profile_known_dir(i, e->who, dir, sizeof dir); i++) {
		if (*dir && holds_programs(dir))
			tell_missing(e, dir, "");
	}
}

static void exam_shell(struct exam *e)
{
	const struct profile_who *who = e->who;

	if (who->restricted)
		profile_problem_add(e->out, PROBLEM_SHELL_MISMATCH,
			SEVERITY_WARNING, "", 0,
			"the shell is restricted: PATH cannot be "
			"changed in it\036"
			"only packages of the system will help; ask the "
			"administrator");
	if (who->shell[0] && access(who->shell, X_OK))
		profile_problem_add(e->out, PROBLEM_SHELL_MISMATCH,
			SEVERITY_ERROR, "", 0,
			"the shell %s is not there\036"
			"chsh -s %s",
			who->shell,
			e->facts->program[0] ? e->facts->program : "/bin/sh");
	else if (who->current[0] &&
		 !str_eq(who->current, shellkind_name(who->kind)) &&
		 str_eq(who->source, "SHELL"))
		profile_problem_add(e->out, PROBLEM_SHELL_MISMATCH,
			SEVERITY_INFO, "", 0,
			"$SHELL names %s, but %s called\036"
			"--shell %s works for the other one",
			shellkind_name(who->kind), who->current, who->current);
}

static void exam_live_path(struct exam *e)
{
	struct profile_lint lint = {.home = e->who->home,
		.kind = e->who->kind,
		.path = "",
		.look = profile_look};
	const char *path = real_path(e, 0);

	if (path && !e->o->file)
		profile_lint_path(&lint, path, "PATH: ", e->out);
}

void profile_doctor_find(struct profile_problems *problems,
	struct profile_facts *facts, const struct profile_who *who,
	const struct profile_opts *o, int words, char **word)
{
	struct exam e = {.out = problems, .facts = facts, .who = who, .o = o};
	struct profile_opts quiet = *o;
	bool profile_seen = false;
	char profile[1024];

	/* With --file the file is looked at alone, and no shell is asked. */
	quiet.no_exec |= o->file != NULL;
	profile_facts_find(facts, who, &quiet);
	if (o->file) {
		if (access(o->file, F_OK))
			cli_die(EXIT_USAGE, "%s: %s", o->file, strerror(errno));
		exam_file(&e, o->file, false);
		return;
	}
	for (size_t i = 0; i < facts->files.count; i++) {
		const struct profile_file *f = &facts->files.file[i];

		if (!f->exists)
			continue;
		profile_seen |= str_ends(f->path, "/.profile");
		if (str_ends(f->path, ".d"))
			exam_directory(&e, f->path,
				str_ends(f->path, "conf.d") ? ".fish" : ".sh",
				f->system);
		else
			exam_file(&e, f->path, f->system);
	}
	if (!profile_seen && who->home[0] &&
		path_join(profile, sizeof profile, who->home, ".profile") == 0)
		exam_file(&e, profile, false);
	exam_shadows(&e);
	exam_bashrc(&e);
	exam_shell(&e);
	profile_facts_judge(facts, who, problems);
	exam_live_path(&e);
	exam_commands(&e, words, word);
}
