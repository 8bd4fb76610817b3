/* test_redact_spellings.c - a thousand everyday lines, with secrets and without
 * SPDX-License-Identifier: MIT
 *
 * A line of the data is "+ TEXT WHAT-IS-LEFT" or "- TEXT", in base64, so that no
 * scanner trips over it.
 */
#include "redact_unit.h"

#include <fcntl.h>
#include <stdlib.h>

#include "sys/file.h"

/* Each whole, and cut in two at every place: the same comes out. */
static void each_line(bool secret)
{
	autobuf struct buf data = BUF_INIT(1 << 20);
	char *save = NULL;
	unsigned count = 0;

	assert_int_equal(file_read(AT_FDCWD,
				 TEST_DATA "/audit/redact-spellings.b64", &data),
		0);
	for (char *line = strtok_r((char *)(uintptr_t)buf_str(&data), "\n", &save);
		line; line = strtok_r(NULL, "\n", &save)) {
		autobuf struct buf in = BUF_INIT(1 << 16), out = BUF_INIT(1 << 16);
		autobuf struct buf wanted = BUF_INIT(1 << 16);
		struct redact r = REDACT_INIT;
		const char *rest = decode64(line + 2, &in);

		if ((line[0] == '+') != secret)
			continue;
		decode64(secret ? rest + 1 : line + 2, &wanted);
		for (size_t cut = 0; cut <= in.len; cut++) {
			run(&r, &out, in.data, in.len, cut, 1);
			if (out.len != wanted.len ||
				memcmp(out.data, wanted.data, out.len) != 0)
				fail_msg("%s\n -> %s\nnot %s (cut at %zu)",
					buf_str(&in), buf_str(&out),
					buf_str(&wanted), cut);
		}
		redact_release(&r);
		count++;
	}
	assert_true(count > 400);
}

static void secrets(void **state)
{
	(void)state;
	each_line(true);
}

static void everyday_text(void **state)
{
	(void)state;
	each_line(false);
}

static void in_pieces(const struct buf *in, size_t piece, struct buf *out)
{
	struct redact r = REDACT_INIT;
	struct redact_stream one = REDACT_STREAM_INIT;

	buf_clear(out);
	for (size_t at = 0, n; at < in->len; at += n) {
		n = in->len - at < piece ? in->len - at : piece;
		assert_int_equal(redact_feed(&r, &one, in->data + at, n, out), 0);
	}
	assert_int_equal(redact_flush(&r, &one, true, out), 0);
	redact_stream_release(&one);
	undo(&r, in->data, in->len, out);
	redact_release(&r);
}

/* All of them behind each other, in pieces of any size: the same comes out. */
static void one_behind_the_other(void **state)
{
	static const size_t pieces[] = {1, 7, 97, 1000, 4096, 70000};
	autobuf struct buf data = BUF_INIT(1 << 20), in = BUF_INIT(1 << 20);
	autobuf struct buf whole = BUF_INIT(1 << 20), out = BUF_INIT(1 << 20);
	char *save = NULL;

	(void)state;
	assert_int_equal(file_read(AT_FDCWD,
				 TEST_DATA "/audit/redact-spellings.b64", &data),
		0);
	for (char *line = strtok_r((char *)(uintptr_t)buf_str(&data), "\n", &save);
		line; line = strtok_r(NULL, "\n", &save)) {
		decode64(line + 2, &in);
		buf_addc(&in, '\n');
	}
	in_pieces(&in, in.len, &whole);
	for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
		in_pieces(&in, pieces[i], &out);
		if (out.len != whole.len ||
			memcmp(out.data, whole.data, out.len) != 0)
			fail_msg("in pieces of %zu", pieces[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_behind_the_other),
		cmocka_unit_test(secrets),
		cmocka_unit_test(everyday_text),
	};

	return cmocka_run_group_tests_name("redact_spellings", tests, NULL, NULL);
}
