/* profile_fix.c - repairs, shown before they are made, and taken back
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "diff.h"
#include "path.h"
#include "profile_block.h"
#include "profile_change.h"
#include "profile_doctor.h"
#include "profile_taken.h"
#include "profile_undo.h"
#include "str.h"

enum { LOCK_MS = 10000 };

/* One repair of one file. */
struct repair {
	enum profile_problem_code code;
	const char *path;   /* the file to change */
	const char *source; /* SHADOWED: what it is to read */
	const struct profile_who *who;
	struct profile_written w;
	struct diag d;
	int err;
};

struct fixing {
	const struct profile_who *who;
	const struct profile_opts *o;
	struct repair repair[64];
	size_t count;
	char path[64][1024];
	char *dir[64]; /* MISSING_PATH: to be added */
	int dirs;
};

/* The blocks behind the file's early end, taken out and put in anew. */
static int move_blocks(const struct repair *r, const char *text, size_t n,
	struct buf *out, struct diag *d)
{
	enum shell_family family =
		shellkind_family(profile_language(r->path, r->who));
	autobuf struct buf now = BUF_INIT(PROFILE_TEXT_MAX);
	autofree struct profile_blocks *blocks = malloc(sizeof *blocks);
	int err;

	if (!blocks)
		return diag_of(d, -ENOMEM, r->path);
	buf_add(&now, text, n);
	err = profile_blocks_find(blocks, text, n, family, d);
	for (size_t i = 0; !err && i < blocks->count; i++) {
		autobuf struct buf body = BUF_INIT(PROFILE_TEXT_MAX);
		autobuf struct buf without = BUF_INIT(PROFILE_TEXT_MAX);
		const struct profile_block *b = &blocks->block[i];
		struct profile_change change = {.id = b->id,
			.family = family,
			.home = r->who->home,
			.remove = true};
		enum profile_action action;

		buf_add(&body, text + b->body, b->body_end - b->body);
		err = profile_edit(
			&change, now.data, now.len, &without, &action, d);
		change.remove = false;
		change.raw = buf_str(&body);
		buf_clear(&now);
		if (!err)
			err = profile_edit(&change, buf_str(&without),
				without.len, &now, &action, d);
	}
	if (!err)
		buf_add(out, now.data, now.len);
	return err ? err : out->err;
}

static int add_block(const struct repair *r, const char *text, size_t n,
	bool missing, struct buf *out, enum profile_action *action,
	struct diag *d)
{
	autobuf struct buf line = BUF_INIT(8192);
	struct profile_change change = {
		.family = FAMILY_SH, .home = r->who->home, .no_file = missing};

	if (r->code == PROBLEM_SHADOWED)
		buf_addf(&line,
			"if [ -r \"$HOME/%s\" ]; then . \"$HOME/%s\"; fi\n",
			r->source, r->source);
	else
		buf_adds(&line, "if [ -n \"${BASH_VERSION-}\" ] && [ -r "
				"\"$HOME/.bashrc\" ]; then case $- in *i*) . "
				"\"$HOME/.bashrc\" ;; esac; fi\n");
	change.id = r->code == PROBLEM_SHADOWED ? "fix-shadowed" : "fix-bashrc";
	change.raw = buf_str(&line);
	return profile_edit(&change, text, n, out, action, d);
}

static int edit(void *ctx, const char *text, size_t n, bool missing,
	struct buf *out, enum profile_action *action, struct diag *d)
{
	const struct repair *r = ctx;
	struct profile_lint lint = {.path = r->path,
		.text = text,
		.len = n,
		.kind = profile_language(r->path, r->who),
		.home = r->who->home,
		.look = profile_look};
	int done;

	*action = PROFILE_UNCHANGED;
	if (r->code == PROBLEM_SHADOWED ||
		r->code == PROBLEM_LOGIN_SKIPS_BASHRC)
		return add_block(r, text, n, missing, out, action, d);
	if (missing)
		return 0;
	if (r->code == PROBLEM_EARLY_EXIT)
		done = move_blocks(r, text, n, out, d);
	else
		done = profile_repair(&lint, r->code, out);
	if (done < 0)
		return d->text[0] ? done : diag_of(d, done, r->path);
	if (out->len != n || (n && memcmp(out->data, text, n) != 0))
		*action = PROFILE_UPDATED;
	return 0;
}

static int check(void *ctx, const struct buf *before, const struct buf *after,
	struct diag *d)
{
	const struct repair *r = ctx;

	return profile_still_read(r->path, profile_language(r->path, r->who),
		before, after, true, d);
}

static void run_repair(struct fixing *f, struct repair *r, bool dry)
{
	struct profile_write job = {.path = r->path,
		.edit = edit,
		.check = f->o->no_exec ? NULL : check,
		.ctx = r,
		.backup_dir = f->o->backup_dir,
		.flags = f->who->flags,
		.dry_run = dry,
		.wait_ms = LOCK_MS};

	profile_written_release(&r->w);
	r->err = profile_write(&job, &r->w, &r->d);
}

static bool wanted(const struct profile_problem *p, int count, char **codes)
{
	bool any = count == 0;

	for (int i = 0; i < count; i++)
		any |= str_eq(
			codes[i], profile_problem_name(
					  (enum profile_problem_code)p->code));
	return any && p->fixable;
}

static void plan_one(struct fixing *f, const struct profile_problem *p)
{
	enum profile_problem_code code = (enum profile_problem_code)p->code;
	/* The file that hides another one is the one to change. */
	bool shadowed = code == PROBLEM_SHADOWED;
	struct repair *r = &f->repair[f->count];

	if (code == PROBLEM_MISSING_PATH && f->dirs < 64)
		f->dir[f->dirs++] = strdup(p->dir);
	if (code == PROBLEM_MISSING_PATH || code == PROBLEM_OTHER_SHELL ||
		f->count == ARRAY_SIZE(f->repair))
		return;
	str_copy(f->path[f->count], sizeof f->path[0],
		shadowed ? p->dir : p->file);
	for (size_t i = 0; i < f->count; i++) {
		if (f->repair[i].code == code &&
			str_eq(f->path[i], f->path[f->count]))
			return;
	}
	*r = (struct repair){.code = code,
		.path = f->path[f->count],
		.source = str_ends(p->file, ".bash_login") ? ".bash_login"
							   : ".profile",
		.who = f->who};
	f->count++;
}

/* The buffers stay whose they are. */
static int remember(int dir, const char *path, const struct buf *before,
	const struct buf *after, mode_t mode)
{
	struct profile_undo u = {
		.mode = mode, .before = *before, .after = *after};
	struct diag d = {0};
	int err;

	str_copy(u.path, sizeof u.path, path);
	err = profile_undo_save(dir, &u, &d);
	if (err)
		cli_diag(&d);
	return err;
}

static int close_mode(const struct repair *r, int dir)
{
	autofd int fd = open(r->path, O_RDONLY | O_CLOEXEC);
	autobuf struct buf text = BUF_INIT(PROFILE_TEXT_MAX);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return -errno;
	if (buf_read_fd(&text, fd))
		return -EFBIG;
	remember(dir, r->path, &text, &text, st.st_mode & 07777);
	return fchmod(fd, st.st_mode & 07755) ? -errno : 0;
}

static void show_plan(struct fixing *f)
{
	autobuf struct buf diff = BUF_INIT(64u << 20);

	for (size_t i = 0; i < f->count; i++) {
		struct repair *r = &f->repair[i];

		if (r->code == PROBLEM_PERM) {
			buf_addf(&diff, "chmod go-w %s\n", r->path);
			continue;
		}
		run_repair(f, r, true);
		if (r->err)
			cli_diag(&r->d);
		else
			diff_unified(&diff, r->path, r->path, r->w.before.data,
				r->w.before.len, r->w.after.data,
				r->w.after.len);
	}
	for (int i = 0; i < f->dirs; i++)
		buf_addf(&diff, "profile add '%s'\n", f->dir[i]);
	profile_show_diff(&diff);
}

static int apply_plan(struct fixing *f)
{
	struct diag d = {0};
	autofd int dir = profile_undo_open(f->who, true, &d);
	int code = EXIT_OK;
	bool any = false;

	if (dir < 0)
		cli_die_diag(PROFILE_EXIT_WRITE, &d);
	for (size_t i = 0; i < f->count; i++) {
		struct repair *r = &f->repair[i];
		struct stat st = {0};

		if (r->code == PROBLEM_PERM) {
			r->err = close_mode(r, dir);
			if (r->err)
				diag_of(&r->d, r->err, r->path);
		} else {
			run_repair(f, r, false);
		}
		if (r->err) {
			cli_diag(&r->d);
			code = code ? code : profile_code(r->err);
		} else if (r->w.action != PROFILE_UNCHANGED) {
			/* Mode 0: there was no file. */
			if (!r->w.missing)
				stat(r->path, &st);
			remember(dir, r->path, &r->w.before, &r->w.after,
				st.st_mode & 07777);
		}
		any |= !r->err;
		if (!r->err && !f->o->quiet)
			cli_warn("repaired %s: %s", r->path,
				profile_problem_name(r->code));
		profile_written_release(&r->w);
	}
	return code && any ? PROFILE_EXIT_PARTIAL : code;
}

static int run_fix(struct fixing *f)
{
	char *add[65];
	struct profile_opts yes = *f->o;
	int code;

	if (!f->count && !f->dirs) {
		cli_warn("nothing here that 'fix' repairs; 'doctor' says what "
			 "to do by hand");
		return EXIT_OK;
	}
	if (f->o->dry_run || !f->o->yes)
		show_plan(f);
	if (f->o->dry_run)
		return EXIT_OK;
	code = profile_consent(f->o, "Repair as shown?");
	if (code)
		return code;
	/* First, so that what the repairs leave is what undo looks for. */
	if (f->dirs) {
		yes.yes = true;
		add[0] = f->dir[0];
		memcpy(add + 1, f->dir, (size_t)f->dirs * sizeof *add);
		code = profile_verb_add(&yes, f->dirs + 1, add);
	}
	return code ? code : apply_plan(f);
}

int profile_verb_fix(void *into, int argc, char **argv)
{
	struct profile_opts *o = into;
	struct profile_who who;
	autofree struct profile_facts *facts = profile_alloc(sizeof *facts);
	autofree struct fixing *f = profile_alloc(sizeof *f);
	autoclean(profile_problems_release) struct profile_problems problems = {
		0};

	for (int i = 1; i < argc; i++) {
		if (profile_problem_named(argv[i]) == PROBLEM_CODES)
			cli_die(EXIT_USAGE,
				"no problem is called '%s'; "
				"'profile doctor' names them",
				argv[i]);
	}
	profile_who_find(&who, o);
	profile_refuse_useless(&who, o);
	profile_doctor_find(&problems, facts, &who, o, 0, NULL);
	f->who = &who;
	f->o = o;
	for (size_t i = 0; i < problems.count; i++) {
		if (wanted(&problems.problem[i], argc > 1 ? argc - 1 : 0,
			    argv + 1))
			plan_one(f, &problems.problem[i]);
	}
	profile_facts_release(facts);
	return run_fix(f);
}
