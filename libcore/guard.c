/* guard.c - the way of a command: decide, confine, run, record
 * SPDX-License-Identifier: MIT
 */
#include "guard.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "audit_read_json.h"
#include "guard_parts.h"
#include "path.h"
#include "str.h"

static void guard_free(struct guard **slot)
{
	struct guard *g = *slot;

	if (!g)
		return;
	/* The caller is about to end, and all of it with the process. */
	if (!g->q->returns && g->r->ran) {
		limits_release(&g->sandbox.limits);
		return;
	}
	audit_exec_release(&g->record);
	audit_close(&g->log);
	sandbox_release(&g->sandbox);
	sandbox_plan_release(&g->plan);
	for (size_t i = 0; i < g->carved_count; i++)
		free(g->carved[i]);
	env_release(&g->env);
	policy_grants_release(&g->grants);
	policy_free(g->policy);
	if (g->own > 0)
		close(g->own);
	free(g);
}
#define autoguard autoclean(guard_free)

/* Nothing ran, for a reason of ours. */
static int fail(struct guard *g, int code, int err)
{
	g->r->code = code;
	return err;
}

/* Every command of the line must be one that the shell does itself, under a
 * rule that grants nothing. */
static void note_command(void *ctx, const struct policy_verdict *one)
{
	struct guard *g = ctx;

	g->brief &= str_eq(one->rule, "neutral");
}

static void decide(struct guard *g)
{
	const struct guard_request *q = g->q;
	struct policy_verdict *v = &g->r->verdict;
	struct policy_request line = {
		.text = q->text,
		.len = q->len,
		.args = q->args,
		.dialect = q->dialect,
		.profile = g->r->profile,
		.cwd = g->cwd,
		.root = g->root,
		.home = g->home,
		.env = g->env.vec,
	};
	struct policy_exec exec = {
		.argv = q->argv,
		.path = q->path,
		.profile = g->r->profile,
		.cwd = g->cwd,
		.root = g->root,
		.home = g->home,
		.env = g->env.vec,
	};

	switch (q->kind) {
	case GUARD_LINE:
		g->brief = !q->startup;
		policy_decide_line(g->policy, &line, v, note_command, g);
		break;
	case GUARD_ARGV:
		policy_decide_exec(g->policy, &exec, v);
		break;
	case GUARD_STREAM:
		/* Only what it starts can be judged; where nothing may run,
		 * or nothing watches, it does not start. */
		line.text = ":";
		line.len = 1;
		policy_decide_line(g->policy, &line, v, NULL, NULL);
		if (g->grants.confine && !g->grants.supervise &&
			v->decision == POLICY_ALLOW) {
			v->decision = v->would = POLICY_DENY;
			str_copy(v->rule, sizeof v->rule, "stream");
			str_copy(v->reason, sizeof v->reason,
				"what it will read cannot be judged before it "
				"runs, and the policy has supervision off");
		}
		break;
	}
}

/* A verdict that asks a person. 1: yes. */
static int ask(struct guard *g)
{
	char *line = NULL;
	int answer;

	if (guard_approved(g))
		return 1;
	if (!g->q->ask)
		return -ENXIO;
	if (g->q->kind == GUARD_LINE)
		line = strndup(g->q->text, g->q->len);
	answer = g->q->ask(g->q->ask_ctx, &g->r->verdict,
		line ? line : g->r->verdict.command);
	free(line);
	if (answer == 2)
		guard_approve(g);
	return answer;
}

static int denied(struct guard *g, bool asked)
{
	struct policy_verdict *v = &g->r->verdict;
	struct diag *d = &g->r->diag;
	int err = guard_record_denial(g, d);

	if (err)
		return fail(g, GUARD_OURS, err);
	if (v->decision == POLICY_DENY)
		diag_fail(d, -EACCES, "denied: %s: %s (rule %s, %s policy)",
			v->command[0] ? v->command : "the line", v->reason,
			v->rule, policy_layer_name(v->layer));
	else if (asked)
		diag_fail(d, -EACCES, "not confirmed: %s (rule %s)", v->command,
			v->rule);
	else
		diag_fail(d, -EACCES,
			"denied: %s needs a person's yes and there is no "
			"terminal to ask on: %s (rule %s)",
			v->command[0] ? v->command : "the line", v->reason,
			v->rule);
	if (v->alternative[0])
		diag_hint(d, "%s", v->alternative);
	else if (v->decision == POLICY_CONFIRM)
		diag_hint(d, "run it on a terminal, or allow it in %s",
			POLICY_SYSTEM);
	else
		diag_hint(d, "'wardbox policy explain LINE' shows each step");
	return fail(g, GUARD_DENIED, -EACCES);
}

/* 0: may run. */
static int judge(struct guard *g)
{
	int answer;

	decide(g);
	if (g->r->verdict.decision == POLICY_ALLOW)
		return 0;
	if (g->r->verdict.decision == POLICY_DENY)
		return denied(g, false);
	answer = ask(g);
	if (answer <= 0)
		return denied(g, answer == 0);
	g->confirmed = true;
	return 0;
}

struct session_where guard_base(struct guard *g, struct diag *d)
{
	struct session_where where = {
		.cwd = g->cwd,
		.real = !g->q->cwd,
		.workspace = g->root[0] ? g->root : NULL,
		.uid = g->uid,
	};

	if (!g->own)
		g->own = session_base(&where, true, g->base, d);
	where.own = g->own;
	return where;
}

static int find_session(struct guard *g, struct diag *d)
{
	struct session_where where = guard_base(g, d);
	struct session_name name;
	int err;

	where.id = g->q->session ? g->q->session
				 : env_get(g->q->env, "WARDBOX_SESSION_ID");
	where.file = env_get(g->q->env, "WARDBOX_SESSION_FILE");
	err = session_resolve(&where, true, &name, d);
	if (err)
		return err;
	memcpy(g->r->session, name.id, sizeof name.id);
	g->fresh = name.fresh;
	return 0;
}

static const enum audit_io io_kind[RUN_STREAMS] = {
	[RUN_STDIN] = AUDIT_IN,
	[RUN_STDOUT] = AUDIT_OUT,
	[RUN_STDERR] = AUDIT_ERR,
	[RUN_TTYIN] = AUDIT_TTYIN,
	[RUN_TTYOUT] = AUDIT_TTYOUT,
};

static int record_bytes(void *ctx, enum run_stream stream, const void *bytes,
	size_t n, bool echo)
{
	struct guard *g = ctx;
	int err;

	if (g->q->output && stream != RUN_STDIN && stream != RUN_TTYIN)
		g->q->output(g->q->output_ctx,
			stream == RUN_STDERR ? STDERR_FILENO : STDOUT_FILENO,
			bytes, n);
	if (!g->recording)
		return g->q->output ? RUN_MORE : RUN_ENOUGH;
	err = echo ? audit_io(&g->record, io_kind[stream], bytes, n,
			     &g->r->diag)
		   : audit_io_hidden(&g->record, &g->r->diag);
	g->recorded[stream] += n;
	/* Of what is longer the log keeps the first and the last of it. */
	if (!err && !g->q->output &&
		g->recorded[stream] >= g->log.cfg.stream_cap)
		return RUN_TAIL;
	return err ? err : RUN_MORE;
}

static int record_skip(void *ctx, enum run_stream stream, uint64_t n)
{
	struct guard *g = ctx;

	return g->recording ? audit_io_skip(&g->record, io_kind[stream], n,
				      &g->r->diag)
			    : 0;
}

static int record_winsize(void *ctx, const struct winsize *size)
{
	struct guard *g = ctx;

	return g->recording ? audit_winsize(&g->record, size->ws_col,
				      size->ws_row, &g->r->diag)
			    : 0;
}

static int record_signal(void *ctx, int sig)
{
	struct guard *g = ctx;

	return g->recording ? audit_signal(&g->record, sig, &g->r->diag) : 0;
}

static int next_tick(void *ctx)
{
	struct guard *g = ctx;

	return g->recording ? audit_due(&g->record) : -1;
}

static int tick(void *ctx)
{
	struct guard *g = ctx;

	return g->recording ? audit_tick(&g->record, &g->r->diag) : 0;
}

/* What the front end does itself. */
static int perform(struct guard *g)
{
	int err = guard_record_start(g, &g->r->diag);

	if (err)
		return fail(g, GUARD_OURS, err);
	g->r->status = (g->q->inside(g->q->inside_ctx) & 255) << 8;
	g->r->ran = true;
	return guard_record_end(g, &g->r->diag);
}

static int confine(struct guard *g)
{
	int err;

	g->plan.own_exec = true; /* judged already */
	g->plan.keep_fds = g->keep;
	g->plan.keep_fd_count = g->keep_count;
	err = sandbox_compile(&g->plan, &g->sandbox, &g->r->diag);
	/* Compiling begins from an empty sandbox. */
	g->sandbox.watch.decide = guard_watch;
	g->sandbox.watch.ctx = g;
	return err;
}

/* An own loopback needs a network namespace, which most containers forbid. No
 * network at all is the stricter answer, and can always be had; nothing of the
 * command ran yet. */
static bool no_own_network(const struct guard *g)
{
	const struct sandbox_shared *at = g->sandbox.shared;

	return g->grants.confine && !g->r->run.started &&
		g->plan.net == SANDBOX_NET_LOCAL && at &&
		(at->step == SANDBOX_STEP_NAMESPACES ||
			at->step == SANDBOX_STEP_LOOPBACK);
}

static int execute(struct guard *g)
{
	struct diag *d = &g->r->diag;
	struct run_sink sink = {
		.ctx = g,
		.bytes = record_bytes,
		.skipped = record_skip,
		.winsize = record_winsize,
		.signal = record_signal,
		.timeout_ms = next_tick,
		.due = tick,
	};
	struct run_spec spec = {
		.path = g->q->path,
		.argv = g->q->argv,
		.env = g->env.vec,
		.cwd = g->q->cwd,
		.inherited = g->keep,
		.inherited_count = g->keep_count,
		.sandbox = g->grants.confine ? &g->sandbox : NULL,
		.mode = g->q->pty ? RUN_PTY : RUN_CAPTURE,
		.kill_tree = g->grants.confine,
		.timeout_ns = g->q->timeout_ns,
		.output_max = g->grants.limits.out,
		.output_hard = g->grants.hard_output,
		.pty_all = g->q->pty_all,
		.swallow = g->q->swallow,
		.keep_fds = g->q->returns,
		.keep_stderr = g->grants.confine,
		.sink = &sink,
	};
	int err = 0;

	if (g->q->inside)
		return perform(g);
	if (g->grants.confine)
		err = confine(g);
	if (!err)
		err = guard_record_start(g, d);
	if (!err)
		err = guard_record_relaxed(g, d);
	if (err)
		return fail(g, GUARD_OURS, err);
	err = run(&spec, &g->r->run, d);
	if (no_own_network(g)) {
		sigprocmask(SIG_SETMASK, &g->r->run.mask, NULL);
		sandbox_release(&g->sandbox);
		g->plan.net = SANDBOX_NET_NONE;
		err = confine(g);
		if (!err)
			err = run(&spec, &g->r->run, d);
	}
	if (g->q->returns)
		sigprocmask(SIG_SETMASK, &g->r->run.mask, NULL);
	g->r->ran = g->r->run.started;
	g->r->status = g->r->run.status;
	if (guard_record_end(g, err ? NULL : d) && !err)
		err = fail(g, GUARD_OURS, -EIO);
	return err;
}

/* The exit code of a command that ran, as a shell's parent would see it. */
static int code_of(const struct guard_result *r)
{
	if (r->run.timed_out)
		return GUARD_TIMEOUT;
	if (WIFSIGNALED(r->status))
		return 128 + WTERMSIG(r->status);
	return WEXITSTATUS(r->status);
}

static int guard_through(struct guard *g)
{
	struct diag *d = &g->r->diag;
	int err;

	/* Before there are any of our own to be told from them. */
	if (!g->q->inside)
		g->keep_count =
			run_inherited(g->keep, ARRAY_SIZE(g->keep));
	err = guard_load(g, d);
	g->r->output_max = g->grants.limits.out;
	if (!err)
		err = find_session(g, d);
	if (!err)
		err = guard_open_log(g, d);
	if (!err)
		err = guard_record_session(g, d);
	if (!err)
		err = guard_make_env(g, d);
	if (err)
		return fail(g, GUARD_OURS, err);
	err = judge(g);
	if (err)
		return err;
	err = guard_make_plan(g, d);
	if (err)
		return fail(g, GUARD_OURS, err);
	err = execute(g);
	if (!g->r->ran && g->grants.confine &&
		(err == -ENOTSUP || g->r->run.code == GUARD_OURS))
		diag_hint(d, "'wardbox doctor' shows what works here; a line "
			     "'relax NAME' in %s goes without it",
			POLICY_SYSTEM);
	if (!g->r->ran) {
		if (!err)
			g->r->code = g->r->run.code;
		return err ? err : -ENOEXEC;
	}
	g->r->code = err ? GUARD_OURS : code_of(g->r);
	return err;
}

/* The facts that everything else starts from. */
static int guard_new(struct guard **out, const struct guard_request *q,
	struct guard_result *r)
{
	struct guard *g = calloc(1, sizeof *g);
	int err;

	*out = g;
	if (!g) {
		diag_errno(&r->diag, -ENOMEM, "cannot start");
		return -ENOMEM;
	}
	g->q = q;
	g->r = r;
	g->uid = geteuid();
	g->plan = SANDBOX_PLAN_INIT;
	g->sandbox = SANDBOX_INIT;
	g->log = AUDIT_LOG_INIT;
	g->home = env_get(q->env, "HOME");
	if (!g->home || g->home[0] != '/')
		g->home = "";
	if (q->cwd)
		err = path_normal(g->cwd, sizeof g->cwd, NULL, q->cwd);
	else
		err = path_cwd(g->cwd, sizeof g->cwd);
	/* Nothing can be named from a directory that is gone; the command is
	 * left in it all the same. */
	if (err == -ENOENT && !q->cwd) {
		memcpy(g->cwd, "/", 2);
		err = 0;
	}
	return err ? diag_errno(&r->diag, err, "the current directory") : 0;
}

int guard_run(const struct guard_request *q, struct guard_result *r)
{
	autoguard struct guard *g = NULL;
	struct timespec now;
	int err;

	*r = (struct guard_result){.code = GUARD_OURS};
	clock_gettime(CLOCK_REALTIME, &now);
	r->started_ns = (uint64_t)now.tv_sec * 1000000000u +
		(uint64_t)now.tv_nsec;
	err = guard_new(&g, q, r);
	return err ? err : guard_through(g);
}

int guard_env_rules(const struct guard_request *q,
	const struct guard_result *r, struct policy_grants *grants)
{
	struct guard_result scratch = {.profile = r->profile};
	autoguard struct guard *g = NULL;
	int err = guard_new(&g, q, &scratch);

	if (!err)
		err = guard_load(g, NULL);
	if (!err) {
		*grants = g->grants;
		g->grants = (struct policy_grants){0};
	}
	return err;
}

int guard_note(const struct guard_request *q, const struct guard_result *r,
	const char *event, const struct audit_fact *facts, size_t n)
{
	struct guard_result scratch = {0};
	autoguard struct guard *g = NULL;
	int err = guard_new(&g, q, &scratch);

	if (!err)
		err = guard_open_log(g, NULL);
	if (err || !g->recording)
		return err;
	err = audit_event(
		&g->log, r->session, r->exec_id, event, facts, n, NULL);
	/* Signed when a session ends, not with every command. */
	if (!err && str_eq(event, "session.end"))
		err = audit_checkpoint(&g->log, NULL);
	return err;
}

int guard_workspace(const struct guard_request *q, char *out, size_t size)
{
	struct guard_result scratch = {0};
	autoguard struct guard *g = NULL;
	int err = guard_new(&g, q, &scratch);

	if (!err)
		err = guard_load(g, NULL);
	return err ? err : str_copy(out, size, g->root);
}

void guard_correlation(const struct guard_request *q,
	const struct guard_result *r, struct buf *out)
{
	struct guard_result scratch = {0};
	autoguard struct guard *g = NULL;
	struct audit_head head = {0};
	uint64_t number = r->exec_id;

	if (guard_new(&g, q, &scratch) || guard_open_log(g, NULL) ||
		!g->recording || !number ||
		audit_peek(&g->log, &head, NULL))
		number = getrandom(head.log_id, sizeof head.log_id, 0) > 0;
	audit_add_uuid(out, head.log_id, number);
}

int guard_exit_signal(const struct guard_result *r)
{
	if (!r->ran || r->run.timed_out || !WIFSIGNALED(r->status))
		return 0;
	return WTERMSIG(r->status);
}
