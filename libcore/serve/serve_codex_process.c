/* serve_codex_process.c - processes of a client of codex's executor protocol
 * SPDX-License-Identifier: MIT
 */
#include "serve/serve_codex_in.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"

enum {
	PIECE_MAX = 64 << 10,
	TEXT_MAX = 1000,
	READ_MAX = 32 << 20, /* bytes of one answer */
	SAID_MAX = 4096,
};
static const uint64_t kept_ns = 30000000000; /* after the end */

static struct codex_process *process_find(
	const struct codex_link *l, const char *id)
{
	struct codex_process *p = l->processes;

	while (p && !str_eq(p->id, id))
		p = p->next;
	return p;
}

void codex_wait_free(struct codex_wait *w)
{
	struct codex_link *l = w->link;

	LIST_DROP(l->waits, w);
	l->waiting--;
	serve_timer_stop(&l->engine->loop, &w->due);
	serve_loop_bury(&l->engine->loop, &w->grave);
}

void codex_process_free(struct codex_process *p)
{
	struct codex_link *l = p->link;
	struct serve_command *c = p->reader.command;

	LIST_DROP(l->processes, p);
	for (struct codex_wait *w = l->waits, *next; w; w = next) {
		next = w->next;
		if (w->process == p)
			codex_wait_free(w);
	}
	serve_timer_stop(&l->engine->loop, &p->forget);
	serve_detach(&p->reader);
	if (c)
		serve_forget(c);
	free(p->chunks);
	p->chunks = NULL;
	buf_release(&p->told);
	serve_loop_bury(&l->engine->loop, &p->grave);
}

static void process_due(struct serve_timer *t)
{
	codex_process_free(CONTAINER(t, struct codex_process, forget));
}

static const char *stream_name(
	const struct codex_process *p, enum serve_stream s)
{
	return p->tty ? "pty" : s == SERVE_OUT ? "stdout" : "stderr";
}

/* One more can be read again; the oldest of too many cannot. */
static void chunk_add(struct codex_process *p, const struct codex_chunk *c)
{
	size_t cap = p->cap ? 2 * p->cap : 64;
	struct codex_chunk *grown = p->chunks;

	if (p->count == CODEX_CHUNKS_MAX) {
		p->count /= 2;
		memmove(p->chunks, p->chunks + CODEX_CHUNKS_MAX - p->count,
			p->count * sizeof *p->chunks);
	}
	if (p->count == p->cap)
		grown = reallocarray(p->chunks, cap, sizeof *grown);
	if (!grown)
		return;
	p->cap = p->count == p->cap ? cap : p->cap;
	p->chunks = grown;
	p->chunks[p->count++] = *c;
}

static void tell_output(struct codex_process *p, enum serve_stream s,
	uint64_t at, const char *bytes, size_t n)
{
	const struct codex_chunk c = {++p->seq, at, (uint32_t)n, s};
	struct json j = JSON_INIT(&p->link->answers);

	codex_notify(&j, "process/output");
	json_put_str(&j, "processId", p->id);
	json_put_u64(&j, "seq", p->seq);
	json_put_str(&j, "stream", stream_name(p, s));
	codex_put_bytes(&j, "chunk", bytes, n);
	rpc_end(&j);
	chunk_add(p, &c);
}

/* What the guard says stands on the process's stderr, where its reader looks. */
__attribute__((format(printf, 2, 3))) static void tell_own(
	struct codex_process *p, const char *format, ...)
{
	size_t at = p->told.len;
	va_list words;

	va_start(words, format);
	buf_vaddf(&p->told, format, words);
	va_end(words);
	if (p->told.len > at)
		tell_output(p, SERVE_STREAMS, at, p->told.data + at,
			p->told.len - at);
}

static bool is_denied(const struct serve_command *c)
{
	return c->report.there && !c->report.ran &&
		str_eq(c->report.decision, "deny");
}

static void tell_end(struct codex_process *p, const struct serve_command *c)
{
	const struct serve_report *r = &c->report;
	struct json j = JSON_INIT(&p->link->answers);

	if (r->there && !r->ran)
		tell_own(p, "wardbox: %s%s%s\n", r->message,
			r->hint[0] ? "\n  " : "", r->hint);
	p->exited = true;
	codex_notify(&j, "process/exited");
	json_put_str(&j, "processId", p->id);
	json_put_u64(&j, "seq", ++p->seq);
	json_put_i64(&j, "exitCode", r->code);
	json_put_bool(&j, "sandboxDenied", is_denied(c));
	rpc_end(&j);
	p->closed = true;
	j = JSON_INIT(&p->link->answers);
	codex_notify(&j, "process/closed");
	json_put_str(&j, "processId", p->id);
	json_put_u64(&j, "seq", ++p->seq);
	rpc_end(&j);
	serve_timer_set(&p->link->engine->loop, &p->forget, kept_ns);
}

static bool pump_stream(struct codex_process *p, enum serve_stream s)
{
	const char *bytes;
	size_t n = serve_peek(&p->reader, s, &bytes);

	if (!n)
		return false;
	n = n < PIECE_MAX ? n : PIECE_MAX;
	tell_output(p, s, p->reader.at[s], bytes, n);
	serve_took(&p->reader, s, n);
	return true;
}

void codex_pump(struct codex_process *p)
{
	struct codex_link *l = p->link;
	struct serve_command *c = p->reader.command;
	bool more = true;

	while (more && !l->gone && !p->closed && p->reader.command) {
		while (more && l->answers.len < CODEX_OUT_ENOUGH) {
			more = pump_stream(p, SERVE_OUT);
			more |= pump_stream(p, SERVE_ERR);
		}
		if (c->question[0] && !p->asked)
			tell_own(p, "wardbox: waits for a person: 'wardbox"
				" approve show %s' on another terminal\n",
				c->question);
		p->asked = c->question[0];
		if (!more && c->ended)
			tell_end(p, c);
		codex_answer_waits(p);
		l->said(l);
		if (l->answers.len >= CODEX_OUT_ENOUGH)
			return;
	}
}

static void process_changed(struct serve_reader *r)
{
	codex_pump(CONTAINER(r, struct codex_process, reader));
}

/* What lists show: the words, or a shell's text. */
static void show_words(const struct codex_start *s, struct buf *out)
{
	for (size_t at = 0; at < s->words.len && out->len < TEXT_MAX;
		at += strlen(s->words.data + at) + 1)
		buf_addf(out, "%s%.*s", at ? " " : "", TEXT_MAX,
			s->words.data + at);
}

static int process_start(struct codex_link *l, struct codex_start *s,
	struct serve_command **c, struct diag *d)
{
	autofree char **argv = args_argv(&s->words);
	autobuf struct buf shown = BUF_INIT(4 * TEXT_MAX);
	autobuf struct buf options = BUF_INIT(200 << 10);
	autofd int variables = codex_memory(s->env.data, s->env.len);
	struct serve_spec spec = {
		.session = l->session,
		.cwd = s->cwd,
		.argv0 = s->argv0[0] ? s->argv0 : NULL,
		.argv = argv,
		.env = l->env,
		.approver_ns = l->approver_ns,
		.pty = s->tty,
		.input = s->input,
		.options = &options,
		.variables = variables,
	};

	codex_add_wish(&s->wish, &options);
	if (!argv || variables < 0 || options.err)
		return diag_errno(d, -ENOMEM, "a process");
	show_words(s, &shown);
	spec.text = buf_str(&shown);
	return serve_start(l->engine, &spec, c, d);
}

void codex_start(struct codex_link *l, struct codex_message *m)
{
	autofree struct codex_start *s = malloc(sizeof *s);
	struct codex_process *p = NULL;
	struct serve_command *c = NULL;
	struct json j = JSON_INIT(&l->answers);
	struct diag d = {0};

	if (!s) {
		codex_error(&l->answers, &m->id, RPC_INTERNAL, "no memory");
		return;
	}
	*s = CODEX_START_INIT;
	if (codex_start_read(m, s)) {
		codex_wrong(l, m);
	} else if (process_find(l, s->id)) {
		codex_error(&l->answers, &m->id, RPC_REQUEST,
			"a process of that id is there already");
	} else if (!(p = calloc(1, sizeof *p)) || process_start(l, s, &c, &d)) {
		free(p);
		codex_error(&l->answers, &m->id, RPC_INTERNAL, d.text);
	} else {
		p->link = l;
		(void)str_copy(p->id, sizeof p->id, s->id);
		p->tty = s->tty;
		p->told = BUF_INIT(4 * SAID_MAX);
		p->reader.changed = process_changed;
		p->forget.due = process_due;
		p->next = l->processes;
		l->processes = p;
		codex_begin(&j, &m->id);
		json_put_str(&j, "processId", p->id);
		json_put_str(&j, "sandboxType", "linuxSeccomp");
		rpc_end(&j);
		serve_attach(c, &p->reader);
	}
	codex_start_release(s);
}

static void put_chunk(struct json *j, const struct codex_process *p,
	const struct codex_chunk *k, const struct buf *bytes)
{
	json_open(j, '{');
	json_put_u64(j, "seq", k->seq);
	json_put_str(j, "stream", stream_name(p, k->stream));
	codex_put_bytes(j, "chunk", bytes->data, bytes->len);
	json_close(j);
}

/* The bytes of a chunk; false: they are kept no more. */
static bool chunk_read(const struct codex_process *p,
	const struct codex_chunk *k, struct buf *bytes)
{
	uint64_t at = k->at;

	buf_clear(bytes);
	if (k->stream == SERVE_STREAMS)
		buf_add(bytes, p->told.data + at, k->len);
	else if (serve_copy(p->reader.command, k->stream, &at, k->len, bytes))
		return false;
	return bytes->len == k->len;
}

static bool read_answer(struct codex_process *p, const struct rpc_token *id,
	uint64_t after, uint64_t max)
{
	autobuf struct buf bytes = BUF_INIT(PIECE_MAX + SAID_MAX);
	struct json j = JSON_INIT(&p->link->answers);
	uint64_t next = p->seq + 1, have = 0;
	const bool all = max > READ_MAX;

	max = all ? READ_MAX : max;
	codex_begin(&j, id);
	json_put_open(&j, "chunks", '[');
	for (size_t i = 0; i < p->count; i++) {
		const struct codex_chunk *k = &p->chunks[i];

		if (k->seq <= after || !chunk_read(p, k, &bytes))
			continue;
		if (have && have + k->len > max)
			break;
		put_chunk(&j, p, k, &bytes);
		have += k->len;
		next = k->seq + 1;
		if (have >= max)
			break;
	}
	json_close(&j);
	json_put_u64(&j, "nextSeq", all && have < max ? p->seq + 1 : next);
	json_put_bool(&j, "exited", p->exited);
	json_key(&j, "exitCode");
	if (p->exited)
		json_i64(&j, p->reader.command->report.code);
	else
		json_null(&j);
	json_put_bool(&j, "closed", p->closed);
	json_null(json_key(&j, "failure"));
	json_put_bool(&j, "sandboxDenied",
		p->exited && is_denied(p->reader.command));
	rpc_end(&j);
	return true;
}

static bool has_news(const struct codex_process *p, uint64_t after)
{
	return p->closed || p->seq > after;
}

void codex_answer_waits(struct codex_process *p)
{
	for (struct codex_wait *w = p->link->waits, *next; w; w = next) {
		next = w->next;
		if (w->process != p || !has_news(p, w->after))
			continue;
		(void)read_answer(p, &w->id, w->after, w->max);
		codex_wait_free(w);
	}
}

static void wait_due(struct serve_timer *t)
{
	struct codex_wait *w = CONTAINER(t, struct codex_wait, due);
	struct codex_link *l = w->link;

	(void)read_answer(w->process, &w->id, w->after, w->max);
	codex_wait_free(w);
	l->said(l);
}

/* The process that a request names; NULL: there is none, or the request is
 * answered because it names none. */
static struct codex_process *process_of(
	struct codex_link *l, struct codex_message *m, bool *answered)
{
	char id[CODEX_ID_SIZE];
	struct buf text = BUF_FIXED(id);

	*answered = codex_text(m, m->params, "processId", true, &text) != 0;
	if (*answered)
		codex_wrong(l, m);
	return *answered ? NULL : process_find(l, buf_str(&text));
}

void codex_reread(struct codex_link *l, struct codex_message *m)
{
	uint64_t after = 0, max = UINT64_MAX, wait_ms = 0;
	struct codex_wait *w;
	bool answered;
	struct codex_process *p = process_of(l, m, &answered);

	if (answered)
		return;
	if (!p) {
		codex_error(&l->answers, &m->id, RPC_REQUEST,
			"unknown process id");
		return;
	}
	if (codex_number(m, m->params, "afterSeq", UINT64_MAX, &after) ||
		codex_number(m, m->params, "maxBytes", UINT64_MAX, &max) ||
		codex_number(m, m->params, "waitMs", 86400000, &wait_ms)) {
		codex_wrong(l, m);
		return;
	}
	w = !wait_ms || has_news(p, after) || l->waiting >= CODEX_WAITING_MAX
		? NULL
		: calloc(1, sizeof *w);
	if (!w) {
		(void)read_answer(p, &m->id, after, max);
		return;
	}
	w->link = l;
	w->process = p;
	w->id = m->id;
	w->after = after;
	w->max = max;
	w->due.due = wait_due;
	w->next = l->waits;
	l->waits = w;
	l->waiting++;
	serve_timer_set(&l->engine->loop, &w->due, wait_ms * 1000000);
}

void codex_write(struct codex_link *l, struct codex_message *m)
{
	autobuf struct buf bytes = BUF_INIT(SERVE_INPUT_MAX);
	struct json j = JSON_INIT(&l->answers);
	bool answered;
	struct codex_process *p = process_of(l, m, &answered);
	int err = 0;

	if (answered)
		return;
	if (codex_bytes(m, m->params, "chunk", &bytes)) {
		codex_wrong(l, m);
		return;
	}
	if (p)
		err = serve_write(p->reader.command, bytes.data, bytes.len);
	if (err == -ENOBUFS) {
		codex_error(&l->answers, &m->id, RPC_INTERNAL,
			"it does not read what was written before");
		return;
	}
	codex_begin(&j, &m->id);
	json_put_str(&j, "status", !p ? "unknownProcess"
			: err	      ? "stdinClosed"
				      : "accepted");
	rpc_end(&j);
}

void codex_signal(struct codex_link *l, struct codex_message *m)
{
	char name[32];
	bool answered;
	struct codex_process *p = process_of(l, m, &answered);

	if (answered)
		return;
	if (!rpc_string(&m->doc, rpc_member(&m->doc, m->params, "signal"), name,
		    sizeof name) || !str_eq(name, "interrupt")) {
		codex_error(&l->answers, &m->id, RPC_PARAMS,
			"signal: interrupt is the only one");
		return;
	}
	if (p)
		(void)serve_signal(p->reader.command, SIGINT);
	codex_done(l, m);
}

void codex_terminate(struct codex_link *l, struct codex_message *m)
{
	struct json j = JSON_INIT(&l->answers);
	bool answered;
	struct codex_process *p = process_of(l, m, &answered);

	if (answered)
		return;
	codex_begin(&j, &m->id);
	json_put_bool(&j, "running", p && !p->reader.command->ended);
	rpc_end(&j);
	if (p && !p->reader.command->ended)
		serve_stop(p->reader.command);
}
