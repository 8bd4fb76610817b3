/* profile_repair.c - the text of a startup file put right
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <string.h>

#include "profile/profile_lint.h"
#include "profile/profile_lint_rules_in.h"
#include "profile/rc_path.h"
#include "base/str.h"

struct repair {
	const struct profile_lint *l;
	enum profile_problem_code code;
	struct buf *out;
	size_t done; /* the text is written up to here */
	int count;
	struct buf value;
};

static void keep_until(struct repair *r, size_t at)
{
	buf_add(r->out, r->l->text + r->done, at - r->done);
	r->done = at;
}

void lint_guarded(
	const struct profile_lint *l, const struct rc_cmd *cmd, struct buf *out)
{
	const struct rc_word *w = &cmd->word[1];
	const char *name = l->text + w->at;
	const char *whole = l->text + cmd->at;
	int name_len = (int)(w->end - w->at);
	int whole_len = (int)(cmd->end - cmd->at);
	enum shell_family family = shellkind_family(l->kind);

	if (family == FAMILY_FISH)
		buf_addf(out, "if test -r %.*s; %.*s; end", name_len, name,
			whole_len, whole);
	else if (family == FAMILY_CSH)
		buf_addf(out, "if ( -r %.*s ) %.*s", name_len, name, whole_len,
			whole);
	else
		buf_addf(out, "if [ -r %.*s ]; then %.*s; fi", name_len, name,
			whole_len, whole);
}

static void guard_source(struct repair *r, const struct rc_cmd *cmd)
{
	keep_until(r, cmd->at);
	lint_guarded(r->l, cmd, r->out);
	r->done = cmd->end;
	r->count++;
}

/* A quoted ~ at the start of an entry is meant to be the home; an entry that
 * is empty is meant not to be there. */
static void mend_word(struct repair *r, const struct rc_word *w)
{
	const char *s = r->l->text;
	bool in_double = false;

	for (size_t i = w->at; i < w->end; i++) {
		char before = i > w->at ? s[i - 1] : '\0';
		bool starts = before == '"' || before == ':' || before == '=';

		if (s[i] == '"')
			in_double = !in_double;
		if (in_double && s[i] == '~' && starts && i + 1 < w->end &&
			s[i + 1] == '/') {
			keep_until(r, i);
			buf_adds(r->out, "$HOME");
			r->done = i + 1;
			r->count++;
		} else if (s[i] == ':' &&
			   (before == ':' || i + 1 == w->end ||
				   (s[i + 1] == '"' && i + 2 == w->end) ||
				   before == '=' ||
				   (before == '"' && i >= w->at + 2 &&
					   s[i - 2] == '='))) {
			keep_until(r, i);
			r->done = i + 1;
			r->count++;
		}
	}
}

static void mend_path(struct repair *r, const struct rc_cmd *cmd)
{
	buf_clear(&r->value);
	if (shellkind_family(r->l->kind) != FAMILY_SH ||
		!rc_path_change(cmd, FAMILY_SH, &r->value))
		return;
	for (size_t i = 0; i < cmd->count; i++) {
		const char *rest = str_after(cmd->word[i].text, "PATH=");

		if (rest)
			mend_word(r, &cmd->word[i]);
	}
}

static int visit_command(void *ctx, const struct rc_cmd *cmd)
{
	struct repair *r = ctx;

	/* A command within one that was rewritten already. */
	if (cmd->at < r->done)
		return 0;
	if (r->code == PROBLEM_DANGLING_SOURCE) {
		if (lint_is_dangling(r->l, cmd))
			guard_source(r, cmd);
	} else if (r->code == PROBLEM_BASHISM) {
		if (lint_is_bashism(r->l, cmd) &&
			str_eq(cmd->word[0].text, "source")) {
			keep_until(r, cmd->at);
			buf_addc(r->out, '.');
			r->done = cmd->word[0].end;
			r->count++;
		}
	} else {
		mend_path(r, cmd);
	}
	return r->out->err;
}

static int strip_returns(const struct profile_lint *l, struct buf *out)
{
	int count = 0;

	for (size_t i = 0; i < l->len; i++) {
		if (l->text[i] == '\r' && i + 1 < l->len &&
			l->text[i + 1] == '\n')
			count++;
		else
			buf_addc(out, l->text[i]);
	}
	return out->err ? out->err : count;
}

int profile_repair(const struct profile_lint *lint,
	enum profile_problem_code code, struct buf *out)
{
	struct repair r = {.l = lint,
		.code = code,
		.out = out,
		.value = BUF_INIT(RC_TEXT_MAX)};
	struct rc_source source = lint_source(lint);
	struct rc_visitor visitor = {.command = visit_command, .ctx = &r};
	int err;

	if (code == PROBLEM_CRLF)
		return strip_returns(lint, out);
	if (code != PROBLEM_DANGLING_SOURCE && code != PROBLEM_BASHISM &&
		code != PROBLEM_PATH_CORRUPT)
		return -EINVAL;
	err = rc_scan(&source, &visitor);
	buf_release(&r.value);
	if (err < 0)
		return err;
	keep_until(&r, lint->len);
	return out->err ? out->err : r.count;
}
