/* test_cbor.c - deterministic CBOR, written and read
 * SPDX-License-Identifier: MIT
 */
#include "unit.h"

#include <cbor.h>
#include <errno.h>

#include "base/cbor.h"

static void heads_are_the_shortest(void **state)
{
	static const struct {
		uint64_t n;
		size_t len;
	} rows[] = {{0, 1}, {23, 1}, {24, 2}, {255, 2}, {256, 3}, {65535, 3},
		{65536, 5}, {UINT32_MAX, 5}, {UINT64_C(1) << 32, 9},
		{UINT64_MAX, 9}};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char space[32];
		struct buf b = BUF_FIXED(space);
		struct cbor_in in;
		struct cbor_item item;

		cbor_put_uint(&b, rows[i].n);
		assert_int_equal(b.len, rows[i].len);
		in = (struct cbor_in){(uint8_t *)b.data,
			(uint8_t *)b.data + b.len};
		assert_int_equal(cbor_next(&in, &item), 0);
		assert_true(item.n == rows[i].n && item.major == CBOR_UINT);
		assert_int_equal(cbor_check((uint8_t *)b.data, b.len), 0);
	}
}

static int check(const char *bytes, size_t n)
{
	return cbor_check((const uint8_t *)bytes, n);
}

static int pass_over(const char *bytes, size_t n)
{
	struct cbor_in in = {(const uint8_t *)bytes,
		(const uint8_t *)bytes + n};
	int err = cbor_skip(&in);

	return err ? err : in.p == in.end ? 0 : -E2BIG;
}

static void what_is_not_deterministic_is_refused(void **state)
{
	(void)state;
	assert_int_equal(check("\x18\x17", 2), -EBADMSG);
	assert_int_equal(pass_over("\x18\x17", 2), -EBADMSG);
	assert_int_equal(check("\x5f\x41x\xff", 4), -EBADMSG);
	assert_int_equal(pass_over("\x5f\x41x\xff", 4), -EBADMSG);
	assert_int_equal(check("\xa2\x02\x00\x01\x00", 5), -EBADMSG);
	assert_int_equal(check("\xa2\x01\x00\x01\x00", 5), -EBADMSG);
	assert_int_equal(pass_over("\xf9\x3c\x00", 3), -EBADMSG);
	assert_int_equal(check("\x01\x01", 2), -EBADMSG);
	assert_int_equal(check("\x61\xff", 2), -EBADMSG);
	assert_int_equal(check("", 0), -EBADMSG);
}

static void what_is_cut_short_is_told_from_it(void **state)
{
	(void)state;
	assert_int_equal(pass_over("", 0), -EAGAIN);
	assert_int_equal(pass_over("\x19\x01", 2), -EAGAIN);
	assert_int_equal(pass_over("\x44xyz", 4), -EAGAIN);
	assert_int_equal(pass_over("\x82\x01", 2), -EAGAIN);
	assert_int_equal(pass_over("\x9b\xff\xff\xff\xff\xff\xff\xff\xff", 9), -EAGAIN);
	assert_int_equal(pass_over("\xbb\x80\x00\x00\x00\x00\x00\x00\x01", 9), -EAGAIN);
	assert_int_equal(pass_over("\x5b\xff\xff\xff\xff\xff\xff\xff\xff", 9), -EAGAIN);
}

static void depth_is_bounded(void **state)
{
	char deep[1000];

	(void)state;
	memset(deep, 0x81, sizeof deep);
	deep[sizeof deep - 1] = 0;
	assert_int_equal(pass_over(deep, sizeof deep), -EBADMSG);
	assert_int_equal(check(deep, sizeof deep), -EBADMSG);
	assert_int_equal(pass_over(deep + sizeof deep - 10, 10), 0);
	memset(deep, 0xc1, sizeof deep);
	assert_int_equal(pass_over(deep, sizeof deep), -EBADMSG);
}

static void maps_count_themselves_and_keep_order(void **state)
{
	char space[64];
	struct buf b = BUF_FIXED(space);
	struct cbor_map m = cbor_map_open(&b);

	(void)state;
	cbor_put_int(cbor_key(&m, 1), -5);
	cbor_put_text(cbor_key(&m, 2), "\xff", 1);
	cbor_put_bool(cbor_key(&m, 30), true);
	cbor_map_close(&m);
	assert_memory_equal(b.data, "\xa3\x01\x24\x02\x41\xff\x18\x1e\xf5", 9);
	assert_int_equal(b.err, 0);
	cbor_key(&m, 30);
	assert_int_equal(b.err, -EINVAL);
}

static void a_full_buffer_is_an_error(void **state)
{
	char space[8];
	struct buf b = BUF_FIXED(space);

	(void)state;
	cbor_put_bytes(&b, "0123456789", 10);
	assert_int_equal(b.err, -ENOBUFS);
	assert_int_equal(b.len, 0);
}

/* tinycbor's opinion, which is an independent one. */
static bool tinycbor_takes(const uint8_t *p, size_t n)
{
	const uint32_t strict = (uint32_t)CborValidateCanonicalFormat |
		(uint32_t)CborValidateMapKeysAreUnique |
		(uint32_t)CborValidateMapIsSorted |
		(uint32_t)CborValidateUtf8 | (uint32_t)CborValidateNoUndefined |
		(uint32_t)CborValidateCompleteData;
	CborParser parser;
	CborValue v;

	return !cbor_parser_init(p, n, 0, &parser, &v) &&
		!cbor_value_validate(&v, strict);
}

/* Every change of a byte, and of two, of an item that has all there is. */
static void what_is_deterministic_tinycbor_says_too(void **state)
{
	static const char item[] =
		"\xa5\x01\x18\x64\x02\x83\x41x\x62hi\xf5\x18\x20\xa2\x61"
		"a\x00\x61z\xc1\x19\x01\x00\x18\x21\x63\xe2\x82\xac\x20\x39\x01\x01";
	const size_t n = sizeof item - 1;
	uint8_t bytes[sizeof item];
	unsigned taken = 0;

	(void)state;
	assert_int_equal(check(item, n), 0);
	for (size_t at = 0; at < n; at++)
		for (unsigned c = 0; c < 256; c++)
			for (unsigned next = 0; next < 8; next++) {
				memcpy(bytes, item, n);
				bytes[at] = (uint8_t)c;
				if (at + 1 < n)
					bytes[at + 1] ^= (uint8_t)(next * 37);
				if (cbor_check(bytes, n))
					continue;
				taken++;
				assert_true(tinycbor_takes(bytes, n));
			}
	assert_true(taken > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(heads_are_the_shortest),
		cmocka_unit_test(what_is_not_deterministic_is_refused),
		cmocka_unit_test(what_is_cut_short_is_told_from_it),
		cmocka_unit_test(depth_is_bounded),
		cmocka_unit_test(what_is_deterministic_tinycbor_says_too),
		cmocka_unit_test(maps_count_themselves_and_keep_order),
		cmocka_unit_test(a_full_buffer_is_an_error),
	};

	return cmocka_run_group_tests_name("cbor", tests, NULL, NULL);
}
