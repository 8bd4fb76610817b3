/* test_lean.c - code that was let go of comes back
 * SPDX-License-Identifier: MIT
 */
#include "unit.h"

#include "sys/lean.h"
#include "base/num.h"

static const char words[] = "constants stay what they were";

static void it_goes_on(void **state)
{
	uint64_t v = 0;

	(void)state;
	for (int i = 0; i < 3; i++) {
		lean_code();
		assert_int_equal(num_u64("77", 0, 100, &v), 0);
		assert_int_equal(v, 77);
		assert_string_equal(words, "constants stay what they were");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(it_goes_on)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
