/* guard_execute.c - what may run is confined and run
 * SPDX-License-Identifier: MIT
 */
#include "guard/guard_in.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/kconfig.h"
#include "base/str.h"

/* A command inside of another guard is recorded there: a terminal or a file is
 * passed on unchanged, unless the front end reads the output. */
enum run_mode guard_mode(const struct guard *g)
{
	if (g->place.inside && !g->io->output && !g->io->pty_all)
		return RUN_DIRECT;
	return g->io->pty ? RUN_PTY : RUN_CAPTURE;
}

/* What was carved out of the project cannot be kept from the command on this
 * machine: says so. */
static void tell_carved(const struct guard *g, struct diag *d)
{
	const struct sandbox_shared *at = g->box.sandbox.shared;

	if (g->out->ran || !g->box.carved_count || !at ||
		(at->step != SANDBOX_STEP_NAMESPACES &&
			at->step != SANDBOX_STEP_MOUNT))
		return;
	diag_errno(d, at->err,
		"mount: keeping %s from the command needs a"
		" mount namespace",
		g->box.carved[0]);
	if (str_eq(g->box.carved[0], g->entry.path))
		diag_hint(d,
			"the log is in the project: with a directory"
			" /var/log/wardbox/%u, mode 0700, it is kept there",
			g->place.uid);
}

/* Adds the policy line that relaxes the protection, behind the protection's own
 * hint. */
static void tell_relax(struct diag *d)
{
	char first[sizeof d->hint], part[16];
	/* A message about a missing protection begins with the protection's
	 * name. */
	const size_t n = strcspn(d->text, ":");

	BUF_PRINT(part, "%.*s", n < sizeof part ? (int)n : 0, d->text);
	memcpy(first, d->hint, sizeof first);
	if (!first[0])
		str_copy(first, sizeof first,
			"'wardbox doctor' shows what works here");
	/* A step of sandbox_apply() that failed can be relaxed by no policy
	 * line. */
	if (sandbox_part_named(part))
		diag_hint(d, "%s; a line 'relax %s' in %s goes without it",
			first, part, POLICY_SYSTEM);
	else
		diag_hint(d, "%s", first);
}

static bool is_boxed(const struct guard *g)
{
	return g->terms.grants.confine || g->carry->becomes ||
		g->box.plan.join;
}

static int compile_box(struct guard_box *b, struct guard *g, struct diag *d)
{
	int err;

	b->plan.own_exec = true; /* the shell itself is judged already */
	b->plan.keep_fds = b->keep;
	b->plan.keep_fd_count = b->keep_count;
	err = sandbox_compile(&b->plan, &b->sandbox, d);
	/* Compiling begins from an empty sandbox. */
	b->sandbox.watch.decide = guard_watch;
	b->sandbox.watch.refused_change = guard_watch_change;
	b->sandbox.watch.signal = guard_signal;
	b->sandbox.watch.ctx = b->sandbox.watch.ctx_before = g;
	b->sandbox.watch.before = guard_undo_before;
	return err;
}

int guard_box_make(struct guard_box *b, struct guard *g, struct diag *d)
{
	int err;

	b->stays = guard_stays(g);
	err = guard_net_join(b, g, d);
	if (!err && is_boxed(g))
		err = compile_box(b, g, d);
	if (err == -ENOTSUP && g->terms.grants.confine)
		tell_relax(d);
	return err;
}

void guard_box_release(struct guard_box *b)
{
	sandbox_release(&b->sandbox);
	sandbox_plan_release(&b->plan);
	net_link_release(&b->link);
	env_release(&b->env);
	free(b->own_argv);
}

/* Decides what to do without after a failed attempt. Most containers forbid
 * namespaces. A view of mounts is given up where nothing was carved out by it.
 * An own loopback is given up, too: no network at all is stricter and always
 * possible. Inside of another guard's watch a second one is impossible; the
 * policy says whether the command goes without. Nothing of the command ran
 * yet. */
static bool goes_without(struct guard_box *b, struct guard *g, struct diag *d)
{
	const struct sandbox_shared *at = b->sandbox.shared;

	if (!g->terms.grants.confine || g->out->run.started || !at)
		return false;
	if (b->plan.view && !b->sandbox.carved &&
		(at->step == SANDBOX_STEP_NAMESPACES ||
			at->step == SANDBOX_STEP_MOUNT ||
			at->step == SANDBOX_STEP_PROC))
		return guard_env_without(b, g) == 0;
	if (b->plan.net == SANDBOX_NET_LOCAL &&
		(at->step == SANDBOX_STEP_NAMESPACES ||
			at->step == SANDBOX_STEP_LOOPBACK)) {
		b->plan.net = SANDBOX_NET_NONE;
		return true;
	}
	if (at->step == SANDBOX_STEP_SECCOMP && at->err == -EBUSY &&
		b->plan.want & b->plan.relax & SANDBOX_WATCH) {
		b->plan.want &= ~(unsigned)SANDBOX_WATCH;
		b->sandbox.missing = SANDBOX_WATCH;
		return guard_entry_relaxed(g, d) == 0;
	}
	return false;
}

/* Steps around the command's life: each begins right before the command starts,
 * in this order, and ends in the opposite order when its tree is empty. If a
 * step cannot begin, the command does not run and no step ends. */
static const struct guard_step {
	int (*before)(struct guard *g, struct diag *d);
	int (*after)(struct guard *g, struct diag *d);
} steps[] = {
	{guard_entry_script, NULL},
	{guard_entry_relaxed, NULL},
	{guard_undo_begin, guard_undo_end},
	{guard_protect_begin, guard_protect_check},
	{guard_net_begin, IS_ENABLED(CONFIG_NET_NAMES) ? guard_net_end : NULL},
};

int guard_before(struct guard *g, struct diag *d)
{
	int err = 0;

	for (size_t i = 0; !err && i < ARRAY_SIZE(steps); i++)
		err = steps[i].before(g, d);
	return err;
}

int guard_after(struct guard *g, struct diag *d)
{
	int err = 0, one;

	for (size_t i = ARRAY_SIZE(steps); i--;) {
		one = steps[i].after ? steps[i].after(g, err ? NULL : d) : 0;
		err = err ? err : one;
	}
	return err;
}

int guard_execute(struct guard *g, struct diag *d)
{
	struct guard_outcome *out = g->out;
	struct guard_box *b = &g->box;
	struct run_sink sink = guard_sink(g);
	struct run_spec spec = {
		.path = g->command->doer ? g->command->doer : g->command->path,
		.argv = b->argv,
		.env = b->env.vec,
		.cwd = g->caller->cwd,
		.inherited = b->keep,
		.inherited_count = b->keep_count,
		.limits = b->limits,
		.sandbox = is_boxed(g) ? &b->sandbox : NULL,
		.mode = guard_mode(g),
		.kill_tree = g->terms.grants.confine && !b->stays,
		.stays = b->stays,
		.timeout_ns = g->io->timeout_ns,
		.output_max = g->terms.grants.limits.out,
		.output_hard = g->terms.grants.hard_output,
		.own_job = g->io->own_job,
		.pty_all = g->io->pty_all,
		.unread = g->io->unread,
		.ask_first = g->io->timeout_ns,
		.swallow = g->io->swallow,
		.keep_fds = g->io->returns,
		.keep_stderr = g->terms.grants.confine,
		.sink = &sink,
		/* Without names the keeper has nothing to tell. */
		.also = IS_ENABLED(CONFIG_NET_NAMES) ? guard_net_events : NULL,
		.also_ctx = g,
		.also_fd = b->link.sock,
	};
	int err;

	sigprocmask(SIG_SETMASK, &b->mask, NULL);
	err = run(&spec, &out->run, d);
	while (goes_without(b, g, d)) {
		sigprocmask(SIG_SETMASK, &b->mask, NULL);
		sandbox_release(&b->sandbox);
		spec.env = b->env.vec;
		err = compile_box(b, g, d);
		if (!err)
			err = run(&spec, &out->run, d);
	}
	guard_ask_end(g);
	out->ran = out->run.started;
	out->status = out->run.status;
	tell_carved(g, d);
	if (!out->ran && g->terms.grants.confine &&
		(err == -ENOTSUP || out->run.code == GUARD_OURS))
		tell_relax(d);
	return err;
}
