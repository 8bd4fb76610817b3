/* test_landlock.c - rights by ABI
 * SPDX-License-Identifier: MIT
 */
#include "unit.h"

#include "landlock.h"
#include "sandbox.h"

static void what_each_abi_knows(void **state)
{
	static const uint64_t fs[] = {0, 0x1fff, 0x3fff, 0x7fff, 0x7fff, 0xffff,
		0xffff, 0xffff, 0xffff, 0x1ffff, 0x1ffff};

	(void)state;
	for (int abi = 0; abi <= 10; abi++) {
		assert_int_equal(landlock_all_fs(abi), fs[abi]);
		assert_int_equal(landlock_all_net(abi),
			abi < 4 ? 0 : abi < 10 ? 3 : 15);
	}
	/* One that is newer than we are knows at least what we do. */
	assert_int_equal(landlock_all_fs(99), 0x1ffff);
	assert_int_equal(landlock_all_fs(-1), 0);
}

static void a_right_is_never_more_than_is_handled(void **state)
{
	(void)state;
	for (int abi = 0; abi <= 11; abi++)
		for (unsigned access = 0; access < 32; access++)
			for (int dir = 0; dir < 2; dir++)
				assert_int_equal(landlock_rights(access, dir,
							 abi) &
							 ~landlock_all_fs(abi),
					0);
}

static void files_take_no_rights_of_directories(void **state)
{
	const uint64_t file = LL_FS_EXECUTE | LL_FS_WRITE_FILE |
			      LL_FS_READ_FILE | LL_FS_TRUNCATE |
			      LL_FS_IOCTL_DEV | LL_FS_RESOLVE_UNIX;

	(void)state;
	for (unsigned access = 0; access < 32; access++)
		assert_int_equal(
			landlock_rights(access, false, 10) & ~file, 0);
}

static void what_grants_mean(void **state)
{
	(void)state;
	assert_int_equal(landlock_rights(SANDBOX_RO, true, 7),
		LL_FS_READ_FILE | LL_FS_READ_DIR);
	assert_int_equal(landlock_rights(SANDBOX_HIDE, true, 7), 0);
	/* Writing goes with truncating; device nodes are for nobody. */
	for (int abi = 1; abi <= 10; abi++) {
		uint64_t rw = landlock_rights(SANDBOX_RWX, true, abi);

		assert_false(rw & (LL_FS_MAKE_CHAR | LL_FS_MAKE_BLOCK));
		assert_int_equal(!!(rw & LL_FS_TRUNCATE), abi >= 3);
		assert_int_equal(!!(rw & LL_FS_REFER), abi >= 2);
		assert_int_equal(!!(rw & LL_FS_RESOLVE_UNIX), abi >= 9);
		assert_true(rw & LL_FS_WRITE_FILE && rw & LL_FS_EXECUTE);
	}
	assert_false(landlock_rights(SANDBOX_RO, true, 10) &
		     LL_FS_RESOLVE_UNIX);
	assert_int_equal(landlock_rights(SANDBOX_UNIX, true, 10),
		LL_FS_RESOLVE_UNIX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_each_abi_knows),
		cmocka_unit_test(a_right_is_never_more_than_is_handled),
		cmocka_unit_test(files_take_no_rights_of_directories),
		cmocka_unit_test(what_grants_mean),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
