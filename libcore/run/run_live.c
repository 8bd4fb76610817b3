/* run_live.c - the supervisor of what a command left behind
 * SPDX-License-Identifier: MIT
 *
 * The front has ended, or is about to. This process is the parent of what lives
 * on, answers its watch, looks at its limits and passes its output on, until
 * nothing of it is left or its session is over.
 */
#include "run/run_in.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "sys/lean.h"

enum {
	PATIENCE_MS = 2000, /* from SIGTERM to SIGKILL */
	MS = 1000000,
};

/* Closes everything that no pump needs and whose end the caller may wait
 * for. */
static void live_release(struct run_state *st)
{
	for (int fd = 0; fd <= 2; fd++)
		st->files[fd].on = false;
	run_stdio_release(st);
	close(st->link[0]);
	close(st->link[1]);
	st->link[0] = st->link[1] = -1;
	/* A directory of the caller's must stay unmountable. */
	if (chdir("/") < 0)
		return;
}

void run_live_orphaned(struct run_state *st)
{
	const struct run_sink *sink = st->spec->sink;

	if (st->result->started && sink && sink->orphaned)
		sink->orphaned(sink->ctx);
	else if (!st->result->started && sink && sink->lost)
		sink->lost(sink->ctx);
	if (st->spec->sandbox)
		limits_release(&st->spec->sandbox->limits);
}

static void live_begin(struct run_state *st)
{
	struct sandbox *s = st->spec->sandbox;

	/* Signals for the caller's group and terminal are not for us any
	 * more. */
	setsid();
	run_signals_own_read(st);
	st->front = 0;
	st->living = st->reaped = st->settled = true;
	live_release(st);
	/* Late bytes are in no record, because the command's record has its
	 * end. */
	for (size_t i = 0; i < RUN_PUMPS; i++)
		st->pumps[i].show = NULL;
	/* The command's limit on time is no limit for the rest. */
	if (s)
		s->limits.spec.wall_ns = 0;
	lean_heap();
	lean_code();
}

/* Ends everything that is left: SIGTERM, and after a while SIGKILL. */
static void live_end(struct run_state *st)
{
	const uint64_t due = run_now() + (uint64_t)PATIENCE_MS * MS;

	limits_signal(getpid(), SIGTERM);
	st->asked_ns = run_now();
	while (run_front_left(st) && run_now() < due)
		run_loop_once(st);
	run_loop_kill(st);
}

/* Gives up the part of the stack that only the front used, once the front is
 * gone. */
static pid_t live_lean(const struct run_state *st, pid_t front)
{
	if (!front || getppid() == front)
		return front;
	lean_stack(st);
	return 0;
}

void run_live(struct run_state *st)
{
	const struct run_sink *sink = st->spec->sink;
	pid_t front = st->front;
	bool ended = false;

	live_begin(st);
	while (!ended && run_front_left(st)) {
		front = live_lean(st, front);
		if (st->spec->sandbox)
			watch_lean(&st->spec->sandbox->watch);
		ended = st->over || run_loop_once(st) || st->over ||
			st->result->limit != LIMITS_NONE;
	}
	if (ended)
		live_end(st);
	run_signals_dismiss(st);
	if (sink && sink->gone)
		sink->gone(sink->ctx, ended);
	if (st->spec->sandbox)
		limits_release(&st->spec->sandbox->limits);
	_exit(0);
}
