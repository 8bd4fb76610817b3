/* shell_walk_redir.c - redirections: what they open, and what comes in
 * SPDX-License-Identifier: MIT
 */
#include "shell/shell_eval_in.h"

#include <string.h>

#include "base/str.h"

static bool is_dup(const struct shell_val *v)
{
	const struct shell_str *s = v->alts;

	for (; s < v->alts + v->n; s++)
		for (size_t i = 0; i < s->n; i++)
			if (!chr_digit(s->p[i]) && s->p[i] != SHELL_NUM &&
				!(s->p[i] == '-' && i + 1 == s->n))
				return false;
	/* "" alone is a file that is not there. */
	return !v->many && v->alts->n;
}

void shell_report_open(struct shell_walk *w, const struct shell_open *o)
{
	if (!w->quiet && !w->err && w->ops->open)
		shell_stop(w, w->ops->open(w->ctx, w, o, w->st->cwd));
}

static void report_open(struct shell_walk *w, const struct shell_redir *r,
	const struct shell_val *path)
{
	struct shell_open o = {.path = *path,
		.reads = r->op == SHELL_R_IN || r->op == SHELL_R_RDWR ||
			 r->op == SHELL_R_DUPIN,
		.span = shell_outer(w, r->span)};

	o.writes = r->op == SHELL_R_RDWR || !o.reads;
	shell_report_open(w, &o);
}

/* What standard input is from now on. */
static void set_input(struct shell_walk *w, const struct shell_redir *r,
	enum shell_input input, const struct shell_val *text)
{
	if (r->fd > 0 || r->fdvar.n)
		return;
	w->st->input = input;
	w->st->input_text = text;
}

static void walk_here(struct shell_walk *w, const struct shell_redir *r)
{
	const struct shell_val *text;

	/* A line that ends in an error has bodies that were never read. */
	if (r->op == SHELL_R_HERE && !r->here)
		return;
	text = r->op == SHELL_R_HERESTR
		       ? shell_expand_one(w, r->word)
		       : shell_expand_quoted(w, r->here->parts, r->here->span);
	set_input(w, r, SHELL_IN_TEXT, text);
}

/* A file that is another descriptor: what is read from it is unseen. */
static bool is_descriptor(const struct shell_val *path)
{
	for (unsigned i = 0; i < path->n; i++) {
		struct shell_str s = path->alts[i];

		if ((s.n >= 6 && memcmp(s.p, "/proc/", 6) == 0) ||
			(s.n >= 8 && memcmp(s.p, "/dev/fd/", 8) == 0) ||
			shell_str_is(s, "/dev/stdin"))
			return true;
	}
	return false;
}

static void walk_target(struct shell_walk *w, const struct shell_redir *r,
	const struct shell_word *word)
{
	const struct shell_val *path = shell_expand_path(w, word);
	bool dup = r->op == SHELL_R_DUPIN || r->op == SHELL_R_DUPOUT;

	if (dup && is_dup(path)) {
		if (r->op == SHELL_R_DUPIN && !shell_str_is(path->alts[0], "0"))
			set_input(w, r, SHELL_IN_UNKNOWN, NULL);
		return;
	}
	/* What is no descriptor bash expands once more. */
	for (unsigned i = 0; dup && i < path->n; i++)
		if (w->dialect == SHELL_BASH && shell_str_may_run(path->alts[i]))
			shell_risk(w, SHELL_RISK_CODE, path->alts[i], r->span);
	report_open(w, r, path);
	if ((r->op == SHELL_R_IN || r->op == SHELL_R_RDWR) &&
		is_descriptor(path))
		set_input(w, r, SHELL_IN_UNKNOWN, NULL);
	else if (r->op == SHELL_R_IN || r->op == SHELL_R_RDWR)
		set_input(w, r, SHELL_IN_FILE, path);
	else if (r->fd == 0 || r->op == SHELL_R_DUPIN)
		set_input(w, r, SHELL_IN_UNKNOWN, NULL);
}

bool shell_redirs_fail(const struct shell_redir *r)
{
	while (r && (r->op == SHELL_R_HERE || r->op == SHELL_R_HERESTR ||
			    shell_word_is(r->word, "/dev/null")))
		r = r->next;
	return r;
}

/* What the words assign, ${x:=y}, stays where the shell itself opens the file,
 * and not where a child does. */
static void walk_redir(struct shell_walk *w, const struct shell_redir *r)
{
	struct shell_state *st = w->st, before;

	shell_fork(w, st, &before);
	if (r->op == SHELL_R_HERE || r->op == SHELL_R_HERESTR)
		walk_here(w, r);
	else if (!r->word->braces)
		walk_target(w, r, r->word);
	else
		for (const struct shell_word *word = r->word->braces; word;
			word = word->next)
			walk_target(w, r, word);
	before.input = st->input;
	before.input_text = st->input_text;
	shell_join(w, st, &before);
}

void shell_walk_redirs(struct shell_walk *w, const struct shell_redir *r)
{
	for (; r && !w->err; r = r->next) {
		walk_redir(w, r);
		if (r->fdvar.n)
			shell_assign_var(w, r->fdvar,
				&shell_val_num, false, r->span);
	}
}
