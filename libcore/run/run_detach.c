/* run_detach.c - goes on for those that the command left behind
 * SPDX-License-Identifier: MIT
 */
#include "run/run_in.h"

#include <errno.h>
#include <unistd.h>

/* Goes on in the fork until the last writer is gone. All signals are blocked; a
 * writer that is killed ends its stream. */
__attribute__((noreturn)) static void go_on(struct run_state *st)
{
	const struct run_sink *sink = st->spec->sink;

	close(st->sigfd);
	st->sigfd = -1;
	st->canary = 0;
	if (sink && (!sink->detach || sink->detach(sink->ctx)))
		for (size_t i = 0; i < RUN_PUMPS; i++)
			st->pumps[i].show = NULL;
	run_stdio_release(st);
	run_loop_rest(st);
	if (sink && sink->flush)
		sink->flush(sink->ctx);
	_exit(0);
}

static bool is_left(const struct run_state *st)
{
	const struct sandbox *s = st->spec->sandbox;

	for (size_t i = 0; i < RUN_PUMPS; i++)
		if (!pump_ended(&st->pumps[i]))
			return true;
	return s && watch_fd(&s->watch) >= 0;
}

int run_detach(struct run_state *st)
{
	const struct run_sink *sink = st->spec->sink;
	pid_t pid;
	int err = 0;

	if (st->spec->kill_tree || st->died_of || st->err || !is_left(st))
		return 0;
	if (sink && sink->flush)
		err = sink->flush(sink->ctx);
	if (err < 0)
		return err;
	pid = fork();
	if (pid == 0)
		go_on(st);
	st->result->detached = pid > 0;
	return pid < 0 ? -errno : 0;
}
