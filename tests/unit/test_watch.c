/* test_watch.c - which files a call is about, as its own process asks
 * SPDX-License-Identifier: MIT
 */
#include "unit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "watch/watch_in.h"
#include "box/sandbox.h"

static struct watch watch = WATCH_INIT;
static char room[WATCH_ROOM];

static int ask(long nr, const void *first, const void *second,
	struct watch_access *a)
{
	const struct sc_notif n = {.pid = (uint32_t)getpid(),
		.data = {.nr = (int)nr,
			.args = {(uint32_t)AT_FDCWD, (uintptr_t)first,
				(uintptr_t)second}}};

	return watch_files(&watch.root, watch_call(n.data.nr), &n, room, a);
}

/* The socket's address is the second argument, its length the third. */
static void a_name_that_fills_its_address(void **state)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	const void *len = (const void *)sizeof(addr);
	struct watch_access a[2];
	struct stat st;

	(void)state;
	memset(addr.sun_path, 'x', sizeof(addr.sun_path));
	memcpy(addr.sun_path, "/tmp/", 5);
	assert_int_equal(stat("/tmp", &st), 0);
	assert_int_equal(ask(__NR_connect, &addr, len, a), 0);
	assert_int_equal(ask(__NR_bind, &addr, len, a), 1);
	assert_string_equal(a[0].path, "/tmp");
	assert_int_equal(a[0].wants, SANDBOX_WRITE);
	/* in no directory, or not on a file at all */
	memset(addr.sun_path, '/', sizeof(addr.sun_path));
	assert_int_equal(ask(__NR_bind, &addr, len, a), 0);
	addr.sun_path[0] = '\0';
	assert_int_equal(ask(__NR_bind, &addr, len, a), 0);
}

static void what_fails_by_itself_asks_for_nothing(void **state)
{
	char dir[] = "/tmp/watch-XXXXXX", made[64], missing[64];
	struct watch_access a[2];

	(void)state;
	assert_non_null(mkdtemp(dir));
	strcat(strcpy(made, dir), "/made");
	strcat(strcpy(missing, dir), "/missing");
	assert_int_equal(mkdir(made, 0700), 0);
	assert_int_equal(ask(__NR_mkdirat, made, 0, a), 0);
	assert_int_equal(ask(__NR_mkdirat, "/", 0, a), 0);
	assert_int_equal(ask(__NR_mkdirat, missing, 0, a), 1);
	assert_string_equal(a[0].path, dir);
	assert_int_equal(ask(__NR_unlinkat, missing, 0, a), 0);
	assert_int_equal(ask(__NR_unlinkat, made, 0, a), 1);
	assert_string_equal(a[0].path, dir);
	assert_int_equal(ask(__NR_openat, made,
				 (const void *)(O_CREAT | O_EXCL), a), 0);
	assert_int_equal(ask(__NR_openat, missing,
				 (const void *)(O_CREAT | O_EXCL), a), 1);
	assert_int_equal(rmdir(made), 0);
	assert_int_equal(rmdir(dir), 0);
	watch_release(&watch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_that_fills_its_address),
		cmocka_unit_test(what_fails_by_itself_asks_for_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
