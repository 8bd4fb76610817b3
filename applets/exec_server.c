/* exec_server.c - a session's command run by a server
 * SPDX-License-Identifier: MIT
 */
#include "exec.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/path.h"
#include "base/str.h"
#include "serve/serve_follow.h"
#include "serve/serve_home.h"

extern char **environ;

static void put_size(struct json *j)
{
	struct winsize size;

	if (ioctl(STDIN_FILENO, TIOCGWINSZ, &size))
		return;
	json_put_u64(j, "rows", size.ws_row);
	json_put_u64(j, "cols", size.ws_col);
}

/* The first message. */
static void say_start(const struct exec_request *q, struct exec_reply *reply,
	struct buf *out)
{
	struct json j = JSON_INIT(out);
	char seconds[48];

	json_open(&j, '{');
	json_put_str(&j, "type", "start");
	json_put_str(&j, "command", q->command[0]);
	json_put_open(&j, "args", '[');
	for (char **arg = q->command; *arg && *++arg;)
		json_str(&j, *arg);
	json_close(&j);
	if (q->argv0)
		json_put_str(&j, "argv0", q->argv0);
	if (q->cwd)
		json_put_str(&j, "working_dir", q->cwd);
	if (!path_cwd(reply->cwd, sizeof reply->cwd))
		json_put_str(&j, "directory", reply->cwd);
	if (q->timeout_ns) {
		BUF_PRINT(seconds, "%ju.%09ju",
			(uintmax_t)(q->timeout_ns / 1000000000),
			(uintmax_t)(q->timeout_ns % 1000000000));
		json_raw(json_key(&j, "timeout"), seconds, strlen(seconds));
	}
	json_put_bool(&j, "pty", q->pty);
	json_put_bool(&j, "channels", true);
	json_put_bool(&j, "keep", q->detach);
	put_size(&j);
	json_close(&j);
}

static void keep_output(void *ctx, int fd, const void *bytes, size_t n)
{
	struct exec_reply *r = ctx;
	struct buf *to = fd == STDERR_FILENO ? &r->err : &r->out;
	size_t room = to->max - to->len;

	r->result.run.bytes[fd == STDERR_FILENO ? RUN_STDERR : RUN_STDOUT] += n;
	buf_add(to, bytes, n < room ? n : room);
}

/* The server's report as a reply, as if the command had run here. */
static void fill_reply(const struct exec_request *q, struct exec_reply *reply,
	const struct serve_follow *f)
{
	const struct serve_report *r = &f->report;
	struct guard_outcome *g = &reply->result;

	(void)str_copy(g->session, sizeof g->session, f->session);
	if (f->detached) {
		(void)str_copy(reply->id, sizeof reply->id, f->id);
		return;
	}
	g->ran = r->ran;
	g->code = r->code;
	g->run.timed_out = r->timed_out;
	reply->signal = r->signal;
	/* Another machine's journal is not here. */
	if (!str_after(q->server, "https://"))
		g->undo = r->journal;
	(void)str_copy(g->rule, sizeof g->rule, r->rule);
	(void)str_copy(reply->uuid, sizeof reply->uuid, r->correlation);
	if (r->ran)
		return;
	diag_fail(&g->diag, -EACCES, "%s", r->message);
	if (r->hint[0])
		diag_hint(&g->diag, "%s", r->hint);
}

/* The session: the one asked for, or that of this place. */
static int find_session(const struct exec_request *q, struct exec_reply *reply,
	struct session_name *name, struct diag *d)
{
	const struct guard_caller who = {.env = environ};
	struct session_where w;

	guard_where(&who, &reply->here, &w);
	if (q->session)
		w.id = q->session;
	return session_resolve(&w, true, name, d);
}

static int call_server(const struct exec_request *q, struct exec_reply *reply,
	struct diag *d)
{
	autoclient struct serve_client client = SERVE_CLIENT_INIT;
	autobuf struct buf message = BUF_INIT(WS_TEXT_MAX);
	const struct serve_place at = {q->server, q->token, q->cert};
	struct session_name name;
	struct serve_follow f = {
		.client = &client,
		.input = !q->detach,
		.raw = q->pty && !q->detach && isatty(STDIN_FILENO),
		.detach = q->detach,
		.output = q->capture ? keep_output : NULL,
		.output_ctx = reply,
	};
	int err = find_session(q, reply, &name, d);

	if (!err)
		err = serve_home_connect(&client, &at, d);
	if (!err)
		err = serve_client_upgrade(&client, name.id, d);
	if (err)
		return err;
	say_start(q, reply, &message);
	if (message.err)
		return diag_fail(d, -E2BIG, "the command is too long");
	f.message = message.data;
	f.len = message.len;
	err = serve_follow(&f, d);
	if (!err)
		fill_reply(q, reply, &f);
	return err;
}

const struct exec_transport exec_server = {.name = "server",
	.call = call_server};
