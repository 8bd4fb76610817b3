/* test_audit_recover.c - what the writer finds after a crash
 * SPDX-License-Identifier: MIT
 */
#include "audit_unit.h"

#include "log/audit_write_in.h"

#define SEGMENT "0000000000000000.aud"

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

/* What was written last was so in another boot. */
static void in_another_boot(struct test_log *t, unsigned records)
{
	t->log.boot_id[0] ^= 1;
	for (unsigned i = 0; i < records; i++)
		test_event(t, "before", i);
	t->log.boot_id[0] ^= 1;
}

static void shorter_after_another_boot_is_a_loss(void **state)
{
	struct test_log *t = *state;
	autobuf struct buf b = {0};
	struct findings all;

	in_another_boot(t, 6);
	slurp(t, SEGMENT, &b);
	spit(t, SEGMENT, b.data, b.len - 300);
	/* The same before a writer has said so. */
	all = verify(t, WITH_PIN | WITH_SEED);
	assert_string_equal(all.kinds, "L:torn L:power");
	assert_int_equal(all.outcome, AUDIT_DECLARED_LOSS);
	test_event(t, "after", 1);
	for (unsigned i = 0; i < 12; i++)
		test_event(t, "more", i);
	all = verify(t, WITH_PIN | WITH_SEED);
	assert_string_equal(all.kinds, "L:power");
	/* Behind the next checkpoint the seed vouches again. */
	assert_true(all.v.seeded);
}

/* A file may keep its length and lose its contents. */
static void zeros_after_another_boot_are_a_loss(void **state)
{
	struct test_log *t = *state;
	autobuf struct buf b = {0}, after = {0};
	struct audit_head h;
	struct findings all;

	in_another_boot(t, 3);
	get_head(t, &h);
	in_another_boot(t, 1);
	slurp(t, SEGMENT, &b);
	memset(b.data + h.end + 20, 0, b.len - h.end - 20);
	spit(t, SEGMENT, b.data, b.len);
	all = verify(t, WITH_PIN | WITH_SEED);
	assert_string_equal(all.kinds, "L:torn L:power");
	assert_int_equal(all.outcome, AUDIT_DECLARED_LOSS);
	/* The log goes on behind them, not within. */
	test_event(t, "after", 1);
	slurp(t, SEGMENT, &after);
	assert_int_equal(after.len, b.len);
	all = verify(t, WITH_PIN | WITH_SEED);
	assert_string_equal(all.kinds, "L:power");
}

/* Zeros from so far behind the end of the head's records on. */
static void a_hole(struct test_log *t, const struct audit_head *h, size_t behind)
{
	autobuf struct buf b = {0};

	slurp(t, SEGMENT, &b);
	memset(b.data + h->end + behind, 0, 64);
	spit(t, SEGMENT, b.data, b.len);
}

/* And lose some blocks of them, not the last. */
static void a_hole_after_another_boot_is_a_loss(void **state)
{
	struct test_log *t = *state;
	autobuf struct buf b = {0}, after = {0};
	struct audit_head h;
	struct findings all;

	in_another_boot(t, 2);
	get_head(t, &h);
	in_another_boot(t, 3);
	a_hole(t, &h, 20);
	slurp(t, SEGMENT, &b);
	all = verify(t, WITH_PIN | WITH_SEED);
	assert_string_equal(all.kinds, "L:crc L:power");
	test_event(t, "after", 1);
	slurp(t, SEGMENT, &after);
	assert_int_equal(after.len, b.len);
	for (unsigned i = 0; i < 12; i++)
		test_event(t, "more", i);
	all = verify(t, WITH_PIN | WITH_SEED);
	assert_string_equal(all.kinds, "L:crc L:power");
	assert_true(all.v.seeded);
}

static void a_hole_in_the_same_boot_is_tampering(void **state)
{
	struct test_log *t = *state;
	struct audit_head h;

	get_head(t, &h);
	test_event(t, "one", 1);
	test_event(t, "two", 2);
	a_hole(t, &h, 20);
	assert_outcome(verify(t, WITH_PIN | WITH_SEED), AUDIT_TAMPERED);
	test_event(t, "after", 1);
	assert_outcome(verify(t, WITH_PIN | WITH_SEED), AUDIT_TAMPERED);
}

/* What was signed was on the disk. */
static void a_hole_in_what_was_signed_is_tampering(void **state)
{
	struct test_log *t = *state;
	struct audit_head h;

	in_another_boot(t, 1);
	get_head(t, &h);
	in_another_boot(t, 12);
	a_hole(t, &h, 20);
	get_head(t, &h);
	h.synced = h.next;
	put_head(t, &h);
	assert_outcome(verify(t, WITH_PIN), AUDIT_TAMPERED);
	test_event(t, "after", 1);
	assert_outcome(verify(t, WITH_PIN), AUDIT_TAMPERED);
	assert_outcome(verify(t, WITH_SEED), AUDIT_TAMPERED);
}

/* Zeros from within the last record's link on. */
static void a_cut_link(struct test_log *t, size_t zeros)
{
	autobuf struct buf b = {0};

	slurp(t, SEGMENT, &b);
	memset(b.data + b.len - zeros, 0, zeros);
	spit(t, SEGMENT, b.data, b.len);
}

static void a_cut_link_after_another_boot_is_a_loss(void **state)
{
	struct test_log *t = *state;
	struct findings all;

	in_another_boot(t, 3);
	a_cut_link(t, 20);
	all = verify(t, WITH_PIN | WITH_SEED);
	assert_string_equal(all.kinds, "L:torn");
	assert_int_equal(all.outcome, AUDIT_DECLARED_LOSS);
	test_event(t, "after", 1);
	all = verify(t, WITH_PIN | WITH_SEED);
	assert_string_equal(all.kinds, "L:power");
	assert_int_equal(all.outcome, AUDIT_DECLARED_LOSS);
	assert_true(all.v.seeded);
}

static void a_cut_link_in_the_same_boot_is_tampering(void **state)
{
	struct test_log *t = *state;

	a_cut_link(t, 20);
	assert_outcome(verify(t, WITH_PIN), AUDIT_TAMPERED);
	test_event(t, "after", 1);
	assert_outcome(verify(t, WITH_PIN), AUDIT_TAMPERED);
}

/* The machine went down, and there are records behind it. */
static void a_cut_link_in_the_middle_is_tampering(void **state)
{
	struct test_log *t = *state;
	autobuf struct buf b = {0};
	struct audit_head h;

	in_another_boot(t, 1);
	get_head(t, &h);
	in_another_boot(t, 2);
	slurp(t, SEGMENT, &b);
	memset(b.data + h.end - 20, 0, 20);
	spit(t, SEGMENT, b.data, b.len);
	assert_outcome(verify(t, WITH_PIN), AUDIT_TAMPERED);
}

/* The log was brought to the disk, and the head was not. */
static void head_of_before_another_boot(void **state)
{
	struct test_log *t = *state;
	autobuf struct buf old = {0};
	struct findings all;

	in_another_boot(t, 1);
	slurp(t, "head", &old);
	in_another_boot(t, 19);
	spit(t, "head", old.data, old.len);
	all = verify(t, WITH_PIN | WITH_SEED);
	assert_string_equal(all.kinds, "n:adopted");
	/* Whether that is all of it nobody can say, so far. */
	assert_int_equal(all.outcome, AUDIT_UNAUTHENTICATED);
	test_event(t, "after", 1);
	all = verify(t, WITH_PIN | WITH_SEED);
	assert_string_equal(all.kinds, "n:adopted");
	assert_int_equal(all.outcome, AUDIT_INTACT);
}

/* The head says that it is of another boot; the log has records of this one. */
static void a_false_boot_is_tampering(void **state)
{
	struct test_log *t = *state;
	autobuf struct buf b = {0};
	struct audit_head h;

	slurp(t, SEGMENT, &b);
	get_head(t, &h);
	h.boot_id[0] ^= 1;
	put_head(t, &h);
	spit(t, SEGMENT, b.data, b.len - 300);
	assert_outcome(verify(t, WITH_PIN | WITH_SEED), AUDIT_TAMPERED);
	test_event(t, "after", 1);
	assert_outcome(verify(t, WITH_PIN | WITH_SEED), AUDIT_TAMPERED);
}

/* The end of the log is lost, a checkpoint with it, and the head has the next
 * key already: its own, or a forger's. */
static void lose_a_checkpoint(struct test_log *t, bool forged)
{
	autobuf struct buf b = {0};
	struct audit_head h;
	struct diag d = {0};
	uint64_t end;

	in_another_boot(t, 1);
	get_head(t, &h);
	end = h.end;
	in_another_boot(t, 1);
	t->log.boot_id[0] ^= 1;
	assert_int_equal(audit_checkpoint(&t->log, &d), 0);
	t->log.boot_id[0] ^= 1;
	in_another_boot(t, 2);
	slurp(t, SEGMENT, &b);
	spit(t, SEGMENT, b.data, end);
	get_head(t, &h);
	h.sk[5] ^= forged;
	put_head(t, &h);
}

static void a_lost_checkpoint_is_told_by_the_seed(void **state)
{
	struct test_log *t = *state;
	struct findings all;
	struct diag d = {0};

	lose_a_checkpoint(t, false);
	assert_string_equal(verify(t, WITH_PIN).kinds, "L:power");
	test_event(t, "after", 1);
	all = verify(t, WITH_PIN | WITH_SEED);
	assert_string_equal(all.kinds, "L:power");
	assert_int_equal(all.outcome, AUDIT_DECLARED_LOSS);
	for (unsigned i = 0; i < 12; i++)
		test_event(t, "more", i);
	all = verify(t, WITH_SEED);
	assert_string_equal(all.kinds, "L:power");
	assert_true(all.v.seeded);
	/* Who has the fingerprint alone cannot know whose key it is. */
	assert_string_equal(verify(t, WITH_PIN).kinds, "T:key L:power");
	assert_outcome(verify(t, WITH_PIN), AUDIT_TAMPERED);
	/* The same by the spine alone. */
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(audit_vacuum(&t->log, 1, 0, false, &d), 1);
		all = verify(t, WITH_SEED);
		assert_string_equal(all.kinds, i ? "n:pruned" : "L:power n:pruned");
		assert_true(all.v.seeded);
		assert_outcome(verify(t, WITH_PIN), AUDIT_TAMPERED);
		assert_int_equal(audit_rotate(&t->log, &d), 0);
	}
}

static void a_forgers_key_behind_a_loss_is_tampering(void **state)
{
	struct test_log *t = *state;

	lose_a_checkpoint(t, true);
	test_event(t, "after", 1);
	assert_outcome(verify(t, WITH_SEED), AUDIT_TAMPERED);
	for (unsigned i = 0; i < 12; i++)
		test_event(t, "more", i);
	assert_outcome(verify(t, WITH_SEED), AUDIT_TAMPERED);
	assert_false(verify(t, WITH_SEED).v.seeded);
}

/* What a machine lost does not keep a log from being shortened. */
static void a_loss_can_be_deleted(struct test_log *t, bool torn)
{
	autobuf struct buf b = {0};
	struct audit_head h;
	struct findings all;
	struct diag d = {0};
	uint64_t end;

	in_another_boot(t, 2);
	get_head(t, &h);
	end = h.end;
	in_another_boot(t, 3);
	slurp(t, SEGMENT, &b);
	spit(t, SEGMENT, b.data, end + (torn ? 20 : 0));
	test_event(t, "after", 1);
	assert_int_equal(audit_vacuum(&t->log, 1, 0, false, &d), 1);
	all = verify(t, WITH_PIN | WITH_SEED);
	assert_string_equal(all.kinds, "L:power n:pruned");
	for (unsigned i = 0; i < 12; i++)
		test_event(t, "more", i);
	all = verify(t, WITH_PIN | WITH_SEED);
	assert_string_equal(all.kinds, "L:power n:pruned");
	assert_true(all.v.seeded);
	assert_true(all.v.pinned);
}

static void lost_records_can_be_deleted(void **state)
{
	a_loss_can_be_deleted(*state, false);
}

static void a_torn_end_can_be_deleted(void **state)
{
	a_loss_can_be_deleted(*state, true);
}

/* What was on the disk cannot be lost that way. */
static void shorter_than_what_was_synced_is_tampering(void **state)
{
	struct test_log *t = *state;
	autobuf struct buf b = {0};
	struct audit_head h;

	in_another_boot(t, 6);
	slurp(t, SEGMENT, &b);
	get_head(t, &h);
	h.synced = h.next;
	put_head(t, &h);
	spit(t, SEGMENT, b.data, b.len - 300);
	assert_outcome(verify(t, WITH_PIN), AUDIT_TAMPERED);
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

/* Others go on in the live segment, before anyone begins the next one. */
static void orphan_segment_is_left_behind(void **state)
{
	struct test_log *t = *state;
	struct audit_head h;
	char name[AUDIT_NAME];
	struct diag d;

	get_head(t, &h);
	audit_segment_name(name, h.next);
	spit(t, name, "\x83\x44", 2);
	test_event(t, "goes", 1);
	test_event(t, "on", 2);
	assert_outcome(verify(t, WITH_PIN | WITH_SEED), AUDIT_INTACT);
	assert_int_equal(audit_rotate(&t->log, &d), 0);
	assert_outcome(verify(t, WITH_PIN | WITH_SEED), AUDIT_INTACT);
	assert_int_equal(faccessat(t->dir, name, F_OK, 0), -1);
}

#define ON_LOG(f) cmocka_unit_test_setup_teardown(f, test_make, test_unmake)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_LOG(one_ahead_is_taken_over),
		ON_LOG(many_ahead_are_taken_over_and_noted),
		ON_LOG(torn_frame_is_cut_off_and_told),
		ON_LOG(good_frames_behind_a_bad_one_stay_as_they_are),
		ON_LOG(shorter_in_the_same_boot_is_tampering),
		ON_LOG(shorter_after_another_boot_is_a_loss),
		ON_LOG(zeros_after_another_boot_are_a_loss),
		ON_LOG(a_hole_after_another_boot_is_a_loss),
		ON_LOG(a_hole_in_the_same_boot_is_tampering),
		ON_LOG(a_hole_in_what_was_signed_is_tampering),
		ON_LOG(a_cut_link_after_another_boot_is_a_loss),
		ON_LOG(a_cut_link_in_the_same_boot_is_tampering),
		ON_LOG(a_cut_link_in_the_middle_is_tampering),
		ON_LOG(head_of_before_another_boot),
		ON_LOG(a_false_boot_is_tampering),
		ON_LOG(a_lost_checkpoint_is_told_by_the_seed),
		ON_LOG(a_forgers_key_behind_a_loss_is_tampering),
		ON_LOG(lost_records_can_be_deleted),
		ON_LOG(a_torn_end_can_be_deleted),
		ON_LOG(shorter_than_what_was_synced_is_tampering),
		ON_LOG(head_missing_is_loud),
		ON_LOG(head_broken_is_loud),
		ON_LOG(segment_missing_is_loud),
		ON_LOG(orphan_segment_is_used_again),
		ON_LOG(orphan_segment_is_left_behind),
	};

	return cmocka_run_group_tests_name("audit_recover", tests, NULL, NULL);
}
