/* guard_execute.c - what may run is confined and run, and how it ended
 * SPDX-License-Identifier: MIT
 */
#include "guard/guard_in.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "base/str.h"

/* What the front end does itself. */
static int perform(struct guard *g)
{
	int err = guard_record_start(g, &g->r->diag);

	if (err)
		return guard_fail(g, GUARD_OURS, err);
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
	g->sandbox.watch.refused_change = guard_watch_change;
	g->sandbox.watch.ctx = g;
	return err;
}

/* Most containers forbid namespaces. A view of its own is done without, where
 * nothing was to be carved out by it. An own loopback is, too: no network at all
 * is the stricter answer, and can always be had. Inside of another guard's watch
 * there is no second one, which the policy may go without. Nothing of the command
 * ran yet. */
static bool goes_without(struct guard *g)
{
	const struct sandbox_shared *at = g->sandbox.shared;

	if (!g->grants.confine || g->r->run.started || !at)
		return false;
	if (g->plan.view && !g->sandbox.carved &&
		(at->step == SANDBOX_STEP_NAMESPACES ||
			at->step == SANDBOX_STEP_MOUNT ||
			at->step == SANDBOX_STEP_PROC)) {
		g->plan.view = false;
		return true;
	}
	if (g->plan.net == SANDBOX_NET_LOCAL &&
		(at->step == SANDBOX_STEP_NAMESPACES ||
			at->step == SANDBOX_STEP_LOOPBACK)) {
		g->plan.net = SANDBOX_NET_NONE;
		return true;
	}
	if (at->step == SANDBOX_STEP_SECCOMP && at->err == -EBUSY &&
		g->plan.want & g->plan.relax & SANDBOX_WATCH) {
		g->plan.want &= ~(unsigned)SANDBOX_WATCH;
		g->sandbox.missing = SANDBOX_WATCH;
		return guard_record_relaxed(g, &g->r->diag) == 0;
	}
	return false;
}

/* What is guarded already is recorded already: a terminal, or a file, is passed
 * on as it is unless the front end reads along. */
enum run_mode guard_mode(const struct guard *g)
{
	if (g->guarded && !g->q->output && !g->q->pty_all)
		return RUN_DIRECT;
	return g->q->pty ? RUN_PTY : RUN_CAPTURE;
}

static int execute(struct guard *g)
{
	const bool boxed = g->grants.confine || g->q->becomes;
	struct diag *d = &g->r->diag;
	struct run_sink sink = guard_sink(g);
	struct run_spec spec = {
		.path = g->q->path,
		.argv = g->argv,
		.env = g->env.vec,
		.cwd = g->q->cwd,
		.inherited = g->keep,
		.inherited_count = g->keep_count,
		.limits = g->limits,
		.sandbox = boxed ? &g->sandbox : NULL,
		.mode = guard_mode(g),
		.kill_tree = g->grants.confine && !guard_stays(g),
		.stays = guard_stays(g),
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
	int err = 0, changed;

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
	if (!err)
		err = guard_protect_begin(g, d);
	if (err)
		return guard_fail(g, GUARD_OURS, err);
	sigprocmask(SIG_SETMASK, &g->mask, NULL);
	err = run(&spec, &g->r->run, d);
	while (goes_without(g)) {
		sigprocmask(SIG_SETMASK, &g->mask, NULL);
		sandbox_release(&g->sandbox);
		err = confine(g);
		if (!err)
			err = run(&spec, &g->r->run, d);
	}
	g->r->ran = g->r->run.started;
	g->r->status = g->r->run.status;
	/* The supervisor has said all there is to say of the command. */
	if (g->r->run.detached && spec.stays)
		return err ? err : guard_live_leave(g);
	/* Its tree is empty: run() ended what the command left behind. */
	changed = guard_protect_check(g, err ? NULL : d);
	err = err ? err : changed;
	if (guard_record_end(g, err ? NULL : d) && !err)
		err = guard_fail(g, GUARD_OURS, -EIO);
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
	diag_errno(d, at->err, "mount: keeping %s from the command needs a"
		" mount namespace", g->carved[0]);
	if (str_eq(g->carved[0], g->log_path))
		diag_hint(d, "the log is in the project: with a directory"
			" /var/log/wardbox/%u, mode 0700, it is kept there",
			g->uid);
}

/* Behind what the protection itself has to say. */
static void tell_relax(struct diag *d)
{
	char first[sizeof d->hint], part[16];
	/* A message about what is missing begins with its name. */
	const size_t n = strcspn(d->text, ":");

	BUF_PRINT(part, "%.*s", n < sizeof part ? (int)n : 0, d->text);
	memcpy(first, d->hint, sizeof first);
	if (!first[0])
		str_copy(first, sizeof first,
			"'wardbox doctor' shows what works here");
	/* A step that failed is none that a policy can go without. */
	if (sandbox_part_named(part))
		diag_hint(d, "%s; a line 'relax %s' in %s goes without it",
			first, part, POLICY_SYSTEM);
	else
		diag_hint(d, "%s", first);
}

int guard_execute(struct guard *g)
{
	struct diag *d = &g->r->diag;
	int err = execute(g);

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
	/* It would say that all of it was done. */
	if (!g->r->code && g->r->run.unstarted)
		g->r->code = GUARD_OURS;
	return err;
}
