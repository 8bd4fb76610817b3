/* exec_json.c - how a command went, as the contract's ShellExecutionResult
 * SPDX-License-Identifier: MIT
 */
#include "exec.h"

#include "guard/guard_undo.h"
#include "log/audit_read_json.h"
#include "sys/file.h"

extern char **environ;

static uint64_t time_us(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * 1000000u + (uint64_t)t->tv_usec;
}

/* How it went, but for its output. */
static void add_outcome(struct json *j, const struct exec_reply *r)
{
	const struct guard_outcome *g = &r->result;
	const struct guard_caller who = {.env = environ};
	const struct rusage *u = &g->run.usage;
	bool decided = g->verdict.rule[0];

	json_putf(j,
		"duration_ms %ju "
		"resource_usage { cpu_ms %ju memory_peak_bytes %ju } "
		"policy_rule_matched %s",
		g->run.duration_ns / 1000000,
		(time_us(&u->ru_utime) + time_us(&u->ru_stime)) / 1000,
		(uintmax_t)u->ru_maxrss * 1024, g->rule);
	audit_json_time(j, "timestamp", g->started_ns);
	json_putf(j,
		"session_id %s ran %d decision %s profile %s signal %ju "
		"timed_out %d stdout_bytes %ju stderr_bytes %ju",
		g->session, g->ran,
		decided ? policy_decision_name(g->verdict.decision) : NULL,
		decided ? policy_profile_name(g->profile) : NULL,
		(uintmax_t)r->signal, g->run.timed_out,
		g->run.bytes[RUN_STDOUT], g->run.bytes[RUN_STDERR]);
	guard_undo_json(j, &who, g);
}

static void add_error(struct json *j, const struct guard_outcome *g)
{
	if (!g->ran)
		json_putf(j, "error { message %s hint %s }", g->diag.text,
			g->diag.hint);
}

void exec_print_json(
	const struct exec_request *q, const struct exec_reply *reply)
{
	const struct guard_outcome *g = &reply->result;
	autobuf struct buf out = BUF_INIT(EXEC_OUTPUT_MAX * (size_t)12 + (1 << 24));
	struct json j = JSON_INIT(&out);

	json_putf(&j, "{ correlation_id %s command %s args [",
		reply->uuid[0] ? reply->uuid : NULL, q->command[0]);
	for (char **arg = q->command; *arg && *++arg;)
		json_str(&j, *arg);
	json_putf(&j, "] working_dir %s exit_code %jd", reply->cwd,
		(intmax_t)g->code);
	json_strn(json_key(&j, "stdout"), reply->out.data, reply->out.len);
	json_strn(json_key(&j, "stderr"), reply->err.data, reply->err.len);
	add_outcome(&j, reply);
	if (q->dry)
		json_put_bool(&j, "dry_run", true);
	json_putf(&j, "stdout_truncated %d stderr_truncated %d",
		g->run.bytes[RUN_STDOUT] > reply->out.len,
		g->run.bytes[RUN_STDERR] > reply->err.len);
	add_error(&j, g);
	cli_print_json(&j);
}

void exec_report(const struct exec_reply *reply, int fd)
{
	autobuf struct buf out = BUF_INIT(65536);
	struct json j = JSON_INIT(&out);

	json_putf(&j, "{ correlation_id %s exit_code %jd",
		reply->uuid[0] ? reply->uuid : NULL,
		(intmax_t)reply->result.code);
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
