/* serve_kube.c - a command by Kubernetes' channels, v5.channel.k8s.io and v4
 * SPDX-License-Identifier: MIT
 *
 * The first byte of each binary message is its channel: 0 stdin, 1 stdout, 2 stderr,
 * 3 how it ended, 4 the terminal's size, 255 (v5) the end of the channel that its
 * second byte names. The command stands in the query.
 */
#include "serve/serve_server_in.h"

#include <string.h>

#include "base/json_read.h"
#include "base/str.h"

enum {
	WORD_MAX = 8192,
	WORDS_MAX = 256,
	SIZE_TEXT = 256,
	STATUS_MAX = 4096,
	STATUS = 3,
	RESIZE = 4,
	CLOSE = 255,
};

/* "tty=true" */
static bool says_true(const struct http_request *r, const char *name)
{
	char text[8];
	struct buf b = BUF_FIXED(text);

	return http_query_text(r, name, 0, &b) > 0 &&
		(str_eq(buf_str(&b), "true") || str_eq(text, "1"));
}

static void say_status(struct serve_conn *c, const struct serve_command *of,
	const char *failure)
{
	autobuf struct buf text = BUF_INIT(STATUS_MAX);
	struct json j = JSON_INIT(&text);
	char code[16];

	BUF_PRINT(code, "%d", of ? of->report.code : 0);
	buf_addc(&text, STATUS);
	json_putf(&j, "{ metadata { } status %s", failure || of->report.code
			? "Failure" : "Success");
	if (failure)
		json_putf(&j, "reason %s code %ju message %s",
			"InternalError", (uintmax_t)500, failure);
	else if (of->report.code)
		json_putf(&j, "reason %s message %s details { causes [ { reason %s"
			" message %s } ] }", "NonZeroExitCode",
			of->report.message[0] ? of->report.message
				: "command terminated with non-zero exit code",
			"ExitCode", code);
	json_close(&j);
	ws_frame_add(&c->out, WS_BINARY, text.data, text.len, NULL);
	c->out.err |= text.err;
}

void kube_say_exit(struct serve_conn *c, const struct serve_command *of)
{
	say_status(c, of, NULL);
}

static void kube_start(struct serve_conn *c, struct wire *w)
{
	static const char hello[] = {1};
	struct serve_command *command;
	struct diag d = {0};

	if (api_start(c->server, &c->who, c->session, w, &command, &d)) {
		say_status(c, NULL, d.text);
		socket_close(c, WS_INTERNAL, d.text);
		return;
	}
	c->own = true;
	serve_attach(command, &c->reader);
	/* Clients wait for a first message to know that it runs. */
	ws_frame_add(&c->out, WS_BINARY, hello, sizeof hello, NULL);
}

void kube_open(struct serve_conn *c, const struct api_ask *a)
{
	const struct http_request *r = a->r;
	static const char *const known[] = {"v5.channel.k8s.io",
		"v4.channel.k8s.io"};
	autowire struct wire w = {.words = BUF_INIT(WORD_MAX)};
	const char *protocol = NULL;
	int got = 1;

	for (size_t i = 0; i < ARRAY_SIZE(known) && !protocol; i++)
		if (http_lists(r->protocols, known[i]))
			protocol = known[i];
	while (got > 0 && w.count < WORDS_MAX) {
		got = http_query_text(r, "command", w.count, &w.words);
		if (got > 0)
			buf_addc(&w.words, '\0');
		w.count += got > 0;
	}
	w.pty = says_true(r, "tty");
	w.input = says_true(r, "stdin");
	if (!(c->who.roles & SERVE_RUN))
		conn_refuse(c, r, 403, "the key may not run commands");
	else if (!protocol)
		conn_refuse(c, r, 400, "protocols: wardbox.v1 or"
			" v5.channel.k8s.io");
	else if (got || !w.count || w.words.err)
		conn_refuse(c, r, 400, "command: none, or too long");
	else if (socket_begin(c, r, protocol, WS_TEXT_MAX)) {
		(void)str_copy(c->session, sizeof c->session, a->id);
		c->kube = c->channels = true;
		c->size = BUF_INIT(SIZE_TEXT);
		kube_start(c, &w);
	}
}

/* {"Width": 80, "Height": 24}, which may come in pieces. */
static void take_size(struct serve_conn *c)
{
	static const struct arg lengths[] = {
		{"Height", ARG_LENGTH, 0, WIRE_LENGTH_MAX, 0, 0, NULL},
		{"Width", ARG_LENGTH, sizeof(short), WIRE_LENGTH_MAX, 0, 0, NULL},
	};
	autojson struct json_doc doc = {0};
	unsigned short size[2] = {0};
	char said[ARGS_SAID];

	if (!json_read(&doc, c->size.data, c->size.len, NULL) &&
		!args_read(lengths, 2, 0, &doc, 0, size, said) && size[0] &&
		size[1])
		(void)serve_resize(c->reader.command, size[0], size[1]);
}

void kube_take(struct serve_conn *c, bool first, const char *bytes, size_t n)
{
	if (c->channel == RESIZE) {
		if (first)
			buf_clear(&c->size);
		buf_add(&c->size, bytes, n);
		if (!c->size.err)
			take_size(c);
	} else if (c->channel == CLOSE) {
		if (n && !*bytes)
			(void)serve_shut(c->reader.command);
	} else {
		socket_close(c, WS_POLICY, "no channel to write to");
	}
}
