/* test_redact_spellings.c - a thousand everyday lines, with secrets and without
 * SPDX-License-Identifier: MIT
 *
 * A line of the data is "+ TEXT WHAT-IS-LEFT" or "- TEXT", in base64, so that no
 * scanner trips over it.
 */
#include "redact_unit.h"

#include <fcntl.h>
#include <stdlib.h>

#include "file.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(secrets),
		cmocka_unit_test(everyday_text),
	};

	return cmocka_run_group_tests_name("redact_spellings", tests, NULL, NULL);
}
