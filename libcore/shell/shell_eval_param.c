/* shell_eval_param.c - values of $x and ${x…}
 * SPDX-License-Identifier: MIT
 */
#include "shell/shell_eval_in.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"

/* Another text at each look, whatever was assigned. */
static bool changes_itself(struct shell_str name)
{
	return shell_str_in(name,
		       " _ RANDOM SRANDOM LINENO SECONDS FUNCNAME PIPESTATUS "
		       "DIRSTACK GROUPS HISTCMD ") ||
	       (name.n >= 4 && memcmp(name.p, "BASH", 4) == 0) ||
	       (name.n >= 5 && memcmp(name.p, "EPOCH", 5) == 0);
}

/* Set by the shell itself, whatever the environment holds. */
static bool is_shells_own(struct shell_str name)
{
	static const char names[] =
		" IFS OPTIND OPTARG PPID PS1 PS2 PS4 SHLVL HOSTNAME HOSTTYPE "
		"MACHTYPE OSTYPE EUID UID SHELLOPTS REPLY MAPFILE COLUMNS "
		"LINES TERM SHELL PATH COPROC ";

	return shell_str_in(name, names) || changes_itself(name);
}

/* What these are where a shell sets them. */
static bool is_number(struct shell_str name)
{
	return shell_str_in(name,
		" RANDOM SRANDOM LINENO SECONDS UID EUID BASHPID BASH_SUBSHELL "
		"EPOCHSECONDS SHLVL OPTIND ");
}

static struct shell_got outer_value(struct shell_walk *w, struct shell_str name)
{
	const struct shell_outer_var *o = shell_outer_get(w, name);
	struct shell_got got = {&shell_val_any, true};

	if (o->known > 0)
		return (struct shell_got){
			shell_val_str(w, o->text), w->st->bare};
	if (o->known == 0 && !is_shells_own(name))
		got.v = NULL;
	else if (o->known < 0 && is_number(name))
		got.v = &shell_val_num;
	return got;
}

static const struct shell_val *arg_count(struct shell_walk *w)
{
	char digits[16];
	struct buf text = BUF_FIXED(digits);
	char *kept;

	for (size_t i = 1; i < w->st->nargs; i++)
		if (w->st->args[i].many)
			return &shell_val_num;
	buf_addf(&text, "%zu", w->st->nargs ? w->st->nargs - 1 : 0);
	kept = walk_bytes(w, text.len);
	if (!kept)
		return NULL;
	memcpy(kept, text.data, text.len);
	return shell_val_str(w, (struct shell_str){kept, text.len});
}

static struct shell_got special(struct shell_walk *w, char c)
{
	switch (c) {
	case '#':
		return (struct shell_got){arg_count(w), false};
	case '-':
		return (struct shell_got){&shell_val_rel, false};
	case '!':
	case '$':
	case '?':
		return (struct shell_got){&shell_val_num, c == '!'};
	default: /* @ and * where they are not spliced in */
		return (struct shell_got){&shell_val_any, true};
	}
}

/* One of these arguments, of which some are many. */
static const struct shell_val *any_of(
	struct shell_walk *w, const struct shell_val *v, size_t n)
{
	const struct shell_val *all = v;

	for (size_t i = 1; i < n; i++)
		all = shell_val_union(w, all, &v[i]);
	return shell_val_one(w, all);
}

/* $1 … */
static struct shell_got positional(struct shell_walk *w, size_t i)
{
	const struct shell_state *st = w->st;
	struct shell_got got = {NULL, false};

	if (i == 0 && !st->nargs)
		got.v = &shell_val_any;
	else if (i < st->nargs)
		got.v = &st->args[i];
	for (size_t k = 1; k <= i && k < st->nargs; k++)
		if (st->args[k].many)
			return (struct shell_got){any_of(w, st->args + k,
							  st->nargs - k),
				true};
	return got;
}

struct shell_got shell_param_value(struct shell_walk *w, struct shell_str name)
{
	const struct shell_got unknown = {&shell_val_any, true};
	struct shell_var *v;

	if (!chr_name(name.p[0]))
		return special(w, name.p[0]);
	if (chr_digit(name.p[0]))
		return positional(w, (size_t)shell_str_number(name));
	for (v = w->traped; v; v = v->next)
		if (shell_str_eq(v->name, name))
			return unknown;
	v = shell_var_find(w->st, name);
	if (v && v->value && changes_itself(name))
		return unknown;
	if (v)
		return (struct shell_got){
			v->value, v->maybe_unset || !v->value};
	if (shell_str_is(name, "PWD"))
		return (struct shell_got){w->st->cwd, false};
	return outer_value(w, name);
}

/* Known text against a pattern of '*', '?' and plain characters. */
static bool glob(struct shell_str pat, struct shell_str s)
{
	size_t i = 0, k = 0, star = (size_t)-1, back = 0;

	while (k < s.n) {
		if (i < pat.n && pat.p[i] == '*') {
			star = i++;
			back = k;
		} else if (i < pat.n &&
			   (pat.p[i] == '?' || pat.p[i] == s.p[k])) {
			i++;
			k++;
		} else if (star != (size_t)-1) {
			i = star + 1;
			k = ++back;
		} else {
			return false;
		}
	}
	while (i < pat.n && pat.p[i] == '*')
		i++;
	return i == pat.n;
}

/* s without the shortest or longest part at one end that matches. */
static struct shell_str trim(
	struct shell_str s, struct shell_str pat, bool suffix, bool longest)
{
	for (size_t i = 0; i <= s.n; i++) {
		size_t n = longest ? s.n - i : i;
		struct shell_str cut = {suffix ? s.p + s.n - n : s.p, n};

		if (glob(pat, cut))
			return (struct shell_str){
				suffix ? s.p : s.p + n, s.n - n};
	}
	return s;
}

static bool is_simple_pattern(const struct shell_word *word)
{
	struct shell_str s = shell_word_literal(word);

	return !word->parts || (s.n && !shell_str_has(s, "["));
}

/* Does s end with that suffix, which is no pattern? */
static bool has_suffix(struct shell_str s, struct shell_str suffix)
{
	return !shell_str_has(suffix, "*?") && suffix.n <= s.n &&
	       memcmp(s.p + s.n - suffix.n, suffix.p, suffix.n) == 0;
}

/* The last component of a path without unknown text: begins it with no dot,
 * no start of it is "..". */
static bool is_name_end(struct shell_str s)
{
	const char *slash = s.n ? memrchr(s.p, '/', s.n) : NULL;
	const char *name = slash ? slash + 1 : s.p;

	return name < s.p + s.n && *name != '.';
}

/* ${x#*SLASH} and ${x%SLASH*}: no REL holds a slash, so their places are known
 * when there is no other unknown text. */
static struct shell_str trim_slash(
	struct shell_str s, bool suffix, bool longest)
{
	const char *at = s.n ? (suffix == longest ? memchr(s.p, '/', s.n)
						  : memrchr(s.p, '/', s.n))
			     : NULL;
	size_t n = at ? (size_t)(at - s.p) : 0;

	if (!at)
		return s;
	return suffix ? (struct shell_str){s.p, n}
		      : (struct shell_str){at + 1, s.n - n - 1};
}

static const struct shell_val *trim_one(struct shell_walk *w,
	struct shell_str s, struct shell_str pat, bool suffix, bool longest)
{
	if (!shell_str_unknown(s, true))
		return s.n * s.n < 65536 ? shell_val_str(w, trim(s, pat, suffix,
							       longest))
					 : &shell_val_any;
	if (shell_str_unknown(s, false))
		return &shell_val_any;
	if (shell_str_is(pat, suffix ? "/*" : "*/"))
		return shell_val_str(w, trim_slash(s, suffix, longest));
	if (suffix && pat.n && is_name_end(s) && has_suffix(s, pat))
		return shell_val_str(
			w, (struct shell_str){s.p, s.n - pat.n});
	if (suffix && is_name_end(s) && !shell_str_has(s, "/"))
		return &shell_val_rel;
	return &shell_val_any;
}

static const struct shell_val *trimmed(struct shell_walk *w,
	const struct shell_val *v, const struct shell_param *p)
{
	struct shell_str pat = shell_word_literal(p->word);
	const struct shell_val *out = NULL, *one;

	for (unsigned i = 0; i < v->n; i++) {
		one = is_simple_pattern(p->word)
			      ? trim_one(w, v->alts[i], pat,
					p->op == SHELL_OP_SUFFIX, p->doubled)
			      : &shell_val_any;
		out = out ? shell_val_union(w, out, one) : one;
	}
	return out;
}

static bool can_be_empty(const struct shell_val *v)
{
	for (unsigned i = 0; i < v->n; i++)
		if (!v->alts[i].n || shell_str_unknown(v->alts[i], true))
			return true;
	return false;
}

static bool always_empty(const struct shell_val *v)
{
	for (unsigned i = 0; i < v->n; i++)
		if (v->alts[i].n)
			return false;
	return true;
}

/* - = ? +: does the word stand (1), may it (0), or not (-1)? */
static int uses_word(
	const struct shell_param *p, const struct shell_val *v, bool unset)
{
	bool gone = !v || (p->colon && always_empty(v));
	bool maybe = unset || (v && p->colon && can_be_empty(v));
	int yes = p->op == SHELL_OP_ALT ? -1 : 1;

	return gone ? yes : maybe ? 0 : -yes;
}

static const struct shell_val *with_word(struct shell_walk *w,
	const struct shell_param *p, const struct shell_val *v, bool unset,
	struct shell_span span, const struct shell_word **word)
{
	int use = uses_word(p, v, unset);
	const struct shell_val *alt, *out;
	struct shell_state *st = w->st, before;

	if (use > 0 && p->op != SHELL_OP_ASSIGN && p->op != SHELL_OP_ERROR) {
		*word = p->word;
		return NULL;
	}
	/* Substitutions in it count even where it is not used; what it
	 * assigns, not. */
	shell_fork(w, st, &before);
	alt = shell_expand_one(w, p->word);
	if (use < 0)
		shell_fork(w, &before, st);
	else if (use == 0)
		shell_join(w, st, &before);
	/* What stands behind "?" is never its value. */
	if (p->op == SHELL_OP_ERROR)
		return use > 0 ? &shell_val_any : v;
	if (p->op == SHELL_OP_ALT)
		return use < 0 ? &shell_val_empty
			       : shell_val_union(w, alt, &shell_val_empty);
	if (use < 0)
		return v;
	out = use > 0 || !v ? alt : shell_val_union(w, v, alt);
	if (p->op == SHELL_OP_ASSIGN && p->indirect)
		shell_risk(w, SHELL_RISK_INDIRECT, p->name, span);
	if (p->op == SHELL_OP_ASSIGN && chr_name1(p->name.p[0]))
		shell_assign_var(w, p->name, out, false, span);
	return out;
}

static void slice(struct shell_walk *w, const struct shell_param *p)
{
	const struct shell_word *const words[] = {p->word, p->word2};

	for (unsigned i = 0; i < 2; i++)
		if (words[i])
			shell_arith_text(w,
				shell_expand_quoted(
					w, words[i]->parts, words[i]->span),
				words[i]->span);
}

/* The value of the name, or of the variable that it names. */
static struct shell_got base_value(struct shell_walk *w,
	const struct shell_param *p, struct shell_span span)
{
	struct shell_got got = shell_param_value(w, p->name);
	struct shell_var *var = shell_var_find(w->st, p->name);
	const struct shell_str *name;

	if (p->subscript) {
		if (!shell_word_is(p->subscript, "@") &&
			!shell_word_is(p->subscript, "*"))
			shell_check_subscript(w, p->subscript);
		got.unset = true;
		if (var && !var->array && !var->value)
			got.v = NULL;
		else if (got.v)
			got.v = shell_val_union(w, got.v, &shell_val_empty);
		return got;
	}
	if (!p->indirect || p->op == SHELL_OP_NAMES) {
		if (var && var->array && got.v)
			got.v = shell_val_union(w, got.v, &shell_val_empty);
		return got;
	}
	shell_toss(w);
	if (!got.v)
		return got;
	shell_check_name(w, got.v);
	name = shell_val_text(got.v);
	if (name && str_is_name(name->p, name->n))
		return shell_param_value(w, *name);
	if (got.v->kind == SHELL_UNKNOWN)
		shell_risk(w, SHELL_RISK_INDIRECT, p->name, span);
	return (struct shell_got){&shell_val_any, true};
}

const struct shell_val *shell_expand_param(struct shell_walk *w,
	const struct shell_param *p, struct shell_span span,
	const struct shell_word **word)
{
	struct shell_got got = base_value(w, p, span);
	const struct shell_val *v = got.v;
	bool unset = got.unset;

	if (p->length)
		return &shell_val_num;
	switch (p->op) {
	case SHELL_OP_NONE:
		return !v      ? &shell_val_empty
		       : unset ? shell_val_union(w, v, &shell_val_empty)
			       : v;
	case SHELL_OP_DEFAULT:
	case SHELL_OP_ASSIGN:
	case SHELL_OP_ERROR:
	case SHELL_OP_ALT:
		return with_word(w, p, v, unset, span, word);
	case SHELL_OP_PREFIX:
	case SHELL_OP_SUFFIX:
		shell_expand_one(w, p->word);
		if (v)
			v = trimmed(w, v, p);
		return !v      ? &shell_val_empty
		       : unset ? shell_val_union(w, v, &shell_val_empty)
			       : v;
	case SHELL_OP_SLICE:
		slice(w, p);
		return shell_edit(w, v, p, unset);
	case SHELL_OP_TRANSFORM:
		if (p->mark == 'P')
			shell_risk(w, SHELL_RISK_PROMPT, p->name, span);
		return shell_edit(w, v, p, unset);
	case SHELL_OP_REPLACE:
	case SHELL_OP_CASE:
	case SHELL_OP_NAMES:
	case SHELL_OP_BAD:
		if (p->word)
			shell_expand_one(w, p->word);
		if (p->word2)
			shell_expand_one(w, p->word2);
		return p->op == SHELL_OP_REPLACE || p->op == SHELL_OP_CASE
			       ? shell_edit(w, v, p, unset)
			       : &shell_val_any;
	}
	return &shell_val_any;
}
