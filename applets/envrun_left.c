/* envrun_left.c - what a command left, taken into the session's state
 * SPDX-License-Identifier: MIT
 */
#include "envrun.h"

#include <string.h>

#include "log/audit_write.h"
#include "sys/dirs.h"
#include "sys/probe.h"
#include "base/str.h"

/* Set by the guard anew for each confined command. */
static bool set_by_guard(const struct policy_grants *rules, const char *pair,
	const char *name)
{
	return rules->confine &&
		(str_eq(name, "TMPDIR") || str_eq(name, "TMPPREFIX") ||
			policy_word_in(&rules->env_set, pair));
}

struct cleaning {
	const struct envrun *e;
	const struct policy_grants *rules;
	const struct env *given; /* NULL: nothing is the line's own */
	struct buf *stripped;
};

/* Did the line itself export the variable? A variable with the value that it
 * was given is no export. */
static bool is_own(const struct cleaning *c, const char *pair, const char *name)
{
	const char *value;

	if (!c->given)
		return false;
	value = env_get(c->given->vec, name);
	return !value || !str_eq(value, pair + strlen(name) + 1);
}

static bool reaches_next(void *ctx, const char *pair)
{
	const struct cleaning *c = ctx;
	size_t n = strcspn(pair, "=");
	enum policy_env_fate fate;
	char name[256];

	if (n >= sizeof name)
		return false;
	memcpy(name, pair, n);
	name[n] = '\0';
	if (!state_carries(pair) || set_by_guard(c->rules, pair, name))
		return false;
	fate = policy_env(c->rules, name);
	/* OBSERVE takes nothing away; within a guarded command the policy of
	 * the guard around holds. */
	if (fate == POLICY_ENV_DENY && !c->rules->confine && !probe_inside())
		fate = POLICY_ENV_DROP;
	if (fate == POLICY_ENV_KEEP || fate == POLICY_ENV_ANY ||
		(fate != POLICY_ENV_DENY && !c->e->strict))
		return true;
	if (is_own(c, pair, name))
		buf_addf(c->stripped, "%s%s", c->stripped->len ? " " : "", name);
	return false;
}

static void note_change(struct buf *out, char sign, const char *pair)
{
	buf_addf(out, "%c ", sign);
	cli_escape_str(out, pair);
	buf_addc(out, '\n');
}

void envrun_note_move(struct buf *out, const char *from, const char *to)
{
	if (str_eq(from, to))
		return;
	buf_adds(out, "cwd ");
	cli_escape_str(out, from);
	buf_adds(out, " -> ");
	cli_escape_str(out, to);
	buf_addc(out, '\n');
}

static int note_gone(void *out, const char *pair, const char *there)
{
	if (!there)
		note_change(out, '-', pair);
	return 0;
}

static int note_new(void *out, const char *pair, const char *there)
{
	note_change(out, there ? '~' : '+', pair);
	return 0;
}

void envrun_take_place(struct envrun *e, const struct capture *c,
	struct envrun_outcome *out)
{
	struct state *s = &e->state;

	/* Deleted under it: the old place, or its parent. */
	if (!c->cwd[0] || str_eq(s->cwd, c->cwd))
		return;
	envrun_note_move(&out->changes, s->cwd, c->cwd);
	state_path(&s->cwd, c->cwd);
	dirs_name(s, NULL);
}

/* PWD, when it is a true name of where the shell stood. */
static void take_names(
	struct state *s, const struct capture *c, const char *before)
{
	const char *old = env_get(c->env.vec, "OLDPWD");

	/* mksh keeps it to itself until it was given one. */
	if (!old && before && c->cwd[0] && !str_eq(before, c->cwd))
		old = before;
	if (old && old[0] == '/')
		state_path(&s->old, old);
	if (c->cwd[0])
		dirs_name(s, env_get(c->env.vec, "PWD"));
}

static void record_names(const struct guard_caller *who,
	const struct envrun_outcome *out, const char *event, const char *key,
	const char *text)
{
	struct audit_fact fact = {.key = key, .text = text};

	guard_note(who, &out->guard, event, &fact, 1);
}

void envrun_lost(const struct guard_request *q, struct envrun_outcome *out)
{
	static const char *const why[] = {
		[CAPTURE_NO_DUMP] = "the shell did not answer (exec, an EXIT "
			"trap, or a variable of 128 KiB)",
		[CAPTURE_TOO_LARGE] = "its environment is too large",
		[CAPTURE_KILLED] = "the shell was killed",
	};

	buf_addf(&out->notes, "%sthe state stays as it was: %s",
		out->notes.len ? "; " : "", why[out->capture]);
	record_names(&q->caller, out, "env.lost", "why",
		capture_name(out->capture));
}

void envrun_take_over(struct envrun *e, const struct guard_request *q,
	struct capture *c, struct envrun_outcome *out)
{
	struct state *s = &e->state;
	autobuf struct buf names = BUF_INIT(0);
	struct cleaning left = {e, q->carry->grants, q->carry->given, &out->stripped};
	/* The environment that is being cleaned is not read meanwhile. */
	struct cleaning given = {e, q->carry->grants, NULL, &names};
	struct env before;

	autofree char *was = strdup(s->pwd ? s->pwd : s->cwd);

	envrun_take_place(e, c, out);
	take_names(s, c, was);
	env_filter(&c->env, reaches_next, &left);
	/* The variables that a first command began with are no change of its own. */
	if (!s->has_env) {
		env_filter(q->carry->given, reaches_next, &given);
		s->env = *q->carry->given;
		*q->carry->given = ENV_INIT;
	}
	if (!env_same(&s->env, &c->env)) {
		env_differ(&s->env, &c->env, note_gone, &out->changes);
		env_differ(&c->env, &s->env, note_new, &out->changes);
	}
	before = s->env;
	s->env = c->env;
	c->env = s->has_env ? before : ENV_INIT;
	if (!s->has_env)
		s->first_env = before;
	s->has_env = true;
	if (out->stripped.len)
		record_names(&q->caller, out, "env.stripped", "names",
			buf_str(&out->stripped));
}
