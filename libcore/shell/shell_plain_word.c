/* shell_plain_word.c - words to values: what of them is plain
 * SPDX-License-Identifier: MIT
 */
#include "shell/shell_plain_in.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "shell/shell_parse_in.h"

/* A word while it is put together. */
struct field {
	struct shell_walk *w;
	struct buf *text;
	bool one;     /* the word is not split */
	bool pattern; /* not split, and a pattern nonetheless */
	bool solid;   /* an argument even if it is empty */
	bool many, glob;
	size_t bracket; /* offset behind the [ of a pattern; 0: none is open */
};

static void expand_parts(
	struct field *f, const struct shell_part *part, bool quoted);

struct shell_val plain_val(struct shell_str text)
{
	struct shell_val v = {.text = text};

	if (shell_str_unknown(text, false))
		v.kind = SHELL_UNKNOWN;
	else if (shell_str_unknown(text, true))
		v.kind = SHELL_BOUNDED;
	return v;
}

void plain_add(struct shell_walk *w, struct plain_args *to, struct shell_val v)
{
	if (to->n == to->max) {
		size_t max = to->max ? 2 * to->max : 4;
		struct shell_val *more = plain_zalloc(w, max * sizeof *more);

		if (!more)
			return;
		if (to->n)
			memcpy(more, to->v, to->n * sizeof *more);
		to->v = more;
		to->max = max;
	}
	to->v[to->n++] = v;
}

/* Adds text of the source; its bytes that would mean "not known" become
 * unknown. */
static void add_text(struct field *f, struct shell_str s)
{
	for (size_t i = 0; i < s.n; i++)
		buf_addc(f->text, s.p[i] && strchr(PLAIN_MARKS, s.p[i])
					  ? SHELL_ANY
					  : s.p[i]);
}

/* Adds what a pattern matches; behind a dot that may make "..". */
static void add_match(struct field *f, bool any)
{
	const char *text = f->text->data;
	size_t n = f->text->len;
	bool dot = n && text[n - 1] == '.' && (n == 1 || text[n - 2] == '/');

	if (dot || any)
		buf_addc(f->text, SHELL_ANY);
	else if (!n || text[n - 1] != SHELL_REL)
		buf_addc(f->text, SHELL_REL);
	f->glob = true;
	f->many |= !f->one;
}

/* Handles a ] that may end what [ began; false: it is a plain one. */
static bool end_bracket(struct field *f)
{
	size_t from = f->bracket, n = f->text->len - from;
	const char *in = f->text->data + from;
	bool any;

	if (!from || !n || (n == 1 && strchr("!^", in[0])) ||
		memchr(in, '/', n))
		return false;
	any = memchr(in, SHELL_ANY, n) != NULL;
	f->text->len = from - 1;
	f->bracket = 0;
	add_match(f, any);
	return true;
}

/* Adds text in which characters of a pattern are a pattern. */
static void add_pattern(struct field *f, struct shell_str s, bool source)
{
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '*' || s.p[i] == '?') {
			add_match(f, false);
		} else if (s.p[i] == '[' && !f->bracket) {
			buf_addc(f->text, '[');
			f->bracket = f->text->len;
		} else if (s.p[i] == ']' && end_bracket(f)) {
			continue;
		} else if (source) {
			add_text(f, (struct shell_str){s.p + i, 1});
		} else {
			buf_addc(f->text, s.p[i]);
		}
	}
}

static void add_unknown(struct field *f, bool quoted)
{
	if (!f->text->len || f->text->data[f->text->len - 1] != SHELL_ANY)
		buf_addc(f->text, SHELL_ANY);
	f->many |= !quoted && !f->one;
}

static void add_number(struct field *f)
{
	buf_addc(f->text, SHELL_NUM);
	f->solid = true;
}

/* Does the text set IFS? */
static bool splits_otherwise(const struct shell_walk *w)
{
	return plain_named(&w->st.names, SHELL_STR("IFS"), false) != NULL;
}

static void add_value(struct field *f, struct shell_str s, bool quoted)
{
	if (quoted || (f->one && !f->pattern)) {
		buf_add(f->text, s.p, s.n);
	} else if (!f->one && (shell_str_has(s, PLAIN_BLANKS) ||
				      splits_otherwise(f->w))) {
		add_unknown(f, false);
	} else {
		/* Unknown text may be split. */
		f->many |= !f->one && shell_str_has(s, SHELL_REL_S SHELL_ANY_S);
		add_pattern(f, s, false);
	}
}

/* Walks words only for the commands in them. */
static void walk_aside(struct shell_walk *w, const struct shell_word *word)
{
	for (; word; word = word->next)
		plain_one(w, word);
}

/* The value of $0 $1 …; false when it is not known. */
static bool plain_positional(struct shell_walk *w, int i, struct shell_str *value)
{
	*value = SHELL_STR("");
	if (!w->st.args)
		return false;
	for (int k = 0; k <= i && (size_t)k < w->st.nargs; k++)
		if (w->st.args[k].many)
			return false;
	if ((size_t)i < w->st.nargs)
		*value = w->st.args[i].text;
	return !shell_str_unknown(*value, false);
}

static bool is_special(struct shell_str name, const char *of)
{
	return name.n == 1 && name.p[0] && strchr(of, name.p[0]);
}

enum found { IS_KNOWN, IS_UNSET, IS_UNKNOWN };

static enum found look_up(struct field *f, const struct shell_param *p,
	struct shell_str *value)
{
	const struct plain_var *v;
	struct plain_var room;
	int i = shell_str_number(p->name);

	if (p->subscript || p->indirect || is_special(p->name, "@*-_"))
		return IS_UNKNOWN;
	if (i >= 0 && !plain_positional(f->w, i, value))
		return IS_UNKNOWN;
	if (i >= 0)
		return (size_t)i < f->w->st.nargs ? IS_KNOWN : IS_UNSET;
	v = plain_find(f->w, p->name, &room);
	*value = v->value;
	return v->is == PLAIN_KNOWN ? IS_KNOWN
	       : v->is == PLAIN_UNSET ? IS_UNSET
				      : IS_UNKNOWN;
}

/* Adds the word behind - = ? + of ${x-word} in place of the variable, split
 * like a value. */
static void add_word(
	struct field *f, const struct shell_word *word, bool quoted)
{
	struct shell_val v;

	if (!word)
		return;
	if (quoted || f->one) {
		expand_parts(f, word->parts, quoted);
		return;
	}
	v = plain_one(f->w, word);
	f->solid |= word->quoted;
	if (v.kind != SHELL_CONST)
		add_unknown(f, false);
	else
		add_value(f, v.text, false);
}

/* ${x=word} */
static struct shell_val set_param(struct field *f, const struct shell_param *p)
{
	struct shell_val v = plain_val(SHELL_STR(""));

	if (p->word)
		v = plain_one(f->w, p->word);
	plain_set(f->w, &(struct shell_set){.name = p->name,
			.value = v, .span = plain_span(f->w, v.span)}, false);
	return v;
}

static void expand_either(struct field *f, const struct shell_param *p,
	enum found is, struct shell_str value, bool quoted)
{
	bool set = is == IS_KNOWN && (value.n || !p->colon);

	if (is == IS_UNKNOWN) {
		if (p->op == SHELL_OP_ASSIGN) {
			set_param(f, p);
			plain_assign(f->w, p->name,
				&(struct shell_val){.kind = SHELL_UNKNOWN},
				false);
		} else {
			walk_aside(f->w, p->word);
		}
		add_unknown(f, quoted);
	} else if (p->op == SHELL_OP_ALT) {
		if (set)
			add_word(f, p->word, quoted);
		else
			walk_aside(f->w, p->word);
	} else if (set) {
		walk_aside(f->w, p->word);
		add_value(f, value, quoted);
	} else if (p->op == SHELL_OP_ERROR) {
		/* The shell ends here. */
		walk_aside(f->w, p->word);
		add_unknown(f, quoted);
	} else if (p->op == SHELL_OP_ASSIGN) {
		add_value(f, set_param(f, p).text, quoted);
	} else {
		add_word(f, p->word, quoted);
	}
}

/* Is it "$@" or similar: any number of words, even in quotes? */
static bool word_spreads(const struct shell_param *p)
{
	return p->op == SHELL_OP_NAMES || shell_str_is(p->name, "@") ||
	       shell_word_is(p->subscript, "@");
}

static void expand_param(
	struct field *f, const struct shell_param *p, bool quoted)
{
	struct shell_str value = SHELL_STR("");
	enum found is;

	if (p->subscript)
		plain_subscript(f->w, plain_one(f->w, p->subscript).text,
			p->subscript->span);
	if (p->op == SHELL_OP_TRANSFORM && p->mark == 'P')
		plain_risk(f->w, SHELL_RISK_PROMPT, p->name,
			(struct shell_span){0});
	if (p->length || is_special(p->name, "?$!#")) {
		add_number(f);
		return;
	}
	f->many |= !f->one && word_spreads(p);
	is = look_up(f, p, &value);
	switch (p->op) {
	case SHELL_OP_NONE:
		if (is != IS_UNKNOWN || value.n)
			add_value(f, value, quoted);
		else
			add_unknown(f, quoted);
		return;
	case SHELL_OP_DEFAULT:
	case SHELL_OP_ASSIGN:
	case SHELL_OP_ERROR:
	case SHELL_OP_ALT:
		expand_either(f, p, is, value, quoted);
		return;
	case SHELL_OP_PREFIX:
	case SHELL_OP_SUFFIX:
	case SHELL_OP_REPLACE:
	case SHELL_OP_SLICE:
	case SHELL_OP_CASE:
	case SHELL_OP_TRANSFORM:
	case SHELL_OP_NAMES:
	case SHELL_OP_BAD:
		walk_aside(f->w, p->word);
		walk_aside(f->w, p->word2);
		add_unknown(f, quoted);
		return;
	}
}

static void expand_tilde(struct field *f, struct shell_str user)
{
	struct plain_var room;
	const struct plain_var *home;

	f->solid = true;
	if (!user.n) {
		home = plain_find(f->w, SHELL_STR("HOME"), &room);
		if (home->is == PLAIN_KNOWN) {
			buf_add(f->text, home->value.p, home->value.n);
			return;
		}
	} else if (shell_str_is(user, "+") &&
		   shell_val_text(&f->w->st.cwd)) {
		add_text(f, f->w->st.cwd.text);
		return;
	}
	add_unknown(f, true);
}

static void expand_part(
	struct field *f, const struct shell_part *part, bool quoted)
{
	switch (part->type) {
	case SHELL_LIT:
		if (quoted || (f->one && !f->pattern))
			add_text(f, part->text);
		else
			add_pattern(f, part->text, true);
		f->solid |= !quoted;
		break;
	case SHELL_ESC:
	case SHELL_SQ:
	case SHELL_ANSI:
		add_text(f, part->text);
		f->solid = true;
		break;
	case SHELL_DQ:
		f->solid = true;
		expand_parts(f, part->u.parts, true);
		break;
	case SHELL_TILDE:
		expand_tilde(f, part->text);
		break;
	case SHELL_PARAM:
		expand_param(f, part->u.param, quoted);
		break;
	case SHELL_CMDSUB:
		plain_apart(f->w, NULL, part->u.body, f->w->st.input);
		add_unknown(f, quoted);
		break;
	case SHELL_ARITHSUB:
		plain_arith(f->w, part->u.parts, part->span);
		add_number(f);
		break;
	case SHELL_PROCSUB:
		plain_apart(f->w, NULL, part->u.body,
			part->output ? SHELL_IN_PIPE : f->w->st.input);
		add_text(f, SHELL_STR("/dev/fd/"));
		add_number(f);
		break;
	case SHELL_ARRAY:
		walk_aside(f->w, part->u.words);
		add_unknown(f, true);
		break;
	case SHELL_RANGE:
		add_unknown(f, false);
		break;
	}
}

static void expand_parts(
	struct field *f, const struct shell_part *part, bool quoted)
{
	for (; part && !f->w->err; part = part->next) {
		if (++f->w->parts % PLAIN_PARTS == 0)
			plain_step(f->w);
		expand_part(f, part, quoted);
	}
}

/* Takes the field's text over into the arena. */
static struct shell_val settle_word(struct field *f, struct shell_span span)
{
	struct shell_val v = {0};
	char *to = arena_bytes(f->w->a, f->text->len + 1);

	if (!to || f->text->err) {
		plain_stop(f->w, -E2BIG);
		to = NULL;
	} else if (f->text->len) {
		memcpy(to, f->text->data, f->text->len);
	}
	v = plain_val((struct shell_str){to, to ? f->text->len : 0});
	v.many = f->many;
	v.glob = f->glob;
	v.span = span;
	return v;
}

struct shell_val plain_quoted(struct shell_walk *w, const struct shell_part *parts,
	struct shell_span span)
{
	autobuf struct buf text = BUF_INIT(SHELL_MAX_WALK);
	struct field f = {.w = w, .text = &text, .one = true};

	expand_parts(&f, parts, true);
	return settle_word(&f, span);
}

/* Is the word one literal text? Most are. */
static bool is_literal(const struct shell_word *word, struct shell_val *v)
{
	const struct shell_part *part = word->parts;

	if (!part || part->next || !part->text.n ||
		(part->type != SHELL_LIT && part->type != SHELL_SQ))
		return false;
	if (part->type == SHELL_LIT)
		for (size_t i = 0; i < part->text.n; i++)
			if (part->text.p[i] == '*' || part->text.p[i] == '?' ||
				part->text.p[i] == '[')
				return false;
	*v = (struct shell_val){.text = part->text, .span = word->span};
	return true;
}

struct shell_val plain_one(struct shell_walk *w, const struct shell_word *word)
{
	autobuf struct buf text = BUF_INIT(SHELL_MAX_WALK);
	struct field f = {.w = w, .text = &text, .one = true};
	struct shell_val v;

	if (is_literal(word, &v))
		return v;
	expand_parts(&f, word->parts, false);
	return settle_word(&f, word->span);
}

struct shell_val plain_target(
	struct shell_walk *w, const struct shell_word *word)
{
	autobuf struct buf text = BUF_INIT(SHELL_MAX_WALK);
	struct field f = {.w = w, .text = &text, .one = true, .pattern = true};
	struct shell_val v;

	if (is_literal(word, &v))
		return v;
	expand_parts(&f, word->parts, false);
	return settle_word(&f, word->span);
}

/* The parameter, if the word is just "$@" or $x; else NULL. */
static const struct shell_param *whole_param(
	const struct shell_word *word, bool *quoted)
{
	const struct shell_part *part = word->parts;

	*quoted = part && part->type == SHELL_DQ;
	if (*quoted && !part->next)
		part = part->u.parts;
	if (!part || part->next || part->type != SHELL_PARAM ||
		part->u.param->op != SHELL_OP_NONE || part->u.param->length ||
		part->u.param->subscript || part->u.param->indirect)
		return NULL;
	return part->u.param;
}

/* Do quotes make no difference to any argument? */
static bool args_are_simple(const struct shell_walk *w)
{
	for (size_t i = 1; i < w->st.nargs; i++)
		if (!shell_val_text(&w->st.args[i]) ||
			!w->st.args[i].text.n ||
			shell_str_has(w->st.args[i].text, PLAIN_BLANKS "*?["))
			return false;
	return !splits_otherwise(w);
}

/* Expands "$@" with known arguments, and $x with a known text of several
 * words. */
static bool is_several(struct shell_walk *w, const struct shell_word *word,
	struct plain_args *to)
{
	bool quoted;
	const struct shell_param *p = whole_param(word, &quoted);
	const struct plain_var *v;
	struct plain_var room;
	struct shell_str s;

	if (p && w->st.args &&
		(shell_str_is(p->name, "@") ||
			(!quoted && shell_str_is(p->name, "*"))) &&
		(quoted || args_are_simple(w))) {
		for (size_t i = 1; i < w->st.nargs; i++)
			plain_add(w, to, w->st.args[i]);
		return true;
	}
	if (!p || quoted || !shell_str_name(p->name) || splits_otherwise(w))
		return false;
	v = plain_find(w, p->name, &room);
	s = v->value;
	if (v->is != PLAIN_KNOWN || !shell_str_has(s, PLAIN_BLANKS) ||
		shell_str_has(s, "*?[" PLAIN_MARKS))
		return false;
	for (size_t i = 0, n; i < s.n; i += n) {
		while (i < s.n && strchr(PLAIN_BLANKS, s.p[i]))
			i++;
		for (n = 0; i + n < s.n && !strchr(PLAIN_BLANKS, s.p[i + n]);)
			n++;
		if (n) {
			struct shell_val one =
				plain_val((struct shell_str){s.p + i, n});

			one.span = word->span;
			plain_add(w, to, one);
		}
	}
	return true;
}

static void expand_word(struct shell_walk *w, const struct shell_word *word,
	struct plain_args *to)
{
	autobuf struct buf text = BUF_INIT(SHELL_MAX_WALK);
	struct field f = {.w = w, .text = &text};
	struct shell_val v;

	if (++w->parts % PLAIN_PARTS == 0)
		plain_step(w);
	if (is_literal(word, &v)) {
		plain_add(w, to, v);
		return;
	}
	if (w->err || is_several(w, word, to))
		return;
	expand_parts(&f, word->parts, false);
	v = settle_word(&f, word->span);
	/* An empty expansion without quotes is no argument. */
	if (v.text.n || f.solid || f.many)
		plain_add(w, to, v);
}

void plain_words(struct shell_walk *w, const struct shell_word *word,
	struct plain_args *to)
{
	for (; word && !w->err; word = word->next) {
		const struct shell_word *b = word->braces;

		if (!b)
			expand_word(w, word, to);
		for (; b && !w->err; b = b->next)
			expand_word(w, b, to);
	}
}
