/* serve_grpc.c - messages of wardbox.proto, and what gRPC says around them
 * SPDX-License-Identifier: MIT
 */
#include "serve/serve_grpc.h"

#include <errno.h>
#include <string.h>

#include "base/num.h"
#include "base/str.h"
#include "sys/sig.h"

/* The numbers of wardbox.proto. */
enum { IN_START = 1, IN_STDIN, IN_RESIZE, IN_SIGNAL, IN_ATTACH, IN_DETACH };
enum { OUT_OUTPUT = 1, OUT_EXIT, OUT_STARTED = 4, OUT_STDERR };
enum {
	START_SESSION = 1,
	START_COMMAND,
	START_ARGS,
	START_ARGV0,
	START_DIR,
	START_ENV,
	START_ROWS,
	START_COLS,
	START_TEXT,
	START_TIMEOUT,
	START_PIPES,
	START_KEEP,
};

enum { EXIT_MAX = 4096, SECOND_MS = 1000 };

enum grpc_code grpc_code_of(int status)
{
	static const struct {
		short status, code;
	} codes[] = {
		{400, GRPC_INVALID_ARGUMENT}, {401, GRPC_UNAUTHENTICATED},
		{403, GRPC_PERMISSION_DENIED}, {404, GRPC_NOT_FOUND},
		{409, GRPC_FAILED_PRECONDITION},
		{429, GRPC_RESOURCE_EXHAUSTED},
		{431, GRPC_RESOURCE_EXHAUSTED}, {503, GRPC_UNAVAILABLE},
	};

	for (size_t i = 0; i < ARRAY_SIZE(codes); i++)
		if (codes[i].status == status)
			return (enum grpc_code)codes[i].code;
	return status ? GRPC_INTERNAL : GRPC_OK;
}

int grpc_head(const char *bytes, size_t have, size_t *n)
{
	const unsigned char *p = (const unsigned char *)bytes;
	uint32_t len;

	if (have && p[0])
		return -GRPC_UNIMPLEMENTED;
	if (have < GRPC_HEAD)
		return 0;
	len = (uint32_t)p[1] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 8 |
		p[4];
	if (len > GRPC_MESSAGE_MAX)
		return -GRPC_RESOURCE_EXHAUSTED;
	*n = len;
	return 1;
}

static int wrong(struct wire *w, const char *key, const char *what)
{
	(void)BUF_PRINT(w->said, "%s: %s", key, what);
	return -EINVAL;
}

static int take_text(struct wire *w, const struct pb_field *f, const char *key,
	char *to, size_t size)
{
	size_t n;
	const char *text = pb_text(f, &n);

	if (!text || n >= size)
		return wrong(w, key, "no text, or too long");
	memcpy(to, text, n);
	to[n] = '\0';
	return 0;
}

static int take_path(struct wire *w, const struct pb_field *f, const char *key,
	struct buf *to)
{
	size_t n;
	const char *text = pb_text(f, &n);

	buf_clear(to);
	if (text)
		buf_add(to, text, n);
	return text && !to->err ? 0 : wrong(w, key, "no text, or too long");
}

static int take_number(struct wire *w, const struct pb_field *f,
	const char *key, uint64_t max, uint64_t *to)
{
	if (f->is_bytes || f->value > max)
		return wrong(w, key, "no whole number that can be");
	*to = f->value;
	return 0;
}

static int take_length(struct wire *w, const struct pb_field *f,
	const char *key, unsigned short *to)
{
	uint64_t value = 0;
	int err = take_number(w, f, key, WIRE_LENGTH_MAX, &value);

	*to = (unsigned short)value;
	return err;
}

static int take_truth(
	struct wire *w, const struct pb_field *f, const char *key, bool *to)
{
	uint64_t value = 0;
	int err = take_number(w, f, key, 1, &value);

	*to = value;
	return err;
}

static int add_word(struct wire *w, const struct pb_field *f)
{
	size_t n;
	const char *text = pb_text(f, &n);

	if (!text || w->count++ == WIRE_COUNT_MAX)
		return wrong(w, "args", "no list of texts, or too long");
	buf_add(&w->words, text, n);
	buf_addc(&w->words, '\0');
	return w->words.err ? wrong(w, "args", "too long") : 0;
}

/* A field of Start, but for its words. */
static int take_start(struct grpc_input *in, const struct pb_field *f)
{
	struct wire *w = &in->wire;
	uint64_t ms = 0;
	bool pipes;
	int err;

	switch (f->number) {
	case START_SESSION:
		return take_text(
			w, f, "session_id", in->session, sizeof in->session);
	case START_ARGV0:
		return take_text(w, f, "argv0", w->argv0, sizeof w->argv0);
	case START_DIR:
		return take_path(w, f, "working_dir", &w->cwd);
	case START_ENV:
		return wrong(w, "env", "the session's environment counts; see"
			" wardbox session env");
	case START_ROWS:
		return take_length(w, f, "rows", &w->rows);
	case START_COLS:
		return take_length(w, f, "cols", &w->cols);
	case START_TIMEOUT:
		err = take_number(w, f, "timeout_ms",
			UINT64_C(366) * 24 * 3600 * SECOND_MS, &ms);
		w->timeout_ns = ms * 1000000;
		return err;
	case START_PIPES:
		err = take_truth(w, f, "pipes", &pipes);
		w->pty = !pipes;
		return err;
	case START_KEEP:
		return take_truth(w, f, "keep", &w->keep);
	default:
		return 0;
	}
}

/* The words stand before one another as argv has them, in whatever order the
 * fields came. */
static int take_words(struct wire *w, struct pb start)
{
	static const char shell[] = "sh\0-c\0";
	struct pb_field f, command = {0}, text = {0};
	struct pb at = start;
	int err;

	while (pb_next(&at, &f))
		if (f.number == START_COMMAND)
			command = f;
		else if (f.number == START_TEXT)
			text = f;
	if (!command.number == !text.number)
		return wrong(w, "start", "neither command nor text, or both");
	if (text.number) {
		buf_add(&w->words, shell, sizeof shell - 1);
		w->count = 2;
		return add_word(w, &text);
	}
	err = add_word(w, &command);
	for (at = start; !err && pb_next(&at, &f);)
		if (f.number == START_ARGS)
			err = add_word(w, &f);
	return err;
}

static int read_start(struct grpc_input *in, struct pb *p)
{
	struct pb_field f;
	int err = take_words(&in->wire, *p);

	in->wire.pty = in->wire.input = true;
	while (!err && pb_next(p, &f))
		err = take_start(in, &f);
	return err;
}

static int read_attach(struct grpc_input *in, struct pb *p)
{
	struct wire *w = &in->wire;
	struct pb_field f;
	int err = 0;

	while (!err && pb_next(p, &f))
		if (f.number == 1)
			err = take_text(w, &f, "session_id", in->session,
				sizeof in->session);
		else if (f.number == 2)
			err = take_text(
				w, &f, "command_id", w->id, sizeof w->id);
		else if (f.number == 3)
			err = take_number(w, &f, "stdout_cursor", INT64_MAX,
				&w->at[SERVE_OUT]);
		else if (f.number == 4)
			err = take_number(w, &f, "stderr_cursor", INT64_MAX,
				&w->at[SERVE_ERR]);
		else if (f.number == 5)
			err = take_truth(w, &f, "view", &w->view);
	return err;
}

static int read_data(struct grpc_input *in, struct pb *p)
{
	struct pb_field f;

	in->typed = true;
	while (pb_next(p, &f))
		if (f.number == 1 && f.is_bytes) {
			in->bytes = (const char *)f.bytes.at;
			in->n = (size_t)(f.bytes.end - f.bytes.at);
		}
	return 0;
}

static int read_resize(struct grpc_input *in, struct pb *p)
{
	struct wire *w = &in->wire;
	struct pb_field f;
	int err = 0;

	while (!err && pb_next(p, &f))
		if (f.number == 1)
			err = take_length(w, &f, "rows", &w->rows);
		else if (f.number == 2)
			err = take_length(w, &f, "cols", &w->cols);
	return err;
}

static int read_signal(struct grpc_input *in, struct pb *p)
{
	struct wire *w = &in->wire;
	char name[16] = "";
	struct pb_field f;
	int err = 0;

	while (!err && pb_next(p, &f))
		if (f.number == 1)
			err = take_text(w, &f, "name", name, sizeof name);
	w->signal = name[0] ? sig_number(name) : -EINVAL;
	return !err && w->signal <= 0
		? wrong(w, "name", "there is no such signal")
		: err;
}

static int read_detach(struct grpc_input *in, struct pb *p)
{
	(void)in;
	p->at = p->end;
	return 0;
}

int grpc_read(struct grpc_input *in, const char *message, size_t n)
{
	static const struct {
		enum wire_type type;
		int (*read)(struct grpc_input *in, struct pb *p);
	} kinds[] = {
		[IN_START] = {WIRE_START, read_start},
		[IN_STDIN] = {WIRE_EOF, read_data},
		[IN_RESIZE] = {WIRE_RESIZE, read_resize},
		[IN_SIGNAL] = {WIRE_SIGNAL, read_signal},
		[IN_ATTACH] = {WIRE_ATTACH, read_attach},
		[IN_DETACH] = {WIRE_DETACH, read_detach},
	};
	struct pb p = PB_INIT(message, n);
	struct pb_field f, what = {0};
	int err;

	*in = (struct grpc_input){0};
	wire_init(&in->wire, WIRE_EOF);
	/* Of a oneof the last counts. */
	while (pb_next(&p, &f))
		if (f.number && f.number <= IN_DETACH)
			what = f;
	if (p.bad || !what.number || !what.is_bytes)
		return wrong(&in->wire, "message", "no Input of wardbox.proto");
	in->wire.type = kinds[what.number].type;
	err = kinds[what.number].read(in, &what.bytes);
	return !err && what.bytes.bad
		? wrong(&in->wire, "message", "no Input of wardbox.proto")
		: err;
}

/* The head of a message of n bytes. */
static void put_head(struct buf *out, size_t n)
{
	const unsigned char head[GRPC_HEAD] = {0, (unsigned char)(n >> 24),
		(unsigned char)(n >> 16), (unsigned char)(n >> 8),
		(unsigned char)n};

	buf_add(out, head, sizeof head);
}

/* An Output whose one member is the message in inner. */
static void put_output(struct buf *out, uint32_t number, const struct buf *inner)
{
	put_head(out, pb_head_size(number, inner->len) + inner->len);
	pb_put_head(out, number, inner->len);
	buf_add(out, inner->data, inner->len);
	out->err |= inner->err;
}

void grpc_put_started(struct buf *out, const struct serve_command *c)
{
	autobuf struct buf inner = BUF_INIT(EXIT_MAX);

	pb_put_text(&inner, 1, c->id);
	pb_put_text(&inner, 2, c->session);
	pb_put(&inner, 3, c->pty);
	put_output(out, OUT_STARTED, &inner);
}

void grpc_put_output(struct buf *out, enum serve_stream s, const char *bytes,
	size_t n)
{
	const uint32_t number = s == SERVE_ERR ? OUT_STDERR : OUT_OUTPUT;
	size_t inner = pb_head_size(1, n) + n;

	put_head(out, pb_head_size(number, inner) + inner);
	pb_put_head(out, number, inner);
	pb_put_head(out, 1, n);
	buf_add(out, bytes, n);
}

void grpc_put_exit(struct buf *out, const struct serve_command *c,
	const uint64_t lost[static SERVE_STREAMS])
{
	autobuf struct buf inner = BUF_INIT(EXIT_MAX);
	const struct serve_report *r = &c->report;
	char name[16];

	pb_put(&inner, 1, (uint64_t)r->code);
	pb_put(&inner, 2, r->duration_ms);
	if (r->signal)
		pb_put_text(&inner, 3, sig_name(r->signal, name, sizeof name));
	pb_put(&inner, 4, r->timed_out);
	pb_put_text(&inner, 5, wire_state(c));
	pb_put_text(&inner, 6, r->rule);
	pb_put_text(&inner, 7, r->message);
	pb_put_text(&inner, 8, r->hint);
	pb_put_text(&inner, 9, r->decision);
	pb_put_text(&inner, 10, r->profile);
	pb_put_text(&inner, 11, r->correlation);
	pb_put(&inner, 12, r->cpu_ms);
	pb_put(&inner, 13, r->memory);
	pb_put(&inner, 14, r->journal);
	pb_put(&inner, 15, lost[SERVE_OUT]);
	pb_put(&inner, 16, lost[SERVE_ERR]);
	put_output(out, OUT_EXIT, &inner);
}

const char *grpc_read_health(const char *message, size_t *n)
{
	struct pb p = PB_INIT(message, *n);
	struct pb_field f;
	const char *service = "";

	*n = 0;
	while (service && pb_next(&p, &f))
		if (f.number == 1)
			service = pb_text(&f, n);
	return p.bad ? NULL : service;
}

void grpc_put_health(struct buf *out)
{
	put_head(out, 2);
	pb_put(out, 1, 1);
}

int grpc_timeout(const char *text, uint64_t *ns)
{
	static const char units[] = "numSMH";
	static const uint64_t each[] = {1, 1000, 1000000, 1000000000,
		UINT64_C(60000000000), UINT64_C(3600000000000)};
	size_t n = strlen(text);
	const char *unit = n ? strchr(units, text[n - 1]) : NULL;
	char digits[9];
	uint64_t value;

	if (!unit || n > sizeof digits)
		return -EINVAL;
	memcpy(digits, text, n - 1);
	digits[n - 1] = '\0';
	if (num_u64(digits, 0, 99999999, &value))
		return -EINVAL;
	/* 11,000 years of hours are no deadline. */
	*ns = each[unit - units] > UINT64_MAX / 2 / (value + 1)
		? UINT64_MAX / 2
		: value * each[unit - units];
	return 0;
}

void grpc_put_escaped(struct buf *out, const char *text)
{
	for (; *text; text++)
		if (*text >= ' ' && *text <= '~' && *text != '%')
			buf_addc(out, *text);
		else
			buf_addf(out, "%%%02X", (unsigned char)*text);
}
