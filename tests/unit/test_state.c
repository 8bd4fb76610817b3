/* test_state.c - the state's file, whole, cut and forged
 * SPDX-License-Identifier: MIT
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/state.h"
#include "base/str.h"

static void fill(struct state *s)
{
	assert_int_equal(state_path(&s->cwd, "/srv/w\xff\n x"), 0);
	assert_int_equal(state_path(&s->pwd, "/link"), 0);
	assert_int_equal(state_path(&s->workspace, "/srv"), 0);
	assert_int_equal(state_changed(s, "+ A=1\n- B=\n", 11), 0);
	assert_int_equal(state_push(s, "/older"), 0);
	assert_int_equal(state_push(s, "/newer"), 0);
	s->has_env = true;
	assert_int_equal(env_put(&s->env, "A=1\n2\nend 3\n"), 0);
	assert_int_equal(env_put(&s->env, "EMPTY="), 0);
	assert_int_equal(env_put(&s->env, "BYTES=\xfe\xff\x01"), 0);
	assert_int_equal(env_put(&s->env, "not-a-name.x=y"), 0);
	s->code = 130;
	s->created = 1;
	s->used = UINT64_MAX;
	s->commands = 7;
}

static void comes_back(void **state)
{
	autostate struct state s = STATE_INIT, back = STATE_INIT;
	autobuf struct buf b = BUF_INIT(STATE_FILE_MAX);
	struct diag d;
	char *dir;

	(void)state;
	fill(&s);
	assert_int_equal(state_write(&s, &b), 0);
	assert_int_equal(state_parse(&back, b.data, b.len, &d), 0);
	assert_string_equal(back.cwd, s.cwd);
	assert_string_equal(back.pwd, "/link");
	assert_string_equal(back.workspace, "/srv");
	assert_string_equal(back.changes, "+ A=1\n- B=\n");
	assert_true(back.has_env);
	assert_int_equal(back.env.count, 4);
	for (size_t i = 0; i < 4; i++)
		assert_string_equal(back.env.vec[i], s.env.vec[i]);
	assert_int_equal(back.dir_count, 2);
	assert_string_equal(back.dirs[0], "/newer");
	assert_string_equal(back.dirs[1], "/older");
	assert_int_equal(back.code, 130);
	assert_true(back.created == 1 && back.used == UINT64_MAX);
	assert_int_equal(back.commands, 7);
	dir = state_take(&back, 1);
	assert_string_equal(dir, "/older");
	free(dir);
	assert_null(state_take(&back, 1));
}

static void empty_comes_back(void **state)
{
	autostate struct state s = STATE_INIT, back = STATE_INIT;
	autobuf struct buf b = BUF_INIT(STATE_FILE_MAX);
	struct diag d;

	(void)state;
	assert_int_equal(state_write(&s, &b), 0);
	assert_int_equal(state_parse(&back, b.data, b.len, &d), 0);
	assert_null(back.cwd);
	assert_false(back.has_env);
	/* An environment that was saved and is empty is not "none saved". */
	s.has_env = true;
	buf_clear(&b);
	assert_int_equal(state_write(&s, &b), 0);
	assert_int_equal(state_parse(&back, b.data, b.len, &d), 0);
	assert_true(back.has_env);
}

static void every_cut_is_seen(void **state)
{
	autostate struct state s = STATE_INIT;
	autobuf struct buf b = BUF_INIT(STATE_FILE_MAX);
	struct diag d;

	(void)state;
	fill(&s);
	assert_int_equal(state_write(&s, &b), 0);
	for (size_t n = 0; n < b.len; n++) {
		autostate struct state back = STATE_INIT;
		char *exact = malloc(n ? n : 1);

		memcpy(exact, b.data, n);
		assert_int_equal(state_parse(&back, exact, n, &d), -EINVAL);
		free(exact);
	}
}

#define HEAD "wardbox-state 1\n"

static void forgeries(void **state)
{
	static const char *const bad[] = {
		"",
		"wardbox-state 2\nend 0\n",
		HEAD,
		HEAD "end 1\n",
		HEAD "end 0\nend 0\n",
		HEAD "end 0\nx",
		HEAD "end 00x\n",
		HEAD "cwd 1:/\ncwd 1:/\nend 2\n",
		HEAD "cwd 3:rel\nend 1\n",
		HEAD "cwd 0:\nend 1\n",
		HEAD "cwd 2:/\nend 1\n",
		HEAD "cwd -1:/\nend 1\n",
		HEAD "cwd 99999999999999999999:/\nend 1\n",
		HEAD "cwd 18446744073709551615:/\nend 1\n",
		HEAD "CWD 1:/\nend 1\n",
		HEAD "averyveryverylongkey 1:/\nend 1\n",
		HEAD "env 3:A=1\nend 1\n",
		HEAD "vars 1:2\nenv 3:A=1\nend 2\n",
		HEAD "vars 1:0\nenv 3:A=1\nend 2\n",
		HEAD "vars 1:2\nenv 3:A=1\nenv 3:A=2\nend 3\n",
		HEAD "vars 1:1\nenv 1:A\nend 2\n",
		HEAD "vars 1:1\nenv 2:=x\nend 2\n",
		HEAD "vars 1:0\nvars 1:0\nend 2\n",
		HEAD "vars 4:4097\nend 1\n",
		HEAD "code 3:256\nend 1\n",
		HEAD "code 2:-1\nend 1\n",
		HEAD "used 20:99999999999999999999\nend 1\n",
		HEAD "dir 3:a/b\nend 1\n",
	};
	struct diag d;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		autostate struct state s = STATE_INIT;
		int err = state_parse(&s, bad[i], strlen(bad[i]), &d);

		if (err >= 0)
			print_error("taken: %s\n", bad[i]);
		assert_true(err == -EINVAL || err == -ERANGE);
	}
	assert_int_equal(d.line, 2);
	/* NUL within a value. */
	autostate struct state s = STATE_INIT;
	assert_int_equal(state_parse(&s, HEAD "cwd 3:/\0a\nend 1\n",
				 sizeof HEAD - 1 + 16, &d),
		-EINVAL);
	/* A later version's key is passed over. */
	autostate struct state later = STATE_INIT;
	static const char text[] = HEAD "umask 3:022\ncwd 2:/x\nend 2\n";
	assert_int_equal(state_parse(&later, text, sizeof text - 1, &d), 0);
	assert_string_equal(later.cwd, "/x");
}

static void caps_hold(void **state)
{
	autostate struct state s = STATE_INIT;
	autobuf struct buf b = BUF_INIT(STATE_FILE_MAX);
	char *big = malloc(CONFIG_LIMIT_ENV + 8), path[STATE_PATH_MAX + 2];
	char name[16];

	(void)state;
	memset(path, 'a', sizeof path);
	path[0] = '/';
	path[STATE_PATH_MAX] = '\0';
	assert_int_equal(state_path(&s.cwd, path), -EINVAL);
	path[STATE_PATH_MAX - 1] = '\0';
	assert_int_equal(state_path(&s.cwd, path), 0);
	assert_int_equal(state_path(&s.cwd, "rel"), -EINVAL);
	for (int i = 0; i < STATE_DIRS_MAX; i++)
		assert_int_equal(state_push(&s, path), 0);
	assert_int_equal(state_push(&s, "/x"), -E2BIG);
	/* One variable of the whole size, with all else at its maximum. */
	memset(big, 'x', CONFIG_LIMIT_ENV + 7);
	big[1] = '=';
	big[CONFIG_LIMIT_ENV] = '\0';
	s.has_env = true;
	assert_int_equal(env_put(&s.env, big), 0);
	assert_int_equal(state_write(&s, &b), -E2BIG);
	big[CONFIG_LIMIT_ENV - 1] = '\0';
	assert_int_equal(env_put(&s.env, big), 0);
	assert_int_equal(state_write(&s, &b), 0);
	autostate struct state back = STATE_INIT;
	assert_int_equal(state_parse(&back, b.data, b.len, NULL), 0);
	assert_int_equal(strlen(back.env.vec[0]), CONFIG_LIMIT_ENV - 1);
	env_release(&s.env);
	for (int i = 0; i <= STATE_VARS_MAX; i++) {
		snprintf(name, sizeof name, "V%d=", i);
		assert_int_equal(env_put(&s.env, name), 0);
	}
	buf_clear(&b);
	assert_int_equal(state_write(&s, &b), -E2BIG);
	env_unset(&s.env, "V0");
	assert_int_equal(state_write(&s, &b), 0);
	free(big);
}

static void files_are_checked(void **state)
{
	char name[] = "/tmp/wardbox-test-XXXXXX";
	autostate struct state s = STATE_INIT;
	struct diag d;
	int dir;

	(void)state;
	assert_non_null(mkdtemp(name));
	dir = open(name, O_RDONLY | O_DIRECTORY);
	fill(&s);
	assert_int_equal(state_save(dir, "a", &s, &d), 0);
	for (int round = 0; round < 5; round++) {
		autostate struct state back = STATE_INIT;
		int err = 0;

		if (round == 1) {
			fchmodat(dir, "a", 0620, 0);
			err = -EPERM;
		} else if (round == 2) {
			fchmodat(dir, "a", 0600, 0);
			symlinkat("a", dir, "b");
			err = -ELOOP;
		} else if (round == 3) {
			mkfifoat(dir, "c", 0600);
			err = -EINVAL;
		} else if (round == 4) {
			err = -ENOENT;
		}
		assert_int_equal(state_load(dir, round < 2 ? "a"
						: round == 2 ? "b"
						: round == 3 ? "c" : "d",
					 geteuid(), &back, &d),
			err);
	}
	/* Saved over a link, the link goes and its target stays. */
	assert_int_equal(state_save(dir, "b", &s, &d), 0);
	struct stat st;
	assert_int_equal(fstatat(dir, "b", &st, AT_SYMLINK_NOFOLLOW), 0);
	assert_true(S_ISREG(st.st_mode) && (st.st_mode & 07777) == 0600);
	unlinkat(dir, "a", 0), unlinkat(dir, "b", 0), unlinkat(dir, "c", 0);
	close(dir);
	assert_int_equal(rmdir(name), 0);
}

/* Two commands that began with the same state: neither is forgotten. */
static void what_two_changed_is_kept(void **state)
{
	char dir[] = "/tmp/test-state-XXXXXX";
	autostate struct state one = STATE_INIT, two = STATE_INIT;
	autostate struct state got = STATE_INIT;
	struct diag d;
	int fd;

	(void)state;
	assert_non_null(mkdtemp(dir));
	fd = open(dir, O_RDONLY | O_DIRECTORY);
	fill(&one);
	assert_int_equal(state_update(fd, "s", geteuid(), &one, &d), 0);
	state_release(&one);
	assert_int_equal(state_load(fd, "s", geteuid(), &one, &d), 0);
	assert_int_equal(state_load(fd, "s", geteuid(), &two, &d), 0);
	assert_int_equal(env_set(&one.env, "ONE", "1"), 0);
	env_unset(&one.env, "EMPTY");
	assert_int_equal(env_set(&one.env, "A", "one"), 0);
	assert_int_equal(state_path(&one.cwd, "/moved"), 0);
	one.code = 1;
	one.commands++;
	assert_int_equal(state_update(fd, "s", geteuid(), &one, &d), 0);
	assert_int_equal(env_set(&two.env, "TWO", "2"), 0);
	assert_int_equal(env_set(&two.env, "A", "two"), 0);
	assert_int_equal(state_push(&two, "/pushed"), 0);
	two.code = 2;
	assert_int_equal(state_changed(&two, "+ TWO=2\n", 8), 0);
	assert_int_equal(state_update(fd, "s", geteuid(), &two, &d), 0);
	assert_int_equal(state_load(fd, "s", geteuid(), &got, &d), 0);
	assert_string_equal(env_get(got.env.vec, "ONE"), "1");
	assert_string_equal(env_get(got.env.vec, "TWO"), "2");
	assert_string_equal(env_get(got.env.vec, "A"), "two");
	assert_null(env_get(got.env.vec, "EMPTY"));
	assert_string_equal(env_get(got.env.vec, "not-a-name.x"), "y");
	assert_string_equal(got.cwd, "/moved");
	assert_string_equal(got.pwd, "/link");
	assert_int_equal(got.dir_count, 3);
	assert_string_equal(got.dirs[0], "/pushed");
	assert_string_equal(got.dirs[2], "/older");
	assert_int_equal(got.code, 2);
	assert_string_equal(got.changes, "+ TWO=2\n");
	assert_int_equal(got.commands, 9);
	assert_string_equal(two.cwd, "/moved");
	unlinkat(fd, "s", 0);
	close(fd);
	rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comes_back),
		cmocka_unit_test(empty_comes_back),
		cmocka_unit_test(every_cut_is_seen),
		cmocka_unit_test(forgeries),
		cmocka_unit_test(caps_hold),
		cmocka_unit_test(files_are_checked),
		cmocka_unit_test(what_two_changed_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
