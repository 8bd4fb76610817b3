/* test_pump.c - what writers share a pipe for: whole pieces, in order, room
 * SPDX-License-Identifier: MIT
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/buf.h"
#include "sys/pump.h"

enum { WRITERS = 3, PIECE = 4096, HEAD = 8, CAPACITY = 65536 };

/* One writer: pieces of up to 4096 bytes, each in one write, through a pump
 * of its own. */
struct writer {
	struct pump pump;
	int end;        /* -1: has written all */
	unsigned wrote; /* pieces */
	size_t bytes;
	unsigned read; /* pieces that came out */
	size_t stop;   /* the one who looks has enough then */
	size_t shown;
	int enough;
	char *copy; /* of what was shown */
};

static unsigned next(unsigned *seed)
{
	*seed = *seed * 1103515245U + 12345U;
	return *seed >> 16;
}

static int shown(void *ctx, struct pump *p, const void *bytes, size_t n)
{
	struct writer *w = ctx;

	(void)p;
	if (w->shown + n <= CAPACITY)
		memcpy(w->copy + w->shown, bytes, n);
	w->shown += n;
	return w->shown >= w->stop ? w->enough : PUMP_MORE;
}

static void nonblocking(int fd)
{
	assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
}

static void writer_init(struct writer *w, int to, unsigned *seed)
{
	int ends[2];

	*w = (struct writer){0};
	assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	w->end = ends[1];
	w->stop = next(seed) % 40000;
	w->enough = next(seed) % 2 ? PUMP_ENOUGH : PUMP_TAIL;
	w->copy = malloc(CAPACITY);
	assert_non_null(w->copy);
	w->pump = (struct pump){
		.live = true,
		.from = ends[0],
		.to = to,
		.spliced = true,
		.show = shown,
		.ctx = w,
	};
}

/* No newline anywhere: a line is no better than any other piece. */
static void write_piece(struct writer *w, unsigned who, unsigned *seed)
{
	unsigned char piece[PIECE];
	size_t n = next(seed) % 3 ? HEAD + next(seed) % 120
				  : HEAD + next(seed) % (PIECE - HEAD + 1);

	memset(piece, (int)('a' + who), n);
	piece[0] = (unsigned char)who;
	piece[1] = (unsigned char)(n >> 8);
	piece[2] = (unsigned char)n;
	piece[3] = (unsigned char)(w->wrote >> 8);
	piece[4] = (unsigned char)w->wrote;
	if (write(w->end, piece, n) != (ssize_t)n)
		return;
	w->wrote++;
	w->bytes += n;
}

static void turn(struct pump *p)
{
	struct pollfd fds[2];

	pump_poll(p, fds);
	poll(fds, 2, 0);
	assert_int_equal(pump_step(p, fds), 0);
}

/* Every piece is whole, and each writer's come in order. */
static void check_pieces(struct buf *all, struct writer *w)
{
	const unsigned char *at = (const unsigned char *)all->data;
	size_t left = all->len;

	while (left) {
		unsigned who = at[0];
		size_t n = (size_t)at[1] << 8 | at[2];

		assert_in_range(who, 0, WRITERS - 1);
		assert_in_range(n, HEAD, left);
		assert_int_equal(at[3] << 8 | at[4], w[who].read);
		for (size_t i = 5; i < n; i++)
			assert_int_equal(at[i], 'a' + who);
		w[who].read++;
		at += n;
		left -= n;
	}
	for (unsigned i = 0; i < WRITERS; i++) {
		assert_int_equal(w[i].read, w[i].wrote);
		assert_int_equal(w[i].pump.bytes, w[i].bytes);
	}
}

static bool drain(int fd, struct buf *all, size_t max)
{
	char bytes[PIECE * 16];
	ssize_t n = read(fd, bytes, max < sizeof(bytes) ? max : sizeof(bytes));

	if (n > 0)
		buf_add(all, bytes, (size_t)n);
	return n > 0;
}

static bool alive(const struct writer *w)
{
	for (unsigned i = 0; i < WRITERS; i++)
		if (!pump_ended(&w[i].pump))
			return true;
	return false;
}

static void share(unsigned seed)
{
	struct writer w[WRITERS];
	struct buf all = BUF_INIT(16U << 20);
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	nonblocking(ends[0]);
	for (unsigned i = 0; i < WRITERS; i++)
		writer_init(&w[i], ends[1], &seed);
	for (unsigned round = 0; alive(w); round++) {
		unsigned who = next(&seed) % WRITERS;

		for (unsigned n = next(&seed) % 200; n && w[who].end >= 0; n--)
			write_piece(&w[who], who, &seed);
		if (round > 60 && w[who].end >= 0) {
			close(w[who].end);
			w[who].end = -1;
		}
		for (unsigned n = next(&seed) % 8; n; n--)
			turn(&w[next(&seed) % WRITERS].pump);
		if (next(&seed) % 3 == 0)
			drain(ends[0], &all, next(&seed) * 2U);
	}
	while (drain(ends[0], &all, SIZE_MAX))
		;
	check_pieces(&all, w);
	for (unsigned i = 0; i < WRITERS; i++) {
		pump_tail_close(&w[i].pump.tail);
		free(w[i].copy);
	}
	buf_release(&all);
	close(ends[0]);
	close(ends[1]);
}

static void pieces_of_writers_who_share_a_pipe_stay_whole(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 60; seed++)
		share(seed);
}

/* Written in pieces that fill half of a page each, which our pages did not
 * merge: who reads only after the end must not be waited for. */
static void the_end_needs_no_reader(void **state)
{
	char piece[PIECE] = {0};
	unsigned seed = 7;
	struct writer w;
	int ends[2];

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	writer_init(&w, ends[1], &seed);
	w.stop = SIZE_MAX;
	for (int i = 0; i < 12; i++) {
		assert_int_equal(write(w.end, piece, 90), 90);
		turn(&w.pump);
		assert_int_equal(write(w.end, piece, 4090), 4090);
		turn(&w.pump);
	}
	close(w.end);
	pump_ending(&w.pump);
	for (int i = 0; i < 40; i++)
		turn(&w.pump);
	assert_true(pump_ended(&w.pump));
	assert_int_equal(w.pump.bytes, 12 * 4180);
	assert_int_equal(w.shown, 12 * 4180);
	pump_tail_close(&w.pump.tail);
	free(w.copy);
	close(ends[0]);
	close(ends[1]);
}

static int cut(void *ctx, struct pump *p, const void *bytes, size_t n)
{
	size_t *left = ctx;

	(void)bytes;
	p->allow = n < *left ? n : *left;
	*left -= p->allow;
	return p->allow == n ? PUMP_MORE : PUMP_DROP;
}

static void what_is_cut_is_cut_to_the_byte(void **state)
{
	size_t limits[] = {0, 1, 4096, 5000, 30000, 60000};
	char piece[1000];

	(void)state;
	memset(piece, 'x', sizeof(piece));
	for (size_t l = 0; l < sizeof(limits) / sizeof(*limits); l++) {
		struct buf all = BUF_INIT(1U << 20);
		size_t left = limits[l];
		int from[2], to[2];

		assert_int_equal(pipe2(from, O_CLOEXEC | O_NONBLOCK), 0);
		assert_int_equal(pipe2(to, O_CLOEXEC | O_NONBLOCK), 0);
		struct pump p = {.live = true, .from = from[0], .to = to[1],
			.spliced = true, .show = cut, .ctx = &left};

		for (int i = 0; i < 64; i++)
			assert_int_equal(write(from[1], piece, 1000), 1000);
		close(from[1]);
		for (int i = 0; i < 100 && !pump_ended(&p); i++) {
			turn(&p);
			drain(to[0], &all, SIZE_MAX);
		}
		assert_true(pump_ended(&p));
		drain(to[0], &all, SIZE_MAX);
		assert_int_equal(all.len, limits[l]);
		assert_int_equal(p.bytes, 64000);
		pump_tail_close(&p.tail);
		buf_release(&all);
		close(to[0]);
		close(to[1]);
	}
}

/* Where much comes through, both pipes are wide; one that was wider stays so,
 * and so does one through which little comes. */
static void much_of_it_gets_room(void **state)
{
	enum { WIDE = 1 << 20 };
	const int before[] = {0, WIDE, 0}, stop[] = {8, 8, CAPACITY};

	(void)state;
	for (int i = 0; i < 3; i++) {
		unsigned seed = 1;
		struct writer w;
		int out[2], was, is;

		assert_int_equal(pipe2(out, O_CLOEXEC), 0);
		if (before[i])
			fcntl(out[1], F_SETPIPE_SZ, before[i]);
		was = fcntl(out[1], F_GETPIPE_SZ);
		writer_init(&w, out[1], &seed);
		w.stop = (size_t)stop[i];
		write_piece(&w, 1, &seed);
		turn(&w.pump);
		is = fcntl(out[1], F_GETPIPE_SZ);
		if (i == 0)
			assert_true(is > was);
		else
			assert_int_equal(is, was);
		close(w.end);
		pump_end(&w.pump);
		pump_tail_close(&w.pump.tail);
		free(w.copy);
		close(out[0]);
		close(out[1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_of_writers_who_share_a_pipe_stay_whole),
		cmocka_unit_test(the_end_needs_no_reader),
		cmocka_unit_test(what_is_cut_is_cut_to_the_byte),
		cmocka_unit_test(much_of_it_gets_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
