/* serve_follow.c - a command at the server, as if it ran here
 * SPDX-License-Identifier: MIT
 */
#include "serve/serve_follow.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include "base/json_read.h"
#include "base/num.h"
#include "base/str.h"
#include "sys/file.h"
#include "sys/sig.h"

enum {
	OUT_MAX = 4 << 20,
	OUT_ENOUGH = 256 << 10, /* no more input is read */
	PIECE = 32768,
	ESCAPE = 0x1d, /* Ctrl-] */
	KEY_DETACH = 'd',
};

struct follow {
	struct serve_follow *f;
	struct ws_reader ws;
	struct buf out;
	int signals;
	bool ended, eof, escaped, gone;
	char channel; /* of the message that comes */
	struct termios was;
	sigset_t mask;
	struct diag *d;
	int err;
};

static void send_frame(struct follow *l, enum ws_opcode opcode,
	const void *bytes, size_t n)
{
	unsigned char mask[4] = {0};

	(void)!getrandom(mask, sizeof mask, GRND_NONBLOCK);
	ws_frame_add(&l->out, opcode, bytes, n, mask);
}

static void send_text(struct follow *l, struct buf *text)
{
	send_frame(l, WS_TEXT, text->data, text->len);
}

static void send_type(struct follow *l, const char *type, const char *name)
{
	autobuf struct buf text = BUF_INIT(256);
	struct json j = JSON_INIT(&text);

	json_open(&j, '{');
	json_put_str(&j, "type", type);
	if (name)
		json_put_str(&j, "name", name);
	json_close(&j);
	send_text(l, &text);
}

static void send_size(struct follow *l)
{
	autobuf struct buf text = BUF_INIT(256);
	struct json j = JSON_INIT(&text);
	struct winsize size;

	if (!l->f->raw || ioctl(STDIN_FILENO, TIOCGWINSZ, &size))
		return;
	json_putf(&j, "{ type %s rows %ju cols %ju }", "resize",
		(uintmax_t)size.ws_row, (uintmax_t)size.ws_col);
	send_text(l, &text);
}

static void read_string(const struct json_doc *doc, const char *key, char *to,
	size_t size)
{
	struct buf b = {.data = to, .cap = size, .max = size - 1};
	uint32_t node = json_find(doc, 0, key);

	to[0] = '\0';
	if (node && json_type(doc, node) == JSON_STRING &&
		!json_text(doc, node, &b))
		buf_str(&b);
	else
		to[0] = '\0';
}

static uint64_t read_number(const struct json_doc *doc, const char *key,
	uint64_t max, uint64_t otherwise)
{
	uint32_t node = json_find(doc, 0, key);
	char digits[24];
	struct buf b = BUF_FIXED(digits);
	uint64_t n;

	if (node)
		buf_add(&b, doc->text + doc->node[node].at,
			doc->node[node].len);
	return num_u64(buf_str(&b), 0, max, &n) ? otherwise : n;
}

static void take_exit(struct follow *l, const struct json_doc *doc)
{
	struct serve_report *r = &l->f->report;
	char state[16], sig[16];
	uint32_t late = json_find(doc, 0, "timed_out");

	read_string(doc, "state", state, sizeof state);
	read_string(doc, "signal", sig, sizeof sig);
	read_string(doc, "rule", r->rule, sizeof r->rule);
	read_string(doc, "reason", r->message, sizeof r->message);
	read_string(doc, "hint", r->hint, sizeof r->hint);
	read_string(doc, "correlation_id", r->correlation,
		sizeof r->correlation);
	r->there = true;
	r->ran = str_eq(state, "ended");
	r->timed_out = late && json_type(doc, late) == JSON_TRUE;
	r->code = (int)read_number(doc, "exit_code", 255, 125);
	r->journal = read_number(doc, "journal", UINT64_MAX, 0);
	r->signal = sig[0] && sig_number(sig) > 0 ? sig_number(sig) : 0;
	l->ended = true;
}

static void take_text(struct follow *l, const char *text, size_t n)
{
	autojson struct json_doc doc = {0};
	char type[16], message[200];

	if (json_read(&doc, text, n, NULL))
		return;
	read_string(&doc, "type", type, sizeof type);
	if (str_eq(type, "started")) {
		read_string(&doc, "command_id", l->f->id, sizeof l->f->id);
		read_string(&doc, "session_id", l->f->session,
			sizeof l->f->session);
		send_size(l);
		if (l->f->detach)
			send_type(l, "detach", NULL);
		l->f->detached = l->f->detach;
	} else if (str_eq(type, "exit")) {
		take_exit(l, &doc);
	} else if (str_eq(type, "error")) {
		read_string(&doc, "message", message, sizeof message);
		l->err = diag_fail(l->d, -EACCES, "the server says: %s",
			message);
	}
}

static void take_bytes(struct follow *l, struct ws_piece *p)
{
	int fd;

	if (p->first) {
		l->channel = *p->bytes++;
		p->n--;
	}
	fd = l->channel == 2 ? STDERR_FILENO : STDOUT_FILENO;
	if (l->f->output)
		l->f->output(l->f->output_ctx, fd, p->bytes, p->n);
	else if (file_write_all(fd, p->bytes, p->n))
		l->gone = true; /* nobody reads it here */
}

static void take_piece(struct follow *l, struct ws_piece *p)
{
	if (p->opcode == WS_TEXT)
		take_text(l, p->bytes, p->n);
	else if (p->opcode == WS_BINARY)
		take_bytes(l, p);
	else if (p->opcode == WS_PING)
		send_frame(l, WS_PONG, p->bytes, p->n);
	else if (p->opcode == WS_CLOSE)
		l->gone = true;
}

static void take_frames(struct follow *l)
{
	struct buf *in = &l->f->client->in;
	size_t at = 0, used;
	int got = 2;

	while (got > 0 && !l->gone && !l->err) {
		struct ws_piece piece = {0};

		got = ws_next(&l->ws, in->data + at, in->len - at, &used,
			&piece);
		if (got == 1)
			take_piece(l, &piece);
		at += used;
	}
	if (got < 0)
		l->err = diag_fail(l->d, -EPROTO, "the server speaks wrongly");
	buf_consume(in, at);
}

static void read_server(struct follow *l)
{
	struct buf *in = &l->f->client->in;
	char *to = buf_reserve(in, 65536);
	ssize_t n = to ? serve_client_recv(l->f->client, to, 65536) : 0;

	if (n == -EAGAIN || n == -EINTR)
		return;
	if (n <= 0) {
		l->gone = true;
		return;
	}
	in->len += (size_t)n;
	take_frames(l);
}

/* Keys without the escape and what stands behind it. */
static size_t take_keys(struct follow *l, char *keys, size_t n)
{
	size_t to = 0;

	for (size_t i = 0; i < n; i++) {
		if (l->escaped) {
			l->escaped = false;
			if (keys[i] == KEY_DETACH) {
				l->f->detached = true;
				send_type(l, "detach", NULL);
				return to;
			}
		} else if (keys[i] == ESCAPE) {
			l->escaped = true;
			continue;
		}
		keys[to++] = keys[i];
	}
	return to;
}

static void read_input(struct follow *l)
{
	autobuf struct buf text = BUF_INIT(1 + PIECE);
	char *bytes = buf_reserve(&text, 1 + PIECE);
	ssize_t n = bytes ? read(STDIN_FILENO, bytes + 1, PIECE) : 0;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		l->eof = true;
		send_type(l, "eof", NULL);
		return;
	}
	if (l->f->raw)
		n = (ssize_t)take_keys(l, bytes + 1, (size_t)n);
	bytes[0] = 0;
	if (n > 0)
		send_frame(l, WS_BINARY, bytes, (size_t)n + 1);
}

static void read_signal(struct follow *l)
{
	struct signalfd_siginfo got;
	char text[16];

	if (read(l->signals, &got, sizeof got) != sizeof got)
		return;
	if (got.ssi_signo == SIGWINCH)
		send_size(l);
	else
		send_type(l, "signal",
			sig_name((int)got.ssi_signo, text, sizeof text));
}

static void write_server(struct follow *l)
{
	ssize_t n = serve_client_send(l->f->client, l->out.data, l->out.len);

	if (n > 0)
		buf_consume(&l->out, (size_t)n);
	else if (n < 0 && n != -EAGAIN && n != -EINTR)
		l->gone = true;
}

static void follow_loop(struct follow *l)
{
	while (!l->gone && !l->err && !l->out.err) {
		bool input = l->f->input && !l->eof && l->f->id[0] &&
			l->out.len < OUT_ENOUGH;
		bool sends = l->out.len || serve_client_waits(l->f->client);
		struct pollfd p[] = {
			{.fd = l->f->client->fd,
				.events = (short)(POLLIN | (sends ? POLLOUT : 0))},
			{.fd = input ? STDIN_FILENO : -1, .events = POLLIN},
			{.fd = l->signals, .events = POLLIN},
		};

		if (poll(p, ARRAY_SIZE(p), -1) < 0 && errno != EINTR)
			l->err = diag_errno(l->d, -errno, "the server");
		if (p[2].revents)
			read_signal(l);
		if (p[1].revents)
			read_input(l);
		if (p[0].revents & POLLOUT)
			write_server(l);
		if (p[0].revents & (POLLIN | POLLHUP | POLLERR))
			read_server(l);
	}
}

/* The terminal here passes each key on. */
static bool terminal_raw(struct follow *l)
{
	struct termios t;

	if (!l->f->raw || tcgetattr(STDIN_FILENO, &l->was))
		return false;
	t = l->was;
	cfmakeraw(&t);
	return tcsetattr(STDIN_FILENO, TCSADRAIN, &t) == 0;
}

int serve_follow(struct serve_follow *f, struct diag *d)
{
	static const int passed[] = {
		SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGUSR1, SIGUSR2};
	struct follow l = {.f = f, .d = d, .signals = -1,
		.ws = {.text = BUF_INIT(WS_TEXT_MAX)}, .out = BUF_INIT(OUT_MAX)};
	sigset_t set;
	bool raw;

	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(passed); i++)
		sigaddset(&set, passed[i]);
	l.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	sigaddset(&set, SIGPIPE);
	sigprocmask(SIG_BLOCK, &set, &l.mask);
	(void)fcntl(f->client->fd, F_SETFL, O_NONBLOCK);
	raw = terminal_raw(&l);
	send_frame(&l, WS_TEXT, f->message, f->len);
	take_frames(&l);
	follow_loop(&l);
	if (raw)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &l.was);
	cleanup_fd(&l.signals);
	buf_release(&l.out);
	buf_release(&l.ws.text);
	sigprocmask(SIG_SETMASK, &l.mask, NULL);
	if (!l.err && !l.ended && !f->detached)
		return diag_fail(d, -EPIPE,
			"the server has gone before the command's end");
	return l.err;
}
