/* shell_eval_edit.c - ${x/a/b}, ${x:1:2} and ${x^^} of known text
 * SPDX-License-Identifier: MIT
 *
 * Where all shells that know the operator agree; anything else is not known.
 */
#include "shell/shell_eval_in.h"
#include "shell/shell_parse_in.h"

#include <string.h>
#include <strings.h>

#include "base/str.h"

/* The whole word, when it is plain; "" for none. */
static bool plain(const struct shell_word *word, struct shell_str *out)
{
	*out = shell_word_literal(word);
	return !word || !word->parts || out->n;
}

static const struct shell_val *replaced(struct shell_walk *w,
	struct shell_str s, struct shell_str pat, struct shell_str by, bool all)
{
	size_t n = 0, i = 0;
	char *to = s.n * (by.n + 1) < 65536 ? walk_bytes(w, s.n * (by.n + 1))
					    : NULL;

	if (!to || !pat.n || shell_str_has(pat, "*?[(\\") || strchr("#%", pat.p[0]) ||
		shell_str_has(by, "&\\"))
		return &shell_val_any;
	for (bool done = false; i < s.n;) {
		bool fits = !(done && !all) && s.n - i >= pat.n &&
			    strncasecmp(s.p + i, pat.p, pat.n) == 0;

		/* shopt -s nocasematch may or may not count. */
		if (fits && memcmp(s.p + i, pat.p, pat.n) != 0)
			return &shell_val_any;
		if (fits) {
			memcpy(to + n, by.p, by.n);
			n += by.n;
			i += pat.n;
			done = true;
		} else {
			to[n++] = s.p[i++];
		}
	}
	return shell_val_str(w, (struct shell_str){to, n});
}

/* Plain digits, which are no octal number; -1 for other text. */
static int number(struct shell_str s)
{
	return s.n > 4 || (s.n > 1 && s.p[0] == '0') ? -1
	       : s.n                                 ? shell_str_number(s)
						     : 0;
}

static const struct shell_val *sliced(struct shell_walk *w, struct shell_str s,
	const struct shell_param *p, struct shell_str from, struct shell_str len)
{
	int first = number(from), count = number(len);
	size_t at = (size_t)first, n = (size_t)count;

	if (first < 0 || count < 0)
		return &shell_val_any;
	at = at < s.n ? at : s.n;
	if (!p->word2 || n > s.n - at)
		n = s.n - at;
	return shell_val_str(w, (struct shell_str){s.p + at, n});
}

/* mark: ^ , U L */
static const struct shell_val *cased(
	struct shell_walk *w, struct shell_str s, char mark, bool all)
{
	char *to = walk_bytes(w, s.n);

	if (!to)
		return &shell_val_any;
	for (size_t i = 0; i < s.n; i++) {
		bool low = s.p[i] >= 'a' && s.p[i] <= 'z';
		bool flips = chr_alpha(s.p[i]) && (all || i == 0) &&
			     low == (mark == '^' || mark == 'U');

		to[i] = (char)(flips ? s.p[i] ^ 0x20 : s.p[i]);
	}
	return shell_val_str(w, (struct shell_str){to, s.n});
}

static const struct shell_val *edited(struct shell_walk *w, struct shell_str s,
	const struct shell_param *p)
{
	struct shell_str word, word2;

	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] & 0x80)
			return &shell_val_any;
	if (shell_str_unknown(s, true) || !plain(p->word, &word) ||
		!plain(p->word2, &word2))
		return &shell_val_any;
	if (p->op == SHELL_OP_REPLACE)
		return replaced(w, s, word, word2, p->doubled);
	if (p->op == SHELL_OP_SLICE)
		return sliced(w, s, p, word, word2);
	if (word.n || !strchr("^,UL", p->mark))
		return &shell_val_any;
	return cased(w, s, p->mark,
		p->doubled || p->op == SHELL_OP_TRANSFORM);
}

const struct shell_val *shell_edit(struct shell_walk *w,
	const struct shell_val *v, const struct shell_param *p, bool unset)
{
	const struct shell_val *out = unset ? &shell_val_empty : NULL, *one;

	if (!v)
		return &shell_val_empty;
	/* ${@:2} and ${a[@]:2} take elements, and not characters. */
	if (v->many || p->subscript || p->indirect ||
		!chr_name(p->name.p[0]))
		return &shell_val_any;
	for (unsigned i = 0; i < v->n; i++) {
		one = edited(w, v->alts[i], p);
		out = out ? shell_val_union(w, out, one) : one;
	}
	return out;
}
