/* test_audit_write.c - the writer: its segments, its lock, its keys
 * SPDX-License-Identifier: MIT
 */
#include "audit_unit.h"

#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "log/audit_write_in.h"

#define SEGMENT "0000000000000000.aud"

static void rotates_by_size(void **state)
{
	struct test_log *t = *state;
	autofree uint64_t *firsts = NULL;
	struct diag d;

	t->log.cfg.segment_bytes = 2000;
	for (unsigned i = 0; i < 100; i++)
		test_event(t, "e", i);
	assert_true(audit_segments(t->dir, &firsts, &d) > 5);
	assert_outcome(verify(t, WITH_PIN | WITH_SEED), AUDIT_INTACT);
}

static void clock_that_goes_back_is_noted(void **state)
{
	struct test_log *t = *state;
	struct findings all;

	test_wall -= UINT64_C(1000000000);
	test_event(t, "past", 1);
	all = verify(t, WITH_PIN | WITH_SEED);
	assert_string_equal(all.kinds, "n:clock");
	test_wall += UINT64_C(2000000000);
}

static void vacuum_keeps_the_key_chain(void **state)
{
	struct test_log *t = *state;
	struct diag d;

	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < 30; i++)
			test_event(t, "e", i);
		assert_int_equal(audit_rotate(&t->log, &d), 0);
		test_event(t, "e", 1);
		assert_int_equal(audit_vacuum(&t->log, 1, 0, true, &d), 1);
		assert_int_equal(audit_vacuum(&t->log, 1, 0, false, &d), 1);
		assert_outcome(verify(t, WITH_PIN | WITH_SEED), AUDIT_INTACT);
	}
	assert_int_equal(unlinkat(t->dir, "spine", 0), 0);
	assert_outcome(verify(t, WITH_PIN), AUDIT_TAMPERED);
}

/* Killed after one of two was deleted: what is left is explained. */
static void an_interrupted_vacuum_is_explained(void **state)
{
	struct test_log *t = *state;
	autobuf struct buf b = {0};
	struct diag d;

	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 0; i < 30; i++)
			test_event(t, "e", i);
		assert_int_equal(audit_rotate(&t->log, &d), 0);
	}
	{
		autofree uint64_t *firsts = NULL;
		char name[AUDIT_NAME];

		assert_int_equal(audit_segments(t->dir, &firsts, &d), 3);
		audit_segment_name(name, firsts[1]);
		slurp(t, name, &b);
		assert_int_equal(audit_vacuum(&t->log, 1, 0, false, &d), 2);
		assert_outcome(verify(t, WITH_PIN | WITH_SEED), AUDIT_INTACT);
		spit(t, name, b.data, b.len);
	}
	assert_outcome(verify(t, WITH_PIN | WITH_SEED), AUDIT_INTACT);
}

static void old_segments_go_by_themselves(void **state)
{
	struct test_log *t = *state;
	autofree uint64_t *firsts = NULL;
	struct diag d;
	int n;

	t->log.cfg.segment_bytes = 2000;
	t->log.cfg.keep_bytes = 8000;
	for (unsigned i = 0; i < 300; i++)
		test_event(t, "e", i);
	n = audit_segments(t->dir, &firsts, &d);
	assert_in_range(n, 2, 5);
	assert_true(firsts[0] > 0);
	assert_int_equal(faccessat(t->dir, "spine", F_OK, 0), 0);
	assert_outcome(verify(t, WITH_PIN | WITH_SEED), AUDIT_INTACT);
}

/* Damage stays where it is, the log goes on and says so. */
static void damage_is_not_deleted_by_itself(void **state)
{
	struct test_log *t = *state;
	autofree uint64_t *firsts = NULL;
	autobuf struct buf b = {0}, live = {0};
	char name[AUDIT_NAME];
	struct diag d;
	int n;

	assert_int_equal(audit_rotate(&t->log, &d), 0);
	slurp(t, SEGMENT, &b);
	b.data[100] ^= 1;
	spit(t, SEGMENT, b.data, b.len);
	t->log.cfg.segment_bytes = 2000;
	t->log.cfg.keep_bytes = 3000;
	for (unsigned i = 0; i < 40; i++)
		test_event(t, "e", i);
	n = audit_segments(t->dir, &firsts, &d);
	assert_true(n > 2 && firsts[0] == 0);
	audit_segment_name(name, firsts[n - 1]);
	slurp(t, name, &live);
	assert_non_null(
		memmem(live.data, live.len, "retention.failed", 16));
	assert_outcome(verify(t, WITH_PIN), AUDIT_TAMPERED);
}

static void expunge_empties_one_record(void **state)
{
	struct test_log *t = *state;
	autobuf struct buf b = {0};
	struct findings all;
	struct diag d;

	test_event(t, "leaked", 7);
	assert_int_equal(audit_expunge(&t->log, 0, NULL, false, &d), -EPERM);
	assert_int_equal(audit_expunge(&t->log, 999, NULL, false, &d), -ENOENT);
	assert_int_equal(audit_expunge(&t->log, 23, "oops", false, &d), 0);
	slurp(t, SEGMENT, &b);
	assert_null(memmem(b.data, b.len, "leaked", 6));
	all = verify(t, WITH_PIN | WITH_SEED);
	assert_string_equal(all.kinds, "");
	assert_int_equal(all.v.purged, 1);
	/* Nor can what is needed be taken out afterwards. */
	assert_int_equal(audit_expunge(&t->log, 23, NULL, false, &d), -EPERM);
}

/* A stopped holder: wait, then say so, and never write without the lock. */
static void gives_up_on_a_stopped_holder(void **state)
{
	struct test_log *t = *state;
	int fd = openat(t->dir, "head", O_RDWR);
	struct audit_fact f = {.key = "n"};
	struct diag d = {0};

	t->log.cfg.lock_wait = 20000000;
	t->log.cfg.now = NULL;
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_int_equal(audit_event(&t->log, "s", 0, "e", &f, 1, &d),
		-ETIMEDOUT);
	close(fd);
	t->log.cfg.now = test_now;
	test_event(t, "after", 1);
	assert_outcome(verify(t, WITH_PIN | WITH_SEED), AUDIT_INTACT);
}

/* Whoever comes last in a crowd waits longer than for one that was stopped: as long
 * as others write, the log is not given up. */
static void waits_for_a_crowd(void **state)
{
	struct test_log *t = *state;
	int fd = openat(t->dir, "head", O_RDWR), ready[2], status;
	struct audit_fact f = {.key = "n"};
	struct diag d = {0};
	char byte = 0;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		const struct timespec nap = {.tv_nsec = 8000000};

		flock(fd, LOCK_EX);
		(void)!write(ready[1], &byte, 1);
		/* Five times as long as is waited for one. */
		for (int i = 0; i < 50; i++) {
			futimens(fd, NULL);
			nanosleep(&nap, NULL);
		}
		_exit(0);
	}
	close(fd);
	t->log.cfg.lock_wait = 80000000;
	t->log.cfg.now = NULL;
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(audit_event(&t->log, "s", 0, "e", &f, 1, &d), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	close(ready[0]);
	close(ready[1]);
	t->log.cfg.now = test_now;
}

static void refuses_what_is_not_private(void **state)
{
	struct test_log *t = *state;
	struct audit_log other = AUDIT_LOG_INIT;
	struct diag d = {0};

	assert_int_equal(fchmod(t->dir, 0755), 0);
	assert_int_equal(audit_open(&other, t->dir, geteuid(), NULL, &d),
		-EPERM);
	assert_int_equal(fchmod(t->dir, 0700), 0);
	assert_int_equal(audit_open(&other, t->dir, geteuid() + 1, NULL, &d),
		-EPERM);
	assert_int_equal(fchmodat(t->dir, "head", 0644, 0), 0);
	assert_int_equal(audit_open(&other, t->dir, geteuid(), NULL, &d),
		-EPERM);
	assert_int_equal(unlinkat(t->dir, "head", 0), 0);
	assert_int_equal(symlinkat("/etc/passwd", t->dir, "head"), 0);
	assert_true(audit_open(&other, t->dir, geteuid(), NULL, &d) < 0);
	assert_int_equal(unlinkat(t->dir, "head", 0), 0);
	assert_int_equal(linkat(t->dir, SEGMENT, t->dir, "head", 0), 0);
	assert_int_equal(audit_open(&other, t->dir, geteuid(), NULL, &d),
		-EPERM);
	assert_int_equal(other.headfd, -1);
}

/* Kilobytes that the kernel may not write to a swap area. */
static unsigned long locked_memory(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	unsigned long n = 0;

	assert_non_null(f);
	while (fgets(line, sizeof line, f))
		if (sscanf(line, "VmLck: %lu", &n) == 1)
			break;
	fclose(f);
	return n;
}

/* The whole way of a command. */
static int looks, dumpable_inside;

static void look_now(uint64_t *wall, uint64_t *boot)
{
	looks++;
	dumpable_inside |= prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
	test_now(wall, boot);
}

/* While the lock is held there are keys in memory. */
static void keys_are_nobody_elses(void **state)
{
	struct test_log *t = *state;
	struct rlimit room;

	struct diag d;

	audit_close(&t->log);
	t->cfg.swaps = true;
	assert_int_equal(audit_open(&t->log, t->dir, geteuid(), &t->cfg, &d), 0);
	assert_int_equal(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0), 1);
	t->log.cfg.now = look_now;
	test_event(t, "looked at", 1);
	assert_true(looks > 0);
	assert_int_equal(dumpable_inside, 0);
	/* What it starts is as it would be without us. */
	assert_int_equal(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0), 1);
	/* Many records in a row, and then no more of them. */
	for (unsigned i = 0; i < 100; i++)
		test_event(t, "looked at", i);
	assert_int_equal(dumpable_inside, 0);
	assert_int_equal(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0), 0);
	audit_close(&t->log);
	assert_int_equal(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0), 1);
	assert_int_equal(getrlimit(RLIMIT_MEMLOCK, &room), 0);
	if (room.rlim_cur >= 65536)
		assert_true(locked_memory() >= 48);
}

#define ON_LOG(f) cmocka_unit_test_setup_teardown(f, test_make, test_unmake)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_LOG(rotates_by_size),
		ON_LOG(clock_that_goes_back_is_noted),
		ON_LOG(vacuum_keeps_the_key_chain),
		ON_LOG(an_interrupted_vacuum_is_explained),
		ON_LOG(old_segments_go_by_themselves),
		ON_LOG(damage_is_not_deleted_by_itself),
		ON_LOG(expunge_empties_one_record),
		ON_LOG(gives_up_on_a_stopped_holder),
		ON_LOG(waits_for_a_crowd),
		ON_LOG(refuses_what_is_not_private),
		ON_LOG(keys_are_nobody_elses),
	};

	return cmocka_run_group_tests_name("audit_write", tests, NULL, NULL);
}
