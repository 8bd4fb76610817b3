/* guard_record.c - what the log learns of a command
 * SPDX-License-Identifier: MIT
 */
#include "guard/guard_in.h"
#include "guard/guard_log.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "log/audit_read_json.h"
#include "base/path.h"
#include "base/str.h"

/* A log that cannot be written stops everything, unless root said by name that
 * it may be missing. */
static int without_log(struct guard *g, int err)
{
	return policy_word_in(&g->grants.relax, "audit") ? 0 : err;
}

/* A home within the project is no place for what the command must not see, unless
 * it can be hidden. */
static bool home_is_open(const struct guard *g)
{
	const char *state = env_get(g->q->env, "XDG_STATE_HOME");

	return g->root[0] && path_beneath(g->root, state ? state : g->home) &&
		!sandbox_namespace_works(SANDBOX_MOUNTNS);
}

int guard_open_log(struct guard *g, struct diag *d)
{
	struct session_where where = {.cwd = g->cwd,
		.real = !g->q->cwd,
		.uid = g->uid,
		.sha = g->log.hw.sha};
	struct guard_log log = {
		.env = g->q->env, .where = &where, .make = true};
	char path[PATH_MAX];
	autofd int dir = -1;
	int err;

	if (g->guarded)
		return 0;
	if (!g->root[0])
		(void)guard_load_policy(g, NULL);
	where.workspace = g->root[0] ? g->root : NULL;
	log.not_home = home_is_open(g);
	dir = guard_log_open(&log, path, sizeof path, d);
	if (dir < 0)
		return without_log(g, dir);
	err = guard_keep(g, &g->log_path, path);
	if (!err)
		err = audit_open(&g->log, dir, g->uid, NULL, d);
	if (err)
		return without_log(g, err);
	if (g->grants.limits.out > 1)
		g->log.cfg.stream_cap = g->grants.limits.out;
	g->recording = true;
	return 0;
}

static enum audit_decision decision_of(const struct guard *g)
{
	switch (g->r->verdict.decision) {
	case POLICY_ALLOW:
		return AUDIT_ALLOW;
	case POLICY_OPEN:
		return AUDIT_OPEN;
	case POLICY_CONFIRM:
		return g->confirmed ? AUDIT_CONFIRM : AUDIT_DENY;
	case POLICY_DENY:
		return AUDIT_DENY;
	}
	return AUDIT_DENY;
}

/* "net", or "observe: net" for what another profile would have denied. */
static void name_rule(struct guard *g)
{
	const struct policy_verdict *v = &g->r->verdict;
	struct buf b = BUF_FIXED(g->r->rule);

	if (v->would > v->decision)
		buf_addf(&b, "would-%s:%s", policy_decision_name(v->would),
			v->rule);
	else
		buf_adds(&b, v->rule);
	buf_str(&b);
}

static size_t count(char *const *vec)
{
	size_t n = 0;

	while (vec && vec[n])
		n++;
	return n;
}

static struct audit_start start_of(struct guard *g)
{
	char *const *argv = g->q->shown_argv ? g->q->shown_argv : g->q->argv;

	name_rule(g);
	return (struct audit_start){
		.session = g->r->session,
		.argv = (const char *const *)argv,
		.argc = count(argv),
		.cwd = g->cwd,
		.exe = g->q->path,
		.pid = getpid(),
		.ppid = getppid(),
		.decision = decision_of(g),
		.rule = g->r->rule,
		.reason = g->r->verdict.reason,
		.policy_sha = g->policy ? g->policy->sum : NULL,
		.env = (const char *const *)g->env.vec,
		/* The policy, whose sum is recorded, has them all. */
		.env_untold = g->cache_vars,
		.script = g->q->on_stdin,
	};
}

static struct audit_secrets secrets_of(const struct guard *g)
{
	return (struct audit_secrets){
		.env = (const char *const *)g->q->env,
		.patterns = g->grants.redact,
		.pattern_count = g->grants.redact_count,
	};
}

int guard_record_denial(struct guard *g, struct diag *d)
{
	struct audit_start start = start_of(g);
	struct audit_secrets secrets = secrets_of(g);
	int err;

	if (!g->recording)
		return 0;
	err = audit_deny(&g->record, &g->log, &start, &secrets, g->q->text,
		g->q->on_stdin ? g->q->len : 0, d);
	g->r->exec_id = g->record.id;
	return without_log(g, err);
}

int guard_record_start(struct guard *g, struct diag *d)
{
	struct audit_start start = start_of(g);
	struct audit_secrets secrets = secrets_of(g);
	int err;

	if (!g->recording)
		return 0;
	err = audit_start(&g->record, &g->log, &start, &secrets, d);
	g->r->exec_id = g->record.id;
	return without_log(g, err);
}

int guard_record_relaxed(struct guard *g, struct diag *d)
{
	int err = 0;

	if (!g->recording)
		return 0;
	for (unsigned part = 1; !err && part <= g->sandbox.missing; part <<= 1) {
		struct audit_fact fact = {
			.key = "missing",
			.text = sandbox_part_name(part),
		};

		if (g->sandbox.missing & part)
			err = audit_event(&g->log, g->r->session,
				g->r->exec_id, "relax", &fact, 1, d);
	}
	return without_log(g, err);
}

/* Each time: what its owner wrote last does not hold. */
static int record_stale(struct guard *g, struct diag *d)
{
	const struct diag *why = &g->policy->why;
	const struct audit_fact facts[] = {
		{.key = "why", .text = why->text},
		{.key = "file", .text = why->file},
		{.key = "line", .number = why->line},
	};

	if (!g->recording || g->policy->state != POLICY_STALE)
		return 0;
	return without_log(g, audit_event(&g->log, g->r->session, 0,
				      "policy.stale", facts,
				      why->file[0] ? ARRAY_SIZE(facts) : 1, d));
}

int guard_record_session(struct guard *g, struct diag *d)
{
	char hex[2 * AUDIT_HASH + 1];
	struct buf sum = BUF_FIXED(hex);
	const struct audit_fact facts[] = {
		{.key = "id", .text = g->r->session},
		{.key = "workspace", .text = g->root},
	};
	const struct audit_fact rules[] = {
		{.key = "profile", .text = policy_profile_name(g->r->profile)},
		{.key = "sha256", .text = hex},
	};
	int err = record_stale(g, d);

	if (err || !g->recording || !g->fresh)
		return err;
	audit_add_hex(&sum, g->policy->sum, sizeof(g->policy->sum));
	buf_str(&sum);
	err = audit_event(&g->log, g->r->session, 0, "session.open", facts,
		ARRAY_SIZE(facts), d);
	if (!err)
		err = audit_event(&g->log, g->r->session, 0, "policy.load",
			rules, ARRAY_SIZE(rules), d);
	return without_log(g, err);
}

static unsigned flags_of(const struct run_result *run)
{
	unsigned flags = 0;

	if (run->truncated)
		flags |= AUDIT_TRUNCATED;
	if (run->timed_out)
		flags |= AUDIT_TIMEOUT;
	if (run->limit == LIMITS_MEM)
		flags |= AUDIT_OOM;
	if (run->limit != LIMITS_NONE)
		flags |= AUDIT_KILLED;
	return flags;
}

/* Which limit it was, and what watched over it. */
static void record_limit(struct guard *g)
{
	const struct run_result *run = &g->r->run;
	enum limits_kind limit = run->limit ? run->limit :
				 run->refused ? LIMITS_PROCS :
				 run->cut ? LIMITS_OUTPUT : LIMITS_NONE;
	enum limits_how how = (enum limits_how)g->sandbox.limits.how[limit];
	const struct audit_fact facts[] = {
		{.key = "limit", .text = limits_name(limit)},
		{.key = "by", .text = limits_how_name(how)},
	};

	/* A time limit without a sandbox is kept by nothing of it. */
	if (limit)
		audit_event(&g->log, g->r->session, g->r->exec_id, "limit",
			facts, how ? 2 : 1, NULL);
}

int guard_record_end(struct guard *g, struct diag *d)
{
	int status = g->r->status;
	struct audit_end end = {
		.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
		.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
		.usage = &g->r->run.usage,
		.flags = flags_of(&g->r->run),
		.rollback = "none",
	};

	if (!g->recording)
		return 0;
	record_limit(g);
	return without_log(g, audit_end(&g->record, &end, d));
}
