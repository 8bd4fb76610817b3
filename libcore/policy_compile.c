/* policy_compile.c - policy text to image: the statements
 * SPDX-License-Identifier: MIT
 */
#include "policy_compile.h"

#include <errno.h>
#include <string.h>

#include "num.h"
#include "str.h"

typedef int verb_fn(struct policy_compiler *c, struct diag *d);

int compile_bad(
	struct policy_compiler *c, size_t i, struct diag *d, const char *what)
{
	const struct policy_word *w =
		i < c->line.count ? &c->line.word[i] : NULL;

	return policy_text_bad(d, &c->line, w, "%.60s%s%s", w ? w->s : "",
		w ? ": " : "", what);
}

int compile_profiles(struct policy_compiler *c, const struct policy_word *w,
	const char *text, uint8_t *mask, struct diag *d)
{
	char name[24];

	*mask = 0;
	if (str_eq(text, "*")) {
		*mask = (1 << POLICY_PROFILES) - 1;
		return 0;
	}
	for (const char *at = text; *at;) {
		size_t n = strcspn(at, ",");
		enum policy_profile p;

		if (n >= sizeof(name))
			n = sizeof(name) - 1;
		memcpy(name, at, n);
		name[n] = 0;
		if (policy_profile_parse(name, &p) < 0)
			return policy_text_bad(d, &c->line, w,
				"%s: no profile, expected SAFE, DEV, "
				"FULL-AUTO, OBSERVE or *",
				name);
		*mask |= (uint8_t)(1U << p);
		at += n;
		if (*at == ',')
			at++;
	}
	return *mask ? 0
		     : policy_text_bad(d, &c->line, w, "expected a profile");
}

struct img_list *compile_list(struct policy_compiler *c, const char *name)
{
	uint32_t before = build_count(&c->b, IMG_LIST, sizeof(struct img_list));
	const struct img_list *from =
		c->above ? img_list_find(c->above, name) : NULL;
	struct img_list *l = build_list(&c->b, name);

	if (build_count(&c->b, IMG_LIST, sizeof(*l)) == before)
		return l;
	if (!from) {
		c->b.sect[IMG_LIST].len -= sizeof(*l);
		return NULL;
	}
	for (uint32_t i = 0; l && i < from->ref.count; i++)
		build_list_add(&c->b, l, img_ref(c->above, from->ref, i));
	return l;
}

static int verb_list(struct policy_compiler *c, struct diag *d)
{
	const struct policy_word *w = c->line.word;
	struct img_list *l;

	if (c->line.count < 3)
		return compile_bad(c, 0, d, "expected: list NAME WORD...");
	l = compile_list(c, w[1].s);
	if (!l)
		l = build_list(&c->b, w[1].s);
	for (size_t i = 2; l && i < c->line.count; i++) {
		const struct img_list *other = NULL;
		struct img_list from;

		if (w[i].s[0] != '@' || w[i].quoted) {
			build_list_add(&c->b, l, w[i].s);
			continue;
		}
		other = compile_list(c, w[i].s + 1);
		if (!other)
			return compile_bad(
				c, i, d, "no such list, define it above");
		from = *other;
		l = build_list(&c->b, w[1].s);
		for (uint32_t k = 0; l && k < from.ref.count; k++) {
			const uint32_t *ref = build_row(&c->b, IMG_REF,
				from.ref.first + k, sizeof(*ref));

			if (!ref)
				break;
			build_list_add(
				&c->b, l, c->b.sect[IMG_STR].data + *ref);
		}
	}
	return 0;
}

/* Absolute, or beneath a place that is known when a command runs. */
static int absolute(struct policy_compiler *c, size_t from, struct diag *d)
{
	for (size_t i = from; i < c->line.count; i++) {
		const char *s = c->line.word[i].s;

		if (s[0] != '/' && !str_after(s, "$ROOT") &&
			!str_after(s, "$HOME"))
			return compile_bad(c, i, d,
				"expected an absolute path, $ROOT/... or "
				"$HOME/...");
	}
	return 0;
}

static int verb_path(struct policy_compiler *c, struct diag *d)
{
	const struct policy_word *w = c->line.word;
	struct img_path row = {0};

	if (c->line.count < 3 ||
		(!str_eq(w[1].s, "r") && !str_eq(w[1].s, "rw")))
		return compile_bad(c, 1, d, "expected: path r|rw PATTERN...");
	row.write = w[1].s[1] == 'w';
	if (absolute(c, 2, d) < 0)
		return -EINVAL;
	for (size_t i = 2; i < c->line.count; i++) {
		row.pattern = build_str(&c->b, w[i].s, strlen(w[i].s));
		build_add(&c->b, IMG_PATH, &row, sizeof(row));
	}
	return 0;
}

static int verb_protect(struct policy_compiler *c, struct diag *d)
{
	const struct policy_word *w = c->line.word;
	struct img_protect row = {
		.profiles = (1 << POLICY_PROFILES) - 1, .file = c->file};
	size_t i = 1;

	if (i < c->line.count && str_after(w[i].s, "prof=")) {
		if (compile_profiles(c, &w[i], w[i].s + 5, &row.profiles, d) <
			0)
			return -EINVAL;
		i++;
	}
	if (i < c->line.count && str_eq(w[i].s, "confirm"))
		row.decision = POLICY_CONFIRM;
	else if (i < c->line.count && str_eq(w[i].s, "deny"))
		row.decision = POLICY_DENY;
	else
		return compile_bad(c, i, d, "expected confirm or deny");
	if (++i == c->line.count)
		return compile_bad(c, i, d, "protect: expected a pattern");
	if (c->line.text.s)
		row.text = build_str(
			&c->b, c->line.text.s, strlen(c->line.text.s));
	for (; i < c->line.count; i++) {
		if (w[i].s[0] == '/')
			return compile_bad(c, i, d,
				"expected a path relative to the root");
		row.pattern = build_str(&c->b, w[i].s, strlen(w[i].s));
		row.line = w[i].line;
		build_add(&c->b, IMG_PROTECT, &row, sizeof(row));
	}
	return 0;
}

static int add_set(struct policy_compiler *c, enum img_set set, size_t from,
	struct diag *d)
{
	if (c->line.count <= from)
		return compile_bad(
			c, 0, d, "expected at least one word behind it");
	for (size_t i = from; i < c->line.count; i++)
		build_set_add(&c->b, set, c->line.word[i].s);
	return 0;
}

static int verb_exec(struct policy_compiler *c, struct diag *d)
{
	for (size_t i = 1; i < c->line.count; i++)
		if (c->line.word[i].s[0] != '/')
			return compile_bad(
				c, i, d, "expected an absolute directory");
	return add_set(c, IMG_SET_EXEC, 1, d);
}

static int verb_runtime(struct policy_compiler *c, struct diag *d)
{
	const struct policy_word *w = c->line.word;

	if (c->line.count < 3 ||
		(!str_eq(w[1].s, "r") && !str_eq(w[1].s, "rw")))
		return compile_bad(
			c, 1, d, "expected: runtime r|rw PATTERN...");
	if (absolute(c, 2, d) < 0)
		return -EINVAL;
	return add_set(c, w[1].s[1] ? IMG_SET_RUN_RW : IMG_SET_RUN_R, 2, d);
}

static int verb_env(struct policy_compiler *c, struct diag *d)
{
	const struct policy_word *w = c->line.word;

	if (c->line.count < 3)
		return compile_bad(
			c, 0, d, "expected: env keep|set|deny NAME...");
	if (str_eq(w[1].s, "keep"))
		return add_set(c, IMG_SET_ENV_KEEP, 2, d);
	if (str_eq(w[1].s, "deny"))
		return add_set(c, IMG_SET_ENV_DENY, 2, d);
	if (!str_eq(w[1].s, "set"))
		return compile_bad(c, 1, d, "expected keep, set or deny");
	for (size_t i = 2; i < c->line.count; i++) {
		const char *eq = strchr(w[i].s, '=');

		if (!eq || !str_is_name(w[i].s, (size_t)(eq - w[i].s)))
			return compile_bad(c, i, d, "expected NAME=VALUE");
	}
	return add_set(c, IMG_SET_ENV_SET, 2, d);
}

static int verb_relax(struct policy_compiler *c, struct diag *d)
{
	return add_set(c, IMG_SET_RELAX, 1, d);
}

static int verb_root(struct policy_compiler *c, struct diag *d)
{
	return add_set(c, IMG_SET_ROOT, 1, d);
}

static int verb_test(struct policy_compiler *c, struct diag *d)
{
	const struct policy_word *w = c->line.word;
	struct img_test row = {.file = c->file, .line = w[0].line};

	if (c->line.count != 4)
		return compile_bad(c, 0, d,
			"expected: test PROFILE allow|confirm|deny 'LINE'");
	if (compile_profiles(c, &w[1], w[1].s, &row.profiles, d) < 0)
		return -EINVAL;
	for (unsigned i = POLICY_ALLOW;; i++) {
		if (i > POLICY_DENY)
			return compile_bad(
				c, 2, d, "expected allow, confirm or deny");
		row.decision = (uint8_t)i;
		if (str_eq(w[2].s, policy_decision_name((int)i)))
			break;
	}
	row.text = build_str(&c->b, w[3].s, strlen(w[3].s));
	build_add(&c->b, IMG_TEST, &row, sizeof(row));
	return 0;
}

static int verb_policy(struct policy_compiler *c, struct diag *d)
{
	const struct policy_word *w = c->line.word;

	if (c->line.count != 3 || !str_eq(w[1].s, "1"))
		return compile_bad(
			c, 1, d, "expected: policy 1 system|user|project");
	if (!str_eq(w[2].s, policy_layer_name(c->layer)))
		return policy_text_bad(d, &c->line, &w[2],
			"%s: this file is read as the %s layer", w[2].s,
			policy_layer_name(c->layer));
	return 0;
}

int policy_compile_default(struct policy_compiler *c, struct diag *d)
{
	struct policy_image img;
	const char *file = c->line.file ? c->line.file : "default";
	int rc = policy_image_check(
		&img, policy_default_words, policy_default_size, d);

	if (rc < 0)
		return rc;
	rc = build_import(&c->b, &img);
	if (rc < 0)
		return diag_errno(d, rc, "the built-in policy");
	c->file = build_str(&c->b, file, strlen(file));
	return 0;
}

static int verb_include(struct policy_compiler *c, struct diag *d)
{
	int rc;

	if (c->line.count != 2 || !str_eq(c->line.word[1].s, "default"))
		return compile_bad(c, 1, d, "expected: include default");
	rc = policy_compile_default(c, d);
	if (rc == -EEXIST)
		return compile_bad(c, 0, d,
			"expected before everything else but `policy`");
	return rc;
}

enum {
	SYSTEM_ONLY = 1,
	KEEPS_RULE = 2,
};

static const struct {
	const char *name;
	verb_fn *fn;
	unsigned flags;
} verbs[] = {
	{"allow", compile_rule, 0},
	{"args", compile_args, SYSTEM_ONLY},
	{"ask", compile_rule, 0},
	{"confirm", compile_rule, 0},
	{"delegate", compile_delegate, SYSTEM_ONLY},
	{"deny", compile_rule, 0},
	{"env", verb_env, 0},
	{"except", compile_except, KEEPS_RULE},
	{"exec", verb_exec, 0},
	{"include", verb_include, SYSTEM_ONLY},
	{"limit", compile_limit, 0},
	{"list", verb_list, 0},
	{"path", verb_path, 0},
	{"policy", verb_policy, 0},
	{"profile", compile_profile, 0},
	{"protect", verb_protect, 0},
	{"redact", compile_redact, 0},
	{"relax", verb_relax, SYSTEM_ONLY},
	{"root", verb_root, SYSTEM_ONLY},
	{"runtime", verb_runtime, SYSTEM_ONLY},
	{"test", verb_test, 0},
	{"use", compile_use, 0},
};

static int unknown_verb(struct policy_compiler *c, struct diag *d)
{
	const struct policy_word *w = &c->line.word[0];
	const char *near = NULL;
	unsigned best = 3;

	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
		unsigned n = str_distance(verbs[i].name, w->s, 2);

		if (n < best) {
			best = n;
			near = verbs[i].name;
		}
	}
	policy_text_bad(d, &c->line, w, "%s: no such statement, expected %s",
		w->s, near ? near : "allow, deny, ask, list, path, ...");
	diag_hint(d, "see wardbox-policy(1), POLICY FILES");
	return -EINVAL;
}

static int statement(struct policy_compiler *c, struct diag *d)
{
	const struct policy_word *w = &c->line.word[0];

	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
		if (!str_eq(w->s, verbs[i].name))
			continue;
		if ((verbs[i].flags & SYSTEM_ONLY) &&
			c->layer != POLICY_LAYER_SYSTEM)
			return compile_bad(
				c, 0, d, "only the system policy may say this");
		if (!(verbs[i].flags & KEEPS_RULE)) {
			if (c->line.indented)
				return compile_bad(c, 0, d,
					"only `except` may be indented");
			c->last_rule = NO_RULE;
		}
		return verbs[i].fn(c, d);
	}
	return unknown_verb(c, d);
}

int policy_compile_init(struct policy_compiler *c, enum policy_layer layer,
	const struct policy_image *above)
{
	struct img_profile none[POLICY_PROFILES] = {0};
	int rc = build_init(&c->b, layer);

	c->above = above;
	c->layer = layer;
	c->last_rule = NO_RULE;
	c->line.file = NULL;
	for (unsigned i = 0; i < POLICY_PROFILES; i++)
		none[i].as = (uint8_t)i;
	buf_add(&c->b.sect[IMG_PROFILE], none, sizeof(none));
	return rc;
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

/* A system policy that lays down no profile of its own, nor says what it
 * builds upon, builds upon the one that wardbox brings along: "use FULL-AUTO"
 * alone is a policy. */
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

int policy_compile_text(struct policy_compiler *c, const char *file,
	const char *text, size_t n, struct diag *d)
{
	struct policy_text t;
	int rc;

	/* When something was said before, this text adds to that. */
	if (c->layer == POLICY_LAYER_SYSTEM && build_is_empty(&c->b) &&
		builds_upon_default(text, n)) {
		rc = policy_compile_default(c, d);
		if (rc < 0)
			return rc;
	}
	policy_text_init(&t, file, text, n);
	c->file = build_str(&c->b, file, strlen(file));
	c->last_rule = NO_RULE;
	while ((rc = policy_text_next(&t, &c->line, d)) > 0) {
		rc = statement(c, d);
		if (rc < 0)
			return rc;
		if (c->b.err)
			return diag_fail(d, c->b.err, "policy too large");
	}
	return rc;
}
