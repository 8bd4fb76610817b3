/* guard_judge.c - may it run: the policy's verdict, a person's answer
 * SPDX-License-Identifier: MIT
 */
#include "guard/guard_in.h"

#include <errno.h>
#include <string.h>

#include "base/kconfig.h"
#include "base/str.h"
#include "base/utf8.h"

/* What the policy says of the shell as a program. What it reads is known or
 * watched here: not for that it asks, so it is judged with nothing to read. */
static void decide_shell(struct guard *g, const struct policy_request *what,
	struct policy_verdict *v)
{
	/* Nobody writes to it. */
	char *const nothing[] = {what->argv[0], (char *)(uintptr_t)"-c",
		(char *)(uintptr_t)":", NULL};
	struct policy_request unread = *what;
	struct policy_verdict own;

	policy_decide_exec(g->policy, what, &own);
	if (str_eq(own.rule, "stdin")) {
		unread.argv = nothing;
		policy_decide_exec(g->policy, &unread, &own);
	}
	own.open |= v->open;
	v->open = own.open;
	if (own.decision > v->decision)
		*v = own;
}

/* The watch decides what is open; without the watch nothing would. */
static void need_watch(const struct guard *g, struct policy_verdict *v)
{
	if (!g->grants.confine || g->grants.supervise ||
		v->decision > POLICY_OPEN)
		return;
	v->decision = v->would = POLICY_DENY;
	str_copy(v->rule, sizeof v->rule, "stream");
	str_copy(v->reason, sizeof v->reason,
		"a part of it is not known before it runs, and the policy has "
		"supervision off");
}

static void decide(struct guard *g)
{
	const struct guard_request *q = g->q;
	struct policy_verdict *v = &g->r->verdict;
	struct policy_request what = {
		.text = q->text,
		.len = q->len,
		.args = q->args,
		.dialect = q->dialect,
		.argv = q->argv,
		.path = q->path,
		.profile = g->r->profile,
		.cwd = g->cwd,
		.root = g->root,
		.home = g->home,
		.tmp = g->tmp,
		.places = g->place_names,
		.own = g->cache,
		.no_project = g->no_project,
		.env = g->env.vec,
	};

	switch (q->kind) {
	case GUARD_LINE:
		policy_decide_line(g->policy, &what, v, NULL, NULL);
		g->brief = !q->startup && v->neutral &&
			!memmem(q->text, q->len, "/etc", 4) &&
			!memmem(q->text, q->len, "/proc", 5);
		break;
	case GUARD_ARGV:
		policy_decide_exec(g->policy, &what, v);
		break;
	case GUARD_STREAM:
		/* Where nothing may run, it does not start. */
		what.text = ":";
		what.len = 1;
		policy_decide_line(g->policy, &what, v, NULL, NULL);
		break;
	}
	if (q->named && q->kind != GUARD_ARGV)
		decide_shell(g, &what, v);
	if (v->open || q->kind == GUARD_STREAM)
		need_watch(g, v);
}

int guard_put(struct guard *g, const struct guard_question *what)
{
	autobuf struct buf line = BUF_INIT(CONFIG_LIMIT_LINE);
	int answer;

	if (guard_approved(g, what))
		return 1;
	if (!g->q->ask)
		return -ENXIO;
	/* All of it, and not just what it is asked for. */
	if (!what->argv)
		buf_add(&line, g->q->text, g->q->len);
	else
		for (char *const *arg = what->argv; *arg; arg++) {
			if (line.len)
				buf_addc(&line, ' ');
			buf_adds(&line, *arg);
		}
	if (line.err)
		return -ENXIO;
	answer = g->q->ask(g->q->ask_ctx, what->v, buf_str(&line));
	if (answer == 2)
		guard_approve(g, what);
	return answer;
}

/* The words that were judged, as many as leave the reason and the rule their
 * places. */
static const char *subject(const struct policy_verdict *v,
	char text[static sizeof(v->command)])
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

void guard_explain(const struct guard *g, const struct policy_verdict *v,
	bool asked, struct diag *d)
{
	char text[sizeof(v->command)];
	const char *words = subject(v, text);

	if (v->decision == POLICY_DENY)
		diag_fail(d, -EACCES, "denied: %s: %s (rule %s, %s policy)",
			words, v->reason, v->rule,
			policy_layer_name(v->layer));
	else if (asked)
		diag_fail(d, -EACCES, "not confirmed: %s (rule %s)", words,
			v->rule);
	else
		diag_fail(d, -EACCES,
			"denied: %s needs a person's yes and there is no "
			"terminal to ask on: %s (rule %s)",
			words, v->reason, v->rule);
	if (v->alternative[0])
		diag_hint(d, "%s", v->alternative);
	else if (v->decision == POLICY_CONFIRM)
		diag_hint(d, "%sallow it in %s",
			asked ? "" : "run it on a terminal, or ",
			POLICY_SYSTEM);
	else
		diag_hint(d, "%s", g->said.text[0]
				? g->said.text
				: "'wardbox policy explain LINE' shows each "
				  "step");
}

static int denied(struct guard *g, bool asked)
{
	struct policy_verdict *v = &g->r->verdict;
	struct diag *d = &g->r->diag;
	int err = guard_record_denial(g, d);

	if (err)
		return guard_fail(g, GUARD_OURS, err);
	/* No policy said no: there is none to ask. */
	if (g->policy->state == POLICY_BROKEN) {
		diag_fail(d, -EINVAL, "%s", v->reason);
		diag_hint(d, "%s", g->policy->why.hint);
		return guard_fail(g, GUARD_OURS, -EINVAL);
	}
	guard_explain(g, v, asked, d);
	return guard_fail(g, GUARD_DENIED, -EACCES);
}

int guard_judge(struct guard *g)
{
	const struct guard_question own = {
		.v = &g->r->verdict,
		.cwd = g->cwd,
		.argv = g->q->kind == GUARD_LINE ? NULL : g->q->argv,
	};
	int answer;

	if (g->q->absent || g->guarded) {
		str_copy(g->r->verdict.rule, sizeof g->r->verdict.rule,
			g->guarded ? "inside" : "absent");
		return 0;
	}
	decide(g);
	if (g->r->verdict.decision <= POLICY_OPEN)
		return 0;
	if (g->r->verdict.decision == POLICY_DENY)
		return denied(g, false);
	answer = guard_put(g, &own);
	if (answer <= 0)
		return denied(g, answer == 0);
	g->confirmed = true;
	return 0;
}
