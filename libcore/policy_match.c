/* policy_match.c - which rules speak of a command, and what they say together
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "policy_judge.h"
#include "str.h"

enum match {
	MATCH_NO,
	MATCH_MAYBE, /* the words are not all known */
	MATCH_YES,
};

/* A command as the rules see it. */
struct subject {
	struct judge_cmd *k;
	const struct policy_image *img;
	const struct prog *prog;
	const struct arg *argv;
	size_t argc;
	const struct parsed *w;
	bool permit; /* for allow: only what is certain counts */
};

/* Can this text be one of the words? */
static enum match word(
	const struct subject *s, const struct img_token *t, const struct arg *a)
{
	bool maybe = false;

	for (uint32_t i = 0; i < t->ref.count; i++) {
		const char *ref = img_ref(s->img, t->ref, i);

		if (a->unknown || a->rel) {
			size_t n = strcspn(a->s, "\1\2");

			maybe |= strncmp(ref, a->s, n) == 0 ||
				 strpbrk(ref, "*?") != NULL;
		} else if (t->glob ? str_glob(ref, a->s) : str_eq(ref, a->s)) {
			return a->many ? MATCH_MAYBE : MATCH_YES;
		}
	}
	return maybe ? MATCH_MAYBE : MATCH_NO;
}

/* "-m=pip": the option with that value. */
static bool with_value(const char *ref, const struct given_opt *o)
{
	size_t n = strlen(o->name);

	return o->value && strncmp(ref, o->name, n) == 0 && ref[n] == '=' &&
	       str_glob(ref + n + 1, o->value);
}

/* Was the option given? A long one may be cut short. */
static enum match option(const struct subject *s, const struct img_token *t)
{
	const struct parsed *w = s->w;

	for (uint32_t i = 0; i < t->ref.count; i++) {
		const char *ref = img_ref(s->img, t->ref, i);

		for (size_t o = 0; o < w->opts; o++) {
			const char *name = w->opt[o].name;

			if (str_glob(ref, name) ||
				with_value(ref, &w->opt[o]) ||
				(name[0] == '-' && name[1] == '-' && name[2] &&
					str_after(ref, name)))
				return MATCH_YES;
		}
	}
	return w->unresolved ? MATCH_MAYBE : MATCH_NO;
}

static enum match has(const struct subject *s, const struct img_token *t)
{
	enum match best = MATCH_NO;

	for (size_t i = 0; i < s->w->operands; i++) {
		enum match m = word(s, t, &s->w->operand[i]);

		if (m > best)
			best = m;
	}
	return best;
}

/* Is the token one that names options only? */
static bool is_option(const struct subject *s, const struct img_token *t)
{
	for (uint32_t i = 0; i < t->ref.count; i++)
		if (img_ref(s->img, t->ref, i)[0] != '-')
			return false;
	return t->ref.count > 0;
}

static enum match least(enum match a, enum match b)
{
	return a < b ? a : b;
}

/* A pattern that ends in `**`: operands in order, options anywhere. */
static enum match loose(
	const struct subject *s, const struct img_token *t, uint32_t n)
{
	const struct parsed *w = s->w;
	enum match m = MATCH_YES, one;
	size_t o = 0;

	for (uint32_t i = 1; i + 1 < n && m != MATCH_NO; i++) {
		if (t[i].kind == IMG_TOK_OPT ||
			(t[i].kind == IMG_TOK_WORD && is_option(s, &t[i]))) {
			m = least(m, option(s, &t[i]));
			continue;
		}
		if (t[i].kind == IMG_TOK_NOOPT) {
			m = least(m, MATCH_YES - option(s, &t[i]));
			continue;
		}
		if (t[i].kind == IMG_TOK_HAS) {
			m = least(m, has(s, &t[i]));
			continue;
		}
		/* What may be an option's argument may not be this word. */
		while (!s->permit && o + 1 < w->operands && w->doubtful[o] &&
			t[i].kind == IMG_TOK_WORD &&
			word(s, &t[i], &w->operand[o]) == MATCH_NO)
			o++;
		if (o == w->operands)
			return w->unresolved && !s->permit ? MATCH_MAYBE
							   : MATCH_NO;
		one = t[i].kind == IMG_TOK_ANY ? MATCH_YES
					       : word(s, &t[i], &w->operand[o]);
		if (s->permit && (w->doubtful[o] || w->operand[o].many))
			one = least(one, MATCH_MAYBE);
		m = least(m, one);
		o++;
	}
	return m;
}

/* A pattern without `**`: all words, one by one. */
static enum match exact(
	const struct subject *s, const struct img_token *t, uint32_t n)
{
	enum match m = MATCH_YES;
	size_t a = 1;

	for (uint32_t i = 1; i < n && m != MATCH_NO; i++) {
		if (t[i].kind == IMG_TOK_OPT)
			m = least(m, option(s, &t[i]));
		else if (t[i].kind == IMG_TOK_NOOPT)
			m = least(m, MATCH_YES - option(s, &t[i]));
		else if (t[i].kind == IMG_TOK_HAS)
			m = least(m, has(s, &t[i]));
		else if (a == s->argc)
			return MATCH_NO;
		else if (t[i].kind == IMG_TOK_ANY)
			m = least(
				m, s->argv[a++].many ? MATCH_MAYBE : MATCH_YES);
		else
			m = least(m, word(s, &t[i], &s->argv[a++]));
	}
	return a == s->argc ? m : MATCH_NO;
}

/* Does a rule without a literal program speak of this one? */
static bool program(const struct subject *s, const struct img_token *t)
{
	const struct prog *p = s->prog;

	if (t->kind == IMG_TOK_ANY)
		return true;
	if (p->name && img_ref_match(s->img, t->ref, p->name))
		return true;
	if (p->where == PROG_LOCAL) {
		char path[JUDGE_PATH];
		struct buf b = BUF_FIXED(path);

		buf_addf(&b, "./%s", p->rel);
		return !b.err && img_ref_match(s->img, t->ref, buf_str(&b));
	}
	if (p->file && img_ref_match(s->img, t->ref, p->file))
		return true;
	for (unsigned i = 0; !s->permit && i < p->count; i++)
		if (img_ref_match(s->img, t->ref, p->names[i]))
			return true;
	return false;
}

static enum match rule(struct subject *s, const struct img_rule *r)
{
	const struct img_token *t =
		IMG_AT(s->img, IMG_TOKEN, struct img_token) + r->token.first;
	uint32_t n = r->token.count;

	if (!(r->profiles & 1U << s->k->j->profile))
		return MATCH_NO;
	return t[n - 1].kind == IMG_TOK_REST ? loose(s, t, n) : exact(s, t, n);
}

static bool excepted(struct subject *s, const struct img_rule *r)
{
	const struct img_rule *ex =
		IMG_AT(s->img, IMG_RULE, struct img_rule) + r->except.first;
	bool permit = s->permit, yes = false;

	s->permit = true;
	for (uint32_t i = 0; i < r->except.count && !yes; i++) {
		const struct img_token *t =
			IMG_AT(s->img, IMG_TOKEN, struct img_token) +
			ex[i].token.first;

		yes = program(s, t) && rule(s, &ex[i]) == MATCH_YES;
	}
	s->permit = permit;
	return yes;
}

/* The rule of each kind that fits best. */
struct found {
	const struct img_rule *yes[IMG_EXCEPT], *maybe;
};

static void keep(const struct img_rule **slot, const struct img_rule *r)
{
	if (!*slot || r->token.count > (*slot)->token.count)
		*slot = r;
}

static void try_rule(struct subject *s, uint32_t index, struct found *f)
{
	const struct img_rule *r =
		IMG_AT(s->img, IMG_RULE, struct img_rule) + index;
	enum match m;

	s->permit = r->kind == IMG_ALLOW || r->kind == IMG_DELEGATE;
	m = rule(s, r);
	if (m == MATCH_NO || (r->except.count && excepted(s, r)))
		return;
	if (m == MATCH_YES)
		keep(&f->yes[r->kind], r);
	else if (!s->permit)
		keep(&f->maybe, r);
}

static void try_name(struct subject *s, const char *name, struct found *f,
	bool permit, bool deny)
{
	uint32_t n;
	const struct img_prog *p = img_prog_find(s->img, name, &n);

	for (uint32_t i = 0; i < n; i++) {
		const struct img_rule *r =
			IMG_AT(s->img, IMG_RULE, struct img_rule) + p[i].rule;
		bool gives = r->kind == IMG_ALLOW || r->kind == IMG_DELEGATE;

		if (gives ? permit : deny)
			try_rule(s, p[i].rule, f);
	}
}

static void find(struct subject *s, struct found *f)
{
	const struct prog *p = s->prog;
	const struct img_prog *g;
	char path[JUDGE_PATH];
	uint32_t n;

	*f = (struct found){0};
	if (p->name && p->where != PROG_OUTSIDE)
		try_name(s, p->name, f, true, false);
	for (unsigned i = 0; i < p->count; i++)
		try_name(s, p->names[i], f, false, true);
	if (p->file)
		try_name(s, p->file, f, true, true);
	if (p->where == PROG_LOCAL) {
		struct buf b = BUF_FIXED(path);

		buf_addf(&b, "./%s", p->rel);
		if (!b.err)
			try_name(s, buf_str(&b), f, true, true);
	}
	g = img_prog_find(s->img, "", &n);
	for (uint32_t i = 0; i < n; i++) {
		const struct img_rule *r =
			IMG_AT(s->img, IMG_RULE, struct img_rule) + g[i].rule;

		s->permit = r->kind == IMG_ALLOW || r->kind == IMG_DELEGATE;
		if (program(s, IMG_AT(s->img, IMG_TOKEN, struct img_token) +
				       r->token.first))
			try_rule(s, g[i].rule, f);
	}
}

static void stern(struct subject *s, const struct found *f, const char *name)
{
	struct judge_cmd *k = s->k;

	if (f->yes[IMG_DENY])
		judge_rule(k, POLICY_DENY, s->img, f->yes[IMG_DENY], name);
	if (f->yes[IMG_CONFIRM])
		judge_rule(
			k, POLICY_CONFIRM, s->img, f->yes[IMG_CONFIRM], name);
	if (f->yes[IMG_ASK] && !f->yes[IMG_ALLOW])
		judge_rule(k, POLICY_CONFIRM, s->img, f->yes[IMG_ASK], name);
	if (f->maybe)
		judge_raise(k, k->j->set.unresolved, "unresolved",
			"the rule %s may apply: the words are not all known",
			img_str(s->img, f->maybe->id));
}

/* No rule of the system layer speaks of it; a lower layer may be trusted to
 * allow some of these. */
static bool delegated(
	struct subject *s, const struct found *top, enum policy_decision d)
{
	const struct policy *p = s->k->j->p;

	if (d == POLICY_ALLOW || !top->yes[IMG_DELEGATE])
		return false;
	for (unsigned l = POLICY_LAYER_USER; l < POLICY_LAYERS; l++) {
		struct found f;

		if (!p->layer[l] || !(top->yes[IMG_DELEGATE]->layers & 1U << l))
			continue;
		s->img = p->layer[l];
		find(s, &f);
		if (f.yes[IMG_ALLOW]) {
			judge_rule(s->k, POLICY_ALLOW, s->img, f.yes[IMG_ALLOW],
				s->argv[0].s);
			return true;
		}
	}
	return false;
}

static void unknown(struct subject *s, const struct found *top)
{
	struct judge *j = s->k->j;
	enum policy_decision d = j->depth ? j->set.child : j->set.unknown;
	const char *name = judge_show(j, s->argv[0].s);

	if (s->w->wrapper) {
		judge_raise(s->k, POLICY_ALLOW, "wrapper",
			"%s runs what is judged by itself", name);
		return;
	}
	if (delegated(s, top, d))
		return;
	judge_raise(s->k, d, "unknown", "no rule speaks of %s", name);
	if (d == POLICY_CONFIRM && s->k->v.would == d &&
		!s->k->v.alternative[0])
		judge_alternative(s->k, "allow it in /etc/wardbox/policy.d, "
					"see: wardbox policy suggest");
}

void judge_rules(struct judge_cmd *k, const struct prog *p,
	const struct arg *argv, size_t argc, const struct parsed *w)
{
	struct subject s = {
		.k = k, .prog = p, .argv = argv, .argc = argc, .w = w};
	const struct policy *pol = k->j->p;
	const char *name = judge_show(k->j, argv[0].s);
	struct found top = {0}, f;

	if (pol->layer[POLICY_LAYER_SYSTEM]) {
		s.img = pol->layer[POLICY_LAYER_SYSTEM];
		find(&s, &top);
		stern(&s, &top, name);
	}
	for (unsigned l = POLICY_LAYER_USER; l < POLICY_LAYERS; l++) {
		s.img = pol->layer[l];
		if (!s.img)
			continue;
		find(&s, &f);
		stern(&s, &f, name);
	}
	s.img = pol->layer[POLICY_LAYER_SYSTEM];
	if (p->where == PROG_OUTSIDE && k->j->depth == 0)
		judge_raise(k, POLICY_DENY, "program",
			"%s is in no directory that programs may come from",
			name);
	if (top.yes[IMG_ALLOW]) {
		if (top.yes[IMG_ALLOW]->net > k->v.net)
			k->v.net = top.yes[IMG_ALLOW]->net;
		judge_rule(k, POLICY_ALLOW, s.img, top.yes[IMG_ALLOW], name);
	} else if (!top.yes[IMG_DENY] && !top.yes[IMG_CONFIRM] &&
		   !top.yes[IMG_ASK]) {
		unknown(&s, &top);
	} else if (top.yes[IMG_ASK] && top.yes[IMG_ASK]->net > k->v.net) {
		k->v.net = top.yes[IMG_ASK]->net;
	}
}
