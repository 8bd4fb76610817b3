/* test_buf.c - buf and its formatter
 * SPDX-License-Identifier: MIT
 */
#include "unit.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"

static void grows_to_its_maximum(void **state)
{
	autobuf struct buf b = BUF_INIT(1000);

	(void)state;
	for (int i = 0; i < 1000; i++)
		buf_addc(&b, 'x');
	assert_int_equal(b.err, 0);
	assert_int_equal(b.len, 1000);
	assert_int_equal(strlen(buf_str(&b)), 1000);
	buf_addc(&b, 'y');
	assert_int_equal(b.err, -ENOBUFS);
	assert_int_equal(b.len, 1000);
	assert_string_equal(buf_str(&b), "");
}

static void error_sticks_until_cleared(void **state)
{
	autobuf struct buf b = BUF_INIT(4);

	(void)state;
	buf_adds(&b, "12345");
	buf_adds(&b, "1");
	assert_int_equal(b.err, -ENOBUFS);
	assert_int_equal(b.len, 0);
	buf_clear(&b);
	buf_adds(&b, "1");
	assert_string_equal(buf_str(&b), "1");
}

static void fixed_never_overruns(void **state)
{
	char guard[8] = "GUARD..", space[5], after[8] = "AFTER..";
	struct buf b = BUF_FIXED(space);

	(void)state;
	buf_adds(&b, "1234");
	assert_string_equal(buf_str(&b), "1234");
	buf_addc(&b, '5');
	assert_int_equal(b.err, -ENOBUFS);
	assert_string_equal(guard, "GUARD..");
	assert_string_equal(after, "AFTER..");
}

static void prints_all_or_nothing(void **state)
{
	char array[5] = "old";

	(void)state;
	assert_string_equal(BUF_PRINT(array, "%d", 1234), "1234");
	assert_ptr_equal(BUF_PRINT(array, "%d", 12345), array);
	assert_string_equal(array, "");
}

static void huge_sizes_do_not_wrap(void **state)
{
	autobuf struct buf b = BUF_INIT(SIZE_MAX / 2);

	(void)state;
	buf_adds(&b, "abc");
	assert_null(buf_reserve(&b, SIZE_MAX - 1));
	assert_int_equal(b.err, -ENOBUFS);
}

static void consumes_from_the_front(void **state)
{
	autobuf struct buf b = BUF_INIT(100);

	(void)state;
	buf_adds(&b, "abcdef");
	buf_consume(&b, 2);
	assert_string_equal(buf_str(&b), "cdef");
	buf_consume(&b, 99);
	assert_int_equal(b.len, 0);
}

static void reads_to_the_end_and_not_further(void **state)
{
	autobuf struct buf exact = BUF_INIT(5), small = BUF_INIT(4);
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], "12345", 5), 5);
	close(fds[1]);
	assert_int_equal(buf_read_fd(&exact, fds[0]), 0);
	assert_string_equal(buf_str(&exact), "12345");
	close(fds[0]);
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], "12345", 5), 5);
	close(fds[1]);
	assert_int_equal(buf_read_fd(&small, fds[0]), -ENOBUFS);
	close(fds[0]);
}

/* What is read in pieces is whole, and a little of it takes one block. */
static void reads_into_the_room_that_is_there(void **state)
{
	autobuf struct buf little = BUF_INIT(1 << 20), much = BUF_INIT(1 << 20);
	static char bytes[70000];
	int fds[2];

	(void)state;
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (char)(i % 251);
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], bytes, 100), 100);
	close(fds[1]);
	assert_int_equal(buf_read_fd(&little, fds[0]), 0);
	assert_int_equal(little.len, 100);
	assert_int_equal(little.cap, 65536);
	close(fds[0]);
	fds[0] = memfd_create("much", 0);
	assert_int_equal(write(fds[0], bytes, sizeof bytes), sizeof bytes);
	assert_int_equal(lseek(fds[0], 0, SEEK_SET), 0);
	buf_adds(&much, "before");
	assert_int_equal(buf_read_fd(&much, fds[0]), 0);
	assert_int_equal(much.len, 6 + sizeof bytes);
	assert_memory_equal(much.data + 6, bytes, sizeof bytes);
	close(fds[0]);
}

/* The subset must say what the C library says. */
#define SAME(...)                                                              \
	do {                                                                   \
		char want[256];                                                \
		autobuf struct buf got = BUF_INIT(256);                        \
		snprintf(want, sizeof want, __VA_ARGS__);                      \
		buf_addf(&got, __VA_ARGS__);                                   \
		assert_string_equal(buf_str(&got), want);                      \
	} while (0)

static void formats_like_printf(void **state)
{
	(void)state;
	SAME("plain %% text");
	SAME("%d %i %u", INT_MIN, INT_MAX, UINT_MAX);
	SAME("%ld %lu %lld %llu", LONG_MIN, ULONG_MAX, LLONG_MIN, ULLONG_MAX);
	SAME("%zu %zd %jd %ju", SIZE_MAX, (ssize_t)-1, INTMAX_MIN, UINTMAX_MAX);
	SAME("%x %X %o %08x %5d|%-5d|%05d", 0xbeefu, 0xbeefu, 8u, 0xau, 42, 42,
		-42);
	SAME("[%s] [%10s] [%-10s] [%.2s] [%.*s]", "abc", "abc", "abc", "abc", 1,
		"abc");
	SAME("%c%c", 'a', 'b');
	SAME("%*d|%-*d|%*d", 6, 1, 6, 2, -6, 3);
	SAME("%p", (void *)0x1234);
}

static void writes_numbers_without_a_format(void **state)
{
	autobuf struct buf b = BUF_INIT(64);

	(void)state;
	buf_addu(&b, 0);
	buf_addc(&b, ' ');
	buf_addu(&b, UINT64_MAX);
	assert_string_equal(buf_str(&b), "0 18446744073709551615");
}

static void refuses_unknown_conversions(void **state)
{
	autobuf struct buf b = BUF_INIT(64);
	const char *bad = "%f";

	(void)state;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
	buf_addf(&b, bad);
#pragma GCC diagnostic pop
	assert_int_equal(b.err, -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(grows_to_its_maximum),
		cmocka_unit_test(error_sticks_until_cleared),
		cmocka_unit_test(fixed_never_overruns),
		cmocka_unit_test(prints_all_or_nothing),
		cmocka_unit_test(huge_sizes_do_not_wrap),
		cmocka_unit_test(consumes_from_the_front),
		cmocka_unit_test(reads_to_the_end_and_not_further),
		cmocka_unit_test(reads_into_the_room_that_is_there),
		cmocka_unit_test(formats_like_printf),
		cmocka_unit_test(writes_numbers_without_a_format),
		cmocka_unit_test(refuses_unknown_conversions),
	};

	return cmocka_run_group_tests_name("buf", tests, NULL, NULL);
}
