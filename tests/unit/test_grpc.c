/* test_grpc.c - fields of Protocol Buffers, messages of wardbox.proto
 * SPDX-License-Identifier: MIT
 */
#include "unit.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "serve/serve_grpc.h"

#define PB(text) PB_INIT(text, sizeof(text) - 1)

static void fields_are_read_and_written_alike(void **state)
{
	static const uint64_t values[] = {
		1, 127, 128, 300, UINT32_MAX, INT64_MAX, UINT64_MAX};
	struct buf b = BUF_INIT(4096);
	struct pb_field f;
	struct pb p;

	(void)state;
	for (uint32_t i = 0; i < 7; i++)
		pb_put(&b, i + 1, values[i]);
	pb_put(&b, 8, 0);
	pb_put_text(&b, 9, "");
	pb_put_text(&b, 2000, "words");
	p = PB_INIT(b.data, b.len);
	for (uint32_t i = 0; i < 7; i++) {
		assert_true(pb_next(&p, &f));
		assert_int_equal(f.number, i + 1);
		assert_false(f.is_bytes);
		assert_true(f.value == values[i]);
	}
	assert_true(pb_next(&p, &f));
	assert_int_equal(f.number, 2000);
	assert_true(f.is_bytes);
	assert_memory_equal(f.bytes.at, "words", 5);
	assert_int_equal(pb_head_size(2000, 5), 3);
	assert_false(pb_next(&p, &f));
	assert_false(p.bad);
	buf_release(&b);
}

static void what_is_no_field_is_none(void **state)
{
	const struct pb wrong[] = {
		PB("\x08"), PB("\x08\x80"), PB("\x00\x01"), PB("\x0b"),
		PB("\x0c"), PB("\x0e"), PB("\x0f"), PB("\x0a\x02x"),
		PB("\x0d\1\2\3"), PB("\x09\1\2\3\4\5\6\7"),
		PB("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"),
		PB("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
		PB("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
		PB("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01"),
	};
	struct pb_field f;

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct pb p = wrong[i];

		assert_false(pb_next(&p, &f));
		assert_true(p.bad);
	}
	/* Fixed widths are numbers, too. */
	assert_true(pb_next(&PB("\x0d\1\0\0\0"), &f));
	assert_int_equal(f.value, 1);
	assert_true(pb_next(&PB("\x09\0\0\0\0\0\0\0\x80"), &f));
	assert_true(f.value == UINT64_C(1) << 63);
}

/* Reads one, and lets go of it. */
static int read_one(const char *text, size_t n, struct grpc_input *in)
{
	int err = grpc_read(in, text, n);

	wire_release(&in->wire);
	return err;
}
#define READ(text, in) read_one(text, sizeof(text) - 1, in)

static void inputs_are_as_the_proto_says(void **state)
{
	struct grpc_input in;

	(void)state;
	assert_int_equal(grpc_read(&in, "\x0a\x13\x1a\1b\x0a\1s\x12\2sh\x1a\1c"
					"\x38\x28\x40\x64\x58\1", 21), 0);
	assert_int_equal(in.wire.type, WIRE_START);
	assert_string_equal(in.session, "s");
	assert_int_equal(in.wire.count, 3);
	assert_memory_equal(in.wire.words.data, "sh\0b\0c", 7);
	assert_int_equal(in.wire.rows, 40);
	assert_int_equal(in.wire.cols, 100);
	assert_false(in.wire.pty);
	assert_true(in.wire.input);
	wire_release(&in.wire);

	assert_int_equal(READ("\x0a\x08\x4a\4true\x50\5", &in), 0);
	assert_int_equal(in.wire.count, 3);
	assert_int_equal(in.wire.timeout_ns, 5000000);
	assert_true(in.wire.pty);
	assert_int_equal(READ("\x12\4\x0a\2hi", &in), 0);
	assert_true(in.typed);
	assert_int_equal(in.n, 2);
	assert_int_equal(READ("\x1a\4\x08\5\x10\6", &in), 0);
	assert_int_equal(in.wire.type, WIRE_RESIZE);
	assert_int_equal(READ("\x22\5\x0a\3INT", &in), 0);
	assert_int_equal(in.wire.signal, SIGINT);
	assert_int_equal(READ("\x2a\x0a\x0a\1s\x12\1c\x18\7\x28\1", &in), 0);
	assert_int_equal(in.wire.type, WIRE_ATTACH);
	assert_string_equal(in.wire.id, "c");
	assert_int_equal(in.wire.at[SERVE_OUT], 7);
	assert_true(in.wire.view);
	assert_int_equal(READ("\x32\0", &in), 0);
	assert_int_equal(in.wire.type, WIRE_DETACH);
	/* Of a oneof the last counts; unknown fields are none of ours. */
	assert_int_equal(READ("\x12\0\x32\0\x78\1", &in), 0);
	assert_int_equal(in.wire.type, WIRE_DETACH);
	assert_false(in.typed);
}

static void wrong_inputs_are_named(void **state)
{
	static const struct {
		const char *text;
		size_t n;
		const char *said;
	} wrong[] = {
#define ROW(text, said) {text, sizeof(text) - 1, said}
		ROW("", "message: "),
		ROW("\x08\1", "message: "),
		ROW("\x0a\0", "start: "),
		ROW("\x0a\6\x12\1a\x4a\1b", "start: "),
		ROW("\x0a\3\x12\1\xff", "args: "),
		ROW("\x0a\4\x4a\2a\0", "args: "),
		ROW("\x0a\7\x4a\1a\x32\2\x0a\0", "env: "),
		ROW("\x0a\6\x4a\1a\x38\xe9\x07", "rows: "),
		ROW("\x0a\5\x4a\1a\x58\2", "pipes: "),
		ROW("\x0a\5\x4a\1a\x0a\5", "message: "),
		ROW("\x22\0", "name: "),
		ROW("\x22\4\x0a\2NO", "name: "),
		ROW("\x1a\3\x08\xe9\x07", "rows: "),
	};
	struct grpc_input in;

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		assert_int_equal(read_one(wrong[i].text, wrong[i].n, &in), -EINVAL);
		assert_memory_equal(in.wire.said, wrong[i].said,
			strlen(wrong[i].said));
	}
}

static void heads_timeouts_and_escapes(void **state)
{
	struct buf b = BUF_INIT(256);
	uint64_t ns;
	size_t n;

	(void)state;
	assert_int_equal(grpc_head("\0\0\0\1\2", 5, &n), 1);
	assert_int_equal(n, 258);
	assert_int_equal(grpc_head("\0\0\0\1", 4, &n), 0);
	assert_int_equal(grpc_head("", 0, &n), 0);
	assert_int_equal(grpc_head("\1", 1, &n), -GRPC_UNIMPLEMENTED);
	assert_int_equal(
		grpc_head("\0\4\0\0\0", 5, &n), -GRPC_RESOURCE_EXHAUSTED);
	assert_int_equal(grpc_timeout("100m", &ns), 0);
	assert_int_equal(ns, 100000000);
	assert_int_equal(grpc_timeout("99999999H", &ns), 0);
	assert_true(ns > UINT64_C(1) << 61);
	assert_int_equal(grpc_timeout("1u", &ns), 0);
	assert_int_equal(ns, 1000);
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(grpc_timeout(((const char *[]){"", "m", "1",
			"-1S", "123456789S", "1 S"})[i], &ns), -EINVAL);
	grpc_put_escaped(&b, "a 100 % \xc3\xa4\n");
	assert_string_equal(buf_str(&b), "a 100 %25 %C3%A4%0A");
	buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_are_read_and_written_alike),
		cmocka_unit_test(what_is_no_field_is_none),
		cmocka_unit_test(inputs_are_as_the_proto_says),
		cmocka_unit_test(wrong_inputs_are_named),
		cmocka_unit_test(heads_timeouts_and_escapes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
