/* serve_mcp_call.c - what MCP's tools do
 * SPDX-License-Identifier: MIT
 */
#include "serve/serve_mcp_in.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "approve/approve.h"
#include "base/clock.h"
#include "base/kconfig.h"
#include "base/str.h"
#include "serve/serve_slip.h"
#include "sys/sig.h"

enum { PROGRESS_NS = 1000000000 };

#define autoargs autoclean(mcp_args_release)

void mcp_call_drop(struct mcp_call *call)
{
	struct mcp_link *l = call->link;

	LIST_DROP(l->first, call);
	l->calls--;
	serve_detach(&call->reader);
	serve_timer_stop(&l->engine->loop, &call->tick);
	serve_loop_bury(&l->engine->loop, &call->grave);
}

/* Answers and forgets the call. */
static void call_answer(struct mcp_call *call)
{
	struct mcp_link *l = call->link;
	struct serve_command *c = call->reader.command;
	char url[SLIP_URL_SIZE];

	if (IS_ENABLED(CONFIG_APPLET_SERVE) && call->opens && c->question[0] && !c->ended && l->pages &&
		!slip_make(l->pages, c, url)) {
		mcp_answer_page(l, &call->id, c, url);
		mcp_call_drop(call);
		l->said(l);
		return;
	}
	if (c->own) {
		mcp_answer_own(l, &call->id, call->modern, call->of, c);
		mcp_call_drop(call);
		serve_forget(c);
		l->said(l);
		return;
	}
	mcp_answer_command(l, &call->id, call->modern, call->reader.command,
		call->at, call->max);
	mcp_call_drop(call);
	l->said(l);
}

/* Is there something that a read waits for? */
static bool has_news(const struct mcp_call *call)
{
	const struct serve_command *c = call->reader.command;

	/* Who waits for a person is told so, and goes on. */
	return c->ended || (call->run && c->question[0] &&
		!call->asked) || (!call->run &&
		(c->ring[SERVE_OUT].end > call->at[SERVE_OUT] ||
			c->ring[SERVE_ERR].end > call->at[SERVE_ERR]));
}

/* A call holds nothing up: its answer says what it left out. */
static void call_changed(struct serve_reader *r)
{
	struct mcp_call *call = CONTAINER(r, struct mcp_call, reader);

	for (enum serve_stream s = 0; s < SERVE_STREAMS; s++)
		serve_took(r, s, (size_t)(r->command->ring[s].end - r->at[s]));
	if (has_news(call))
		call_answer(call);
}

static void tell_progress(struct mcp_call *call)
{
	const struct serve_command *c = call->reader.command;
	char said[96];

	(void)BUF_PRINT(said, "%ju s, %ju bytes of output",
		(uintmax_t)((clock_ns(CLOCK_MONOTONIC) - call->started_ns) /
			1000000000),
		(uintmax_t)(c->ring[0].end + c->ring[1].end));
	mcp_progress(&call->link->answers, &call->progress, ++call->told, said);
	call->link->said(call->link);
}

static void tick_due(struct serve_timer *t)
{
	struct mcp_call *call = CONTAINER(t, struct mcp_call, tick);

	if (call->link->gone && call->run) {
		serve_stop(call->reader.command);
		return;
	}
	if (!call->run) {
		call_answer(call);
		return;
	}
	serve_timer_set(&call->link->engine->loop, t, PROGRESS_NS);
	tell_progress(call);
}

/* A call that waits for c. NULL: too many do. */
static struct mcp_call *call_wait(struct mcp_link *l,
	const struct mcp_message *m, struct serve_command *c,
	const struct mcp_args *a)
{
	struct mcp_call *call = l->calls < MCP_WAITING_MAX
		? calloc(1, sizeof *call)
		: NULL;

	if (!call)
		return NULL;
	call->link = l;
	call->id = m->id;
	call->progress = m->progress;
	call->modern = m->modern;
	call->opens = m->opens;
	call->asked = m->state[0];
	call->run = m->tool == MCP_RUN || c->own;
	call->max = (size_t)a->max;
	memcpy(call->at, a->at, sizeof call->at);
	call->started_ns = clock_ns(CLOCK_MONOTONIC);
	call->tick.due = tick_due;
	call->reader.changed = call_changed;
	for (enum serve_stream s = 0; s < SERVE_STREAMS; s++)
		call->reader.at[s] = c->ring[s].end;
	call->next = l->first;
	l->first = call;
	l->calls++;
	serve_attach(c, &call->reader);
	if (!call->run)
		serve_timer_set(&l->engine->loop, &call->tick, a->wait_ns);
	else if (call->progress.len)
		serve_timer_set(&l->engine->loop, &call->tick, PROGRESS_NS);
	return call;
}

static void answer_now(struct mcp_link *l, const struct mcp_message *m,
	struct serve_command *c, struct mcp_args *a)
{
	mcp_answer_command(l, &m->id, m->modern, c, a->at, (size_t)a->max);
}

/* The same call again: its command has been started, and asks. */
static void do_again(struct mcp_link *l, struct mcp_message *m, struct mcp_args *a)
{
	struct serve_command *c = serve_find(l->engine, m->state);
	autofd int dir = -1;

	if (!c || c->orphan || c->own ||
		strncmp(c->text, buf_str(&a->text), SERVE_TEXT_MAX) != 0) {
		mcp_answer_wrong(l, m, "requestState: it is another call's", "");
		return;
	}
	if (m->refused && c->question[0]) {
		dir = approve_dir(false, NULL);
		if (dir >= 0)
			(void)approve_answer(
				dir, c->question, APPROVE_NO, NULL);
	}
	if (c->ended || !call_wait(l, m, c, a))
		answer_now(l, m, c, a);
}

static void do_run(struct mcp_link *l, struct mcp_message *m, struct mcp_args *a)
{
	char *argv[] = {(char[]){"sh"}, (char[]){"-c"}, NULL, NULL};
	struct serve_spec spec = {
		.session = l->session,
		.cwd = a->cwd.len ? buf_str(&a->cwd) : NULL,
		.argv = argv,
		.env = l->env,
		.timeout_ns = a->timeout_ns,
		.approver_ns = l->approver_ns,
		.pty = a->pty,
		.input = a->background || a->input.len || a->pty,
	};
	struct serve_command *c = NULL;
	struct diag d = {0};
	int err;

	a->at[0] = a->at[1] = 0;
	if (m->state[0]) {
		do_again(l, m, a);
		return;
	}
	if (!a->text.len) {
		mcp_answer_wrong(l, m, "text: no command line", "");
		return;
	}
	buf_str(&a->text);
	spec.text = argv[2] = a->text.data;
	err = !a->background && l->calls >= MCP_WAITING_MAX
		? diag_fail(&d, -EAGAIN, "too many calls wait already")
		: serve_start(l->engine, &spec, &c, &d);
	if (err) {
		mcp_answer_wrong(l, m, d.text, d.hint);
		return;
	}
	if (a->input.len)
		(void)serve_write(c, a->input.data, a->input.len);
	if (!a->background)
		(void)serve_shut(c);
	if (a->background || !call_wait(l, m, c, a))
		answer_now(l, m, c, a);
}

static void do_read(struct mcp_link *l, struct mcp_message *m,
	struct serve_command *c, struct mcp_args *a)
{
	bool news = c->ended;

	for (enum serve_stream s = 0; s < SERVE_STREAMS; s++) {
		if (a->at[s] == UINT64_MAX)
			a->at[s] = c->seen[s];
		if (a->at[s] > c->ring[s].end)
			a->at[s] = c->ring[s].end;
		news |= a->at[s] < c->ring[s].end;
	}
	if (news || !a->wait_ns || !call_wait(l, m, c, a))
		answer_now(l, m, c, a);
}

static void do_write(struct mcp_link *l, struct mcp_message *m,
	struct serve_command *c, struct mcp_args *a)
{
	int err = 0;

	if (a->rows || a->cols)
		err = serve_resize(
			c, a->rows ? a->rows : 24, a->cols ? a->cols : 80);
	if (!err && a->text.len)
		err = serve_write(c, a->text.data, a->text.len);
	if (!err && a->close)
		err = serve_shut(c);
	if (err == -EPIPE)
		mcp_answer_wrong(l, m, "its standard input is closed",
			"run it with background to write to it later");
	else if (err == -ENOTTY)
		mcp_answer_wrong(l, m, "it has no terminal", "run it with pty");
	else if (err)
		mcp_answer_wrong(l, m, "it does not read what was written"
			" before", "read what it says first");
	else
		mcp_answer_done(l, m, c);
}

static void do_signal(struct mcp_link *l, struct mcp_message *m,
	struct serve_command *c, struct mcp_args *a)
{
	int sig = a->signal[0] ? sig_number(a->signal) : SIGTERM;

	if (sig < 0)
		mcp_answer_wrong(l, m, "signal: there is no such signal", "");
	else if (serve_signal(c, sig))
		mcp_answer_wrong(l, m, "it has ended", "");
	else
		mcp_answer_done(l, m, c);
}

/* What a command changed, or that taken back: by the applet, which is no command
 * of the session's. */
static void do_undo(struct mcp_link *l, struct mcp_message *m,
	struct serve_command *of, struct mcp_args *a)
{
	static const char show[] = "undo\0show\0--json\0--\0";
	static const char back[] = "undo\0--json\0";
	autobuf struct buf words = BUF_INIT(1 << 17);
	autofree char **argv = NULL;
	struct serve_spec spec = {.session = l->session, .env = l->env,
		.text = "undo", .own = true};
	struct serve_command *c;
	struct mcp_call *call;
	struct diag d = {.text = "too much at once"};

	if (!of->report.journal) {
		mcp_answer_wrong(l, m, of->ended ? "nothing is journaled of it"
						 : "it still runs",
			of->ended ? "it changed nothing, or the policy does not"
				    " say undo=on" : "");
		return;
	}
	if (m->tool == MCP_CHANGED)
		buf_add(&words, show, sizeof show - 1);
	else
		buf_add(&words, back, sizeof back - 1);
	if (a->dry_run)
		buf_addf(&words, "--dry-run%c", 0);
	if (m->tool == MCP_UNDO)
		buf_addf(&words, "--%c", 0);
	buf_addf(&words, "%ju%c", (uintmax_t)of->report.journal, 0);
	buf_add(&words, a->paths.data, a->paths.len);
	spec.argv = argv = args_argv(&words);
	if (!argv || l->calls >= MCP_WAITING_MAX ||
		serve_start(l->engine, &spec, &c, &d)) {
		mcp_answer_wrong(l, m, d.text, "");
		return;
	}
	call = call_wait(l, m, c, a);
	if (call)
		(void)str_copy(call->of, sizeof call->of, of->id);
}

void mcp_do(struct mcp_link *l, struct mcp_message *m)
{
	autoargs struct mcp_args a = {0};
	struct serve_command *c = NULL;

	if (mcp_args_read(m, &a)) {
		mcp_answer_wrong(l, m, m->said, "");
		return;
	}
	if (m->tool == MCP_RUN) {
		do_run(l, m, &a);
		return;
	}
	if (m->tool == MCP_COMMANDS) {
		mcp_answer_commands(l, m);
		return;
	}
	c = serve_find(l->engine, a.id);
	if (!c || c->orphan || c->own)
		mcp_answer_wrong(l, m, "there is no such command",
			"list names them all");
	else if (m->tool == MCP_READ)
		do_read(l, m, c, &a);
	else if (m->tool == MCP_WRITE)
		do_write(l, m, c, &a);
	else if (m->tool == MCP_SIGNAL)
		do_signal(l, m, c, &a);
	else if (m->tool == MCP_CHANGED || m->tool == MCP_UNDO)
		do_undo(l, m, c, &a);
	else
		mcp_answer_command(l, &m->id, m->modern, c, NULL, 0);
}

void mcp_cancel(struct mcp_link *l, const struct rpc_token *id)
{
	for (struct mcp_call *call = l->first; call; call = call->next) {
		struct serve_command *c = call->reader.command;

		if (call->id.len != id->len ||
			memcmp(call->id.text, id->text, id->len) != 0)
			continue;
		if (call->run)
			serve_stop(c);
		mcp_call_drop(call);
		return;
	}
}
