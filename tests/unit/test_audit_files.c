/* test_audit_files.c - what is shown is what is verified, whatever files there are
 * SPDX-License-Identifier: MIT
 */
#include "audit_unit.h"

#include "base/cbor.h"
#include "base/str.h"
#include "log/audit_write_in.h"
#include "log/keys_in.h"

#define SEGMENT "0000000000000000.aud"

/* What a view would show: how many records, the last of them, and a hash of all
 * their bytes. */
struct shown {
	uint64_t records, last;
	uint8_t sum[32];
};

static struct shown show(struct test_log *t)
{
	autoreader struct audit_reader r = AUDIT_READER_INIT;
	struct audit_damage damage;
	struct audit_record rec;
	struct keys_hw hw = keys_hw_portable();
	struct shown s = {0};
	struct diag d = {0};
	uint8_t leaf[32];
	int got;

	assert_int_equal(audit_reader_dir(&r, t->dir, 0, &d), 0);
	while ((got = audit_next(&r, &rec, &damage, &d)) != AUDIT_GOT_END) {
		assert_true(got > 0);
		if (got != AUDIT_GOT_RECORD)
			continue;
		s.records++;
		s.last = rec.seq;
		keys_leaf(&hw, rec.frame.body, rec.frame.body_len, leaf);
		keys_link(&hw, s.sum, leaf, s.sum);
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

static uint32_t dice_state = 7;

static unsigned dice(size_t n)
{
	dice_state = dice_state * 1664525u + 1013904223u;
	return (dice_state >> 8) % (unsigned)n;
}

/* One file of the log, by chance; at times of a name that is not there. */
static const char *some_file(char name[static AUDIT_NAME],
	const uint64_t *firsts, int n)
{
	const unsigned which = dice((size_t)n + 4);

	if (which == 0)
		return "head";
	if (which == 1)
		return "spine";
	audit_segment_name(name,
		which < 4 ? dice(200) : firsts[which - 4]);
	return name;
}

/* A hand that writes what it likes where it likes, of this log and of another. */
static void one_crime(struct test_log *t, struct test_log *other,
	const uint64_t *firsts, int n)
{
	char a[AUDIT_NAME], b[AUDIT_NAME];
	const char *from = some_file(a, firsts, n), *to = some_file(b, firsts, n);
	autobuf struct buf bytes = BUF_INIT(1 << 20), more = BUF_INIT(1 << 20);
	struct test_log *source = dice(3) ? t : other;

	if (file_read(source->dir, from, &bytes) || !bytes.len)
		return;
	(void)!file_read(t->dir, to, &more);
	switch (dice(7)) {
	case 0: /* one in the other's place */
		spit(t, to, bytes.data, bytes.len);
		break;
	case 1: /* behind the other */
		buf_add(&more, bytes.data, bytes.len);
		spit(t, to, more.data, more.len);
		break;
	case 2:
		spit(t, from, bytes.data, dice(bytes.len));
		break;
	case 3:
		bytes.data[dice(bytes.len)] ^= (char)(1 << dice(8));
		spit(t, from, bytes.data, bytes.len);
		break;
	case 4:
		unlinkat(t->dir, from, 0);
		break;
	case 5: /* exchanged */
		renameat(t->dir, from, t->dir, to);
		spit(t, from, more.data, more.len);
		break;
	default: /* a piece of it elsewhere */
		if (more.len) {
			const size_t at = dice(bytes.len);
			const size_t len = dice(bytes.len - at) + 1;

			more.len = dice(more.len);
			buf_add(&more, bytes.data + at, len);
			spit(t, to, more.data, more.len);
		}
	}
}

/* The log as it was. */
struct kept {
	char name[16][AUDIT_NAME];
	struct buf bytes[16];
	int n;
};

static void keep(struct test_log *t, struct kept *k, const uint64_t *firsts, int n)
{
	k->n = 0;
	for (int i = -2; i < n; i++) {
		if (i >= 0)
			audit_segment_name(k->name[k->n], firsts[i]);
		else
			strcpy(k->name[k->n], i == -1 ? "head" : "spine");
		slurp(t, k->name[k->n], &k->bytes[k->n]);
		k->n++;
	}
}

static void put_back(struct test_log *t, const struct kept *k)
{
	char command[128];

	snprintf(command, sizeof command, "rm -rf '%s'/*", t->path);
	assert_int_equal(system(command), 0);
	for (int i = 0; i < k->n; i++)
		spit(t, k->name[i], k->bytes[i].data, k->bytes[i].len);
}

/* Whatever is done to the files: what is shown is what was verified, and when it
 * is not what was written, the verdict is not "intact". */
static void crimes_by_chance(void **state)
{
	struct test_log *t = *state, other;
	autofree uint64_t *firsts = NULL;
	struct diag d = {0};
	struct kept kept;
	struct shown was, now;
	unsigned noticed = 0;
	int n;

	test_begin(&other, 8);
	for (unsigned s = 0; s < 5; s++) {
		test_event(&other, "other", s);
		for (unsigned i = 0; i < 11; i++)
			test_event(t, "more", i);
		assert_int_equal(audit_rotate(&t->log, &d), 0);
		if (s == 1)
			assert_true(audit_vacuum(&t->log, 1, 0, false, &d) > 0);
	}
	test_event(t, "last", 1);
	n = audit_segments(t->dir, &firsts, &d);
	assert_in_range(n, 3, 12);
	keep(t, &kept, firsts, n);
	was = show(t);
	assert_outcome(verify_shown(t), AUDIT_INTACT);
	for (unsigned i = 0; i < 800; i++) {
		struct findings all;

		for (unsigned crimes = 1 + dice(3); crimes--;)
			one_crime(t, &other, firsts, n);
		all = verify_shown(t);
		now = show(t);
		if (memcmp(&was, &now, sizeof was) != 0) {
			noticed++;
			if (all.outcome == AUDIT_INTACT)
				print_message("turn %u: %s\n", i, all.kinds);
			assert_int_not_equal(all.outcome, AUDIT_INTACT);
		}
		put_back(t, &kept);
	}
	assert_true(noticed > 300);
	assert_outcome(verify_shown(t), AUDIT_INTACT);
	for (int i = 0; i < kept.n; i++)
		buf_release(&kept.bytes[i]);
	test_end(&other);
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
		FILES(crimes_by_chance),
	};

	return cmocka_run_group_tests_name("audit_files", tests, NULL, NULL);
}
