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
#include <unistd.h>

#include "audit_read_json.h"
#include "clock.h"
#include "guard_parts.h"
#include "path.h"
#include "proc.h"
#include "str.h"

static void guard_free(struct guard **slot)
{
	struct guard *g = *slot;

	if (!g)
		return;
	if (g->q->returns)
		proc_lower(&g->limits);
	/* The caller is about to end, and all of it with the process. */
	if (!g->q->returns && g->r->ran) {
		limits_release(&g->sandbox.limits);
		return;
	}
	audit_exec_release(&g->record);
	audit_close(&g->log);
	sandbox_release(&g->sandbox);
	sandbox_plan_release(&g->plan);
	env_release(&g->env);
	policy_grants_release(&g->grants);
	policy_free(g->policy);
	arena_release(&g->names);
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
		.tmp = g->tmp,
		.env = g->env.vec,
	};
	struct policy_exec exec = {
		.argv = q->argv,
		.path = q->path,
		.profile = g->r->profile,
		.cwd = g->cwd,
		.root = g->root,
		.home = g->home,
		.tmp = g->tmp,
		.env = g->env.vec,
	};

	switch (q->kind) {
	case GUARD_LINE:
		policy_decide_line(g->policy, &line, v, NULL, NULL);
		g->brief = !q->startup && v->neutral;
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
	/* No policy said no: there is none to ask. */
	if (g->policy->state == POLICY_BROKEN) {
		diag_fail(d, -EINVAL, "%s", v->reason);
		diag_hint(d, "%s", g->policy->why.hint);
		return fail(g, GUARD_OURS, -EINVAL);
	}
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
		diag_hint(d, "%sallow it in %s",
			asked ? "" : "run it on a terminal, or ",
			POLICY_SYSTEM);
	else
		diag_hint(d, "%s", g->said.text[0]
				? g->said.text
				: "'wardbox policy explain LINE' shows each "
				  "step");
	return fail(g, GUARD_DENIED, -EACCES);
}

/* 0: may run. */
static int judge(struct guard *g)
{
	int answer;

	if (g->q->absent) {
		str_copy(g->r->verdict.rule, sizeof g->r->verdict.rule,
			"absent");
		return 0;
	}
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

int guard_keep(struct guard *g, const char **where, const char *text)
{
	size_t n = strlen(text) + 1;
	char *copy = arena_bytes(&g->names, n);

	if (!copy)
		return -ENOMEM;
	*where = memcpy(copy, text, n);
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
	char base[SESSION_BASE_MAX];

	if (!g->own) {
		g->own = session_base(&where, true, base, d);
		if (g->own >= 0 && guard_keep(g, &g->base, base)) {
			close(g->own);
			g->own = -ENOMEM;
		}
	}
	where.own = g->own;
	return where;
}

static int find_session(struct guard *g, struct diag *d)
{
	const char *id = g->q->session
		? g->q->session
		: env_get(g->q->env, "WARDBOX_SESSION_ID");
	struct session_where where = {.id = id};
	struct session_name name;
	int err;

	/* One that is named is looked for nowhere. */
	if (!id || !*id)
		where = guard_base(g, d);
	where.file = env_get(g->q->env, "WARDBOX_SESSION_FILE");
	err = session_resolve(&where, true, &name, d);
	if (err)
		return err;
	memcpy(g->r->session, name.id, sizeof name.id);
	g->fresh = name.fresh;
	return 0;
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
	const bool boxed = g->grants.confine || g->q->becomes;
	struct diag *d = &g->r->diag;
	struct run_sink sink = guard_sink(g);
	struct run_spec spec = {
		.path = g->q->path,
		.argv = g->q->argv,
		.env = g->env.vec,
		.cwd = g->q->cwd,
		.inherited = g->keep,
		.inherited_count = g->keep_count,
		.limits = g->limits,
		.sandbox = boxed ? &g->sandbox : NULL,
		.mode = g->q->pty ? RUN_PTY : RUN_CAPTURE,
		.kill_tree = g->grants.confine,
		.timeout_ns = g->q->timeout_ns,
		.output_max = g->grants.limits.out,
		.output_hard = g->grants.hard_output,
		.own_job = g->q->own_job,
		.pty_all = g->q->pty_all,
		.unread = g->q->unread,
		.ask_first = g->q->timeout_ns,
		.swallow = g->q->swallow,
		.keep_fds = g->q->returns,
		.keep_stderr = g->grants.confine,
		.sink = &sink,
	};
	int err = 0;

	if (g->q->inside)
		return perform(g);
	if (boxed)
		err = confine(g);
	if (!err)
		err = guard_record_start(g, d);
	if (!err)
		err = guard_record_script(g);
	if (!err)
		err = guard_record_relaxed(g, d);
	if (err)
		return fail(g, GUARD_OURS, err);
	sigprocmask(SIG_SETMASK, &g->mask, NULL);
	err = run(&spec, &g->r->run, d);
	if (no_own_network(g)) {
		sigprocmask(SIG_SETMASK, &g->mask, NULL);
		sandbox_release(&g->sandbox);
		g->plan.net = SANDBOX_NET_NONE;
		err = confine(g);
		if (!err)
			err = run(&spec, &g->r->run, d);
	}
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

/* What is kept from the command within its project cannot be, here. */
static void tell_carved(struct guard *g)
{
	const struct sandbox_shared *at = g->sandbox.shared;
	struct diag *d = &g->r->diag;

	if (g->r->ran || !g->carved_count || !at ||
		(at->step != SANDBOX_STEP_NAMESPACES &&
			at->step != SANDBOX_STEP_MOUNT))
		return;
	diag_errno(d, at->err, "keeping %s from the command needs a mount"
		" namespace", g->carved[0]);
	if (str_eq(g->carved[0], g->log_path))
		diag_hint(d, "the log is in the project: with a directory"
			" /var/log/wardbox/%u, mode 0700, it is kept there",
			g->uid);
}

/* What is needed at once, of the descriptors that are allowed. */
static int need_files(struct guard *g, size_t allowed, struct diag *d)
{
	enum { PLAIN = 14, CONFINED = 32 };
	size_t needed = g->grants.confine ? CONFINED : PLAIN;

	if (allowed >= needed)
		return 0;
	diag_fail(d, -EMFILE, "%zu open files are allowed (ulimit -Hn), and a "
		"guarded command needs %zu", allowed, needed);
	return -EMFILE;
}

/* Behind what the protection itself has to say. */
static void tell_relax(struct diag *d)
{
	char first[sizeof d->hint];

	memcpy(first, d->hint, sizeof first);
	diag_hint(d, "%s; a line 'relax NAME' in %s goes without it",
		first[0] ? first : "'wardbox doctor' shows what works here",
		POLICY_SYSTEM);
}

static int guard_through(struct guard *g)
{
	enum { FILES_WANTED = 64 };
	struct diag *d = &g->r->diag;
	sigset_t too_long;
	size_t allowed;
	int err;

	/* Before there are any of our own to be told from them. */
	if (!g->q->inside)
		g->keep_count =
			run_inherited(g->keep, ARRAY_SIZE(g->keep));
	/* A caller's low limit is the command's, not ours, and where it is ours
	 * all the same it is an error and not a signal. */
	sigemptyset(&too_long);
	sigaddset(&too_long, SIGXFSZ);
	g->masked = sigprocmask(SIG_BLOCK, &too_long, &g->mask) == 0;
	allowed = proc_raise(FILES_WANTED, &g->limits);
	err = need_files(g, allowed, d);
	if (!err)
		err = guard_load(g, d);
	if (!err)
		err = need_files(g, allowed, d);
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
	*d = g->said;
	err = judge(g);
	if (err)
		return err;
	err = g->q->inside ? 0 : guard_make_plan(g, d);
	if (err)
		return fail(g, GUARD_OURS, err);
	err = execute(g);
	tell_carved(g);
	if (!g->r->ran && g->grants.confine &&
		(err == -ENOTSUP || g->r->run.code == GUARD_OURS))
		tell_relax(d);
	if (!g->r->ran) {
		if (!err)
			g->r->code = g->r->run.code;
		return err ? err : -ENOEXEC;
	}
	g->r->broken = err != 0;
	g->r->code = err ? GUARD_OURS : code_of(g->r);
	return err;
}

/* The facts that everything else starts from. */
static int guard_new(struct guard **out, const struct guard_request *q,
	struct guard_result *r)
{
	struct guard *g = calloc(1, sizeof *g);
	char cwd[PATH_MAX];
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
	g->names = ARENA_INIT(32 * PATH_MAX);
	g->cwd = g->root = g->log_path = g->user_policy = g->base = g->tmp = "";
	g->home = env_get(q->env, "HOME");
	if (!g->home || g->home[0] != '/')
		g->home = "";
	if (q->cwd)
		err = path_normal(cwd, sizeof cwd, NULL, q->cwd);
	else
		err = path_cwd(cwd, sizeof cwd);
	/* Nothing can be named from a directory that is gone; the command is
	 * left in it all the same. */
	if (err == -ENOENT && !q->cwd) {
		memcpy(cwd, "/", 2);
		err = 0;
	}
	if (!err)
		err = guard_keep(g, &g->cwd, cwd);
	return err ? diag_errno(&r->diag, err, "the current directory") : 0;
}

int guard_run(const struct guard_request *q, struct guard_result *r)
{
	autoguard struct guard *g = NULL;
	int err;

	*r = (struct guard_result){.code = GUARD_OURS};
	r->started_ns = clock_ns(CLOCK_REALTIME);
	err = guard_new(&g, q, r);
	if (!err)
		err = guard_through(g);
	if (g && g->masked && q->returns)
		sigprocmask(SIG_SETMASK, &g->mask, NULL);
	if (g && q->given) {
		*q->given = g->env;
		g->env = ENV_INIT;
	}
	if (g && q->grants) {
		*q->grants = g->grants;
		q->grants->owned = g->policy;
		g->grants = (struct policy_grants){0};
		g->policy = NULL;
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

	if (!number || guard_new(&g, q, &scratch) ||
		guard_open_log(g, NULL) || !g->recording ||
		audit_peek(&g->log, &head, NULL))
		number = getrandom(head.log_id, sizeof head.log_id, 0) > 0;
	audit_add_uuid(out, head.log_id, number);
}

int guard_exit_signal(const struct guard_result *r)
{
	if (!r->ran || r->broken || r->run.timed_out ||
		!WIFSIGNALED(r->status))
		return 0;
	return WTERMSIG(r->status);
}
