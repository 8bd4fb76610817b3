/* test_dirs.c - cd and its kin on a saved state; what capture brings back
 * SPDX-License-Identifier: MIT
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/capture.h"
#include "sys/dirs.h"
#include "base/str.h"

static void only_the_plain_is_taken(void **state)
{
	static const struct {
		const char *line;
		enum dirs_verb verb;
		const char *word;
	} cases[] = {
		{"cd", DIRS_CD, ""},
		{"  cd  \t", DIRS_CD, ""},
		{"cd /tmp", DIRS_CD, "/tmp"},
		{"cd -", DIRS_CD, "-"},
		{"cd ~", DIRS_CD, "~"},
		{"cd ~/x", DIRS_CD, "~/x"},
		{"cd ~root/x", DIRS_CD, "~root/x"},
		{"cd a.b_c+d@e%f-g", DIRS_CD, "a.b_c+d@e%f-g"},
		{"pushd src", DIRS_PUSHD, "src"},
		{"popd", DIRS_POPD, ""},
		{"dirs", DIRS_LIST, ""},
		/* What a shell reads otherwise. */
		{"cd -P x", DIRS_NONE, ""},
		{"cd --", DIRS_NONE, ""},
		{"cd 'x'", DIRS_NONE, ""},
		{"cd $HOME", DIRS_NONE, ""},
		{"cd x; ls", DIRS_NONE, ""},
		{"cd x # c", DIRS_NONE, ""},
		{"cd x\nls", DIRS_NONE, ""},
		{"cd x y", DIRS_NONE, ""},
		{"cd *", DIRS_NONE, ""},
		{"cd a~b", DIRS_NONE, ""},
		{"cd ~-", DIRS_NONE, ""},
		{"cd ~+", DIRS_NONE, ""},
		{"cd ~1/x", DIRS_NONE, ""},
		{"cd x/..", DIRS_NONE, ""},
		{"cd ../x/../y", DIRS_NONE, ""},
		{"cd ../..", DIRS_CD, "../.."},
		{"cd ../x", DIRS_CD, "../x"},
		{"pushd x/..", DIRS_PUSHD, "x/.."},
		{"cdx", DIRS_NONE, ""},
		{"popd +1", DIRS_POPD, "+1"},
		{"dirs -c", DIRS_LIST, "-c"},
		{"dirs -x", DIRS_NONE, ""},
		{"popd word", DIRS_NONE, ""},
		{"cd \\x", DIRS_NONE, ""},
		{"X=1 cd x", DIRS_NONE, ""},
		{"cd x&", DIRS_NONE, ""},
		{"", DIRS_NONE, ""},
	};
	char word[64];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		enum dirs_verb verb =
			dirs_parse(cases[i].line, word, sizeof word);

		if (verb != cases[i].verb)
			print_error("line: %s\n", cases[i].line);
		assert_int_equal(verb, cases[i].verb);
		if (verb != DIRS_NONE)
			assert_string_equal(word, cases[i].word);
	}
}

struct fixture {
	char top[64], a[80], b[80];
};

static int make_tree(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);

	strcpy(f->top, "/tmp/wardbox-test-XXXXXX");
	if (!mkdtemp(f->top))
		return -1;
	snprintf(f->a, sizeof f->a, "%s/a", f->top);
	snprintf(f->b, sizeof f->b, "%s/link", f->top);
	mkdir(f->a, 0755);
	if (symlink("a", f->b))
		return -1;
	*state = f;
	return 0;
}

static int drop_tree(void **state)
{
	struct fixture *f = *state;

	unlink(f->b);
	rmdir(f->a);
	rmdir(f->top);
	free(f);
	return 0;
}

static void moves_and_comes_back(void **state)
{
	struct fixture *f = *state;
	autostate struct state s = STATE_INIT;
	autobuf struct buf said = BUF_INIT(4096);
	struct diag d = {0};

	state_path(&s.cwd, f->top);
	/* The logical name is kept, the kernel's beside it. */
	assert_int_equal(dirs_apply(&s, DIRS_CD, "link", "", &said, &d), 0);
	assert_string_equal(s.pwd, f->b);
	assert_string_equal(s.cwd, f->a);
	assert_string_equal(s.old, f->top);
	assert_int_equal(dirs_apply(&s, DIRS_CD, "-", "", &said, &d), 0);
	assert_string_equal(s.cwd, f->top);
	assert_string_equal(buf_str(&said) + strlen(f->top), "\n");
	assert_int_equal(dirs_apply(&s, DIRS_CD, "", f->a, &said, &d), 0);
	assert_string_equal(s.cwd, f->a);
	assert_int_equal(
		dirs_apply(&s, DIRS_CD, "nowhere", "", &said, &d), -ENOENT);
	assert_string_equal(s.cwd, f->a);
	assert_int_equal(dirs_apply(&s, DIRS_CD, "", "", &said, &d), -ENOENT);
	assert_non_null(strstr(d.text, "HOME not set"));
	assert_int_equal(dirs_apply(&s, DIRS_CD, "~root", "", &said, &d), 0);
	assert_int_equal(
		dirs_apply(&s, DIRS_CD, "~no-such-user", "", &said, &d),
		-ENOENT);
}

static void stacks(void **state)
{
	struct fixture *f = *state;
	autostate struct state s = STATE_INIT;
	autobuf struct buf said = BUF_INIT(4096);
	struct diag d = {0};

	state_path(&s.cwd, f->top);
	assert_int_equal(
		dirs_apply(&s, DIRS_POPD, "", "", &said, &d), -ENOENT);
	assert_int_equal(
		dirs_apply(&s, DIRS_PUSHD, "", "", &said, &d), -ENOENT);
	assert_int_equal(dirs_apply(&s, DIRS_PUSHD, "a", "", &said, &d), 0);
	assert_string_equal(s.cwd, f->a);
	assert_int_equal(s.dir_count, 1);
	assert_string_equal(s.dirs[0], f->top);
	/* Without a word the two on top change places. */
	assert_int_equal(dirs_apply(&s, DIRS_PUSHD, "", "", &said, &d), 0);
	assert_string_equal(s.cwd, f->top);
	assert_string_equal(s.dirs[0], f->a);
	assert_int_equal(dirs_apply(&s, DIRS_POPD, "", "", &said, &d), 0);
	assert_string_equal(s.cwd, f->a);
	assert_int_equal(s.dir_count, 0);
}

static void a_lost_directory_is_replaced(void **state)
{
	struct fixture *f = *state;
	autostate struct state s = STATE_INIT;

	char gone[128];

	snprintf(gone, sizeof gone, "%s/gone/deeper", f->top);
	state_path(&s.cwd, gone);
	assert_true(dirs_revive(&s));
	assert_string_equal(s.cwd, f->top);
	assert_false(dirs_revive(&s));
}

static void captures_come_back_whole(void **state)
{
	char a[] = "A=1\n2", b[] = "B=", c[] = "junk", d[] = "D=\xff\xfe";
	char *env[] = {a, b, c, d, NULL};
	autocapture struct capture got = CAPTURE_INIT;
	autocapture struct capture small = CAPTURE_INIT;
	autocapture struct capture none = CAPTURE_INIT;

	(void)state;
	assert_int_equal(capture_open(NULL), 0);
	assert_int_equal(capture_dump("7", env), 7);
	assert_int_equal(capture_dump("300", env), 44);
	assert_int_equal(capture_dump("4294967296", env), 1);
	assert_int_equal(capture_dump("-1", env), 1);
	assert_int_equal(capture_dump("3", env), 3);
	assert_int_equal(capture_read(&got, 1 << 20, 100), CAPTURED);
	assert_int_equal(got.code, 3);
	assert_int_equal(got.env.count, 3);
	assert_string_equal(env_get(got.env.vec, "A"), "1\n2");
	assert_string_equal(env_get(got.env.vec, "B"), "");
	assert_int_equal(capture_open(NULL), 0);
	assert_int_equal(capture_dump("0", env), 0);
	assert_int_equal(capture_read(&small, 5, 100), CAPTURE_TOO_LARGE);
	assert_int_equal(capture_open(NULL), 0);
	assert_int_equal(capture_read(&none, 5, 100), CAPTURE_NO_DUMP);
	assert_int_equal(fcntl(CAPTURE_FD, F_GETFD), -1);
}

static void forged_captures_are_no_dump(void **state)
{
	static const struct {
		const char *bytes;
		size_t n;
	} bad[] = {
		{"x", 1},
		{"wardbox-env 1\n/\0", 16},
		{"wardbox-env 1 256\n/\0", 20},
		{"wardbox-env 1 0\n/", 17},
		{"wardbox-env 1 0\n/\0A=1", 21},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		autocapture struct capture c = CAPTURE_INIT;

		assert_int_equal(capture_open(NULL), 0);
		assert_int_equal(write(CAPTURE_FD, bad[i].bytes, bad[i].n),
			bad[i].n);
		assert_int_equal(
			capture_read(&c, 1 << 20, 100), CAPTURE_NO_DUMP);
	}
}

static void the_wrapper_quotes_its_own_path(void **state)
{
	autobuf struct buf out = BUF_INIT(65536);

	(void)state;
	autobuf struct buf word = BUF_INIT(256), text = BUF_INIT(256);
	const struct capture_before first = {.code = 300, .prefix = "\\"};
	const struct capture_before zsh = {.prefix = "\\builtin ",
		.oldpwd = "/it's"};

	capture_wrap(&out, "/a b/it's", &first, true);
	assert_int_equal(out.err, 0);
	assert_non_null(strstr(buf_str(&out), "(exit 44)"));
	/* Once for the program's word, once for what eval reads. */
	capture_quote(&word, "/a b/it's");
	buf_adds(&word, " envrun");
	capture_quote(&text, buf_str(&word));
	text.data[text.len - 1] = '\0';
	assert_non_null(strstr(buf_str(&out), text.data + 1));
	assert_non_null(strstr(buf_str(&out), "\n\\exec '\\''/a b"));
	buf_clear(&out);
	capture_wrap(&out, "/a", &zsh, false);
	assert_non_null(strstr(buf_str(&out), "\\builtin trap"));
	assert_non_null(strstr(buf_str(&out), "OLDPWD="));
	assert_null(strstr(buf_str(&out), "exec"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_the_plain_is_taken),
		cmocka_unit_test_setup_teardown(
			moves_and_comes_back, make_tree, drop_tree),
		cmocka_unit_test_setup_teardown(stacks, make_tree, drop_tree),
		cmocka_unit_test_setup_teardown(
			a_lost_directory_is_replaced, make_tree, drop_tree),
		cmocka_unit_test(captures_come_back_whole),
		cmocka_unit_test(forged_captures_are_no_dump),
		cmocka_unit_test(the_wrapper_quotes_its_own_path),
	};

	return cmocka_run_group_tests_name("dirs", tests, NULL, NULL);
}
