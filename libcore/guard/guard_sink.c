/* guard_sink.c - what the log learns while a command runs
 * SPDX-License-Identifier: MIT
 */
#include "guard/guard_in.h"

#include <signal.h>
#include <unistd.h>

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
