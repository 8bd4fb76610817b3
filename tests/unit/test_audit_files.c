/* test_audit_files.c - what is shown is what is verified, whatever files there are
 * SPDX-License-Identifier: MIT
 */
#include "audit_unit.h"

#include "base/cbor.h"
#include "base/str.h"
#include "log/audit_write_in.h"
#include "log/keys_in.h"

#define SEGMENT "0000000000000000.aud"

/* What a view would show: how many records, and the last of them. */
struct shown {
	uint64_t records, last;
};

static struct shown show(struct test_log *t)
{
	autoreader struct audit_reader r = AUDIT_READER_INIT;
	struct audit_damage damage;
	struct audit_record rec;
	struct shown s = {0};
	struct diag d = {0};
	int got;

	assert_int_equal(audit_reader_dir(&r, t->dir, 0, &d), 0);
	while ((got = audit_next(&r, &rec, &damage, &d)) != AUDIT_GOT_END) {
		assert_true(got > 0);
		if (got != AUDIT_GOT_RECORD)
			continue;
		s.records++;
		s.last = rec.seq;
	}
	return s;
}

/* Verifies, and holds what is shown against it. */
static struct findings verify_shown(struct test_log *t)
{
	struct findings all = verify(t, WITH_PIN | WITH_SEED);
	struct shown s = show(t);

	assert_int_equal(s.records, all.v.records);
	assert_int_equal(s.last, all.v.last);
	return all;
}

/* A segment that begins at seq, of events that never were, linked well. */
static void forge_segment(struct test_log *t, const char *name, uint64_t seq,
	unsigned events)
{
	struct keys_hw hw = keys_hw_portable();
	autobuf struct buf out = BUF_INIT(1 << 20);
	uint8_t link[32] = {1}, leaf[32];

	for (unsigned i = 0; i < events; i++) {
		char space[128], framed[256];
		struct buf body = BUF_FIXED(space), one = BUF_FIXED(framed);
		struct cbor_map m = cbor_map_open(&body);

		cbor_put_uint(cbor_key(&m, AUDIT_K_TYPE), AUDIT_EVENT);
		cbor_put_uint(cbor_key(&m, AUDIT_K_SEQ), seq + i);
		cbor_put_uint(cbor_key(&m, AUDIT_K_WALL), test_wall);
		cbor_put_text(cbor_key(&m, AUDIT_K_EVENT), "forged", 6);
		cbor_map_close(&m);
		keys_leaf(&hw, body.data, body.len, leaf);
		keys_link(&hw, link, leaf, link);
		audit_frame_open(&one, body.len);
		buf_add(&one, body.data, body.len);
		audit_frame_close(&one, hw.crc(body.data, body.len), link);
		buf_add(&out, one.data, one.len);
	}
	spit(t, name, out.data, out.len);
}

static uint64_t next_of(struct test_log *t)
{
	struct audit_head h;
	struct diag d = {0};

	assert_int_equal(audit_peek(&t->log, &h, &d), 0);
	return h.next;
}

static void nothing_behind_an_empty_segment_is_shown(void **state)
{
	struct test_log *t = *state;
	const uint64_t next = next_of(t);
	char name[AUDIT_NAME];

	audit_segment_name(name, next);
	spit(t, name, "", 0);
	assert_string_equal(verify_shown(t).kinds, "n:orphan");
	/* Far ahead, right behind, and twice. */
	for (unsigned ahead = 1; ahead < 1000000; ahead *= 31) {
		audit_segment_name(name, next + ahead);
		forge_segment(t, name, next, 30);
		assert_non_null(strstr(verify_shown(t).kinds, "T:segment"));
		assert_outcome(verify(t, WITH_PIN | WITH_SEED), AUDIT_TAMPERED);
		unlinkat(t->dir, name, 0);
	}
	/* The place of a lawful one does not make it one. */
	audit_segment_name(name, next);
	forge_segment(t, name, next, 1);
	assert_string_equal(verify_shown(t).kinds, "T:segment");
}

static void a_segment_that_is_no_file_is_named(void **state)
{
	struct test_log *t = *state;
	char name[AUDIT_NAME];

	/* Both where the log would have one and where it would not. */
	for (unsigned i = 0; i < 6; i++) {
		audit_segment_name(name, i % 2 ? 7 : 1000);
		if (i / 2 == 0)
			assert_int_equal(mkdirat(t->dir, name, 0700), 0);
		else if (i / 2 == 1)
			assert_int_equal(mkfifoat(t->dir, name, 0600), 0);
		else
			assert_int_equal(symlinkat(SEGMENT, t->dir, name), 0);
		assert_string_equal(verify_shown(t).kinds, "T:file");
		unlinkat(t->dir, name, i / 2 ? 0 : AT_REMOVEDIR);
	}
	assert_outcome(verify(t, WITH_PIN), AUDIT_INTACT);
}

static void other_spellings_are_named(void **state)
{
	static const char *const names[] = {"5.aud", "000000000000000A.aud",
		"0x00000000000005.aud", "0000000000000005.AUD", ".aud",
		"00000000000000005.aud", " 000000000000005.aud"};
	struct test_log *t = *state;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		forge_segment(t, names[i], 21, 3);
		assert_string_equal(verify_shown(t).kinds, "T:file");
		unlinkat(t->dir, names[i], 0);
	}
	spit(t, "spine.0123abcd.tmp", "", 0);
	spit(t, "expunge.tmp", "", 0);
	assert_string_equal(verify_shown(t).kinds, "n:temporary n:temporary");
	spit(t, "README", "", 0);
	assert_int_equal(verify_shown(t).v.strays, 3);
	assert_outcome(verify(t, WITH_PIN), AUDIT_INTACT);
}

static void an_empty_segment_in_the_midst_is_a_crime(void **state)
{
	struct test_log *t = *state;
	struct diag d = {0};
	char name[AUDIT_NAME];

	assert_int_equal(audit_rotate(&t->log, &d), 0);
	test_event(t, "more", 1);
	assert_outcome(verify(t, WITH_PIN), AUDIT_INTACT);
	for (uint64_t i = 1; i < 4; i++) {
		audit_segment_name(name, 5 * i);
		spit(t, name, "", 0);
		assert_string_equal(verify_shown(t).kinds, "T:segment");
		unlinkat(t->dir, name, 0);
	}
}

static void nothing_behind_damage_is_shown(void **state)
{
	struct test_log *t = *state;
	autobuf struct buf b = {0};
	size_t size;

	slurp(t, SEGMENT, &b);
	size = b.len;
	for (size_t at = 3; at < size; at += 41) {
		b.data[at] ^= 1;
		spit(t, SEGMENT, b.data, size);
		assert_outcome(verify_shown(t), AUDIT_TAMPERED);
		b.data[at] ^= 1;
	}
}

static void a_head_that_knows_less_shows_less(void **state)
{
	struct test_log *t = *state;
	autobuf struct buf old = {0};
	struct diag d = {0};

	slurp(t, "head", &old);
	assert_int_equal(audit_rotate(&t->log, &d), 0);
	test_event(t, "more", 1);
	spit(t, "head", old.data, old.len);
	assert_outcome(verify_shown(t), AUDIT_TAMPERED);
	assert_true(show(t).last < 30);
	/* Without one, all is shown, and all is verified. */
	unlinkat(t->dir, "head", 0);
	assert_outcome(verify_shown(t), AUDIT_TAMPERED);
}

static void what_comes_while_it_is_read(void **state)
{
	struct test_log *t = *state;
	autoreader struct audit_reader r = AUDIT_READER_INIT;
	struct audit_damage damage;
	struct audit_record rec;
	struct diag d = {0};
	const uint64_t next = next_of(t);
	char name[AUDIT_NAME];
	uint64_t last = 0;

	assert_int_equal(audit_reader_dir(&r, t->dir, 0, &d), 0);
	r.patient = true;
	test_event(t, "later", 1);
	audit_segment_name(name, next + 5);
	forge_segment(t, name, next + 5, 3);
	for (unsigned turn = 0; turn < 2; turn++) {
		int got;

		while ((got = audit_next(&r, &rec, &damage, &d)) > 0)
			if (got == AUDIT_GOT_RECORD)
				last = rec.seq;
		assert_int_equal(got, AUDIT_GOT_END);
		assert_int_equal(last, turn ? next : next - 1);
		assert_int_equal(audit_reader_more(&r, &d), AUDIT_MORE);
	}
}

static void an_anchor_outlives_what_was_deleted(void **state)
{
	struct test_log *t = *state;
	struct audit_head h;
	struct diag d = {0};
	struct findings all;
	uint8_t link[32];

	assert_int_equal(audit_checkpoint(&t->log, &d), 0);
	assert_int_equal(audit_peek(&t->log, &h, &d), 0);
	memcpy(link, h.link, sizeof link);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(audit_rotate(&t->log, &d), 0);
		test_event(t, "more", i);
		assert_true(audit_vacuum(&t->log, 1, 0, false, &d) > 0);
		all = verify_with(t, 0, h.next - 1, link);
		assert_string_equal(all.kinds, "n:pruned n:anchor");
		assert_true(all.v.anchored);
		assert_int_equal(all.outcome, AUDIT_INTACT);
	}
	link[0] ^= 1;
	all = verify_with(t, 0, h.next - 1, link);
	assert_int_equal(all.outcome, AUDIT_TAMPERED);
	/* Of a record that was no signature nothing is left to prove it by. */
	all = verify_with(t, WITH_PIN, 3, link);
	assert_int_equal(all.outcome, AUDIT_DECLARED_LOSS);
	/* And what is kept cannot be changed. */
	unlinkat(t->dir, "spine", 0);
	assert_outcome(verify_with(t, 0, h.next - 1, link), AUDIT_TAMPERED);
}

/* A pruned row with the link of an anchor proves nothing by itself: whoever makes
 * up a log writes it as he likes. */
static void a_row_alone_is_no_proof(void **state)
{
	struct test_log *t = *state;
	struct audit_head h;
	struct diag d = {0};
	uint8_t link[32];

	assert_int_equal(audit_peek(&t->log, &h, &d), 0);
	assert_int_equal(audit_rotate(&t->log, &d), 0);
	assert_int_equal(audit_vacuum(&t->log, 1, 0, false, &d), 1);
	assert_int_equal(audit_peek(&t->log, &h, &d), 0);
	memset(link, 7, sizeof link);
	assert_int_equal(
		verify_with(t, 0, h.segment - 2, link).outcome == AUDIT_INTACT,
		0);
}

#define FILES(f) cmocka_unit_test_setup_teardown(f, test_make, test_unmake)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FILES(nothing_behind_an_empty_segment_is_shown),
		FILES(a_segment_that_is_no_file_is_named),
		FILES(other_spellings_are_named),
		FILES(an_empty_segment_in_the_midst_is_a_crime),
		FILES(nothing_behind_damage_is_shown),
		FILES(a_head_that_knows_less_shows_less),
		FILES(what_comes_while_it_is_read),
		FILES(an_anchor_outlives_what_was_deleted),
		FILES(a_row_alone_is_no_proof),
	};

	return cmocka_run_group_tests_name("audit_files", tests, NULL, NULL);
}
