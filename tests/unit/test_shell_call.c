/* test_shell_call.c - how shells are called
 * SPDX-License-Identifier: MIT
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "shell/shell_call.h"
#include "base/str.h"

#define WORDS(...) {__VA_ARGS__, NULL}

static void every_order_of_options(void **state)
{
	static const struct {
		const char *argv[8];
		enum shell_call_kind kind;
		int at, err;
	} cases[] = {
		{WORDS("sh", "-c", "x"), SHELL_CALL_TEXT, 2, 0},
		{WORDS("sh", "-lc", "x"), SHELL_CALL_TEXT, 2, 0},
		{WORDS("sh", "-c", "-l", "x"), SHELL_CALL_TEXT, 3, 0},
		{WORDS("sh", "-c", "-e", "--", "x"), SHELL_CALL_TEXT, 4, 0},
		{WORDS("sh", "-c", "--", "x"), SHELL_CALL_TEXT, 3, 0},
		{WORDS("sh", "-e", "-c", "x"), SHELL_CALL_TEXT, 3, 0},
		{WORDS("sh", "-ec", "x", "name"), SHELL_CALL_TEXT, 2, 0},
		{WORDS("sh", "-o", "errexit", "-c", "x"), SHELL_CALL_TEXT, 4, 0},
		{WORDS("sh", "-eoc", "pipefail", "x"), SHELL_CALL_TEXT, 3, 0},
		{WORDS("sh", "+e", "-c", "x"), SHELL_CALL_TEXT, 3, 0},
		{WORDS("sh", "-c", "+c", "x"), SHELL_CALL_TEXT, 3, 0},
		{WORDS("bash", "--norc", "-c", "x"), SHELL_CALL_TEXT, 3, 0},
		{WORDS("bash", "--rcfile", "-c", "x"), SHELL_CALL_SCRIPT, 3, 0},
		{WORDS("bash", "-O", "extglob", "-c", "x"), SHELL_CALL_TEXT, 4, 0},
		{WORDS("sh", "-c"), SHELL_CALL_TEXT, 2, -EINVAL},
		{WORDS("sh", "script", "-c", "x"), SHELL_CALL_SCRIPT, 1, 0},
		{WORDS("sh", "-e", "script"), SHELL_CALL_SCRIPT, 2, 0},
		{WORDS("sh", "--", "-c"), SHELL_CALL_SCRIPT, 2, 0},
		{WORDS("sh", "-", "script"), SHELL_CALL_SCRIPT, 2, 0},
		{WORDS("sh", "-s", "arg"), SHELL_CALL_STDIN, 3, 0},
		{WORDS("sh"), SHELL_CALL_STDIN, 1, 0},
		{WORDS("-sh"), SHELL_CALL_STDIN, 1, 0},
		{WORDS("sh", "-o"), SHELL_CALL_STDIN, 2, 0},
		{WORDS("sh", ""), SHELL_CALL_SCRIPT, 1, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct shell_call call;
		char *argv[8];
		int argc = 0;

		for (; cases[i].argv[argc]; argc++)
			argv[argc] = (char *)(uintptr_t)cases[i].argv[argc];
		argv[argc] = NULL;
		assert_int_equal(
			shell_call_parse(argc, argv, &call), cases[i].err);
		assert_int_equal(call.kind, cases[i].kind);
		assert_int_equal(call.at, cases[i].at);
	}
}

static void login_and_interactive(void **state)
{
	char dash[] = "-sh", sh[] = "sh", il[] = "-il", login[] = "--login";
	char *a[] = {dash, NULL}, *b[] = {sh, il, NULL}, *c[] = {sh, login, NULL};
	struct shell_call call;

	(void)state;
	shell_call_parse(1, a, &call);
	assert_true(call.login && !call.interactive);
	shell_call_parse(2, b, &call);
	assert_true(call.login && call.interactive);
	shell_call_parse(2, c, &call);
	assert_true(call.login);
}

static void peeking_takes_nothing(void **state)
{
	char name[] = "/tmp/wardbox-test-XXXXXX", rest[16] = "";
	autobuf struct buf b = BUF_INIT(100), tiny = BUF_INIT(2);
	int fd = mkstemp(name), ends[2];

	(void)state;
	unlink(name);
	assert_int_equal(write(fd, "skip:echo hi", 12), 12);
	lseek(fd, 5, SEEK_SET);
	assert_int_equal(shell_call_peek(fd, &b), 0);
	assert_string_equal(buf_str(&b), "echo hi");
	assert_int_equal(shell_call_peek(fd, &tiny), -EFBIG);
	assert_int_equal(read(fd, rest, sizeof rest), 7);
	close(fd);

	buf_clear(&b);
	buf_clear(&tiny);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], "echo ho", 7), 7);
	assert_int_equal(shell_call_peek(ends[0], &b), -EAGAIN);
	close(ends[1]);
	assert_int_equal(shell_call_peek(ends[0], &tiny), -EFBIG);
	assert_int_equal(shell_call_peek(ends[0], &b), 0);
	assert_string_equal(buf_str(&b), "echo ho");
	assert_int_equal(read(ends[0], rest, sizeof rest), 7);
	close(ends[0]);
}

static void peeks_a_full_pipe(void **state)
{
	autobuf struct buf b = BUF_INIT(70000);
	char block[4096];
	int ends[2];

	(void)state;
	memset(block, 'x', sizeof block);
	assert_int_equal(pipe(ends), 0);
	for (int i = 0; i < 16; i++)
		assert_int_equal(write(ends[1], block, sizeof block), 4096);
	close(ends[1]);
	assert_int_equal(shell_call_peek(ends[0], &b), 0);
	assert_int_equal(b.len, 65536);
	close(ends[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_order_of_options),
		cmocka_unit_test(login_and_interactive),
		cmocka_unit_test(peeking_takes_nothing),
		cmocka_unit_test(peeks_a_full_pipe),
	};

	return cmocka_run_group_tests_name("shell_call", tests, NULL, NULL);
}
