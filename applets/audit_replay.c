/* audit_replay.c - a command's output again, at the pace it had
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "audit_out.h"
#include "audit_read_json.h"
#include "file.h"
#include "num.h"
#include "str.h"

/* One piece of what is shown. */
struct piece {
	uint64_t at; /* ns since the start */
	size_t from, len;
	uint8_t stream;
};

enum { PIECES_MAX = 1 << 22, BYTES_MAX = 1 << 28 };

struct replay {
	const struct audit *a;
	uint64_t exec;
	struct buf bytes, line;
	struct piece *pieces;
	size_t count, cap;
	bool found, terminal;
	uint32_t streams;
	uint64_t ended;
};

static void add_piece(struct replay *p, const struct audit_record *r)
{
	const struct cbor_item *data = audit_text(r, AUDIT_K_DATA);
	uint64_t stream = audit_uint(r, AUDIT_K_STREAM, 31);

	if (!data || stream > 31 || !(p->streams >> stream & 1))
		return;
	if (p->count == p->cap) {
		size_t cap = p->cap ? 2 * p->cap : 256;
		struct piece *grown = cap > PIECES_MAX
			? NULL
			: reallocarray(p->pieces, cap, sizeof *grown);

		if (!grown)
			cli_die(EXIT_USAGE, "more output than can be replayed");
		p->pieces = grown;
		p->cap = cap;
	}
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

/* The command asked for, or the last one that put something on a terminal. */
static int gather(void *state, const struct audit_record *r)
{
	struct replay *p = state;

	if (r->type == AUDIT_START && r->seq == p->exec) {
		p->found = true;
		audit_add_command(&p->line, r);
	}
	if (!p->exec || r->exec != p->exec)
		return 0;
	if (r->type == AUDIT_IO)
		add_piece(p, r);
	if (r->type == AUDIT_END)
		p->ended = audit_uint(r, AUDIT_K_DURATION, 0);
	return 0;
}

static int find_last(void *state, const struct audit_record *r)
{
	struct replay *p = state;

	if (r->type == AUDIT_IO &&
		p->streams >> (audit_uint(r, AUDIT_K_STREAM, 31) & 31) & 1)
		p->exec = r->exec;
	return 0;
}

static int list_record(void *state, const struct audit_record *r)
{
	struct audit_out *o = state;

	audit_names_note(o->names, r);
	if (r->type == AUDIT_START && audit_uint(r, AUDIT_K_DECISION, 0) !=
			AUDIT_DENY)
		audit_short(o, r);
	audit_print_some(&o->out, false);
	return 0;
}

static int list(const struct audit *a)
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
	size_t at;
	bool paused, keys, quit, step;
	struct termios saved;
};

static uint64_t now_ns(void)
{
	struct timespec ts = {0};

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
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

/* Waits ns, or until a key says otherwise. */
static void wait_for(struct player *y, uint64_t ns)
{
	const uint64_t end = now_ns() + ns;

	y->step = false;
	while (!y->quit && !y->step) {
		uint64_t now = now_ns();
		struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
		int timeout = -1;
		char c;

		if (!y->paused && now >= end)
			return;
		if (!y->paused)
			timeout = end - now > UINT64_C(1000000000)
				? 1000
				: (int)((end - now) / 1000000 + 1);
		if (poll(&in, y->keys ? 1 : 0, timeout) > 0 &&
			read(STDIN_FILENO, &c, 1) == 1)
			take_key(y, c);
	}
}

static void put_piece(const struct replay *p, const struct piece *x)
{
	const char *s = p->bytes.data + x->from;
	autobuf struct buf out = BUF_INIT(1 << 20);
	size_t left = x->len;

	if (x->stream == AUDIT_WINSIZE || x->stream == AUDIT_SIGNAL)
		return;
	/* Terminal output is played as it was: that is what is asked for. All
	 * else is shown only. */
	if (x->stream == AUDIT_TTYOUT || p->a->all || !p->terminal) {
		buf_add(&out, s, left);
		cli_print(&out);
		return;
	}
	while (left) {
		const char *end = memchr(s, '\n', left);
		size_t n = end ? (size_t)(end - s) : left;

		cli_escape(&out, s, n);
		if (end)
			buf_addc(&out, '\n');
		n += end != NULL;
		s += n;
		left -= n;
	}
	cli_print(&out);
}

static void keys_begin(struct player *y)
{
	struct termios raw;

	if (!isatty(STDIN_FILENO) || tcgetattr(STDIN_FILENO, &y->saved))
		return;
	raw = y->saved;
	/* Ctrl-C comes as a key, so that the terminal is given back. */
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG);
	raw.c_cc[VMIN] = 0;
	raw.c_cc[VTIME] = 0;
	y->keys = !tcsetattr(STDIN_FILENO, TCSANOW, &raw);
}

static void play(struct replay *p)
{
	struct player y = {.p = p, .speed = parse_speed(p->a->speed)};
	uint64_t before = 0;

	keys_begin(&y);
	for (size_t i = 0; i < p->count && !y.quit; i++) {
		const struct piece *x = &p->pieces[i];
		uint64_t gap = x->at > before ? x->at - before : 0;

		gap = gap / y.speed * 1000 + gap % y.speed * 1000 / y.speed;
		if (p->a->max_wait && gap > p->a->max_wait)
			gap = p->a->max_wait;
		wait_for(&y, gap);
		before = x->at;
		if (!y.quit)
			put_piece(p, x);
	}
	if (y.keys)
		tcsetattr(STDIN_FILENO, TCSANOW, &y.saved);
}

int audit_run_replay(void *into, int argc, char **argv)
{
	const struct audit *a = into;
	const struct audit plain = {.dir = a->dir, .quiet = true};
	struct replay p = {.a = a,
		.bytes = BUF_INIT(BYTES_MAX),
		.line = BUF_INIT(4 * AUDIT_BODY_MAX),
		.streams = 1u << AUDIT_OUT | 1u << AUDIT_ERR |
			1u << AUDIT_TTYOUT | 1u << AUDIT_WINSIZE,
		.terminal = isatty(STDOUT_FILENO)};
	struct audit_filter f;
	bool damaged;

	if (a->list)
		return list(a);
	parse_speed(a->speed);
	audit_filter_from(a, &f);
	if (f.streams)
		p.streams = f.streams;
	if (argc > 2 || (argc == 2 && num_u64(argv[1], 1, UINT64_MAX, &p.exec)))
		cli_die_usage(&audit_cli, "replay takes a command's number"
					  " (replay --list names them)");
	if (argc < 2)
		audit_walk(&plain, 0, NULL, find_last, &p, &damaged);
	audit_walk(&plain, 0, NULL, gather, &p, &damaged);
	if (!p.found)
		cli_die(EXIT_FOUND, "there is nothing to replay%s",
			argc == 2 ? " under that number" : "");
	play(&p);
	buf_release(&p.bytes);
	buf_release(&p.line);
	free(p.pieces);
	return EXIT_OK;
}
