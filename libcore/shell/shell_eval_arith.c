/* shell_eval_arith.c - what bash does when it evaluates arithmetic
 * SPDX-License-Identifier: MIT
 *
 * Names in arithmetic stand for their values, which are evaluated in turn, and
 * a subscript in any of them is expanded: x='a[$(cmd)]'; echo $((x)) runs cmd.
 */
#include "shell/shell_eval_in.h"

#include <string.h>

#include "base/str.h"

enum { ARITH_DEPTH = 4 };

static void check_text(struct shell_walk *w, struct shell_str s,
	struct shell_span span, unsigned depth);

static void check_value(struct shell_walk *w, const struct shell_val *v,
	struct shell_span span, unsigned depth)
{
	for (unsigned i = 0; v && i < v->n; i++)
		check_text(w, v->alts[i], span, depth);
}

/* The length of an assignment operator at s: = += … ++ --, or 0. */
static bool assigns(struct shell_str s)
{
	size_t i = 0;

	while (i < s.n && (s.p[i] == ' ' || s.p[i] == '\t'))
		i++;
	if (i < s.n && s.p[i] == '[') {
		while (i < s.n && s.p[i] != ']')
			i++;
		i++;
	}
	while (i < s.n && (s.p[i] == ' ' || s.p[i] == '\t'))
		i++;
	if (i + 1 < s.n && (s.p[i] == '+' || s.p[i] == '-') &&
		s.p[i + 1] == s.p[i])
		return true;
	if (i < s.n && s.p[i] == '=')
		return !(i + 1 < s.n && s.p[i + 1] == '=');
	if (i + 1 < s.n && strchr("*/%+-&^|", s.p[i]) && s.p[i + 1] == '=')
		return true;
	return i + 2 < s.n && (s.p[i] == '<' || s.p[i] == '>') &&
	       s.p[i + 1] == s.p[i] && s.p[i + 2] == '=';
}

static bool steps_before(const char *start, const char *at)
{
	while (at > start && (at[-1] == ' ' || at[-1] == '\t'))
		at--;
	return at - start >= 2 && (at[-1] == '+' || at[-1] == '-') &&
	       at[-2] == at[-1];
}

static void check_text(struct shell_walk *w, struct shell_str s,
	struct shell_span span, unsigned depth)
{
	size_t i = 0;

	if (shell_str_runs(s, false) && w->dialect == SHELL_BASH)
		shell_risk(w, SHELL_RISK_SUBSCRIPT, s, span);
	else if (shell_str_unknown(s, false) && w->dialect == SHELL_BASH)
		shell_risk(w, SHELL_RISK_ARITH, s, span);
	while (i < s.n) {
		struct shell_str name = {s.p + i, 0};

		if (!chr_name1(s.p[i])) {
			/* 0x1f and 16#ff are no names. */
			if (chr_digit(s.p[i]))
				while (i < s.n &&
					(chr_name(s.p[i]) || s.p[i] == '#'))
					i++;
			else
				i++;
			continue;
		}
		while (i < s.n && chr_name(s.p[i]))
			i++;
		name.n = (size_t)(s.p + i - name.p);
		if (!shell_step(w))
			return;
		if (depth < ARITH_DEPTH)
			check_value(w, shell_param_value(w, name).v, span,
				depth + 1);
		else
			shell_risk(w, SHELL_RISK_ARITH, name, span);
		if (depth == 0 &&
			(steps_before(s.p, name.p) ||
				assigns((struct shell_str){s.p + i, s.n - i})))
			shell_assign_var(w, name, &shell_val_rel, false, span);
	}
}

/* A number, which may be an unset name. */
static bool is_sum_part(struct shell_walk *w, struct shell_str s)
{
	const struct shell_val *v;

	if (s.n && chr_name1(s.p[0])) {
		v = shell_param_value(w, s).v;
		if (!v)
			return true;
		if (v->n != 1)
			return false;
		s = v->alts[0];
	}
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] != SHELL_NUM && !chr_digit(s.p[i]))
			return false;
	return s.n == 1 || (s.n && s.p[0] != '0');
}

/* Numbers and names with + - * < > between them: what has always a value. */
static bool is_sum(struct shell_walk *w, struct shell_str s)
{
	size_t i = 0, from;

	for (;;) {
		while (i < s.n && s.p[i] == ' ')
			i++;
		for (from = i; i < s.n && (chr_name(s.p[i]) ||
						  s.p[i] == SHELL_NUM);)
			i++;
		if (!is_sum_part(w, (struct shell_str){s.p + from, i - from}))
			return false;
		while (i < s.n && s.p[i] == ' ')
			i++;
		if (i == s.n)
			return true;
		if (!strchr("+-*<>", s.p[i++]))
			return false;
	}
}

void shell_arith_text(struct shell_walk *w, const struct shell_val *text,
	struct shell_span span)
{
	for (unsigned i = 0; i < text->n && !w->err; i++) {
		if (!is_sum(w, text->alts[i]))
			shell_toss(w);
		check_text(w, text->alts[i], span, 0);
	}
}

void shell_check_subscript(struct shell_walk *w, const struct shell_word *sub)
{
	const struct shell_val *v = shell_expand_one(w, sub);

	for (unsigned i = 0; i < v->n; i++) {
		struct shell_str s = v->alts[i];

		if (shell_str_has(s, "$`"))
			shell_risk(w, SHELL_RISK_SUBSCRIPT, s, sub->span);
	}
	shell_arith_text(w, v, sub->span);
}

void shell_check_name(struct shell_walk *w, const struct shell_val *v)
{
	for (unsigned i = 0; i < v->n; i++)
		if (shell_str_runs(v->alts[i], true))
			shell_risk(
				w, SHELL_RISK_SUBSCRIPT, v->alts[i], v->span);
		else if (shell_str_unknown(v->alts[i], false))
			shell_risk(w, SHELL_RISK_ARITH, v->alts[i], v->span);
}
