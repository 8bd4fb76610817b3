/* policy_compile_rule.c - policy text to image: deny, allow, ask and their kin
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <string.h>

#include "policy_compile.h"
#include "str.h"

static const char *const kinds[] = {
	[IMG_ALLOW] = "allow",
	[IMG_ASK] = "ask",
	[IMG_CONFIRM] = "confirm",
	[IMG_DENY] = "deny",
};

/* "{a|b}" to words. */
static int alternatives(struct policy_compiler *c, size_t i, const char *s,
	struct img_token *t, struct diag *d)
{
	t->ref.first = build_count(&c->b, IMG_REF, sizeof(uint32_t));
	while (*s != '}') {
		size_t n = strcspn(s, "|}");
		uint32_t off;

		if (n == 0 || s[n] == 0)
			return compile_bad(c, i, d, "expected {WORD|WORD...}");
		off = build_str(&c->b, s, n);
		build_add(&c->b, IMG_REF, &off, sizeof(off));
		t->ref.count++;
		s += n + (s[n] == '|');
	}
	if (s[1] || t->ref.count == 0)
		return compile_bad(
			c, i, d, "expected {WORD|WORD...} and nothing behind");
	return 0;
}

static int words(struct policy_compiler *c, size_t i, const char *s,
	struct img_token *t, struct diag *d)
{
	const struct policy_word *w = &c->line.word[i];
	uint32_t off;

	t->glob = !w->quoted;
	if (!w->quoted && s[0] == '{')
		return alternatives(c, i, s + 1, t, d);
	if (!w->quoted && s[0] == '@') {
		const struct img_list *l = compile_list(c, s + 1);

		if (!l)
			return compile_bad(
				c, i, d, "no such list, define it above");
		t->list = l->name; /* its words, when all is read */
		return 0;
	}
	if (!*s)
		return compile_bad(c, i, d, "expected a word");
	off = build_str(&c->b, s, strlen(s));
	t->ref.first = build_add(&c->b, IMG_REF, &off, sizeof(off));
	t->ref.count = 1;
	return 0;
}

static int token(
	struct policy_compiler *c, size_t i, bool program, struct diag *d)
{
	const struct policy_word *w = &c->line.word[i];
	struct img_token t = {.kind = IMG_TOK_WORD};
	const char *opt = NULL;

	if (!w->quoted && str_eq(w->s, "*")) {
		t.kind = IMG_TOK_ANY;
	} else if (!w->quoted && str_eq(w->s, "**")) {
		t.kind = IMG_TOK_REST;
		if (program || i + 1 != c->line.count)
			return compile_bad(c, i, d, "may stand last only");
	} else if (!w->quoted && (opt = str_after(w->s, "opt:"))) {
		t.kind = IMG_TOK_OPT;
	} else if (!w->quoted && (opt = str_after(w->s, "!opt:"))) {
		t.kind = IMG_TOK_NOOPT;
	} else if (!w->quoted && (opt = str_after(w->s, "has:"))) {
		t.kind = IMG_TOK_HAS;
	}
	if (program && opt)
		return compile_bad(c, i, d, "expected a program first");
	if ((opt || t.kind == IMG_TOK_WORD) &&
		words(c, i, opt ? opt : w->s, &t, d) < 0)
		return -EINVAL;
	build_add(&c->b, IMG_TOKEN, &t, sizeof(t));
	return 0;
}

static int pattern(struct policy_compiler *c, size_t from,
	struct img_rule *rule, struct diag *d)
{
	rule->token.first =
		build_count(&c->b, IMG_TOKEN, sizeof(struct img_token));
	if (from >= c->line.count)
		return compile_bad(c, from, d, "expected a program");
	for (size_t i = from; i < c->line.count; i++)
		if (token(c, i, i == from, d) < 0)
			return -EINVAL;
	rule->token.count = (uint32_t)(c->line.count - from);
	return 0;
}

static int net(struct policy_compiler *c, size_t i, const char *s, uint8_t *out,
	struct diag *d)
{
	if (str_eq(s, "none"))
		*out = POLICY_NET_NONE;
	else if (str_eq(s, "local"))
		*out = POLICY_NET_LOCAL;
	else if (str_eq(s, "all"))
		*out = POLICY_NET_ALL;
	else
		return compile_bad(c, i, d, "expected net=none, local or all");
	return 0;
}

/* Reads id= prof= net= from word 1 on; the index behind them, or -EINVAL. */
static int attributes(
	struct policy_compiler *c, struct img_rule *r, struct diag *d)
{
	size_t i = 1;

	for (; i < c->line.count; i++) {
		const struct policy_word *w = &c->line.word[i];
		const char *v;

		if (w->quoted)
			break;
		if ((v = str_after(w->s, "id="))) {
			r->id = build_str(&c->b, v, strlen(v));
			if (!*v || strlen(v) > 39)
				return compile_bad(
					c, i, d, "expected 1 to 39 bytes");
		} else if ((v = str_after(w->s, "prof="))) {
			if (compile_profiles(c, w, v, &r->profiles, d) < 0)
				return -EINVAL;
		} else if ((v = str_after(w->s, "net="))) {
			if (net(c, i, v, &r->net, d) < 0)
				return -EINVAL;
		} else {
			break;
		}
	}
	return (int)i;
}

static void start(struct policy_compiler *c, struct img_rule *r, unsigned kind)
{
	const struct policy_line *l = &c->line;

	*r = (struct img_rule){.kind = (uint8_t)kind,
		.profiles = (1 << POLICY_PROFILES) - 1,
		.file = c->file,
		.line = l->line};
	if (l->text.s)
		r->text = build_str(&c->b, l->text.s, strlen(l->text.s));
	if (l->alt.s)
		r->alt = build_str(&c->b, l->alt.s, strlen(l->alt.s));
}

/* A rule without id= is known by its program. */
static void default_id(struct policy_compiler *c, struct img_rule *r, size_t at)
{
	const char *s = c->line.word[at].s;
	size_t n;

	if (r->id)
		return;
	s += *s == '@' || *s == '{';
	n = strcspn(s, "|}");
	r->id = build_str(&c->b, s, n > 39 ? 39 : n);
}

int compile_rule(struct policy_compiler *c, struct diag *d)
{
	struct img_rule r;
	unsigned kind = IMG_ALLOW;
	int at;

	while (!str_eq(kinds[kind], c->line.word[0].s))
		kind++;
	start(c, &r, kind);
	at = attributes(c, &r, d);
	if (at < 0 || pattern(c, (size_t)at, &r, d) < 0)
		return -EINVAL;
	default_id(c, &r, (size_t)at);
	c->last_rule = build_add(&c->b, IMG_RULE, &r, sizeof(r));
	return 0;
}

int compile_delegate(struct policy_compiler *c, struct diag *d)
{
	const struct policy_word *w = c->line.word;
	struct img_rule r;

	start(c, &r, IMG_DELEGATE);
	if (c->line.count < 4 || !str_eq(w[2].s, "allow"))
		return compile_bad(c, 1, d,
			"expected: delegate user|project allow PROGRAM "
			"WORD...");
	if (str_eq(w[1].s, "user"))
		r.layers = 1 << POLICY_LAYER_USER;
	else if (str_eq(w[1].s, "project"))
		r.layers = 1 << POLICY_LAYER_PROJECT;
	else
		return compile_bad(c, 1, d, "expected user or project");
	if (pattern(c, 3, &r, d) < 0)
		return -EINVAL;
	default_id(c, &r, 3);
	build_add(&c->b, IMG_RULE, &r, sizeof(r));
	return 0;
}

/* An indented one belongs to the rule above; else id= names the rules. */
int compile_except(struct policy_compiler *c, struct diag *d)
{
	uint32_t n = build_count(&c->b, IMG_RULE, sizeof(struct img_rule));
	struct build_except ex;
	struct img_rule r;
	bool found = false;
	uint32_t id;
	int at;

	start(c, &r, IMG_EXCEPT);
	at = attributes(c, &r, d);
	id = r.id;
	if (at < 0 || pattern(c, (size_t)at, &r, d) < 0)
		return -EINVAL;
	if (c->line.indented && c->last_rule == NO_RULE)
		return compile_bad(c, 0, d, "no rule stands above it");
	if (!c->line.indented && !id)
		return compile_bad(c, 0, d,
			"expected id=RULE, or to stand indented under one");
	ex.rule = build_add(&c->b, IMG_RULE, &r, sizeof(r));
	for (uint32_t i = 0; i < n; i++) {
		const struct img_rule *t =
			build_row(&c->b, IMG_RULE, i, sizeof(*t));

		if (!t || t->kind == IMG_EXCEPT ||
			(c->line.indented ? i != c->last_rule : t->id != id))
			continue;
		ex.target = i;
		buf_add(&c->b.except, &ex, sizeof(ex));
		found = true;
	}
	return found ? 0 : compile_bad(c, 1, d, "no rule above has that id");
}
