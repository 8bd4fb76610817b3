/* test_landlock.c - rights by ABI
 * SPDX-License-Identifier: MIT
 */
#include "unit.h"

#include <errno.h>

#include "box/landlock_in.h"
#include "box/landlock_log.h"
#include "box/sandbox.h"
#include "base/str.h"

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

static int parse(unsigned type, const char *text, struct landlock_record *r)
{
	return landlock_record_parse(type, text, strlen(text), r);
}

static void what_the_kernel_says(void **state)
{
	struct landlock_record r;

	(void)state;
	assert_int_equal(parse(LANDLOCK_LOG_DENIED,
		"audit(1729738800.268:30): domain=195ba459b "
		"blockers=fs.make_reg,fs.refer path=\"/usr/b in\" "
		"dev=\"vda2\" ino=351", &r), 0);
	assert_true(r.domain == 0x195ba459b);
	assert_string_equal(r.rights, "fs.make_reg,fs.refer");
	assert_string_equal(r.object, "/usr/b in");
	/* what could mislead is in hex */
	assert_int_equal(parse(LANDLOCK_LOG_DENIED,
		"audit(1.2:3): domain=1 blockers=fs.read_file "
		"path=2F746D702F0A22 dev=\"vda2\" ino=351", &r), 0);
	assert_string_equal(r.object, "/tmp/\n\"");
	assert_int_equal(parse(LANDLOCK_LOG_DENIED,
		"audit(1.2:3): domain=1 blockers=net.connect_tcp "
		"daddr=127.0.0.1 dest=80", &r), 0);
	assert_string_equal(r.object, "daddr=127.0.0.1 dest=80");
	assert_int_equal(parse(LANDLOCK_LOG_DENIED,
		"audit(1.2:3): domain=1 blockers=scope.signal", &r), 0);
	assert_string_equal(r.object, "");
	assert_int_equal(parse(LANDLOCK_LOG_DOMAIN,
		"audit(1.2:3): domain=195ba459b status=allocated "
		"mode=enforcing pid=300 uid=0 exe=\"/root/sandboxer\" "
		"comm=\"sandboxer\"", &r), 0);
	assert_int_equal(r.pid, 300);
	assert_int_equal(parse(LANDLOCK_LOG_DOMAIN,
		"audit(1.2:3): domain=195ba459b status=deallocated denials=3",
		&r), 0);
	assert_int_equal(r.pid, 0);
}

static void what_it_does_not_say(void **state)
{
	static const char *const bad[] = {"", "domain=", "domain=x blockers=a",
		"xdomain=1 blockers=a", "domain=1",
		"domain=11112222333344445 blockers=a",
		"domain=1 blockers=a path=0x", "domain=1 blockers=a path=zz"};
	struct landlock_record r;
	char text[4096];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(
			parse(LANDLOCK_LOG_DENIED, bad[i], &r), -EBADMSG);
	/* longer than there is room: its start */
	memset(text, 'a', sizeof(text));
	memcpy(text, "domain=1 blockers=", 18);
	assert_int_equal(landlock_record_parse(
		LANDLOCK_LOG_DENIED, text, sizeof(text), &r), 0);
	assert_int_equal(strlen(r.rights), sizeof(r.rights) - 1);
	memcpy(text, "domain=1 blockers=x path=\"", 26);
	text[sizeof(text) - 1] = '"';
	assert_int_equal(landlock_record_parse(
		LANDLOCK_LOG_DENIED, text, sizeof(text), &r), 0);
	assert_int_equal(strlen(r.object), sizeof(r.object) - 1);
	assert_int_equal(parse(LANDLOCK_LOG_DOMAIN, "domain=1 pid=1x", &r),
		-EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_each_abi_knows),
		cmocka_unit_test(a_right_is_never_more_than_is_handled),
		cmocka_unit_test(files_take_no_rights_of_directories),
		cmocka_unit_test(what_grants_mean),
		cmocka_unit_test(what_the_kernel_says),
		cmocka_unit_test(what_it_does_not_say),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
