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
	const struct buf *json)
{
	http_answer(&c->out, status, json ? json_type_name : NULL,
		json ? json->data : NULL, json ? json->len : 0, r->keep);
	if (!r->keep)
		c->state = CONN_LAST;
}

void conn_refuse(struct serve_conn *c, const struct http_request *r, int status,
	const char *why)
{
	autobuf struct buf body = BUF_INIT(4096);
	struct json j = JSON_INIT(&body);

	json_open(&j, '{');
	json_put_str(&j, "error", why);
	json_close(&j);
	buf_addc(&body, '\n');
	conn_answer(c, r, status, &body);
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
	if (ticket_take(c->server, r)) {
		who->roles = SERVE_VIEW;
		return 0;
	}
	if (!origin_is_ours(c, r))
		return 403;
	serve_key_digest(r->token, who->digest);
	if (r->token[0] && server_roles(c->server, c->local, who))
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

/* 0: it may go on; else it has been answered, or will be. */
static int authenticate(struct serve_conn *c, const struct http_request *r)
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
	return slip_admit(c, r) || !authenticate(c, &last);
}

static bool may(struct serve_conn *c, const struct http_request *r, unsigned role)
{
	if (c->who.roles & role)
		return true;
	conn_refuse(c, r, 403, role == SERVE_RUN
			? "the key may not run commands"
			: "the key may not do that");
	return false;
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
	autofree char **argv = wire_argv(w);
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

static void answer_command(struct serve_conn *c, const struct http_request *r,
	int status, const struct serve_command *command)
{
	autobuf struct buf body = BUF_INIT(BODY_MAX);
	struct json j = JSON_INIT(&body);

	json_open(&j, '{');
	wire_put_outcome(&j, command);
	wire_put_facts(&j, command);
	json_put_u64(&j, "stdout_bytes", command->ring[SERVE_OUT].end);
	json_put_u64(&j, "stderr_bytes", command->ring[SERVE_ERR].end);
	json_close(&j);
	buf_addc(&body, '\n');
	conn_answer(c, r, status, &body);
}

static void do_start(struct serve_conn *c, const struct http_request *r,
	const char *session, const char *body)
{
	autowire struct wire w = {.type = WIRE_START};
	struct serve_command *command;
	struct diag d = {0};

	if (!may(c, r, SERVE_RUN))
		return;
	if (wire_read(&w, body, (size_t)r->length, WIRE_START) ||
		w.type != WIRE_START)
		conn_refuse(c, r, 400, w.said);
	else if (api_start(c->server, &c->who, session, &w, &command, &d))
		conn_refuse(c, r, 503, d.text);
	else
		answer_command(c, r, 201, command);
}

static void do_list(struct serve_conn *c, const struct http_request *r)
{
	autobuf struct buf body = BUF_INIT(BODY_MAX);
	struct json j = JSON_INIT(&body);

	json_open(&j, '{');
	json_put_open(&j, "commands", '[');
	for (struct serve_command *at = c->server->engine->first; at;
		at = at->next) {
		if (at->orphan || at->own)
			continue;
		json_open(&j, '{');
		wire_put_outcome(&j, at);
		wire_put_facts(&j, at);
		json_close(&j);
	}
	json_close(&j);
	json_close(&j);
	buf_addc(&body, '\n');
	if (body.err)
		conn_refuse(c, r, 503, "too many commands to list");
	else
		conn_answer(c, r, 200, &body);
}

/* Bytes as they came; where to go on stands in the head. */
static void do_output(struct serve_conn *c, const struct http_request *r,
	struct serve_command *command)
{
	uint64_t stream = 1, at = 0, limit = OUTPUT_MAX;
	autobuf struct buf body = BUF_INIT(OUTPUT_MAX);

	if (http_query(r, "stream", 2, &stream) || !stream ||
		http_query(r, "offset", INT64_MAX, &at) ||
		http_query(r, "limit", OUTPUT_MAX, &limit)) {
		conn_refuse(c, r, 400, "stream, offset or limit");
		return;
	}
	serve_copy(command, stream == 2 ? SERVE_ERR : SERVE_OUT, &at,
		(size_t)limit, &body);
	buf_addf(&c->out, "HTTP/1.1 200 OK\r\n"
		"Content-Type: application/octet-stream\r\n"
		"Content-Length: %zu\r\nWardbox-Offset: %ju\r\n"
		"Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
		"Connection: %s\r\n\r\n", body.len,
		(uintmax_t)at, r->keep ? "keep-alive" : "close");
	buf_add(&c->out, body.data, body.len);
	if (!r->keep)
		c->state = CONN_LAST;
}

static void do_input(struct serve_conn *c, const struct http_request *r,
	struct serve_command *command, const char *body)
{
	uint64_t close = 0;
	int err = http_query(r, "close", 1, &close);

	if (!err && r->length)
		err = serve_write(command, body, (size_t)r->length);
	if (!err && close)
		err = serve_shut(command);
	if (err == -EINVAL)
		conn_refuse(c, r, 400, "close");
	else if (err)
		conn_refuse(c, r, 409, err == -EPIPE
				? "its standard input is closed"
				: "it does not read what was written before");
	else
		conn_answer(c, r, 204, NULL);
}

static void do_message(struct serve_conn *c, const struct http_request *r,
	struct serve_command *command, const char *body, enum wire_type type)
{
	autowire struct wire w = {.type = type};
	int err;

	if (wire_read(&w, body, (size_t)r->length, type) || w.type != type) {
		conn_refuse(c, r, 400, w.said[0] ? w.said : "type");
		return;
	}
	err = type == WIRE_SIGNAL ? serve_signal(command, w.signal)
				  : serve_resize(command, w.rows, w.cols);
	if (err)
		conn_refuse(c, r, 409, type == WIRE_SIGNAL ? "it has ended"
							   : "no terminal");
	else
		conn_answer(c, r, 204, NULL);
}

/* "ID/what" behind /api/v1/commands/. */
static void command_request(struct serve_conn *c, const struct http_request *r,
	const char *at, const char *body)
{
	char id[SERVE_ID_SIZE];
	size_t n = strcspn(at, "/");
	const char *what = at[n] ? at + n + 1 : "";
	bool get = str_eq(r->method, "GET"), post = str_eq(r->method, "POST");
	struct serve_command *command = NULL;

	if (n < sizeof id) {
		memcpy(id, at, n);
		id[n] = '\0';
		command = serve_find(c->server->engine, id);
	}
	if (!command || (command->orphan || command->own))
		conn_refuse(c, r, 404, "there is no such command");
	else if (web_command(c, r, command, what))
		;
	else if (get && !*what)
		answer_command(c, r, 200, command);
	else if (get && str_eq(what, "output"))
		do_output(c, r, command);
	else if (get && str_eq(what, "events"))
		events_open(c, command);
	else if (get)
		conn_refuse(c, r, 404, "there is no such thing of a command");
	else if (!may(c, r, SERVE_RUN))
		;
	else if (post && str_eq(what, "input"))
		do_input(c, r, command, body);
	else if (post && str_eq(what, "signal"))
		do_message(c, r, command, body, WIRE_SIGNAL);
	else if (post && str_eq(what, "resize"))
		do_message(c, r, command, body, WIRE_RESIZE);
	else if (str_eq(r->method, "DELETE") && !*what) {
		serve_forget(command);
		conn_answer(c, r, 204, NULL);
	} else {
		conn_refuse(c, r, 405, "that cannot be done with a command");
	}
}

/* "ID/what" behind /api/v1/sessions/. */
static void session_request(struct serve_conn *c, const struct http_request *r,
	const char *at, const char *body)
{
	char id[SESSION_ID_MAX + 1];
	size_t n = strcspn(at, "/");
	const char *what = at[n] ? at + n + 1 : "";
	bool post = str_eq(r->method, "POST"), pty = str_eq(what, "pty");

	if (n >= sizeof id) {
		conn_refuse(c, r, 404, "there is no such session");
		return;
	}
	memcpy(id, at, n);
	id[n] = '\0';
	if (!session_id_valid(id)) {
		conn_refuse(c, r, 404, "there is no such session");
	} else if (pty && str_eq(r->method, "GET")) {
		socket_open(c, r, id);
	} else if (IS_ENABLED(CONFIG_SERVE_CODEX) && str_eq(what, "codex") &&
		str_eq(r->method, "GET")) {
		if (may(c, r, SERVE_RUN))
			codex_open(c, r, id);
	} else if (str_eq(what, "mcp") && str_eq(r->method, "GET")) {
		if (may(c, r, SERVE_RUN))
			peer_open(c, r, id);
	} else if (str_eq(what, "mcp") && post) {
		if (may(c, r, SERVE_RUN))
			post_open(c, r, id, body);
	} else if (str_eq(what, "commands") && post) {
		do_start(c, r, id, body);
	} else if (pty || str_eq(what, "commands") || str_eq(what, "mcp")) {
		conn_refuse(c, r, 405, "that is no way to ask for it");
	} else {
		conn_refuse(c, r, 404, "there is no such thing of a session");
	}
}

/* "NAME/pods/ID/exec", as a client of Kubernetes asks: the pod is a session. */
static void pod_request(
	struct serve_conn *c, const struct http_request *r, const char *at)
{
	static const char pods[] = "/pods/", exec[] = "/exec";
	const char *pod = str_find(at, pods);
	char id[SESSION_ID_MAX + 1] = "";
	size_t n;

	pod = pod ? pod + sizeof pods - 1 : "";
	n = strcspn(pod, "/");
	if (str_eq(pod + n, exec) && n < sizeof id)
		memcpy(id, pod, n);
	if (!session_id_valid(id)) {
		conn_refuse(c, r, 404, "there is no such session");
		return;
	}
	(void)str_copy(c->session, sizeof c->session, id);
	kube_open(c, r);
}

static void list_questions(struct serve_conn *c, const struct http_request *r)
{
	autobuf struct buf body = BUF_INIT(BODY_MAX);
	autofree struct approve_list *l = calloc(1, sizeof *l);
	autofd int dir = approve_dir(false, NULL);
	struct json j = JSON_INIT(&body);

	json_open(&j, '{');
	json_put_open(&j, "questions", '[');
	if (l && dir >= 0 && !approve_list(dir, l, NULL))
		for (size_t i = 0; i < l->count; i++) {
			autobuf struct buf one = BUF_INIT(1 << 20);

			if (!approve_read(dir, l->id[i], &one, NULL))
				json_raw(&j, one.data,
					str_line(one.data, one.len));
		}
	json_close(&j);
	json_close(&j);
	buf_addc(&body, '\n');
	if (body.err)
		conn_refuse(c, r, 503, "too many questions to list");
	else
		conn_answer(c, r, 200, &body);
}

/* {"answer": "yes"} */
static void answer_question(struct serve_conn *c, const struct http_request *r,
	const char *id, const char *body)
{
	autojson struct json_doc doc = {0};
	autofd int dir = approve_dir(false, NULL);
	char word[16] = "";
	struct buf text = BUF_FIXED(word);
	uint32_t node = json_read(&doc, body, (size_t)r->length, NULL)
		? 0
		: json_find(&doc, 0, "answer");
	struct diag d = {0};
	int answer, err;

	if (node)
		(void)json_text(&doc, node, &text);
	answer = approve_word(buf_str(&text));
	if (answer < 0) {
		conn_refuse(c, r, 400, "answer: yes, no or always");
		return;
	}
	err = dir < 0 ? diag_fail(&d, -ENOENT, "no question waits")
		      : approve_answer(dir, id, (enum approve_answer)answer, &d);
	if (err)
		conn_refuse(c, r, err == -ENOENT ? 404 : 409, d.text);
	else
		conn_answer(c, r, 204, NULL);
}

static void do_stop(struct serve_conn *c, const struct http_request *r)
{
	if (!c->who.owner || !(c->who.roles & SERVE_RUN)) {
		conn_refuse(c, r, 403, "that is the owner's to do");
		return;
	}
	c->server->engine->loop.stop = true;
	conn_answer(c, r, 204, NULL);
	conn_flush(c);
}

void api_request(struct serve_conn *c, const struct http_request *r,
	const char *body)
{
	const char *at = str_after(r->path, "/api/v1/"), *rest;
	bool get = str_eq(r->method, "GET");

	if (str_eq(r->path, "/health") && get) {
		http_answer(&c->out, 200, "text/plain", "ok\n", 3, r->keep);
		if (!r->keep)
			c->state = CONN_LAST;
		return;
	}
	rest = str_after(r->path, "/approve/");
	if (rest) {
		slip_request(c, r, rest, body);
		return;
	}
	if (web_file(c, r) || authenticate(c, r) || (at && web_request(c, r, at)))
		return;
	if (str_eq(r->path, "/mcp") && c->server->session[0]) {
		if (!str_eq(r->method, "POST"))
			conn_refuse(c, r, 405, "a message is posted");
		else if (may(c, r, SERVE_RUN))
			post_open(c, r, c->server->session, body);
	} else if (at && str_eq(at, "commands") && get)
		do_list(c, r);
	else if (at && (rest = str_after(at, "commands/")))
		command_request(c, r, rest, body);
	else if (at && (rest = str_after(at, "sessions/")))
		session_request(c, r, rest, body);
	else if (at && get && (rest = str_after(at, "namespaces/")))
		pod_request(c, r, rest);
	else if (at && str_eq(at, "questions") && get)
		list_questions(c, r);
	else if (at && (rest = str_after(at, "questions/")) &&
		str_eq(r->method, "POST")) {
		if (may(c, r, SERVE_APPROVE))
			answer_question(c, r, rest, body);
	} else if (at && str_eq(at, "stop") && str_eq(r->method, "POST"))
		do_stop(c, r);
	else
		conn_refuse(c, r, 404, "there is nothing of that name");
}
