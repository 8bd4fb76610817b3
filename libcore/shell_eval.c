/* shell_eval.c - words of shell text to abstract arguments
 * SPDX-License-Identifier: MIT
 *
 * A field grows as a set of texts. Inside a field under construction three
 * more bytes stand for the unquoted pattern characters, so that a quoted '*'
 * stays a star; finish() turns them into what a match may be.
 */
#include "shell_eval.h"

#include <errno.h>
#include <string.h>

#include "str.h"

enum { PAT_STAR = '\3', PAT_ONE = '\4', PAT_SET = '\5' };

static bool is_mark(char c)
{
	return c >= PAT_STAR && c <= PAT_SET;
}

/* A byte of the source that would be taken for one of ours. */
static bool is_reserved(char c)
{
	return c >= SHELL_REL && c <= PAT_SET;
}

static bool has_pattern(struct shell_str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] == '*' || s.p[i] == '?' || s.p[i] == '[')
			return true;
	return false;
}

struct field {
	struct shell_walk *w;
	struct shell_args *out; /* NULL: one value, no splitting */
	struct shell_val *one;
	bool patterns; /* unquoted * ? [ are such */
	unsigned n;
	struct shell_str alts[SHELL_MAX_ALTS];
	bool active;  /* quotes or text make it an argument, even an empty one */
	bool many, tainted, quoted, plain;
	bool unsure; /* bash may leave the whole word unsplit */
	bool mixed;  /* there is more in the word than one expansion */
	bool inner; /* in the word of a ${x:-…}: its own blanks split as well */
	struct shell_span span;
};

static void expand_parts(
	struct field *f, const struct shell_part *part, bool quoted);

static void reset(struct field *f)
{
	f->n = 1;
	f->alts[0] = (struct shell_str){"", 0};
	f->active = f->many = f->tainted = f->quoted = false;
	f->plain = true;
}

/* ---- finishing a field ---- */

/* May the pattern component s match ".."? Brackets match anything here. */
static bool matches_up(struct shell_str s, size_t i, unsigned dots)
{
	if (i == s.n)
		return dots == 2;
	if (s.p[i] == PAT_STAR) {
		for (unsigned d = dots; d <= 2; d++)
			if (matches_up(s, i + 1, d))
				return true;
		return false;
	}
	if (s.p[i] == PAT_SET) {
		const char *end = memchr(s.p + i, ']', s.n - i);

		return dots < 2 && end &&
			matches_up(s, (size_t)(end - s.p) + 1, dots + 1);
	}
	return dots < 2 && (s.p[i] == '.' || s.p[i] == PAT_ONE) &&
		matches_up(s, i + 1, dots + 1);
}

static bool is_pattern(struct shell_str s)
{
	bool open = false;

	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == PAT_STAR || s.p[i] == PAT_ONE)
			return true;
		open |= s.p[i] == PAT_SET;
		if (open && s.p[i] == ']')
			return true;
	}
	return false;
}

/* Writes the component with what a match leaves unknown, or "..". */
static size_t match_text(struct shell_str s, char *to, bool up, bool literal)
{
	static const char plain[] = "*?[";
	const char *last = s.n ? memrchr(s.p, ']', s.n) : NULL;
	size_t n = 0;

	if (up && !literal && s.n && s.p[0] == '.' && is_pattern(s) &&
		matches_up(s, 0, 0)) {
		memcpy(to, "..", 2);
		return 2;
	}
	for (size_t i = 0; i < s.n; i++) {
		const char *end = NULL;

		if (!is_mark(s.p[i])) {
			to[n++] = s.p[i];
			continue;
		}
		if (s.p[i] == PAT_SET && last > s.p + i)
			end = memchr(s.p + i, ']', s.n - i);
		if (literal || (s.p[i] == PAT_SET && !end)) {
			to[n++] = plain[s.p[i] - PAT_STAR];
			continue;
		}
		if (end)
			i = (size_t)(end - s.p);
		if (!n || to[n - 1] != SHELL_REL)
			to[n++] = SHELL_REL;
	}
	return n;
}

static struct shell_str match(struct field *f, struct shell_str s, bool up,
	bool literal)
{
	char *to = arena_bytes(f->w->a, 2 * s.n + 2);
	size_t n = 0, i = 0;

	if (!to) {
		shell_stop(f->w, -E2BIG);
		return s;
	}
	while (i <= s.n) {
		const char *slash = i < s.n ? memchr(s.p + i, '/', s.n - i)
					    : NULL;
		size_t len = slash ? (size_t)(slash - s.p) - i : s.n - i;

		n += match_text((struct shell_str){s.p + i, len}, to + n, up,
			literal);
		if (!slash)
			break;
		to[n++] = '/';
		i += len + 1;
	}
	return (struct shell_str){to, n};
}

static bool has_marks(struct shell_str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (is_mark(s.p[i]))
			return true;
	return false;
}

static struct shell_val *place(struct field *f)
{
	return f->out ? shell_args_add(f->w, f->out) : f->one;
}

/* One alternative, and the second one that a pattern makes of it. */
static void add_alt(struct field *f, struct shell_val *v,
	struct shell_str *alts, struct shell_str s)
{
	struct shell_str up;

	if (!has_marks(s)) {
		alts[v->n++] = s;
		return;
	}
	if (!is_pattern(s)) {
		alts[v->n++] = match(f, s, false, true);
		return;
	}
	v->glob = true;
	alts[v->n] = match(f, s, false, false);
	up = match(f, s, true, false);
	if (!shell_str_eq(up, alts[v->n++]))
		alts[v->n++] = up;
}

static void finish(struct field *f)
{
	unsigned room = 2 * f->n + 1;
	struct shell_str *alts;
	struct shell_val *v;

	if (!f->active && f->out) {
		reset(f);
		return;
	}
	v = place(f);
	alts = arena_zalloc(f->w->a, room * sizeof(*alts));
	if (!v || !alts) {
		shell_stop(f->w, -E2BIG);
		return;
	}
	*v = (struct shell_val){.alts = alts,
		.many = f->many,
		.quoted = f->quoted,
		.plain = f->plain,
		.span = f->span};
	for (unsigned i = 0; i < f->n; i++)
		add_alt(f, v, alts, f->alts[i]);
	if (f->tainted)
		alts[v->n++] = shell_val_any.alts[0];
	if (v->n > SHELL_MAX_ALTS) {
		alts[0] = shell_val_any.alts[0];
		v->n = 1;
	}
	v->many |= v->glob && f->out;
	shell_val_settle(v);
	reset(f);
}

/* ---- growing a field ---- */

static void add_text(struct field *f, struct shell_str s)
{
	struct shell_str none = {"", 0};

	for (unsigned i = 0; i < f->n; i++)
		f->alts[i] = f->alts[i].n
			? shell_str_join(f->w, f->alts[i], s, none)
			: s;
}

/* Text of the source: bytes that have a meaning here become unknown, and
 * unquoted pattern characters become marks. */
static void add_source(struct field *f, struct shell_str s, bool quoted)
{
	static const char plain[] = "*?[";
	bool rewrite = false;
	char *to;

	f->active = true;
	for (size_t i = 0; i < s.n && !rewrite; i++)
		rewrite = is_reserved(s.p[i]);
	rewrite |= !quoted && f->patterns && has_pattern(s);
	if (!rewrite) {
		add_text(f, s);
		return;
	}
	to = arena_bytes(f->w->a, s.n);
	if (!to) {
		shell_stop(f->w, -E2BIG);
		return;
	}
	for (size_t i = 0; i < s.n; i++) {
		const char *at = strchr(plain, s.p[i]);

		to[i] = is_reserved(s.p[i]) ? SHELL_ANY
			: !quoted && f->patterns && at && *at
			? (char)(PAT_STAR + (at - plain))
			: s.p[i];
	}
	add_text(f, (struct shell_str){to, s.n});
}

/* Every alternative so far with every one of v behind it. */
static void add_product(struct field *f, const struct shell_val *v)
{
	struct shell_str none = {"", 0}, old[SHELL_MAX_ALTS];
	unsigned n = f->n;

	if (v->n == 1) {
		add_text(f, v->alts[0]);
		return;
	}
	if (f->n * v->n > SHELL_MAX_ALTS) {
		add_text(f, shell_val_any.alts[0]);
		return;
	}
	memcpy(old, f->alts, n * sizeof(*old));
	f->n = 0;
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < v->n; k++)
			f->alts[f->n++] = shell_str_join(
				f->w, old[i], v->alts[k], none);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

/* Nothing in it to split, nothing that vanishes, nothing that matches. */
static bool is_whole(const struct shell_val *v)
{
	for (unsigned i = 0; i < v->n; i++) {
		struct shell_str s = v->alts[i];

		if (!s.n)
			return false;
		for (size_t k = 0; k < s.n; k++)
			if (is_blank(s.p[k]) || s.p[k] == SHELL_ANY ||
				strchr("*?[", s.p[k]))
				return false;
	}
	return true;
}

/* One known text, split at blanks; its pattern characters are alive. */
static void add_split(struct field *f, struct shell_str s)
{
	size_t i = 0;

	while (i < s.n) {
		size_t from = i;

		if (is_blank(s.p[i])) {
			while (i < s.n && is_blank(s.p[i]))
				i++;
			if (f->active)
				finish(f);
			continue;
		}
		while (i < s.n && !is_blank(s.p[i]))
			i++;
		f->plain = false;
		add_source(f, (struct shell_str){s.p + from, i - from}, false);
	}
}

static void add_unquoted(struct field *f, const struct shell_val *v)
{
	if (f->w->st->own_ifs && !(v->kind == SHELL_CONST && !v->alts[0].n)) {
		shell_risk(f->w, SHELL_RISK_IFS, SHELL_STR("IFS"), f->span);
		v = &shell_val_any;
	}
	f->plain = false;
	if (is_whole(v)) {
		f->active = true;
		add_product(f, v);
	} else if (v->n == 1 && !shell_str_unknown(v->alts[0], true)) {
		add_split(f, v->alts[0]);
	} else {
		/* Any number of fields, of which the first begins here. */
		f->active = f->many = f->tainted = true;
		add_product(f, v);
	}
}

static void add_value(struct field *f, const struct shell_val *v, bool quoted)
{
	f->plain = false;
	if (!quoted && f->patterns && !f->out && v->kind == SHELL_CONST) {
		add_source(f, v->alts[0], false);
		return;
	}
	if (quoted || !f->out) {
		f->active |= quoted || v->kind != SHELL_CONST || v->alts[0].n;
		f->many |= v->many && f->out;
		add_product(f, v);
		return;
	}
	add_unquoted(f, v);
}

/* ---- $@ and $* ---- */

static void add_arguments(struct field *f, bool quoted, bool star)
{
	const struct shell_state *st = f->w->st;

	f->plain = false;
	if (st->args_unknown) {
		f->active = f->many = true;
		f->tainted = f->out && !(quoted && star);
		add_text(f, shell_val_any.alts[0]);
		return;
	}
	if (star && quoted && st->own_ifs && st->nargs > 2) {
		add_value(f, &shell_val_any, quoted);
		return;
	}
	for (size_t i = 1; i < st->nargs; i++) {
		if (i > 1 && f->out && !(quoted && star))
			finish(f);
		else if (i > 1)
			add_text(f, SHELL_STR(" "));
		add_value(f, &st->args[i], quoted);
		f->active |= quoted;
	}
	f->active |= quoted && star;
}

static bool is_name(const struct shell_param *p, const char *name)
{
	return shell_str_is(p->name, name);
}

static bool is_all(const struct shell_word *subscript, char *which)
{
	if (shell_word_is(subscript, "@"))
		*which = '@';
	else if (shell_word_is(subscript, "*"))
		*which = '*';
	else
		return false;
	return true;
}

/* ${a[@]} of an array whose elements are known. */
static bool add_elements(
	struct field *f, const struct shell_param *p, bool quoted)
{
	struct shell_var *v = shell_var_find(f->w->st, p->name);
	char which;

	if (!p->subscript || !is_all(p->subscript, &which) || !v || !v->elems ||
		f->w->traped ||
		p->op != SHELL_OP_NONE || p->length || p->indirect || !f->out)
		return false;
	for (unsigned i = 0; i < v->nelems; i++) {
		if (i)
			finish(f);
		add_value(f, &v->elems[i], quoted);
		f->active |= quoted;
	}
	return true;
}

static void add_param(
	struct field *f, const struct shell_param *p, bool quoted)
{
	const struct shell_word *word = NULL;
	const struct shell_val *v;
	bool at = is_name(p, "@"), star = is_name(p, "*");

	if ((at || star) && p->op == SHELL_OP_NONE && !p->length &&
		!p->indirect) {
		add_arguments(f, quoted, star);
		return;
	}
	if (add_elements(f, p, quoted))
		return;
	/* "${@:2}", "${a[@]#x}": any number of them. */
	f->many |= f->out && !p->length && (at || (p->subscript &&
		shell_word_is(p->subscript, "@")));
	v = shell_expand_param(f->w, p, f->span, &word);
	if (word) {
		bool inner = f->inner;

		f->plain = false;
		f->active |= quoted;
		f->inner = !quoted && f->out;
		expand_parts(f, word->parts, quoted);
		f->inner = inner;
	} else {
		add_value(f, v, quoted);
	}
}

/* ---- the other parts ---- */

static void add_tilde(struct field *f, struct shell_str user, bool first)
{
	struct shell_walk *w = f->w;
	const struct shell_val *home = &shell_val_any;
	struct shell_str rest = SHELL_STR("~");
	bool unset = false;

	if (!user.n)
		home = shell_param_value(w, SHELL_STR("HOME"), &unset);
	else if (shell_str_is(user, "+"))
		home = w->st->cwd;
	else if (!chr_digit(user.p[0]) && user.p[0] != '-')
		home = shell_val_str(w, SHELL_STR("/\2"));
	if (!home)
		home = &shell_val_any;
	/* In the middle of an argument bash alone expands it. */
	if (!first && f->out)
		home = shell_val_union(w, home,
			shell_val_str(w, shell_str_join(w, rest, user,
				(struct shell_str){"", 0})));
	f->plain = false;
	f->active = true;
	add_product(f, home);
}

/* $(pwd) alone has a known value. */
static const struct shell_val *output_of(
	struct shell_walk *w, const struct shell_list *body)
{
	const struct shell_node *node;

	if (!body || !body->first)
		return &shell_val_empty;
	node = body->first->node;
	if (!body->first->next && node->type == SHELL_SIMPLE &&
		!node->redirs && !node->u.simple.assigns &&
		shell_word_is(node->u.simple.words, "pwd") &&
		!node->u.simple.words->next &&
		!shell_func_find(w->st, SHELL_STR("pwd")))
		return w->st->cwd;
	return &shell_val_any;
}

static void add_substitution(
	struct field *f, const struct shell_part *part, bool quoted)
{
	struct shell_walk *w = f->w;
	const struct shell_val *v = output_of(w, part->u.body);

	if (part->type == SHELL_PROCSUB) {
		shell_walk_subshell(w, part->u.body,
			part->output ? SHELL_IN_PIPE : w->st->input,
			!part->output);
		v = shell_val_str(w, SHELL_STR("/dev/fd/\1"));
	} else {
		shell_walk_subshell(w, part->u.body, w->st->input, true);
	}
	add_value(f, v, quoted || part->type == SHELL_PROCSUB);
}

static void expand_part(struct field *f, const struct shell_part *part,
	bool quoted, bool first)
{
	switch (part->type) {
	case SHELL_LIT:
		if (!f->inner || quoted) {
			add_source(f, part->text, quoted);
			break;
		}
		if (f->w->st->own_ifs)
			shell_risk(f->w, SHELL_RISK_IFS, SHELL_STR("IFS"),
				f->span);
		f->unsure |= f->mixed;
		add_split(f, part->text);
		break;
	case SHELL_ESC:
	case SHELL_SQ:
	case SHELL_ANSI:
		f->quoted = true;
		add_source(f, part->text, true);
		break;
	case SHELL_DQ:
		/* "$@" alone may be no argument at all. */
		f->quoted = true;
		if (!part->u.parts)
			f->active = true;
		expand_parts(f, part->u.parts, true);
		break;
	case SHELL_TILDE:
		add_tilde(f, part->text, first);
		break;
	case SHELL_PARAM:
		add_param(f, part->u.param, quoted);
		break;
	case SHELL_CMDSUB:
	case SHELL_PROCSUB:
		add_substitution(f, part, quoted);
		break;
	case SHELL_ARITHSUB:
		shell_arith_text(f->w,
			shell_expand_quoted(f->w, part->u.parts, part->span),
			part->span);
		add_value(f, &shell_val_rel, true);
		break;
	case SHELL_ARRAY:
		add_value(f, &shell_val_any, true);
		break;
	}
}

static void expand_parts(
	struct field *f, const struct shell_part *part, bool quoted)
{
	const struct shell_part *start = part;

	if (++f->w->depth > 4 * SHELL_MAX_DEPTH)
		shell_stop(f->w, -E2BIG);
	for (; part && !f->w->err; part = part->next)
		expand_part(f, part, quoted, part == start);
	f->w->depth--;
}

/* ---- whole words ---- */

struct shell_val *shell_args_add(struct shell_walk *w, struct shell_args *args)
{
	struct shell_val *v;

	if (args->n == args->cap) {
		size_t cap = args->cap ? 2 * args->cap : 8;

		v = cap > SHELL_MAX_ARGS
			? NULL
			: arena_zalloc(w->a, cap * sizeof(*v));
		if (!v)
			return shell_stop(w, -E2BIG);
		if (args->n)
			memcpy(v, args->v, args->n * sizeof(*v));
		args->v = v;
		args->cap = cap;
	}
	v = &args->v[args->n++];
	*v = (struct shell_val){0};
	return v;
}

/* A literal '$' or quotes beside a split expansion keep bash from splitting:
 * then what came out of the word is not known. */
static bool lone_dollar(const struct shell_part *part)
{
	for (; part; part = part->next)
		if (part->type == SHELL_LIT && part->text.n &&
			memchr(part->text.p, '$', part->text.n))
			return true;
	return false;
}

static void forget(struct shell_args *args, size_t from)
{
	for (; from < args->n; from++) {
		args->v[from].kind = SHELL_UNKNOWN;
		args->v[from].alts = shell_val_any.alts;
		args->v[from].n = 1;
		args->v[from].many = true;
	}
}

static void expand_word(struct shell_walk *w, const struct shell_word *word,
	struct shell_args *args)
{
	struct field f = {.w = w, .out = args, .patterns = true,
		.span = word->span};
	const struct shell_part *only = word->parts;
	size_t first = args->n;

	/* Most words are one literal. */
	if (only && !only->next && only->type == SHELL_LIT &&
		!has_pattern(only->text)) {
		struct shell_val *v = shell_args_add(w, args);

		if (v)
			*v = (struct shell_val){.kind = SHELL_CONST,
				.n = 1, .alts = &only->text, .plain = true,
				.span = word->span};
		return;
	}
	reset(&f);
	f.mixed = only && only->next;
	expand_parts(&f, word->parts, false);
	if (!w->err)
		finish(&f);
	if ((f.unsure || lone_dollar(word->parts)) && args->n > first + 1 &&
		w->dialect == SHELL_BASH)
		forget(args, first);
}

void shell_expand(struct shell_walk *w, const struct shell_word *word,
	struct shell_args *args)
{
	if (!word->braces) {
		expand_word(w, word, args);
		return;
	}
	for (word = word->braces; word && !w->err; word = word->next)
		expand_word(w, word, args);
}

static const struct shell_val *expand_single(struct shell_walk *w,
	const struct shell_part *parts, struct shell_span span, bool quoted,
	bool patterns)
{
	struct shell_val *v = arena_new(w->a, struct shell_val);
	struct field f = {.w = w, .one = v, .patterns = patterns,
		.span = span};

	if (!v) {
		shell_stop(w, -E2BIG);
		return &shell_val_any;
	}
	reset(&f);
	expand_parts(&f, parts, quoted);
	finish(&f);
	return w->err ? &shell_val_any : v;
}

const struct shell_val *shell_expand_one(
	struct shell_walk *w, const struct shell_word *word)
{
	return expand_single(w, word->parts, word->span, false, false);
}

const struct shell_val *shell_expand_path(
	struct shell_walk *w, const struct shell_word *word)
{
	return expand_single(w, word->parts, word->span, false, true);
}

const struct shell_val *shell_expand_quoted(
	struct shell_walk *w, const struct shell_part *parts,
	struct shell_span span)
{
	return expand_single(w, parts, span, true, false);
}
