/* serve_api.c - what is asked by HTTP
 * SPDX-License-Identifier: MIT
 */
#include "serve/serve_server_in.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "approve/approve.h"
#include "base/json_read.h"
#include "base/kconfig.h"
#include "base/str.h"

enum {
	OUTPUT_MAX = 1 << 20,
	BODY_MAX = 6 << 20,
	SHOWN_MAX = 1000,
};

static const char json_type_name[] = "application/json";

void conn_answer(struct serve_conn *c, const struct http_request *r, int status,
	struct json *j)
{
	if (j)
		json_end(j);
	if (j && j->out->err) {
		conn_refuse(c, r, 503, "too much for one answer");
		return;
	}
	http_answer(&c->out, status, j ? json_type_name : NULL, "",
		j ? j->out->data : NULL, j ? j->out->len : 0, r->keep);
	if (!r->keep)
		c->state = CONN_LAST;
}

void conn_refuse(struct serve_conn *c, const struct http_request *r, int status,
	const char *why)
{
	autobuf struct buf body = BUF_INIT(4096);
	struct json j = JSON_INIT(&body);

	json_putf(&j, "{ error %s", why);
	conn_answer(c, r, status, &j);
}

/* On a plain port: a name that a browser cannot have been led to by somebody's DNS.
 * With TLS the browser has compared the name with the certificate's. */
bool api_host(const struct serve_conn *c, const char *host)
{
	static const char names[] = "localhost\0" "127.0.0.1\0" "::1\0";
	char name[64], port[8];

	return c->local || c->sealed ||
		(!http_authority(host, name, sizeof name, port, sizeof port) &&
			str_index(names, name) >= 0);
}

/* A page from elsewhere is not served, whatever key it found. */
static bool origin_is_ours(
	const struct serve_conn *c, const struct http_request *r)
{
	const char *host = str_after(
		r->origin, c->sealed ? "https://" : "http://");

	return !r->origin[0] || (host && str_eq(host, r->host));
}

bool api_is_ours(const struct serve_conn *c, const struct http_request *r)
{
	return api_host(c, r->host) && origin_is_ours(c, r);
}

int api_judge(const struct serve_conn *c, const struct http_request *r,
	struct serve_who *who)
{
	if (!api_host(c, r->host))
		return 403;
	if (ticket_take(c->server, r, who))
		return 0;
	if (!origin_is_ours(c, r))
		return 403;
	serve_key_digest(r->token, who->digest);
	who->local = c->local;
	if (r->token[0] && server_roles(c->server, who))
		return 0;
	who->roles = 0;
	/* So many guesses a second, all clients together. */
	return c->server->refused >= CONN_REFUSED_MAX ? 429 : 401;
}

const char *api_judged(int status)
{
	return status == 403 ? "Host or Origin is another's"
		: status == 429
		? "too many wrong keys"
		: "no key, or none that is known";
}

/* 0: the request may go on; else it has been answered, or will be. */
static int check_key(struct serve_conn *c, const struct http_request *r)
{
	struct serve_server *s = c->server;
	struct http_request last = *r;
	int status = api_judge(c, r, &c->who);

	if (status == 401) {
		c->refused = true;
		s->refused++;
		serve_timer_set(&s->engine->loop, &c->timer, API_REFUSED_NS);
	} else if (status) {
		last.keep &= status == 403;
		conn_refuse(c, &last, status, api_judged(status));
	}
	return status;
}

bool api_admit(struct serve_conn *c, const struct http_request *r)
{
	struct http_request last = *r;

	last.keep = false;
	return slip_admit(c, r) || !check_key(c, &last);
}

/* What a list shows of a command: its words, or a shell's text. */
static void add_words(struct buf *out, const struct wire *w)
{
	const char *at = w->words.data;
	bool text = w->count == 3 && str_eq(at, "sh") && str_eq(at + 3, "-c");

	for (size_t i = 0; i < w->count; i++, at += strlen(at) + 1) {
		if (text && i < 2)
			continue;
		if (out->len)
			buf_addc(out, ' ');
		buf_add(out, at, strnlen(at, SHOWN_MAX));
	}
}

int api_start(struct serve_server *s, const struct serve_who *who,
	const char *session, struct wire *w, struct serve_command **out,
	struct diag *d)
{
	autofree char **argv = args_argv(&w->words);
	autobuf struct buf shown = BUF_INIT(1 << 20);
	struct serve_spec spec = {
		.session = session,
		.cwd = w->cwd.len ? buf_str(&w->cwd) : NULL,
		/* Where it stands is for those who stand there, too. */
		.directory = w->dir.len && who->owner ? buf_str(&w->dir) : NULL,
		.argv0 = w->argv0[0] ? w->argv0 : NULL,
		.argv = argv,
		.env = s->env,
		.timeout_ns = w->timeout_ns,
		.approver_ns = s->approver_ns,
		.pty = w->pty,
		.input = w->input,
		.rows = w->rows,
		.cols = w->cols,
	};

	if (!argv)
		return diag_errno(d, -ENOMEM, "a command");
	add_words(&shown, w);
	if (shown.len > SHOWN_MAX)
		shown.len = SHOWN_MAX;
	spec.text = buf_str(&shown);
	return serve_start(s->engine, &spec, out, d);
}

/* How a command stands, as members. */
static void put_command(struct json *j, const struct serve_command *of)
{
	json_open(j, '{');
	wire_put_outcome(j, of);
	wire_put_facts(j, of);
}

static void answer_command(struct serve_conn *c, const struct http_request *r,
	int status, const struct serve_command *of)
{
	autobuf struct buf body = BUF_INIT(BODY_MAX);
	struct json j = JSON_INIT(&body);

	put_command(&j, of);
	json_put_u64(&j, "stdout_bytes", of->ring[SERVE_OUT].end);
	json_put_u64(&j, "stderr_bytes", of->ring[SERVE_ERR].end);
	conn_answer(c, r, status, &j);
}

static void do_show(struct serve_conn *c, const struct api_ask *a)
{
	answer_command(c, a->r, 200, a->command);
}

static void do_start(struct serve_conn *c, const struct api_ask *a)
{
	autowire struct wire w = {.type = WIRE_START};
	struct serve_command *command;
	struct diag d = {0};

	if (wire_read(&w, a->body, (size_t)a->r->length, WIRE_START) ||
		w.type != WIRE_START)
		conn_refuse(c, a->r, 400, w.said);
	else if (api_start(c->server, &c->who, a->id, &w, &command, &d))
		conn_refuse(c, a->r, 503, d.text);
	else
		answer_command(c, a->r, 201, command);
}

static void do_list(struct serve_conn *c, const struct api_ask *a)
{
	autobuf struct buf body = BUF_INIT(BODY_MAX);
	struct json j = JSON_INIT(&body);

	json_putf(&j, "{ commands [");
	for (struct serve_command *at = c->server->engine->first; at;
		at = at->next) {
		if (at->orphan || at->own)
			continue;
		put_command(&j, at);
		json_close(&j);
	}
	conn_answer(c, a->r, 200, &j);
}

/* Bytes as they came; where to go on stands in the head. */
static void do_output(struct serve_conn *c, const struct api_ask *a)
{
	uint64_t stream = 1, at = 0, limit = OUTPUT_MAX;
	autobuf struct buf body = BUF_INIT(OUTPUT_MAX);
	char offset[64];

	if (http_query(a->r, "stream", 2, &stream) || !stream ||
		http_query(a->r, "offset", INT64_MAX, &at) ||
		http_query(a->r, "limit", OUTPUT_MAX, &limit)) {
		conn_refuse(c, a->r, 400, "stream, offset or limit");
		return;
	}
	serve_copy(a->command, stream == 2 ? SERVE_ERR : SERVE_OUT, &at,
		(size_t)limit, &body);
	http_answer(&c->out, 200, "application/octet-stream",
		BUF_PRINT(offset, "Wardbox-Offset: %ju\r\n", (uintmax_t)at),
		body.data, body.len, a->r->keep);
	if (!a->r->keep)
		c->state = CONN_LAST;
}

static void do_input(struct serve_conn *c, const struct api_ask *a)
{
	uint64_t close = 0;
	int err = http_query(a->r, "close", 1, &close);

	if (!err && a->r->length)
		err = serve_write(a->command, a->body, (size_t)a->r->length);
	if (!err && close)
		err = serve_shut(a->command);
	if (err == -EINVAL)
		conn_refuse(c, a->r, 400, "close");
	else if (err)
		conn_refuse(c, a->r, 409, err == -EPIPE
				? "its standard input is closed"
				: "it does not read what was written before");
	else
		conn_answer(c, a->r, 204, NULL);
}

static void do_message(
	struct serve_conn *c, const struct api_ask *a, enum wire_type type)
{
	autowire struct wire w = {.type = type};
	int err;

	if (wire_read(&w, a->body, (size_t)a->r->length, type) ||
		w.type != type) {
		conn_refuse(c, a->r, 400, w.said[0] ? w.said : "type");
		return;
	}
	err = type == WIRE_SIGNAL ? serve_signal(a->command, w.signal)
				  : serve_resize(a->command, w.rows, w.cols);
	if (err)
		conn_refuse(c, a->r, 409, type == WIRE_SIGNAL
				? "it has ended"
				: "no terminal");
	else
		conn_answer(c, a->r, 204, NULL);
}

static void do_signal(struct serve_conn *c, const struct api_ask *a)
{
	do_message(c, a, WIRE_SIGNAL);
}

static void do_resize(struct serve_conn *c, const struct api_ask *a)
{
	do_message(c, a, WIRE_RESIZE);
}

static void do_forget(struct serve_conn *c, const struct api_ask *a)
{
	serve_forget(a->command);
	conn_answer(c, a->r, 204, NULL);
}

static void list_questions(struct serve_conn *c, const struct api_ask *a)
{
	autobuf struct buf body = BUF_INIT(BODY_MAX);
	autofree struct approve_list *l = calloc(1, sizeof *l);
	autofd int dir = approve_dir(false, NULL);
	const bool seen = c->who.roles & SERVE_APPROVE;
	struct json j = JSON_INIT(&body);

	json_putf(&j, "{ questions [");
	if (l && dir >= 0 && !approve_list(dir, l, NULL))
		for (size_t i = 0; i < l->count; i++) {
			autobuf struct buf one = BUF_INIT(1 << 20);

			if (!approve_read(dir, l->id[i], seen, &one, NULL))
				json_raw(&j, one.data,
					str_line(one.data, one.len));
		}
	conn_answer(c, a->r, 200, &j);
}

/* {"answer": "yes"} */
static void answer_question(struct serve_conn *c, const struct api_ask *a)
{
	static const struct arg member = {"answer", ARG_TEXT, 0, 16, 0, 0, NULL};
	autojson struct json_doc doc = {0};
	autofd int dir = approve_dir(false, NULL);
	char word[16] = "", said[ARGS_SAID];
	struct diag d = {0};
	int answer, err;

	if (!json_read(&doc, a->body, (size_t)a->r->length, NULL))
		(void)args_read(&member, 1, 0, &doc, 0, word, said);
	answer = approve_word(word);
	if (answer < 0) {
		conn_refuse(c, a->r, 400, "answer: yes, no or always");
		return;
	}
	err = dir < 0 ? diag_fail(&d, -ENOENT, "no question waits")
		      : approve_answer(
				dir, a->id, (enum approve_answer)answer, &d);
	if (err)
		conn_refuse(c, a->r, err == -ENOENT ? 404 : 409, d.text);
	else
		conn_answer(c, a->r, 204, NULL);
}

static void do_stop(struct serve_conn *c, const struct api_ask *a)
{
	if (!c->who.owner) {
		conn_refuse(c, a->r, 403, "that is the owner's to do");
		return;
	}
	c->server->engine->loop.stop = true;
	conn_answer(c, a->r, 204, NULL);
	conn_flush(c);
}

/* What is asked for behind /api/v1/, and what a key needs for it. A "*" is one word
 * of the path, the id of a command or a session, or another name; a "?" any word. */
static const struct api_route {
	char method[8], path[28];
	unsigned role;
	void (*does)(struct serve_conn *c, const struct api_ask *a);
} api_routes[] = {
	{"GET", "me", SERVE_VIEW, web_me},
	{"GET", "commands", SERVE_VIEW, do_list},
	{"GET", "commands/*", SERVE_VIEW, do_show},
	{"DELETE", "commands/*", SERVE_RUN, do_forget},
	{"GET", "commands/*/output", SERVE_VIEW, do_output},
	{"GET", "commands/*/events", SERVE_VIEW, events_open},
	{"GET", "commands/*/changed", SERVE_VIEW, web_changed},
	{"GET", "commands/*/diff", SERVE_VIEW, web_diff},
	{"GET", "commands/*/stream", SERVE_VIEW, cast_open},
	{"POST", "commands/*/ticket", SERVE_VIEW, ticket_make},
	{"POST", "commands/*/input", SERVE_RUN, do_input},
	{"POST", "commands/*/signal", SERVE_RUN, do_signal},
	{"POST", "commands/*/resize", SERVE_RUN, do_resize},
	{"POST", "sessions/*/commands", SERVE_RUN, do_start},
	{"GET", "sessions/*/pty", SERVE_VIEW, socket_open},
	{"GET", "sessions/*/codex", SERVE_RUN,
		IS_ENABLED(CONFIG_SERVE_CODEX) ? codex_open : NULL},
	{"GET", "sessions/*/mcp", SERVE_RUN, peer_open},
	{"POST", "sessions/*/mcp", SERVE_RUN, post_open},
	{"GET", "namespaces/?/pods/*/exec", SERVE_RUN, kube_open},
	{"GET", "log", SERVE_VIEW, web_log},
	{"GET", "log/verify", SERVE_VIEW, web_verify},
	{"GET", "log/*/cast", SERVE_VIEW, web_cast},
	{"GET", "questions", SERVE_VIEW, list_questions},
	{"POST", "questions/*", SERVE_APPROVE, answer_question},
	{"POST", "stop", SERVE_RUN, do_stop},
};

static bool path_fits(const char *path, const char *form, struct api_ask *a)
{
	for (; *form; form++) {
		size_t n = strcspn(path, "/");

		if (*form != '*' && *form != '?') {
			if (*path++ != *form)
				return false;
			continue;
		}
		if (!n || n >= sizeof a->id)
			return false;
		if (*form == '*') {
			memcpy(a->id, path, n);
			a->id[n] = '\0';
		}
		path += n;
	}
	return !*path;
}

/* The object that the id names; NULL, or why there is none. */
static const char *find_named(
	const struct serve_conn *c, const char *form, struct api_ask *a)
{
	if (str_after(form, "commands/")) {
		a->command = serve_find(c->server->engine, a->id);
		return a->command && !a->command->orphan && !a->command->own
			? NULL
			: "there is no such command";
	}
	return (str_after(form, "sessions/") || str_after(form, "namespaces/")) &&
			!session_id_valid(a->id)
		? "there is no such session"
		: NULL;
}

static void do_route(struct serve_conn *c, const struct http_request *r,
	const struct api_route *to, struct api_ask *a)
{
	const char *missing = find_named(c, to->path, a);

	if (missing)
		conn_refuse(c, r, 404, missing);
	else if (!str_eq(r->method, to->method))
		conn_refuse(c, r, 405, "that is no way to ask for it");
	else if (!(c->who.roles & to->role))
		conn_refuse(c, r, 403, to->role == SERVE_RUN
				? "the key may not run commands"
				: "the key may not do that");
	else
		to->does(c, a);
}

void api_request(struct serve_conn *c, const struct http_request *r,
	const char *body)
{
	static const struct api_route mcp = {"POST", "", SERVE_RUN, post_open};
	const char *at = str_after(r->path, "/api/v1/");
	const char *slip = str_after(r->path, "/approve/");
	const struct api_route *to = NULL;
	struct api_ask a = {.r = r, .body = body};

	if (str_eq(r->path, "/health") && str_eq(r->method, "GET")) {
		http_answer(&c->out, 200, "text/plain", "", "ok\n", 3, r->keep);
		if (!r->keep)
			c->state = CONN_LAST;
		return;
	}
	if (slip) {
		slip_request(c, r, slip, body);
		return;
	}
	if (web_file(c, r) || check_key(c, r))
		return;
	for (size_t i = 0; at && i < ARRAY_SIZE(api_routes); i++)
		if (api_routes[i].does && path_fits(at, api_routes[i].path, &a) &&
			(!to || str_eq(r->method, api_routes[i].method)))
			to = &api_routes[i];
	if (str_eq(r->path, "/mcp") && c->server->session[0]) {
		(void)str_copy(a.id, sizeof a.id, c->server->session);
		to = &mcp;
	}
	if (to)
		do_route(c, r, to, &a);
	else
		conn_refuse(c, r, 404, "there is nothing of that name");
}
