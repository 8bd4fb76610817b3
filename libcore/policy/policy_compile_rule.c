/* policy_compile_rule.c - policy text to image: deny, allow, ask and their kin
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <string.h>

#include "policy/policy_compile.h"
#include "base/num.h"
#include "base/str.h"

enum {
	ALL_PROFILES = (1 << POLICY_PROFILES) - 1,
	ID_MAX = 39,
};

/* The thing that a word of a rule is compared with. */
enum place { PLACE_WORD, PLACE_PROGRAM, PLACE_OPTION };

/* Refuses a word that would match nothing and is a mistake. */
static int check_word(
	struct policy_compiler *c, size_t i, const char *s, size_t n,
	enum place place)
{
	const bool program = place == PLACE_PROGRAM;

	if (place == PLACE_OPTION && !strchr("-+/*?", *s))
		return compile_bad(c, i,
			"expected opt:-x or opt:--long, with the dash");
	if (memmem(s, n, "**", 2))
		return compile_bad(c, i, "expected ** as a word of its own");
	if (strcspn(s, "{}") < n)
		return compile_bad(c, i, "expected {WORD|WORD...} as a word of "
					 "its own; quote what is meant as it is");
	if (program && strcspn(s, "=") < n)
		return compile_bad(c, i, "expected id=, prof=, net= or mark=");
	if (program && memchr(s, '/', n) && s[0] != '/' &&
		strncmp(s, "./", 2) != 0)
		return compile_bad(
			c, i, "expected a bare name, ./x or an absolute path");
	return 0;
}

/* Splits "{a|b}" into words; s is behind the brace. Returns their number. */
static int split_words(
	struct policy_compiler *c, size_t i, const char *s, enum place place)
{
	int count = 0;
	char last;

	do {
		size_t n = strcspn(s, "|}");
		uint32_t off;

		if (n == 0 || s[n] == 0)
			return compile_bad(c, i, "expected {WORD|WORD...}");
		if (check_word(c, i, s, n, place) < 0)
			return -EINVAL;
		if (count == 0 && s[n] == '}' && memchr(s, ',', n))
			return compile_bad(
				c, i, "expected | between the words");
		off = build_str(&c->b, s, n);
		build_add(&c->b, IMG_REF, &off);
		count++;
		last = s[n];
		s += n + 1;
	} while (last == '|');
	if (*s)
		return compile_bad(
			c, i, "expected {WORD|WORD...} and nothing behind");
	return count;
}

static int token_words(struct policy_compiler *c, size_t i, const char *s,
	enum place place, struct img_token *t)
{
	bool quoted = c->line.word[i].quoted;
	int n = 1, list;
	uint32_t off;

	t->bits |= quoted ? 0 : IMG_TOK_GLOB;
	t->first = build_count(&c->b, IMG_REF);
	if (!quoted && s[0] == '@') {
		list = compile_list(c, s + 1);
		if (list < 0)
			return compile_bad(
				c, i, "no such list, define it above");
		t->bits |= IMG_TOK_LIST;
		t->first = (uint32_t)list;
		return 0;
	}
	if (!quoted && s[0] == '{') {
		n = split_words(c, i, s + 1, place);
	} else if (*s) {
		if (!quoted && check_word(c, i, s, strlen(s), place) < 0)
			return -EINVAL;
		off = build_str(&c->b, s, strlen(s));
		build_add(&c->b, IMG_REF, &off);
	} else {
		n = compile_bad(c, i, "expected a word");
	}
	if (n < 0)
		return -EINVAL;
	t->bits |= (uint32_t)n << IMG_TOK_WORDS;
	return 0;
}

static int add_token(struct policy_compiler *c, size_t i, bool program)
{
	/* In the order of enum img_token_kind, from IMG_TOK_OPT on. */
	static const char kinds[] =
		"opt:\0!opt:\0has:\0says:\0at:\0from:\0to:\0";
	const struct policy_word *w = &c->line.word[i];
	struct img_token t = {IMG_TOK_WORD, 0};
	uint32_t kind = IMG_TOK_OPT;
	const char *s = w->s, *v;
	enum place place = program ? PLACE_PROGRAM : PLACE_WORD;

	if (w->quoted) {
	} else if (str_eq(s, "*")) {
		t.bits = IMG_TOK_ANY;
	} else if (str_eq(s, "**")) {
		t.bits = IMG_TOK_REST;
		if (program || i + 1 != c->line.count)
			return compile_bad(c, i, "may stand last only");
	} else {
		for (const char *k = kinds; *k; k += strlen(k) + 1, kind++)
			if ((v = str_after(s, k))) {
				t.bits = kind;
				s = v;
				break;
			}
		if (t.bits == IMG_TOK_TO &&
			str_index("loopback\0local\0", s) < 0)
			return compile_bad(
				c, i, "expected to:loopback or to:local");
	}
	if (program && s != w->s)
		return compile_bad(c, i, "expected a program first");
	if (t.bits == IMG_TOK_OPT || t.bits == IMG_TOK_NOOPT)
		place = PLACE_OPTION;
	if (t.bits != IMG_TOK_ANY && t.bits != IMG_TOK_REST &&
		token_words(c, i, s, place, &t) < 0)
		return -EINVAL;
	build_add(&c->b, IMG_TOKEN, &t);
	return 0;
}

static int add_pattern(
	struct policy_compiler *c, size_t from, struct img_rule *rule)
{
	rule->token.first = build_count(&c->b, IMG_TOKEN);
	if (from >= c->line.count)
		return compile_bad(c, from, "expected a program");
	for (size_t i = from; i < c->line.count; i++)
		if (add_token(c, i, i == from) < 0)
			return -EINVAL;
	rule->token.count = (uint32_t)(c->line.count - from);
	return 0;
}

/* Reads id= prof= net= up= mark= from word 1 on. Returns the index behind them,
 * or -EINVAL. */
static int read_attributes(struct policy_compiler *c, struct img_rule *r)
{
	int mask = ALL_PROFILES, net = POLICY_NET_NONE;
	unsigned marks = 0;
	uint64_t up = 0;
	size_t i = 1;

	for (; i < c->line.count && !c->line.word[i].quoted; i++) {
		const char *s = c->line.word[i].s, *v;

		if ((v = str_after(s, "id="))) {
			r->id = build_str(&c->b, v, strlen(v));
			if (!*v || strlen(v) > ID_MAX)
				return compile_bad(
					c, i, "expected 1 to 39 bytes");
		} else if ((v = str_after(s, "prof="))) {
			mask = compile_profiles(c, i, v);
		} else if ((v = str_after(s, "net="))) {
			net = str_index(POLICY_NETS, v);
			if (net < 0)
				return compile_bad(c, i,
					"expected net=none, local, registries or all");
		} else if ((v = str_after(s, "up="))) {
			if (num_size(v, 1, (uint64_t)IMG_UP_MAX << IMG_UP_SHIFT,
				    &up) < 0)
				return compile_bad(c, i,
					"expected a size below 1G, up=1M");
		} else if ((v = str_after(s, "mark="))) {
			marks |= str_eq(v, "shell") ? POLICY_IS_SHELL
				: str_eq(v, "protect") ? POLICY_IS_PROTECT : 0;
			if (!str_eq(v, "shell") && !str_eq(v, "protect"))
				return compile_bad(c, i,
					"expected mark=shell or protect");
		} else {
			break;
		}
	}
	if (mask < 0)
		return -EINVAL;
	r->bits |= (uint32_t)mask << 3 | (uint32_t)net << 7 |
		   (uint32_t)marks << 12 |
		   (uint32_t)((up + (1U << IMG_UP_SHIFT) - 1) >> IMG_UP_SHIFT)
			   << 14;
	return (int)i;
}

/* An indented `except` belongs to the rule above; otherwise id= names the
 * rules. Each rule has its own chain of exceptions. */
static int add_excepts(struct policy_compiler *c, const struct img_rule *r)
{
	uint32_t n = build_count(&c->b, IMG_RULE);
	uint32_t i = c->line.indented ? c->last_rule : 0;
	bool found = false;

	if (c->line.indented && c->last_rule == NO_RULE)
		return compile_bad(c, 0, "no rule stands above it");
	if (!c->line.indented && !r->id)
		return compile_bad(c, 0,
			"expected id=RULE, or to stand indented under one");
	for (; i < n; i++) {
		struct img_rule *t = build_row(&c->b, IMG_RULE, i);
		uint32_t last = i, next;

		if (IMG_KIND(t->bits) == IMG_EXCEPT ||
			(!c->line.indented &&
				!str_eq(build_text(&c->b, t->id),
					build_text(&c->b, r->id))))
			continue;
		while ((next = ((struct img_rule *)build_row(
					&c->b, IMG_RULE, last))
					       ->except))
			last = next;
		next = build_add(&c->b, IMG_RULE, r);
		((struct img_rule *)build_row(&c->b, IMG_RULE, last))->except =
			next;
		found = true;
		if (c->line.indented)
			break;
	}
	return found ? 0 : compile_bad(c, 1, "no rule above has that id");
}

/* A rule without id= has its program's name as its id. */
static void default_id(struct policy_compiler *c, struct img_rule *r, size_t at)
{
	const char *s = c->line.word[at].s;
	size_t n;

	if (r->id)
		return;
	if (IMG_KIND(r->bits) == IMG_REVERT)
		s = "revert";
	s += *s == '@' || *s == '{';
	n = strcspn(s, "|}");
	r->id = build_str(&c->b, s, n > ID_MAX ? ID_MAX : n);
}

static int add_delegate(struct policy_compiler *c, struct img_rule *r)
{
	const struct policy_word *w = c->line.word;
	int to;

	if (c->line.count < 4 || !str_eq(w[2].s, "allow"))
		return compile_bad(c, 1,
			"expected: delegate user|project allow PROGRAM "
			"WORD...");
	to = str_index("user\0project\0", w[1].s);
	if (to < 0)
		return compile_bad(c, 1, "expected user or project");
	r->bits |= ALL_PROFILES << 3 | 1U << (9 + POLICY_LAYER_USER + to);
	return 3;
}

int compile_rule(struct policy_compiler *c, unsigned kind)
{
	const struct policy_line *l = &c->line;
	struct img_rule r = {.bits = kind, .file = c->file, .line = l->line};
	int at;

	if (l->text.s)
		r.text = build_str(&c->b, l->text.s, strlen(l->text.s));
	if (l->alt.s)
		r.alt = build_str(&c->b, l->alt.s, strlen(l->alt.s));
	at = kind == IMG_DELEGATE ? add_delegate(c, &r) : read_attributes(c,
		&r);
	if (at < 0 || add_pattern(c, (size_t)at, &r) < 0)
		return -EINVAL;
	if (kind == IMG_EXCEPT)
		return add_excepts(c, &r);
	default_id(c, &r, (size_t)at);
	c->last_rule = build_add(&c->b, IMG_RULE, &r);
	return 0;
}
