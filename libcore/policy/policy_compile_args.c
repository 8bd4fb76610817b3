/* policy_compile_args.c - policy text to image: what a program's words are
 * SPDX-License-Identifier: MIT
 *
 *	args [style=WORD,...] PROGRAM[,PROGRAM] ITEM...
 *
 * ITEM is NAMES or NAMES=TYPE with any of: ? the argument is attached or not
 * there, ^ it stands for operand 1, ; it ends so, ! it makes files be written.
 * NAMES: -x --long -word +word -# 1 $ *, of= and +* (an operand that begins
 * so); or assign*, cmd, cmd+data, sub alone. The value of -m=sub is a program
 * of its own, "-m/VALUE".
 */
#include <errno.h>
#include <string.h>

#include "base/num.h"
#include "policy/policy_compile.h"
#include "base/str.h"

/* One name of a line. */
struct item {
	uint16_t head; /* img_group_head() without a count; 0: placed */
	char letter;   /* of SHORT and FLAGS */
	uint32_t name;
};

struct line {
	struct policy_compiler *c;
	size_t word; /* the item's, for messages */
	struct buf items;
};

static const char styles[] =
	"words\0strict\0stop\0wrapper\0slash\0data\0shell\0multi\0interp\0bundle\0"
	"stdin\0text\0";

/* In the order of styles. */
static const uint16_t style_flags[] = {
	IMG_S_WORDS,
	IMG_S_STRICT,
	IMG_S_STOP,
	IMG_S_WRAPPER | IMG_S_STRICT | IMG_S_STOP,
	IMG_S_SLASH,
	IMG_S_DATA,
	IMG_S_SHELL,
	IMG_S_MULTI | IMG_S_STOP,
	IMG_S_INTERP | IMG_S_STOP,
	IMG_S_BUNDLE,
	IMG_S_STDIN,
	IMG_S_TEXT,
};

static int style(struct policy_compiler *c, char *s, uint32_t *flags)
{
	while (*s) {
		size_t n = strcspn(s, ",");
		char *next = s + n + (s[n] != 0);
		int i;

		s[n] = 0;
		i = str_index(styles, s);
		if (i < 0)
			return compile_bad(c, 1,
				"no such style, expected words, data, ...");
		*flags |= style_flags[i];
		s = next;
	}
	return 0;
}

static void put(struct line *l, unsigned kind, unsigned type, unsigned flags,
	const char *name, size_t n)
{
	struct item it = {
		.head = (uint16_t)img_group_head(kind, type, flags, 0)};

	if (kind == IMG_I_SHORT && type == IMG_T_FLAG && !flags)
		it.head = (uint16_t)img_group_head(IMG_I_FLAGS, 0, 0, 0);
	if (kind <= IMG_I_FLAGS)
		it.letter = name[1];
	else if (kind < IMG_I_DIGITS)
		it.name = build_str(&l->c->b, name, n);
	buf_add(&l->items, &it, sizeof(it));
}

/* Splits "NAMES=TYPE^" in place: names keeps the names. The type, or -EINVAL;
 * and IMG_F flags. */
static int split_type(struct line *l, char *names, unsigned *flags)
{
	static const char signs[] = "?^;!"; /* IMG_F, in order */
	char *eq = strrchr(names, '='), *end;
	const char *sign;
	int type;

	if (!eq || !eq[1])
		return IMG_T_FLAG;
	for (end = eq + strlen(eq); (sign = strchr(signs, end[-1])); end--) {
		*flags |= 1U << (sign - signs);
		end[-1] = 0;
	}
	*eq = 0;
	type = str_index(IMG_TYPE_NAMES, eq + 1);
	if (type < 0 || type == IMG_T_CMDDATA)
		return compile_bad(l->c, l->word,
			"no such type, expected str, path, wpath, cmd, sh, ...");
	return type;
}

static int one_name(
	struct line *l, unsigned type, unsigned flags, const char *name)
{
	size_t n = strlen(name);
	unsigned kind, pos;

	if (n > 1 && name[n - 1] == '*') {
		kind = IMG_I_PREFIX;
		n--;
	} else if (str_eq(name, "-#")) {
		kind = IMG_I_DIGITS;
	} else if (str_eq(name, "*")) {
		kind = IMG_I_REST;
	} else if (str_eq(name, "$")) {
		kind = IMG_I_LAST;
	} else if (name[0] == '-' && name[1] == '-' && name[2]) {
		kind = IMG_I_LONG;
		name += 2;
		n -= 2;
	} else if (name[0] == '-' && name[1] && !name[2]) {
		kind = IMG_I_SHORT;
	} else if ((name[0] == '-' || name[0] == '+') && name[1]) {
		kind = IMG_I_WORD;
	} else if (num_uint(name, 1, 99, &pos) == 0) {
		struct item it = {.name = pos};

		it.head = (uint16_t)img_group_head(IMG_I_POS, type, flags, 0);
		buf_add(&l->items, &it, sizeof(it));
		return 0;
	} else if (n && name[n - 1] == '=') {
		kind = IMG_I_PREFIX;
	} else {
		return compile_bad(l->c, l->word,
			"expected -x, --long, -word, -#, a number, $, * or "
			"name=");
	}
	put(l, kind, type, flags, name, n);
	return 0;
}

static bool keyword(struct line *l, const char *s)
{
	switch (str_index("assign*\0cmd\0cmd+data\0sub\0", s)) {
	case 0:
		put(l, IMG_I_ASSIGN, IMG_T_ASSIGN, 0, "", 0);
		return true;
	case 1:
		put(l, IMG_I_REST, IMG_T_CMD, 0, "", 0);
		return true;
	case 2:
		put(l, IMG_I_REST, IMG_T_CMDDATA, 0, "", 0);
		return true;
	case 3:
		one_name(l, IMG_T_SUB, 0, "1");
		return true;
	default:
		return false;
	}
}

static int item(struct line *l)
{
	char names[512];
	unsigned flags = 0;
	int type;

	if (keyword(l, l->c->line.word[l->word].s))
		return 0;
	if (str_copy(names, sizeof(names), l->c->line.word[l->word].s) < 0)
		return compile_bad(l->c, l->word, "too long");
	type = split_type(l, names, &flags);
	if (type < 0)
		return type;
	for (char *at = names; *at;) {
		size_t n = strcspn(at, ",");
		char *next = at + n + (at[n] != 0);

		if (n == 0)
			return compile_bad(l->c, l->word,
				"expected NAME[,NAME]=TYPE");
		at[n] = 0;
		if (one_name(l, (unsigned)type, flags, at) < 0)
			return -EINVAL;
		at = next;
	}
	return 0;
}

static void add_cell(struct policy_compiler *c, uint32_t cell)
{
	build_add(&c->b, IMG_ITEM, &cell);
}

/* All of the items that are like the first one, as groups. */
static void place(struct line *l, struct item *first, struct item *end)
{
	struct policy_compiler *c = l->c;
	uint16_t head = first->head;
	unsigned kind = head & 15;
	char letters[128] = "";
	struct buf b = BUF_FIXED(letters);
	uint32_t at = 0, count = 0;

	for (struct item *it = first; it < end; it++) {
		if (it->head != head)
			continue;
		it->head = 0;
		if (kind <= IMG_I_FLAGS) {
			if (it->letter && !memchr(letters, it->letter, b.len))
				buf_addc(&b, it->letter);
			continue;
		}
		if (count % IMG_GROUP_MAX == 0) {
			at = build_count(&c->b, IMG_ITEM);
			add_cell(c, head);
		}
		count++;
		if (kind > IMG_I_POS || kind == IMG_I_DIGITS)
			continue; /* without a name */
		add_cell(c, it->name);
		*(uint32_t *)build_row(&c->b, IMG_ITEM, at) += 1U << 13;
	}
	if (b.len) {
		add_cell(c, head | 1U << 13);
		add_cell(c, build_str(&c->b, letters, b.len));
	}
}

static int items(struct line *l)
{
	struct policy_compiler *c = l->c;

	for (; l->word < c->line.count; l->word++)
		if (item(l) < 0)
			return -EINVAL;
	return 0;
}

static int programs(struct policy_compiler *c, size_t word, uint32_t item)
{
	struct img_schema s = {.item = item};

	for (const char *v = c->line.word[word].s; *v;) {
		size_t n = strcspn(v, ",");

		if (n == 0)
			return compile_bad(
				c, word, "expected PROGRAM[,PROGRAM]");
		s.name = build_str(&c->b, v, n);
		build_add(&c->b, IMG_SCHEMA, &s);
		v += n + (v[n] == ',');
	}
	return 0;
}

int compile_args(struct policy_compiler *c)
{
	struct line l = {.c = c, .word = 2, .items = BUF_INIT(1 << 20)};
	const char *v = c->line.count > 1
				? str_after(c->line.word[1].s, "style=")
				: NULL;
	uint32_t flags = 0;
	struct item *it, *end;
	char text[128] = "";
	int rc;

	if (v && str_copy(text, sizeof(text), v) < 0)
		return compile_bad(c, 1, "too long");
	if (v && style(c, text, &flags) < 0)
		return -EINVAL;
	l.word += v != NULL;
	if (l.word > c->line.count)
		return compile_bad(c, 0, "expected: args PROGRAM ITEM...");
	rc = programs(c, l.word - 1, build_count(&c->b, IMG_ITEM));
	if (rc == 0)
		rc = items(&l);
	if (rc == 0) {
		add_cell(c, flags);
		it = (void *)l.items.data;
		end = it ? it + l.items.len / sizeof(*it) : it;
		for (; it < end; it++)
			if (it->head)
				place(&l, it, end);
		add_cell(c, IMG_I_END);
	}
	buf_release(&l.items);
	return rc;
}
