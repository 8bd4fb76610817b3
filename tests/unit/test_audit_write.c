/* test_audit_write.c - the writer, and what it finds after a crash
 * SPDX-License-Identifier: MIT
 */
#include "audit_unit.h"

#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>

#include "audit_write_core.h"

#define SEGMENT "0000000000000000.aud"

static int make(void **state)
{
	struct test_log *t = malloc(sizeof *t);

	test_begin(t, 8);
	for (unsigned i = 0; i < 20; i++)
		test_event(t, "e", i);
	*state = t;
	return 0;
}

static int unmake(void **state)
{
	struct test_log *t = *state;

	test_end(t);
	free(t);
	return 0;
}

static void get_head(struct test_log *t, struct audit_head *h)
{
	autobuf struct buf b = {0};

	slurp(t, "head", &b);
	assert_int_equal(audit_head_parse(h, (uint8_t *)b.data, crc32c), 0);
}

static void put_head(struct test_log *t, const struct audit_head *h)
{
	uint8_t raw[AUDIT_HEAD];

	audit_head_pack(h, raw, crc32c);
	spit(t, "head", raw, sizeof raw);
}

/* The head as it was one record ago: a kill between the two writes. */
static void log_ahead_by(struct test_log *t, unsigned records)
{
	autobuf struct buf old = {0};

	slurp(t, "head", &old);
	for (unsigned i = 0; i < records; i++)
		test_event(t, "ahead", i);
	spit(t, "head", old.data, old.len);
}

static void one_ahead_is_taken_over(void **state)
{
	struct test_log *t = *state;
	struct findings all;

	log_ahead_by(t, 1);
	assert_outcome(verify(t, WITH_PIN | WITH_SEED), AUDIT_INTACT);
	test_event(t, "after", 1);
	all = verify(t, WITH_PIN | WITH_SEED);
	assert_string_equal(all.kinds, "");
	assert_int_equal(all.outcome, AUDIT_INTACT);
}

/* A checkpoint may be among them: its keys are worked out again. */
static void many_ahead_are_taken_over_and_noted(void **state)
{
	struct test_log *t = *state;
	struct findings all;

	log_ahead_by(t, 19);
	test_event(t, "after", 1);
	all = verify(t, WITH_PIN | WITH_SEED);
	assert_string_equal(all.kinds, "n:adopted");
	assert_int_equal(all.outcome, AUDIT_INTACT);
}

static void torn_frame_is_cut_off_and_told(void **state)
{
	struct test_log *t = *state;
	static const char part[] = "\x83\x44\1\2\3\4\x58\xff half a record";
	struct findings all;
	int fd = openat(t->dir, SEGMENT, O_WRONLY | O_APPEND);

	assert_int_equal(write(fd, part, sizeof part), sizeof part);
	close(fd);
	all = verify(t, WITH_PIN | WITH_SEED);
	assert_string_equal(all.kinds, "L:torn");
	test_event(t, "after", 1);
	all = verify(t, WITH_PIN | WITH_SEED);
	assert_string_equal(all.kinds, "L:torn");
	assert_int_equal(all.outcome, AUDIT_DECLARED_LOSS);
}

static void good_frames_behind_a_bad_one_stay_as_they_are(void **state)
{
	struct test_log *t = *state;
	autobuf struct buf b = {0}, after = {0};
	struct audit_head h;

	get_head(t, &h);
	test_event(t, "one", 1);
	test_event(t, "two", 2);
	slurp(t, SEGMENT, &b);
	b.data[h.end + 20] ^= 1;
	spit(t, SEGMENT, b.data, b.len);
	put_head(t, &h);
	test_event(t, "after", 1);
	slurp(t, SEGMENT, &after);
	assert_int_equal(after.len, b.len);
	assert_memory_equal(after.data, b.data, b.len);
	assert_outcome(verify(t, WITH_PIN), AUDIT_TAMPERED);
}

static void shorter_in_the_same_boot_is_tampering(void **state)
{
	struct test_log *t = *state;
	autobuf struct buf b = {0};

	slurp(t, SEGMENT, &b);
	spit(t, SEGMENT, b.data, b.len - 300);
	test_event(t, "after", 1);
	assert_outcome(verify(t, WITH_PIN), AUDIT_TAMPERED);
}

static void shorter_after_another_boot_is_a_loss(void **state)
{
	struct test_log *t = *state;
	autobuf struct buf b = {0};
	struct audit_head h;
	struct findings all;

	slurp(t, SEGMENT, &b);
	get_head(t, &h);
	h.boot_id[0] ^= 1;
	put_head(t, &h);
	spit(t, SEGMENT, b.data, b.len - 300);
	test_event(t, "after", 1);
	for (unsigned i = 0; i < 12; i++)
		test_event(t, "more", i);
	all = verify(t, WITH_PIN | WITH_SEED);
	assert_string_equal(all.kinds, "L:power");
	/* Behind the next checkpoint the seed vouches again. */
	assert_true(all.v.seeded);
}

/* What was on the disk cannot be lost that way. */
static void shorter_than_what_was_synced_is_tampering(void **state)
{
	struct test_log *t = *state;
	autobuf struct buf b = {0};
	struct audit_head h;

	slurp(t, SEGMENT, &b);
	get_head(t, &h);
	h.boot_id[0] ^= 1;
	h.synced = h.next;
	put_head(t, &h);
	spit(t, SEGMENT, b.data, b.len - 300);
	test_event(t, "after", 1);
	assert_outcome(verify(t, WITH_PIN), AUDIT_TAMPERED);
}

static void head_missing_is_loud(void **state)
{
	struct test_log *t = *state;

	unlinkat(t->dir, "head", 0);
	assert_outcome(verify(t, WITH_PIN), AUDIT_TAMPERED);
	test_event(t, "after", 1);
	assert_outcome(verify(t, WITH_PIN), AUDIT_TAMPERED);
	assert_outcome(verify(t, 0), AUDIT_TAMPERED);
}

static void head_broken_is_loud(void **state)
{
	struct test_log *t = *state;

	spit(t, "head", "rubbish", 7);
	test_event(t, "after", 1);
	assert_outcome(verify(t, WITH_PIN), AUDIT_TAMPERED);
}

static void segment_missing_is_loud(void **state)
{
	struct test_log *t = *state;

	unlinkat(t->dir, SEGMENT, 0);
	test_event(t, "after", 1);
	assert_outcome(verify(t, WITH_PIN), AUDIT_TAMPERED);
}

static void orphan_segment_is_used_again(void **state)
{
	struct test_log *t = *state;
	struct audit_head h;
	char name[AUDIT_NAME];
	struct diag d;

	get_head(t, &h);
	/* The checkpoint of the rotation comes first. */
	audit_segment_name(name, h.next + (h.epoch_first < h.next));
	spit(t, name, "\x83\x44", 2);
	assert_int_equal(audit_rotate(&t->log, &d), 0);
	test_event(t, "after", 1);
	assert_outcome(verify(t, WITH_PIN | WITH_SEED), AUDIT_INTACT);
}

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
	assert_int_equal(audit_expunge(&t->log, 0, NULL, &d), -EPERM);
	assert_int_equal(audit_expunge(&t->log, 999, NULL, &d), -ENOENT);
	assert_int_equal(audit_expunge(&t->log, 23, "oops", &d), 0);
	slurp(t, SEGMENT, &b);
	assert_null(memmem(b.data, b.len, "leaked", 6));
	all = verify(t, WITH_PIN | WITH_SEED);
	assert_string_equal(all.kinds, "");
	assert_int_equal(all.v.purged, 1);
	/* Nor can what is needed be taken out afterwards. */
	assert_int_equal(audit_expunge(&t->log, 23, NULL, &d), -EPERM);
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

/* The whole way of a command. */
static void records_a_command(void **state)
{
	struct test_log *t = *state;
	static const char *const argv[] = {"sh", "-c", "echo hi", "\xff"};
	static const char *const env[] = {"B=2", "AA=3", "A=1", "A=9", "bad",
		NULL};
	const struct audit_start start = {.session = "session-x",
		.argv = argv,
		.argc = 4,
		.cwd = "/w",
		.exe = "/bin/sh",
		.pid = 7,
		.ppid = 6,
		.rule = "allow.echo",
		.env = env};
	const struct audit_end end = {.exit_code = 3, .rollback = "none"};
	struct audit_exec x = AUDIT_EXEC_INIT;
	struct diag d = {0};
	autoreader struct audit_reader r = AUDIT_READER_INIT;
	struct audit_damage damage;
	struct audit_record rec;
	unsigned met = 0;
	int got;

	assert_int_equal(audit_start(&x, &t->log, &start, NULL, &d), 0);
	assert_int_equal(audit_io(&x, AUDIT_OUT, "hi\n", 3, &d), 0);
	assert_true(audit_due(&x) >= 0);
	assert_int_equal(audit_winsize(&x, 80, 24, &d), 0);
	assert_int_equal(audit_signal(&x, SIGINT, &d), 0);
	assert_int_equal(audit_io_hidden(&x, &d), 0);
	assert_int_equal(audit_end(&x, &end, &d), 0);
	audit_exec_release(&x);
	assert_outcome(verify(t, WITH_PIN | WITH_SEED), AUDIT_INTACT);
	assert_int_equal(audit_reader_dir(&r, t->dir, 0, &d), 0);
	while ((got = audit_next(&r, &rec, &damage, &d)) != AUDIT_GOT_END) {
		if (got != AUDIT_GOT_RECORD || rec.exec != x.id)
			continue;
		met |= 1u << rec.type;
		if (rec.type == AUDIT_END) {
			assert_int_equal(audit_int(&rec, AUDIT_K_EXIT, 0), 3);
			assert_non_null(audit_field(&rec, AUDIT_K_TOTALS));
		}
		if (rec.type == AUDIT_START)
			assert_int_equal(
				audit_field(&rec, AUDIT_K_ENV)->item.n, 3);
	}
	assert_int_equal(
		met, 1u << AUDIT_START | 1u << AUDIT_IO | 1u << AUDIT_END);
}

/* Of a long stream the first half and the last are kept, and how much lies
 * between. */
static void keeps_both_ends_of_a_long_output(void **state)
{
	struct test_log *t = *state;
	static const char *const argv[] = {"x"};
	const struct audit_start start = {.argv = argv, .argc = 1};
	const struct audit_end end = {0};
	struct audit_exec x = AUDIT_EXEC_INIT;
	autoreader struct audit_reader r = AUDIT_READER_INIT;
	autobuf struct buf all = BUF_INIT(1 << 20);
	struct audit_damage damage;
	struct audit_record rec;
	struct diag d = {0};
	uint64_t gap = 0;
	char line[16];
	int got;

	t->log.cfg.stream_cap = 100000;
	assert_int_equal(audit_start(&x, &t->log, &start, NULL, &d), 0);
	for (unsigned i = 0; i < 50000; i++) {
		snprintf(line, sizeof line, "%08u\n", i);
		assert_int_equal(audit_io(&x, AUDIT_OUT, line, 9, &d), 0);
	}
	assert_int_equal(audit_end(&x, &end, &d), 0);
	audit_exec_release(&x);
	assert_int_equal(audit_reader_dir(&r, t->dir, 0, &d), 0);
	while ((got = audit_next(&r, &rec, &damage, &d)) != AUDIT_GOT_END) {
		const struct cbor_item *data;

		if (got != AUDIT_GOT_RECORD || rec.type != AUDIT_IO)
			continue;
		data = audit_bytes(&rec, AUDIT_K_DATA);
		gap += audit_uint(&rec, AUDIT_K_GAP, 0);
		buf_add(&all, data->bytes, data->n);
	}
	assert_int_equal(all.len, 100000);
	assert_int_equal(gap, 350000);
	assert_memory_equal(all.data, "00000000\n00000001\n", 18);
	assert_memory_equal(all.data + all.len - 9, "00049999\n", 9);
	assert_outcome(verify(t, WITH_PIN | WITH_SEED), AUDIT_INTACT);
}

static void endless_arguments_are_cut(void **state)
{
	struct test_log *t = *state;
	const char **argv = calloc(3000, sizeof *argv);
	struct audit_start start = {.argv = argv, .argc = 3000};
	char *big = malloc(2000000);
	struct diag d = {0};

	memset(big, 'x', 1999999);
	big[1999999] = '\0';
	for (unsigned i = 0; i < 3000; i++)
		argv[i] = i ? "-x some argument of usual length, or so, and"
			      " then some more of it, to be sure, and more"
			    : big;
	assert_int_equal(audit_deny(&t->log, &start, NULL, &d), 0);
	assert_outcome(verify(t, WITH_PIN | WITH_SEED), AUDIT_INTACT);
	free(big);
	free(argv);
}

#define ON_LOG(f) cmocka_unit_test_setup_teardown(f, make, unmake)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_LOG(one_ahead_is_taken_over),
		ON_LOG(many_ahead_are_taken_over_and_noted),
		ON_LOG(torn_frame_is_cut_off_and_told),
		ON_LOG(good_frames_behind_a_bad_one_stay_as_they_are),
		ON_LOG(shorter_in_the_same_boot_is_tampering),
		ON_LOG(shorter_after_another_boot_is_a_loss),
		ON_LOG(shorter_than_what_was_synced_is_tampering),
		ON_LOG(head_missing_is_loud),
		ON_LOG(head_broken_is_loud),
		ON_LOG(segment_missing_is_loud),
		ON_LOG(orphan_segment_is_used_again),
		ON_LOG(rotates_by_size),
		ON_LOG(clock_that_goes_back_is_noted),
		ON_LOG(vacuum_keeps_the_key_chain),
		ON_LOG(an_interrupted_vacuum_is_explained),
		ON_LOG(old_segments_go_by_themselves),
		ON_LOG(damage_is_not_deleted_by_itself),
		ON_LOG(expunge_empties_one_record),
		ON_LOG(gives_up_on_a_stopped_holder),
		ON_LOG(refuses_what_is_not_private),
		ON_LOG(records_a_command),
		ON_LOG(keeps_both_ends_of_a_long_output),
		ON_LOG(endless_arguments_are_cut),
	};

	return cmocka_run_group_tests_name("audit_write", tests, NULL, NULL);
}
