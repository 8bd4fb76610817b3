/* test_json_read.c - the JSON reader
 * SPDX-License-Identifier: MIT
 */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>

#include "base/json_read.h"
#include "profile/profile_recipe.h"
#include "base/str.h"

static int read_text(struct json_doc *doc, const char *text)
{
	struct diag d;

	return json_read(doc, text, strlen(text), &d);
}

static void walks_values(void **state)
{
	autojson struct json_doc doc = {0};
	uint32_t a, i;

	(void)state;
	assert_int_equal(
		read_text(&doc, " {\"a\": [1, \"x\", {\"b\": null}], \"c\": true} "),
		0);
	assert_int_equal(json_type(&doc, 0), JSON_OBJECT);
	a = json_find(&doc, 0, "a");
	assert_int_equal(json_type(&doc, a), JSON_ARRAY);
	i = json_first(&doc, a);
	assert_int_equal(json_type(&doc, i), JSON_NUMBER);
	i = json_next(&doc, i);
	assert_int_equal(json_type(&doc, i), JSON_STRING);
	i = json_next(&doc, i);
	assert_int_equal(json_type(&doc, i), JSON_OBJECT);
	assert_int_equal(
		json_type(&doc, json_find(&doc, i, "b")), JSON_NULL);
	assert_int_equal(json_next(&doc, i), 0);
	assert_int_equal(
		json_type(&doc, json_find(&doc, 0, "c")), JSON_TRUE);
	assert_int_equal(json_find(&doc, 0, "d"), 0);
	assert_int_equal(json_find(&doc, a, "a"), 0);
}

static void undoes_escapes(void **state)
{
	autojson struct json_doc doc = {0};
	autobuf struct buf out = BUF_INIT(256);

	(void)state;
	assert_int_equal(
		read_text(&doc, "\"a\\n\\\"\\/\\u0041\\ud83d\\ude00\xc3\xa9\""),
		0);
	assert_int_equal(json_text(&doc, 0, &out), 0);
	assert_string_equal(
		buf_str(&out), "a\n\"/A\xf0\x9f\x98\x80\xc3\xa9");
}

static void refuses(void **state)
{
	static const char *const bad[] = {"", " ", "{", "}", "[", "]", "[1,]",
		"[,1]", "{,}", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}",
		"{'a':1}", "[1 2]", "01", "-", "+1", "1.", ".5", "1e", "1e+",
		"nul", "nulx", "True", "\"", "\"\\x\"", "\"\\u12\"",
		"\"\\ud800\"", "\"\\ud800\\u0041\"", "\"\\udc00\"", "\"\n\"",
		"\"\xff\"", "\"\xc0\x80\"", "1 1", "[}", "{]", "//x\n1",
		"{\"a\":1,\"a\":2}", "{\"a\":1,\"\\u0061\":2}", "NaN",
		"[1]]", "\xef\xbb\xbf{}"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct json_doc doc = {0};

		if (read_text(&doc, bad[i]) != -EINVAL) {
			print_message("taken: %s\n", bad[i]);
			fail();
		}
		assert_null(doc.node);
	}
}

static void takes(void **state)
{
	static const char *const good[] = {"0", "-0", "1.5e-3", "1E5", "null",
		"[]", "{}", "[[],{}]", "\"\"", "{\"\":0}", "\t\r\n[ ]\n",
		"{\"a\":{\"a\":1},\"b\":[{\"a\":1},{\"a\":1}]}", "\"\x7f\""};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		autojson struct json_doc doc = {0};

		assert_int_equal(read_text(&doc, good[i]), 0);
	}
}

static void is_bounded(void **state)
{
	autobuf struct buf text = BUF_INIT(1 << 20);
	struct json_doc doc = {0};

	(void)state;
	for (unsigned i = 0; i < JSON_READ_DEPTH; i++)
		buf_addc(&text, '[');
	for (unsigned i = 0; i < JSON_READ_DEPTH; i++)
		buf_addc(&text, ']');
	assert_int_equal(read_text(&doc, buf_str(&text)), 0);
	json_doc_release(&doc);
	buf_clear(&text);
	for (unsigned i = 0; i <= JSON_READ_DEPTH; i++)
		buf_addc(&text, '[');
	assert_int_equal(read_text(&doc, buf_str(&text)), -E2BIG);
	buf_clear(&text);
	buf_addc(&text, '[');
	for (unsigned i = 0; i < JSON_READ_NODES; i++)
		buf_adds(&text, "0,");
	buf_adds(&text, "0]");
	assert_int_equal(read_text(&doc, buf_str(&text)), -E2BIG);
	buf_clear(&text);
	buf_addc(&text, '{');
	for (unsigned i = 0; i < JSON_READ_KEYS + 1; i++)
		buf_addf(&text, "\"%u\":0,", i);
	buf_adds(&text, "\"x\":0}");
	assert_int_equal(read_text(&doc, buf_str(&text)), -E2BIG);
}

static void says_where(void **state)
{
	struct json_doc doc = {0};
	struct diag d;
	const char *text = "{\n  \"a\": 1,\n  \"b\" 2\n}";

	(void)state;
	assert_int_equal(json_read(&doc, text, strlen(text), &d), -EINVAL);
	assert_int_equal(d.line, 3);
	assert_int_equal(d.col, 7);
}

static void every_prefix_is_refused(void **state)
{
	static const char text[] =
		"{\"a\":[1,2.5,\"x\\n\",null,{\"b\":false}],\"c\":\"\\u00e9\"}";

	(void)state;
	for (size_t n = 0; n < sizeof text - 1; n++) {
		autofree char *exact = malloc(n ? n : 1);
		struct json_doc doc = {0};
		struct diag d;

		memcpy(exact, text, n);
		assert_int_equal(json_read(&doc, exact, n, &d), -EINVAL);
	}
}

static int recipe(struct profile_recipe *r, const char *text)
{
	struct diag d;

	return profile_recipe_parse(r, text, strlen(text), &d);
}

static void recipes(void **state)
{
	struct profile_recipe r;

	(void)state;
	assert_int_equal(recipe(&r,
				 "{\"x\":[],\"shell_config\":{\"path_append\":"
				 "[\"$HOME/a\",\"/b\"],\"env_vars\":{\"A\":\"b=c\"}},"
				 "\"post_env\":null}"),
		0);
	assert_int_equal(r.dirs, 2);
	assert_string_equal(r.dir[0], "$HOME/a");
	assert_int_equal(r.pairs, 1);
	assert_string_equal(r.pair[0], "A=b=c");
	assert_null(r.post_env);
	profile_recipe_release(&r);
	assert_int_equal(recipe(&r, "{\"path_append\":[\"/b\"]}"), 0);
	profile_recipe_release(&r);
	assert_int_equal(recipe(&r, "[]"), -EINVAL);
	assert_int_equal(recipe(&r, "{}"), -EINVAL);
	assert_int_equal(recipe(&r, "{\"shell_config\":[]}"), -EINVAL);
	assert_int_equal(
		recipe(&r, "{\"shell_config\":{\"path_append\":\"/b\"}}"),
		-EINVAL);
	assert_int_equal(
		recipe(&r, "{\"shell_config\":{\"path_append\":[1]}}"),
		-EINVAL);
	assert_int_equal(
		recipe(&r, "{\"shell_config\":{\"env_vars\":{\"A B\":\"\"}}}"),
		-EINVAL);
	assert_int_equal(
		recipe(&r, "{\"shell_config\":{\"env_vars\":{\"A\":\"\\u0000\"}}}"),
		-EINVAL);
	assert_int_equal(
		recipe(&r, "{\"shell_config\":{\"path\":[\"/b\"]}}"), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(walks_values),
		cmocka_unit_test(undoes_escapes),
		cmocka_unit_test(refuses),
		cmocka_unit_test(takes),
		cmocka_unit_test(is_bounded),
		cmocka_unit_test(says_where),
		cmocka_unit_test(every_prefix_is_refused),
		cmocka_unit_test(recipes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
