/* test_json.c - the JSON writer
 * SPDX-License-Identifier: MIT
 */
#include "unit.h"

#include <errno.h>

#include "base/json.h"

static void nests_and_separates(void **state)
{
	autobuf struct buf out = BUF_INIT(1024);
	struct json j = JSON_INIT(&out);

	(void)state;
	json_open(&j, '{');
	json_u64(json_key(&j, "a"), UINT64_MAX);
	json_open(json_key(&j, "b"), '[');
	json_i64(&j, INT64_MIN);
	json_bool(&j, true);
	json_null(&j);
	json_open(&j, '{');
	json_close(&j);
	json_open(&j, '[');
	json_close(&j);
	json_close(&j);
	json_str(json_key(&j, "c"), NULL);
	json_close(&j);
	assert_string_equal(buf_str(&out),
		"{\"a\":18446744073709551615,\"b\":[-9223372036854775808,true,"
		"null,{},[]],\"c\":null}");
}

static void escapes_everything(void **state)
{
	autobuf struct buf out = BUF_INIT(1024);
	struct json j = JSON_INIT(&out);
	static const char nasty[] = "\"\\/\b\f\n\r\t\0\x1f\x7f\xc3\xa9\xff\xc3";

	(void)state;
	json_strn(&j, nasty, sizeof nasty - 1);
	assert_string_equal(buf_str(&out),
		"\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0000\\u001f\\u007f\xc3\xa9"
		"\xef\xbf\xbd\xef\xbf\xbd\"");
}

static void pretty_indents(void **state)
{
	autobuf struct buf out = BUF_INIT(1024);
	struct json j = JSON_INIT(&out);

	(void)state;
	j.pretty = true;
	json_open(&j, '{');
	json_u64(json_key(&j, "a"), 1);
	json_open(json_key(&j, "b"), '[');
	json_u64(&j, 2);
	json_close(&j);
	json_close(&j);
	assert_string_equal(buf_str(&out),
		"{\n  \"a\": 1,\n  \"b\": [\n    2\n  ]\n}");
}

static void put_shouting(struct json *j, const char *s)
{
	char key[32];

	json_str(j, s);
	BUF_PRINT(key, "%.*s!", (int)j->key_len, j->key);
	json_put_str(j, key, s);
}

static void many_are_put_at_once(void **state)
{
	autobuf struct buf out = BUF_INIT(1024);
	struct json j = JSON_INIT(&out);
	const char *none = *state;

	json_putf(&j, "{ a %s b %s c [ %d %d", "x", none, true, 0);
	json_putf(&j, "{ } %ju ] d %jd", UINTMAX_MAX, INTMAX_MIN);
	j.put = put_shouting;
	json_putf(&j, "e %s }", "y");
	assert_string_equal(buf_str(&out),
		"{\"a\":\"x\",\"b\":null,\"c\":[true,false,{},"
		"18446744073709551615],\"d\":-9223372036854775808,"
		"\"e\":\"y\",\"e!\":\"y\"}");
	json_putf(&j, "%s }", "no more");
	assert_int_equal(out.err, -EINVAL);
}

static void misuse_is_an_error(void **state)
{
	autobuf struct buf out = BUF_INIT(1024);
	struct json j = JSON_INIT(&out);

	(void)state;
	json_open(&j, '{');
	json_u64(&j, 1);
	assert_int_equal(out.err, -EINVAL);
	buf_clear(&out);
	j = JSON_INIT(&out);
	json_close(&j);
	assert_int_equal(out.err, -EINVAL);
	buf_clear(&out);
	j = JSON_INIT(&out);
	for (int i = 0; i < 40; i++)
		json_open(&j, '[');
	assert_int_equal(out.err, -E2BIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nests_and_separates),
		cmocka_unit_test(escapes_everything),
		cmocka_unit_test(pretty_indents),
		cmocka_unit_test(many_are_put_at_once),
		cmocka_unit_test(misuse_is_an_error),
	};

	return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
