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

	json_putf(&j, "{ command %s exit_code %jd", line, (intmax_t)r->code);
	if (guard_exit_signal(r))
		json_put_i64(&j, "signal", guard_exit_signal(r));
	json_putf(&j,
		"capture %s cwd %s session %s decision %s rule %s "
		"duration_ms %ju timed_out %d",
		capture_name(out->capture), s->pwd ? s->pwd : s->cwd, e->id,
		r->verdict.rule[0] ? policy_decision_name(r->verdict.decision)
				   : NULL,
		r->rule, r->run.duration_ns / 1000000, r->run.timed_out);
	json_strn(json_key(&j, "stdout"), out->stdout_text.data,
		out->stdout_text.len);
	json_strn(json_key(&j, "stderr"), out->stderr_text.data,
		out->stderr_text.len);
	json_putf(&j, "truncated %d stripped %s changes %s",
		out->stdout_text.len == ENVRUN_OUTPUT_MAX ||
			out->stderr_text.len == ENVRUN_OUTPUT_MAX,
		buf_str(&out->stripped), buf_str(&out->changes));
	guard_undo_json(&j, &who, r);
	if (!r->ran || r->code == EXIT_OURS)
		envrun_put_error(&j, &r->diag);
	if (out->notes.len)
		json_put_str(&j, "note", buf_str(&out->notes));
	json_end(&j);
}
