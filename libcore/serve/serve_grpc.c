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
enum { START_COMMAND = 2, START_ARGS = 3, START_ENV = 6, START_TEXT = 9 };

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

/* Fields of the messages within an Input; .of is a bit of its number there. */
#define ROW(name, number, kind, member, max, of)                               \
	{name, kind, offsetof(struct grpc_input, member), max, 1 << (of),      \
		number, NULL}
static const struct arg input_fields[] = {
	ROW("session_id", 1, ARG_TEXT, session, SESSION_ID_MAX + 1, IN_START),
	ROW("argv0", 4, ARG_TEXT, wire.argv0, 256, IN_START),
	ROW("working_dir", 5, ARG_BUF, wire.cwd, 0, IN_START),
	ROW("rows", 7, ARG_LENGTH, wire.rows, WIRE_LENGTH_MAX, IN_START),
	ROW("cols", 8, ARG_LENGTH, wire.cols, WIRE_LENGTH_MAX, IN_START),
	ROW("timeout_ms", 10, ARG_NUMBER, timeout_ms,
		UINT64_C(366) * 24 * 3600 * SECOND_MS, IN_START),
	ROW("pipes", 11, ARG_TRUTH, pipes, 0, IN_START),
	ROW("keep", 12, ARG_TRUTH, wire.keep, 0, IN_START),
	ROW("session_id", 1, ARG_TEXT, session, SESSION_ID_MAX + 1, IN_ATTACH),
	ROW("command_id", 2, ARG_TEXT, wire.id, SERVE_ID_SIZE, IN_ATTACH),
	ROW("stdout_cursor", 3, ARG_NUMBER, wire.at[SERVE_OUT], INT64_MAX,
		IN_ATTACH),
	ROW("stderr_cursor", 4, ARG_NUMBER, wire.at[SERVE_ERR], INT64_MAX,
		IN_ATTACH),
	ROW("view", 5, ARG_TRUTH, wire.view, 0, IN_ATTACH),
	ROW("rows", 1, ARG_LENGTH, wire.rows, WIRE_LENGTH_MAX, IN_RESIZE),
	ROW("cols", 2, ARG_LENGTH, wire.cols, WIRE_LENGTH_MAX, IN_RESIZE),
	ROW("name", 1, ARG_TEXT, wire.name, 16, IN_SIGNAL),
};

static int take_text(struct wire *w, const struct arg *a,
	const struct pb_field *f, void *to)
{
	struct buf fixed = buf_fixed(to, (size_t)a->max);
	struct buf *b = a->kind == ARG_TEXT ? &fixed : to;
	size_t n;
	const char *text = pb_text(f, &n);

	buf_clear(b);
	if (text)
		buf_add(b, text, n);
	if (a->kind == ARG_TEXT)
		(void)buf_str(b);
	return text && !b->err
		? 0
		: args_wrong(w->said, a->name, "no text, or too long");
}

static int take_field(struct wire *w, const struct arg *a,
	const struct pb_field *f, void *to)
{
	if (a->kind == ARG_TEXT || a->kind == ARG_BUF)
		return take_text(w, a, f, to);
	if (f->is_bytes || f->value > (a->kind == ARG_TRUTH ? 1 : a->max))
		return args_wrong(
			w->said, a->name, "no whole number that can be");
	if (a->kind == ARG_TRUTH)
		*(bool *)to = f->value;
	else if (a->kind == ARG_LENGTH)
		*(unsigned short *)to = (unsigned short)f->value;
	else
		*(uint64_t *)to = f->value;
	return 0;
}

/* All fields of the member that has that number in an Input. */
static int read_fields(struct grpc_input *in, unsigned number, struct pb *p)
{
	struct pb_field f;
	int err = 0;

	while (!err && pb_next(p, &f))
		for (size_t i = 0; i < ARRAY_SIZE(input_fields) && !err; i++)
			if (input_fields[i].of >> number & 1 &&
				input_fields[i].number == f.number)
				err = take_field(&in->wire, &input_fields[i], &f,
					(char *)in + input_fields[i].at);
	return err;
}

static int add_word(struct wire *w, const struct pb_field *f)
{
	size_t n;
	const char *text = pb_text(f, &n);

	if (!text || w->count++ == WIRE_COUNT_MAX)
		return args_wrong(w->said, "args", "no list of texts, or too long");
	buf_add(&w->words, text, n);
	buf_addc(&w->words, '\0');
	return w->words.err ? args_wrong(w->said, "args", "too long") : 0;
}

/* The words stand before one another as argv has them, in whatever order the
 * fields came. */
static int take_words(struct wire *w, struct pb start)
{
	struct pb_field f, command = {0}, text = {0};
	struct pb at = start;
	int err;

	while (pb_next(&at, &f))
		if (f.number == START_COMMAND)
			command = f;
		else if (f.number == START_TEXT)
			text = f;
		else if (f.number == START_ENV)
			return args_wrong(w->said, "env", WIRE_ENV);
	if (!command.number == !text.number)
		return args_wrong(w->said, "start", WIRE_ONE);
	if (text.number) {
		wire_shell(w);
		return add_word(w, &text);
	}
	err = add_word(w, &command);
	for (at = start; !err && pb_next(&at, &f);)
		if (f.number == START_ARGS)
			err = add_word(w, &f);
	return err;
}

static void read_data(struct grpc_input *in, struct pb *p)
{
	struct pb_field f;

	in->typed = true;
	while (pb_next(p, &f))
		if (f.number == 1 && f.is_bytes) {
			in->bytes = (const char *)f.bytes.at;
			in->n = (size_t)(f.bytes.end - f.bytes.at);
		}
}

int grpc_read(struct grpc_input *in, const char *message, size_t n)
{
	static const unsigned char types[] = {
		[IN_START] = WIRE_START,
		[IN_STDIN] = WIRE_EOF,
		[IN_RESIZE] = WIRE_RESIZE,
		[IN_SIGNAL] = WIRE_SIGNAL,
		[IN_ATTACH] = WIRE_ATTACH,
		[IN_DETACH] = WIRE_DETACH,
	};
	struct pb p = PB_INIT(message, n);
	struct pb_field f, what = {0};
	struct wire *w = &in->wire;
	int err = 0;

	*in = (struct grpc_input){0};
	wire_init(w, WIRE_EOF);
	/* Of a oneof the last counts. */
	while (pb_next(&p, &f))
		if (f.number && f.number <= IN_DETACH)
			what = f;
	if (p.bad || !what.number || !what.is_bytes)
		return args_wrong(w->said, "message", "no Input of wardbox.proto");
	w->type = (enum wire_type)types[what.number];
	if (what.number == IN_START)
		err = take_words(w, what.bytes);
	if (what.number == IN_STDIN)
		read_data(in, &what.bytes);
	else if (!err)
		err = read_fields(in, what.number, &what.bytes);
	if (!err && what.bytes.bad)
		return args_wrong(w->said, "message", "no Input of wardbox.proto");
	if (what.number == IN_START) {
		w->pty = !in->pipes;
		w->input = true;
		w->timeout_ns = in->timeout_ms * 1000000;
	}
	return !err && w->type == WIRE_SIGNAL ? wire_signal(w) : err;
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
