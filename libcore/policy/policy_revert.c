/* policy_revert.c - the command that takes another one back
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/str.h"
#include "policy/policy_judge_in.h"

/* The name of a package, without its version; 0: it says something else. */
static size_t package_name(const char *s)
{
	size_t n = *s == '@';

	while (chr_name(s[n]) || (n && s[n] && strchr(".+-:", s[n])) ||
		(*s == '@' && s[n] == '/'))
		n++;
	return s[n] && !strchr("=<>~!@[", s[n]) ? 0 : n;
}

/* The names behind the words of the rule; false where one is none. */
static bool add_names(const struct parsed *w, size_t from, struct buf *out)
{
	bool named = w->operands > from;

	for (size_t i = from; named && i < w->operands; i++) {
		const size_t n = w->operand[i].many
					 ? 0
					 : package_name(w->operand[i].s);

		buf_adds(out, i > from ? " " : "");
		buf_add(out, w->operand[i].s, n);
		named = n > 0;
	}
	return named;
}

/* "$0 remove $@" with the program's name and those. */
static bool add_inverse(const struct prog *p, const struct parsed *w,
	size_t from, const char *text, struct buf *out)
{
	bool named = p->name;

	for (; named && *text; text++) {
		if (str_after(text, "$0")) {
			buf_adds(out, p->name);
			text++;
		} else if (str_after(text, "$@")) {
			named = add_names(w, from, out);
			text++;
		} else {
			buf_addc(out, *text);
		}
	}
	return named;
}

void judge_revert(struct judge *j, const struct policy_image *img,
	const struct img_rule *r, const struct prog *p, const struct parsed *w,
	size_t from)
{
	char text[sizeof j->revert];
	struct buf b = BUF_FIXED(text);
	const size_t have = strlen(j->revert);
	size_t plain;

	buf_adds(&b, img_str(img, r->text));
	plain = b.len;
	buf_adds(&b, ": ");
	if (!r->alt || !add_inverse(p, w, from, img_str(img, r->alt), &b))
		b.len = plain;
	buf_str(&b);
	/* All of it or none: half of a command is another one. */
	if (!b.err && !str_find(j->revert, text) &&
		have + b.len + 3 < sizeof j->revert)
		buf_print(j->revert + have, sizeof j->revert - have, "%s%s",
			have ? "; " : "", text);
}
