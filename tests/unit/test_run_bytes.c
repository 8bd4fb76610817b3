/* test_run_bytes.c - what flows into and out of a command that is run
 * SPDX-License-Identifier: MIT
 */
#include "run_unit.h"

static void captures_both(void **state)
{
	(void)state;
	assert_int_equal(sh("echo out; echo err >&2; exit 3"), 3 << 8);
	assert_string_equal(text[0], "out\n");
	assert_string_equal(text[1], "err\n");
	assert_memory_equal(told->seen[RUN_STDOUT], "out\n", 5);
	assert_memory_equal(told->seen[RUN_STDERR], "err\n", 5);
	assert_int_equal(told->result.bytes[RUN_STDOUT], 4);
	assert_int_equal(
		told->result.captured, 1 << RUN_STDOUT | 1 << RUN_STDERR);
	assert_int_equal(told->result.truncated, 0);
	assert_true(told->result.duration_ns > 0);
	assert_false(told->result.detached);
	assert_true(told->pid > 0);
}

static void direct_captures_nothing(void **state)
{
	struct want w = {.spec = {.mode = RUN_DIRECT}, .script = "echo x; cat"};

	(void)state;
	assert_int_equal(go(&w, "in"), 0);
	assert_string_equal(text[0], "x\nin");
	assert_int_equal(told->result.captured, 0);
	assert_int_equal(told->shown[RUN_STDOUT], 0);
}

static void join_outputs(void)
{
	dup2(1, 2);
	dup2(1, 7); /* and one that the command finds at 7 */
}

static void one_pipe_keeps_its_order(void **state)
{
	struct want w = plain;

	(void)state;
	w.before = join_outputs;
	w.script = "for i in 1 2 3 4 5 6 7 8 9; do echo o$i; echo e$i >&2; "
		   "echo s$i >&7; done";
	assert_int_equal(go(&w, NULL), 0);
	for (int i = 1; i <= 9; i++) {
		char want[48];

		snprintf(want, sizeof(want), "o%d\ne%d\ns%d\n", i, i, i);
		assert_memory_equal(text[0] + (i - 1) * 9, want, 9);
	}
	assert_int_equal(told->result.bytes[RUN_STDOUT], 81);
	assert_int_equal(told->result.captured, 1 << RUN_STDOUT);
}

static int given_stdin;
static void take_stdin(void)
{
	dup2(given_stdin, 0);
}

static void leaves_stdin_to_the_caller(void **state)
{
	struct want w = plain;
	char rest[16];
	int in[2];

	(void)state;
	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(write(in[1], "one\ntwo\n", 8), 8);
	given_stdin = in[0];
	w.before = take_stdin;
	w.script = "read x; echo $x";
	assert_int_equal(go(&w, NULL), 0);
	assert_string_equal(text[0], "one\n");
	assert_int_equal(read(in[0], rest, sizeof(rest)), 4);
	assert_memory_equal(rest, "two\n", 4);
	close(in[0]);
	close(in[1]);
}

static void cuts_where_it_is_hard(void **state)
{
	struct want w = plain;

	(void)state;
	w.spec.output_hard = true;
	w.spec.output_max = 10;
	w.script = "printf 12345678; printf abcdefgh >&2; sleep 0.1; "
		   "printf more; exit 5";
	assert_int_equal(go(&w, NULL), 5 << 8);
	assert_int_equal(strlen(text[0]) + strlen(text[1]), 10);
	assert_true(told->result.cut);
	assert_int_equal(told->cuts, 1);
	assert_true(told->result.truncated != 0);
	w.spec.output_hard = false;
	assert_int_equal(go(&w, NULL), 5 << 8);
	assert_int_equal(strlen(text[0]) + strlen(text[1]), 20);
	assert_false(told->result.cut);
}

static void moves_much(void **state)
{
	struct want w = plain;
	struct caller c;
	size_t total[2];

	(void)state;
	w.script = "head -c 20000000 /dev/zero; head -c 3000 /dev/zero >&2";
	w.enough = 50000;
	c = begin(&w);
	close(c.in);
	collect(&c, total);
	assert_int_equal(finish(&c), 0);
	assert_int_equal(total[0], 20000000);
	assert_int_equal(total[1], 3000);
	assert_int_equal(told->result.bytes[RUN_STDOUT], 20000000);
	assert_int_equal(told->result.truncated, 1 << RUN_STDOUT);
	assert_true(told->shown[RUN_STDOUT] >= 50000);
}

/* Small pieces must fit into the caller's pipe as they would have without us:
 * who waits for the end before reading would wait for ever. */
static void packs_small_pieces(void **state)
{
	struct want w = plain;
	struct caller c;
	size_t total[2];

	(void)state;
	w.enough = 1;
	w.script = "i=0; while [ $i -lt 600 ]; do echo "
		   "12345678901234567890123456789012345678901234567890; "
		   "i=$((i+1)); done";
	c = begin(&w);
	close(c.in);
	assert_int_equal(finish(&c), 0);
	collect(&c, total);
	assert_int_equal(total[0], 600 * 51);
}

static void passes_a_gone_reader_on(void **state)
{
	struct want w = plain;
	struct caller c;

	(void)state;
	w.script = "exec yes";
	c = begin(&w);
	close(c.in);
	close(c.out);
	assert_int_equal(finish(&c), SIGPIPE);
	close(c.err);
	/* Also when it is silent at that time. */
	w.script = "sleep 0.2; echo a || exit 4; exit 0";
	c = begin(&w);
	close(c.in);
	close(c.out);
	assert_true(finish(&c) == SIGPIPE);
	close(c.err);
}

static void passes_an_end_on(void **state)
{
	struct want w = plain;
	struct caller c;
	char byte;

	(void)state;
	/* The command closes its output and lives on. */
	w.script = "exec >&- 2>&-; read x";
	c = begin(&w);
	assert_int_equal(read(c.out, &byte, 1), 0);
	assert_int_equal(read(c.err, &byte, 1), 0);
	assert_int_equal(waitpid(c.pid, NULL, WNOHANG), 0);
	close(c.in);
	finish(&c);
	close(c.out);
	close(c.err);
}

static int file_fd;
static void into_file(void)
{
	dup2(file_fd, 1);
	dup2(file_fd, 2);
}

static void reads_files_back(void **state)
{
	struct want w = plain;

	(void)state;
	for (int append = 0; append <= 1; append++) {
		char path[] = "/tmp/wardbox-run-XXXXXX";
		int fd = mkstemp(path);

		assert_int_equal(write(fd, "old\n", 4), 4);
		close(fd);
		file_fd = open(path,
			O_WRONLY | O_CLOEXEC | (append ? O_APPEND : O_TRUNC));
		w.before = into_file;
		w.script = "echo one; echo two >&2";
		assert_int_equal(go(&w, NULL), 0);
		close(file_fd);
		assert_int_equal(told->result.bytes[RUN_STDOUT], 8);
		assert_memory_equal(told->seen[RUN_STDOUT], "one\ntwo\n", 9);
		assert_int_equal(told->result.captured, 1 << RUN_STDOUT);
		unlink(path);
	}
}

static void swallows(void **state)
{
	struct want w = plain;

	(void)state;
	w.spec.swallow = true;
	w.script = "echo a; echo b >&2";
	assert_int_equal(go(&w, NULL), 0);
	assert_string_equal(text[0], "");
	assert_string_equal(text[1], "");
	assert_memory_equal(told->seen[RUN_STDOUT], "a\n", 3);
	assert_memory_equal(told->seen[RUN_STDERR], "b\n", 3);
}

static void ends_with_its_sink(void **state)
{
	struct want w = plain;

	(void)state;
	w.fail = -ENOSPC;
	w.script = "echo a; sleep 60";
	assert_int_equal(go(&w, NULL), 99 << 8);
	assert_int_equal(told->err, -ENOSPC);
	assert_true(told->result.started);
	assert_int_equal(told->result.status, SIGKILL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(captures_both),
		cmocka_unit_test(direct_captures_nothing),
		cmocka_unit_test(one_pipe_keeps_its_order),
		cmocka_unit_test(leaves_stdin_to_the_caller),
		cmocka_unit_test(cuts_where_it_is_hard),
		cmocka_unit_test(moves_much),
		cmocka_unit_test(packs_small_pieces),
		cmocka_unit_test(passes_a_gone_reader_on),
		cmocka_unit_test(passes_an_end_on),
		cmocka_unit_test(reads_files_back),
		cmocka_unit_test(swallows),
		cmocka_unit_test(ends_with_its_sink),
	};

	share_what_is_told();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
