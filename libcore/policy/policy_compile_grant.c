/* policy_compile_grant.c - the statements of what a command may have
 * SPDX-License-Identifier: MIT
 */
#include "policy/policy_compile.h"

#include <errno.h>
#include <string.h>

#include "base/num.h"
#include "base/str.h"

/* r or rw. */
static int path_mode(const struct policy_word *w)
{
	return str_eq(w->s, "r") ? 0 : str_eq(w->s, "rw") ? 1 : -1;
}

/* Is the path absolute, or beneath a place that is known when a command
 * runs? */
static bool is_absolute(const char *s, bool places)
{
	return s[0] == '/' || (places && (str_after(s, "$ROOT") ||
						 str_after(s, "$HOME")));
}

static int add_absolutes(struct policy_compiler *c, size_t from, bool places)
{
	for (size_t i = from; i < c->line.count; i++) {
		struct policy_word *w = &c->line.word[i];

		if (!is_absolute(w->s, places))
			return compile_bad(c, i,
				places ? "expected an absolute path, $ROOT/... "
					 "or $HOME/..."
				       : "expected an absolute directory");
		/* A tree's pattern without its end is a directory. */
		if (places && str_eq(w->s, "/**"))
			w->s = "//**";
	}
	return 0;
}

int compile_path(struct policy_compiler *c)
{
	struct img_path row = {0};
	int rw = c->line.count < 3 ? -1 : path_mode(&c->line.word[1]);

	if (rw < 0)
		return compile_bad(c, 1, "expected: path r|rw PATTERN...");
	row.write = (uint32_t)rw;
	if (add_absolutes(c, 2, true) < 0)
		return -EINVAL;
	for (size_t i = 2; i < c->line.count; i++) {
		row.pattern = compile_word(c, i);
		build_add(&c->b, IMG_PATH, &row);
	}
	return 0;
}

int compile_protect(struct policy_compiler *c)
{
	const struct policy_word *w = c->line.word;
	struct img_protect row = {.file = c->file};
	const char *prof = c->line.count > 1 ? str_after(w[1].s, "prof=") : NULL;
	size_t i = prof ? 2 : 1;
	int mask = compile_profiles(c, 1, prof ? prof : "*");
	int d = i < c->line.count ? str_index("confirm\0deny\0", w[i].s) : -1;

	if (mask < 0)
		return -EINVAL;
	if (d < 0)
		return compile_bad(c, i, "expected confirm or deny");
	row.profiles = (uint32_t)mask;
	row.decision = (uint32_t)d + POLICY_CONFIRM;
	if (++i == c->line.count)
		return compile_bad(c, i, "protect: expected a pattern");
	if (c->line.text.s)
		row.text = build_str(
			&c->b, c->line.text.s, strlen(c->line.text.s));
	for (; i < c->line.count; i++) {
		if (w[i].s[0] == '/' || str_after(w[i].s, "../"))
			return compile_bad(
				c, i, "expected a path relative to the root");
		row.pattern = compile_word(c, i);
		row.line = w[i].line;
		build_add(&c->b, IMG_PROTECT, &row);
	}
	return 0;
}

static int add_set(struct policy_compiler *c, enum img_set set, size_t from)
{
	if (c->line.count <= from)
		return compile_bad(c, 0, "expected at least one word behind it");
	for (size_t i = from; i < c->line.count; i++)
		build_word(&c->b, IMG_SET, set, c->line.word[i].s);
	return 0;
}

int compile_relax(struct policy_compiler *c)
{
	for (size_t i = 1; i < c->line.count; i++) {
		unsigned part = 0;

		while (part < POLICY_PROTECTIONS &&
			!str_eq(policy_protections[part], c->line.word[i].s))
			part++;
		if (part == POLICY_PROTECTIONS)
			return compile_bad(c, i,
				"expected protections: landlock, seccomp ...");
	}
	return add_set(c, IMG_SET_RELAX, 1);
}

int compile_runtime(struct policy_compiler *c)
{
	static const enum img_set of[] = {
		IMG_SET_RUN_R, IMG_SET_RUN_RW, IMG_SET_RUN_RX};
	int mode = c->line.count < 3
		? -1
		: str_index("r\0rw\0rx\0", c->line.word[1].s);

	if (mode < 0)
		return compile_bad(
			c, 1, "expected: runtime r|rw|rx PATTERN...");
	if (add_absolutes(c, 2, true) < 0)
		return -EINVAL;
	return add_set(c, of[mode], 2);
}

int compile_exec(struct policy_compiler *c)
{
	return add_absolutes(c, 1, true) < 0 ? -EINVAL
					 : add_set(c, IMG_SET_EXEC, 1);
}

int compile_hide(struct policy_compiler *c)
{
	for (size_t i = 1; i < c->line.count; i++)
		if (strpbrk(c->line.word[i].s, "*?"))
			return compile_bad(c, i,
				"expected the name of a file or directory");
	return add_absolutes(c, 1, true) < 0 ? -EINVAL
					 : add_set(c, IMG_SET_HIDE, 1);
}

/* Is the word one of the bounds, KEY=VALUE? Keys are in the order of
 * guard_undo.c. */
static bool is_bound(const char *s)
{
	const char *eq = strchr(s, '=');
	char key[16];
	uint64_t n;

	if (!eq || (size_t)(eq - s) >= sizeof key)
		return false;
	memcpy(key, s, (size_t)(eq - s));
	key[eq - s] = '\0';
	switch (str_index(POLICY_UNDO_KEYS, key)) {
	case 0:
	case 1:
	case 5:
		return !num_size(eq + 1, 1, UINT64_MAX, &n);
	case 2:
		return !num_u64(eq + 1, 1, 1 << 20, &n);
	case 3:
		return !num_duration(eq + 1, 1, UINT64_MAX, &n);
	case 4:
		return str_index(POLICY_UNDO_OVERS, eq + 1) >= 0;
	}
	return false;
}

int compile_undo(struct policy_compiler *c)
{
	for (size_t i = 1; i < c->line.count; i++)
		if (!is_bound(c->line.word[i].s) &&
			(!is_absolute(c->line.word[i].s, true) ||
				strpbrk(c->line.word[i].s, "*?")))
			return compile_bad(c, i,
				"expected an absolute directory, bytes=512M "
				"keep=2G session=1G entries=200000 age=7d, "
				"or over=go|ask|refuse");
	return add_set(c, IMG_SET_UNDO, 1);
}

/* `root` takes the names of markers, paths that are projects, and behind
 * `never` paths that are none. */
int compile_root(struct policy_compiler *c)
{
	const struct policy_word *w = c->line.word;

	if (c->line.count > 1 && str_eq(w[1].s, "never"))
		return add_absolutes(c, 2, true) < 0
			? -EINVAL
			: add_set(c, IMG_SET_NEVER, 2);
	for (size_t i = 1; i < c->line.count; i++)
		if (strpbrk(w[i].s, "/$") && !is_absolute(w[i].s, true))
			return compile_bad(c, i,
				"expected a name, or a directory's whole path");
	return add_set(c, IMG_SET_ROOT, 1);
}

/* The last '=' ends the part before the directory, which is one name or two: no
 * directory is made below links of others. */
int compile_cache(struct policy_compiler *c)
{
	for (size_t i = 1; i < c->line.count; i++) {
		const char *s = c->line.word[i].s, *eq = strchr(s, '=');
		const char *dir = eq ? strrchr(s, '=') + 1 : "";

		if (s[0] == '/' && !eq)
			continue;
		if (!eq || !str_is_name(s, (size_t)(eq - s)) || !*dir ||
			dir[strspn(dir, "abcdefghijklmnopqrstuvwxyz0123456789-"
					"_/")] ||
			*dir == '/')
			return compile_bad(c, i, "expected NAME=DIRECTORY, or "
				"the absolute path of all of them");
	}
	return add_set(c, IMG_SET_CACHE, 1);
}

/* FILE or FILE:SETTING, FILE below the home. */
int compile_home(struct policy_compiler *c)
{
	for (size_t i = 1; i < c->line.count; i++) {
		const char *s = c->line.word[i].s;
		const size_t n = strcspn(s, ":");

		if (!n || *s == '/' || s[n - 1] == '/' || str_find(s, "//") ||
			str_find(s, "..") || strcspn(s, "*?$~") < n ||
			(s[n] && !s[n + 1]))
			return compile_bad(c, i,
				"expected FILE or FILE:SETTING, FILE as it is "
				"called below the home");
	}
	return add_set(c, IMG_SET_HOME, 1);
}

int compile_env(struct policy_compiler *c)
{
	const struct policy_word *w = c->line.word;
	int which = c->line.count > 1 ? str_index("keep\0set\0deny\0", w[1].s)
				      : -1;

	if (which < 0 || c->line.count < 3)
		return compile_bad(c, c->line.count > 1 && which < 0,
			"expected: env keep|deny NAME..., or "
			"env set NAME=VALUE...");
	/* PATH, LD_PRELOAD and PAGER let their setter run any program. */
	if (which == 1 && compile_system_alone(c, 1) < 0)
		return -EINVAL;
	for (size_t i = 2; which == 1 && i < c->line.count; i++) {
		const char *eq = strchr(w[i].s, '=');

		if (!eq || !str_is_name(w[i].s, (size_t)(eq - w[i].s)))
			return compile_bad(c, i, "expected NAME=VALUE");
	}
	return add_set(c, IMG_SET_ENV_KEEP + (unsigned)which, 2);
}
