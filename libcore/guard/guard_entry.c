/* guard_entry.c - what the log learns of a command; the one log of a user
 * SPDX-License-Identifier: MIT
 */
#include "guard/guard_in.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "base/str.h"
#include "guard/guard_log.h"
#include "log/audit_place.h"
#include "log/audit_read_json.h"
#include "sys/env.h"

/* Opens a log below the state base; with make, makes it. */
static int log_in_base(struct audit_place place, const struct session_where *w,
	bool make, char *path, size_t size, struct diag *d)
{
	char base[SESSION_BASE_MAX];
	autofd int own = session_base(w, make, base, d);

	if (own == -EPERM)
		return own;
	if (own >= 0)
		place.state_base = base;
	return audit_place_open(&place, w->uid, make, path, size, d);
}

int guard_log_open(const struct guard_log *l, char *path, size_t size,
	struct diag *d)
{
	const struct session_where *w = l->where;
	struct audit_place place = {
		.state_home = env_get(l->env, "XDG_STATE_HOME"),
		.home = env_get(l->env, "HOME"),
	};
	int fd = audit_place_open(&place, w->uid, false, path, size, d);

	if (fd != -ENOENT)
		return fd;
	/* A base that is refused holds no log, and hides none elsewhere. */
	fd = log_in_base(place, w, false, path, size, d);
	if (fd >= 0 || !l->make)
		return fd;
	if (l->not_home)
		place.state_home = place.home = NULL;
	fd = audit_place_open(&place, w->uid, true, path, size, d);
	return fd == -ENOENT ? log_in_base(place, w, true, path, size, d) : fd;
}

/* A log that cannot be written stops everything, unless root said by name that
 * it may be missing. */
static int without_log(const struct guard_terms *t, int err)
{
	return policy_word_in(&t->grants.relax, "audit") ? 0 : err;
}

/* A home within the project is open to the command: no place for what the
 * command must not see, unless it can be hidden. */
static bool home_is_open(const struct guard_place *p, char *const *env)
{
	const char *state = env_get(env, "XDG_STATE_HOME");

	return p->root[0] && path_beneath(p->root, state ? state : p->home) &&
	       !sandbox_namespace_works(SANDBOX_MOUNTNS);
}

int guard_entry_open(struct guard_entry *e, struct guard_place *p,
	const struct guard_terms *t, const struct guard_caller *who,
	struct diag *d)
{
	struct session_where where = {.cwd = p->cwd,
		.real = p->real,
		.uid = p->uid,
		.workspace = p->root[0] ? p->root : NULL};
	struct guard_log log = {.env = who->env, .where = &where, .make = true};
	char path[PATH_MAX];
	autofd int dir = -1;
	int err;

	if (p->inside)
		return 0;
	log.not_home = home_is_open(p, who->env);
	dir = guard_log_open(&log, path, sizeof path, d);
	if (dir < 0)
		return without_log(t, dir);
	err = guard_keep(&p->texts, &e->path, path);
	if (!err)
		err = audit_open(&e->log, dir, p->uid, NULL, d);
	p->sha = e->log.hw.sha;
	if (err)
		return without_log(t, err);
	if (t->grants.limits.out > 1)
		e->log.cfg.stream_cap = t->grants.limits.out;
	e->on = true;
	return 0;
}

void guard_entry_release(struct guard_entry *e)
{
	audit_exec_release(&e->exec);
	audit_close(&e->log);
}

void guard_entry_event(struct guard *g, const char *event,
	const struct audit_fact *facts, size_t n)
{
	if (g->entry.on)
		(void)audit_event(&g->entry.log, g->out->session,
			g->out->exec_id, event, facts, n, NULL);
}

static enum audit_decision decision_of(const struct guard *g)
{
	switch (g->out->verdict.decision) {
	case POLICY_ALLOW:
		return AUDIT_ALLOW;
	case POLICY_OPEN:
		return AUDIT_OPEN;
	case POLICY_CONFIRM:
		return g->out->confirmed ? AUDIT_CONFIRM : AUDIT_DENY;
	case POLICY_DENY:
		return AUDIT_DENY;
	}
	return AUDIT_DENY;
}

/* The rule's name: "net", or "would-deny:net" where another profile would have
 * denied. */
static void name_rule(struct guard *g)
{
	const struct policy_verdict *v = &g->out->verdict;
	struct buf b = BUF_FIXED(g->out->rule);

	if (v->would > v->decision)
		buf_addf(&b, "would-%s:%s", policy_decision_name(v->would),
			v->rule);
	else
		buf_adds(&b, v->rule);
	buf_str(&b);
}

static size_t count_denials(char *const *vec)
{
	size_t n = 0;

	while (vec && vec[n])
		n++;
	return n;
}

static struct audit_start start_of(struct guard *g)
{
	char *const *argv =
		g->command->shown ? g->command->shown : g->command->argv;

	name_rule(g);
	return (struct audit_start){
		.session = g->out->session,
		.argv = (const char *const *)argv,
		.argc = count_denials(argv),
		.cwd = g->place.cwd,
		.exe = g->command->path,
		.pid = getpid(),
		.ppid = getppid(),
		.decision = decision_of(g),
		.rule = g->out->rule,
		.reason = g->out->verdict.reason,
		.policy_sha = g->terms.policy ? g->terms.policy->sum : NULL,
		.env = (const char *const *)g->box.env.vec,
		/* The policy, whose sum is recorded, has these variables. */
		.env_untold = g->box.cache_vars,
		.script = g->command->on_stdin,
	};
}

static struct audit_secrets secrets_of(const struct guard *g)
{
	return (struct audit_secrets){
		.env = (const char *const *)g->caller->env,
		.policy = &g->terms.grants.redact,
	};
}

/* The command has its number; a front end that shows it shows the log's, too. */
static void entry_is_written(struct guard *g)
{
	struct audit_head head;

	_Static_assert(sizeof g->out->log_id == AUDIT_ID, "a log's id");
	g->out->exec_id = g->entry.exec.id;
	if (g->io->correlate && !audit_peek(&g->entry.log, &head, NULL))
		memcpy(g->out->log_id, head.log_id, AUDIT_ID);
}

int guard_entry_denial(struct guard *g, struct diag *d)
{
	struct audit_start start = start_of(g);
	struct audit_secrets secrets = secrets_of(g);
	int err;

	if (!g->entry.on)
		return 0;
	err = audit_deny(&g->entry.exec, &g->entry.log, &start, &secrets,
		g->command->text, g->command->on_stdin ? g->command->len : 0,
		d);
	entry_is_written(g);
	return without_log(&g->terms, err);
}

int guard_entry_start(struct guard *g, struct diag *d)
{
	struct audit_start start = start_of(g);
	struct audit_secrets secrets = secrets_of(g);
	char text[GUARD_STRATEGY];
	int err;

	if (!g->entry.on)
		return 0;
	start.rollback = guard_undo_strategy(g, false, text);
	err = audit_start(&g->entry.exec, &g->entry.log, &start, &secrets, d);
	entry_is_written(g);
	return without_log(&g->terms, err);
}

int guard_entry_shared(struct guard *g, struct diag *d)
{
	const struct audit_fact fact = {
		.key = "shared", .text = g->box.shared};

	if (!g->entry.on || g->box.plan.view || !g->box.shared)
		return 0;
	return without_log(&g->terms,
		audit_event(&g->entry.log, g->out->session, g->out->exec_id,
			"relax", &fact, 1, d));
}

int guard_entry_relaxed(struct guard *g, struct diag *d)
{
	const unsigned missing = g->box.sandbox.missing;
	int err = 0;

	if (!g->entry.on)
		return 0;
	for (unsigned part = 1; !err && part <= missing; part <<= 1) {
		struct audit_fact fact = {
			.key = "missing",
			.text = sandbox_part_name(part),
		};

		if (missing & part)
			err = audit_event(&g->entry.log, g->out->session,
				g->out->exec_id, "relax", &fact, 1, d);
	}
	err = without_log(&g->terms, err);
	return err ? err : guard_entry_shared(g, d);
}

/* Recorded with each command, because what the policy's owner wrote last does
 * not hold. */
static int record_stale(struct guard *g, struct diag *d)
{
	const struct diag *why = &g->terms.policy->why;
	const struct audit_fact facts[] = {
		{.key = "why", .text = why->text},
		{.key = "file", .text = why->file},
		{.key = "line", .number = why->line},
	};

	if (!g->entry.on || g->terms.policy->state != POLICY_STALE)
		return 0;
	return without_log(&g->terms,
		audit_event(&g->entry.log, g->out->session, 0, "policy.stale",
			facts, why->file[0] ? ARRAY_SIZE(facts) : 1, d));
}

static int record_session(struct guard *g, struct diag *d)
{
	char hex[2 * AUDIT_HASH + 1];
	struct buf sum = BUF_FIXED(hex);
	const struct audit_fact facts[] = {
		{.key = "id", .text = g->out->session},
		{.key = "workspace", .text = g->place.root},
	};
	const struct audit_fact rules[] = {
		{.key = "profile",
			.text = policy_profile_name(g->terms.profile)},
		{.key = "sha256", .text = hex},
	};
	int err = record_stale(g, d);

	if (err || !g->entry.on || !g->entry.fresh)
		return err;
	audit_add_hex(&sum, g->terms.policy->sum, sizeof(g->terms.policy->sum));
	buf_str(&sum);
	err = audit_event(&g->entry.log, g->out->session, 0, "session.open",
		facts, ARRAY_SIZE(facts), d);
	if (!err)
		err = audit_event(&g->entry.log, g->out->session, 0,
			"policy.load", rules, ARRAY_SIZE(rules), d);
	return without_log(&g->terms, err);
}

int guard_entry_session(struct guard *g, struct diag *d)
{
	char *const *env = g->caller->env;
	const char *id = g->caller->session
				 ? g->caller->session
				 : env_get(env, "WARDBOX_SESSION_ID");
	struct session_where where = {.id = id};
	struct session_name name;
	int err;

	/* A session that is named by its id is not searched for. */
	if (!id || !*id)
		where = guard_place_base(&g->place, d);
	where.file = env_get(env, "WARDBOX_SESSION_FILE");
	err = session_resolve(&where, true, &name, d);
	if (err)
		return err;
	memcpy(g->out->session, name.id, sizeof name.id);
	g->entry.fresh = name.fresh;
	g->entry.shares_net = name.source <= SESSION_BY_FILE;
	return record_session(g, d);
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

/* Records which limit ended the command, and what enforced the limit. */
static void record_limit(struct guard *g)
{
	const struct run_result *run = &g->out->run;
	enum limits_kind limit = run->limit     ? run->limit
				 : run->refused ? LIMITS_PROCS
				 : run->cut     ? LIMITS_OUTPUT
						: LIMITS_NONE;
	enum limits_how how = (enum limits_how)g->box.sandbox.limits.how[limit];
	const struct audit_fact facts[] = {
		{.key = "limit", .text = limits_name(limit)},
		{.key = "by", .text = limits_how_name(how)},
	};

	/* Without a sandbox no part of a sandbox enforces the time limit. */
	if (limit)
		guard_entry_event(g, "limit", facts, how ? 2 : 1);
}

int guard_entry_end(struct guard *g, struct diag *d)
{
	int status = g->out->status;
	char text[GUARD_STRATEGY];
	struct audit_end end = {
		.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
		.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
		.usage = &g->out->run.usage,
		.flags = flags_of(&g->out->run),
		.rollback = guard_undo_strategy(g, true, text),
	};

	if (!g->entry.on)
		return 0;
	record_limit(g);
	return without_log(&g->terms, audit_end(&g->entry.exec, &end, d));
}
