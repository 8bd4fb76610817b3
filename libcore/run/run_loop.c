/* run_loop.c - waits for all at once: signals, bytes, the watch, clocks
 * SPDX-License-Identifier: MIT
 */
#include "run/run_pty_in.h"
#include "run/run_in.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

enum {
	/* After this time a command gets the whole service: a witness for
	 * signals, and descriptors are closed. Most commands end before. */
	SETTLE_MS = 8,
	MS = 1000000,
	GRACE_MS = 200,
	END_MS = 20,     /* patience with what was told to end */
	SCREEN_MAX = 1 << 17, /* more than a terminal can hold */
};

uint64_t run_now(void)
{
	return clock_ns(CLOCK_BOOTTIME);
}

/* How many of n bytes may still pass the hard limit. */
static size_t bytes_allowed(const struct run_state *st, size_t n)
{
	uint64_t left = st->spec->output_max > st->passed
				? st->spec->output_max - st->passed
				: 0;

	return left < n ? (size_t)left : n;
}

static int tell_cut(struct run_state *st, enum run_stream stream)
{
	const struct run_sink *sink = st->spec->sink;

	st->result->cut = true;
	return sink && sink->cut ? sink->cut(sink->ctx, stream) : 0;
}

/* Shows bytes to the sink: PUMP_MORE or PUMP_ENOUGH. */
static int tell_bytes(struct run_state *st, enum run_stream stream,
	const void *bytes, size_t n, bool echo)
{
	const struct run_sink *sink = st->spec->sink;
	unsigned bit = 1U << stream;
	int answer;

	if (!sink || !sink->bytes)
		return PUMP_ENOUGH;
	if (st->seen & bit)
		return PUMP_ENOUGH;
	answer = sink->bytes(sink->ctx, stream, bytes, n, echo);
	if (answer < 0) {
		st->err = answer;
		return answer;
	}
	st->shown[stream] += n;
	if (answer == RUN_MORE)
		return PUMP_MORE;
	st->seen |= bit;
	return answer == RUN_TAIL && sink->skipped ? PUMP_TAIL : PUMP_ENOUGH;
}

int run_show(void *ctx, struct pump *p, const void *bytes, size_t n)
{
	struct run_state *st = ctx;
	enum run_stream stream = (enum run_stream)p->tag;
	bool keys = stream == RUN_TTYIN;
	bool hard = st->spec->output_hard && stream != RUN_STDIN && !keys;
	size_t pass = hard ? bytes_allowed(st, n) : n;
	bool echo = !keys || !run_pty_hidden(st);
	int answer = tell_bytes(st, stream, bytes, pass, echo);

	if (answer < 0)
		return answer;
	/* Some keys do what the terminal's settings say at that moment. */
	if (keys) {
		run_pty_keys(st, bytes, n);
		return PUMP_MORE;
	}
	if (stream != RUN_STDIN)
		st->passed += pass;
	if (!hard)
		return answer;
	if (pass == n)
		return PUMP_MORE;
	p->allow = pass;
	answer = st->result->cut ? 0 : tell_cut(st, stream);
	return answer < 0 ? answer : PUMP_DROP;
}

static int sooner_of(int a, int b)
{
	if (a < 0 || b < 0)
		return a < 0 ? b : a;
	return a < b ? a : b;
}

static int ms_until(uint64_t when, uint64_t now)
{
	uint64_t ms = when > now ? (when - now + MS - 1) / MS : 0;

	return ms > 60000 ? 60000 : (int)ms;
}

/* Is the command confined and begun? Until then no input is taken and no
 * descriptor closed, because a command that cannot be confined may be tried
 * once more. */
static bool is_begun(const struct run_state *st)
{
	return !st->spec->sandbox || st->reaped ||
	       st->spec->sandbox->shared->applied;
}

/* Milliseconds until the session of the background programs is over; -1: not
 * known. */
static int over_in(const struct run_state *st)
{
	const struct run_sink *sink = st->spec->sink;

	return sink && sink->over_ms ? sink->over_ms(sink->ctx) : -1;
}

static int loop_timeout(const struct run_state *st)
{
	const struct run_spec *spec = st->spec;
	const struct run_sink *sink = spec->sink;
	uint64_t now = run_now();
	int ms = -1;

	if (!st->settled)
		ms = ms_until(st->start_ns + (uint64_t)SETTLE_MS * MS, now);
	if (!is_begun(st))
		ms = 1;
	if (st->asked_ns && !st->reaped)
		return ms_until(st->asked_ns + (uint64_t)GRACE_MS * MS, now);
	if (spec->timeout_ns && !st->reaped)
		ms = sooner_of(ms, ms_until(st->start_ns + spec->timeout_ns,
			now));
	if (spec->sandbox && (!st->reaped || st->living))
		ms = sooner_of(ms, limits_timeout(&spec->sandbox->limits));
	if (st->living)
		ms = sooner_of(ms, st->asked_ns ? END_MS : over_in(st));
	if (sink && sink->timeout_ms && !st->living)
		ms = sooner_of(ms, sink->timeout_ms(sink->ctx));
	return ms;
}

/* A program that is about to end by itself, such as a reader whose writer is
 * gone, gets a moment for that, because nobody left it running. */
void run_loop_tell_left(struct run_state *st)
{
	enum { ROUNDS = 25 };
	const struct timespec pause = {.tv_nsec = 2 * MS};
	struct run_result *r = st->result;

	for (unsigned i = 0; st->spec->sandbox && i < ROUNDS; i++) {
		r->ended = limits_left(&st->spec->sandbox->limits.others,
			&r->ended_pid, r->ended_name);
		if (!r->ended)
			break;
		nanosleep(&pause, NULL);
	}
}

void run_loop_kill(struct run_state *st)
{
	struct sandbox *s = st->spec->sandbox;

	if (s)
		limits_kill(&s->limits);
	if (!st->reaped) {
		kill(st->pid, SIGKILL);
		run_signals_wait(st);
	}
	if (s)
		sandbox_kill(s);
	else if (st->spec->kill_tree || st->spec->timeout_ns)
		limits_sweep(&st->others);
}

/* Is the command in the time that it has to end by itself? */
static bool in_grace(struct run_state *st)
{
	uint64_t now = run_now();

	if (!st->spec->ask_first || !st->result->timed_out)
		return false;
	if (!st->asked_ns) {
		st->asked_ns = now;
		limits_signal(st->pid, SIGTERM);
	}
	return now - st->asked_ns < (uint64_t)GRACE_MS * MS;
}

static void look_at_limits(struct run_state *st)
{
	struct run_result *r = st->result;
	struct sandbox *s = st->spec->sandbox;

	if (st->reaped && !st->living)
		return;
	if (s)
		r->limit = limits_check(&s->limits, false);
	if (!st->living && st->spec->timeout_ns &&
		run_now() - st->start_ns >= st->spec->timeout_ns)
		r->limit = LIMITS_WALL;
	r->timed_out = r->limit == LIMITS_WALL;
	if (r->limit != LIMITS_NONE && !in_grace(st))
		run_loop_kill(st);
}

bool run_loop_over_limit(struct run_state *st)
{
	struct sandbox *s = st->spec->sandbox;

	return (s && limits_check(&s->limits, false) != LIMITS_NONE) ||
	       (st->spec->timeout_ns &&
		       run_now() - st->start_ns >= st->spec->timeout_ns);
}

static void settle_run(struct run_state *st)
{
	if (st->settled || !is_begun(st) ||
		run_now() - st->start_ns < (uint64_t)SETTLE_MS * MS)
		return;
	st->settled = true;
	if (st->reaped)
		return;
	run_signals_settle(st);
	run_stdio_release(st);
}

static void look_at_clocks(struct run_state *st)
{
	const struct run_sink *sink = st->spec->sink;

	settle_run(st);
	look_at_limits(st);
	if (sink && sink->due && sink->timeout_ms && !st->living &&
		sink->timeout_ms(sink->ctx) == 0) {
		int err = sink->due(sink->ctx);

		if (err < 0 && !st->err)
			st->err = err;
	}
}

/* Notes what the command wrote before it ended, which is passed on before we
 * end; later bytes of others are not waited for. */
static void count_due(struct run_state *st)
{
	for (size_t i = 0; i < RUN_PUMPS; i++) {
		struct pump *p = &st->pumps[i];

		if (i == RUN_KEYS) {
			run_pty_keep(st);
			pump_end(p);
		} else {
			st->due[i] = pump_due(p);
		}
		pump_ending(p);
		if (i == RUN_SCREEN)
			p->dry = false;
	}
}

static bool is_drained(const struct run_state *st)
{
	for (size_t i = 0; i < RUN_PUMPS; i++) {
		const struct pump *p = &st->pumps[i];

		if (pump_ended(p))
			continue;
		if (p->bytes < st->due[i] || !pump_idle(p))
			return false;
		/* The bytes that a terminal holds cannot be counted. */
		if (i == RUN_SCREEN && !p->dry &&
			p->bytes < st->due[i] + SCREEN_MAX)
			return false;
	}
	return true;
}

/* Ends pumps whose writers are gone, when all due bytes are through. */
static void last_look(struct run_state *st)
{
	for (size_t i = 0; i < RUN_PUMPS; i++) {
		struct pump *p = &st->pumps[i];
		struct pollfd fds[2];

		if (pump_ended(p))
			continue;
		pump_poll(p, fds);
		if (poll(fds, 2, 0) > 0 && pump_step(p, fds) == PUMP_GONE)
			pump_end(p);
		st->result->bytes[p->tag] = p->bytes;
	}
}

/* A reader that is gone may have sent a signal before: then the command must
 * end by that signal, and not by its closed pipe. */
static void look_for_signals(struct run_state *st)
{
	const unsigned before = st->forwarded;
	struct pollfd ended = {.fd = st->sigfd, .events = POLLIN};

	if (st->front)
		run_front_sync(st);
	run_signals_read(st);
	if (st->forwarded != before && !st->reaped)
		poll(&ended, 1, SETTLE_MS);
}

static void step_pumps(struct run_state *st, const struct pollfd *fds)
{
	for (size_t i = 0; i < RUN_PUMPS; i++) {
		struct pump *p = &st->pumps[i];
		int err;

		if (pump_ended(p))
			continue;
		/* A reader of keys that were typed after a change of size must
		 * find the new size, whichever of the two is met first here. */
		if (i == RUN_KEYS && fds[2 * i].revents)
			run_pty_size(st);
		err = pump_step(p, fds + 2 * i);
		if (err == PUMP_GONE) {
			look_for_signals(st);
			pump_end(p);
		}
		if (i == RUN_KEYS && pump_ended(p))
			run_pty_gone(st);
		if (err < 0 && !st->err)
			st->err = err;
		st->result->bytes[p->tag] = p->bytes;
		/* Lets the reader see the end when the command has closed the
		 * stream. */
		if (pump_ended(p) && st->settled &&
			(i == RUN_OUT || i == RUN_ERR) && p->to >= 0)
			run_stdio_let_go(st, p->to);
	}
}

static int ask_fd(const struct run_state *st)
{
	const struct run_sink *sink = st->spec->sink;

	return sink && sink->ask_fd && !st->reaped ? sink->ask_fd(sink->ctx) : -1;
}

int run_loop_once(struct run_state *st)
{
	struct sandbox *s = st->spec->sandbox;
	enum { OWN = 8 };
	struct pollfd fds[OWN + 2 * RUN_PUMPS];
	struct pollfd *pumps = fds + OWN;
	const int asks = ask_fd(st);
	const struct pump *screen = &st->pumps[RUN_SCREEN];
	bool look = st->reaped && !pump_ended(screen) && !screen->dry &&
		    !screen->len;
	int n;

	fds[0] = (struct pollfd){.fd = st->sigfd, .events = POLLIN};
	fds[1] = (struct pollfd){
		.fd = s ? watch_fd(&s->watch) : -1, .events = POLLIN};
	fds[2] = (struct pollfd){.fd = st->talk[0], .events = POLLIN};
	for (size_t i = 0; i < RUN_PUMPS; i++)
		pump_poll(&st->pumps[i], pumps + 2 * i);
	if (!is_begun(st) || asks >= 0)
		pumps[2 * RUN_KEYS].fd = -1;
	fds[7] = (struct pollfd){.fd = asks, .events = POLLIN};
	fds[3] = (struct pollfd){
		.fd = s && !st->reaped ? s->stop_fd : -1, .events = POLLIN};
	fds[4] = (struct pollfd){
		.fd = st->spec->also && !st->also_ended ? st->spec->also_fd : -1,
		.events = POLLIN};
	fds[5] = (struct pollfd){
		.fd = st->front ? st->link[1] : -1, .events = POLLIN};
	fds[6] = (struct pollfd){
		.fd = st->living ? st->session : -1, .events = POLLIN};
	st->slept = false;
	n = poll(fds, OWN + 2 * RUN_PUMPS, look ? 0 : loop_timeout(st));
	/* Only a read, and no poll, waits for what a terminal still has under
	 * way. */
	if (look && n >= 0) {
		pumps[2 * RUN_SCREEN].revents |= POLLIN;
		n = 1;
	}
	if (n < 0 && errno != EINTR)
		return -errno;
	/* What was typed appears before what is said about it. */
	if (n > 0)
		step_pumps(st, pumps);
	if (n > 0 && fds[1].revents)
		watch_step(&s->watch, st->slept ? 0 : fds[1].revents);
	/* Keys behind a Ctrl-C are no answer any more. */
	if (n > 0 && asks >= 0 && fds[0].revents)
		run_signals_read(st);
	if (n > 0 && fds[7].revents && ask_fd(st) >= 0)
		st->spec->sink->ask_look(st->spec->sink->ctx);
	if (n > 0 && fds[4].revents) {
		st->spec->also(st->spec->also_ctx);
		st->also_ended = fds[4].revents & (POLLHUP | POLLERR);
	}
	if (n > 0 && fds[2].revents)
		run_pty_read(st);
	if (n > 0 && fds[3].revents)
		run_signals_stopped(st);
	if (n > 0 && (fds[0].revents || fds[5].revents))
		run_signals_read(st);
	if (st->living)
		st->over |= (n > 0 && fds[6].revents) || !over_in(st);
	look_at_clocks(st);
	return st->err;
}

/* Shows the last bytes of a stream that the sink had enough of. */
static int show_tail(struct run_state *st, struct pump *p)
{
	const struct run_sink *sink = st->spec->sink;
	enum run_stream stream = (enum run_stream)p->tag;
	uint64_t rest = p->bytes - st->shown[stream];
	size_t kept = pump_tail_size(&p->tail), n;
	char bytes[4096];
	int err = 0;

	if (kept < rest)
		err = sink->skipped(sink->ctx, stream, rest - kept);
	while (err >= 0 &&
		(n = pump_tail_read(&p->tail, bytes, sizeof(bytes)))) {
		err = sink->bytes(sink->ctx, stream, bytes, n, true);
		st->shown[stream] += n;
	}
	return err < 0 ? err : 0;
}

int run_show_tails(struct run_state *st)
{
	int err = 0;

	for (size_t i = 0; i < RUN_PUMPS && err == 0; i++)
		if (st->pumps[i].tail.keeps)
			err = show_tail(st, &st->pumps[i]);
	return err;
}

int run_loop(struct run_state *st)
{
	int err = 0;

	while (!st->reaped && err == 0)
		err = run_loop_once(st);
	if (err == 0 && st->spec->kill_tree)
		run_loop_tell_left(st);
	if (err || st->spec->kill_tree || st->asked_ns)
		run_loop_kill(st);
	count_due(st);
	while (err == 0 && !st->died_of && !is_drained(st))
		err = run_loop_once(st);
	if (err == 0)
		last_look(st);
	return err;
}

void run_loop_rest(struct run_state *st)
{
	st->reaped = st->settled = true;
	for (;;) {
		struct sandbox *s = st->spec->sandbox;
		bool left = s && watch_fd(&s->watch) >= 0;

		for (size_t i = 0; i < RUN_PUMPS; i++)
			left |= !pump_ended(&st->pumps[i]);
		if (!left || run_loop_once(st))
			return;
	}
}
