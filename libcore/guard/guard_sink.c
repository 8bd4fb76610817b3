/* guard_sink.c - what the log learns while a command runs, and of what it leaves behind
 * SPDX-License-Identifier: MIT
 */
#include "guard/guard_in.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "base/uapi/linux.h"

static const enum audit_io io_kind[RUN_STREAMS] = {
	[RUN_STDIN] = AUDIT_IN,
	[RUN_STDOUT] = AUDIT_OUT,
	[RUN_STDERR] = AUDIT_ERR,
	[RUN_TTYIN] = AUDIT_TTYIN,
	[RUN_TTYOUT] = AUDIT_TTYOUT,
};

static int record_bytes(void *ctx, enum run_stream stream, const void *bytes,
	size_t n, bool echo)
{
	struct guard *g = ctx;
	/* Somebody beside the log wants all the bytes. */
	bool wanted =
		g->io->output && stream != RUN_STDIN && stream != RUN_TTYIN;
	int err;

	if (wanted)
		g->io->output(g->io->output_ctx,
			stream == RUN_STDERR ? STDERR_FILENO : STDOUT_FILENO,
			bytes, n);
	if (!g->entry.on)
		return wanted ? RUN_MORE : RUN_ENOUGH;
	err = echo ? audit_io(&g->entry.exec, io_kind[stream], bytes, n,
			     &g->out->diag)
		   : audit_io_hidden(&g->entry.exec, &g->out->diag);
	g->entry.seen[stream] += n;
	/* Of a long stream the log keeps the first and the last bytes. */
	if (!err && !wanted &&
		g->entry.seen[stream] >= g->entry.log.cfg.stream_cap)
		return RUN_TAIL;
	return err ? err : RUN_MORE;
}

static int record_skip(void *ctx, enum run_stream stream, uint64_t n)
{
	struct guard *g = ctx;

	return audit_io_skip(&g->entry.exec, io_kind[stream], n, &g->out->diag);
}

static int record_winsize(void *ctx, const struct winsize *size)
{
	struct guard *g = ctx;

	return audit_winsize(
		&g->entry.exec, size->ws_col, size->ws_row, &g->out->diag);
}

static int record_signal(void *ctx, int sig)
{
	struct guard *g = ctx;

	return audit_signal(&g->entry.exec, sig, &g->out->diag);
}

static int next_tick(void *ctx)
{
	struct guard *g = ctx;
	int due = g->entry.on ? audit_due(&g->entry.exec) : -1;
	int ask = guard_ask_timeout(g);

	if (due < 0 || ask < 0)
		return due < 0 ? ask : due;
	return due < ask ? due : ask;
}

static int sink_tick(void *ctx)
{
	struct guard *g = ctx;

	guard_ask_look(g);
	return g->entry.on ? audit_tick(&g->entry.exec, &g->out->diag) : 0;
}

static int ask_fd(void *ctx)
{
	return guard_ask_fd(ctx);
}

static void ask_look(void *ctx)
{
	guard_ask_look(ctx);
}

/* Records that the supervisor was killed while the command ran; called by the
 * process that outlives it. */
static void record_lost(void *ctx)
{
	struct guard *g = ctx;

	(void)audit_event(&g->entry.log, g->out->session, g->out->exec_id,
		"supervisor.lost", NULL, 0, NULL);
	/* The command's end is in the log already. */
	if (g->tree.lives)
		return;
	g->out->status = SIGKILL;
	(void)guard_entry_end(g, NULL);
}

int guard_entry_script(struct guard *g, struct diag *d)
{
	/* Of a script in a file the log has what the shell reads. */
	if (!g->entry.on || !g->command->on_stdin ||
		lseek(STDIN_FILENO, 0, SEEK_CUR) >= 0)
		return 0;
	return audit_io(
		&g->entry.exec, AUDIT_IN, g->command->text, g->command->len, d);
}

static void ask_stop(void *ctx)
{
	guard_ask_stop(ctx);
}

struct run_sink guard_sink(struct guard *g)
{
	struct run_sink sink = {.ctx = g,
		.bytes = record_bytes,
		.timeout_ms = next_tick,
		.due = sink_tick,
		.ask_fd = ask_fd,
		.ask_look = ask_look,
		.ask_stop = ask_stop};

	guard_live_sink(&sink);
	if (!g->entry.on)
		return sink;
	sink.skipped = record_skip;
	sink.winsize = record_winsize;
	sink.signal = record_signal;
	sink.lost = record_lost;
	return sink;
}

bool guard_stays(const struct guard *g)
{
	const enum policy_background said = g->terms.grants.background;

	if (!g->terms.grants.confine || g->place.inside || g->io->dry ||
		said == POLICY_BACKGROUND_END ||
		(said == POLICY_BACKGROUND_UNSAID && !g->io->keeps))
		return false;
	/* Without a program and without a job nothing can be left running. */
	return !g->box.brief || !g->command->text ||
	       memchr(g->command->text, '&', g->command->len);
}

void guard_live_use(struct guard *g)
{
	const struct session_where where = guard_place_base(&g->place, NULL);
	autofd int dir = session_dir(&where, false, NULL, NULL);

	if (dir >= 0)
		session_live_use(dir, g->out->session);
}

/* The process with which the session ends; 0: the container. If a harness makes
 * each command a session leader, the harness's own session leader counts. */
static pid_t live_holder(const struct guard *g)
{
	pid_t holder = g->io->holder ? g->io->holder : getsid(g->tree.called);

	if (holder == g->tree.called && !g->io->holder)
		holder = getsid(g->tree.caller);
	return holder > GUARD_HELD_BY_NONE ? holder : 0;
}

int guard_live_leave(struct guard *g)
{
	struct audit_log fresh = AUDIT_LOG_INIT;
	int err = 0;

	if (g->entry.on)
		err = audit_open(
			&fresh, g->entry.log.dirfd, g->place.uid, &g->entry.log.cfg, NULL);
	if (!err && g->entry.on) {
		audit_close(&g->entry.log);
		g->entry.log = fresh;
	}
	/* The limits are the supervisor's: forgotten here and not removed. */
	g->box.sandbox.limits = LIMITS_INIT;
	return err;
}

static void live_note(struct guard *g, const char *event, bool ended)
{
	const struct audit_fact facts[] = {
		{.key = "pid", .number = (uint64_t)getpid()},
		{.key = "why", .text = g->out->run.limit != LIMITS_NONE ?
				limits_name(g->out->run.limit) : "session"},
	};

	guard_entry_event(g, event, facts, 1 + ended);
}

/* Writes what there is to say of the command itself. */
static int live_command(struct guard *g)
{
	int err;

	g->out->ran = true;
	g->out->status = g->out->run.status;
	err = guard_protect_check(g, NULL);
	return guard_entry_end(g, NULL) ? -EIO : err;
}

static int live_stays(void *ctx)
{
	struct guard *g = ctx;
	const struct session_where where = guard_place_base(&g->place, NULL);
	autofd int dir = session_dir(&where, true, NULL, NULL);
	const pid_t holder = live_holder(g);
	autofd int fd = -1;
	int err;

	if (holder)
		fd = (int)syscall(NR_PIDFD_OPEN, holder, 0);
	if (holder && fd < 0 && errno == ESRCH)
		return -ESRCH;
	/* A program that nobody could find later is not kept. */
	err = dir < 0 ? dir : session_live_enter(
				      dir, g->out->session, getpid(), &g->tree.live);
	if (!err)
		err = live_command(g);
	if (err) {
		session_live_leave(&g->tree.live);
		return -EIO;
	}
	g->tree.lives = true;
	live_note(g, "background.begin", false);
	return fd < 0 ? -EBADF : fd_steal(&fd);
}

/* The front was killed, and no program is left. */
static void live_orphaned(void *ctx)
{
	struct guard *g = ctx;

	g->out->ran = true;
	g->out->status = g->out->run.status;
	(void)guard_after(g, NULL);
	(void)guard_entry_end(g, NULL);
}

static int live_over_ms(void *ctx)
{
	enum { MS = 1000000, LONGEST_MS = 3600000 };
	const struct guard *g = ctx;
	const uint64_t idle = g->terms.grants.limits.idle;
	const uint64_t used = idle ? session_live_used(&g->tree.live) : 0;
	const uint64_t now = clock_ns(CLOCK_REALTIME);
	uint64_t left;

	if (!used || idle > UINT64_MAX - used)
		return -1;
	left = used + idle > now ? (used + idle - now + MS - 1) / MS : 0;
	return left < LONGEST_MS ? (int)left : LONGEST_MS;
}

static void live_gone(void *ctx, bool ended)
{
	struct guard *g = ctx;

	(void)guard_after(g, NULL);
	protect_end(g->tree.protect);
	live_note(g, "background.end", ended);
	session_live_leave(&g->tree.live);
}

void guard_live_sink(struct run_sink *sink)
{
	sink->stays = live_stays;
	sink->orphaned = live_orphaned;
	sink->over_ms = live_over_ms;
	sink->gone = live_gone;
}
