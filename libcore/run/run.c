/* run.c - run a command as if nobody stood between it and its caller
 * SPDX-License-Identifier: MIT
 */
#include "run/run.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/run_pty_in.h"
#include "run/run_in.h"

enum { OURS = 125, DENIED = 126, NOTFOUND = 127 };

static int not_started(struct run_state *st, int err, bool exec)
{
	const struct run_spec *spec = st->spec;

	st->result->code = OURS;
	if (!exec)
		return 0;
	/* Without descriptors nobody could look at the program. */
	if (err != -EMFILE && err != -ENFILE)
		st->result->code = err == -ENOENT || err == -ENOTDIR
			? NOTFOUND
			: DENIED;
	diag_errno(st->d, err, "cannot run %s", spec->path);
	if (err == -ENOENT && access(spec->path, F_OK) == 0)
		diag_hint(st->d, "its interpreter or loader is missing");
	return 0;
}

static int spawn_failed(struct run_state *st, int err, enum proc_step step)
{
	if (step == PROC_SETUP && st->spec->cwd)
		diag_errno(st->d, err, "cannot change to %s", st->spec->cwd);
	else
		diag_errno(st->d, err, "cannot start %s", st->spec->path);
	return not_started(st, err, step == PROC_EXEC);
}

static int start_monitor(struct run_state *st)
{
	enum proc_step step = PROC_FORK;
	int err;

	st->pid = fork();
	if (st->pid == 0)
		run_monitor(st);
	err = st->pid < 0 ? -errno : run_pty_start(st, &step);
	if (err == 0)
		return 1;
	if (st->pid > 0)
		run_signals_wait(st);
	return spawn_failed(st, err, step);
}

static int start_plain(struct run_state *st)
{
	const struct run_spec *spec = st->spec;
	enum proc_step step;
	int err;

	if (spec->kill_tree || spec->timeout_ns) {
		prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
		err = limits_others(&st->others);
		if (err)
			return spawn_failed(st, err, PROC_FORK);
	}
	if (st->talk[0] >= 0)
		return start_monitor(st);
	st->setup.parent = getpid();
	err = proc_spawn(
		&st->setup, spec->path, spec->argv, spec->env, &st->pid, &step);
	return err == 0 ? 1 : spawn_failed(st, err, step);
}

void run_child(struct run_state *st)
{
	const struct run_spec *spec = st->spec;
	int err = proc_setup(&st->setup);

	if (err)
		sandbox_child_fail(spec->sandbox, SANDBOX_STEP_SETUP, err);
	if (sandbox_apply(spec->sandbox))
		_exit(OURS);
	proc_restore(&st->setup);
	err = sandbox_exec(spec->sandbox, spec->path, spec->argv, spec->env);
	sandbox_child_fail(spec->sandbox, SANDBOX_STEP_EXEC, err);
}

static void start_child(void *ctx)
{
	struct run_state *st = ctx;

	if (st->talk[0] >= 0)
		run_monitor(st);
	run_child(st);
}

static int start_confined(struct run_state *st)
{
	struct sandbox *s = st->spec->sandbox;
	/* A monitor stays beside the command. */
	pid_t pid = sandbox_spawn(s, start_child, st, st->talk[0] < 0);

	if (pid < 0) {
		diag_errno(st->d, pid, "cannot start a process");
		return not_started(st, pid, false);
	}
	st->pid = pid;
	sandbox_take_watch(s);
	s->watch.denying = run_signals_denying;
	s->watch.denying_ctx = st;
	if (st->talk[0] >= 0) {
		close(st->talk[1]);
		st->talk[1] = -1;
	}
	return 1;
}

/* Does the wait status mean that the command ran? */
static int command_ran(struct run_state *st)
{
	struct sandbox *s = st->spec->sandbox;
	struct run_result *r = st->result;
	bool ran;

	if (!s)
		return 0;
	if (r->limit == LIMITS_NONE)
		r->limit = limits_check(&s->limits, true);
	r->refused = s->watch.refused;
	r->unstarted = s->watch.unstarted;
	memcpy(r->unstarted_name, s->watch.unstarted_name, WATCH_NAME);
	ran = sandbox_outcome(s, &r->status, st->d);
	/* With a monitor, the monitor has reported the end already. */
	if (st->told)
		r->status = st->told_status;
	if (ran)
		return 0;
	r->started = false;
	return not_started(
		st, s->shared->err, s->shared->step == SANDBOX_STEP_EXEC);
}

static int finish_run(struct run_state *st, int err)
{
	struct run_result *r = st->result;

	r->duration_ns = run_now() - st->start_ns;
	run_pty_close(st);
	if (st->died_of)
		r->status = st->died_of;
	if (err == 0)
		err = run_show_tails(st);
	if (err == 0)
		err = run_stdio_files(st);
	for (int i = 0; i < RUN_STREAMS; i++)
		if (r->captured >> i & 1 && r->bytes[i] > st->shown[i])
			r->truncated |= 1U << i;
	command_ran(st);
	if (err == 0 && r->started && !st->spec->stays)
		err = run_detach(st);
	else if (err == 0 && r->started && run_front_left(st))
		run_front_part(st);
	return err;
}

static int begin_run(struct run_state *st)
{
	const struct run_sink *sink = st->spec->sink;
	int started;

	st->start_ns = run_now();
	if (st->spec->sandbox)
		st->spec->sandbox->watch.err_from = run_stdio_errors(st);
	started = st->spec->sandbox ? start_confined(st) : start_plain(st);
	run_stdio_close_theirs(st);
	st->result->started = started == 1;
	if (started == 1 && sink && sink->started)
		st->err = sink->started(sink->ctx, st->pid);
	return started;
}

/* The work itself, once it is known what happens to the descriptors. */
static int do_work(struct run_state *st)
{
	int err = 0;

	if (begin_run(st) == 1) {
		err = run_loop(st);
		err = finish_run(st, err);
		if (err && st->d && !st->d->text[0])
			diag_errno(st->d, err, "cannot stay with the command");
	}
	run_pty_close(st);
	run_signals_dismiss(st);
	return err;
}

int run(const struct run_spec *spec, struct run_result *result, struct diag *d)
{
	struct run_state st = {.spec = spec,
		.result = result,
		.d = d,
		.setup = PROC_SETUP_INIT,
		.theirs = {-1, -1, -1, -1},
		.pty = PTY_INIT,
		.talk = {-1, -1},
		.link = {-1, -1},
		.session = -1,
		.null = -1,
		.sigfd = -1,
		.space = -1};
	int err;

	/* A pump that never begins must not close descriptor 0 at its end. */
	for (size_t i = 0; i < RUN_PUMPS; i++)
		st.pumps[i].from = st.pumps[i].to = -1;
	memset(result, 0, sizeof(*result));
	result->code = OURS;
	st.setup.cwd = spec->cwd;
	err = run_signals_take(&st);
	result->mask = st.setup.mask;
	if (err)
		return diag_errno(d, err, "cannot read signals");
	st.setup.limits = spec->limits;
	err = run_stdio_open(&st);
	if (err == 0)
		err = spec->stays ? run_front(&st, do_work) : do_work(&st);
	run_pty_close(&st);
	run_stdio_close(&st);
	buf_release(&st.others);
	run_signals_give_back(&st);
	cleanup_fd(&st.space);
	return err;
}
