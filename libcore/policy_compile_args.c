/* policy_compile_args.c - policy text to image: what a program's words are
 * SPDX-License-Identifier: MIT
 *
 *	args [style=WORD,...] PROGRAM[,PROGRAM] ITEM...
 *
 * ITEM is NAMES or NAMES=TYPE with any of: ? the argument is attached or not
 * there, ^ it stands for operand 1, ; it ends so, ! it makes files be written.
 * NAMES: -x --long -word +word -# 1 $ *, of= and +* (an operand that begins
 * so); or assign*, cmd, cmd+data, sub alone.
 */
#include <errno.h>
#include <string.h>

#include "num.h"
#include "policy_compile.h"
#include "str.h"

static const struct {
	char name[8];
	uint8_t type;
} types[] = {
	{"flag", IMG_T_FLAG},
	{"str", IMG_T_STR},
	{"num", IMG_T_NUM},
	{"path", IMG_T_PATH},
	{"wpath", IMG_T_WPATH},
	{"cpath", IMG_T_CPATH},
	{"gitkey", IMG_T_GITKEY},
	{"exec", IMG_T_EXEC},
	{"cmd", IMG_T_CMD},
	{"sh", IMG_T_SH},
	{"code", IMG_T_CODE},
	{"script", IMG_T_SCRIPT},
	{"assign", IMG_T_ASSIGN},
	{"sed", IMG_T_SED},
	{"awk", IMG_T_AWK},
	{"name", IMG_T_NAME},
	{"deny", IMG_T_DENY},
	{"ask", IMG_T_ASK},
	{"url", IMG_T_URL},
	{"prog", IMG_T_PROG},
	{"prop", IMG_T_PROP},
	{"repl", IMG_T_REPL},
	{"link", IMG_T_LINK},
	{"data", IMG_T_DATA},
};

static const struct {
	char name[8];
	uint32_t flag;
} styles[] = {
	{"words", IMG_S_WORDS},
	{"strict", IMG_S_STRICT},
	{"stop", IMG_S_STOP},
	{"wrapper", IMG_S_WRAPPER | IMG_S_STRICT | IMG_S_STOP},
	{"slash", IMG_S_SLASH},
	{"data", IMG_S_DATA},
	{"shell", IMG_S_SHELL},
	{"interp", IMG_S_INTERP | IMG_S_STOP},
	{"stdin", IMG_S_STDIN},
	{"bundle", IMG_S_BUNDLE},
	{"multi", IMG_S_MULTI | IMG_S_STOP},
};

static int style(struct policy_compiler *c, size_t i, const char *s,
	uint32_t *flags, struct diag *d)
{
	while (*s) {
		size_t n = strcspn(s, ","), k = 0;

		while (k < ARRAY_SIZE(styles) &&
			(strncmp(styles[k].name, s, n) != 0 ||
				styles[k].name[n]))
			k++;
		if (k == ARRAY_SIZE(styles))
			return compile_bad(c, i, d,
				"expected words, strict, stop, wrapper, slash, "
				"data, shell, interp, stdin, bundle or multi");
		*flags |= styles[k].flag;
		s += n + (s[n] == ',');
	}
	return 0;
}

/* Splits "NAMES=TYPE^" in place: *names keeps the names. */
static int split_type(struct policy_compiler *c, size_t i, char *names,
	struct img_item *it, struct diag *d)
{
	char *eq = strrchr(names, '='), *end;

	it->type = IMG_T_FLAG;
	if (!eq || !eq[1])
		return 0;
	for (end = eq + strlen(eq); strchr("?^;!", end[-1]); end--) {
		if (end[-1] == '?')
			it->flags |= IMG_F_OPTIONAL;
		else if (end[-1] == '^')
			it->flags |= IMG_F_SHIFT;
		else if (end[-1] == '!')
			it->flags |= IMG_F_WRITES;
		else
			it->flags |= IMG_F_UNTIL;
		end[-1] = 0;
	}
	*eq = 0;
	for (size_t k = 0; k < ARRAY_SIZE(types); k++) {
		if (str_eq(types[k].name, eq + 1)) {
			it->type = types[k].type;
			return 0;
		}
	}
	return compile_bad(c, i, d,
		"no such type, expected str, path, wpath, cmd, sh, ...");
}

static int name_kind(struct policy_compiler *c, size_t i, const char *name,
	struct img_item *it, struct diag *d)
{
	size_t n = strlen(name);
	unsigned pos;

	if (n > 1 && name[n - 1] == '*') {
		it->kind = IMG_I_PREFIX;
		it->name = build_str(&c->b, name, n - 1);
		return 0;
	}
	if (str_eq(name, "-#"))
		it->kind = IMG_I_DIGITS;
	else if (str_eq(name, "*"))
		it->kind = IMG_I_REST;
	else if (str_eq(name, "$"))
		it->kind = IMG_I_LAST;
	else if (name[0] == '-' && name[1] == '-' && name[2])
		it->kind = IMG_I_LONG;
	else if (name[0] == '-' && name[1] && !name[2])
		it->kind = IMG_I_SHORT;
	else if ((name[0] == '-' || name[0] == '+') && name[1])
		it->kind = IMG_I_WORD;
	else if (num_uint(name, 1, 99, &pos) == 0) {
		it->kind = IMG_I_POS;
		it->pos = (uint8_t)pos;
	} else if (name[0] && name[strlen(name) - 1] == '=')
		it->kind = IMG_I_PREFIX;
	else
		return compile_bad(c, i, d,
			"expected -x, --long, -word, -#, a number, $, * or "
			"name=");
	it->name = build_str(&c->b, name, strlen(name));
	return 0;
}

static bool keyword(
	struct policy_compiler *c, const char *s, struct img_item *it)
{
	*it = (struct img_item){.kind = IMG_I_REST};
	if (str_eq(s, "assign*")) {
		it->kind = IMG_I_ASSIGN;
		it->type = IMG_T_ASSIGN;
	} else if (str_eq(s, "cmd")) {
		it->type = IMG_T_CMD;
	} else if (str_eq(s, "cmd+data")) {
		it->type = IMG_T_CMDDATA;
	} else if (str_eq(s, "sub")) {
		it->kind = IMG_I_POS;
		it->pos = 1;
		it->type = IMG_T_SUB;
	} else {
		return false;
	}
	build_add(&c->b, IMG_ITEM, it, sizeof(*it));
	return true;
}

/* "-a,-b,-c": only letters without effect, which one item holds. */
static bool letters(struct policy_compiler *c, const char *names)
{
	struct img_item it = {.kind = IMG_I_FLAGS};
	char name[64];
	size_t n = 0;

	for (const char *at = names; *at; at += 2) {
		if (at != names && *at++ != ',')
			return false;
		if (at[0] != '-' || !at[1] || at[1] == '#' || at[1] == '-' ||
			n == sizeof(name))
			return false;
		name[n++] = at[1];
	}
	it.name = build_str(&c->b, name, n);
	build_add(&c->b, IMG_ITEM, &it, sizeof(it));
	return true;
}

static int item(struct policy_compiler *c, size_t i, struct diag *d)
{
	struct img_item it;
	char names[512], one[128];

	if (keyword(c, c->line.word[i].s, &it))
		return 0;
	if (str_copy(names, sizeof(names), c->line.word[i].s) < 0)
		return compile_bad(c, i, d, "too long");
	if (split_type(c, i, names, &it, d) < 0)
		return -EINVAL;
	if (it.type == IMG_T_FLAG && !it.flags && letters(c, names))
		return 0;
	for (const char *at = names; *at;) {
		size_t n = strcspn(at, ",");

		if (n == 0 || n >= sizeof(one))
			return compile_bad(
				c, i, d, "expected NAME[,NAME]=TYPE");
		memcpy(one, at, n);
		one[n] = 0;
		if (name_kind(c, i, one, &it, d) < 0)
			return -EINVAL;
		build_add(&c->b, IMG_ITEM, &it, sizeof(it));
		at += n + (at[n] == ',');
	}
	return 0;
}

int compile_args(struct policy_compiler *c, struct diag *d)
{
	struct img_schema s = {0};
	const char *v;
	size_t i = 1, progs;

	if (i < c->line.count && (v = str_after(c->line.word[i].s, "style=")) &&
		style(c, i++, v, &s.flags, d) < 0)
		return -EINVAL;
	progs = i++;
	if (progs >= c->line.count)
		return compile_bad(c, 0, d, "expected: args PROGRAM ITEM...");
	s.item.first = build_count(&c->b, IMG_ITEM, sizeof(struct img_item));
	for (; i < c->line.count; i++)
		if (item(c, i, d) < 0)
			return -EINVAL;
	s.item.count = build_count(&c->b, IMG_ITEM, sizeof(struct img_item)) -
		       s.item.first;
	for (v = c->line.word[progs].s; *v;) {
		size_t n = strcspn(v, ",");

		if (n == 0)
			return compile_bad(
				c, progs, d, "expected PROGRAM[,PROGRAM]");
		s.name = build_str(&c->b, v, n);
		build_add(&c->b, IMG_SCHEMA, &s, sizeof(s));
		v += n + (v[n] == ',');
	}
	return 0;
}
