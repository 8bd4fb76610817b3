/* test_system.c - path, env, file, sig
 * SPDX-License-Identifier: MIT
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "sys/env.h"
#include "sys/file.h"
#include "base/path.h"
#include "sys/sig.h"
#include "base/str.h"

static void paths_fold(void **state)
{
	static const struct {
		const char *base, *path, *want;
	} cases[] = {
		{"/a/b", "c", "/a/b/c"},
		{"/a/b", "../c", "/a/c"},
		{"/a/b", "../../../c", "/c"},
		{"/a", "/x//y/./z/", "/x/y/z"},
		{"/a", ".", "/a"},
		{"/", "", "/"},
		{"/", "..", "/"},
		{"/a/b/", "..", "/a"},
		{"/a", "...", "/a/..."},
		{"/a", "..b", "/a/..b"},
	};
	char out[64];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(path_normal(out, sizeof out, cases[i].base,
					 cases[i].path),
			0);
		assert_string_equal(out, cases[i].want);
	}
	assert_int_equal(path_normal(out, sizeof out, NULL, "a"), -EINVAL);
	assert_int_equal(path_normal(out, sizeof out, "rel", "a"), -EINVAL);
	assert_int_equal(path_normal(out, 8, "/", "1234567"), -ENAMETOOLONG);
	assert_int_equal(path_normal(out, 9, "/", "1234567"), 0);
}

static void paths_compare(void **state)
{
	char out[8];

	(void)state;
	assert_true(path_beneath("/a/b", "/a/b"));
	assert_true(path_beneath("/a/b", "/a/b/c"));
	assert_false(path_beneath("/a/b", "/a/bc"));
	assert_true(path_beneath("/", "/x"));
	assert_false(path_beneath("/a/b", "/a"));
	assert_string_equal(path_base("/a/b"), "b");
	assert_string_equal(path_base("b"), "b");
	assert_string_equal(path_base("b/"), "");
	assert_int_equal(path_join(out, sizeof out, "/a/", "b"), 0);
	assert_string_equal(out, "/a/b");
	assert_int_equal(path_join(out, sizeof out, "/a", "b"), 0);
	assert_string_equal(out, "/a/b");
	assert_int_equal(path_join(out, 5, "/abc", "b"), -ENAMETOOLONG);
}

/* Everything lasts but what is in "free". */
static bool lasts(void *ctx, const char *dir)
{
	++*(int *)ctx;
	return !str_ends(dir, "/free");
}

static void links_are_followed_that_last(void **state)
{
	static const struct {
		const char *path, *want; /* NULL: refused */
	} cases[] = {
		{"", ""},
		{"/d/in", "/d/in"},
		{"/d//./in/../in/", "/d/in"},
		{"/to", "/d"},
		{"/to/in", "/d/in"},
		{"/to/in/..", "/d"},
		{"/deep", "/d/in"},
		{"/d/up", "/d"},
		{"/free/x", NULL},
		{"/hop", NULL},
		{"/free/plain", "/free/plain"},
	};
	static const char *const made[] = {"self", "hop", "free/x", "d/up",
		"d/in/up", "deep", "to", "free/plain", "free", "d/in", "d"};
	char base[] = "/tmp/wardbox-links-XXXXXX", path[PATH_MAX], out[PATH_MAX];
	int asked;

	(void)state;
	assert_non_null(mkdtemp(base));
	assert_int_equal(chdir(base), 0);
	assert_int_equal(mkdir("d", 0700) | mkdir("d/in", 0700) |
			mkdir("free", 0700) | mkdir("free/plain", 0700), 0);
	assert_int_equal(symlink("d", "to") | symlink("to/../d/in", "deep") |
			symlink("../../d/in/..", "d/in/up") | symlink("in/up", "d/up") |
			symlink("../d", "free/x") | symlink("free/x", "hop") |
			symlink("self", "self"), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		asked = 0;
		BUF_PRINT(path, "%s%s", base, cases[i].path);
		assert_int_equal(path_settle(path, out, lasts, &asked),
			cases[i].want ? 0 : -EPERM);
		if (cases[i].want)
			assert_string_equal(str_after(out, base), cases[i].want);
	}
	BUF_PRINT(path, "%s/self", base);
	assert_int_equal(path_settle(path, out, lasts, &asked), -ELOOP);
	BUF_PRINT(path, "%s/to/none", base);
	assert_int_equal(path_settle(path, out, lasts, &asked), -ENOENT);
	assert_int_equal(path_settle("/", out, lasts, &asked), 0);
	assert_string_equal(out, "/");
	assert_int_equal(path_settle("/..", out, lasts, &asked), 0);
	assert_string_equal(out, "/");
	assert_int_equal(path_real("to", path), 0);
	assert_string_equal(str_after(path, base), "/d");
	for (size_t i = 0; i < ARRAY_SIZE(made); i++)
		assert_int_equal(remove(made[i]), 0);
	assert_int_equal(chdir("/") | rmdir(base), 0);
}

static void environments(void **state)
{
	char a[] = "A=1", a2[] = "A=2", junk[] = "junk", b[] = "B=x=y";
	char *vec[] = {a, junk, a2, b, NULL};
	autoenv struct env e = ENV_INIT;
	autobuf struct buf dump = BUF_INIT(100);

	(void)state;
	assert_int_equal(env_copy(&e, vec), 0);
	assert_int_equal(e.count, 2);
	assert_string_equal(env_get(e.vec, "A"), "1");
	assert_string_equal(env_get(e.vec, "B"), "x=y");
	assert_null(env_get(e.vec, "AB"));
	assert_int_equal(env_set(&e, "A", "3"), 0);
	assert_string_equal(env_get(e.vec, "A"), "3");
	assert_int_equal(env_set(&e, "X=", "3"), -EINVAL);
	assert_int_equal(env_set(&e, "", "3"), -EINVAL);
	env_dump(e.vec, &dump);
	assert_int_equal(dump.len, 10);
	assert_memory_equal(dump.data, "A=3\0B=x=y", 10);
	env_unset(&e, "A");
	assert_null(env_get(e.vec, "A"));
	assert_null(e.vec[1]);
}

static bool is_odd(void *calls, const char *pair)
{
	++*(int *)calls;
	return (pair[strlen(pair) - 1] - '0') % 2;
}

/* More than the first table holds; each is found, and none of those that are
 * gone. */
static void large_environments(void **state)
{
	enum { MANY = 3000 };
	autoenv struct env e = ENV_INIT, copy = ENV_INIT;
	char text[32];

	(void)state;
	for (int i = 0; i < MANY; i++) {
		snprintf(text, sizeof text, "N%d=%d", i, i);
		assert_int_equal(env_put(&e, text), 0);
	}
	assert_int_equal(env_add(&e, "N7=again"), 0);
	assert_int_equal(env_copy(&copy, e.vec), 0);
	assert_int_equal(copy.count, MANY);
	assert_string_equal(env_get(copy.vec, "N7"), "7");
	assert_int_equal(env_set(&copy, "N7", "seven"), 0);
	assert_int_equal(copy.count, MANY);
	for (int i = 0; i < MANY; i += 2) {
		snprintf(text, sizeof text, "N%d", i);
		env_unset(&copy, text);
	}
	assert_int_equal(copy.count, MANY / 2);
	for (int i = 0; i < MANY; i++) {
		snprintf(text, sizeof text, "N%d=", i);
		assert_int_equal(env_put(&copy, text), 0);
		assert_int_equal(copy.count, MANY / 2 + i / 2 + 1);
	}
	assert_null(copy.vec[MANY]);
	assert_true(env_same(&copy, &copy));
	assert_false(env_same(&copy, &e));
	int calls = 0;

	env_filter(&e, is_odd, &calls);
	assert_int_equal(calls, MANY + 1);
	assert_int_equal(e.count, MANY / 2);
	assert_null(e.vec[MANY / 2]);
	assert_null(env_get(e.vec, "N8"));
	assert_string_equal(env_get(e.vec, "N2999"), "2999");
	assert_int_equal(env_put(&e, "N2999=last"), 0);
	assert_int_equal(env_put(&e, "N8=back"), 0);
	assert_int_equal(e.count, MANY / 2 + 1);
}

static int temp_dir(char *name)
{
	assert_non_null(mkdtemp(name));
	return open(name, O_RDONLY | O_DIRECTORY);
}

static void files_are_replaced_whole(void **state)
{
	char name[] = "/tmp/wardbox-test-XXXXXX";
	autofd int dir = temp_dir(name);
	autobuf struct buf b = BUF_INIT(100), small = BUF_INIT(3);
	struct stat st;

	(void)state;
	assert_int_equal(file_replace(dir, "f", "one", 3, 0640, true), 0);
	assert_int_equal(file_replace(dir, "f", "four", 4, 0640, false), 0);
	assert_int_equal(file_read(dir, "f", &b), 0);
	assert_string_equal(buf_str(&b), "four");
	assert_int_equal(file_read(dir, "f", &small), -EFBIG);
	assert_int_equal(file_read(dir, ".", &b), -EISDIR);
	assert_int_equal(fstatat(dir, "f", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	assert_int_equal(
		file_replace(dir, "no/f", "x", 1, 0600, false), -ENOENT);
	assert_int_equal(mkfifoat(dir, "fifo", 0600), 0);
	assert_int_equal(file_read(dir, "fifo", &b), -EINVAL);
	unlinkat(dir, "fifo", 0);
	unlinkat(dir, "f", 0);
	assert_int_equal(rmdir(name), 0); /* no temporary stayed behind */
}

static void planted_things_are_refused(void **state)
{
	char name[] = "/tmp/wardbox-test-XXXXXX";
	autofd int dir = temp_dir(name);
	struct diag d = {0};
	int fd;

	(void)state;
	fd = file_private_dir(dir, "p", geteuid(), true, &d);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(fchmodat(dir, "p", 0750, 0), 0);
	assert_int_equal(
		file_private_dir(dir, "p", geteuid(), true, &d), -EPERM);
	assert_non_null(strstr(d.text, "not private"));
	assert_non_null(strstr(d.text, name)); /* and where it is */
	assert_int_equal(fchmodat(dir, "p", 0700, 0), 0);
	assert_int_equal(symlinkat("p", dir, "link"), 0);
	assert_true(file_private_dir(dir, "link", geteuid(), true, &d) < 0);
	assert_int_equal(
		file_private_dir(dir, "p", geteuid() + 1, false, &d), -EPERM);
	fd = openat(dir, "policy", O_RDWR | O_CREAT, 0644);
	assert_int_equal(file_check_trusted(fd, geteuid(), "policy", &d), 0);
	fchmod(fd, 0664);
	assert_int_equal(
		file_check_trusted(fd, geteuid(), "policy", &d), -EPERM);
	assert_non_null(strstr(d.hint, "chmod go-w policy"));
	close(fd);
	unlinkat(dir, "policy", 0);
	unlinkat(dir, "link", 0);
	unlinkat(dir, "p", AT_REMOVEDIR);
	assert_int_equal(rmdir(name), 0);
}

static void directories_are_made(void **state)
{
	char name[] = "/tmp/wardbox-test-XXXXXX", path[64];
	autofd int dir = temp_dir(name);
	struct stat st;

	(void)state;
	snprintf(path, sizeof path, "%s/a/b", name);
	assert_int_equal(file_mkdirs(path, 0700), 0);
	assert_int_equal(file_mkdirs(path, 0700), 0);
	assert_int_equal(fstatat(dir, "a/b", &st, 0), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	unlinkat(dir, "a/b", AT_REMOVEDIR);
	unlinkat(dir, "a", AT_REMOVEDIR);
	rmdir(name);
}

static void signals_by_name(void **state)
{
	char name[16];

	(void)state;
	assert_string_equal(sig_name(SIGTERM, name, sizeof name), "TERM");
	assert_string_equal(
		sig_name(SIGRTMIN + 2, name, sizeof name), "RTMIN+2");
	assert_null(sig_name(0, name, sizeof name));
	assert_int_equal(sig_number("SIGKILL"), SIGKILL);
	assert_int_equal(sig_number("int"), SIGINT);
	assert_int_equal(sig_number("9"), 9);
	assert_int_equal(sig_number("0"), -EINVAL);
	assert_int_equal(sig_number("NOPE"), -EINVAL);
	assert_int_equal(sig_number("RTMIN+1"), SIGRTMIN + 1);
}

static void dies_by_the_signal(void **state)
{
	int status;
	pid_t pid = fork();

	(void)state;
	if (!pid) {
		sigset_t all;

		sigfillset(&all);
		sigprocmask(SIG_SETMASK, &all, NULL);
		signal(SIGTERM, SIG_IGN);
		sig_die(SIGTERM);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

static void programs_are_found(void **state)
{
	char name[] = "/tmp/wardbox-test-XXXXXX", out[128], want[128];
	char list[128];
	int fd, dir;

	(void)state;
	assert_non_null(mkdtemp(name));
	dir = open(name, O_RDONLY | O_DIRECTORY);
	assert_int_equal(mkdirat(dir, "sub", 0755), 0);
	for (int i = 0; i < 2; i++) {
		fd = openat(dir, i ? "prog" : "plain", O_CREAT | O_WRONLY,
			i ? 0755 : 0644);
		close(fd);
	}
	snprintf(list, sizeof list, "/nowhere:%s/sub:%s", name, name);
	snprintf(want, sizeof want, "%s/prog", name);
	assert_int_equal(path_find(out, sizeof out, "prog", list, NULL), 0);
	assert_string_equal(out, want);
	assert_int_equal(
		path_find(out, sizeof out, "plain", list, NULL), -EACCES);
	assert_int_equal(
		path_find(out, sizeof out, "sub", list, NULL), -EACCES);
	assert_int_equal(
		path_find(out, sizeof out, "none", list, NULL), -ENOENT);
	assert_int_equal(path_find(out, sizeof out, "", list, NULL), -ENOENT);
	assert_int_equal(path_find(out, 8, "prog", list, NULL), -ENOENT);
	/* A relative name, a relative entry, an empty one: below cwd. */
	assert_int_equal(path_find(out, sizeof out, "./prog", NULL, name), 0);
	assert_int_equal(path_find(out, sizeof out, "prog", "sub:", name), 0);
	assert_int_equal(
		path_find(out, sizeof out, "prog", "/:../x:", NULL), -ENOENT);
	assert_int_equal(path_find(out, sizeof out, "sh", NULL, NULL), 0);
	unlinkat(dir, "prog", 0), unlinkat(dir, "plain", 0);
	unlinkat(dir, "sub", AT_REMOVEDIR);
	close(dir);
	assert_int_equal(rmdir(name), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_fold),
		cmocka_unit_test(paths_compare),
		cmocka_unit_test(links_are_followed_that_last),
		cmocka_unit_test(programs_are_found),
		cmocka_unit_test(environments),
		cmocka_unit_test(large_environments),
		cmocka_unit_test(files_are_replaced_whole),
		cmocka_unit_test(planted_things_are_refused),
		cmocka_unit_test(directories_are_made),
		cmocka_unit_test(signals_by_name),
		cmocka_unit_test(dies_by_the_signal),
	};

	return cmocka_run_group_tests_name("system", tests, NULL, NULL);
}
