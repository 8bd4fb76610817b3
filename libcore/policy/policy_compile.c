/* policy_compile.c - policy text to image: the statements
 * SPDX-License-Identifier: MIT
 */
#include "policy/policy_compile.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"

int compile_bad(struct policy_compiler *c, size_t i, const char *what)
{
	const struct policy_word *w =
		i < c->line.count ? &c->line.word[i] : NULL;

	return policy_text_bad(c->d, &c->line, w, "%.60s%s%s", w ? w->s : "",
		w ? ": " : "", what);
}

uint32_t compile_word(struct policy_compiler *c, size_t i)
{
	return build_str(&c->b, c->line.word[i].s, strlen(c->line.word[i].s));
}

int compile_profiles(struct policy_compiler *c, size_t i, const char *text)
{
	char name[24];
	int mask = 0;

	if (str_eq(text, "*"))
		return (1 << POLICY_PROFILES) - 1;
	do {
		size_t n = strcspn(text, ",");
		enum policy_profile p;

		name[0] = 0;
		if (n < sizeof(name)) {
			memcpy(name, text, n);
			name[n] = 0;
		}
		if (policy_profile_parse(name, &p) < 0)
			return compile_bad(c, i,
				"no profile, expected SAFE, DEV, FULL-AUTO, "
				"OBSERVE or *");
		mask |= 1 << p;
		text += n + (text[n] == ',');
	} while (*text);
	return mask;
}

static uint32_t new_list(struct policy_compiler *c, const char *name)
{
	struct img_list l = {.name = build_str(&c->b, name, strlen(name))};

	return build_add(&c->b, IMG_LIST, &l);
}

int compile_list(struct policy_compiler *c, const char *name)
{
	uint32_t row = build_list(&c->b, name);
	struct img_range from =
		c->above ? img_list(c->above, name) : (struct img_range){0};

	if (row < build_count(&c->b, IMG_LIST))
		return (int)row;
	if (!from.count)
		return -1;
	row = new_list(c, name);
	for (uint32_t i = 0; i < from.count; i++)
		build_word(&c->b, IMG_LIST, row, img_ref(c->above, from, i));
	return (int)row;
}

static int verb_list(struct policy_compiler *c)
{
	const struct policy_word *w = c->line.word;
	int row, other;

	if (c->line.count < 3)
		return compile_bad(c, 0, "expected: list NAME WORD...");
	row = compile_list(c, w[1].s);
	if (row < 0 && build_count(&c->b, IMG_LIST) >= POLICY_LISTS_MAX)
		return compile_bad(c, 1, "too many lists");
	if (row < 0)
		row = (int)new_list(c, w[1].s);
	for (size_t i = 2; i < c->line.count; i++) {
		struct img_range r;

		if (w[i].s[0] != '@' || w[i].quoted) {
			build_word(&c->b, IMG_LIST, (uint32_t)row, w[i].s);
			continue;
		}
		other = compile_list(c, w[i].s + 1);
		if (other < 0)
			return compile_bad(
				c, i, "no such list, define it above");
		r = ((struct img_list *)build_row(
			     &c->b, IMG_LIST, (uint32_t)other))
			    ->ref;
		for (uint32_t k = 0; k < r.count; k++) {
			uint32_t off = *(uint32_t *)build_row(
				&c->b, IMG_REF, r.first + k);
			autofree char *word = strdup(build_text(&c->b, off));

			if (!word)
				return diag_fail(
					c->d, -ENOMEM, "out of memory");
			build_word(&c->b, IMG_LIST, (uint32_t)row, word);
		}
	}
	return 0;
}

int compile_system_alone(struct policy_compiler *c, size_t i)
{
	return c->layer == POLICY_LAYER_SYSTEM
		       ? 0
		       : compile_bad(c, i, "only the system policy may say this");
}

static int verb_test(struct policy_compiler *c)
{
	const struct policy_word *w = c->line.word;
	struct img_test row = {.file = c->file, .line = w[0].line};
	int mask, d;

	if (c->line.count != 4)
		return compile_bad(c, 0,
			"expected: test PROFILE allow|open|confirm|deny 'LINE'");
	mask = compile_profiles(c, 1, w[1].s);
	d = str_index(POLICY_DECISIONS, w[2].s);
	if (mask < 0)
		return -EINVAL;
	if (d < 0)
		return compile_bad(c, 2, "expected allow, open, confirm or deny");
	row.profiles = (uint32_t)mask;
	row.decision = (uint32_t)d;
	row.text = compile_word(c, 3);
	build_add(&c->b, IMG_TEST, &row);
	return 0;
}

static int verb_policy(struct policy_compiler *c)
{
	const struct policy_word *w = c->line.word;

	if (c->line.count != 3 || !str_eq(w[1].s, "1"))
		return compile_bad(
			c, 1, "expected: policy 1 system|user|project");
	if (!str_eq(w[2].s, policy_layer_name(c->layer)))
		return policy_text_bad(c->d, &c->line, &w[2],
			"%s: this file is read as the %s layer", w[2].s,
			policy_layer_name(c->layer));
	return 0;
}

static int verb_use(struct policy_compiler *c)
{
	enum policy_profile p;

	if (c->line.count != 2 ||
		policy_profile_parse(c->line.word[1].s, &p) < 0)
		return compile_bad(
			c, 1, "expected: use SAFE|DEV|FULL-AUTO|OBSERVE");
	c->b.use = p;
	return 0;
}

void policy_compile_default(struct policy_compiler *c)
{
	build_import(&c->b, &policy_default);
}

static int compile_lines(struct policy_compiler *c, const char *file,
	const char *text, size_t n);

/* A shipped policy begins with the policy that it includes itself. */
static int verb_include(struct policy_compiler *c)
{
	const struct policy_shipped *s = policy_shipped();
	uint32_t file = c->file;
	int err = 0;

	while (c->line.count == 2 && s->name &&
		!str_eq(s->name, c->line.word[1].s))
		s++;
	if (c->line.count != 2 ||
		(!s->name && !str_eq(c->line.word[1].s, "default")))
		return compile_bad(c, 1, "expected: include default, agent, "
			"ci, image or contract");
	if (!build_is_empty(&c->b))
		return compile_bad(c, 0,
			"expected before everything else but `policy`");
	if (s->name)
		err = compile_lines(c, s->name, s->text, strlen(s->text));
	else
		policy_compile_default(c);
	c->file = file;
	return err;
}

/* The first word of a line. */
static const struct verb {
	char name[9];
	bool system; /* only for the system policy */
	bool plain;  /* no word of it may hold {...} */
	int (*compile)(struct policy_compiler *c);
} verbs[] = {
	/* Rules, in the order of enum img_rule_kind. */
	{"allow", false, false, NULL},
	{"ask", false, false, NULL},
	{"confirm", false, false, NULL},
	{"deny", false, false, NULL},
	{"delegate", true, false, NULL},
	{"revert", true, false, NULL},
	{"except", false, false, NULL},
	{"cache", true, true, compile_cache},
	{"env", false, true, compile_env},
	{"exec", false, true, compile_exec},
	{"hide", true, true, compile_hide},
	{"home", true, true, compile_home},
	{"include", true, false, verb_include},
	{"limit", false, false, compile_limit},
	{"list", false, true, verb_list},
	{"net", false, true, compile_net},
	{"path", false, true, compile_path},
	{"policy", false, false, verb_policy},
	{"profile", false, false, compile_profile},
	{"protect", false, true, compile_protect},
	{"reads", true, false, compile_reads},
	{"redact", false, false, compile_redact},
	{"relax", true, true, compile_relax},
	{"root", true, true, compile_root},
	{"runtime", true, true, compile_runtime},
	{"test", false, false, verb_test},
	{"undo", true, true, compile_undo},
	{"use", false, false, verb_use},
};

static int unknown_verb(struct policy_compiler *c)
{
	const struct policy_word *w = &c->line.word[0];
	const unsigned most = strlen(w->s) > 3 ? 2 : 1;
	size_t near = 0;

	while (near < ARRAY_SIZE(verbs) &&
		str_distance(verbs[near].name, w->s, 2) > most)
		near++;
	policy_text_bad(c->d, &c->line, w,
		"%.60s: no such statement, expected %s", w->s,
		near < ARRAY_SIZE(verbs) ? verbs[near].name : "allow, deny ...");
	diag_hint(c->d, "see wardbox-policy(1), POLICY FILES");
	return -EINVAL;
}

static int compile_statement(struct policy_compiler *c)
{
	const struct verb *v = NULL;
	unsigned kind = 0;

	while (kind < ARRAY_SIZE(verbs) &&
		!str_eq(verbs[kind].name, c->line.word[0].s))
		kind++;
	if (kind == ARRAY_SIZE(verbs))
		return unknown_verb(c);
	v = &verbs[kind];
	for (size_t i = 1; v->plain && i < c->line.count; i++)
		if (!c->line.word[i].quoted && strchr(c->line.word[i].s, '{'))
			return compile_bad(c, i,
				"expected words without {...}, which is for "
				"rules; quote what is meant as it is");
	if (v->system && compile_system_alone(c, 0) < 0)
		return -EINVAL;
	if (kind != IMG_EXCEPT) {
		if (c->line.indented)
			return compile_bad(
				c, 0, "only `except` may be indented");
		c->last_rule = NO_RULE;
	}
	return v->compile ? v->compile(c) : compile_rule(c, kind);
}

void policy_compile_init(struct policy_compiler *c, enum policy_layer layer,
	const struct policy_image *above)
{
	build_init(&c->b, layer);
	c->above = above;
	c->layer = layer;
	c->last_rule = NO_RULE;
}

void policy_compile_release(struct policy_compiler *c)
{
	build_release(&c->b);
}

static bool word_begins(const char *at, const char *end, const char *word)
{
	size_t n = strlen(word);

	return (size_t)(end - at) > n && memcmp(at, word, n) == 0 &&
	       (at[n] == ' ' || at[n] == '\t');
}

/* A system policy without a profile and without an `include` is built upon the
 * built-in policy: "use FULL-AUTO" alone is a policy. */
static bool builds_upon_default(const char *text, size_t n)
{
	const char *end = text + n;

	while (text < end) {
		const char *eol = memchr(text, '\n', (size_t)(end - text));

		while (text < end && (*text == ' ' || *text == '\t'))
			text++;
		if (word_begins(text, end, "profile") ||
			word_begins(text, end, "include"))
			return false;
		text = eol ? eol + 1 : end;
	}
	return true;
}

static int compile_lines(struct policy_compiler *c, const char *file,
	const char *text, size_t n)
{
	struct policy_text t;
	int rc;

	policy_text_init(&t, file, text, n);
	c->file = build_str(&c->b, file, strlen(file));
	c->last_rule = NO_RULE;
	while ((rc = policy_text_next(&t, &c->line, c->d)) > 0) {
		rc = compile_statement(c);
		if (rc < 0)
			return rc;
		if (c->b.str.err)
			return diag_fail(c->d, c->b.str.err, "policy too large");
	}
	return rc;
}

int policy_compile_text(struct policy_compiler *c, const char *file,
	const char *text, size_t n, struct diag *d)
{
	/* If the build is not empty, the text adds to it. */
	if (c->layer == POLICY_LAYER_SYSTEM && build_is_empty(&c->b) &&
		builds_upon_default(text, n))
		policy_compile_default(c);
	c->d = d;
	return compile_lines(c, file, text, n);
}
