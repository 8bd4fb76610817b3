/* test_limits.c - clocks, trees, and how limits are kept
 * SPDX-License-Identifier: MIT
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sys/limits.h"

static void names(void **state)
{
	(void)state;
	for (int k = 0; k < LIMITS_KINDS; k++)
		assert_non_null(limits_name((enum limits_kind)k));
	for (int h = 0; h <= LIMITS_BY_COUNT; h++)
		assert_non_null(limits_how_name((enum limits_how)h));
	assert_string_equal(limits_name((enum limits_kind)99), "unknown");
}

static void the_clock(void **state)
{
	const struct limits_spec spec = {.wall_ns = 30000000};
	struct timespec pause = {.tv_nsec = 35000000};
	struct limits l = LIMITS_INIT;

	(void)state;
	assert_int_equal(limits_prepare(&l, &spec), 0);
	assert_int_equal(l.how[LIMITS_WALL], LIMITS_BY_TIMER);
	limits_start(&l);
	assert_in_range(limits_timeout(&l), 0, 31);
	assert_int_equal(limits_check(&l, false), LIMITS_NONE);
	nanosleep(&pause, NULL);
	assert_int_equal(limits_timeout(&l), 0);
	/* A command that has ended is not late. */
	assert_int_equal(limits_check(&l, true), LIMITS_NONE);
	assert_int_equal(limits_check(&l, false), LIMITS_WALL);
	assert_int_equal(limits_check(&l, true), LIMITS_WALL);
	limits_release(&l);
}

static void no_limits_no_looks(void **state)
{
	const struct limits_spec spec = {.files = 100, .fsize = 1 << 20};
	struct limits l = LIMITS_INIT;

	(void)state;
	assert_int_equal(limits_prepare(&l, &spec), 0);
	limits_start(&l);
	assert_int_equal(limits_timeout(&l), -1);
	assert_int_equal(limits_kill(&l), -ENOENT);
	limits_release(&l);
}

static void very_long_times(void **state)
{
	const struct limits_spec spec = {.wall_ns = UINT64_MAX};
	struct limits l = LIMITS_INIT;

	(void)state;
	assert_int_equal(limits_prepare(&l, &spec), 0);
	limits_start(&l);
	assert_int_equal(limits_timeout(&l), -1);
	assert_int_equal(limits_check(&l, false), LIMITS_NONE);
	limits_release(&l);
}

/* Three generations, one of which belongs to nobody. */
static pid_t grow(void)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	if (fork() == 0) {
		setsid();
		if (fork() == 0)
			for (;;)
				pause();
		_exit(0);
	}
	for (;;)
		pause();
}

static void the_tree_is_seen_and_ended(void **state)
{
	struct limits_tree t = {0};
	struct timespec pause = {.tv_nsec = 10000000};

	(void)state;
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	assert_int_equal(limits_tree(&t, true, NULL), 0);
	assert_int_equal(t.procs, 0);
	assert_true(grow() > 0);
	for (int i = 0; i < 200 && t.procs < 2; i++) {
		nanosleep(&pause, NULL);
		limits_tree(&t, true, NULL);
	}
	assert_int_equal(t.procs, 2);
	assert_true(t.tasks >= 2 && t.memory > 0);
	assert_int_equal(limits_sweep(NULL), 0);
	assert_int_equal(limits_tree(&t, true, NULL), 0);
	assert_int_equal(t.procs, 0);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	/* And when there is nothing to do. */
	assert_int_equal(limits_sweep(NULL), 0);
}

/* What was started before, by what this process was then, goes on. */
static void others_are_left_alone(void **state)
{
	autobuf struct buf others = {0};
	struct limits_guess g = {0, 0, &others};
	struct limits_tree t = {0};
	pid_t before, other, witness;

	(void)state;
	assert_int_equal(limits_others(&others), 0);
	assert_int_equal(others.len, 0);
	before = fork();
	if (before == 0) {
		/* Nor longer than a test that fails. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
	assert_int_equal(limits_others(&others), 0);
	assert_int_equal(limits_tree(&t, true, &others), 0);
	assert_int_equal(t.procs, 0);
	other = fork();
	if (other == 0) {
		pause();
		_exit(0);
	}
	assert_int_equal(limits_tree(&t, true, &others), 0);
	assert_int_equal(t.procs, 1);
	assert_true(limits_procs_over(&g, 0, 0));
	assert_int_equal(g.procs, 1);
	/* One that no wait() without more ado sees, and that came later. */
	witness = (pid_t)syscall(SYS_clone, 0, NULL, NULL, NULL, NULL);
	if (witness == 0) {
		pause();
		_exit(0);
	}
	limits_other(&others, witness, true);
	assert_int_equal(limits_sweep(&others), 0);
	assert_int_equal(kill(other, 0), -1);
	limits_other(&others, witness, false);
	assert_int_equal(limits_tree(&t, true, &others), 0);
	assert_int_equal(t.procs, 1);
	assert_int_equal(kill(witness, SIGKILL), 0);
	assert_int_equal(waitpid(witness, NULL, __WALL), witness);
	assert_int_equal(kill(before, SIGKILL), 0);
	assert_int_equal(waitpid(before, NULL, 0), before);
}

static void processes_are_guessed_and_counted(void **state)
{
	struct limits_guess g = {0, 0, NULL};
	pid_t first = 0, last = 0;

	(void)state;
	assert_false(limits_procs_over(&g, 2, 0));
	assert_int_equal(g.procs, 0);
	for (int i = 0; i < 3; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			pause();
			_exit(0);
		}
		first = first ? first : pid;
		last = pid;
	}
	assert_int_equal(limits_child(getpid()), first);
	/* As many as could have been started since are too many: counted. */
	assert_true(limits_procs_over(&g, 2, 0));
	assert_int_equal(g.procs, 3);
	assert_false(limits_procs_over(&g, 3, 0));
	/* Who came first does not count who came later. */
	g.last = UINT32_MAX;
	assert_false(limits_procs_over(&g, 1, first));
	assert_int_equal(g.procs, 3);
	assert_true(limits_procs_over(&g, 0, first));
	assert_true(limits_procs_over(&g, 2, last));
	assert_false(limits_procs_over(&g, 3, last));
	/* One that is gone counts all. */
	g.last = UINT32_MAX;
	assert_true(limits_procs_over(&g, 2, INT32_MAX));
	/* Far from it nobody counts. */
	g.procs = 1;
	assert_false(limits_procs_over(&g, 1000000, 0));
	assert_int_equal(g.procs, 1);
	/* Numbers that began again from below tell nothing. */
	g.last = UINT32_MAX;
	assert_false(limits_procs_over(&g, 1000000, 0));
	assert_int_equal(g.procs, 3);
	assert_int_equal(limits_sweep(NULL), 0);
	assert_int_equal(limits_child(getpid()), 0);
}

/* However long ago it was made: while its maker lives it is not taken away. */
static void a_group_is_held(void **state)
{
	const struct limits_spec spec = {.mem = 64 << 20, .cpu_ns = 1000000000};
	const struct timespec old[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
	struct limits first = LIMITS_INIT, second = LIMITS_INIT;
	struct stat st;

	(void)state;
	assert_int_equal(limits_prepare(&first, &spec), 0);
	if (!first.version)
		skip();
	assert_int_equal(
		utimensat(first.parent[0], first.name, old, 0), 0);
	assert_int_equal(limits_prepare(&second, &spec), 0);
	assert_int_equal(fstatat(first.parent[0], first.name, &st, 0), 0);
	limits_release(&second);
	/* One without a maker is. */
	assert_int_equal(close(first.group[0]), 0);
	first.group[0] = -1;
	assert_int_equal(limits_prepare(&second, &spec), 0);
	assert_int_equal(fstatat(first.parent[0], first.name, &st, 0), -1);
	limits_release(&second);
	limits_release(&first);
}

static void the_childs_limits(void **state)
{
	const struct limits_spec spec = {.files = 50, .fsize = 4096};
	struct limits l = LIMITS_INIT;
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(limits_prepare(&l, &spec), 0);
	pid = fork();
	if (pid == 0) {
		struct rlimit r;

		if (limits_enter(&l) < 0)
			_exit(1);
		getrlimit(RLIMIT_NOFILE, &r);
		if (r.rlim_cur != 50 || r.rlim_max != 50)
			_exit(2);
		getrlimit(RLIMIT_FSIZE, &r);
		if (r.rlim_cur != 4096)
			_exit(3);
		getrlimit(RLIMIT_CORE, &r);
		_exit(r.rlim_cur > 1 ? 4 : 0);
	}
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
	limits_release(&l);
}

static void how_is_told(void **state)
{
	const struct limits_spec spec = {
		.mem = 1 << 30, .tasks = 100, .cpu_ns = 1, .procs = 3};
	struct limits l = LIMITS_INIT;

	(void)state;
	assert_int_equal(limits_prepare(&l, &spec), 0);
	assert_int_not_equal(l.how[LIMITS_MEM], LIMITS_BY_NOTHING);
	assert_int_not_equal(l.how[LIMITS_TASKS], LIMITS_BY_NOTHING);
	assert_int_not_equal(l.how[LIMITS_CPU], LIMITS_BY_NOTHING);
	assert_int_equal(l.how[LIMITS_PROCS], LIMITS_BY_WATCH);
	assert_int_equal(l.how[LIMITS_FILES], LIMITS_BY_NOTHING);
	limits_release(&l);
	assert_int_equal(l.version, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(the_clock),
		cmocka_unit_test(no_limits_no_looks),
		cmocka_unit_test(very_long_times),
		cmocka_unit_test(the_tree_is_seen_and_ended),
		cmocka_unit_test(others_are_left_alone),
		cmocka_unit_test(processes_are_guessed_and_counted),
		cmocka_unit_test(a_group_is_held),
		cmocka_unit_test(the_childs_limits),
		cmocka_unit_test(how_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
