/* test_probe.c - what is found is what is there
 * SPDX-License-Identifier: MIT
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "sys/probe.h"

static int gives(unsigned arg)
{
	return -(int)arg;
}

static int dies(unsigned arg)
{
	kill(getpid(), (int)arg);
	return 0;
}

static void a_child_answers_or_dies(void **state)
{
	(void)state;
	assert_int_equal(probe_child(gives, 0), 0);
	assert_int_equal(probe_child(gives, EPERM), -EPERM);
	assert_int_equal(probe_child(dies, SIGKILL), -EINTR);
}

static void outside_is_outside(void **state)
{
	(void)state;
	errno = 77;
	/* These tests may themselves run in a sandbox. */
	if (!probe_inside())
		assert_int_equal(
			prctl(PROBE_INSIDE_OPTION, 0, 0, 0, 0), -1);
	errno = 77;
	probe_inside();
	assert_int_equal(errno, 77);
}

static void every_item_is_tried(void **state)
{
	(void)state;
	for (int i = 0; i < PROBE_ITEMS; i++)
		assert_true(probe_try((enum probe_item)i, NULL) <= 0);
	assert_int_equal(probe_try(PROBE_ITEMS, NULL), -EINVAL);
	assert_int_equal(probe_try(PROBE_NNP, NULL), 0);
	/* Nothing of it stayed with us. */
	assert_int_equal(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), 0);
}

static void rights_follow_the_abi(void **state)
{
	int abi = probe_landlock_abi(NULL);

	(void)state;
	if (!abi)
		skip();
	for (unsigned bit = 0; bit < 13; bit++)
		assert_int_equal(probe_landlock_right(bit), 0);
	assert_int_equal(probe_landlock_right(14), abi >= 3 ? 0 : -ERANGE);
	assert_int_equal(probe_landlock_right(32), abi >= 4 ? 0 : -ERANGE);
	assert_int_equal(probe_landlock_right(16), abi >= 9 ? 0 : -ERANGE);
	assert_int_equal(probe_landlock_right(63), -ERANGE);
	assert_null(probe_landlock_name(63));
	assert_string_equal(probe_landlock_name(0), "execute");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_child_answers_or_dies),
		cmocka_unit_test(outside_is_outside),
		cmocka_unit_test(every_item_is_tried),
		cmocka_unit_test(rights_follow_the_abi),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
