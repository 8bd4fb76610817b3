/* test_audit_golden.c - the same bytes as the independent model's
 * SPDX-License-Identifier: MIT
 *
 * golden.cborseq was written by another program in another language: header,
 * records of a command's end, a checkpoint every four. Here it is written
 * again and compared, then read and verified.
 */
#include "audit_unit.h"

#include "log/audit_write_in.h"
#include "base/cbor.h"
#include "log/keys_in.h"

struct chain {
	struct audit_log log;
	struct audit_head h;
	struct buf out;
	uint64_t wall;
};

static void add(struct chain *c, const struct buf *body, bool ckpt)
{
	const struct keys_hw *hw = &c->log.hw;
	autobuf struct buf frame = BUF_INIT(4096);
	uint8_t leaf[32], link[32];

	keys_leaf(hw, body->data, body->len, leaf);
	keys_link(hw, c->h.link, leaf, link);
	audit_frame_open(&frame, body->len);
	buf_add(&frame, body->data, body->len);
	audit_frame_close(&frame, hw->crc(body->data, body->len), link);
	buf_add(&c->out, frame.data, frame.len);
	audit_head_step(&c->log, &c->h, link, frame.len, ckpt, c->wall);
}

static struct cbor_map intro(struct chain *c, struct buf *b, unsigned type)
{
	struct cbor_map m = cbor_map_open(b);

	c->wall += 1000;
	cbor_put_uint(cbor_key(&m, 0), type);
	cbor_put_uint(cbor_key(&m, 1), c->h.next);
	cbor_put_uint(cbor_key(&m, 2), c->wall);
	return m;
}

static void checkpoint(struct chain *c)
{
	autobuf struct buf b = BUF_INIT(1024), p = BUF_INIT(1024);
	uint8_t rk[32], sk[32], next[32], pk[65], hash[32], sig[64];
	struct cbor_map m = cbor_map_open(&p);

	keys_epoch(&c->log.hw, c->h.enext, rk, sk, next);
	assert_int_equal(keys_public(sk, pk), 0);
	cbor_put_uint(cbor_key(&m, 0), c->h.epoch);
	cbor_put_uint(cbor_key(&m, 1), c->h.epoch_first);
	cbor_put_uint(cbor_key(&m, 2), c->h.next - 1);
	cbor_put_bytes(cbor_key(&m, 3), c->h.link, 32);
	cbor_put_bytes(cbor_key(&m, 4), c->h.agg, 32);
	cbor_put_bytes(cbor_key(&m, 5), pk, 65);
	cbor_put_uint(cbor_key(&m, 6), c->wall);
	cbor_map_close(&m);
	audit_sig_hash(&c->log.hw, (uint8_t *)p.data, p.len, hash);
	assert_int_equal(keys_sign(&c->log.hw, c->h.sk, hash, sig), 0);
	m = intro(c, &b, AUDIT_CKPT);
	cbor_put_bytes(cbor_key(&m, 40), p.data, p.len);
	cbor_put_bytes(cbor_key(&m, 41), sig, 64);
	cbor_put_bytes(cbor_key(&m, 42), audit_protected, 3);
	cbor_map_close(&m);
	add(c, &b, true);
}

static void append(struct chain *c, const struct buf *body)
{
	add(c, body, false);
	if (c->h.next - 1 - c->h.epoch_first >= 3)
		checkpoint(c);
}

static void write_all(struct chain *c, const struct keys_hw hw)
{
	uint8_t seed[32], id[32], epoch[32], pk[65];
	autobuf struct buf b = BUF_INIT(4096);
	struct cbor_map m;

	*c = (struct chain){
		.out = BUF_INIT(1 << 16), .wall = 1755000000000000000};
	c->log.hw = hw;
	keys_hash2(&hw, "seed", 4, "", 0, seed);
	keys_hash2(&hw, "id", 2, "", 0, id);
	memcpy(c->h.log_id, id, 16);
	keys_first(&hw, id, seed, epoch);
	keys_epoch(&hw, epoch, c->h.rk, c->h.sk, c->h.enext);
	assert_int_equal(keys_public(c->h.sk, pk), 0);
	m = intro(c, &b, AUDIT_HEADER);
	cbor_put_bytes(cbor_key(&m, 43), pk, 65);
	cbor_put_bytes(cbor_key(&m, 44), c->h.log_id, 16);
	cbor_put_uint(cbor_key(&m, 47), 1);
	cbor_map_close(&m);
	append(c, &b);
	for (unsigned i = 0; i < 21; i++) {
		char number[8];

		snprintf(number, sizeof number, "%u", i);
		buf_clear(&b);
		m = intro(c, &b, AUDIT_END);
		cbor_put_array(cbor_key(&m, 8), 2);
		cbor_put_text(&b, "cmd", 3);
		cbor_put_text(&b, number, strlen(number));
		cbor_put_text(cbor_key(&m, 13), "allow.x", 7);
		cbor_put_uint(cbor_key(&m, 16), i % 3);
		cbor_map_close(&m);
		append(c, &b);
	}
}

static void read_golden(struct buf *b)
{
	*b = BUF_INIT(1 << 16);
	assert_int_equal(file_read(AT_FDCWD,
				 TEST_DATA "/audit/golden.cborseq", b),
		0);
}

static void same_bytes_as_the_model(void **state)
{
	autobuf struct buf golden = {0};
	struct chain c;

	(void)state;
	read_golden(&golden);
	write_all(&c, keys_hw_portable());
	assert_int_equal(c.out.len, golden.len);
	assert_memory_equal(c.out.data, golden.data, golden.len);
	buf_release(&c.out);
	write_all(&c, keys_hw_pick());
	assert_int_equal(c.out.len, golden.len);
	assert_memory_equal(c.out.data, golden.data, golden.len);
	buf_release(&c.out);
}

static void verifies_the_models_log(void **state)
{
	struct findings all = {0};
	struct keys_hw hw = keys_hw_portable();
	autoreader struct audit_reader r = AUDIT_READER_INIT;
	struct audit_trust trust = {.partial = true};
	uint8_t seed[32];
	struct diag d;
	int fd = open(TEST_DATA "/audit/golden.cborseq", O_RDONLY);

	(void)state;
	keys_hash2(&hw, "seed", 4, "", 0, seed);
	trust.seed = seed;
	assert_int_equal(audit_reader_fds(&r, &fd, 1, &d), 0);
	assert_int_equal(audit_verify_reader(
				 &r, &trust, note_finding, &all, &all.v, &d),
		0);
	assert_string_equal(all.kinds, "");
	assert_int_equal(all.v.records, 27);
	assert_int_equal(all.v.epochs, 5);
	assert_true(all.v.seeded);
}

/* Every body of it is canonical, for tinycbor and for our own reader. */
static void canonical(void **state)
{
	autobuf struct buf b = {0};
	size_t at = 0;
	unsigned n = 0;

	(void)state;
	read_golden(&b);
	for (; at < b.len; n++) {
		struct audit_frame f;
		struct cbor_in in;

		assert_int_equal(audit_frame_parse(&f,
					 (uint8_t *)b.data + at, b.len - at),
			0);
		assert_int_equal(cbor_check(f.body, f.body_len), 0);
		in = (struct cbor_in){f.body, f.body + f.body_len};
		assert_int_equal(cbor_skip(&in), 0);
		assert_ptr_equal(in.p, in.end);
		at += f.len;
	}
	assert_int_equal(n, 27);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_bytes_as_the_model),
		cmocka_unit_test(verifies_the_models_log),
		cmocka_unit_test(canonical),
	};

	return cmocka_run_group_tests_name("audit_golden", tests, NULL, NULL);
}
