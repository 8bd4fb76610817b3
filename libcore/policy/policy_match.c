/* policy_match.c - which rules speak of a command, and what they say together
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "policy/policy_reads_in.h"
#include "base/str.h"

enum match {
	MATCH_NO,
	MATCH_MAYBE, /* the words are not all known */
	MATCH_YES,
	MATCH_NONE, /* not asked */
};

/* A command, as rules look at it. */
struct subject {
	struct judge_cmd *k;
	const struct policy_image *img;
	const struct prog *prog;
	const struct arg *argv;
	size_t argc;
	const struct parsed *w;
	bool permit; /* for allow: only certain matches count */
	/* The program's names for patterns: the sure ones first. */
	const char *name[JUDGE_NAMES + 2];
	unsigned sure, names;
};

struct token {
	unsigned kind;
	bool glob;
	struct img_range words;
};

static struct token token_at(const struct subject *s, uint32_t i)
{
	struct img_token t = img_token(s->img, i);

	return (struct token){t.bits & IMG_TOK_KIND, t.bits & IMG_TOK_GLOB,
		img_words(s->img, t)};
}

/* A pattern with an open end that matches the n known bytes matches whatever
 * comes behind them. */
static bool fits_begin(
	const struct subject *s, const char *ref, const char *text, size_t n)
{
	return n && !s->permit && str_ends(ref, "*") &&
		str_glob(ref, judge_text(s->k->j, text, n));
}

/* Can this text be one of the words? */
static enum match word_match(
	const struct subject *s, const struct token *t, const struct arg *a)
{
	bool maybe = false;

	for (uint32_t i = 0; i < t->words.count; i++) {
		const char *ref = img_ref(s->img, t->words, i);

		if (a->unknown || a->rel) {
			size_t n = strcspn(a->s, SHELL_REL_S SHELL_ANY_S);

			if (t->glob && fits_begin(s, ref, a->s, n))
				return MATCH_YES;
			maybe |= strncmp(ref, a->s, n) == 0 ||
				 strpbrk(ref, "*?") != NULL;
		} else if (t->glob ? str_glob(ref, a->s) : str_eq(ref, a->s)) {
			return a->many && s->permit ? MATCH_MAYBE : MATCH_YES;
		}
	}
	return maybe ? MATCH_MAYBE : MATCH_NO;
}

/* Does the option match ref? A long option may be cut short. "-m=pip" is the
 * option with that value. */
static enum match option_fits(const char *ref, const struct given_opt *o)
{
	size_t n = strlen(o->name);
	bool cut = o->name[0] == '-' && o->name[1] == '-' && o->name[2];
	const char *eq = strchr(ref, '=');

	if (!eq)
		return str_glob(ref, o->name) ||
				       (cut && str_after(ref, o->name))
			       ? MATCH_YES
			       : MATCH_NO;
	if (!o->value || strncmp(ref, o->name, n) != 0 ||
		(ref[n] != '=' && !cut))
		return MATCH_NO;
	return str_glob(eq + 1, o->value)	? MATCH_YES
	       : strpbrk(o->value, SHELL_REL_S SHELL_ANY_S) ? MATCH_MAYBE
					     : MATCH_NO;
}

/* "-rf": was each of the letters given, together or apart? */
static bool letters_given(const char *ref, const struct parsed *w)
{
	char name[3] = "-";

	if (ref[0] != '-' || !ref[1] || !ref[2] || strpbrk(ref + 1, "-=*?"))
		return false;
	while ((name[1] = *++ref))
		if (!reads_given(w, name))
			return false;
	return true;
}

/* Was the option given? */
static enum match option_match(const struct subject *s, const struct token *t)
{
	const struct parsed *w = s->w;
	enum match best = w->unresolved ? MATCH_MAYBE : MATCH_NO;

	for (uint32_t i = 0; i < t->words.count; i++) {
		const char *ref = img_ref(s->img, t->words, i);

		if (letters_given(ref, w))
			return MATCH_YES;
		for (size_t o = 0; o < w->opts; o++) {
			enum match m = option_fits(ref, &w->opt[o]);

			if (m > best)
				best = m;
		}
	}
	return best;
}

static enum match operand_match(const struct subject *s, const struct token *t)
{
	enum match best = MATCH_NO;

	for (size_t i = 0; i < s->w->operands; i++) {
		enum match m = word_match(s, t, &s->w->operand[i]);

		if (m > best)
			best = m;
	}
	return best;
}

/* Does the word begin like one of the list's words that have a '!' in front? */
static bool set_apart(
	const struct subject *s, const struct token *t, const struct arg *a)
{
	size_t n = strcspn(a->s, SHELL_REL_S SHELL_ANY_S);

	for (uint32_t i = 0; i < t->words.count; i++) {
		const char *ref = img_ref(s->img, t->words, i);

		if (ref[0] == '!' && str_ends(ref, "*") &&
			str_glob(ref + 1, judge_text(s->k->j, a->s, n)))
			return true;
	}
	return false;
}

/* Compares all words behind the program: options in every spelling, and their
 * values. */
static enum match word_says(const struct subject *s, const struct token *t)
{
	enum match best = MATCH_NO;

	for (size_t i = 1; i < s->argc; i++) {
		const struct arg *a = &s->argv[i];
		enum match m = set_apart(s, t, a) ? MATCH_NO : word_match(s, t,
			a);

		if (m > best)
			best = m;
	}
	return best;
}

/* Compares operands, and the values of operands like of=FILE. */
static enum match at_place(const struct subject *s, const struct token *t)
{
	struct arg last = {0};

	for (size_t i = 1; i < s->argc; i++) {
		const struct arg *a = &s->argv[i];
		const char *eq = strchr(a->s, '=');
		struct arg value = *a;

		if (*a->s == '-' && a->s[1])
			continue;
		if (t->kind == IMG_TOK_FROM) {
			value = last;
			last = *a;
			eq = value.s ? strchr(value.s, '=') : NULL;
			if (!value.s)
				continue;
		}
		if (judge_at(s->k, &value, s->img, t->words))
			return MATCH_YES;
		if (!eq)
			continue;
		value.s = eq + 1;
		if (judge_at(s->k, &value, s->img, t->words))
			return MATCH_YES;
	}
	return MATCH_NO;
}

/* A rule that denies does not know where the words lead, so only a sure answer
 * counts. */
static enum match place_match(const struct subject *s, const struct token *t)
{
	return judge_leads(s->k, img_ref(s->img, t->words, 0), s->w) ? MATCH_YES
								     : MATCH_NO;
}

/* Does the token name only options? */
static bool is_option(const struct subject *s, const struct token *t)
{
	for (uint32_t i = 0; i < t->words.count; i++)
		if (img_ref(s->img, t->words, i)[0] != '-')
			return false;
	return t->words.count > 0;
}

static enum match least_match(enum match a, enum match b)
{
	return a < b ? a : b;
}

/* Compares tokens that look at options, or at operands anywhere; MATCH_NONE for
 * other tokens. */
static enum match match_anywhere(const struct subject *s, const struct token *t)
{
	switch (t->kind) {
	case IMG_TOK_OPT:
		return option_match(s, t);
	case IMG_TOK_NOOPT:
		return MATCH_YES - option_match(s, t);
	case IMG_TOK_HAS:
		return operand_match(s, t);
	case IMG_TOK_SAYS:
		return word_says(s, t);
	case IMG_TOK_AT:
	case IMG_TOK_FROM:
		return at_place(s, t);
	case IMG_TOK_TO:
		return place_match(s, t);
	default:
		return MATCH_NONE;
	}
}

/* Matches a pattern that ends in `**`: operands in order, options anywhere. */
static enum match match_loose(const struct subject *s, struct img_range tokens)
{
	const struct parsed *w = s->w;
	enum match m = MATCH_YES, one;
	size_t o = 0;

	for (uint32_t i = 1; i + 1 < tokens.count && m != MATCH_NO; i++) {
		struct token t = token_at(s, tokens.first + i);

		if (t.kind == IMG_TOK_WORD && is_option(s, &t))
			t.kind = IMG_TOK_OPT;
		one = match_anywhere(s, &t);
		if (one != MATCH_NONE) {
			m = least_match(m, one);
			continue;
		}
		/* This word may be an option's argument, so the next word is
		 * tried. */
		while (!s->permit && o + 1 < w->operands && w->doubtful[o] &&
			t.kind == IMG_TOK_WORD &&
			word_match(s, &t, &w->operand[o]) == MATCH_NO)
			o++;
		if (o == w->operands)
			return w->unresolved && !s->permit ? MATCH_MAYBE
							   : MATCH_NO;
		one = t.kind == IMG_TOK_ANY ? MATCH_YES
					    : word_match(s, &t, &w->operand[o]);
		if (s->permit && (w->doubtful[o] || w->operand[o].many))
			one = least_match(one, MATCH_MAYBE);
		m = least_match(m, one);
		o++;
	}
	return m;
}

/* Matches a pattern without `**`: all words, one by one. */
static enum match match_exact(const struct subject *s, struct img_range tokens)
{
	enum match m = MATCH_YES, one;
	size_t a = 1;

	for (uint32_t i = 1; i < tokens.count && m != MATCH_NO; i++) {
		struct token t = token_at(s, tokens.first + i);

		one = match_anywhere(s, &t);
		if (one == MATCH_NONE && a == s->argc)
			return MATCH_NO;
		if (one == MATCH_NONE && t.kind == IMG_TOK_ANY)
			one = s->argv[a++].many ? MATCH_MAYBE : MATCH_YES;
		else if (one == MATCH_NONE)
			one = word_match(s, &t, &s->argv[a++]);
		m = least_match(m, one);
	}
	return a == s->argc ? m : MATCH_NO;
}

/* "./tool", the form in which rules name a local program. */
static const char *local_path(struct judge *j, const struct prog *p)
{
	return judge_print(j, "./%s", p->rel);
}

/* The index of the first of the program's names that is among the words; their
 * number when none is. */
static unsigned program_index(const struct subject *s, struct img_range words)
{
	unsigned i = 0;

	while (i < s->names && !img_ref_match(s->img, words, s->name[i]))
		i++;
	return i;
}

static enum match rule_match(const struct subject *s, const struct img_rule *r)
{
	struct token last =
		token_at(s, r->token.first + r->token.count - 1);

	if (!(IMG_PROFILES(r->bits) & 1U << s->k->j->profile))
		return MATCH_NO;
	return last.kind == IMG_TOK_REST ? match_loose(s, r->token)
					 : match_exact(s, r->token);
}

static bool is_excepted(const struct subject *s, const struct img_rule *r)
{
	struct subject permit = *s;
	struct img_rule ex = {.except = r->except};

	permit.permit = true;
	while (ex.except) {
		struct token first;

		img_get(s->img, IMG_RULE, ex.except, &ex);
		first = token_at(s, ex.token.first);
		if ((first.kind == IMG_TOK_ANY ||
			    program_index(&permit, first.words) < s->sure) &&
			rule_match(&permit, &ex) == MATCH_YES)
			return true;
	}
	return false;
}

/* The best matching rule of each kind; a rule without tokens means none. */
struct found {
	struct img_rule yes[IMG_EXCEPT], maybe;
};

static bool found_is(const struct found *f, enum img_rule_kind kind)
{
	return f->yes[kind].token.count;
}

static void keep_rule(struct img_rule *slot, const struct img_rule *r)
{
	if (r->token.count > slot->token.count)
		*slot = *r;
}

static bool rule_gives(const struct img_rule *r)
{
	return IMG_KIND(r->bits) == IMG_ALLOW ||
	       IMG_KIND(r->bits) == IMG_DELEGATE ||
	       IMG_KIND(r->bits) == IMG_REVERT;
}

static void try_rule(
	struct subject *s, const struct img_rule *r, struct found *f)
{
	enum match m;

	s->k->j->work++;
	s->permit = rule_gives(r);
	m = rule_match(s, r);
	if (m == MATCH_NO || is_excepted(s, r))
		return;
	if (m == MATCH_YES)
		keep_rule(&f->yes[IMG_KIND(r->bits)], r);
	else if (!s->permit)
		keep_rule(&f->maybe, r);
}

enum {
	TRY_GIVES = 1,
	TRY_TAKES = 2,
};

/* Tries the rules whose program has this very name. */
static void try_name(
	struct subject *s, const char *name, struct found *f, unsigned which)
{
	struct img_prog p;
	struct img_rule r;
	uint32_t n, i = img_prog_find(s->img, name, &n);

	for (; n--; i++) {
		img_get(s->img, IMG_PROG, i, &p);
		img_get(s->img, IMG_RULE, p.rule, &r);
		if (which & (rule_gives(&r) ? TRY_GIVES : TRY_TAKES))
			try_rule(s, &r, f);
	}
}

/* Tries the rules whose program is a pattern. */
static void try_globs(struct subject *s, struct found *f)
{
	struct img_glob g;
	struct img_rule r;
	unsigned n;

	for (uint32_t i = 0; i < IMG_COUNT(s->img, IMG_GLOB); i++) {
		img_get(s->img, IMG_GLOB, i, &g);
		n = program_index(s, (struct img_range){g.word, 1});
		if (n == s->names)
			continue;
		img_get(s->img, IMG_RULE, g.rule, &r);
		if (n < s->sure || !rule_gives(&r))
			try_rule(s, &r, f);
	}
}

static void find_rules(struct subject *s, struct found *f)
{
	const struct prog *p = s->prog;

	*f = (struct found){0};
	if (p->name && p->where != PROG_OUTSIDE)
		try_name(s, p->name, f, TRY_GIVES);
	for (unsigned i = 0; i < p->count; i++)
		try_name(s, p->names[i], f, TRY_TAKES);
	if (p->file)
		try_name(s, p->file, f, TRY_GIVES | TRY_TAKES);
	if (p->where == PROG_LOCAL)
		try_name(s, s->name[0], f, TRY_GIVES | TRY_TAKES);
	try_globs(s, f);
}

static void apply_stern(
	struct subject *s, const struct found *f, const char *name)
{
	struct judge_cmd *k = s->k;

	if (found_is(f, IMG_DENY))
		judge_rule(k, POLICY_DENY, s->img, &f->yes[IMG_DENY], name);
	if (found_is(f, IMG_CONFIRM))
		judge_rule(
			k, POLICY_CONFIRM, s->img, &f->yes[IMG_CONFIRM], name);
	if (found_is(f, IMG_ASK) && !found_is(f, IMG_ALLOW) &&
		judge_rule(k, POLICY_CONFIRM, s->img, &f->yes[IMG_ASK], name))
		k->v.is |= POLICY_IS_ASK;
	if (f->maybe.token.count)
		judge_raise(k, POLICY_OPEN, "unresolved",
			"the rule %s may apply: the words are not all known",
			img_str(s->img, f->maybe.id));
}

/* No rule of the system layer names the program: a lower layer may be trusted
 * to allow it. */
static bool apply_delegated(
	struct subject *s, const struct found *top, enum policy_decision d)
{
	const struct policy *p = s->k->j->p;

	if (d == POLICY_ALLOW || !found_is(top, IMG_DELEGATE))
		return false;
	for (unsigned l = POLICY_LAYER_USER; l < POLICY_LAYERS; l++) {
		struct found f;

		if (!p->layer[l] ||
			!(IMG_LAYERS(top->yes[IMG_DELEGATE].bits) & 1U << l))
			continue;
		s->img = p->layer[l];
		find_rules(s, &f);
		if (found_is(&f, IMG_ALLOW)) {
			judge_rule(s->k, POLICY_ALLOW, s->img,
				&f.yes[IMG_ALLOW], s->argv[0].s);
			return true;
		}
	}
	return false;
}

static void judge_unknown(struct subject *s, const struct found *top)
{
	struct judge *j = s->k->j;
	enum policy_decision d = j->set[j->depth ? IMG_P_CHILD : IMG_P_UNKNOWN];
	const char *name = judge_show(j, s->argv[0].s);

	if (s->w->wrapper) {
		judge_raise(s->k, POLICY_ALLOW, "wrapper",
			"%s runs what is judged by itself", name);
		return;
	}
	if (apply_delegated(s, top, d))
		return;
	if (judge_raise(s->k, d, "unknown", "no rule speaks of %s", name))
		s->k->v.is |= POLICY_IS_UNKNOWN;
}

static void name_subject(struct subject *s)
{
	const struct prog *p = s->prog;

	if (p->where == PROG_LOCAL) {
		s->name[s->names++] = local_path(s->k->j, p);
		s->sure = s->names;
		return;
	}
	if (p->name)
		s->name[s->names++] = p->name;
	if (p->file)
		s->name[s->names++] = p->file;
	s->sure = s->names;
	for (unsigned i = 0; i < p->count; i++)
		if (!p->name || !str_eq(p->name, p->names[i]))
			s->name[s->names++] = p->names[i];
}

/* Does a lower layer name directories of programs? That tightens, so the line
 * is denied before it begins. */
static bool narrows_exec(const struct policy *p)
{
	bool any = false;

	for (unsigned l = POLICY_LAYER_USER; l < POLICY_LAYERS; l++)
		any |= img_set(p->layer[l], IMG_SET_EXEC).count > 0;
	return any;
}

/* How it is taken back, with what stands behind the words of the rule. */
static void note_revert(const struct subject *s, const struct img_rule *r)
{
	size_t from = 0;

	for (uint32_t i = 1; i < r->token.count; i++) {
		struct token t = token_at(s, r->token.first + i);

		from += t.kind == IMG_TOK_WORD && !is_option(s, &t);
	}
	judge_revert(s->k->j, s->img, r, s->prog, s->w, from);
}

void judge_rules(struct judge_cmd *k, const struct prog *p,
	const struct arg *argv, size_t argc, const struct parsed *w)
{
	struct subject s = {
		.k = k, .prog = p, .argv = argv, .argc = argc, .w = w};
	const struct policy *pol = k->j->p;
	const char *name = judge_show(k->j, argv[0].s);
	struct found top = {0}, f;
	const struct img_rule *net = NULL;

	name_subject(&s);
	for (unsigned l = 0; l < POLICY_LAYERS; l++) {
		s.img = pol->layer[l];
		if (!s.img)
			continue;
		find_rules(&s, l ? &f : &top);
		apply_stern(&s, l ? &f : &top, name);
		if (!l && found_is(&top, IMG_REVERT))
			note_revert(&s, &top.yes[IMG_REVERT]);
	}
	s.img = pol->layer[POLICY_LAYER_SYSTEM];
	if (p->where == PROG_OUTSIDE && k->j->depth == 0)
		judge_raise(k, k->j->starts || narrows_exec(pol) ? POLICY_DENY
							      : POLICY_OPEN, "program",
			"%s is in no directory that programs may come from",
			name);
	if (found_is(&top, IMG_ALLOW)) {
		net = &top.yes[IMG_ALLOW];
		judge_rule(k, POLICY_ALLOW, s.img, net, name);
	} else if (found_is(&top, IMG_ASK)) {
		net = &top.yes[IMG_ASK];
	} else if (!found_is(&top, IMG_DENY) && !found_is(&top, IMG_CONFIRM)) {
		judge_unknown(&s, &top);
	}
	if (net && IMG_NET(net->bits) > k->v.net)
		k->v.net = IMG_NET(net->bits);
	if (net)
		k->v.up = IMG_UP(net->bits);
	k->v.loopback |= net && IMG_NET(net->bits) == POLICY_NET_LOCAL;
}
