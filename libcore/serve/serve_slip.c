/* serve_slip.c - a question's page, by a slip that is good for one answer
 * SPDX-License-Identifier: MIT
 */
#include "serve/serve_slip.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "approve/approve.h"
#include "base/json_read.h"
#include "base/str.h"
#include "serve/serve_server_in.h"

enum { ANSWER_MAX = 64 };

static const char page_head[] = "<!doctype html><html lang=en><meta charset=utf-8>"
	"<meta name=viewport content=\"width=device-width\">"
	"<title>wardbox: a question</title><style>"
	"body{font:16px sans-serif;margin:2em auto;max-width:44em;padding:0 1em;"
	"color-scheme:light dark}td,th{text-align:left;vertical-align:top;"
	"padding:.3em .6em}td{font-family:monospace;white-space:pre-wrap;"
	"overflow-wrap:anywhere}button{font:inherit;padding:.5em 2em;margin:1em 1em"
	" 0 0}</style>";

/* On a port of the loopback that the kernel chooses. */
static int open_port(struct serve_server *s)
{
	struct sockaddr_in at;
	socklen_t size = sizeof at;
	int fd = serve_bind_loopback(0, NULL), err;

	if (fd < 0)
		return fd;
	err = getsockname(fd, (struct sockaddr *)&at, &size)
		? -errno
		: serve_listen(s, fd, SERVE_PLAIN);
	if (err)
		close(fd);
	else
		s->page_port = ntohs(at.sin_port);
	return err;
}

int slip_make(struct serve_server *s, struct serve_command *c,
	char url[static SLIP_URL_SIZE])
{
	char text[SERVE_KEY_SIZE];
	int err = s->page_port ? 0 : s->page_opens ? open_port(s) : -ENOTCONN;

	if (!err)
		err = serve_key_make(text, c->slip);
	c->slipped = !err;
	if (!err)
		(void)buf_print(url, SLIP_URL_SIZE,
			"http://127.0.0.1:%u/approve/%s", s->page_port, text);
	return err;
}

/* Whose slip that is: as long for any. */
static struct serve_command *slip_find(
	const struct serve_server *s, const char *slip)
{
	struct serve_command *found = NULL;
	unsigned char digest[SERVE_DIGEST];

	serve_key_digest(slip, digest);
	for (struct serve_command *c = s->engine->first; c; c = c->next) {
		unsigned differs = !c->slipped || !c->question[0] || c->ended;

		for (size_t i = 0; i < sizeof digest; i++)
			differs |= digest[i] ^ c->slip[i];
		if (!differs)
			found = c;
	}
	return found;
}

static void add_text(struct buf *out, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strchr("<>&\"'", s[i]) && s[i])
			buf_addf(out, "&#%d;", s[i]);
		else
			buf_addc(out, s[i]);
}

/* Nothing of it is kept, loaded from elsewhere, framed or told to another site. */
static void send_page(struct serve_conn *c, int status, const struct buf *page)
{
	http_answer(&c->out, status, "text/html; charset=utf-8",
		"Referrer-Policy: same-origin\r\n"
		"Content-Security-Policy: default-src 'none'; style-src"
		" 'unsafe-inline'; form-action 'self'; frame-ancestors 'none';"
		" base-uri 'none'\r\n", page->data, page->len, false);
	c->state = CONN_LAST;
}

static void send_words(struct serve_conn *c, int status, const char *words)
{
	autobuf struct buf page = BUF_INIT(4096);

	buf_addf(&page, "%s<h1>%s</h1>", page_head, words);
	send_page(c, status, &page);
}

/* What a person is to know, as the question says it. */
static void show_question(struct serve_conn *c, const struct serve_command *of)
{
	autobuf struct buf page = BUF_INIT(8 << 20), json = BUF_INIT(1 << 20);
	autojson struct json_doc doc = {0};
	autofd int dir = approve_dir(false, NULL);

	if (dir < 0 || approve_read(dir, of->question, true, &json, NULL) ||
		json_read(&doc, json.data, str_line(json.data, json.len),
			NULL)) {
		send_words(c, 404, "Nobody asks that any more");
		return;
	}
	buf_addf(&page, "%s<h1>May this run?</h1><table>", page_head);
	for (uint32_t key = json_first(&doc, 0); key; key = json_next(&doc, key)) {
		autobuf struct buf text = BUF_INIT(1 << 20);
		const struct json_node *n = &doc.node[key];

		if (json_type(&doc, json_value(&doc, key)) != JSON_STRING ||
			json_text(&doc, json_value(&doc, key), &text) ||
			!text.len)
			continue;
		buf_adds(&page, "<tr><th>");
		add_text(&page, doc.text + n->at, n->len);
		buf_adds(&page, "<td>");
		add_text(&page, text.data, text.len);
	}
	buf_adds(&page, "</table><form method=post>"
		"<button name=answer value=yes>Yes, run it</button>"
		"<button name=answer value=no>No</button></form>");
	send_page(c, 200, &page);
}

static void take_answer(struct serve_conn *c, struct serve_command *of,
	const char *body, size_t n)
{
	static const char yes[] = "answer=yes", no[] = "answer=no";
	bool is_yes = n == sizeof yes - 1 && !memcmp(body, yes, n);
	autofd int dir = approve_dir(false, NULL);

	if (!is_yes && (n != sizeof no - 1 || memcmp(body, no, n) != 0)) {
		send_words(c, 400, "Neither yes nor no");
		return;
	}
	of->slipped = false;
	if (dir < 0 || approve_answer(dir, of->question,
			       is_yes ? APPROVE_YES : APPROVE_NO, NULL))
		send_words(c, 409, "It was answered before");
	else
		send_words(c, 200, is_yes ? "Yes: it runs" : "No: it does not run");
}

bool slip_admit(const struct serve_conn *c, const struct http_request *r)
{
	const char *slip = str_after(r->path, "/approve/");

	return slip && r->length <= ANSWER_MAX &&
		slip_find(c->server, slip);
}

void slip_request(struct serve_conn *c, const struct http_request *r,
	const char *slip, const char *body)
{
	struct serve_command *of = slip_find(c->server, slip);

	if (!api_is_ours(c, r))
		send_words(c, 403, "Host or Origin is another's");
	else if (!of)
		send_words(c, 404, "This address is good no more");
	else if (str_eq(r->method, "GET"))
		show_question(c, of);
	else if (str_eq(r->method, "POST"))
		take_answer(c, of, body, (size_t)r->length);
	else
		send_words(c, 405, "That cannot be done with a question");
}
