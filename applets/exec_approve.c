/* exec_approve.c - what the policy asks waits for a person elsewhere
 * SPDX-License-Identifier: MIT
 */
#include "exec.h"

#include "approve/approve.h"
#include "base/str.h"

static void tell_asked(void *ctx, const char *id)
{
	const struct exec_asker *a = ctx;

	if (a->q->report)
		exec_report_question(id, a->q->report);
	else
		cli_warn("this waits for a person: wardbox approve show %s", id);
}

static int ask_elsewhere(
	void *ctx, const struct policy_verdict *v, const char *line)
{
	const struct exec_asker *a = ctx;
	const struct approve_question what = {
		.line = line,
		.command = str_eq(v->command, line) ? "" : v->command,
		.rule = v->rule,
		.reason = v->reason,
		.session = a->reply->result.session,
		.cwd = a->reply->cwd,
		.by = "exec",
	};
	const struct approve_told told = {tell_asked, ctx};
	int answer = approve_ask(&what, a->q->approver_ns, &told);

	if (a->q->report)
		exec_report_question("", a->q->report);
	return answer;
}

void exec_approver(struct guard_caller *caller, struct exec_asker *asker,
	const struct exec_request *q, const struct exec_reply *reply)
{
	*asker = (struct exec_asker){.q = q, .reply = reply};
	caller->ask = ask_elsewhere;
	caller->ask_ctx = asker;
	caller->ask_slow = true;
}
