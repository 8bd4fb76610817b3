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
#define PAGE_RULES                                                             \
	"Content-Security-Policy: default-src 'none'; script-src 'self';"      \
	" style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src data:;" \
	" base-uri 'none'; form-action 'none'; frame-ancestors 'none';"        \
	" require-trusted-types-for 'script'; trusted-types 'none'\r\n"        \
	"Cross-Origin-Opener-Policy: same-origin\r\n"                          \
	"Cross-Origin-Resource-Policy: same-origin\r\n"                        \
	"Referrer-Policy: no-referrer\r\n"
#define PAGE_GZIP "Content-Encoding: gzip\r\n"

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
	/* Nobody is asked for a key here. */
	if (!c->paged && c->server->paged >= CONN_PAGED_MAX)
		conn_drop(c->server, CONN_PAGED);
	c->server->paged += !c->paged;
	c->paged = true;
	if (!r->gzip && page_read(f, &plain))
		plain.len = 0;
	if (r->gzip)
		http_answer(&c->out, 200, f->type, PAGE_GZIP PAGE_RULES, f->gzip,
			f->size, r->keep);
	else
		http_answer(&c->out, 200, f->type, PAGE_RULES, plain.data,
			plain.len, r->keep);
	if (!r->keep)
		c->state = CONN_LAST;
	return true;
}

void web_me(struct serve_conn *c, const struct api_ask *a)
{
	autobuf struct buf body = BUF_INIT(1024);
	struct json j = JSON_INIT(&body);

	json_putf(&j, "{ version %s view %d run %d approve %d",
		c->server->version, !!(c->who.roles & SERVE_VIEW),
		!!(c->who.roles & SERVE_RUN), !!(c->who.roles & SERVE_APPROVE));
	conn_answer(c, a->r, 200, &j);
}

/* The options of `wardbox audit report` that the query may name. */
static const char log_searches[] = "session\0command\0grep\0decision\0exit\0rule\0"
			       "cwd\0since\0until\0";

/* Which commands of the log; they are looked for by audit. */
void web_log(struct serve_conn *c, const struct api_ask *a)
{
	autobuf struct buf words = BUF_INIT(WORDS_MAX);
	uint64_t lines = 500;

	if (http_query(a->r, "lines", LINES_MAX, &lines) || !lines) {
		conn_refuse(c, a->r, 400, "lines: no number, or too many");
		return;
	}
	buf_addf(&words, "audit%creport%c--json%c--quiet%c--lines=%ju%c", 0, 0,
		0, 0, (uintmax_t)lines, 0);
	for (const char *name = log_searches; *name; name += strlen(name) + 1) {
		autobuf struct buf value = BUF_INIT(WORDS_MAX);
		int got = http_query_text(a->r, name, 0, &value);

		if (got < 0) {
			conn_refuse(c, a->r, 400, name);
			return;
		}
		if (got && value.len)
			buf_addf(&words, "--%s=%s%c", name, buf_str(&value), 0);
	}
	own_open(c, a->r, json_type_name, &words);
}

void web_verify(struct serve_conn *c, const struct api_ask *a)
{
	autobuf struct buf words = BUF_INIT(WORDS_MAX);

	buf_addf(&words, "audit%cverify%c--json%c", 0, 0, 0);
	own_open(c, a->r, json_type_name, &words);
}

/* A command of the log as a recording. */
void web_cast(struct serve_conn *c, const struct api_ask *a)
{
	autobuf struct buf words = BUF_INIT(WORDS_MAX);
	uint64_t seq;

	if (num_u64(a->id, 0, UINT64_MAX, &seq)) {
		conn_refuse(c, a->r, 404, "there is no such thing of the log");
		return;
	}
	buf_addf(&words, "audit%cshow%c--output=asciicast%c--%c%s%c", 0, 0, 0, 0,
		a->id, 0);
	own_open(c, a->r, "application/x-asciicast", &words);
}

/* What a command changed: the paths, or what of them. */
static void ask_changed(struct serve_conn *c, const struct api_ask *a, bool diff)
{
	const uintmax_t journal = a->command->report.journal;
	autobuf struct buf words = BUF_INIT(WORDS_MAX);

	if (!journal) {
		conn_refuse(c, a->r, 404, a->command->ended
				? "nothing is journaled of it"
				: "it still runs");
		return;
	}
	buf_addf(&words, "undo%c%s%c", 0, diff ? "diff" : "show", 0);
	if (!diff)
		buf_addf(&words, "--json%c", 0);
	buf_addf(&words, "--%c%ju%c", 0, journal, 0);
	own_open(c, a->r, diff ? "text/plain; charset=utf-8" : json_type_name,
		&words);
}

void web_changed(struct serve_conn *c, const struct api_ask *a)
{
	ask_changed(c, a, false);
}

void web_diff(struct serve_conn *c, const struct api_ask *a)
{
	ask_changed(c, a, true);
}
