/* guard_explain.c - why a command does not run, and what its caller can do next
 * SPDX-License-Identifier: MIT
 */
#include "guard/guard_in.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "base/utf8.h"

/* The judged words, cut so that the reason and the rule find room. */
static const char *judged_words(
	const struct policy_verdict *v, char text[static sizeof(v->command)])
{
	enum { FRAME = 74 }; /* the longest of the words around them */
	size_t room = sizeof(((struct diag *)0)->text) - FRAME;
	size_t behind = strlen(v->reason) + strlen(v->rule);

	if (!v->command[0])
		return "the line";
	room = behind + 24 < room ? room - behind : 24;
	utf8_cut(text, room < sizeof(v->command) ? room : sizeof(v->command),
		v->command);
	return text;
}

/* The length of a word that can stand in a policy without quotes. */
static size_t plain_word(const char *s)
{
	size_t n = 0;

	while (chr_name(s[n]) || (s[n] && strchr("+-./", s[n])))
		n++;
	return s[n] == ' ' || !s[n] ? n : 0;
}

/* A pattern for the judged command: its program and, where more is meant than
 * any use of that program, its first word. "" when the words cannot be told. */
static const char *pattern_of(
	const struct policy_verdict *v, char text[static sizeof(v->command)])
{
	const char *words = v->command, *more;
	size_t n = plain_word(words), next;
	struct buf b = {.data = text,
		.cap = sizeof(v->command),
		.max = sizeof(v->command) - 1};

	if (!n)
		return "";
	more = words[n] ? words + n + 1 : "";
	next = *more == '-' || v->is & POLICY_IS_UNKNOWN ? 0 : plain_word(more);
	if (memchr(more, '/', next))
		next = 0;
	buf_add(&b, words, n);
	if (next) {
		buf_addc(&b, ' ');
		buf_add(&b, more, next);
	}
	buf_adds(&b, " **");
	return buf_str(&b);
}

/* The line of a policy that would let the command run, where one line
 * suffices. */
static bool add_policy_line(const struct policy_verdict *v, struct buf *out)
{
	char text[sizeof(v->command)];
	const char *pattern = pattern_of(v, text);

	if (!*pattern)
		return false;
	if (v->is & (POLICY_IS_ASK | POLICY_IS_UNKNOWN))
		buf_addf(out, "'allow %s' in %s", pattern, POLICY_SYSTEM);
	else if (v->line && v->layer == POLICY_LAYER_SYSTEM)
		buf_addf(out, "'except id=%s %s' in %s", v->rule, pattern,
			POLICY_SYSTEM);
	else
		return false;
	return true;
}

void guard_advise(const struct policy_verdict *v, struct buf *out)
{
	static const char why[] = "'wardbox policy why' tells all of it";
	if (v->alternative[0]) {
		buf_adds(out, v->alternative);
	} else if (v->layer != POLICY_LAYER_SYSTEM && v->line) {
		buf_addf(out, "%s:%u says so, which who owns it may change",
			v->file, v->line);
	} else if (add_policy_line(v, out)) {
		buf_adds(out, v->is & (POLICY_IS_ASK | POLICY_IS_UNKNOWN)
				      ? " needs no yes"
				      : " lifts that rule");
	} else {
		buf_adds(out, why);
	}
}

const char *guard_answer_name(enum guard_answer answer)
{
	static const char names[] = "no\0yes\0always\0waits\0timeout\0nobody\0"
				    "no approver\0never\0";

	return str_nth(names, (unsigned)answer);
}

/* Says why there was no yes. */
static void say_unasked(const struct guard *g, enum guard_answer answer,
	struct buf *out)
{
	switch (answer) {
	case GUARD_UNANSWERED:
		buf_addf(out, "a person's yes and nobody answered in %u s",
			g->terms.grants.ask_time);
		break;
	case GUARD_NO_APPROVER:
		buf_adds(out, "an approver's yes and nobody answers");
		break;
	case GUARD_NEVER:
		buf_adds(out, "a yes and the policy asks nobody");
		break;
	case GUARD_NO:
	case GUARD_YES:
	case GUARD_ALWAYS:
	case GUARD_WAITS:
	case GUARD_NOBODY:
		buf_adds(out, "a person's yes and there is no terminal to ask"
			      " on");
		break;
	}
}

void guard_explain(const struct guard *g, const struct policy_verdict *v,
	enum guard_answer answer, struct diag *d)
{
	char text[sizeof(v->command)], advice[sizeof d->hint], unasked[80];
	struct buf hint = BUF_FIXED(advice), why = BUF_FIXED(unasked);
	const char *words = judged_words(v, text);

	say_unasked(g, answer, &why);
	if (v->decision == POLICY_DENY)
		diag_fail(d, -EACCES, "denied: %s: %s (rule %s, %s policy)",
			words, v->reason, v->rule, policy_layer_name(v->layer));
	else if (g->caller->ask_slow && v->decision == POLICY_CONFIRM)
		diag_fail(d, -EACCES, "not confirmed: %s: %s (rule %s)", words,
			v->reason, v->rule);
	else if (answer == GUARD_NO)
		diag_fail(d, -EACCES, "not confirmed: %s (rule %s)", words,
			v->rule);
	else
		diag_fail(d, -EACCES, "denied: %s needs %s: %s (rule %s)",
			words, buf_str(&why), v->reason, v->rule);
	guard_advise(v, &hint);
	hint.err = 0;
	diag_hint(d, "%s",
		!v->alternative[0] && g->terms.remark.text[0]
			? g->terms.remark.text
			: buf_str(&hint));
}
