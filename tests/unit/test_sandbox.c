/* test_sandbox.c - plans, what they compile to, what they explain
 * SPDX-License-Identifier: MIT
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/probe.h"
#include "box/sandbox.h"
#include "box/seccomp_in.h"

static char top[] = "/tmp/test-sandbox-XXXXXX";

static void names_and_back(void **state)
{
	(void)state;
	for (unsigned part = 1; part <= SANDBOX_WATCH; part <<= 1) {
		assert_non_null(sandbox_part_name(part));
		assert_int_equal(
			sandbox_part_named(sandbox_part_name(part)), part);
	}
	assert_null(sandbox_part_name(3));
	assert_null(sandbox_part_name(0));
	assert_int_equal(sandbox_part_named(""), 0);
	assert_int_equal(sandbox_part_named("landloc"), 0);
	for (int s = 0; s <= SANDBOX_STEP_EXEC; s++)
		assert_non_null(sandbox_step_text((enum sandbox_step)s));
	assert_non_null(sandbox_step_text((enum sandbox_step)99));
}

static void a_plan_grows_and_ends(void **state)
{
	autosandbox_plan struct sandbox_plan plan = SANDBOX_PLAN_INIT;
	int err = 0;
	size_t n = 0;

	(void)state;
	while ((err = sandbox_grant(&plan, "/", SANDBOX_RO, false, "x")) == 0)
		assert_int_equal(plan.grant_count, ++n);
	assert_int_equal(err, -E2BIG);
	assert_int_equal(n, SANDBOX_GRANTS_MAX);
	for (unsigned p = 0; p < SANDBOX_PORTS_MAX; p++)
		assert_int_equal(
			sandbox_port(&plan, (uint16_t)(p + 1), p & 1), 0);
	assert_int_equal(sandbox_port(&plan, 9, false), -E2BIG);
	assert_int_equal(plan.connect_count, SANDBOX_PORTS_MAX / 2);
	/* p + 1 is odd for those to connect to, and they stand first. */
	for (size_t i = 0; i < plan.port_count; i++)
		assert_int_equal(
			plan.ports[i] & 1, i < plan.connect_count ? 1 : 0);
}

/* What an older Landlock lacks, which is asked for by no name in these tests. */
static unsigned not_here(void)
{
	return probe_landlock_abi(NULL) < 6 ? SANDBOX_SCOPE : 0;
}

static struct sandbox_plan *plan_of(const char *const *paths,
	const unsigned *access, size_t n)
{
	static struct sandbox_plan plan;
	static char full[8][256];

	sandbox_plan_release(&plan);
	plan = SANDBOX_PLAN_INIT;
	plan.without = not_here();
	for (size_t i = 0; i < n; i++) {
		strcpy(full[i], top);
		strcat(full[i], paths[i]);
		assert_int_equal(sandbox_grant(&plan, full[i], access[i], false,
					 "test"),
			0);
	}
	return &plan;
}

static const char *at(const char *rest)
{
	static char path[256];

	strcpy(path, top);
	return strcat(path, rest);
}

static void what_takes_away_needs_mounts(void **state)
{
	const char *const paths[] = {"/w", "/w/a/keep", "/w/hidden", "/w-x"};
	const unsigned access[] = {
		SANDBOX_RW, SANDBOX_RO, SANDBOX_HIDE, SANDBOX_RO};
	struct sandbox_plan *plan = plan_of(paths, access, 4);
	autosandbox struct sandbox s = SANDBOX_INIT;
	const struct sandbox_grant *g;
	struct diag d = {0};
	int ro = 0, pins = 0, empty = 0;

	(void)state;
	if (probe_try(PROBE_MOUNTNS, NULL) < 0 || !probe_landlock_abi(NULL))
		skip();
	assert_int_equal(sandbox_compile(plan, &s, &d), 0);
	assert_true(s.enforced & SANDBOX_MOUNTNS);
	for (size_t i = 0; i < s.rule_count; i++) {
		ro += s.rules[i].mount == SANDBOX_MOUNT_RO;
		pins += s.rules[i].mount == SANDBOX_MOUNT_PIN;
		empty += s.rules[i].mount == SANDBOX_MOUNT_EMPTY;
	}
	assert_int_equal(ro, 1);
	assert_int_equal(pins, 1); /* /w/a */
	/* Where the place is mounted twice, each of its names. */
	assert_true(empty >= 1);
	assert_int_equal(sandbox_explain(&s, at("/w/new"), &g), SANDBOX_RW);
	assert_string_equal(g->path, at("/w"));
	assert_int_equal(sandbox_explain(&s, at("/w/a/keep/x"), &g) &
				 SANDBOX_WRITE,
		0);
	assert_int_equal(
		sandbox_explain(&s, at("/w/hidden/x"), NULL), SANDBOX_HIDE);
	assert_int_equal(sandbox_explain(&s, at("/w-x/y"), NULL), SANDBOX_RO);
	assert_int_equal(sandbox_explain(&s, "/", &g), 0);
	assert_null(g);
}

static void what_a_view_takes_away_is_no_need(void **state)
{
	const char *const paths[] = {"/w"};
	const unsigned access[] = {SANDBOX_RW};
	struct sandbox_plan *plan = plan_of(paths, access, 1);
	autosandbox struct sandbox bare = SANDBOX_INIT, s = SANDBOX_INIT;
	struct diag d = {0};
	int ro = 0;

	(void)state;
	assert_int_equal(sandbox_grant_in_view(
				 plan, at("/w/a/keep"), SANDBOX_RO, "test"),
		0);
	assert_int_equal(sandbox_compile(plan, &bare, &d), 0);
	assert_false(bare.carved);
	assert_false(bare.enforced & SANDBOX_MOUNTNS);
	plan->view = true;
	assert_int_equal(sandbox_compile(plan, &s, &d), 0);
	assert_false(s.carved);
	assert_true(s.enforced & SANDBOX_MOUNTNS);
	for (size_t i = 0; i < s.rule_count; i++) {
		ro += s.rules[i].mount == SANDBOX_MOUNT_RO;
		assert_int_not_equal(s.rules[i].mount, SANDBOX_MOUNT_PIN);
	}
	assert_int_equal(ro, 1);
}

static void plans_that_contradict_themselves(void **state)
{
	const char *const paths[] = {"/w", "/w/hidden", "/w/hidden/in"};
	const unsigned access[] = {SANDBOX_RW, SANDBOX_HIDE, SANDBOX_RO};
	autosandbox struct sandbox s = SANDBOX_INIT;
	struct diag d = {0};

	(void)state;
	if (!probe_landlock_abi(NULL))
		skip();
	assert_int_equal(
		sandbox_compile(plan_of(paths, access, 3), &s, &d), -EINVAL);
	assert_non_null(strstr(d.text, "hidden"));
}

static void links_do_not_hide_what_lies_within(void **state)
{
	const char *const paths[] = {"/w", "/link/keep"};
	const unsigned access[] = {SANDBOX_RW, SANDBOX_RO};
	autosandbox struct sandbox s = SANDBOX_INIT;
	struct diag d = {0};

	(void)state;
	if (probe_try(PROBE_MOUNTNS, NULL) < 0 || !probe_landlock_abi(NULL))
		skip();
	assert_int_equal(
		sandbox_compile(plan_of(paths, access, 2), &s, &d), 0);
	assert_true(s.enforced & SANDBOX_MOUNTNS);
}

static void missing_paths(void **state)
{
	autosandbox_plan struct sandbox_plan plan = SANDBOX_PLAN_INIT;
	autosandbox struct sandbox s = SANDBOX_INIT;
	struct diag d = {0};

	(void)state;
	if (!probe_landlock_abi(NULL))
		skip();
	plan.without = not_here();
	sandbox_grant(&plan, "/no/such/path", SANDBOX_RO, true, "x");
	assert_int_equal(sandbox_compile(&plan, &s, &d), 0);
	assert_int_equal(s.rule_count, 0);
	sandbox_release(&s);
	plan.grants[0].optional = false;
	assert_int_equal(sandbox_compile(&plan, &s, &d), -ENOENT);
	assert_non_null(strstr(d.text, "/no/such/path"));
	assert_non_null(strstr(d.hint, "--ignore-missing"));
}

struct opening {
	struct sandbox *s;
	const char *path;
	int flags;
};

static void try_open(void *ctx)
{
	const struct opening *o = ctx;

	if (sandbox_apply(o->s) < 0)
		_exit(125);
	_exit(open(o->path, o->flags | O_CLOEXEC, 0600) < 0 ? errno : 0);
}

static void try_apply(void *ctx)
{
	_exit(sandbox_apply(ctx) < 0 ? 125 : 0);
}

/* In a child: the sandbox, then try to open path; its errno, 0 for none. */
static int open_inside(struct sandbox_plan *plan, const char *path, int flags)
{
	struct sandbox s = SANDBOX_INIT;
	struct opening o = {&s, path, flags};
	struct diag d = {0};
	int status = 0;
	pid_t pid;

	if (sandbox_compile(plan, &s, &d) < 0)
		return -1;
	pid = sandbox_spawn(&s, try_open, &o, !(flags & O_CREAT));
	assert_true(pid > 0);
	while (waitpid(pid, &status, 0) < 0)
		assert_int_equal(errno, EINTR);
	sandbox_kill(&s);
	assert_true(sandbox_outcome(&s, &status, &d));
	sandbox_release(&s);
	return WEXITSTATUS(status);
}

static void it_holds(void **state)
{
	const char *const paths[] = {"/w"};
	const unsigned rw[] = {SANDBOX_RW}, ro[] = {SANDBOX_RO};
	struct sandbox_plan *plan;

	(void)state;
	if (probe_landlock_abi(NULL) < 6)
		skip();
	plan = plan_of(paths, rw, 1);
	assert_int_equal(open_inside(plan, at("/w/n"), O_WRONLY | O_CREAT), 0);
	assert_int_equal(open_inside(plan, at("/f"), O_RDONLY), EACCES);
	plan = plan_of(paths, ro, 1);
	assert_int_equal(open_inside(plan, at("/w/n"), O_RDONLY), 0);
	assert_int_equal(open_inside(plan, at("/w/n"), O_WRONLY), EACCES);
	if (probe_try(PROBE_PIDNS, NULL) == 0) {
		plan->want |= SANDBOX_PIDNS;
		assert_int_equal(
			open_inside(plan, at("/w/n"), O_RDONLY), 0);
		assert_int_equal(
			open_inside(plan, at("/w/n"), O_WRONLY), EACCES);
	}
}

static void a_step_that_fails_is_named(void **state)
{
	const int bad[] = {777};
	autosandbox_plan struct sandbox_plan plan = SANDBOX_PLAN_INIT;
	struct sandbox s = SANDBOX_INIT;
	struct diag d = {0};
	int status = 0;
	pid_t pid;

	(void)state;
	if (probe_landlock_abi(NULL) < 6)
		skip();
	plan.keep_fds = bad;
	plan.keep_fd_count = 1;
	assert_int_equal(sandbox_compile(&plan, &s, &d), 0);
	pid = sandbox_spawn(&s, try_apply, &s, false);
	waitpid(pid, &status, 0);
	assert_int_equal(WEXITSTATUS(status), 125);
	assert_false(sandbox_outcome(&s, &status, &d));
	assert_non_null(strstr(d.text, "closing descriptors"));
	sandbox_kill(&s);
	sandbox_release(&s);
}

static int make_tree(void **state)
{
	(void)state;
	if (!mkdtemp(top))
		return -1;
	mkdir(at("/w"), 0700);
	mkdir(at("/w-x"), 0700);
	mkdir(at("/w/a"), 0700);
	mkdir(at("/w/a/keep"), 0700);
	mkdir(at("/w/keep"), 0700);
	mkdir(at("/w/hidden"), 0700);
	mkdir(at("/w/hidden/in"), 0700);
	close(open(at("/f"), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	return symlinkat("w", AT_FDCWD, at("/link"));
}

static int drop_tree(void **state)
{
	static const char *const dirs[] = {"/w/hidden/in", "/w/hidden",
		"/w/keep", "/w/a/keep", "/w/a", "/w-x", "/w", ""};
	static const char *const files[] = {"/f", "/link", "/w/n"};

	(void)state;
	for (size_t i = 0; i < 3; i++)
		unlink(at(files[i]));
	for (size_t i = 0; i < 8; i++)
		rmdir(at(dirs[i]));
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_and_back),
		cmocka_unit_test(a_plan_grows_and_ends),
		cmocka_unit_test(what_takes_away_needs_mounts),
		cmocka_unit_test(what_a_view_takes_away_is_no_need),
		cmocka_unit_test(plans_that_contradict_themselves),
		cmocka_unit_test(links_do_not_hide_what_lies_within),
		cmocka_unit_test(missing_paths),
		cmocka_unit_test(it_holds),
		cmocka_unit_test(a_step_that_fails_is_named),
	};

	return cmocka_run_group_tests(tests, make_tree, drop_tree);
}
