/* guard_judge.c - may it run: the policy's verdict, a person's answer
 * SPDX-License-Identifier: MIT
 */
#include "guard/guard_in.h"

#include <errno.h>
#include <string.h>

#include "base/kconfig.h"
#include "base/str.h"
#include "base/utf8.h"

/* Judges the shell as a program. Its input is judged by itself, or watched, so
 * the shell is judged with nothing to read. */
static void decide_shell(const struct guard *g,
	const struct policy_request *what, struct policy_verdict *v)
{
	/* Nobody writes to these words. */
	char *const nothing[] = {what->argv[0], (char *)(uintptr_t) "-c",
		(char *)(uintptr_t) ":", NULL};
	struct policy_request unread = *what;
	struct policy_verdict own;

	policy_decide_exec(g->terms.policy, what, &own);
	if (own.is & POLICY_IS_INPUT) {
		unread.argv = nothing;
		policy_decide_exec(g->terms.policy, &unread, &own);
	}
	own.open |= v->open;
	v->open = own.open;
	if (own.decision > v->decision)
		*v = own;
}

/* Denies an open line where there is no watch, because nothing else would
 * decide it. */
static void need_watch(const struct guard *g, struct policy_verdict *v)
{
	if (!g->terms.grants.confine || g->terms.grants.supervise ||
		v->decision > POLICY_OPEN)
		return;
	v->decision = v->would = POLICY_DENY;
	str_copy(v->rule, sizeof v->rule, "stream");
	str_copy(v->reason, sizeof v->reason,
		"a part of it is not known before it runs, and the policy has "
		"supervision off");
	str_copy(v->alternative, sizeof v->alternative,
		"write plain words in place of what the shell expands");
}

void guard_decide(const struct guard *g, struct policy_verdict *v)
{
	const struct guard_command *q = g->command;
	struct policy_request what = {
		.text = q->text,
		.len = q->len,
		.args = q->args,
		.dialect = q->dialect,
		.argv = q->argv,
		.path = q->path,
		.profile = g->terms.profile,
		.cwd = g->place.cwd,
		.root = g->place.root,
		.home = g->place.home,
		.tmp = g->place.tmp,
		.places = g->place.own_name,
		.own = g->place.cache,
		.no_project = g->place.no_project,
		.env = g->box.env.vec,
	};

	switch (q->kind) {
	case GUARD_LINE:
		policy_decide_line(g->terms.policy, &what, v, NULL, NULL);
		break;
	case GUARD_ARGV:
		policy_decide_exec(g->terms.policy, &what, v);
		break;
	case GUARD_STREAM:
		/* A stream is judged as `:`, which only a profile in which
		 * nothing may run denies. */
		what.text = ":";
		what.len = 1;
		policy_decide_line(g->terms.policy, &what, v, NULL, NULL);
		break;
	}
	if (q->named && q->kind != GUARD_ARGV)
		decide_shell(g, &what, v);
	if (v->open || q->kind == GUARD_STREAM)
		need_watch(g, v);
}

static int record_denied(struct guard *g, const struct guard_question *what,
	enum guard_answer answer, struct diag *d)
{
	struct policy_verdict *v = &g->out->verdict;
	const struct audit_fact facts[] = {
		{.key = "rule", .text = v->rule},
		{.key = "answer", .text = guard_answer_name(answer)},
	};
	int err = guard_entry_denial(g, d);

	if (err)
		return err;
	if (v->decision == POLICY_CONFIRM)
		guard_entry_event(g, "ask", facts, ARRAY_SIZE(facts));
	/* A broken policy asks nobody, because no rule of it was read. */
	if (g->terms.policy->state == POLICY_BROKEN) {
		diag_fail(d, -EINVAL, "%s", v->reason);
		diag_hint(d, "%s", g->terms.policy->why.hint);
		return -EINVAL;
	}
	guard_explain(g, v, answer, d);
	guard_told_denial(g, what, false, d);
	g->out->code = GUARD_DENIED;
	return -EACCES;
}

int guard_judge(struct guard *g, struct diag *d)
{
	struct policy_verdict *v = &g->out->verdict;
	const struct guard_question own = {
		.v = v,
		.cwd = g->place.cwd,
		.argv = g->command->kind == GUARD_LINE ? NULL
						       : g->command->argv,
	};
	enum guard_answer answer;

	if (g->caller->narrow && (g->place.inside || !g->terms.grants.confine))
		return diag_fail(d, -ENOTSUP, "less than the policy grants was"
			" asked for, and %s", g->place.inside
				? "a guard around confines the command"
				: "the profile confines nothing");
	if (g->place.inside) {
		str_copy(v->rule, sizeof v->rule, "inside");
		return 0;
	}
	guard_decide(g, v);
	(void)guard_net_denies(g, false, v);
	if (v->decision <= POLICY_OPEN)
		return 0;
	if (v->decision == POLICY_DENY)
		return record_denied(g, &own, GUARD_NO, d);
	answer = guard_ask_now(g, &own);
	if (g->caller->ask_slow && answer != GUARD_YES &&
		answer != GUARD_ALWAYS && answer != GUARD_NEVER)
		guard_unanswered(v, answer == GUARD_NO ? 0
			: answer == GUARD_UNANSWERED ? -ETIMEDOUT : -ENXIO);
	if (answer != GUARD_YES && answer != GUARD_ALWAYS)
		return record_denied(g, &own, answer, d);
	g->out->confirmed = true;
	return 0;
}
