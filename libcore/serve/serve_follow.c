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
#include "base/str.h"
#include "serve/serve_args.h"
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

/* The members of the server's texts. */
struct said {
	char type[16], message[200], state[16], signal[16];
	char id[SERVE_ID_SIZE], session[SESSION_ID_MAX + 1];
	struct serve_report report;
};

#define ROW(name, kind, member, max)                                           \
	{name, kind, offsetof(struct said, member), max, 0, 0, NULL}
#define TEXT(name, member)                                                     \
	ROW(name, ARG_TEXT, member, sizeof ((struct said *)0)->member)
static const struct arg follow_members[] = {
	TEXT("type", type),
	TEXT("message", message),
	TEXT("command_id", id),
	TEXT("session_id", session),
	TEXT("state", state),
	TEXT("signal", signal),
	TEXT("rule", report.rule),
	TEXT("reason", report.message),
	TEXT("hint", report.hint),
	TEXT("correlation_id", report.correlation),
	ROW("timed_out", ARG_TRUTH, report.timed_out, 0),
	ROW("exit_code", ARG_INT, report.code, 255),
	ROW("journal", ARG_NUMBER, report.journal, UINT64_MAX),
};

static void take_started(struct follow *l, const struct said *s)
{
	(void)str_copy(l->f->id, sizeof l->f->id, s->id);
	(void)str_copy(l->f->session, sizeof l->f->session, s->session);
	send_size(l);
	if (l->f->detach)
		send_type(l, "detach", NULL);
	l->f->detached = l->f->detach;
}

static void take_exit(struct follow *l, const struct said *s)
{
	struct serve_report *r = &l->f->report;

	*r = s->report;
	r->there = true;
	r->ran = str_eq(s->state, "ended");
	r->signal = s->signal[0] && sig_number(s->signal) > 0
		? sig_number(s->signal)
		: 0;
	l->ended = true;
}

static void take_text(struct follow *l, const char *text, size_t n)
{
	autojson struct json_doc doc = {0};
	struct said s = {.report = {.code = 125}};
	char wrong[ARGS_SAID];

	if (json_read(&doc, text, n, NULL))
		return;
	(void)args_read(follow_members, ARRAY_SIZE(follow_members), 0, &doc, 0,
		&s, wrong);
	if (str_eq(s.type, "started"))
		take_started(l, &s);
	else if (str_eq(s.type, "exit"))
		take_exit(l, &s);
	else if (str_eq(s.type, "error"))
		l->err = diag_fail(l->d, -EACCES, "the server says: %s",
			s.message);
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
