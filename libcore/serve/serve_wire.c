/* serve_wire.c - what is said as JSON at the server
 * SPDX-License-Identifier: MIT
 */
#include "serve/serve_wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_read.h"
#include "base/num.h"
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

static int wrong(struct wire *w, const char *key, const char *what)
{
	(void)BUF_PRINT(w->said, "%s: %s", key, what);
	return -EINVAL;
}

/* The value of a key; 0 where it is not there or null. */
static uint32_t value_of(const struct json_doc *doc, const char *key)
{
	uint32_t node = json_find(doc, 0, key);

	return node && json_type(doc, node) != JSON_NULL ? node : 0;
}

static int take_text(struct wire *w, const struct json_doc *doc,
	const char *key, char *to, size_t size)
{
	struct buf b = {.data = to, .cap = size, .max = size - 1};
	uint32_t node = value_of(doc, key);

	if (!node)
		return 0;
	if (json_type(doc, node) != JSON_STRING || json_text(doc, node, &b)) {
		to[0] = '\0';
		return wrong(w, key, "no text, or too long");
	}
	buf_str(&b);
	return 0;
}

static int take_path(struct wire *w, const struct json_doc *doc,
	const char *key, struct buf *to)
{
	uint32_t node = value_of(doc, key);

	if (node && (json_type(doc, node) != JSON_STRING ||
			json_text(doc, node, to)))
		return wrong(w, key, "no text, or too long");
	return 0;
}

static int take_truth(struct wire *w, const struct json_doc *doc,
	const char *key, bool *to)
{
	uint32_t node = value_of(doc, key);
	enum json_type type = node ? json_type(doc, node) : JSON_NULL;

	if (!node)
		return 0;
	if (type != JSON_TRUE && type != JSON_FALSE)
		return wrong(w, key, "neither true nor false");
	*to = type == JSON_TRUE;
	return 0;
}

/* The digits of a number; none of any other value. */
static void add_digits(
	struct buf *b, const struct json_doc *doc, uint32_t node)
{
	if (json_type(doc, node) == JSON_NUMBER)
		buf_add(b, doc->text + doc->node[node].at,
			doc->node[node].len);
}

static int take_number(struct wire *w, const struct json_doc *doc,
	const char *key, uint64_t max, uint64_t *to)
{
	uint32_t node = value_of(doc, key);
	char digits[24];
	struct buf b = BUF_FIXED(digits);

	if (!node)
		return 0;
	add_digits(&b, doc, node);
	return num_u64(buf_str(&b), 0, max, to)
		? wrong(w, key, "no whole number that can be")
		: 0;
}

static int take_seconds(struct wire *w, const struct json_doc *doc,
	const char *key, uint64_t *to)
{
	const uint64_t year = UINT64_C(366) * 24 * 3600 * 1000000000;
	uint32_t node = value_of(doc, key);
	char digits[32];
	struct buf b = BUF_FIXED(digits);

	if (!node)
		return 0;
	add_digits(&b, doc, node);
	return num_duration(buf_str(&b), 0, year, to)
		? wrong(w, key, "no number of seconds")
		: 0;
}

static int take_size(struct wire *w, const struct json_doc *doc)
{
	uint64_t rows = 0, cols = 0;
	int err = take_number(w, doc, "rows", WIRE_LENGTH_MAX, &rows);

	if (!err)
		err = take_number(w, doc, "cols", WIRE_LENGTH_MAX, &cols);
	w->rows = (unsigned short)rows;
	w->cols = (unsigned short)cols;
	return err;
}

static int add_word(struct wire *w, const struct json_doc *doc, uint32_t node)
{
	if (w->count++ == WIRE_COUNT_MAX || json_type(doc, node) != JSON_STRING ||
		json_text(doc, node, &w->words))
		return wrong(w, "args", "no list of texts, or too long");
	buf_addc(&w->words, '\0');
	return w->words.err;
}

/* command and args, or text as a shell's. */
static int take_words(struct wire *w, const struct json_doc *doc)
{
	static const char shell[] = "sh\0-c\0";
	uint32_t text = value_of(doc, "text"), args = value_of(doc, "args");
	uint32_t command = value_of(doc, "command");
	int err = 0;

	if (!text == !command)
		return wrong(w, "start", "neither command nor text, or both");
	if (text) {
		buf_add(&w->words, shell, sizeof shell - 1);
		w->count = 2;
		return add_word(w, doc, text);
	}
	err = add_word(w, doc, command);
	if (args && json_type(doc, args) != JSON_ARRAY)
		return wrong(w, "args", "no list of texts");
	for (uint32_t i = args ? json_first(doc, args) : 0; i && !err;
		i = json_next(doc, i))
		err = add_word(w, doc, i);
	return err;
}

static int take_start(struct wire *w, const struct json_doc *doc)
{
	int err;

	w->pty = w->input = true;
	if (value_of(doc, "env"))
		return wrong(w, "env", "the session's environment counts; see"
			" wardbox session env");
	if ((err = take_words(w, doc)) ||
		(err = take_text(w, doc, "argv0", w->argv0, sizeof w->argv0)) ||
		(err = take_path(w, doc, "working_dir", &w->cwd)) ||
		(err = take_path(w, doc, "directory", &w->dir)) ||
		(err = take_size(w, doc)) ||
		(err = take_truth(w, doc, "pty", &w->pty)) ||
		(err = take_truth(w, doc, "keep", &w->keep)) ||
		(err = take_truth(w, doc, "input", &w->input)) ||
		(err = take_truth(w, doc, "channels", &w->channels)))
		return err;
	return take_seconds(w, doc, "timeout", &w->timeout_ns);
}

static int take_attach(struct wire *w, const struct json_doc *doc)
{
	int err = take_text(w, doc, "id", w->id, sizeof w->id);

	if (err ||
		(err = take_number(w, doc, "stdout_cursor", INT64_MAX,
			 &w->at[SERVE_OUT])) ||
		(err = take_number(w, doc, "stderr_cursor", INT64_MAX,
			 &w->at[SERVE_ERR])) ||
		(err = take_truth(w, doc, "view", &w->view)))
		return err;
	return take_truth(w, doc, "channels", &w->channels);
}

static int take_signal(struct wire *w, const struct json_doc *doc)
{
	char name[16] = "";
	int err = take_text(w, doc, "name", name, sizeof name);

	w->signal = name[0] ? sig_number(name) : -EINVAL;
	if (!err && w->signal <= 0)
		return wrong(w, "name", "there is no such signal");
	return err;
}

int wire_read(struct wire *w, const char *text, size_t n, enum wire_type type)
{
	static const char types[] =
		"start\0attach\0resize\0signal\0eof\0detach\0";
	autojson struct json_doc doc = {0};
	char name[16] = "";
	int i;

	wire_init(w, type);
	if (json_read(&doc, text, n, NULL) ||
		json_type(&doc, 0) != JSON_OBJECT)
		return wrong(w, "message", "no JSON object");
	if (take_text(w, &doc, "type", name, sizeof name))
		return -EINVAL;
	i = name[0] ? str_index(types, name) : (int)type;
	if (i < 0)
		return wrong(w, "type", "there is no such message");
	w->type = (enum wire_type)i;
	switch (w->type) {
	case WIRE_START:
		return take_start(w, &doc);
	case WIRE_ATTACH:
		return take_attach(w, &doc);
	case WIRE_RESIZE:
		return take_size(w, &doc);
	case WIRE_SIGNAL:
		return take_signal(w, &doc);
	case WIRE_EOF:
	case WIRE_DETACH:
		break;
	}
	return 0;
}

char **wire_argv(const struct wire *w)
{
	char **argv = calloc(w->count + 1, sizeof *argv);
	char *at = w->words.data;

	for (size_t i = 0; argv && i < w->count; i++, at += strlen(at) + 1)
		argv[i] = at;
	return argv;
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
