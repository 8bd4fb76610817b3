/* shell_field.c - one argument under construction
 * SPDX-License-Identifier: MIT
 */
#include "shell/shell_field_in.h"

#include <errno.h>
#include <string.h>

enum { PAT_STAR = '\3', PAT_ONE = '\4', PAT_SET = '\5' };

static bool is_mark(char c)
{
	return c >= PAT_STAR && c <= PAT_SET;
}

/* A byte of the source that would be taken for one of ours. A number's own
 * stands in code that was made with one; $'\6' is no worse than a digit. */
static bool is_reserved(char c)
{
	return c >= SHELL_REL && c < SHELL_NUM;
}

bool shell_has_pattern(struct shell_str s)
{
	return shell_str_has(s, "*?[");
}

void shell_field_reset(struct shell_field *f)
{
	f->n = 1;
	f->alts[0] = (struct shell_str){"", 0};
	f->active = f->many = f->tainted = f->quoted = f->vanishes = false;
}

/* May the pattern component s match ".."? Brackets match anything here. */
static bool matches_up(struct shell_str s, size_t i, unsigned dots)
{
	if (i == s.n)
		return dots == 2;
	if (s.p[i] == PAT_STAR) {
		for (unsigned d = dots; d <= 2; d++)
			if (matches_up(s, i + 1, d))
				return true;
		return false;
	}
	if (s.p[i] == PAT_SET) {
		const char *end = memchr(s.p + i, ']', s.n - i);

		return dots < 2 && end &&
		       matches_up(s, (size_t)(end - s.p) + 1, dots + 1);
	}
	return dots < 2 && (s.p[i] == '.' || s.p[i] == PAT_ONE) &&
	       matches_up(s, i + 1, dots + 1);
}

static bool is_pattern(struct shell_str s)
{
	bool open = false;

	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == PAT_STAR || s.p[i] == PAT_ONE)
			return true;
		open |= s.p[i] == PAT_SET;
		if (open && s.p[i] == ']')
			return true;
	}
	return false;
}

/* Writes the component with what a match leaves unknown, or "..". */
static size_t match_text(struct shell_str s, char *to, bool up, bool literal)
{
	static const char plain[] = "*?[";
	const char *last = s.n ? memrchr(s.p, ']', s.n) : NULL;
	size_t n = 0;

	if (up && !literal && s.n && s.p[0] == '.' && is_pattern(s) &&
		matches_up(s, 0, 0)) {
		to[0] = to[1] = '.';
		return 2;
	}
	for (size_t i = 0; i < s.n; i++) {
		const char *end = NULL;

		if (!is_mark(s.p[i])) {
			to[n++] = s.p[i];
			continue;
		}
		if (s.p[i] == PAT_SET && last > s.p + i)
			end = memchr(s.p + i, ']', s.n - i);
		if (literal || (s.p[i] == PAT_SET && !end)) {
			to[n++] = plain[s.p[i] - PAT_STAR];
			continue;
		}
		if (end)
			i = (size_t)(end - s.p);
		if (!n || to[n - 1] != SHELL_REL)
			to[n++] = SHELL_REL;
	}
	return n;
}

static struct shell_str match(
	struct shell_field *f, struct shell_str s, bool up, bool literal)
{
	char *to = walk_bytes(f->w, 2 * s.n + 2);
	size_t n = 0, i = 0;

	if (!to)
		return s;
	while (i <= s.n) {
		const char *slash =
			i < s.n ? memchr(s.p + i, '/', s.n - i) : NULL;
		size_t len = slash ? (size_t)(slash - s.p) - i : s.n - i;

		n += match_text(
			(struct shell_str){s.p + i, len}, to + n, up, literal);
		if (!slash)
			break;
		to[n++] = '/';
		i += len + 1;
	}
	return (struct shell_str){to, n};
}

static bool has_marks(struct shell_str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (is_mark(s.p[i]))
			return true;
	return false;
}

static struct shell_val *place(struct shell_field *f)
{
	return f->out ? shell_args_add(f->w, f->out) : f->one;
}

/* One alternative, and the second one that a pattern makes of it. Where no file
 * fits, it stays what it was: a[$(cmd)]. */
static void add_alt(struct shell_field *f, struct shell_val *v,
	struct shell_str *alts, struct shell_str s)
{
	struct shell_str up, same;

	if (!has_marks(s)) {
		alts[v->n++] = s;
		return;
	}
	if (!is_pattern(s)) {
		alts[v->n++] = match(f, s, false, true);
		return;
	}
	v->glob = true;
	alts[v->n] = match(f, s, false, false);
	up = match(f, s, true, false);
	if (!shell_str_eq(up, alts[v->n++]))
		alts[v->n++] = up;
	same = match(f, s, false, true);
	if (shell_str_runs(same, false))
		alts[v->n++] = same;
}

void shell_field_finish(struct shell_field *f)
{
	unsigned room = 3 * f->n + 2;
	struct shell_str *alts;
	struct shell_val *v;

	if (!f->active && f->out) {
		shell_field_reset(f);
		return;
	}
	v = place(f);
	alts = walk_zalloc(f->w, room * sizeof(*alts));
	if (!v || !alts)
		return;
	*v = (struct shell_val){.alts = alts,
		.many = f->many,
		.span = f->span};
	for (unsigned i = 0; i < f->n; i++)
		add_alt(f, v, alts, f->alts[i]);
	for (unsigned i = 0; i < f->n && f->vanishes && !f->quoted; i++)
		v->vanishes |= !f->alts[i].n;
	if (f->w->nullglob && v->glob) {
		alts[v->n++] = (struct shell_str){"", 0};
		v->vanishes = true;
	}
	if (f->tainted)
		alts[v->n++] = shell_val_any.alts[0];
	if (v->n > SHELL_MAX_ALTS) {
		alts[0] = shell_val_any.alts[0];
		v->n = 1;
	}
	v->many |= v->glob && f->out;
	shell_val_settle(v);
	shell_field_reset(f);
}

void shell_field_text(struct shell_field *f, struct shell_str s)
{
	struct shell_str none = {"", 0};

	for (unsigned i = 0; i < f->n; i++)
		f->alts[i] = f->alts[i].n
				     ? shell_str_join(f->w, f->alts[i], s, none)
				     : s;
}

void shell_field_source(struct shell_field *f, struct shell_str s, bool quoted)
{
	static const char plain[] = "*?[";
	bool rewrite = false;
	char *to;

	f->active = true;
	for (size_t i = 0; i < s.n && !rewrite; i++)
		rewrite = quoted && is_reserved(s.p[i]);
	rewrite |= !quoted && f->patterns && shell_has_pattern(s);
	if (!rewrite) {
		shell_field_text(f, s);
		return;
	}
	to = walk_bytes(f->w, s.n);
	if (!to)
		return;
	for (size_t i = 0; i < s.n; i++) {
		const char *at = strchr(plain, s.p[i]);

		to[i] = quoted && is_reserved(s.p[i]) ? SHELL_ANY
			: !quoted && f->patterns && at && *at
				? (char)(PAT_STAR + (at - plain))
				: s.p[i];
	}
	shell_field_text(f, (struct shell_str){to, s.n});
}

void shell_field_product(struct shell_field *f, const struct shell_val *v)
{
	struct shell_str none = {"", 0}, old[SHELL_MAX_ALTS];
	unsigned n = f->n;

	if (v->n == 1) {
		shell_field_text(f, v->alts[0]);
		return;
	}
	if (f->n * v->n > SHELL_MAX_ALTS) {
		shell_field_text(f, shell_val_any.alts[0]);
		return;
	}
	memcpy(old, f->alts, n * sizeof(*old));
	f->n = 0;
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < v->n; k++)
			f->alts[f->n++] =
				shell_str_join(f->w, old[i], v->alts[k], none);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

/* Every alternative is one field without a pattern, or, where it is empty,
 * none: then *vanishes. */
static bool is_whole(const struct shell_val *v, bool *vanishes)
{
	*vanishes = false;
	for (unsigned i = 0; i < v->n; i++) {
		struct shell_str s = v->alts[i];

		for (size_t k = 0; k < s.n; k++)
			if (is_blank(s.p[k]) || s.p[k] == SHELL_ANY ||
				strchr("*?[", s.p[k]))
				return false;
		*vanishes |= !s.n;
	}
	return true;
}

/* Where its blanks are is known: only numbers are not. */
static bool can_split(struct shell_str s)
{
	return !shell_str_has(s, SHELL_REL_S SHELL_ANY_S);
}

/* The next field of s; false: there is none. */
static bool next_field(struct shell_str s, size_t *at, struct shell_str *field)
{
	size_t from;

	while (*at < s.n && is_blank(s.p[*at]))
		++*at;
	for (from = *at; *at < s.n && !is_blank(s.p[*at]);)
		++*at;
	*field = (struct shell_str){s.p + from, *at - from};
	return *at > from;
}

/* An argument that is any of the fields of the alternatives with blanks; all:
 * also of those without. */
static void add_fields(
	struct shell_field *f, const struct shell_val *v, bool all)
{
	const struct shell_val *out = NULL, *one;
	struct shell_val *slot;

	for (unsigned i = 0; i < v->n; i++) {
		struct shell_str s = v->alts[i], field;
		size_t at = 0;

		if (!can_split(s) || shell_has_pattern(s))
			continue;
		while (next_field(s, &at, &field)) {
			if (field.n == s.n && !all)
				continue;
			one = shell_val_str(f->w, field);
			out = out ? shell_val_union(f->w, out, one) : one;
		}
	}
	slot = out ? shell_args_add(f->w, f->out) : NULL;
	if (!slot)
		return;
	*slot = *out;
	slot->many = true;
}

void shell_field_split(struct shell_field *f, struct shell_str s)
{
	size_t i = 0;

	while (i < s.n) {
		size_t from = i;

		if (is_blank(s.p[i])) {
			while (i < s.n && is_blank(s.p[i]))
				i++;
			if (f->active)
				shell_field_finish(f);
			continue;
		}
		while (i < s.n && !is_blank(s.p[i]))
			i++;
		shell_field_source(
			f, (struct shell_str){s.p + from, i - from}, false);
	}
}

static bool is_any(const struct shell_val *v)
{
	return v->n == 1 && v->alts->n == 1 && *v->alts->p == SHELL_ANY;
}

static void add_unquoted(struct shell_field *f, const struct shell_val *v)
{
	bool vanishes;

	/* What is not known at all is no better known in pieces. */
	if (f->w->st->own_ifs && !is_any(v) &&
		!(v->kind == SHELL_CONST && !v->alts[0].n)) {
		shell_risk(f->w, SHELL_RISK_IFS, SHELL_STR("IFS"), f->span);
		v = &shell_val_any;
	}
	if (v->n == 1 && !v->many && can_split(v->alts[0])) {
		shell_field_split(f, v->alts[0]);
		return;
	}
	if (is_whole(v, &vanishes) && !(f->mixed && v->many)) {
		f->active = true;
		f->vanishes |= vanishes;
		f->many |= v->many;
		shell_field_product(f, v);
		return;
	}
	if (!f->mixed && !f->active && shell_val_numbers(v)) {
		add_fields(f, v, true);
		return;
	}
	/* Any number of fields, of which the first begins here. */
	f->active = f->many = f->tainted = true;
	shell_field_product(f, v);
	add_fields(f, v, false);
}

void shell_field_value(
	struct shell_field *f, const struct shell_val *v, bool quoted)
{
	if (!quoted && f->patterns && !f->out && v->kind == SHELL_CONST) {
		shell_field_source(f, v->alts[0], false);
		return;
	}
	if (quoted || !f->out) {
		f->active |= quoted || v->kind != SHELL_CONST || v->alts[0].n;
		f->many |= v->many && f->out;
		shell_field_product(f, v);
		return;
	}
	add_unquoted(f, v);
}
