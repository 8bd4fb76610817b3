/* test_audit_attack.c - what a thief does to a log, and who notices
 * SPDX-License-Identifier: MIT
 *
 * Every row of the table of attacks: with the public key alone, and with the
 * seed. An attack that nothing local can notice must not be noticed either,
 * else the test does not do what it says.
 */
#include "audit_unit.h"

#include "log/audit_write_in.h"
#include "base/cbor.h"
#include "log/keys_in.h"

#define SEGMENT "0000000000000000.aud"

/* A log of frames, taken apart. */
struct frames {
	struct buf bytes;
	size_t at[64], len[64];
	unsigned n;
};

static void load(struct test_log *t, struct frames *f)
{
	size_t at = 0;

	slurp(t, SEGMENT, &f->bytes);
	f->n = 0;
	while (at < f->bytes.len) {
		struct audit_frame one;

		assert_int_equal(audit_frame_parse(&one,
					 (uint8_t *)f->bytes.data + at,
					 f->bytes.len - at),
			0);
		assert_true(f->n < 64);
		f->at[f->n] = at;
		f->len[f->n++] = one.len;
		at += one.len;
	}
}

static struct audit_frame frame(const struct frames *f, unsigned i)
{
	struct audit_frame one;

	assert_true(i < f->n);
	assert_int_equal(audit_frame_parse(&one,
				 (uint8_t *)f->bytes.data + f->at[i],
				 f->len[i]),
		0);
	return one;
}

/* Adds a body with the checksum and link it must have behind link. */
static void add_linked(
	struct buf *out, const uint8_t *body, size_t n, uint8_t link[32])
{
	struct keys_hw hw = keys_hw_portable();
	autobuf struct buf one = BUF_INIT(1 << 16);
	uint8_t leaf[32];

	keys_leaf(&hw, body, n, leaf);
	keys_link(&hw, link, leaf, link);
	audit_frame_open(&one, n);
	buf_add(&one, body, n);
	audit_frame_close(&one, hw.crc(body, n), link);
	buf_add(out, one.data, one.len);
}

static void read_head(struct test_log *t, struct audit_head *h)
{
	autobuf struct buf b = {0};

	slurp(t, "head", &b);
	assert_int_equal(b.len, AUDIT_HEAD);
	assert_int_equal(
		audit_head_parse(h, (uint8_t *)b.data, crc32c), 0);
}

static void write_head(struct test_log *t, const struct audit_head *h)
{
	uint8_t raw[AUDIT_HEAD];

	audit_head_pack(h, raw, crc32c);
	spit(t, "head", raw, sizeof raw);
}

/* Changes the number in an event's body, keeping its length. */
static void falsify(uint8_t *body, size_t n)
{
	for (size_t i = n; i-- > 1;)
		if (body[i - 1] == 'n' && body[i] < 0x18) {
			body[i] ^= 1;
			return;
		}
	fail_msg("no number to change");
}

/* Record k changed, all behind it linked anew, the head's link put right: what
 * someone can do who writes the files and knows no key of the past. */
static void edit_and_relink(struct test_log *t, unsigned k)
{
	struct frames f;
	autobuf struct buf out = BUF_INIT(1 << 20);
	uint8_t link[32];
	struct audit_head h;

	load(t, &f);
	buf_add(&out, f.bytes.data, f.at[k]);
	memcpy(link, frame(&f, k - 1).link, 32);
	for (unsigned i = k; i < f.n; i++) {
		struct audit_frame one = frame(&f, i);
		uint8_t body[4096];

		memcpy(body, one.body, one.body_len);
		if (i == k)
			falsify(body, one.body_len);
		add_linked(&out, body, one.body_len, link);
	}
	spit(t, SEGMENT, out.data, out.len);
	read_head(t, &h);
	memcpy(h.link, link, 32);
	write_head(t, &h);
	buf_release(&f.bytes);
}

/* 21 events, a checkpoint every eight records, some in the open epoch. */
static int make(void **state)
{
	struct test_log *t = malloc(sizeof *t);

	test_begin(t, 8);
	for (unsigned i = 0; i < 21; i++)
		test_event(t, "e", i % 20);
	*state = t;
	return 0;
}

static uint64_t open_epoch(struct test_log *t)
{
	struct audit_head h;

	read_head(t, &h);
	assert_true(h.next > h.epoch_first + 2);
	return h.epoch_first;
}

static void nothing(void **state)
{
	struct test_log *t = *state;

	assert_outcome(verify(t, 0), AUDIT_UNAUTHENTICATED);
	assert_outcome(verify(t, WITH_PIN), AUDIT_INTACT);
	assert_outcome(verify(t, WITH_SEED), AUDIT_INTACT);
	assert_outcome(verify(t, WITH_PIN | WITH_SEED), AUDIT_INTACT);
}

/* By the chain alone: signatures would only be one more line of defence. */
static void every_single_byte_of_200_records(void **state)
{
	struct test_log *t = *state;
	const struct audit_trust trust = {.links_only = true};
	autobuf struct buf b = {0};
	int fd = openat(t->dir, SEGMENT, O_RDWR);

	for (unsigned i = 0; i < 152; i++)
		test_event(t, "e", i % 20);
	slurp(t, SEGMENT, &b);
	for (size_t i = 0; i < b.len; i++) {
		char changed = b.data[i] ^ (char)(1 << i % 8);
		struct findings all = {0};
		struct diag d;

		assert_int_equal(pwrite(fd, &changed, 1, (off_t)i), 1);
		assert_int_equal(audit_verify_dir(t->dir, &trust, note_finding,
					 &all, &all.v, &d),
			0);
		if (audit_outcome(&all.v) == AUDIT_UNAUTHENTICATED)
			fail_msg("a change of byte %zu was not seen", i);
		assert_int_equal(pwrite(fd, b.data + i, 1, (off_t)i), 1);
	}
	close(fd);
	assert_outcome(verify(t, WITH_PIN), AUDIT_INTACT);
}

static void edit_of_a_closed_epoch(void **state)
{
	struct test_log *t = *state;

	edit_and_relink(t, 5);
	assert_outcome(verify(t, WITH_PIN), AUDIT_TAMPERED);
	assert_outcome(verify(t, WITH_PIN | WITH_SEED), AUDIT_TAMPERED);
}

static void edit_of_the_open_epoch(void **state)
{
	struct test_log *t = *state;

	edit_and_relink(t, (unsigned)open_epoch(t) + 1);
	assert_outcome(verify(t, WITH_PIN), AUDIT_INTACT);
	assert_outcome(verify(t, WITH_PIN | WITH_SEED), AUDIT_TAMPERED);
}

static void edit_that_is_signed_later(void **state)
{
	struct test_log *t = *state;

	edit_and_relink(t, (unsigned)open_epoch(t) + 1);
	for (unsigned i = 0; i < 20; i++)
		test_event(t, "later", i % 20);
	assert_outcome(verify(t, WITH_PIN), AUDIT_INTACT);
	assert_outcome(verify(t, WITH_PIN | WITH_SEED), AUDIT_TAMPERED);
}

static void record_deleted(void **state)
{
	struct test_log *t = *state;
	struct frames f;
	autobuf struct buf out = BUF_INIT(1 << 20);

	load(t, &f);
	buf_add(&out, f.bytes.data, f.at[5]);
	buf_add(&out, f.bytes.data + f.at[6], f.bytes.len - f.at[6]);
	spit(t, SEGMENT, out.data, out.len);
	assert_outcome(verify(t, WITH_PIN), AUDIT_TAMPERED);
	assert_outcome(verify(t, WITH_PIN | WITH_SEED), AUDIT_TAMPERED);
	buf_release(&f.bytes);
}

static void records_swapped(void **state)
{
	struct test_log *t = *state;
	struct frames f;
	autobuf struct buf out = BUF_INIT(1 << 20);

	load(t, &f);
	buf_add(&out, f.bytes.data, f.at[5]);
	buf_add(&out, f.bytes.data + f.at[6], f.len[6]);
	buf_add(&out, f.bytes.data + f.at[5], f.len[5]);
	buf_add(&out, f.bytes.data + f.at[7], f.bytes.len - f.at[7]);
	spit(t, SEGMENT, out.data, out.len);
	assert_outcome(verify(t, WITH_PIN), AUDIT_TAMPERED);
	buf_release(&f.bytes);
}

static void tail_cut_off(void **state)
{
	struct test_log *t = *state;
	struct frames f;

	load(t, &f);
	spit(t, SEGMENT, f.bytes.data, f.at[f.n - 2]);
	assert_outcome(verify(t, WITH_PIN), AUDIT_TAMPERED);
	/* And still when a writer has gone on. */
	test_event(t, "after", 1);
	assert_outcome(verify(t, WITH_PIN), AUDIT_TAMPERED);
	assert_outcome(verify(t, WITH_PIN | WITH_SEED), AUDIT_TAMPERED);
	buf_release(&f.bytes);
}

/* To the last checkpoint, with a head that says so. */
static void cut_to_a_checkpoint(struct test_log *t, bool forge)
{
	struct frames f;
	struct audit_head h;
	unsigned c = (unsigned)open_epoch(t);

	load(t, &f);
	spit(t, SEGMENT, f.bytes.data, f.at[c]);
	read_head(t, &h);
	h.next = c;
	h.end = f.at[c];
	memcpy(h.link, frame(&f, c - 1).link, 32);
	if (forge)
		write_head(t, &h);
	else
		assert_int_equal(unlinkat(t->dir, "head", 0), 0);
	buf_release(&f.bytes);
}

static void truncated_with_a_forged_head(void **state)
{
	struct test_log *t = *state;

	cut_to_a_checkpoint(t, true);
	assert_outcome(verify(t, WITH_PIN), AUDIT_INTACT);
	assert_outcome(verify(t, WITH_PIN | WITH_SEED), AUDIT_TAMPERED);
}

static void truncated_and_head_deleted(void **state)
{
	struct test_log *t = *state;

	cut_to_a_checkpoint(t, false);
	assert_outcome(verify(t, WITH_PIN), AUDIT_TAMPERED);
	assert_outcome(verify(t, WITH_PIN | WITH_SEED), AUDIT_TAMPERED);
	/* A writer begins anew, and the break stays to be seen. */
	test_event(t, "after", 1);
	assert_outcome(verify(t, WITH_PIN), AUDIT_TAMPERED);
	assert_outcome(verify(t, 0), AUDIT_TAMPERED);
}

static void whole_log_replaced(void **state)
{
	struct test_log *t = *state;
	struct test_log other;

	test_begin(&other, 8);
	for (unsigned i = 0; i < 21; i++)
		test_event(&other, "x", 0);
	memcpy(other.pin, t->pin, sizeof other.pin);
	assert_outcome(verify(&other, WITH_PIN), AUDIT_TAMPERED);
	assert_outcome(verify(&other, 0), AUDIT_UNAUTHENTICATED);
	test_end(&other);
}

static void rolled_back_to_an_old_copy(void **state)
{
	struct test_log *t = *state;
	autobuf struct buf old = {0}, old_head = {0};
	struct audit_head h;

	slurp(t, SEGMENT, &old);
	slurp(t, "head", &old_head);
	for (unsigned i = 0; i < 20; i++)
		test_event(t, "more", 2);
	read_head(t, &h);
	assert_outcome(verify_with(t, WITH_PIN, h.next - 1, h.link),
		AUDIT_INTACT);
	spit(t, SEGMENT, old.data, old.len);
	spit(t, "head", old_head.data, old_head.len);
	assert_outcome(verify(t, WITH_PIN | WITH_SEED), AUDIT_INTACT);
	assert_outcome(verify_with(t, WITH_PIN, h.next - 1, h.link),
		AUDIT_TAMPERED);
}

static void anchor_of_another_record(void **state)
{
	struct test_log *t = *state;
	uint8_t link[32] = {1};

	assert_outcome(verify_with(t, WITH_PIN, 7, link), AUDIT_TAMPERED);
}

/* A head whose checksum fits and whose keys do not: nothing that is signed
 * from then on would be this log's. */
static void keys_of_the_head_replaced(void **state)
{
	struct test_log *t = *state;
	struct audit_head h, forged;

	read_head(t, &h);
	for (unsigned i = 0; i < 5; i++) {
		forged = h;
		forged.sk[9] ^= i == 0;
		forged.log_id[0] ^= i == 1;
		forged.epoch += i == 2;
		forged.epoch_first -= i == 3;
		forged.enext[0] ^= i == 4;
		write_head(t, &forged);
		assert_outcome(verify(t, WITH_PIN),
			i == 4 ? AUDIT_INTACT : AUDIT_TAMPERED);
		assert_outcome(
			verify(t, WITH_PIN | WITH_SEED), AUDIT_TAMPERED);
	}
	write_head(t, &h);
	assert_outcome(verify(t, WITH_PIN | WITH_SEED), AUDIT_INTACT);
}

static void torn_tail(void **state)
{
	struct test_log *t = *state;
	struct frames f;
	autobuf struct buf out = BUF_INIT(1 << 20);

	load(t, &f);
	buf_add(&out, f.bytes.data, f.bytes.len);
	buf_add(&out, f.bytes.data + f.at[3], f.len[3] - 7);
	spit(t, SEGMENT, out.data, out.len);
	assert_outcome(verify(t, WITH_PIN), AUDIT_DECLARED_LOSS);
	test_event(t, "after", 1);
	assert_outcome(verify(t, WITH_PIN), AUDIT_DECLARED_LOSS);
	assert_outcome(verify(t, WITH_PIN | WITH_SEED), AUDIT_DECLARED_LOSS);
	buf_release(&f.bytes);
}

/* Anyone can put a record's leaf in the place of its body, and the chain does
 * not mind; that nobody ordered it is seen. */
static void contents_taken_out_silently(void **state)
{
	struct test_log *t = *state;
	struct frames f;
	struct audit_frame one;
	struct keys_hw hw = keys_hw_portable();
	autobuf struct buf out = BUF_INIT(1 << 20), body = BUF_INIT(256);
	struct audit_head h;
	uint8_t leaf[32];
	char space[256];
	struct buf purged = BUF_FIXED(space);

	load(t, &f);
	one = frame(&f, 5);
	keys_leaf(&hw, one.body, one.body_len, leaf);
	cbor_put_array(&body, 3);
	cbor_put_bytes(&body, leaf, 32);
	cbor_put_uint(&body, 5);
	cbor_put_uint(&body, 9);
	audit_frame_open(&purged, body.len);
	buf_add(&purged, body.data, body.len);
	audit_frame_close(&purged, crc32c(body.data, body.len), one.link);
	buf_add(&out, f.bytes.data, f.at[5]);
	buf_add(&out, purged.data, purged.len);
	buf_add(&out, f.bytes.data + f.at[6], f.bytes.len - f.at[6]);
	spit(t, SEGMENT, out.data, out.len);
	read_head(t, &h);
	h.end = out.len;
	write_head(t, &h);
	assert_outcome(verify(t, WITH_PIN), AUDIT_TAMPERED);
	assert_outcome(verify(t, LINKS_ALONE), AUDIT_TAMPERED);
	buf_release(&f.bytes);
}

static void checkpoint_of_a_stale_key(void **state)
{
	struct test_log *t = *state;
	struct frames f;
	struct audit_head h;
	autobuf struct buf out = BUF_INIT(1 << 20);
	uint8_t link[32];
	unsigned ckpt = 8; /* the first epoch's */

	/* The second epoch sealed once more by the first one's checkpoint. */
	load(t, &f);
	memcpy(link, frame(&f, f.n - 1).link, 32);
	buf_add(&out, f.bytes.data, f.bytes.len);
	add_linked(&out, frame(&f, ckpt).body, frame(&f, ckpt).body_len, link);
	spit(t, SEGMENT, out.data, out.len);
	read_head(t, &h);
	h.next++;
	h.end = out.len;
	memcpy(h.link, link, 32);
	write_head(t, &h);
	assert_outcome(verify(t, WITH_PIN), AUDIT_TAMPERED);
	buf_release(&f.bytes);
}

static void segment_missing(void **state)
{
	struct test_log *t = *state;
	struct diag d;

	assert_int_equal(audit_rotate(&t->log, &d), 0);
	test_event(t, "second", 1);
	assert_int_equal(audit_rotate(&t->log, &d), 0);
	test_event(t, "third", 1);
	assert_outcome(verify(t, WITH_PIN | WITH_SEED), AUDIT_INTACT);
	assert_int_equal(unlinkat(t->dir, SEGMENT, 0), 0);
	assert_outcome(verify(t, WITH_PIN), AUDIT_TAMPERED);
	assert_outcome(verify(t, 0), AUDIT_TAMPERED);
	assert_outcome(verify(t, LINKS_ALONE), AUDIT_TAMPERED);
}

static void alien_segment_behind_the_last(void **state)
{
	struct test_log *t = *state;
	autobuf struct buf b = {0};

	slurp(t, SEGMENT, &b);
	spit(t, "00000000000fffff.aud", b.data, b.len);
	assert_outcome(verify(t, WITH_PIN), AUDIT_TAMPERED);
}

static void segment_renamed(void **state)
{
	struct test_log *t = *state;
	struct diag d;

	assert_int_equal(audit_rotate(&t->log, &d), 0);
	test_event(t, "second", 1);
	assert_int_equal(renameat(t->dir, SEGMENT, t->dir,
				 "0000000000000003.aud"),
		0);
	assert_outcome(verify(t, WITH_PIN | WITH_SEED), AUDIT_TAMPERED);
	assert_int_equal(renameat(t->dir, "0000000000000003.aud", t->dir,
				 SEGMENT),
		0);
	assert_outcome(verify(t, WITH_PIN | WITH_SEED), AUDIT_INTACT);
}

/* What follows is what a kill leaves; the same record again is not. */
static void record_behind_the_end(void **state)
{
	struct test_log *t = *state;
	autobuf struct buf head = {0}, b = {0};
	struct audit_frame first;
	struct audit_head h;

	read_head(t, &h);
	slurp(t, "head", &head);
	test_event(t, "next", 1);
	spit(t, "head", head.data, head.len);
	assert_outcome(verify(t, WITH_PIN | WITH_SEED), AUDIT_INTACT);
	slurp(t, SEGMENT, &b);
	assert_int_equal(
		audit_frame_parse(&first, (uint8_t *)b.data, b.len), 0);
	b.len = (size_t)h.end;
	assert_non_null(buf_reserve(&b, first.len));
	buf_add(&b, b.data, first.len);
	spit(t, SEGMENT, b.data, b.len);
	assert_outcome(verify(t, WITH_PIN | WITH_SEED), AUDIT_TAMPERED);
}

/* All records are there, in order; only where they are kept was changed. */
static void segments_put_together(void **state)
{
	struct test_log *t = *state;
	autobuf struct buf first = {0}, second = {0};
	char name[AUDIT_NAME];
	struct audit_head h;
	struct diag d;

	assert_int_equal(audit_rotate(&t->log, &d), 0);
	test_event(t, "second", 1);
	assert_outcome(verify(t, WITH_PIN | WITH_SEED), AUDIT_INTACT);
	read_head(t, &h);
	audit_segment_name(name, h.segment);
	slurp(t, SEGMENT, &first);
	slurp(t, name, &second);
	buf_add(&first, second.data, second.len);
	spit(t, SEGMENT, first.data, first.len);
	assert_int_equal(unlinkat(t->dir, name, 0), 0);
	h.segment = 0;
	h.end = first.len;
	write_head(t, &h);
	assert_outcome(verify(t, WITH_PIN | WITH_SEED), AUDIT_TAMPERED);
	assert_outcome(verify(t, 0), AUDIT_TAMPERED);
}

/* What the next writer would call a loss is none of its doing. */
static void head_of_more_than_there_is(void **state)
{
	struct test_log *t = *state;
	struct audit_head h, forged;

	read_head(t, &h);
	for (unsigned i = 0; i < 2; i++) {
		forged = h;
		forged.end += i == 0;
		forged.segment += i == 1;
		write_head(t, &forged);
		assert_outcome(verify(t, WITH_PIN), AUDIT_TAMPERED);
	}
	write_head(t, &h);
	assert_outcome(verify(t, WITH_PIN), AUDIT_INTACT);
}

#define ATTACK(f) cmocka_unit_test_setup_teardown(f, make, test_unmake)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ATTACK(nothing),
		ATTACK(every_single_byte_of_200_records),
		ATTACK(edit_of_a_closed_epoch),
		ATTACK(edit_of_the_open_epoch),
		ATTACK(edit_that_is_signed_later),
		ATTACK(record_deleted),
		ATTACK(records_swapped),
		ATTACK(tail_cut_off),
		ATTACK(truncated_with_a_forged_head),
		ATTACK(truncated_and_head_deleted),
		ATTACK(whole_log_replaced),
		ATTACK(rolled_back_to_an_old_copy),
		ATTACK(anchor_of_another_record),
		ATTACK(keys_of_the_head_replaced),
		ATTACK(torn_tail),
		ATTACK(contents_taken_out_silently),
		ATTACK(checkpoint_of_a_stale_key),
		ATTACK(segment_missing),
		ATTACK(alien_segment_behind_the_last),
		ATTACK(segment_renamed),
		ATTACK(record_behind_the_end),
		ATTACK(segments_put_together),
		ATTACK(head_of_more_than_there_is),
	};

	return cmocka_run_group_tests_name("audit_attack", tests, NULL, NULL);
}
