/* profile_act.c - one change to some startup files: shown, asked for, made
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "log/audit_read_json.h"
#include "base/base64.h"
#include "base/diff.h"
#include "sys/file.h"
#include "profile.h"
#include "profile_change.h"
#include "profile/profile_edit.h"
#include "profile/profile_probe.h"
#include "base/str.h"
#include "base/utf8.h"

struct acting {
	const struct profile_act *act;
	const struct profile_goals *goals;
	const struct profile_who *who;
	const struct profile_opts *o;
	struct profile_outcome *outcome;
	const char *withheld; /* why what could be done was not; NULL */
	struct diag refusal;
	size_t at;            /* the goal in hand */
};

/* Reads config.fish, which fish reads in each session besides the files of
 * conf.d. */
static void read_beside(const char *path, struct buf *text)
{
	autobuf struct buf name = BUF_INIT(PATH_MAX);
	const char *dir = str_find(path, "/conf.d/");

	if (!dir)
		return;
	buf_add(&name, path, (size_t)(dir - path));
	buf_adds(&name, "/config.fish");
	if (file_read(AT_FDCWD, buf_str(&name), text))
		buf_clear(text);
}

static int edit_goal(void *ctx, const char *text, size_t n, bool missing,
	struct buf *out, enum profile_action *action, struct diag *d)
{
	const struct acting *a = ctx;
	autobuf struct buf beside = BUF_INIT(PROFILE_TEXT_MAX);
	const struct profile_items *items = a->act->items;
	struct profile_change change = {
		.id = a->o->id,
		.family = a->goals->goal[a->at].family,
		.zsh = a->goals->goal[a->at].kind == SHELL_ZSH,
		.home = a->who->home[0] ? a->who->home : NULL,
		.item = items ? items->item : NULL,
		.count = items ? items->count : 0,
		.exists = items ? items->exists : NULL,
		.beside = &beside,
		.raw = a->act->raw,
		.remove = a->act->remove,
		.force = a->o->force,
		.top = a->act->at_top ||
		       (a->o->position && str_eq(a->o->position, "top")),
		.no_file = missing,
	};

	if (change.family == FAMILY_FISH)
		read_beside(a->goals->goal[a->at].file.path, &beside);
	return profile_edit(&change, text, n, out, action, d);
}

int profile_still_read(const char *path, enum shell_kind kind,
	const struct buf *before, const struct buf *after, bool broken,
	struct diag *d)
{
	const char *shell = shellkind_name(kind);
	struct diag why = {0};

	if (!after->len ||
		profile_syntax(kind, NULL, after->data, after->len, &why) != 1)
		return 0;
	if (!before->len || profile_syntax(kind, NULL, before->data,
				    before->len, &why) != 1)
		return diag_fail(d, -EBADMSG,
			"%s could not be read by %s with the new lines: %s",
			path, shell, why.text);
	if (broken)
		return 0;
	return diag_fail(d, -EBADMSG,
		"%s cannot be read by %s already: %s\036"
		"repair line %u first, or use --force",
		path, shell, why.text, why.line);
}

static int check_goal(void *ctx, const struct buf *before,
	const struct buf *after, struct diag *d)
{
	const struct acting *a = ctx;
	const struct profile_goal *g = &a->goals->goal[a->at];

	if (a->o->no_exec)
		return 0;
	return profile_still_read(g->file.path, g->kind, before, after,
		a->o->force || a->act->remove, d);
}

static void do_one(struct acting *a, size_t i, bool dry)
{
	struct profile_outcome *oc = &a->outcome[i];
	struct profile_write job = {
		.path = a->goals->goal[i].file.path,
		.edit = edit_goal,
		.check = check_goal,
		.ctx = a,
		.backup_dir = a->o->backup_dir,
		.flags = a->who->flags,
		.dry_run = dry,
		.wait_ms = (unsigned)(a->o->timeout / 1000000u),
	};

	a->at = i;
	oc->err = profile_write(&job, &oc->w, &oc->d);
	if (oc->err && !oc->d.file[0] && !str_find(oc->d.text, job.path))
		diag_at(&oc->d, job.path, oc->d.line, oc->d.col);
}

static bool was_made(const struct profile_outcome *oc)
{
	return !oc->err && oc->w.action != PROFILE_UNCHANGED;
}

void profile_show_diff(struct buf *diff)
{
	bool colour = cli_colour(1);
	autobuf struct buf out = BUF_INIT(diff->len * 8 + 4096);

	/* A pipe gets what patch takes; a terminal gets nothing it obeys. */
	if (!isatty(1)) {
		cli_print(diff);
		return;
	}
	for (size_t at = 0; at < diff->len;) {
		const char *line = diff->data + at;
		size_t n = str_line(line, diff->len - at);
		const char *code = line[0] == '+'   ? "32"
				   : line[0] == '-' ? "31"
				   : line[0] == '@' ? "36"
						    : "0";

		buf_adds(&out, cli_sgr(colour, code));
		cli_escape(&out, line, n);
		buf_adds(&out, cli_sgr(colour, "0"));
		buf_addc(&out, '\n');
		at += n + 1;
	}
	buf_clear(diff);
	cli_print(&out);
}

void profile_add_diff(
	struct buf *out, const char *path, const struct profile_written *w)
{
	bool gone = w->action == PROFILE_UNLINKED;

	diff_unified(out, w->missing ? "/dev/null" : path,
		gone ? "/dev/null" : path, w->before.data, w->before.len,
		w->after.data, w->after.len);
}

static void put_text(struct json *j, const char *text)
{
	autobuf struct buf code = BUF_INIT(8 * (size_t)PROFILE_TEXT_MAX);
	char name[64];

	json_str(j, text && *text ? text : NULL);
	if (!text || utf8_valid(text, strlen(text)))
		return;
	BUF_PRINT(name, "%.*s_b64", (int)j->key_len, j->key);
	base64_add(&code, (const uint8_t *)text, strlen(text));
	json_put_str(j, name, buf_str(&code));
}

struct json profile_json_begin(struct buf *out)
{
	struct json j = JSON_INIT(out);

	j.pretty = true;
	j.put = put_text;
	json_putf(&j, "{ schema %ju", (uintmax_t)1);
	return j;
}

void profile_shown(struct buf *out, const char *before, const char *text,
	const char *behind)
{
	buf_adds(out, before);
	cli_escape_str(out, text);
	buf_adds(out, behind);
}

void *profile_alloc(size_t size)
{
	void *new = calloc(1, size);

	if (!new)
		cli_die(PROFILE_EXIT_WRITE, "out of memory");
	return new;
}

void profile_json_changes(struct json *j, const struct profile_opts *o)
{
	json_putf(j, "dry_run %d changes [", o->dry_run);
}

void profile_json_change(struct json *j, const char *path, enum shell_kind kind,
	const struct profile_outcome *oc, const char *withheld)
{
	const char *why = oc->err    ? oc->d.text
			  : was_made(oc) ? withheld
				     : NULL;
	autobuf struct buf diff = BUF_INIT(4 * (size_t)PROFILE_TEXT_MAX);

	profile_add_diff(&diff, path, &oc->w);
	json_putf(j, "{ file %s shell %s action %s reason %s backup %s diff %s",
		path, shellkind_name(kind),
		why ? "refused" : profile_action_name(oc->w.action), why,
		oc->w.backup,
		oc->err ? NULL : buf_str(&diff));
}

static void report_json(const struct acting *a)
{
	autobuf struct buf out = BUF_INIT(64u << 20);
	struct json own, *j = a->o->changes;

	if (!j) {
		own = profile_json_begin(&out);
		j = &own;
		profile_json_changes(j, a->o);
	}
	for (size_t i = 0; i < a->goals->count; i++) {
		const struct profile_goal *g = &a->goals->goal[i];

		profile_json_change(j, g->file.path, g->kind, &a->outcome[i],
			a->withheld);
		json_close(j);
	}
	if (j == &own)
		cli_print_json(j);
}

static void report_text(const struct acting *a)
{
	autobuf struct buf out = BUF_INIT(1 << 20);
	bool any = false;

	for (size_t i = 0; i < a->goals->count && !a->o->quiet; i++) {
		const struct profile_outcome *oc = &a->outcome[i];

		if (oc->err)
			continue;
		buf_adds(&out, profile_action_name(oc->w.action));
		profile_shown(&out, ": ", a->goals->goal[i].file.path, "");
		if (oc->w.backup[0])
			profile_shown(
				&out, " (was kept as ", oc->w.backup, ")");
		buf_addc(&out, '\n');
		any |= was_made(oc);
	}
	if (any && !a->act->remove) {
		const struct profile_goal *g = a->goals->goal;

		buf_adds(&out, "A new shell has it; this one after: ");
		if (g->family == FAMILY_SH)
			buf_addf(&out,
				"eval \"$(wardbox profile print --shell %s)\"\n",
				shellkind_name(g->kind));
		else
			profile_shown(&out, "source ", g->file.path, "\n");
	}
	cli_print(&out);
}

static void report_errors(const struct acting *a)
{
	for (size_t i = 0; i < a->goals->count; i++) {
		if (a->outcome[i].err)
			cli_diag(&a->outcome[i].d);
	}
}

/* Warnings that change nothing. */
static void warn_about(const struct acting *a)
{
	const struct profile_items *items = a->act->items;

	if (a->o->quiet)
		return;
	for (size_t i = 0; items && !a->act->remove && i < items->count; i++) {
		if (items->item[i].what != PROFILE_VAR && !items->exists[i])
			cli_warn("%s is not there yet",
				items->item[i].dir->text);
	}
	for (size_t i = 0; i < a->goals->count; i++) {
		const struct buf *b = &a->outcome[i].w.before;

		if (was_made(&a->outcome[i]) && b->len > 1 &&
			memmem(b->data, b->len, "\r\n", 2))
			cli_warn("%s has lines that end in CR LF (crlf): its "
				 "shell takes the CR as text",
				a->goals->goal[i].file.path);
	}
}

static void show_dry(const struct acting *a)
{
	autobuf struct buf diff = BUF_INIT(64u << 20);

	for (size_t i = 0; i < a->goals->count; i++) {
		if (was_made(&a->outcome[i]))
			profile_add_diff(&diff, a->goals->goal[i].file.path,
				&a->outcome[i].w);
	}
	profile_show_diff(&diff);
}

int profile_consent(const struct profile_opts *o, const char *question)
{
	int answer;

	if (o->yes)
		return EXIT_OK;
	/* With --json no person sees the diff to say yes to. */
	answer = o->json ? -1 : cli_ask(question);
	if (answer == 1)
		return EXIT_OK;
	cli_warn(answer < 0 ? "no terminal to ask on; -y writes without asking"
			    : "nothing was changed");
	return PROFILE_EXIT_CONSENT;
}

static int ask_changes(const struct acting *a, size_t changes)
{
	autobuf struct buf question = BUF_INIT(65536);

	if (!a->o->yes && !a->o->json)
		show_dry(a);
	buf_addf(&question, "Change %zu file%s as shown?", changes,
		str_plural(changes));
	return profile_consent(a->o, buf_str(&question));
}

static int first_error(const struct acting *a)
{
	for (size_t i = 0; i < a->goals->count; i++) {
		if (a->outcome[i].err)
			return a->outcome[i].err;
	}
	return 0;
}

static int do_all(struct acting *a, bool dry, size_t *changes)
{
	*changes = 0;
	for (size_t i = 0; i < a->goals->count; i++) {
		do_one(a, i, dry);
		*changes += was_made(&a->outcome[i]);
	}
	return profile_code(first_error(a));
}

static int act_on(struct acting *a)
{
	size_t changes, done;
	/* Nothing is written while one of the files cannot be. */
	int code = do_all(a, true, &changes);

	if (code) {
		a->withheld = "another file cannot be changed";
	} else if (changes && !a->withheld) {
		warn_about(a);
		code = profile_refuse_useless(a->who, a->o, &a->refusal);
		if (code)
			a->withheld = a->refusal.text;
	}
	if (changes && !a->withheld && !a->o->dry_run) {
		code = ask_changes(a, changes);
		if (code)
			a->withheld = "nobody said yes";
		else if ((code = do_all(a, false, &done)) != 0 && done)
			code = PROFILE_EXIT_PARTIAL;
	}
	report_errors(a);
	if (a->o->json)
		report_json(a);
	else if (a->o->dry_run && !a->withheld)
		show_dry(a);
	else if (!code || code == PROFILE_EXIT_PARTIAL)
		report_text(a);
	return code;
}

int profile_act_run(const struct profile_act *act,
	const struct profile_goals *goals, const struct profile_who *who,
	const struct profile_opts *o)
{
	autofree struct profile_outcome *outcome =
		profile_alloc((goals->count + 1) * sizeof *outcome);
	struct acting a = {.act = act,
		.goals = goals,
		.who = who,
		.o = o,
		.outcome = outcome,
		.withheld = o->withheld};
	int code;

	code = act_on(&a);
	for (size_t i = 0; i < goals->count; i++)
		profile_written_release(&outcome[i].w);
	return code;
}
