/* serve_web.c - the page, and what it asks for beside commands: who its key is, the
 * log, what commands changed
 * SPDX-License-Identifier: MIT
 */
#include "serve/serve_server_in.h"

#include <string.h>

#include "base/num.h"
#include "base/str.h"

enum {
	FILE_MAX = 1 << 20,
	WORDS_MAX = 8192,
	LINES_MAX = 5000, /* commands of the log in one answer */
};

static const char json_type_name[] = "application/json";

/* Nothing from elsewhere, no text that becomes a script or an element; xterm.js
 * makes its style as it runs. */
static const char page_rules[] =
	"Content-Security-Policy: default-src 'none'; script-src 'self';"
	" style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src data:;"
	" base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
	" require-trusted-types-for 'script'; trusted-types 'none'\r\n"
	"Cross-Origin-Opener-Policy: same-origin\r\n"
	"Cross-Origin-Resource-Policy: same-origin\r\n"
	"Referrer-Policy: no-referrer\r\n";

bool web_file(struct serve_conn *c, const struct http_request *r)
{
	const struct page_file *f = c->server->page
		? c->server->page(r->path)
		: NULL;
	autobuf struct buf plain = BUF_INIT(FILE_MAX);

	if (!f || !str_eq(r->method, "GET"))
		return false;
	if (!api_host(c, r->host)) {
		conn_refuse(c, r, 403, "Host is another's");
		return true;
	}
	if (!r->gzip && page_read(f, &plain))
		plain.len = 0;
	buf_addf(&c->out, "HTTP/1.1 200 OK\r\nContent-Type: %s\r\n%s"
		"Content-Length: %zu\r\nCache-Control: no-cache\r\n"
		"X-Content-Type-Options: nosniff\r\n%sConnection: %s\r\n\r\n",
		f->type, r->gzip ? "Content-Encoding: gzip\r\n" : "",
		r->gzip ? f->size : plain.len, page_rules,
		r->keep ? "keep-alive" : "close");
	if (r->gzip)
		buf_add(&c->out, f->gzip, f->size);
	else
		buf_add(&c->out, plain.data, plain.len);
	if (!r->keep)
		c->state = CONN_LAST;
	return true;
}

static void tell_me(struct serve_conn *c, const struct http_request *r)
{
	autobuf struct buf body = BUF_INIT(1024);
	struct json j = JSON_INIT(&body);

	json_putf(&j, "{ version %s view %d run %d approve %d }",
		c->server->version, !!(c->who.roles & SERVE_VIEW),
		!!(c->who.roles & SERVE_RUN), !!(c->who.roles & SERVE_APPROVE));
	buf_addc(&body, '\n');
	conn_answer(c, r, 200, &body);
}

/* The options of `wardbox audit report` that the query may name. */
static const char searches[] = "session\0command\0grep\0decision\0exit\0rule\0"
			       "cwd\0since\0until\0";

/* Which commands of the log; they are looked for by audit. */
static void ask_log(struct serve_conn *c, const struct http_request *r)
{
	autobuf struct buf words = BUF_INIT(WORDS_MAX);
	uint64_t lines = 500;

	if (http_query(r, "lines", LINES_MAX, &lines) || !lines) {
		conn_refuse(c, r, 400, "lines: no number, or too many");
		return;
	}
	buf_addf(&words, "audit%creport%c--json%c--quiet%c--lines=%ju%c", 0, 0,
		0, 0, (uintmax_t)lines, 0);
	for (const char *name = searches; *name; name += strlen(name) + 1) {
		autobuf struct buf value = BUF_INIT(WORDS_MAX);
		int got = http_query_text(r, name, 0, &value);

		if (got < 0) {
			conn_refuse(c, r, 400, name);
			return;
		}
		if (got && value.len)
			buf_addf(&words, "--%s=%s%c", name, buf_str(&value), 0);
	}
	own_open(c, r, json_type_name, &words);
}

/* "verify", or "N/cast": a command of the log as a recording. */
static void ask_record(struct serve_conn *c, const struct http_request *r,
	const char *at)
{
	autobuf struct buf words = BUF_INIT(WORDS_MAX);
	char number[24];
	size_t n = strcspn(at, "/");
	uint64_t seq;

	if (str_eq(at, "verify")) {
		buf_addf(&words, "audit%cverify%c--json%c", 0, 0, 0);
		own_open(c, r, json_type_name, &words);
		return;
	}
	BUF_PRINT(number, "%.*s", (int)(n < 22 ? n : 22), at);
	if (!str_eq(at + n, "/cast") || num_u64(number, 0, UINT64_MAX, &seq)) {
		conn_refuse(c, r, 404, "there is no such thing of the log");
		return;
	}
	buf_addf(&words, "audit%cshow%c--output=asciicast%c--%c%s%c", 0, 0, 0, 0,
		number, 0);
	own_open(c, r, "application/x-asciicast", &words);
}

/* What a command changed: the paths, or what of them. */
static void ask_changed(struct serve_conn *c, const struct http_request *r,
	const struct serve_command *of, bool diff)
{
	autobuf struct buf words = BUF_INIT(WORDS_MAX);

	if (!of->report.journal) {
		conn_refuse(c, r, 404, of->ended
				? "nothing is journaled of it"
				: "it still runs");
		return;
	}
	buf_addf(&words, "undo%c%s%c", 0, diff ? "diff" : "show", 0);
	if (!diff)
		buf_addf(&words, "--json%c", 0);
	buf_addf(&words, "--%c%ju%c", 0, (uintmax_t)of->report.journal, 0);
	own_open(c, r, diff ? "text/plain; charset=utf-8" : json_type_name,
		&words);
}

bool web_command(struct serve_conn *c, const struct http_request *r,
	struct serve_command *of, const char *what)
{
	bool get = str_eq(r->method, "GET");

	if (get && (str_eq(what, "changed") || str_eq(what, "diff")))
		ask_changed(c, r, of, *what == 'd');
	else if (get && str_eq(what, "stream"))
		cast_open(c, r, of);
	else if (str_eq(what, "ticket") && str_eq(r->method, "POST"))
		ticket_make(c, r, of);
	else
		return false;
	return true;
}

bool web_request(struct serve_conn *c, const struct http_request *r,
	const char *at)
{
	const char *rest;

	if (!str_eq(r->method, "GET"))
		return false;
	if (str_eq(at, "me"))
		tell_me(c, r);
	else if (str_eq(at, "log"))
		ask_log(c, r);
	else if ((rest = str_after(at, "log/")))
		ask_record(c, r, rest);
	else
		return false;
	return true;
}
