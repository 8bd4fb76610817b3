/* serve_wire.c - what is said as JSON at the server
 * SPDX-License-Identifier: MIT
 */
#include "serve/serve_wire.h"

#include <errno.h>
#include <stddef.h>

#include "base/json_read.h"
#include "base/str.h"
#include "sys/sig.h"

void wire_init(struct wire *w, enum wire_type type)
{
	*w = (struct wire){.type = type, .words = BUF_INIT(WIRE_WORDS_MAX)};
	w->cwd = w->dir = BUF_INIT(4095);
}

void wire_release(struct wire *w)
{
	buf_release(&w->words);
	buf_release(&w->cwd);
	buf_release(&w->dir);
}

enum {
	START = 1 << WIRE_START,
	ATTACH = 1 << WIRE_ATTACH,
	SIZED = START | 1 << WIRE_RESIZE,
	SIGNALS = 1 << WIRE_SIGNAL,
	BOTH = START | ATTACH,
};

#define ROW(name, kind, member, max, of)                                       \
	{name, kind, offsetof(struct wire, member), max, of, 0, NULL}
static const struct arg wire_args[] = {
	ROW("argv0", ARG_TEXT, argv0, sizeof ((struct wire *)0)->argv0, START),
	ROW("working_dir", ARG_BUF, cwd, 0, START),
	ROW("directory", ARG_BUF, dir, 0, START),
	ROW("rows", ARG_LENGTH, rows, WIRE_LENGTH_MAX, SIZED),
	ROW("cols", ARG_LENGTH, cols, WIRE_LENGTH_MAX, SIZED),
	ROW("pty", ARG_TRUTH, pty, 0, START),
	ROW("keep", ARG_TRUTH, keep, 0, START),
	ROW("input", ARG_TRUTH, input, 0, START),
	ROW("channels", ARG_TRUTH, channels, 0, BOTH),
	ROW("timeout", ARG_SECONDS, timeout_ns, 0, START),
	ROW("id", ARG_TEXT, id, SERVE_ID_SIZE, ATTACH),
	ROW("stdout_cursor", ARG_NUMBER, at[SERVE_OUT], INT64_MAX, ATTACH),
	ROW("stderr_cursor", ARG_NUMBER, at[SERVE_ERR], INT64_MAX, ATTACH),
	ROW("view", ARG_TRUTH, view, 0, ATTACH),
	ROW("name", ARG_TEXT, name, sizeof ((struct wire *)0)->name, SIGNALS),
};

static int add_word(struct wire *w, const struct json_doc *doc, uint32_t node)
{
	if (w->count++ == WIRE_COUNT_MAX || json_type(doc, node) != JSON_STRING ||
		json_text(doc, node, &w->words))
		return args_wrong(w->said, "args", "no list of texts, or too long");
	buf_addc(&w->words, '\0');
	return w->words.err;
}

/* command and args, or text as a shell's. */
static int take_words(struct wire *w, const struct json_doc *doc)
{
	uint32_t text = args_value(doc, 0, "text");
	uint32_t args = args_value(doc, 0, "args");
	uint32_t command = args_value(doc, 0, "command");
	int err = 0;

	if (args_value(doc, 0, "env"))
		return args_wrong(w->said, "env", WIRE_ENV);
	if (!text == !command)
		return args_wrong(w->said, "start", WIRE_ONE);
	if (text) {
		wire_shell(w);
		return add_word(w, doc, text);
	}
	err = add_word(w, doc, command);
	if (args && json_type(doc, args) != JSON_ARRAY)
		return args_wrong(w->said, "args", "no list of texts");
	for (uint32_t i = args ? json_first(doc, args) : 0; i && !err;
		i = json_next(doc, i))
		err = add_word(w, doc, i);
	return err;
}

void wire_shell(struct wire *w)
{
	static const char shell[] = "sh\0-c\0";

	buf_add(&w->words, shell, sizeof shell - 1);
	w->count = 2;
}

int wire_signal(struct wire *w)
{
	w->signal = w->name[0] ? sig_number(w->name) : -EINVAL;
	return w->signal > 0
		? 0
		: args_wrong(w->said, "name", "there is no such signal");
}

int wire_read(struct wire *w, const char *text, size_t n, enum wire_type type)
{
	static const char types[] =
		"start\0attach\0resize\0signal\0eof\0detach\0";
	static const struct arg what = {"type", ARG_TEXT,
		offsetof(struct wire, name), sizeof w->name, 0, 0, NULL};
	autojson struct json_doc doc = {0};
	int i, err = 0;

	wire_init(w, type);
	if (json_read(&doc, text, n, NULL) ||
		json_type(&doc, 0) != JSON_OBJECT)
		return args_wrong(w->said, "message", "no JSON object");
	if (args_read(&what, 1, 0, &doc, 0, w, w->said))
		return -EINVAL;
	i = w->name[0] ? str_index(types, w->name) : (int)type;
	if (i < 0)
		return args_wrong(w->said, "type", "there is no such message");
	w->name[0] = '\0';
	w->type = (enum wire_type)i;
	if (w->type == WIRE_START) {
		w->pty = w->input = true;
		err = take_words(w, &doc);
	}
	if (!err)
		err = args_read(wire_args, ARRAY_SIZE(wire_args), 1U << i, &doc,
			0, w, w->said);
	return !err && w->type == WIRE_SIGNAL ? wire_signal(w) : err;
}

const char *wire_state(const struct serve_command *c)
{
	if (!c->ended)
		return c->question[0] ? "asking" : "running";
	if (c->report.ran || !c->report.there)
		return "ended";
	return c->report.decision[0] && !str_eq(c->report.decision, "allow")
		? "denied"
		: "failed";
}

void wire_put_outcome(struct json *j, const struct serve_command *c)
{
	const struct serve_report *r = &c->report;
	char name[16];

	json_put_str(j, "id", c->id);
	json_put_str(j, "state", wire_state(c));
	if (c->question[0])
		json_put_str(j, "question", c->question);
	if (!c->ended)
		return;
	json_put_i64(j, "exit_code", r->code);
	if (r->signal)
		json_put_str(j, "signal", sig_name(r->signal, name, sizeof name));
	json_put_bool(j, "timed_out", r->timed_out);
	if (r->rule[0])
		json_put_str(j, "rule", r->rule);
	if (r->message[0])
		json_put_str(j, "reason", r->message);
	if (r->hint[0])
		json_put_str(j, "hint", r->hint);
}

void wire_put_facts(struct json *j, const struct serve_command *c)
{
	const struct serve_report *r = &c->report;

	json_put_str(j, "command", c->text);
	json_put_str(j, "session", c->session);
	json_put_bool(j, "pty", c->pty);
	json_put_u64(j, "started_ms", c->started_ns / 1000000);
	if (!r->there)
		return;
	json_put_str(j, "decision", r->decision);
	json_put_str(j, "profile", r->profile);
	json_put_str(j, "correlation_id", r->correlation);
	json_put_u64(j, "duration_ms", r->duration_ms);
	json_put_u64(j, "cpu_ms", r->cpu_ms);
	json_put_u64(j, "memory_peak_bytes", r->memory);
	if (r->journal)
		json_put_u64(j, "journal", r->journal);
}
