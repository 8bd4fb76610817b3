/* envrun_outcome.c - how a command ended, for people and for programs
 * SPDX-License-Identifier: MIT
 */
#include "envrun.h"

#include <unistd.h>

#include "guard/guard_undo.h"

extern char **environ;

void envrun_outcome_release(struct envrun_outcome *out)
{
	buf_release(&out->stdout_text);
	buf_release(&out->stderr_text);
	buf_release(&out->stripped);
	buf_release(&out->changes);
	buf_release(&out->notes);
}

void envrun_tell(const struct envrun *e, const struct envrun_outcome *out)
{
	cli_guard_tell(&out->guard);
	if (out->notes.len)
		cli_warn("%.*s", (int)out->notes.len, out->notes.data);
	if (e->diff && out->changes.len)
		(void)!write(STDERR_FILENO, out->changes.data, out->changes.len);
}

void envrun_json(const struct envrun *e, const char *line,
	struct envrun_outcome *out, struct buf *text)
{
	const struct guard_outcome *r = &out->guard;
	const struct guard_caller who = {.env = environ};
	const struct state *s = &e->state;
	struct json j = JSON_INIT(text);

	json_open(&j, '{');
	json_put_str(&j, "command", line);
	json_put_i64(&j, "exit_code", r->code);
	if (guard_exit_signal(r))
		json_put_i64(&j, "signal", guard_exit_signal(r));
	json_put_str(&j, "capture", capture_name(out->capture));
	json_put_str(&j, "cwd", s->pwd ? s->pwd : s->cwd);
	json_put_str(&j, "session", e->id);
	json_put_str(&j, "decision", r->verdict.rule[0]
			? policy_decision_name(r->verdict.decision) : NULL);
	json_put_str(&j, "rule", r->rule);
	json_put_u64(&j, "duration_ms", r->run.duration_ns / 1000000);
	json_put_bool(&j, "timed_out", r->run.timed_out);
	json_strn(json_key(&j, "stdout"), out->stdout_text.data,
		out->stdout_text.len);
	json_strn(json_key(&j, "stderr"), out->stderr_text.data,
		out->stderr_text.len);
	json_put_bool(&j, "truncated",
		out->stdout_text.len == ENVRUN_OUTPUT_MAX ||
			out->stderr_text.len == ENVRUN_OUTPUT_MAX);
	json_put_str(&j, "stripped", buf_str(&out->stripped));
	json_put_str(&j, "changes", buf_str(&out->changes));
	guard_undo_json(&j, &who, r);
	if (!r->ran || r->code == EXIT_OURS)
		envrun_put_error(&j, &r->diag);
	if (out->notes.len)
		json_put_str(&j, "note", buf_str(&out->notes));
	json_end(&j);
}
