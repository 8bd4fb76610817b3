/* shell_val.c - values of the shell walker: sets of texts
 * SPDX-License-Identifier: MIT
 */
#include "shell/shell_eval_in.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"

static const struct shell_str any_text[] = {{SHELL_ANY_S, 1}};
static const struct shell_str rel_text[] = {{SHELL_REL_S, 1}};
static const struct shell_str num_text[] = {{SHELL_NUM_S, 1}};
static const struct shell_str empty_text[] = {{"", 0}};

const struct shell_val shell_val_any = {
	.kind = SHELL_UNKNOWN, .n = 1, .alts = any_text};
const struct shell_val shell_val_rel = {
	.kind = SHELL_BOUNDED, .n = 1, .alts = rel_text};
const struct shell_val shell_val_num = {
	.kind = SHELL_BOUNDED, .n = 1, .alts = num_text};
static const struct shell_str guess_text[] = {{"", 0}, {SHELL_NUM_S, 1}};
const struct shell_val shell_val_guess = {
	.kind = SHELL_BOUNDED, .n = 2, .alts = guess_text};
const struct shell_val shell_val_empty = {
	.kind = SHELL_CONST, .n = 1, .alts = empty_text};

uint32_t shell_str_hash(struct shell_str s)
{
	uint32_t h = 5381;

	for (size_t i = 0; i < s.n; i++)
		h = h * 33 + (unsigned char)s.p[i];
	return h;
}

bool shell_str_eq(struct shell_str a, struct shell_str b)
{
	return a.n == b.n && (!a.n || memcmp(a.p, b.p, a.n) == 0);
}

bool shell_str_is(struct shell_str s, const char *text)
{
	if (!s.n || s.p[0] != text[0])
		return !s.n && !text[0];
	return s.n == strlen(text) && memcmp(s.p, text, s.n) == 0;
}

bool shell_str_in(struct shell_str s, const char *words)
{
	const char *at = s.n && !memchr(s.p, ' ', s.n)
				 ? memmem(words, strlen(words), s.p, s.n)
				 : NULL;

	while (at && (at[-1] != ' ' || at[s.n] != ' '))
		at = memmem(at + 1, strlen(at + 1), s.p, s.n);
	return at;
}

bool shell_str_has(struct shell_str s, const char *bytes)
{
	while (s.n && *bytes)
		if (memchr(s.p, *bytes++, s.n))
			return true;
	return false;
}

int shell_str_number(struct shell_str s)
{
	int n = 0;

	for (size_t i = 0; i < s.n; i++) {
		if (!chr_digit(s.p[i]))
			return -1;
		n = n < SHELL_MAX_NUMBER ? 10 * n + (s.p[i] - '0') : n;
	}
	return s.n ? n : -1;
}

size_t shell_str_name(struct shell_str s)
{
	size_t n = 0;

	while (n < s.n && (n ? chr_name(s.p[n]) : chr_name1(s.p[n])))
		n++;
	return n;
}

size_t shell_str_assigns(struct shell_str s, size_t name)
{
	size_t op = name < s.n && s.p[name] == '+';

	return name + op < s.n && s.p[name + op] == '=' ? op + 1 : 0;
}

bool shell_str_unknown(struct shell_str s, bool rel)
{
	return shell_str_has(s, rel ? SHELL_REL_S SHELL_ANY_S SHELL_NUM_S
				    : SHELL_ANY_S);
}

bool shell_str_runs(struct shell_str s, bool any)
{
	const char *open = s.n ? memchr(s.p, '[', s.n) : NULL;

	if (!open)
		return false;
	s.n -= (size_t)(open - s.p);
	s.p = open;
	return shell_str_has(s, any ? "$`" SHELL_ANY_S : "$`");
}

bool shell_str_may_run(struct shell_str s)
{
	return shell_str_has(s, "$`" SHELL_ANY_S);
}

bool shell_val_numbers(const struct shell_val *v)
{
	for (unsigned i = 0; v && i < v->n; i++)
		for (size_t k = 0; k < v->alts[i].n; k++)
			if (!strchr("0123456789 \t\n" SHELL_NUM_S,
				    v->alts[i].p[k]))
				return false;
	return true;
}

struct shell_str shell_val_prefix(struct shell_str alt)
{
	size_t n = 0;

	while (n < alt.n && alt.p[n] != SHELL_ANY && alt.p[n] != SHELL_REL &&
		alt.p[n] != SHELL_NUM)
		n++;
	return (struct shell_str){alt.p, n};
}

const struct shell_str *shell_val_text(const struct shell_val *v)
{
	return v && v->kind == SHELL_CONST && !v->many ? v->alts : NULL;
}

void shell_val_settle(struct shell_val *v)
{
	v->kind = v->n > 1 ? SHELL_SET : SHELL_CONST;
	for (unsigned i = 0; i < v->n; i++) {
		if (shell_str_unknown(v->alts[i], false)) {
			v->kind = SHELL_UNKNOWN;
			return;
		}
		if (shell_str_unknown(v->alts[i], true))
			v->kind = SHELL_BOUNDED;
	}
}

const struct shell_val *shell_val_str(struct shell_walk *w, struct shell_str s)
{
	struct shell_val *v = walk_new(w, struct shell_val);
	struct shell_str *alt = walk_new(w, struct shell_str);

	if (!v || !alt)
		return &shell_val_any;
	*alt = s;
	v->alts = alt;
	v->n = 1;
	shell_val_settle(v);
	return v;
}

bool shell_val_has(const struct shell_val *v, struct shell_str s)
{
	for (unsigned i = 0; i < v->n; i++)
		if (shell_str_eq(v->alts[i], s))
			return true;
	return false;
}

bool shell_val_same(const struct shell_val *a, const struct shell_val *b)
{
	if (a == b)
		return true;
	if (!a || !b || a->n != b->n || a->many != b->many)
		return false;
	for (unsigned i = 0; i < a->n; i++)
		if (!shell_val_has(b, a->alts[i]))
			return false;
	return true;
}

/* Is all that s stands for something that p stands for? Of what is not known in
 * p, SHELL_REL is only itself here. */
static bool text_within(
	struct shell_walk *w, struct shell_str s, struct shell_str p)
{
	size_t i = 0, k = 0, behind = SIZE_MAX, from = 0;

	for (; i < s.n; w->steps++) {
		if (k < p.n && p.p[k] == SHELL_ANY) {
			behind = ++k;
			from = i;
		} else if (k < p.n && s.p[i] == p.p[k]) {
			i++;
			k++;
		} else if (k < p.n && p.p[k] == SHELL_NUM &&
			   chr_digit(s.p[i])) {
			while (i < s.n && chr_digit(s.p[i]))
				i++;
			k++;
		} else if (behind != SIZE_MAX) {
			k = behind;
			i = ++from;
		} else {
			return false;
		}
	}
	while (k < p.n && p.p[k] == SHELL_ANY)
		k++;
	return k == p.n;
}

bool shell_val_within(struct shell_walk *w, const struct shell_val *a,
	const struct shell_val *b)
{
	if (a == b)
		return true;
	if ((a->many && !b->many) || (a->vanishes && !b->vanishes) ||
		(a->glob && !b->glob))
		return false;
	/* Of numbers one that is not known stands for any. */
	if (b->kind == SHELL_BOUNDED && shell_val_numbers(a) &&
		shell_val_numbers(b))
		return true;
	for (unsigned i = 0; i < a->n; i++) {
		unsigned k = 0;

		while (k < b->n && !text_within(w, a->alts[i], b->alts[k]))
			k++;
		if (k == b->n)
			return false;
	}
	return true;
}

const struct shell_val *shell_val_union(struct shell_walk *w,
	const struct shell_val *a, const struct shell_val *b)
{
	struct shell_val *v;
	struct shell_str *alts;

	a = a ? a : &shell_val_empty;
	b = b ? b : &shell_val_empty;
	if (shell_val_same(a, b))
		return a;
	v = walk_new(w, struct shell_val);
	alts = walk_zalloc(w, (a->n + b->n) * sizeof(*alts));
	if (!v || !alts)
		return &shell_val_any;
	*v = *a;
	v->many |= b->many;
	v->vanishes |= b->vanishes;
	v->array &= b->array;
	v->glob |= b->glob;
	memcpy(alts, a->alts, a->n * sizeof(*alts));
	for (unsigned i = 0; i < b->n; i++)
		if (!shell_val_has(a, b->alts[i]))
			alts[v->n++] = b->alts[i];
	v->alts = alts;
	if (v->n > SHELL_MAX_ALTS) {
		v->n = 1;
		v->alts = any_text;
	}
	shell_val_settle(v);
	return v;
}

const struct shell_val *shell_val_one(
	struct shell_walk *w, const struct shell_val *v)
{
	struct shell_val *one = v->many ? walk_new(w, struct shell_val) : NULL;

	if (!one)
		return v;
	*one = *v;
	one->many = false;
	return one;
}

struct shell_val shell_val_present(
	struct shell_walk *w, const struct shell_val *v)
{
	struct shell_val out = *v;
	struct shell_str *alts;

	if (!v->vanishes)
		return out;
	alts = walk_zalloc(w, v->n * sizeof(*alts));
	if (!alts)
		return shell_val_any;
	out.n = 0;
	for (unsigned i = 0; i < v->n; i++)
		if (v->alts[i].n)
			alts[out.n++] = v->alts[i];
	out.n += !out.n;
	out.alts = alts;
	out.vanishes = false;
	out.many = true;
	shell_val_settle(&out);
	return out;
}

struct shell_str shell_str_join(struct shell_walk *w, struct shell_str a,
	struct shell_str b, struct shell_str c)
{
	char *to = walk_bytes(w, a.n + b.n + c.n + 1);

	if (!to)
		return any_text[0];
	if (a.n)
		memcpy(to, a.p, a.n);
	if (b.n)
		memcpy(to + a.n, b.p, b.n);
	if (c.n)
		memcpy(to + a.n + b.n, c.p, c.n);
	return (struct shell_str){to, a.n + b.n + c.n};
}

const struct shell_val *shell_val_at(struct shell_walk *w,
	const struct shell_val *cwd, const struct shell_val *path)
{
	const struct shell_val *out = NULL;
	struct shell_str slash = SHELL_STR("/");

	for (unsigned i = 0; i < path->n; i++) {
		struct shell_str p = path->alts[i];

		if (p.n && (p.p[0] == '/' || p.p[0] == SHELL_ANY)) {
			const struct shell_val *v = shell_val_str(w, p);

			out = out ? shell_val_union(w, out, v) : v;
			continue;
		}
		for (unsigned k = 0; k < cwd->n; k++) {
			const struct shell_val *v = shell_val_str(
				w, shell_str_join(w, cwd->alts[k], slash, p));

			out = out ? shell_val_union(w, out, v) : v;
		}
	}
	return out ? out : &shell_val_any;
}

/* Once ANY has begun, a ".." may take away more than is known. */
static struct shell_str normal_text(struct shell_walk *w, struct shell_str s)
{
	char *to;
	size_t n = 0, i = 0;

	if (!s.n || s.p[0] != '/' || shell_str_unknown(s, false))
		return s;
	to = walk_bytes(w, s.n + 1);
	if (!to)
		return s;
	while (i < s.n) {
		const char *slash = memchr(s.p + i, '/', s.n - i);
		size_t len = slash ? (size_t)(slash - s.p) - i : s.n - i;

		if (len == 2 && s.p[i] == '.' && s.p[i + 1] == '.') {
			while (n && to[--n] != '/')
				;
		} else if (len && !(len == 1 && s.p[i] == '.')) {
			to[n++] = '/';
			memcpy(to + n, s.p + i, len);
			n += len;
		}
		i += len + 1;
	}
	if (!n)
		to[n++] = '/';
	return (struct shell_str){to, n};
}

const struct shell_val *shell_val_normal(
	struct shell_walk *w, const struct shell_val *v)
{
	const struct shell_val *out = NULL;

	for (unsigned i = 0; i < v->n; i++) {
		const struct shell_val *one =
			shell_val_str(w, normal_text(w, v->alts[i]));

		out = out ? shell_val_union(w, out, one) : one;
	}
	return out;
}
