/* guard.c - the way of a command, and what is asked beside it
 * SPDX-License-Identifier: MIT
 */
#include "guard/guard.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include "log/audit_read_json.h"
#include "base/clock.h"
#include "guard/guard_in.h"
#include "base/path.h"
#include "sys/probe.h"
#include "sys/proc.h"
#include "base/str.h"

static void guard_free(struct guard **slot)
{
	struct guard *g = *slot;

	if (!g)
		return;
	if (g->q->returns)
		proc_lower(&g->limits);
	if (!g->r->run.detached)
		protect_end(g->protect);
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
	free(g->own_argv);
	arena_release(&g->names);
	if (g->own > 0)
		close(g->own);
	free(g);
}
#define autoguard autoclean(guard_free)

int guard_keep(struct guard *g, const char **where, const char *text)
{
	size_t n = strlen(text) + 1;
	char *copy = arena_bytes(&g->names, n);

	if (!copy)
		return -ENOMEM;
	*where = memcpy(copy, text, n);
	return 0;
}

/* NULL outside. */
static const char *guarded_place(const struct guard *g)
{
	const char *tmp = g->guarded ? env_get(g->q->env, "TMPDIR") : NULL;

	return g->guarded && !tmp ? "" : tmp;
}

struct session_where guard_base(struct guard *g, struct diag *d)
{
	struct session_where where = {
		.cwd = g->cwd,
		.real = !g->q->cwd,
		.workspace = g->root[0] ? g->root : NULL,
		.uid = g->uid,
		.guarded = guarded_place(g),
		.sha = g->log.hw.sha,
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
		err = guard_open_log(g, d);
	if (!err)
		err = find_session(g, d);
	if (!err && g->grants.limits.idle)
		guard_live_use(g);
	if (!err)
		err = guard_record_session(g, d);
	if (!err)
		err = guard_make_env(g, d);
	if (err)
		return guard_fail(g, GUARD_OURS, err);
	*d = g->said;
	err = guard_judge(g);
	if (err)
		return err;
	err = g->q->inside ? 0 : guard_make_plan(g, d);
	if (err)
		return guard_fail(g, GUARD_OURS, err);
	return guard_execute(g);
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
	g->argv = q->argv;
	g->uid = geteuid();
	g->called = getpid();
	g->caller = getppid();
	g->live = SESSION_LIVE_INIT;
	g->guarded = probe_inside();
	g->plan = SANDBOX_PLAN_INIT;
	g->sandbox = SANDBOX_INIT;
	g->log = AUDIT_LOG_INIT;
	g->names = ARENA_INIT(32 * PATH_MAX);
	g->cwd = g->root = g->log_path = g->user_policy = g->base = g->tmp =
		g->cache = "";
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

int guard_try(
	const struct guard_request *q, struct policy *policy, struct diag *d)
{
	struct guard_result r = {0};
	autoguard struct guard *g = NULL;
	int err = guard_new(&g, q, &r);

	if (err || g->guarded)
		return err;
	r.profile = policy_profile(policy, NULL, NULL);
	g->policy = policy;
	err = guard_find_root(g, d);
	g->policy = NULL; /* the caller's */
	if (!err)
		err = policy_grants(
			policy, r.profile, g->root, g->home, &g->grants);
	if (!err)
		err = guard_make_plan(g, d);
	if (!err)
		err = sandbox_compile(&g->plan, &g->sandbox, d);
	return err == -ENOTSUP ? 0 : err;
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

void guard_where(const struct guard_request *q, struct guard_here *here,
	struct session_where *w)
{
	struct guard_result scratch = {0};
	autoguard struct guard *g = NULL;
	int err = guard_new(&g, q, &scratch);

	str_copy(here->cwd, PATH_MAX, err ? "/" : g->cwd);
	if (!err)
		err = guard_load_policy(g, NULL);
	str_copy(here->workspace, PATH_MAX, err ? "/" : g->root);
	*w = (struct session_where){
		.id = env_get(q->env, "WARDBOX_SESSION_ID"),
		.file = env_get(q->env, "WARDBOX_SESSION_FILE"),
		.cwd = here->cwd,
		.workspace = here->workspace,
		.real = !q->cwd,
		.uid = geteuid(),
		.guarded = err ? NULL : guarded_place(g),
	};
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
