/* profile_fix.c - repairs, shown before they are made, and taken back
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diff.h"
#include "base/path.h"
#include "profile/profile_block.h"
#include "profile_change.h"
#include "profile_doctor.h"
#include "profile/profile_undo.h"
#include "base/str.h"

enum { LOCK_MS = 10000 };

/* One repair of one file. */
struct repair {
	enum profile_problem_code code;
	const char *path;   /* the file to change */
	const char *source; /* SHADOWED: what it is to read */
	const struct fixing *in;
	struct profile_outcome done; /* or planned */
};

struct fixing {
	const struct profile_who *who;
	const struct profile_opts *o;
	int records; /* the directory of them; -1: nothing is to be changed */
	struct json *changes;
	const char *withheld; /* why nothing was done; NULL */
	struct diag refusal;
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
		shellkind_family(profile_language(r->path, r->in->who));
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
			.home = r->in->who->home,
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
		.family = FAMILY_SH, .home = r->in->who->home, .no_file = missing};

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

static int edit_file(void *ctx, const char *text, size_t n, bool missing,
	struct buf *out, enum profile_action *action, struct diag *d)
{
	const struct repair *r = ctx;
	struct profile_lint lint = {.path = r->path,
		.text = text,
		.len = n,
		.kind = profile_language(r->path, r->in->who),
		.home = r->in->who->home,
		.look = profile_look};
	int done;

	*action = PROFILE_UNCHANGED;
	if (r->code == PROBLEM_SHADOWED ||
		r->code == PROBLEM_LOGIN_SKIPS_BASHRC)
		return add_block(r, text, n, missing, out, action, d);
	if (missing)
		return 0;
	if (r->code == PROBLEM_PERM) {
		*action = PROFILE_UPDATED;
		return buf_add(out, text, n), out->err;
	}
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

/* Before the file is changed: what could not be taken back is not done. */
static int remember_file(const struct repair *r, const struct buf *before,
	const struct buf *after, struct diag *d)
{
	struct stat st;
	/* Mode 0: there was no file. */
	mode_t mode = stat(r->path, &st) ? 0 : st.st_mode & 07777;

	return r->in->records < 0 ? 0
				  : profile_undo_save(r->in->records, r->path,
					    mode, before, after, d);
}

static int check_file(void *ctx, const struct buf *before,
	const struct buf *after, struct diag *d)
{
	const struct repair *r = ctx;
	int err = r->in->o->no_exec
			  ? 0
			  : profile_still_read(r->path,
				    profile_language(r->path, r->in->who), before,
				    after, true, d);

	return err ? err : remember_file(r, before, after, d);
}

static void run_repair(struct repair *r)
{
	const struct fixing *f = r->in;
	struct profile_outcome *done = &r->done;
	struct profile_write job = {.path = r->path,
		.edit = edit_file,
		.check = check_file,
		.ctx = r,
		.backup_dir = f->o->backup_dir,
		.flags = f->who->flags,
		.less = r->code == PROBLEM_PERM ? 022 : 0,
		.dry_run = f->records < 0,
		.wait_ms = LOCK_MS};
	int err;

	done->err = profile_write(&job, &done->w, &done->d);
	if (f->records < 0 || done->w.action == PROFILE_UNCHANGED)
		return;
	err = profile_undo_settle(f->records, r->path, !done->err, &done->d);
	if (err)
		done->err = err;
}

static bool is_wanted(const struct profile_problem *p, int count, char **codes)
{
	/* A directory that the user took off PATH comes back only when its code
	 * is named. */
	bool any = count == 0 && p->code != PROBLEM_MISSING_PATH;

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
		.in = f,
		.done.w.action = PROFILE_UPDATED};
	f->count++;
}

static void show_plan(struct fixing *f)
{
	autobuf struct buf diff = BUF_INIT(64u << 20);

	for (size_t i = 0; i < f->count; i++) {
		const struct repair *r = &f->repair[i];

		if (r->done.err)
			continue;
		if (r->code == PROBLEM_PERM)
			buf_addf(&diff, "chmod go-w %s\n", r->path);
		else
			profile_add_diff(&diff, r->path, &r->done.w);
	}
	profile_show_diff(&diff);
}

static int add_dirs(struct fixing *f)
{
	struct profile_opts within = *f->o;
	char *add[65];

	if (!f->dirs)
		return EXIT_OK;
	within.yes = true;
	within.dry_run = f->records < 0;
	within.quiet |= within.dry_run;
	within.changes = f->changes;
	within.withheld = f->withheld;
	add[0] = f->dir[0];
	memcpy(add + 1, f->dir, (size_t)f->dirs * sizeof *add);
	return profile_verb_add(&within, f->dirs + 1, add);
}

/* Does it all; without a place for records it only looks how that would end. */
static int carry_out(struct fixing *f)
{
	/* First, so that what the repairs leave is what undo looks for. */
	int code = add_dirs(f);
	bool any = f->dirs;

	if (code) {
		f->withheld = "another file cannot be changed";
		return code;
	}
	for (size_t i = 0; i < f->count; i++) {
		struct repair *r = &f->repair[i];

		run_repair(r);
		if (r->done.err) {
			cli_diag(&r->done.d);
			code = code ? code : profile_code(r->done.err);
			continue;
		}
		any = true;
		if (f->records >= 0 && !f->o->quiet)
			cli_warn("repaired %s: %s", r->path,
				profile_problem_name(r->code));
	}
	return code && any ? PROFILE_EXIT_PARTIAL : code;
}

/* Somebody's yes, and a place for what is needed to take it back. */
static int allow_repairs(struct fixing *f)
{
	int code = profile_consent(f->o, "Repair as shown?");

	if (code) {
		f->withheld = "nobody said yes";
		return code;
	}
	f->records = profile_undo_open(f->who, true, &f->refusal);
	if (f->records >= 0)
		return EXIT_OK;
	cli_diag(&f->refusal);
	f->withheld = f->refusal.text;
	return PROFILE_EXIT_WRITE;
}

/* code: of what stands against it already. */
static int run_fix(struct fixing *f, int code)
{
	const struct profile_opts *o = f->o;
	int end;

	if (!f->count && !f->dirs) {
		cli_warn("nothing here that 'fix' repairs; 'doctor' says what "
			 "to do by hand");
		return code;
	}
	if (!o->json && (o->dry_run || !o->yes)) {
		end = carry_out(f);
		show_plan(f);
		if (o->dry_run)
			return end;
		f->withheld = NULL;
	}
	if (!code && !o->dry_run)
		code = allow_repairs(f);
	if (code && !o->json)
		return code;
	end = carry_out(f);
	return code ? code : end;
}

static void report_repairs(struct fixing *f)
{
	struct json *j = f->changes;

	for (size_t i = 0; i < f->count; i++) {
		struct repair *r = &f->repair[i];

		profile_json_change(j, r->path,
			profile_language(r->path, f->who), &r->done,
			f->withheld);
		json_putf(j, "code %s }", profile_problem_name(r->code));
		profile_written_release(&r->done.w);
	}
	if (f->o->json)
		cli_print_json(j);
}

int profile_verb_fix(void *into, int argc, char **argv)
{
	struct profile_opts *o = into;
	struct profile_who who;
	autofree struct profile_facts *facts = profile_alloc(sizeof *facts);
	autofree struct fixing *f = profile_alloc(sizeof *f);
	autoclean(profile_problems_release) struct profile_problems problems = {
		0};
	autobuf struct buf out = BUF_INIT(64u << 20);
	struct json j;
	int code;

	for (int i = 1; i < argc; i++) {
		if (profile_problem_named(argv[i]) == PROBLEM_CODES)
			cli_die(EXIT_USAGE,
				"no problem is called '%s'; "
				"'profile doctor' names them",
				argv[i]);
	}
	profile_who_find(&who, o);
	code = profile_refuse_useless(&who, o, &f->refusal);
	if (code && !o->json)
		return code;
	if (code)
		f->withheld = f->refusal.text;
	f->who = &who;
	f->o = o;
	f->records = -1;
	j = profile_json_begin(&out);
	profile_json_changes(&j, o);
	f->changes = &j;
	profile_doctor_find(&problems, facts, &who, o, 0, NULL);
	for (size_t i = 0; i < problems.count; i++) {
		if (is_wanted(&problems.problem[i], argc > 1 ? argc - 1 : 0,
			    argv + 1))
			plan_one(f, &problems.problem[i]);
	}
	profile_facts_release(facts);
	code = run_fix(f, code);
	report_repairs(f);
	return code;
}
