/* shell_word_brace.c - bash's brace expansion, done on the tree
 * SPDX-License-Identifier: MIT
 *
 * bash expands braces before anything else, and purely by text; so a word with
 * braces is the list of words that come out. One brace is expanded at a time,
 * the leftmost, until none is left.
 */
#include "shell/shell_lex_in.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/num.h"
#include "base/str.h"

enum {
	RANGE_MAX = 10000,
};
static const int64_t RANGE_END = 1000000000000000;

/* A place in a word: a part, and an offset in it when it is literal. */
struct place {
	struct shell_part *part;
	size_t at;
};

struct brace {
	struct place open, close;
	struct place commas[SHELL_MAX_BRACES];
	unsigned ncommas;
};

/* The character of an unquoted literal; 0 for any other part, -1 at the end. */
static int look_brace(const struct place *at)
{
	if (!at->part)
		return -1;
	if (at->part->type != SHELL_LIT || at->at >= at->part->text.n)
		return 0;
	return (unsigned char)at->part->text.p[at->at];
}

static void step_brace(struct place *at)
{
	if (at->part->type == SHELL_LIT && at->at + 1 < at->part->text.n) {
		at->at++;
		return;
	}
	at->part = at->part->next;
	at->at = 0;
}

/* Finds the '}' of a '{'; false when there is none. */
static bool match_brace(struct shell_parser *p, struct place open, struct brace *b)
{
	struct place at = open;
	unsigned depth = 0;

	b->open = open;
	b->ncommas = 0;
	for (; at.part; step_brace(&at)) {
		int c = look_brace(&at);

		if (c == '{') {
			depth++;
		} else if (c == '}' && !--depth) {
			b->close = at;
			return true;
		} else if (c == ',' && depth == 1) {
			if (b->ncommas + 1 >= SHELL_MAX_BRACES) {
				shell_fail(p, -E2BIG, p->tok_at,
					"more than %d brace alternatives",
					SHELL_MAX_BRACES);
				return false;
			}
			b->commas[b->ncommas++] = at;
		}
	}
	return false;
}

/* The parts of [from, to), copied behind **end. */
static void copy_range(struct shell_parser *p, struct place from,
	struct place to, struct shell_part ***end)
{
	while (from.part && !p->err) {
		bool last = from.part == to.part;
		struct shell_part *copy;

		if (last && (from.part->type != SHELL_LIT || to.at <= from.at))
			return;
		copy = shell_new(p, struct shell_part);
		if (!copy)
			return;
		*copy = *from.part;
		copy->next = NULL;
		if (copy->type == SHELL_LIT) {
			size_t stop = last ? to.at : copy->text.n;

			copy->text.p += from.at;
			copy->text.n = stop - from.at;
		}
		**end = copy;
		*end = &copy->next;
		if (last)
			return;
		from = (struct place){from.part->next, 0};
	}
}

/* Makes a word of before + [from, to), or text, + after; a text outside of the
 * source is a number. */
static struct shell_word *build_words(struct shell_parser *p,
	const struct shell_word *w, const struct brace *b, struct place from,
	struct place to, const struct shell_str *text)
{
	struct shell_word *out = shell_new(p, struct shell_word);
	struct place start = {w->parts, 0}, behind = b->close;
	struct shell_part **end, *lit;

	if (!out)
		return NULL;
	out->span = w->span;
	out->quoted = w->quoted;
	end = &out->parts;
	copy_range(p, start, b->open, &end);
	if (text) {
		lit = shell_part(p, text->p ? SHELL_LIT : SHELL_RANGE,
			w->span.start);
		if (!lit)
			return NULL;
		lit->text = *text;
		*end = lit;
		end = &lit->next;
	} else {
		copy_range(p, from, to, &end);
	}
	step_brace(&behind);
	copy_range(p, behind, (struct place){NULL, 0}, &end);
	return out;
}

/* The text in {a..b} or {a..b..step}, when it is one literal. */
static bool range_text(const struct brace *b, struct shell_str *out)
{
	if (b->open.part != b->close.part)
		return false;
	*out = (struct shell_str){b->open.part->text.p + b->open.at + 1,
		b->close.at - b->open.at - 1};
	return memmem(out->p, out->n, "..", 2) != NULL;
}

static bool range_end(const char *s, int64_t *value, bool *letter)
{
	*letter = chr_alpha(s[0]) && !s[1];
	if (*letter) {
		*value = (unsigned char)s[0];
		return true;
	}
	if (s[0] == '+')
		s++;
	return num_i64(s, -RANGE_END, RANGE_END, value) == 0;
}

static struct shell_word *range_word(struct shell_parser *p,
	const struct shell_word *w, const struct brace *b, int64_t i, int width,
	bool letter)
{
	char room[32];
	struct buf text = BUF_FIXED(room);
	struct shell_str s;

	if (letter)
		buf_addc(&text, (char)i);
	else
		buf_addf(&text, "%0*lld", width, (long long)i);
	s = shell_copy(p, text.data, text.len);
	return build_words(p, w, b, b->open, b->open, &s);
}

/* Expands a range. NULL without an error: the text is no range, and stays. */
static struct shell_word *read_range(struct shell_parser *p,
	const struct shell_word *w, const struct brace *b, struct shell_str s)
{
	char ends[3][16] = {"", "", "1"};
	struct shell_word *first = NULL, **end = &first;
	int64_t from, to, by, many;
	bool la, lb, ls;
	unsigned n = 0;
	size_t k = 0;
	int width = 0;

	for (size_t i = 0; i < s.n && k < 3; k++) {
		size_t len = 0;

		while (i + len < s.n && (s.p[i + len] != '.'))
			len++;
		if (len >= sizeof(ends[0]))
			return NULL;
		memcpy(ends[k], s.p + i, len);
		ends[k][len] = '\0';
		i += len + 2;
	}
	if (k < 2 || !range_end(ends[0], &from, &la) ||
		!range_end(ends[1], &to, &lb) || la != lb ||
		!range_end(ends[2], &by, &ls) || ls)
		return NULL;
	for (k = 0; k < 2; k++)
		if (ends[k][ends[k][0] == '-'] == '0' && strlen(ends[k]) > 1)
			width = (int)strlen(ends[0]) > (int)strlen(ends[1])
					? (int)strlen(ends[0])
					: (int)strlen(ends[1]);
	if (la && (from ^ to) & 32)
		return shell_fail(p, -ENOTSUP, p->tok_at,
			"brace range over more than letters");
	by = by < 0 ? -by : by ? by : 1;
	/* The two ends, which rules may name, and one word for the numbers
	 * between. */
	many = (from < to ? to - from : from - to) / by;
	if (many >= SHELL_MAX_BRACES && many < RANGE_MAX && from >= 0 &&
		to >= 0) {
		first = range_word(p, w, b, from, width, la);
		if (first)
			first->next = build_words(p, w, b, b->open, b->open,
				&(struct shell_str){NULL, 0});
		if (first && first->next)
			first->next->next = range_word(p, w, b, to, width, la);
		return first;
	}
	for (;; from += from < to ? by : -by) {
		if (n++ >= SHELL_MAX_BRACES)
			return shell_fail(p, -E2BIG, p->tok_at,
				"more than %d brace alternatives",
				SHELL_MAX_BRACES);
		*end = range_word(p, w, b, from, width, la);
		if (!*end)
			return NULL;
		end = &(*end)->next;
		if (from == to || (from < to ? from + by > to : from - by < to))
			return first;
	}
}

/* Expands the leftmost brace of w; NULL when there is none to expand. */
static struct shell_word *expand_one(
	struct shell_parser *p, const struct shell_word *w)
{
	struct place at = {w->parts, 0};
	struct shell_word *first = NULL, **end = &first;
	struct brace b;
	struct shell_str s;

	for (; at.part && !p->err; step_brace(&at)) {
		if (look_brace(&at) != '{' || !match_brace(p, at, &b))
			continue;
		if (!b.ncommas) {
			if (range_text(&b, &s) && (first = read_range(p, w, &b, s)))
				return first;
			continue;
		}
		for (unsigned i = 0; i <= b.ncommas; i++) {
			struct place from = i ? b.commas[i - 1] : b.open;

			step_brace(&from);
			*end = build_words(p, w, &b, from,
				i < b.ncommas ? b.commas[i] : b.close, NULL);
			if (!*end)
				return NULL;
			end = &(*end)->next;
		}
		return first;
	}
	return NULL;
}

/* bash reads the resulting words anew: "$a{b,}" is $ab, "{~,x}/y" has a tilde,
 * "{$,}a" a variable. Words whose parts would change are refused. */
static bool is_reread(const struct shell_word *w)
{
	char before = 0;

	for (const struct shell_part *q = w->parts; q; q = q->next) {
		const struct shell_part *next = q->next;

		if (q->type == SHELL_PARAM && !q->u.param->braces && next &&
			next->type == SHELL_LIT && next->text.n &&
			chr_name1(q->u.param->name.p[0]) &&
			chr_name(next->text.p[0]))
			return true;
		for (size_t i = 0; q->type == SHELL_LIT && i < q->text.n; i++) {
			char c = q->text.p[i];

			if (c == '$' ||
				(c == '~' && (!before || before == '=' ||
						     before == ':')))
				return true;
			before = c;
		}
		if (q->type != SHELL_LIT)
			before = 'x';
	}
	return false;
}

static bool may_have(const struct shell_word *w)
{
	for (const struct shell_part *q = w->parts; q; q = q->next)
		if (q->type == SHELL_LIT && shell_str_has(q->text, "{"))
			return true;
	return false;
}

void shell_braces(struct shell_parser *p, struct shell_word *w)
{
	struct shell_word *list, **at;
	unsigned n = 0;

	if (p->err || !w || !may_have(w))
		return;
	list = expand_one(p, w);
	if (!list || !shell_is(p, D_BASH))
		return;
	for (at = &list; *at && !p->err;) {
		struct shell_word *more = expand_one(p, *at), *last = more;

		if (!more) {
			if (is_reread(*at))
				shell_fail(p, -ENOTSUP, w->span.start,
					"braces that make another expansion");
			at = &(*at)->next;
			if (++n > SHELL_MAX_BRACES)
				shell_fail(p, -E2BIG, w->span.start,
					"more than %d brace alternatives",
					SHELL_MAX_BRACES);
			continue;
		}
		while (last->next)
			last = last->next;
		last->next = (*at)->next;
		*at = more;
	}
	w->braces = list;
}
