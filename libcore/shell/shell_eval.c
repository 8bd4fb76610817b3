/* shell_eval.c - words of shell text to abstract arguments
 * SPDX-License-Identifier: MIT
 */
#include "shell/shell_field_in.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"

static void expand_parts(
	struct shell_field *f, const struct shell_part *part, bool quoted);

/* One argument for each of vals; joined to one by "$*", and where nothing
 * splits: then by IFS, which may be nothing at all. */
static void add_list(struct shell_field *f, const struct shell_val *vals,
	size_t n, bool quoted, bool star)
{
	bool joined = !f->out || (quoted && star), many = false;

	for (size_t i = 0; i < n; i++)
		many |= vals[i].many;
	/* How many there are, or what stands between them, is not known. */
	if (joined && (many || (n > 1 && f->w->st->own_ifs))) {
		shell_field_value(f, &shell_val_any, quoted);
		return;
	}
	f->tainted |= many && f->mixed;
	for (size_t i = 0; i < n; i++) {
		if (i && joined)
			shell_field_text(f, SHELL_STR(" "));
		else if (i)
			shell_field_finish(f);
		shell_field_value(f, &vals[i], quoted);
		f->active |= quoted;
	}
	f->active |= quoted && star;
}

static void add_arguments(struct shell_field *f, bool quoted, bool star)
{
	const struct shell_state *st = f->w->st;

	if (st->nargs)
		add_list(f, st->args + 1, st->nargs - 1, quoted, star);
	else
		f->active |= quoted && star;
}

static bool is_name(const struct shell_param *p, const char *name)
{
	return shell_str_is(p->name, name);
}

/* ${a[@]} of an array whose elements are known. */
static bool add_elements(
	struct shell_field *f, const struct shell_param *p, bool quoted)
{
	struct shell_var *v = shell_var_find(f->w->st, p->name);
	bool star = p->subscript && shell_word_is(p->subscript, "*");

	if (!p->subscript || !(star || shell_word_is(p->subscript, "@")) ||
		!v || !v->elems || f->w->traped || p->op != SHELL_OP_NONE ||
		p->length || p->indirect || !f->out)
		return false;
	add_list(f, v->elems, v->nelems, quoted, star);
	return true;
}

static void add_param(
	struct shell_field *f, const struct shell_param *p, bool quoted)
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
	f->many |= f->out && !p->length &&
		   (at || (p->subscript && shell_word_is(p->subscript, "@")));
	v = shell_expand_param(f->w, p, f->span, &word);
	if (word) {
		bool inner = f->inner;

		f->active |= quoted;
		f->inner = !quoted && f->out;
		f->mixed |= word->parts && word->parts->next;
		expand_parts(f, word->parts, quoted);
		f->inner = inner;
	} else {
		shell_field_value(f, v, quoted);
	}
}

static void add_tilde(struct shell_field *f, struct shell_str user, bool first)
{
	struct shell_walk *w = f->w;
	struct shell_str none = {"", 0};
	const struct shell_val *self = shell_val_str(
		w, shell_str_join(w, SHELL_STR("~"), user, none));
	const struct shell_val *home = &shell_val_any;
	bool dir = shell_str_is(user, "+");
	struct shell_got got;

	if (!user.n) {
		home = shell_param_value(w, SHELL_STR("HOME")).v;
	} else if (dir || shell_str_is(user, "-")) {
		/* bash's; left as it is where there is none. */
		got = shell_param_value(
			w, dir ? SHELL_STR("PWD") : SHELL_STR("OLDPWD"));
		home = !got.v || w->dialect != SHELL_BASH ? self
		       : got.unset ? shell_val_union(w, got.v, self)
				   : got.v;
	} else if (!chr_digit(user.p[0])) {
		home = shell_val_str(w, SHELL_STR("/" SHELL_ANY_S));
	}
	if (!home)
		home = &shell_val_any;
	/* In the middle of an argument bash alone expands it. */
	if (!first && f->out)
		home = shell_val_union(w, home, self);
	f->active = true;
	shell_field_product(f, home);
}

/* No expansion in it that would count twice. */
static bool is_still(const struct shell_part *part)
{
	for (; part; part = part->next)
		if (part->type > SHELL_ANSI && part->type != SHELL_TILDE &&
			!(part->type == SHELL_DQ && is_still(part->u.parts)) &&
			!(part->type == SHELL_PARAM &&
				part->u.param->op == SHELL_OP_NONE &&
				!part->u.param->subscript))
			return false;
	return true;
}

/* What echo or dirname makes of a word begins so: enough to tell where a path
 * leads, and too little to name a command by. */
static const struct shell_val *begins(
	struct shell_walk *w, const struct shell_word *word, bool up)
{
	const struct shell_val *v = shell_expand_path(w, word), *out = NULL;
	struct shell_str none = {"", 0};

	for (unsigned i = 0; i < v->n; i++) {
		struct shell_str s = v->alts[i];
		const char *slash = s.n && up ? memrchr(s.p, '/', s.n) : NULL;
		const struct shell_val *one = &shell_val_any;

		if (up)
			s.n = slash ? (size_t)(slash - s.p) + (slash == s.p) : 0;
		/* … as far as nothing else may be meant. */
		for (size_t k = 0; k < s.n; k++)
			if (s.p[k] == '\\' || s.p[k] == '%')
				s.n = k;
		if (s.n)
			one = shell_val_str(w,
				shell_str_join(w, s, SHELL_STR(SHELL_ANY_S), none));
		out = out ? shell_val_union(w, out, one) : one;
	}
	return out;
}

/* $(pwd) has a known value, $(jobs -p) numbers, $(echo x) a beginning. */
static const struct shell_val *output_of(
	struct shell_walk *w, const struct shell_list *body)
{
	const struct shell_node *node;
	const struct shell_word *word;
	struct shell_str name, text;

	if (!body || !body->first)
		return &shell_val_empty;
	node = body->first->node;
	word = node->type == SHELL_SIMPLE ? node->u.simple.words : NULL;
	name = shell_word_literal(word);
	if (!word || body->first->next || !name.n || node->redirs ||
		node->u.simple.assigns || shell_func_find(w->st, name))
		return &shell_val_any;
	if (!word->next)
		return shell_str_is(name, "pwd") ? w->st->cwd : &shell_val_any;
	if (shell_str_is(name, "jobs") && !word->next->next &&
		shell_str_in(shell_word_text(w->a, word->next),
			" -p -rp -pr "))
		return &shell_val_guess;
	/* echo -n x, printf '%s\n' x */
	do {
		word = word->next;
		text = shell_word_text(w->a, word);
	} while (word->next && text.n > 1 &&
		(text.p[0] == '-' || (text.p[0] == '%' && text.p[1] == 's')));
	return !word->braces && is_still(word->parts) &&
			       shell_str_in(name, " echo printf dirname ")
		       ? begins(w, word, *name.p == 'd')
		       : &shell_val_any;
}

static void add_substitution(
	struct shell_field *f, const struct shell_part *part, bool quoted)
{
	struct shell_walk *w = f->w;
	const struct shell_val *v = output_of(w, part->u.body);

	w->tested++; /* bash does not hand set -e down to these */
	shell_walk_apart(w, NULL, part->u.body,
		part->output ? SHELL_IN_PIPE : w->st->input);
	w->tested--;
	if (part->type == SHELL_PROCSUB)
		v = shell_val_str(w, SHELL_STR("/dev/fd/" SHELL_REL_S));
	shell_field_value(f, v, quoted || part->type == SHELL_PROCSUB);
}

static void expand_part(struct shell_field *f, const struct shell_part *part,
	bool quoted, bool first)
{
	switch (part->type) {
	case SHELL_LIT:
		if (!f->inner || quoted) {
			shell_field_source(f, part->text, quoted);
			break;
		}
		if (f->w->st->own_ifs)
			shell_risk(f->w, SHELL_RISK_IFS, SHELL_STR("IFS"),
				f->span);
		f->unsure |= f->mixed;
		shell_field_split(f, part->text);
		break;
	case SHELL_ESC:
	case SHELL_SQ:
	case SHELL_ANSI:
		f->quoted = true;
		shell_field_source(f, part->text, true);
		break;
	case SHELL_DQ:
		/* "$@" alone may be no argument at all. */
		f->quoted = true;
		if (!part->u.parts)
			f->active = true;
		else
			f->mixed |= part->u.parts->next != NULL;
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
		shell_field_value(f, &shell_val_rel, true);
		break;
	case SHELL_ARRAY:
		shell_field_value(f, &shell_val_any, true);
		break;
	case SHELL_RANGE:
		shell_field_value(f, &shell_val_num, true);
		f->many |= f->out != NULL;
		break;
	}
}

static void expand_parts(
	struct shell_field *f, const struct shell_part *part, bool quoted)
{
	const struct shell_part *start = part;

	if (++f->w->depth > 4 * SHELL_MAX_DEPTH)
		shell_stop(f->w, -E2BIG);
	for (; part && !f->w->err; part = part->next)
		expand_part(f, part, quoted, part == start);
	f->w->depth--;
}

struct shell_val *shell_args_add(struct shell_walk *w, struct shell_args *args)
{
	struct shell_val *v;

	if (args->n == args->cap) {
		size_t cap = args->cap ? 2 * args->cap : 8;

		if (cap > SHELL_MAX_ARGS)
			return shell_stop(w, -E2BIG);
		v = walk_zalloc(w, cap * sizeof(*v));
		if (!v)
			return NULL;
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
		if (part->type == SHELL_LIT && shell_str_has(part->text, "$"))
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
	struct shell_field f = {
		.w = w, .out = args, .patterns = true, .span = word->span};
	const struct shell_part *only = word->parts;
	size_t first = args->n;

	/* Most words are one literal. */
	if (only && !only->next && only->type == SHELL_LIT &&
		!shell_has_pattern(only->text)) {
		struct shell_val *v = shell_args_add(w, args);

		if (v)
			*v = (struct shell_val){.kind = SHELL_CONST,
				.n = 1,
				.alts = &only->text,
				.span = word->span};
		return;
	}
	shell_field_reset(&f);
	f.mixed = only && only->next;
	expand_parts(&f, word->parts, false);
	if (!w->err)
		shell_field_finish(&f);
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
	struct shell_val *v = walk_new(w, struct shell_val);
	struct shell_field f = {
		.w = w, .one = v, .patterns = patterns, .span = span};

	if (!v)
		return &shell_val_any;
	shell_field_reset(&f);
	expand_parts(&f, parts, quoted);
	shell_field_finish(&f);
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

const struct shell_val *shell_expand_quoted(struct shell_walk *w,
	const struct shell_part *parts, struct shell_span span)
{
	return expand_single(w, parts, span, true, false);
}
