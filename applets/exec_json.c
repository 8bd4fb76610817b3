/* exec_json.c - how a command went, as the contract's ShellExecutionResult
 * SPDX-License-Identifier: MIT
 */
#include "exec.h"

#include "guard/guard_undo.h"
#include "log/audit_read_json.h"
#include "sys/file.h"

extern char **environ;

static uint64_t microseconds(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * 1000000u + (uint64_t)t->tv_usec;
}

static void add_usage(struct json *j, const struct rusage *u)
{
	json_put_open(j, "resource_usage", '{');
	json_put_u64(j, "cpu_ms",
		(microseconds(&u->ru_utime) + microseconds(&u->ru_stime)) / 1000);
	json_put_u64(j, "memory_peak_bytes",
		(uint64_t)u->ru_maxrss * 1024);
	json_close(j);
}

/* How it went, but for its output. */
static void add_outcome(struct json *j, const struct exec_reply *r)
{
	const struct guard_outcome *g = &r->result;
	const struct guard_caller who = {.env = environ};
	bool decided = g->verdict.rule[0];

	json_put_u64(j, "duration_ms", g->run.duration_ns / 1000000);
	add_usage(j, &g->run.usage);
	json_put_str(j, "policy_rule_matched", g->rule);
	audit_json_time(j, "timestamp", g->started_ns);

	json_put_str(j, "session_id", g->session);
	json_put_bool(j, "ran", g->ran);
	json_put_str(j, "decision",
		decided ? policy_decision_name(g->verdict.decision) : NULL);
	json_put_str(j, "profile",
		decided ? policy_profile_name(g->profile) : NULL);
	json_put_u64(j, "signal", (uint64_t)r->signal);
	json_put_bool(j, "timed_out", g->run.timed_out);
	json_put_u64(j, "stdout_bytes", g->run.bytes[RUN_STDOUT]);
	json_put_u64(j, "stderr_bytes", g->run.bytes[RUN_STDERR]);
	guard_undo_json(j, &who, g);
}

static void add_error(struct json *j, const struct guard_outcome *g)
{
	if (g->ran)
		return;
	json_put_open(j, "error", '{');
	json_put_str(j, "message", g->diag.text);
	json_put_str(j, "hint", g->diag.hint);
	json_close(j);
}

void exec_print_json(
	const struct exec_request *q, const struct exec_reply *reply)
{
	const struct guard_outcome *g = &reply->result;
	autobuf struct buf out = BUF_INIT(EXEC_OUTPUT_MAX * (size_t)12 + (1 << 24));
	struct json j = JSON_INIT(&out);

	json_open(&j, '{');
	json_put_str(&j, "correlation_id",
		reply->uuid[0] ? reply->uuid : NULL);
	json_put_str(&j, "command", q->command[0]);
	json_put_open(&j, "args", '[');
	for (char **arg = q->command; *arg && *++arg;)
		json_str(&j, *arg);
	json_close(&j);
	json_put_str(&j, "working_dir", reply->cwd);
	json_put_i64(&j, "exit_code", g->code);
	json_strn(json_key(&j, "stdout"), reply->out.data, reply->out.len);
	json_strn(json_key(&j, "stderr"), reply->err.data, reply->err.len);
	add_outcome(&j, reply);
	if (q->dry)
		json_put_bool(&j, "dry_run", true);
	json_put_bool(&j, "stdout_truncated",
		g->run.bytes[RUN_STDOUT] > reply->out.len);
	json_put_bool(&j, "stderr_truncated",
		g->run.bytes[RUN_STDERR] > reply->err.len);
	add_error(&j, g);
	cli_print_json(&j);
}

void exec_report(const struct exec_reply *reply, int fd)
{
	autobuf struct buf out = BUF_INIT(65536);
	struct json j = JSON_INIT(&out);

	json_open(&j, '{');
	json_put_str(&j, "correlation_id",
		reply->uuid[0] ? reply->uuid : NULL);
	json_put_i64(&j, "exit_code", reply->result.code);
	add_outcome(&j, reply);
	add_error(&j, &reply->result);
	json_end(&j);
	/* Whoever does not read it goes without. */
	(void)file_write_all(fd, out.data, out.len);
}

void exec_report_question(const char *id, int fd)
{
	autobuf struct buf out = BUF_INIT(256);
	struct json j = JSON_INIT(&out);

	json_putf(&j, "{ question %s }", id);
	buf_addc(&out, '\n');
	(void)file_write_all(fd, out.data, out.len);
}
