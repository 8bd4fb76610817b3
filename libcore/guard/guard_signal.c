/* guard_signal.c - signals to what earlier commands of the session left behind
 * SPDX-License-Identifier: MIT
 *
 * Each command has a Landlock domain of its own, out of which it sends no signal.
 * What an earlier command of the same session left running is the session's all
 * the same: the supervisor sends the signal in the command's place. Everything
 * else is left to the kernel.
 */
#include "guard/guard_in.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/uapi/linux.h"

struct signalled {
	int dir; /* the sessions' */
	const char *id;
	pid_t self, supervisor, to;
	int sig;
	int result; /* WATCH_DONE: at least one got it; -errno; 0: none is meant */
};

static int is_it(void *ctx, const struct limits_process *p)
{
	return p->guarded && p->pid == *(const pid_t *)ctx;
}

/* What a descriptor stands for is not another process: that it is one of the tree
 * is looked at once more when the descriptor is there. */
static int send_one(void *ctx, const struct limits_process *p)
{
	struct signalled *s = ctx;
	pid_t pid = p->pid;
	autofd int fd = -1;

	if (!p->guarded || (s->to > 0 ? pid != s->to : getpgid(pid) != -s->to))
		return 0;
	fd = (int)syscall(NR_PIDFD_OPEN, pid, 0);
	if (fd < 0 || limits_descendants(s->supervisor, is_it, &pid) != 1)
		return 0;
	if (!syscall(NR_PIDFD_SEND_SIGNAL, fd, s->sig, NULL, 0))
		s->result = WATCH_DONE;
	else if (!s->result)
		s->result = -errno;
	return s->to > 0;
}

static int send_below(void *ctx, pid_t supervisor)
{
	struct signalled *s = ctx;

	s->supervisor = supervisor;
	return supervisor == s->self
		? 0
		: limits_descendants(supervisor, send_one, s);
}

static int live_dir(struct guard *g)
{
	const struct session_where where = guard_place_base(&g->place, NULL);

	return session_dir(&where, false, NULL, NULL);
}

int guard_signal(void *ctx, pid_t to, int sig)
{
	struct guard *g = ctx;
	autofd int dir = live_dir(g);
	struct signalled s = {.dir = dir, .id = g->out->session,
		.self = getpid(), .to = to, .sig = sig};

	if (dir >= 0)
		(void)session_live(dir, s.id, send_below, &s);
	return s.result;
}

static int is_there(void *ctx, pid_t supervisor)
{
	(void)ctx;
	return supervisor > 0;
}

bool guard_signals(const struct guard *g)
{
	const enum policy_background said = g->terms.grants.background;
	autofd int dir = -1;

	if (said == POLICY_BACKGROUND_END || !g->out->session[0] ||
		(said == POLICY_BACKGROUND_UNSAID && !g->io->keeps))
		return false;
	dir = live_dir((struct guard *)(uintptr_t)g);
	return dir >= 0 && session_live(dir, g->out->session, is_there, NULL) == 1;
}
