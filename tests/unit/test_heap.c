/* test_heap.c - blocks that do not overlap, and come back
 * SPDX-License-Identifier: MIT
 */
#include "unit.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/heap.h"

enum { BLOCKS = 400 };

static struct heap heap = {.secret = 0x123456789abcdef1};

struct taken {
	unsigned char *p;
	size_t n;
	unsigned char fill;
};

static void check(const struct taken *t)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->p[i] != t->fill)
			fail_msg("byte %zu of %zu was changed", i, t->n);
}

static void fill(struct taken *t, size_t from, unsigned char with)
{
	t->fill = with;
	memset(t->p + from, with, t->n - from);
}

/* Any order of taking, growing, shrinking and giving back. */
static void blocks_are_apart(void **state)
{
	static struct taken all[BLOCKS];
	unsigned seed = 7;

	(void)state;
	for (int turn = 0; turn < 40000; turn++) {
		struct taken *t = &all[rand_r(&seed) % BLOCKS];
		size_t n = (size_t)rand_r(&seed) % (turn % 9 ? 700 : 300000);
		bool fresh;

		if (t->p)
			check(t);
		if (!t->p) {
			t->p = heap_take(&heap, n, &fresh);
			assert_non_null(t->p);
			assert_int_equal((uintptr_t)t->p % 16, 0);
			for (size_t i = 0; fresh && i < n; i++)
				assert_int_equal(t->p[i], 0);
		} else if (turn % 3) {
			size_t kept = t->n < n ? t->n : n;

			t->p = heap_resize(&heap, t->p, n);
			t->n = kept;
			check(t);
		} else {
			heap_give(&heap, t->p);
			t->p = NULL;
			n = 0;
		}
		t->n = n;
		if (t->p)
			fill(t, 0, (unsigned char)turn);
	}
	for (int i = 0; i < BLOCKS; i++)
		if (all[i].p)
			heap_give(&heap, all[i].p);
}

/* What is given back is used again: no more regions, however long. */
static void nothing_leaks(void **state)
{
	bool fresh;

	(void)state;
	for (size_t n = 0; n < 200000; n = n * 5 / 4 + 1) {
		void *p = heap_take(&heap, n, &fresh), *q;

		heap_give(&heap, p);
		q = heap_take(&heap, n, &fresh);
		if (n + 16 <= HEAP_LARGE)
			assert_ptr_equal(p, q);
		assert_true(!fresh || n + 16 > HEAP_LARGE);
		heap_give(&heap, q);
	}
}

/* Sizes at which a sum wraps or a bound is passed: refused whole, and what was
 * to grow is as it was. */
static void hostile_sizes_are_refused(void **state)
{
	const size_t tops[] = {SIZE_MAX, SIZE_MAX / 2, PTRDIFF_MAX / 2 + 64,
		SIZE_MAX - SIZE_MAX / 4};
	struct heap own = {.secret = 7};
	bool fresh;
	unsigned char *p = heap_take(&own, 100, &fresh);

	(void)state;
	memset(p, 0x5a, 100);
	for (size_t i = 0; i < sizeof(tops) / sizeof(*tops); i++)
		for (size_t less = 0; less < 64; less++) {
			struct heap was = own;

			errno = 0;
			assert_null(heap_take(&own, tops[i] - less, &fresh));
			assert_int_equal(errno, ENOMEM);
			assert_null(heap_resize(&own, p, tops[i] - less));
			assert_memory_equal(&own, &was, sizeof(own));
		}
	for (size_t i = 0; i < 100; i++)
		assert_int_equal(p[i], 0x5a);
	assert_ptr_equal(heap_resize(&own, p, 0), p);
	heap_give(&own, p);
}

/* Around each size at which blocks are kept otherwise. */
static void bounds_hold_their_bytes(void **state)
{
	const size_t bounds[] = {0, 16, 240, 256, 1 << 12, HEAP_LARGE - 16,
		HEAP_LARGE, HEAP_REGION, HEAP_REGION * 3};
	struct heap own = {.secret = 7};
	bool fresh;

	(void)state;
	for (size_t i = 0; i < sizeof(bounds) / sizeof(*bounds); i++)
		for (size_t more = 0; more < 40; more++) {
			size_t n = bounds[i] + more > 20 ? bounds[i] + more - 20 : 0;
			struct taken a = {heap_take(&own, n, &fresh), n, 0};
			struct taken b = {heap_take(&own, n, &fresh), n, 0};

			assert_int_equal((uintptr_t)a.p % 16, 0);
			assert_ptr_not_equal(a.p, b.p);
			fill(&a, 0, 1);
			fill(&b, 0, 2);
			a.p = heap_resize(&own, a.p, n + 17);
			check(&a);
			a.n = n + 17;
			fill(&a, 0, 3);
			check(&b);
			heap_give(&own, b.p);
			check(&a);
			heap_give(&own, a.p);
		}
}

static void twice(char *p)
{
	heap_give(&heap, p);
	heap_give(&heap, p);
}

static void inside(char *p)
{
	heap_give(&heap, p + 16);
}

static void under(char *p)
{
	p[-16] ^= 1;
	heap_give(&heap, p);
}

static void past(char *p)
{
	bool fresh;
	char *next = heap_take(&heap, 40, &fresh);

	heap_give(&heap, next);
	memset(p, 1, (size_t)(next - p) - 8);
	heap_take(&heap, 40, &fresh);
}

static void abuse_ends_it(void **state)
{
	static void (*const wrongs[])(char *p) = {twice, inside, under, past};
	bool fresh;

	(void)state;
	for (size_t i = 0; i < sizeof(wrongs) / sizeof(*wrongs); i++) {
		pid_t pid = fork();
		int status;

		assert_true(pid >= 0);
		if (pid == 0) {
			struct heap own = {.secret = 99};

			signal(SIGILL, SIG_DFL); /* cmocka catches it */

			heap = own;
			wrongs[i](heap_take(&heap, 40, &fresh));
			_exit(0);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_are_apart),
		cmocka_unit_test(nothing_leaks),
		cmocka_unit_test(hostile_sizes_are_refused),
		cmocka_unit_test(bounds_hold_their_bytes),
		cmocka_unit_test(abuse_ends_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
