/* guard.c - the way of a command
 * SPDX-License-Identifier: MIT
 */
#include "guard/guard.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "guard/guard_in.h"
#include "sys/proc.h"

static void guard_free(struct guard **slot)
{
	struct guard *g = *slot;

	if (!g)
		return;
	if (g->io->returns)
		proc_lower(&g->box.limits);
	if (!g->out->run.detached)
		protect_end(g->tree.protect);
	/* A caller that is about to end frees only what outlives the
	 * process. */
	if (!g->io->returns && g->out->ran) {
		limits_release(&g->box.sandbox.limits);
		return;
	}
	if (g->box.masked && g->io->returns)
		sigprocmask(SIG_SETMASK, &g->box.mask, NULL);
	guard_entry_release(&g->entry);
	free(g->tree.net.said);
	guard_box_release(&g->box);
	guard_terms_release(&g->terms);
	guard_place_release(&g->place);
	free(g);
}
#define autoguard autoclean(guard_free)

static int guard_new(struct guard **slot, const struct guard_request *q,
	struct guard_outcome *out)
{
	static const struct guard_carry nothing = {0};
	struct guard *g = calloc(1, sizeof *g);

	*out = (struct guard_outcome){.code = GUARD_OURS};
	out->started_ns = clock_ns(CLOCK_REALTIME);
	if (!g)
		return diag_errno(&out->diag, -ENOMEM, "cannot start");
	g->command = &q->command;
	g->caller = &q->caller;
	g->io = &q->io;
	g->carry = q->carry ? q->carry : &nothing;
	g->out = out;
	g->place = GUARD_PLACE_INIT;
	g->terms = GUARD_TERMS_INIT;
	g->entry = GUARD_ENTRY_INIT;
	g->box.plan = SANDBOX_PLAN_INIT;
	g->box.link = NET_LINK_INIT;
	g->box.sandbox = SANDBOX_INIT;
	g->box.argv = q->command.doer ? q->command.doer_argv
				      : q->command.argv;
	g->box.texts = &g->place.texts;
	g->tree.called = getpid();
	g->tree.caller = getppid();
	g->tree.live = SESSION_LIVE_INIT;
	*slot = g;
	return 0;
}

/* Checks that the allowed number of descriptors covers what guard opens at
 * once. */
static int need_files(size_t allowed, bool confined, struct diag *d)
{
	enum { PLAIN = 14, CONFINED = 32 };
	size_t needed = confined ? CONFINED : PLAIN;

	if (allowed >= needed)
		return 0;
	return diag_fail(d, -EMFILE,
		"%zu open files are allowed (ulimit -Hn), "
		"and a guarded command needs %zu",
		allowed, needed);
}

/* Finds the place and the terms: all that the command is judged by. */
static int find_terms(struct guard *g, bool places, struct diag *d)
{
	enum { FILES_WANTED = 64 };
	struct guard_terms *t = &g->terms;
	sigset_t too_long;
	size_t allowed;
	int err;

	/* The caller's low limits also hold for us: reaching one is an error
	 * here and no signal. The command gets the limits back. */
	sigemptyset(&too_long);
	sigaddset(&too_long, SIGXFSZ);
	g->box.masked = sigprocmask(SIG_BLOCK, &too_long, &g->box.mask) == 0;
	allowed = proc_raise(FILES_WANTED, &g->box.limits);
	err = need_files(allowed, false, d);
	if (!err)
		err = guard_place_find(&g->place, g->caller, d);
	if (!err)
		err = guard_terms_load(t, &g->place, g->caller, g->command, d);
	if (!err)
		err = need_files(allowed, t->grants.confine, d);
	g->out->profile = t->profile;
	g->out->remark = t->remark;
	g->out->output_max = t->grants.limits.out;
	if (!err)
		err = guard_entry_open(&g->entry, &g->place, t, g->caller, d);
	if (!err)
		err = guard_entry_session(g, d);
	if (!err && t->grants.limits.idle)
		guard_live_use(g);
	return err ? err : guard_env_make(&g->box, g, places, d);
}

/* The exit code of a command that ran, as a shell's parent would see it. */
static int code_of(const struct guard_outcome *out)
{
	int code = WEXITSTATUS(out->status);

	if (out->run.timed_out)
		return GUARD_TIMEOUT;
	if (WIFSIGNALED(out->status))
		return 128 + WTERMSIG(out->status);
	/* An exit code of 0 would claim that all work was done. */
	return !code && out->run.unstarted ? GUARD_OURS : code;
}

static int settle_code(struct guard_outcome *out, int err)
{
	if (!out->ran && !err)
		out->code = out->run.code;
	if (!out->ran)
		return err ? err : -ENOEXEC;
	out->broken = err != 0;
	out->code = err ? GUARD_OURS : code_of(out);
	return err;
}

/* Hands over what the next command of a sequence needs to know. */
static void carry_on(struct guard *g)
{
	if (g->carry->given) {
		*g->carry->given = g->box.env;
		g->box.env = ENV_INIT;
	}
	if (g->carry->grants) {
		*g->carry->grants = g->terms.grants;
		g->carry->grants->owned = g->terms.policy;
		g->terms.grants = (struct policy_grants){0};
		g->terms.policy = NULL;
	}
}

/* Ends the record. Where the command left something running, the supervisor has
 * ended it already. */
static int guard_finish(struct guard *g, struct diag *d)
{
	int err, end;

	if (g->out->run.detached && g->box.stays)
		return guard_live_leave(g);
	err = guard_after(g, d);
	end = guard_entry_end(g, err ? NULL : d);
	return err ? err : end;
}

int guard_run(const struct guard_request *q, struct guard_outcome *out)
{
	autoguard struct guard *g = NULL;
	struct diag *d = &out->diag;
	int err = guard_new(&g, q, out), end;

	if (err)
		return err;
	/* run_inherited() comes first, because no descriptor of ours may be
	 * open yet. */
	g->box.keep_count = run_inherited(g->box.keep, ARRAY_SIZE(g->box.keep));
	err = find_terms(g, true, d);
	if (!err)
		err = guard_judge(g, d);
	if (!err)
		err = guard_box_plan(&g->box, g, d);
	if (!err)
		err = guard_box_make(&g->box, g, d);
	if (!err)
		err = guard_entry_start(g, d);
	if (!err)
		err = guard_before(g, d);
	if (!err) {
		err = guard_execute(g, d);
		if (!err)
			guard_tell_outside(g);
		end = guard_finish(g, err ? NULL : d);
		err = err ? err : end;
	}
	carry_on(g);
	return settle_code(out, err);
}

int guard_perform(const struct guard_request *q, int (*perform)(void *ctx),
	void *ctx, struct guard_outcome *out)
{
	autoguard struct guard *g = NULL;
	struct diag *d = &out->diag;
	int err = guard_new(&g, q, out);

	if (!err)
		err = find_terms(g, false, d);
	if (!err)
		err = guard_judge(g, d);
	if (!err)
		err = guard_entry_start(g, d);
	if (err)
		return err;
	out->status = (perform(ctx) & 255) << 8;
	out->ran = true;
	return settle_code(out, guard_entry_end(g, d));
}

int guard_absent(
	const struct guard_request *q, int code, struct guard_outcome *out)
{
	autoguard struct guard *g = NULL;
	struct diag *d = &out->diag;
	int err = guard_new(&g, q, out);

	if (!err)
		err = find_terms(g, false, d);
	if (!err)
		str_copy(out->verdict.rule, sizeof out->verdict.rule,
			g->place.inside ? "inside" : "absent");
	if (!err)
		err = guard_entry_start(g, d);
	if (err)
		return err;
	out->status = code << 8;
	err = guard_entry_end(g, d);
	if (!err)
		out->code = code;
	return err;
}

int guard_try(
	const struct guard_caller *who, struct policy *policy, struct diag *d)
{
	const struct guard_request q = {.caller = *who};
	struct guard_outcome out;
	autoguard struct guard *g = NULL;
	int err = guard_new(&g, &q, &out);

	if (!err)
		err = guard_place_find(&g->place, who, d);
	if (err || g->place.inside)
		return err;
	g->terms.profile = policy_profile(policy, NULL, NULL);
	err = guard_place_project(&g->place, policy, NULL, NULL, d);
	if (!err)
		err = policy_grants(policy, g->terms.profile, g->place.root,
			g->place.home, &g->terms.grants);
	if (!err)
		err = guard_box_plan(&g->box, g, d);
	if (!err)
		err = sandbox_compile(&g->box.plan, &g->box.sandbox, d);
	return err == -ENOTSUP ? 0 : err;
}

int guard_env_left(
	const struct guard_caller *who, struct buf *left, struct diag *d)
{
	const struct guard_request q = {.caller = *who};
	struct guard_outcome out;
	autoenv struct env kept = ENV_INIT;
	autoguard struct guard *g = NULL;
	int err = guard_new(&g, &q, &out);

	if (!err)
		err = guard_place_find(&g->place, g->caller, d);
	if (!err)
		err = guard_terms_load(
			&g->terms, &g->place, g->caller, g->command, d);
	if (err || !g->terms.grants.confine)
		return err;
	return guard_env_keep(g, g->caller->env, false, &kept, left);
}

int guard_exit_signal(const struct guard_outcome *out)
{
	if (!out->ran || out->broken || out->run.timed_out ||
		!WIFSIGNALED(out->status))
		return 0;
	return WTERMSIG(out->status);
}
