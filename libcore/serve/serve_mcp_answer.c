/* serve_mcp_answer.c - how a command stands, told to an MCP client
 * SPDX-License-Identifier: MIT
 */
#include "serve/serve_mcp_in.h"

#include <signal.h>

#include "base/json_read.h"
#include "base/str.h"
#include "base/utf8.h"
#include "serve/serve_wire.h"
#include "sys/sig.h"

/* What of a stream is in the answer: its beginning, and where that is not all,
 * its end. */
struct part {
	struct buf text; /* with a line in it that says what is left out */
	uint64_t cursor; /* where to go on */
	uint64_t omitted;
};

/* How many of the bytes are whole characters: one that is cut at the end waits
 * for its rest. Bytes that are no character at all are passed on. */
static size_t whole_length(const char *s, size_t n)
{
	uint32_t cp;

	for (size_t cut = 1; cut <= 3 && cut <= n; cut++) {
		unsigned char c = (unsigned char)s[n - cut];
		size_t need = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;

		if (c >= 0x80 && c < 0xc0)
			continue;
		return need > cut && !utf8_decode(s + n - cut, cut, &cp)
			? n - cut
			: n;
	}
	return n;
}

static void take_part(const struct serve_command *c, enum serve_stream s,
	uint64_t at, size_t max, struct part *p)
{
	static const char *const name[SERVE_STREAMS] = {"stdout", "stderr"};
	uint64_t end = c->ring[s].end, last;
	bool rest = end - at > max;
	size_t kept;

	p->text = BUF_INIT((size_t)MCP_INLINE_MAX + 256);
	p->omitted = serve_copy(c, s, &at, rest ? max / 2 : max, &p->text);
	kept = at < end || !c->ended ? whole_length(p->text.data, p->text.len)
				     : p->text.len;
	at -= p->text.len - kept;
	p->text.len = kept;
	p->cursor = at;
	if (!rest)
		return;
	last = end - max / 2;
	if (last <= at)
		return;
	p->omitted += last - at;
	buf_addf(&p->text, "\n[%ju bytes left out; read from %s_cursor %ju"
		" gives them]\n", (uintmax_t)(last - at), name[s],
		(uintmax_t)at);
	serve_copy(c, s, &last, max / 2, &p->text);
}

/* The last line: what a model is to know beside the output. */
static void add_end(struct buf *out, const struct serve_command *c)
{
	const struct serve_report *r = &c->report;
	char name[16];

	if (c->question[0])
		buf_addf(out, "[%s waits for a person: 'wardbox approve show %s'"
			" on another terminal; read %s with wait]\n", c->id,
			c->question, c->id);
	else if (!c->ended)
		buf_addf(out, "[%s runs]\n", c->id);
	else if (r->there && !r->ran)
		buf_addf(out, "[not run: %s%s%s]\n", r->message,
			r->hint[0] ? "; " : "", r->hint);
	else if (r->timed_out)
		buf_adds(out, "[timed out]\n");
	else if (r->signal)
		buf_addf(out, "[ended by SIG%s]\n",
			sig_name(r->signal, name, sizeof name));
	else
		buf_addf(out, "[exit code %d]\n", r->code);
}

static void add_output(struct buf *out, const char *title, const struct part *p)
{
	if (!p->text.len)
		return;
	buf_adds(out, title);
	buf_add(out, p->text.data, p->text.len);
	if (out->len && out->data[out->len - 1] != '\n')
		buf_addc(out, '\n');
}

static void put_text(struct json *j, const struct buf *text, bool wrong)
{
	json_put_open(j, "content", '[');
	json_open(j, '{');
	json_put_str(j, "type", "text");
	json_strn(json_key(j, "text"), text->data, text->len);
	json_close(j);
	json_close(j);
	json_put_bool(j, "isError", wrong);
}

static void put_output(struct json *j, const struct part *p)
{
	json_strn(json_key(j, "stdout"), p[0].text.data, p[0].text.len);
	json_strn(json_key(j, "stderr"), p[1].text.data, p[1].text.len);
	json_put_u64(j, "stdout_cursor", p[0].cursor);
	json_put_u64(j, "stderr_cursor", p[1].cursor);
	json_put_u64(j, "stdout_omitted", p[0].omitted);
	json_put_u64(j, "stderr_omitted", p[1].omitted);
}

void mcp_answer_command(struct mcp_link *l, const struct rpc_token *id,
	bool modern, struct serve_command *c, uint64_t *at, size_t max)
{
	const struct serve_report *r = &c->report;
	struct part p[SERVE_STREAMS] = {{.cursor = 0}};
	autobuf struct buf text = BUF_INIT((size_t)4 * MCP_INLINE_MAX);
	struct json j = JSON_INIT(&l->answers);

	for (enum serve_stream s = 0; at && s < SERVE_STREAMS; s++) {
		take_part(c, s, at[s], max, &p[s]);
		c->seen[s] = p[s].cursor;
	}
	add_output(&text, "", &p[0]);
	add_output(&text, "[stderr]\n", &p[1]);
	add_end(&text, c);
	mcp_begin(&j, id, modern, l->version);
	put_text(&j, &text, c->ended && ((r->there && !r->ran) || r->timed_out));
	json_put_open(&j, "structuredContent", '{');
	wire_put_outcome(&j, c);
	if (at)
		put_output(&j, p);
	else
		wire_put_facts(&j, c);
	rpc_end(&j);
	buf_release(&p[0].text);
	buf_release(&p[1].text);
}

void mcp_answer_page(struct mcp_link *l, const struct rpc_token *id,
	const struct serve_command *c, const char *url)
{
	autobuf struct buf said = BUF_INIT(8192);
	struct json j = JSON_INIT(&l->answers);

	buf_addf(&said, "May this run? %s", c->text);
	mcp_open(&j, id);
	json_put_str(&j, "resultType", "input_required");
	json_put_open(&j, "inputRequests", '{');
	json_put_open(&j, "approval", '{');
	json_put_str(&j, "method", "elicitation/create");
	json_put_open(&j, "params", '{');
	json_put_str(&j, "mode", "url");
	json_put_str(&j, "message", buf_str(&said));
	json_put_str(&j, "url", url);
	json_close(&j);
	json_close(&j);
	json_close(&j);
	json_put_str(&j, "requestState", c->id);
	rpc_end(&j);
}

void mcp_answer_own(struct mcp_link *l, const struct rpc_token *id, bool modern,
	const char *of, struct serve_command *c)
{
	autobuf struct buf out = BUF_INIT(MCP_INLINE_MAX);
	autojson struct json_doc doc = {0};
	struct json j = JSON_INIT(&l->answers);
	bool wrong = c->report.code != 0;
	uint64_t at[SERVE_STREAMS] = {0};
	size_t n;

	serve_copy(c, SERVE_OUT, &at[SERVE_OUT], MCP_INLINE_MAX - 4096, &out);
	/* What is no JSON is told as text alone. */
	n = json_read(&doc, out.data, out.len, NULL) ? 0 : out.len;
	for (size_t i = 0; i < n; i++)
		if (out.data[i] == '\n')
			out.data[i] = ' '; /* it would end the message */
	if (wrong || !n)
		serve_copy(c, SERVE_ERR, &at[SERVE_ERR], 4096, &out);
	mcp_begin(&j, id, modern, l->version);
	put_text(&j, &out, wrong);
	json_put_open(&j, "structuredContent", '{');
	json_put_str(&j, "id", of);
	if (n) {
		json_key(&j, "result");
		json_raw(&j, out.data, n);
	}
	rpc_end(&j);
}

void mcp_answer_wrong(struct mcp_link *l, const struct mcp_message *m,
	const char *said, const char *hint)
{
	autobuf struct buf text = BUF_INIT(4096);
	struct json j = JSON_INIT(&l->answers);

	buf_addf(&text, "%s%s%s", said, *hint ? "; " : "", hint);
	mcp_begin(&j, &m->id, m->modern, l->version);
	put_text(&j, &text, true);
	rpc_end(&j);
}

void mcp_answer_done(struct mcp_link *l, const struct mcp_message *m,
	const struct serve_command *c)
{
	autobuf struct buf text = BUF_INIT(64);
	struct json j = JSON_INIT(&l->answers);

	buf_addf(&text, "done: %s", c->id);
	mcp_begin(&j, &m->id, m->modern, l->version);
	put_text(&j, &text, false);
	json_put_open(&j, "structuredContent", '{');
	json_put_str(&j, "id", c->id);
	rpc_end(&j);
}

void mcp_answer_commands(struct mcp_link *l, const struct mcp_message *m)
{
	autobuf struct buf text = BUF_INIT(MCP_INLINE_MAX);
	struct json j = JSON_INIT(&l->answers);

	for (struct serve_command *c = l->engine->first; c; c = c->next)
		if (!c->orphan && !c->own)
			buf_addf(&text, "%s %s %.200s\n", c->id, wire_state(c),
				c->text);
	if (!text.len)
		buf_adds(&text, "no commands");
	mcp_begin(&j, &m->id, m->modern, l->version);
	put_text(&j, &text, false);
	json_put_open(&j, "structuredContent", '{');
	json_put_open(&j, "commands", '[');
	for (struct serve_command *c = l->engine->first; c; c = c->next) {
		if (c->orphan || c->own)
			continue;
		json_open(&j, '{');
		wire_put_outcome(&j, c);
		json_put_str(&j, "command", c->text);
		json_put_u64(&j, "stdout_bytes", c->ring[SERVE_OUT].end);
		json_put_u64(&j, "stderr_bytes", c->ring[SERVE_ERR].end);
		json_close(&j);
	}
	rpc_end(&j);
}
