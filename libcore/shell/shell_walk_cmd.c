/* shell_walk_cmd.c - simple commands: their words, and what they call
 * SPDX-License-Identifier: MIT
 */
#include "shell/shell_eval_in.h"

#include <string.h>

#include "base/str.h"

static bool is_ascii(struct shell_str s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] >= 0x80)
			return false;
	return true;
}

/* The words, with name=value of a declaration kept whole. */
static void expand_words(struct shell_walk *w, const struct shell_word *word,
	struct shell_args *args)
{
	bool decl = shell_is_decl(shell_word_literal(word));

	for (; word && !w->err; word = word->next) {
		const struct shell_part *part = word->parts;
		struct shell_val *slot;

		if (decl && !word->braces && part && part->type == SHELL_LIT &&
			chr_name1(part->text.p[0]) &&
			shell_str_has(part->text, "=")) {
			slot = shell_args_add(w, args);
			if (slot) {
				*slot = *shell_expand_one(w, word);
				slot->span = word->span;
				slot->array = part->next &&
					part->next->type == SHELL_ARRAY;
			}
			continue;
		}
		shell_expand(w, word, args);
	}
}

static bool judge_name(struct shell_walk *w, const struct shell_val *v)
{
	bool ok = true;

	if (v->many || v->vanishes || v->glob ||
		(v->kind != SHELL_CONST && v->kind != SHELL_SET)) {
		shell_risk(w, SHELL_RISK_DYNAMIC, v->alts[0], v->span);
		return false;
	}
	for (unsigned i = 0; i < v->n; i++) {
		if (is_ascii(v->alts[i]))
			continue;
		shell_risk(w, SHELL_RISK_NONASCII, v->alts[i], v->span);
		ok = false;
	}
	return ok;
}

static void report_command(struct shell_walk *w, const struct shell_node *node,
	const struct shell_args *args, const struct shell_set *sets,
	size_t nsets, enum shell_resolve resolve)
{
	const struct shell_state *st = w->st;
	const struct shell_cmd *outer = w->cmd;
	struct shell_cmd cmd = {.argv = args->v,
		.argc = args->n,
		.sets = sets,
		.nsets = nsets,
		.resolve = resolve,
		.cwd = st->cwd,
		.input = st->input,
		.input_text = st->input_text,
		.dialect = w->dialect,
		.second = w->second,
		.span = shell_outer(w, node->span),
		.at = node->span};

	if (w->quiet || w->err)
		return;
	w->cmd = &cmd;
	shell_stop(w, w->ops->command(w->ctx, w, &cmd));
	w->cmd = outer;
}

/* What may be no word at all, an option or a builtin: nobody follows it. */
static void check_behind(struct shell_walk *w, const struct shell_val *v)
{
	for (unsigned i = 0; i < v->n; i++) {
		struct shell_str s = v->alts[i];

		if (s.n ? s.p[0] == '-' || shell_is_builtin(s) : v->vanishes)
			shell_risk(w, SHELL_RISK_DYNAMIC, s, v->span);
	}
}

/* The builtin behind `command` and `builtin`; argc when there is none. */
static size_t behind_command(
	struct shell_walk *w, const struct shell_args *args, bool *peeled)
{
	size_t i = 0;

	while (i + 1 < args->n) {
		const struct shell_str *s = shell_val_text(&args->v[i]);
		const struct shell_str *next = shell_val_text(&args->v[i + 1]);

		if (!s || !shell_str_in(*s, " command builtin "))
			break;
		*peeled = true;
		i++;
		while (next && shell_str_in(*next, " -p -- ")) {
			if (++i >= args->n)
				return args->n;
			next = shell_val_text(&args->v[i]);
		}
		if (next && next->n && next->p[0] == '-')
			return args->n;
		if (!next)
			check_behind(w, &args->v[i]);
	}
	return i;
}

/* What the command does to the shell. */
static void take_effect(struct shell_walk *w, const struct shell_args *args,
	const struct shell_set *sets, size_t nsets, const struct shell_func *f)
{
	struct shell_saved *saved = NULL;
	bool peeled = false;
	size_t first = behind_command(w, args, &peeled);
	const struct shell_str *name =
		first < args->n ? shell_val_text(&args->v[first]) : NULL;

	bool builtin =
		name && shell_is_builtin(*name) && (!f || peeled || f->maybe);

	if (!builtin && (!f || peeled))
		return;
	/* Prefix assignments hold while it runs; afterwards the shells differ
	 * on whether they stay. */
	for (size_t i = 0; i < nsets; i++) {
		shell_save_var(w, &saved, sets[i].name);
		shell_assign_quiet(w, &sets[i]);
		if (shell_str_is(sets[i].name, "IFS") &&
			(f || shell_is_special(*name)))
			w->st->own_ifs = true;
	}
	if (f && !peeled)
		shell_walk_call(w, f, args);
	if (builtin)
		shell_builtin(w, args, first);
	shell_merge_saved(w, saved);
}

static enum shell_resolve resolve(struct shell_walk *w,
	const struct shell_val *v, const struct shell_func **f)
{
	const struct shell_str *name = shell_val_text(v);

	*f = NULL;
	if (!name) {
		/* One of several names: none of them may change the shell. */
		for (unsigned i = 0; i < v->n; i++)
			if (shell_func_find(w->st, v->alts[i]) ||
				shell_is_builtin(v->alts[i]))
				shell_risk(w, SHELL_RISK_DYNAMIC, v->alts[i],
					v->span);
		return SHELL_IS_PROGRAM;
	}
	*f = shell_func_find(w->st, *name);
	if (*f && !(*f)->ndefs)
		*f = NULL;
	if (*f)
		return (*f)->maybe ? SHELL_IS_EITHER : SHELL_IS_FUNCTION;
	return shell_is_builtin(*name) ? SHELL_IS_BUILTIN : SHELL_IS_PROGRAM;
}

/* NAME+=…, NAME[…]=…, NAME[…]++ */
static bool is_assignment(struct shell_str s)
{
	const char *end = s.p + s.n;
	size_t n = 0;

	while (n < s.n && chr_name(s.p[n]))
		n++;
	if (!n || n + 2 > s.n)
		return false;
	if (s.p[n] == '+')
		return s.p[n + 1] == '=';
	return (s.p[n] == '[' || s.p[n] == SHELL_REL) &&
	       (memchr(s.p + n, '=', s.n - n) ||
		       (end[-1] == end[-2] && strchr("+-", end[-1])));
}

/* m[k]=v where that is no assignment, but a pattern for a command's name: what
 * it may match has the '=' in it, as no program's name in PATH has. Where the
 * value is not known there may be a slash in it, but nobody has a directory
 * "m[k]=…"; text of which nothing is known is a word behind it. */
static bool no_program(const struct shell_walk *w, const struct shell_val *v)
{
	for (unsigned i = 0; i < v->n; i++) {
		struct shell_str s = v->alts[i];
		bool sets = is_assignment(s);

		if (shell_str_unknown(s, false)
				? !sets && !(i && v->many && s.n == 1)
				: shell_str_has(s, "/") ||
					  !(sets || shell_str_has(s, "=")))
			return false;
	}
	return w->second;
}

static void run_command(struct shell_walk *w, const struct shell_node *node,
	const struct shell_args *args, const struct shell_set *sets,
	size_t nsets)
{
	const struct shell_func *f = NULL;
	enum shell_resolve is = SHELL_IS_PROGRAM;
	bool known;

	if (no_program(w, &args->v[0]))
		return;
	known = judge_name(w, &args->v[0]);

	if (known)
		is = resolve(w, &args->v[0], &f);
	report_command(w, node, args, sets, nsets, is);
	if (known)
		take_effect(w, args, sets, nsets, f);
}

void shell_walk_simple(struct shell_walk *w, const struct shell_node *node)
{
	struct shell_state *st = w->st;
	enum shell_input input = st->input;
	const struct shell_val *text = st->input_text;
	const struct shell_assign *a = node->u.simple.assigns;
	struct shell_args args = {0};
	const struct shell_set *sets = NULL;
	size_t nsets = 0;
	struct shell_state before;
	bool keep;

	if (!shell_step(w))
		return;
	expand_words(w, node->u.simple.words, &args);
	shell_walk_arrays(w, node->u.simple.words);
	shell_walk_redirs(w, node->redirs);
	shell_fork(w, st, &before);
	if (!args.n) {
		shell_walk_assigns(w, a);
	} else {
		sets = shell_walk_prefix(w, a, &nsets);
		if (!w->err)
			run_command(w, node, &args, sets, nsets);
	}
	/* With a redirection that fails, or a readonly name, it does not run. */
	if (nsets || shell_redirs_fail(node->redirs))
		shell_may_fail(w, &before);
	/* exec without a command keeps its redirections. */
	keep = args.n == 1 && shell_val_text(&args.v[0]) &&
	       shell_str_is(args.v[0].alts[0], "exec");
	if (!keep) {
		st->input = input;
		st->input_text = text;
	}
}
