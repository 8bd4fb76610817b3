/* audit_replay.c - a command's output again, at the pace it had
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "audit_out.h"
#include "log/audit_read_json.h"
#include "base/clock.h"
#include "sys/file.h"
#include "base/num.h"
#include "sys/sig.h"
#include "base/str.h"

/* A piece of output. */
struct piece {
	uint64_t at; /* ns since the start */
	size_t from, len;
	uint8_t stream;
};

enum { PIECES_MAX = 1 << 22, BYTES_MAX = 1 << 28 };

struct replay {
	const struct audit *a;
	uint64_t exec;
	struct buf bytes;
	struct piece *pieces;
	size_t count, cap;
	bool found, terminal, ended;
	uint32_t streams;
};

static void add_piece(struct replay *p, const struct audit_record *r)
{
	const struct cbor_item *data = audit_text(r, AUDIT_K_DATA);
	uint64_t stream = audit_uint(r, AUDIT_K_STREAM, 31);

	if (!data || stream > 31 || !(p->streams >> stream & 1))
		return;
	p->pieces = audit_room(
		p->pieces, p->count, &p->cap, sizeof *p->pieces, PIECES_MAX);
	p->pieces[p->count++] = (struct piece){
		.at = audit_uint(r, AUDIT_K_AT, 0),
		.from = p->bytes.len,
		.len = (size_t)data->n,
		.stream = (uint8_t)stream,
	};
	buf_add(&p->bytes, data->bytes, (size_t)data->n);
	if (p->bytes.err)
		cli_die(EXIT_USAGE, "more output than can be replayed");
}

static int gather_piece(void *state, const struct audit_record *r)
{
	struct replay *p = state;

	if (r->type == AUDIT_START && r->seq == p->exec) {
		p->found = true;
		p->ended = audit_uint(r, AUDIT_K_DECISION, 0) == AUDIT_DENY;
	}
	if (!p->exec || r->exec != p->exec)
		return 0;
	if (r->type == AUDIT_IO)
		add_piece(p, r);
	if (r->type == AUDIT_END)
		p->ended = true;
	return 0;
}

/* The last one that put something on a terminal; to be followed, the last. */
static int find_last(void *state, const struct audit_record *r)
{
	struct replay *p = state;

	if (p->a->follow ? r->type == AUDIT_START
			 : r->type == AUDIT_IO &&
			p->streams >> (audit_uint(r, AUDIT_K_STREAM, 31) & 31) &
				1)
		p->exec = r->exec;
	return 0;
}

static int list_record(void *state, const struct audit_record *r)
{
	struct audit_out *o = state;

	if (r->type == AUDIT_START && audit_uint(r, AUDIT_K_DECISION, 0) !=
			AUDIT_DENY)
		audit_out_record(o, r);
	else
		audit_names_note(o->names, r);
	audit_print_some(&o->out, false);
	return 0;
}

static int list_commands(const struct audit *a)
{
	struct audit_out o;
	bool damaged;

	audit_out_begin(&o, a);
	audit_walk(a, 0, NULL, list_record, &o, &damaged);
	cli_print(&o.out);
	audit_out_release(&o);
	return EXIT_OK;
}

/* "2", "0.5" as thousandths. */
static uint64_t parse_speed(const char *s)
{
	uint64_t ns = 0;

	if (!s)
		return 1000;
	/* A number with a fraction is read as seconds are. */
	if (strspn(s, "0123456789.") != strlen(s) ||
		num_duration(s, 1000000, UINT64_C(1000000000000), &ns))
		cli_die_usage(&audit_cli, "--speed takes a number, such as 2 or"
					  " 0.5, from 0.001 to 1000");
	return ns / 1000000;
}

struct player {
	struct replay *p;
	uint64_t speed; /* thousandths */
	uint64_t shown; /* when the last piece was */
	bool paused, keys, quit, step;
	int signals; /* a signalfd: the terminal is given back first */
	int died;    /* of this signal */
	struct termios saved;
};

static uint64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* space pauses, . steps, ] skips a pause, < > change the speed, q ends. */
static void take_key(struct player *y, char c)
{
	switch (c) {
	case ' ':
		y->paused = !y->paused;
		break;
	case '.':
		y->paused = y->step = true;
		break;
	case ']':
		y->step = true;
		break;
	case '<':
		y->speed = y->speed > 2 ? y->speed / 2 : y->speed;
		break;
	case '>':
		y->speed = y->speed < 500000 ? y->speed * 2 : y->speed;
		break;
	case 'q':
	case 3:
		y->quit = true;
		break;
	default:
		break;
	}
}

/* Waits for a key, a signal, or growth of the log. */
static void player_look(struct player *y, int watch, int timeout)
{
	struct pollfd in[] = {
		{.fd = y->keys ? STDIN_FILENO : -1, .events = POLLIN},
		{.fd = y->signals, .events = POLLIN},
		{.fd = watch, .events = POLLIN},
	};
	struct signalfd_siginfo si;
	char c;

	if (poll(in, ARRAY_SIZE(in), timeout) <= 0)
		return;
	if (in[0].revents && read(STDIN_FILENO, &c, 1) == 1)
		take_key(y, c);
	if (in[1].revents && read(y->signals, &si, sizeof si) == sizeof si) {
		y->died = (int)si.ssi_signo;
		y->quit = true;
	}
}

/* Waits until it is ns since the last piece, or a key says otherwise. */
static void wait_for(struct player *y, uint64_t ns)
{
	const uint64_t end = y->shown + ns;

	y->step = false;
	while (!y->quit && !y->step) {
		uint64_t now = now_ns();

		if (y->paused) {
			player_look(y, -1, -1);
			continue;
		}
		if (now >= end)
			return;
		player_look(y, -1, end - now > UINT64_C(1000000000)
				? 1000
				: (int)((end - now) / 1000000 + 1));
	}
}

static void put_piece(const struct replay *p, const struct piece *x)
{
	const char *s = p->bytes.data + x->from;
	autobuf struct buf out = BUF_INIT(1 << 20);

	if (x->stream == AUDIT_WINSIZE || x->stream == AUDIT_SIGNAL)
		return;
	/* Terminal output is played as it was: that is what is asked for. All
	 * else is shown only. */
	if (x->stream == AUDIT_TTYOUT || p->a->all || !p->terminal)
		buf_add(&out, s, x->len);
	else
		audit_put_lines(&out, s, x->len);
	cli_print(&out);
}

static void keys_begin(struct player *y)
{
	struct termios raw;
	sigset_t set;

	y->signals = -1;
	if (!y->p->terminal || !isatty(STDIN_FILENO) ||
		tcgetattr(STDIN_FILENO, &y->saved))
		return;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return;
	y->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	raw = y->saved;
	/* Ctrl-C comes as a key, so that the terminal is given back. */
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG);
	raw.c_cc[VMIN] = 0;
	raw.c_cc[VTIME] = 0;
	y->keys = !tcsetattr(STDIN_FILENO, TCSANOW, &raw);
}

static void keys_end(struct player *y)
{
	if (y->keys)
		tcsetattr(STDIN_FILENO, TCSANOW, &y->saved);
	cleanup_fd(&y->signals);
	if (y->died)
		sig_die(y->died);
}

static void play_from(struct player *y, size_t first)
{
	const struct replay *p = y->p;

	for (size_t i = first; i < p->count && !y->quit; i++) {
		const struct piece *x = &p->pieces[i];
		uint64_t before = i ? x[-1].at : 0;
		uint64_t gap = x->at > before ? x->at - before : 0;

		gap = gap / y->speed * 1000 + gap % y->speed * 1000 / y->speed;
		if (p->a->max_wait && gap > p->a->max_wait)
			gap = p->a->max_wait;
		wait_for(y, gap);
		y->shown = now_ns();
		if (!y->quit)
			put_piece(p, x);
	}
}

/* Gathers the records of the command that were written since the last look. */
static void gather_new(struct replay *p, struct audit_reader *reader)
{
	struct audit_damage damage;
	struct audit_record r;
	struct diag d = {0};
	int got, more;

	more = audit_reader_more(reader, &d);
	if (more < 0)
		audit_fail(&d);
	if (more == AUDIT_ANEW)
		cli_die(EXIT_FOUND, "the log was deleted");
	while ((got = audit_next(reader, &r, &damage, &d)) != AUDIT_GOT_END) {
		if (got < 0)
			audit_fail(&d);
		if (got == AUDIT_GOT_RECORD)
			gather_piece(p, &r);
	}
}

/* From the beginning, and on until the command has ended. */
static void play_on(struct player *y)
{
	autoreader struct audit_reader reader = AUDIT_READER_INIT;
	autofd int dir = audit_dir(y->p->a, false);
	autofd int watch = audit_watch(dir);
	struct replay *p = y->p;
	struct diag d = {0};

	if (audit_reader_dir(&reader, dir, p->exec, &d))
		audit_fail(&d);
	reader.patient = true;
	p->count = 0;
	buf_clear(&p->bytes);
	for (;;) {
		const size_t first = p->count;

		gather_new(p, &reader);
		play_from(y, first);
		if (y->quit || p->ended)
			return;
		player_look(y, watch, -1);
		audit_watched(watch);
	}
}

static void play_all(struct replay *p)
{
	struct player y = {.p = p,
		.speed = parse_speed(p->a->speed),
		.shown = now_ns()};

	keys_begin(&y);
	if (p->a->follow)
		play_on(&y);
	else
		play_from(&y, 0);
	keys_end(&y);
}

int audit_run_replay(void *into, int argc, char **argv)
{
	const struct audit *a = into;
	const struct audit plain = {.dir = a->dir, .quiet = true};
	struct replay p = {.a = a,
		.bytes = BUF_INIT(BYTES_MAX),
		.streams = 1u << AUDIT_OUT | 1u << AUDIT_ERR |
			1u << AUDIT_TTYOUT | 1u << AUDIT_WINSIZE,
		.terminal = isatty(STDOUT_FILENO)};
	struct audit_filter f;
	bool damaged;

	if (a->list)
		return list_commands(a);
	parse_speed(a->speed);
	audit_filter_from(a, &f);
	if (f.streams)
		p.streams = f.streams;
	if (argc > 2 || (argc == 2 && num_u64(argv[1], 1, UINT64_MAX, &p.exec)))
		cli_die_usage(&audit_cli, "replay takes a command's number"
					  " (replay --list names them)");
	if (argc < 2)
		audit_walk(&plain, 0, NULL, find_last, &p, &damaged);
	audit_walk(&plain, 0, NULL, gather_piece, &p, &damaged);
	if (!p.found)
		cli_die(EXIT_FOUND, "there is nothing to replay%s",
			argc == 2 ? " under that number" : "");
	if (!p.count && !a->follow)
		cli_warn("no output of %ju was recorded", p.exec);
	play_all(&p);
	buf_release(&p.bytes);
	free(p.pieces);
	return EXIT_OK;
}
