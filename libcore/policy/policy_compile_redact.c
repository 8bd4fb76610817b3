/* policy_compile_redact.c - policy text to image: what is a secret
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <string.h>

#include "base/num.h"
#include "policy/policy_compile.h"
#include "base/str.h"

/* "[A-Za-z0-9_-]" into a bit set; the text behind it, or NULL. */
static const char *byte_class(const char *s, struct img_class *set)
{
	if (*s++ != '[')
		return NULL;
	for (; *s && *s != ']'; s++) {
		unsigned lo = (unsigned char)s[0], hi = lo;

		if (s[1] == '-' && s[2] && s[2] != ']') {
			hi = (unsigned char)s[2];
			s += 2;
		}
		for (; lo <= hi; lo++)
			set->bits[lo / 16] |= 1U << lo % 16;
	}
	return *s ? s + 1 : NULL;
}

/* "{16}" or "{20,200}". */
static bool read_repeat(const char *s, struct img_redact *r)
{
	char text[24];
	char *comma;
	unsigned lo, hi;

	if (*s++ != '{' || !str_ends(s, "}") ||
		str_copy(text, sizeof(text), s) < 0)
		return false;
	text[strlen(text) - 1] = 0;
	comma = strchr(text, ',');
	if (comma)
		*comma++ = 0;
	if (num_uint(text, 1, 4096, &lo) < 0 ||
		num_uint(comma ? comma : text, lo, 4096, &hi) < 0)
		return false;
	r->min = lo;
	r->max = hi;
	return true;
}

static void redact_keys(
	struct policy_compiler *c, struct img_redact *r, const char *s)
{
	while (*s) {
		size_t n = strcspn(s, ",");

		r->key = build_str(&c->b, s, n);
		if (n)
			build_add(&c->b, IMG_REDACT, r);
		s += n + (s[n] == ',');
	}
}

/* The row of an equal class, or a new one. */
static uint32_t class_row(struct policy_compiler *c, const struct img_class *set)
{
	uint32_t n = build_count(&c->b, IMG_CLASS), i = 0;

	while (i < n &&
		memcmp(build_row(&c->b, IMG_CLASS, i), set, sizeof(*set)) != 0)
		i++;
	return i < n ? i : build_add(&c->b, IMG_CLASS, set);
}

/* Tells the whole grammar, because each word depends on the others. */
static int secret_bad(struct policy_compiler *c, size_t i)
{
	return compile_bad(c, i,
		"expected: redact flag PROGRAM [WORD] -x... [name=] [likely], "
		"redact word PROGRAM [WORD] [-x] last|next|rest|N [name/] "
		"[likely], or redact stdin PROGRAM|* [WORD...]");
}

/* Takes the programs as "curl|wget", from "{curl|wget}" or "curl". "*", any
 * program, is "" and stands for standard input alone. */
static int secret_programs(struct policy_compiler *c, struct img_secret *s)
{
	const char *w = c->line.word[2].s;
	const bool many = w[0] == '{' && str_ends(w, "}");
	const size_t n = strlen(w) - (many ? 2 : 0);

	if (s->bits == POLICY_SECRET_STDIN && str_eq(w, "*"))
		return 0;
	w += many;
	if (!n || strcspn(w, "{*?/ \"\\") < n || w[0] == '|' ||
		w[n - 1] == '|' || memmem(w, n, "||", 2))
		return compile_bad(c, 2, "expected a program's bare name, or "
					 "{NAME|NAME...}");
	s->programs = build_str(&c->b, w, n);
	return 0;
}

/* Takes the flag in word i: "-p", its value apart; "-p*", attached; "-*p", the
 * last of some letters. A flag of other letters than the one before gets its
 * own row. */
static int secret_flag(struct policy_compiler *c, size_t i, struct img_secret *s)
{
	const char *w = c->line.word[i].s, *letters = w + strspn(w, "-");
	const size_t dashes = (size_t)(letters - w);
	const bool last = letters[0] == '*';
	size_t n = strlen(letters += last);
	const bool attached = n && letters[n - 1] == '*';
	char flag[sizeof(((struct policy_secret *)0)->flag)] = "--";

	n -= attached;
	if (!n || dashes > 2 || n + dashes >= sizeof(flag) ||
		(last && attached) || memchr(letters, '*', n))
		return secret_bad(c, i);
	memcpy(flag + dashes, letters, n);
	if (s->flag && strcmp(build_text(&c->b, s->flag), flag) != 0) {
		build_add(&c->b, IMG_SECRET, s);
		s->bits &= ~IMG_SECRET_HOW_BITS(15U);
	}
	s->flag = build_str(&c->b, flag, n + dashes);
	s->bits |= IMG_SECRET_HOW_BITS(
		(unsigned)(last	      ? POLICY_FLAG_LAST
				: attached ? POLICY_FLAG_ATTACHED
					   : POLICY_FLAG_APART));
	return 0;
}

/* The words from i to end, behind "redact flag PROGRAM". */
static int secret_flags(struct policy_compiler *c, size_t i, size_t end,
	struct img_secret *s)
{
	const struct policy_word *w = c->line.word;

	if (i < end && (w[i].s[0] != '-' || !w[i].s[1]))
		s->word = compile_word(c, i++);
	if (i == end)
		return secret_bad(c, 0);
	for (; i < end; i++)
		if (w[i].s[0] != '-' || secret_flag(c, i, s) < 0)
			return secret_bad(c, i);
	build_add(&c->b, IMG_SECRET, s);
	return 0;
}

/* The words from i to end, behind "redact word PROGRAM". */
static int secret_word(struct policy_compiler *c, size_t i, size_t end,
	struct img_secret *s)
{
	static const char which[] = "last\0" "1\0" "2\0" "3\0" "4\0" "5\0"
		"6\0" "7\0" "8\0next\0rest\0";
	const struct policy_word *w = c->line.word;
	int n = i < end ? str_index(which, w[end - 1].s) : -1;

	if (n < 0)
		return secret_bad(c, 0);
	end--;
	if (i < end && w[i].s[0] != '-' && !str_eq(w[i].s, "/"))
		s->word = compile_word(c, i++);
	if (i < end && (str_eq(w[i].s, "/") ||
			(w[i].s[0] == '-' && strlen(w[i].s) == 2)))
		s->flag = compile_word(c, i++);
	if (i < end)
		return secret_bad(c, i);
	s->bits |= IMG_SECRET_HOW_BITS((unsigned)n);
	build_add(&c->b, IMG_SECRET, s);
	return 0;
}

/* The words behind "redact stdin PROGRAM", which stand in the command as they
 * do here. */
static int secret_stdin(struct policy_compiler *c, struct img_secret *s)
{
	char told[128];
	struct buf b = BUF_FIXED(told);

	for (size_t i = 3; i < c->line.count; i++)
		buf_addf(&b, "%s%s", b.len || s->programs ? " " : "",
			c->line.word[i].s);
	if (b.err || (!s->programs && !b.len))
		return secret_bad(c, 0);
	s->word = build_str(&c->b, told, b.len);
	build_add(&c->b, IMG_SECRET, s);
	return 0;
}

static int compile_secret(struct policy_compiler *c, enum policy_secret_kind kind)
{
	const struct policy_word *w = c->line.word;
	struct img_secret s = {.bits = kind};
	size_t end = c->line.count, n;

	if (secret_programs(c, &s) < 0)
		return -EINVAL;
	if (kind == POLICY_SECRET_STDIN)
		return secret_stdin(c, &s);
	if (str_eq(w[end - 1].s, "likely")) {
		s.bits |= IMG_SECRET_LIKELY;
		end--;
	}
	/* "user:", or "name=" of a flag, ends the words. */
	n = strlen(w[end - 1].s);
	if (end > 4 && n > 1 && w[end - 1].s[0] != '-' &&
		strchr(kind == POLICY_SECRET_WORD ? "/" : "%,:=",
			w[end - 1].s[n - 1])) {
		s.bits |= IMG_SECRET_SIGN_BITS((unsigned char)w[end - 1].s[n - 1]);
		end--;
	}
	return kind == POLICY_SECRET_FLAG ? secret_flags(c, 3, end, &s)
					  : secret_word(c, 3, end, &s);
}

int compile_redact(struct policy_compiler *c)
{
	const struct policy_word *w = c->line.word;
	struct img_redact r = {0};
	struct img_class set = {0};
	const char *rest;
	int kind;

	if (c->line.count < 3)
		return compile_bad(c, 0,
			"expected: redact ID \"prefix\" [class]{min,max}, or "
			"key=GLOB,...");
	kind = str_index("flag\0word\0stdin\0", w[1].s);
	if (kind >= 0)
		return compile_secret(c, (enum policy_secret_kind)kind);
	r.id = compile_word(c, 1);
	rest = str_after(w[2].s, "key=");
	if (rest && !w[2].quoted && c->line.count == 3) {
		r.class = class_row(c, &set);
		redact_keys(c, &r, rest);
		return 0;
	}
	if (c->line.count != 4 || strlen(w[2].s) < 2)
		return compile_bad(c, 2,
			"expected a prefix of two bytes or more, then "
			"[class]{min,max}");
	rest = byte_class(w[3].s, &set);
	if (!rest || !read_repeat(rest, &r))
		return compile_bad(
			c, 3, "expected a class such as [A-Za-z0-9]{16,40}");
	r.prefix = compile_word(c, 2);
	r.class = class_row(c, &set);
	build_add(&c->b, IMG_REDACT, &r);
	return 0;
}
