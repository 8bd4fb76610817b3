/* exec_json.c - how a command went, as the contract's ShellExecutionResult
 * SPDX-License-Identifier: MIT
 */
#include "exec.h"

#include "audit_read_json.h"

static uint64_t microseconds(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * 1000000u + (uint64_t)t->tv_usec;
}

static void add_usage(struct json *j, const struct rusage *u)
{
	json_open(json_key(j, "resource_usage"), '{');
	json_u64(json_key(j, "cpu_ms"),
		(microseconds(&u->ru_utime) + microseconds(&u->ru_stime)) / 1000);
	json_u64(json_key(j, "memory_peak_bytes"),
		(uint64_t)u->ru_maxrss * 1024);
	json_close(j);
}

/* What the contract has no room for. */
static void add_more(struct json *j, const struct exec_reply *r)
{
	const struct guard_result *g = &r->result;

	json_str(json_key(j, "session_id"), g->session);
	json_bool(json_key(j, "ran"), g->ran);
	json_str(json_key(j, "decision"),
		policy_decision_name(g->verdict.decision));
	json_str(json_key(j, "profile"), policy_profile_name(g->profile));
	json_u64(json_key(j, "signal"), (uint64_t)r->signal);
	json_bool(json_key(j, "timed_out"), g->run.timed_out);
	json_u64(json_key(j, "stdout_bytes"), g->run.bytes[RUN_STDOUT]);
	json_u64(json_key(j, "stderr_bytes"), g->run.bytes[RUN_STDERR]);
	json_bool(json_key(j, "stdout_truncated"),
		g->run.bytes[RUN_STDOUT] > r->out.len);
	json_bool(json_key(j, "stderr_truncated"),
		g->run.bytes[RUN_STDERR] > r->err.len);
	if (g->ran)
		return;
	json_open(json_key(j, "error"), '{');
	json_str(json_key(j, "message"), g->diag.text);
	json_str(json_key(j, "hint"), g->diag.hint);
	json_close(j);
}

void exec_print_json(
	const struct exec_request *q, const struct exec_reply *reply)
{
	const struct guard_result *g = &reply->result;
	autobuf struct buf out = BUF_INIT((size_t)EXEC_OUTPUT_MAX * 12);
	struct json j = JSON_INIT(&out);
	char time[48];
	struct buf when = BUF_FIXED(time);

	audit_add_time(&when, g->started_ns);
	json_open(&j, '{');
	json_str(json_key(&j, "correlation_id"), reply->uuid);
	json_str(json_key(&j, "command"), q->command[0]);
	json_open(json_key(&j, "args"), '[');
	for (char **arg = q->command + 1; *arg; arg++)
		json_str(&j, *arg);
	json_close(&j);
	json_str(json_key(&j, "working_dir"), reply->cwd);
	json_i64(json_key(&j, "exit_code"), g->code);
	json_strn(json_key(&j, "stdout"), reply->out.data, reply->out.len);
	json_strn(json_key(&j, "stderr"), reply->err.data, reply->err.len);
	json_u64(json_key(&j, "duration_ms"), g->run.duration_ns / 1000000);
	add_usage(&j, &g->run.usage);
	json_str(json_key(&j, "policy_rule_matched"), g->rule);
	json_str(json_key(&j, "timestamp"), buf_str(&when));
	add_more(&j, reply);
	json_close(&j);
	buf_addc(&out, '\n');
	cli_print(&out);
}
