/* policy_compile_reads.c - policy text to image: how a program's words are read
 * SPDX-License-Identifier: MIT
 *
 *	reads PROGRAM[,PROGRAM] ITEM...
 *
 * ITEM: -x,--long for options that take a value, with a type; or a word of
 * READS_WORDS, or how many operands stand before the command.
 */
#include <errno.h>
#include <string.h>

#include "base/num.h"
#include "base/str.h"
#include "policy/policy_compile.h"

static void add_ref(struct policy_compiler *c, struct img_range *r,
	const char *name, size_t n, const char *type)
{
	char text[128] = "";
	struct buf b = BUF_FIXED(text);
	uint32_t off;

	buf_addf(&b, "%.*s%s", (int)n, name, type);
	buf_str(&b);
	off = build_str(&c->b, text, strlen(text));
	build_add(&c->b, IMG_REF, &off);
	r->count++;
}

static int reads_item(struct policy_compiler *c, size_t i, struct img_range *r)
{
	const char *s = c->line.word[i].s;
	const size_t n = strcspn(s, "=");
	unsigned skip;

	if (!strchr("-+", *s)) {
		if (str_index(READS_WORDS,
			    s) < 0 &&
			num_uint(s, 1, 9, &skip) < 0)
			return compile_bad(c, i,
				"expected -x, --long, a number, cmd, assign, ...");
		add_ref(c, r, s, strlen(s), "");
		return 0;
	}
	if (s[n] && str_index(READS_TYPES, s + n + 1) < 0)
		return compile_bad(c, i,
			"no such type, expected sh, cmd, str, none, ...");
	for (size_t at = 0; at < n;) {
		const size_t m = strcspn(s + at, ",=");

		if (m < 2 || m > 100 || !strchr("-+", s[at]))
			return compile_bad(c, i, "expected -x,--long");
		add_ref(c, r, s + at, m, s + n);
		at += m + (s[at + m] == ',');
	}
	return 0;
}

/* The row of the program called name[0..n). If a program has two lines, the
 * later one holds. */
static uint32_t row_of(struct policy_compiler *c, const char *name, size_t n)
{
	const uint32_t count = build_count(&c->b, IMG_READS);
	struct img_reads new = {.name = 0};
	uint32_t i = 0;

	for (; i < count; i++) {
		const struct img_reads *row = build_row(&c->b, IMG_READS, i);
		const char *have = build_text(&c->b, row->name);

		if (strncmp(have, name, n) == 0 && !have[n])
			return i;
	}
	new.name = build_str(&c->b, name, n);
	return build_add(&c->b, IMG_READS, &new);
}

int compile_reads(struct policy_compiler *c)
{
	struct img_range r = {.first = build_count(&c->b, IMG_REF)};

	if (c->line.count < 3)
		return compile_bad(c, 0, "expected: reads PROGRAM ITEM...");
	for (size_t i = 2; i < c->line.count; i++)
		if (reads_item(c, i, &r) < 0)
			return -EINVAL;
	for (const char *v = c->line.word[1].s; *v;) {
		size_t n = strcspn(v, ",");
		struct img_reads *row;

		if (n == 0)
			return compile_bad(c, 1, "expected PROGRAM[,PROGRAM]");
		row = build_row(&c->b, IMG_READS, row_of(c, v, n));
		row->ref = r;
		v += n + (v[n] == ',');
	}
	return 0;
}
