/* test_bytes.c - num, str, utf8, diag
 * SPDX-License-Identifier: MIT
 */
#include "unit.h"

#include <errno.h>

#include "base/base64.h"
#include "base/diag.h"
#include "base/num.h"
#include "base/str.h"
#include "base/utf8.h"

static void whole_numbers_only(void **state)
{
	static const char *const bad[] = {"", " 1", "1 ", "+1", "-1", "0x1",
		"1a", "1.", "\xd9\xa1"};
	uint64_t v = 7;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(num_u64(bad[i], 0, UINT64_MAX, &v), -EINVAL);
	assert_int_equal(v, 7);
	assert_int_equal(
		num_u64("18446744073709551615", 0, UINT64_MAX, &v), 0);
	assert_true(v == UINT64_MAX);
	assert_int_equal(
		num_u64("18446744073709551616", 0, UINT64_MAX, &v), -ERANGE);
	assert_int_equal(num_u64("99999999999999999999999999", 0, UINT64_MAX,
				 &v),
		-ERANGE);
	assert_int_equal(num_u64("11", 0, 10, &v), -ERANGE);
	assert_int_equal(num_u64("4", 5, 10, &v), -ERANGE);
}

static void bytes_as_letters(void **state)
{
	static const char *const bad[] = {"Zg", "Zg=", "Zg===", "Zh==", "Zm9=",
		"Z===", "====", "Zg==Zg==", "Zm9v\n", "Zm-v", "Zm9vZ"};
	static const char text[] = "fo\0\xff" "bar";
	char letters[32], back[32];
	struct buf to = BUF_FIXED(letters), from = BUF_FIXED(back);

	(void)state;
	for (size_t n = 0; n < sizeof text; n++) {
		buf_clear(&to);
		buf_clear(&from);
		base64_add(&to, (const uint8_t *)text, n);
		assert_int_equal(base64_read(&from, to.data, to.len), 0);
		assert_int_equal(from.len, n);
		assert_memory_equal(from.data, text, n);
	}
	assert_string_equal(buf_str(&to), "Zm8A/2Jhcg==");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		buf_clear(&from);
		assert_int_equal(
			base64_read(&from, bad[i], strlen(bad[i])), -EINVAL);
	}
	from = buf_fixed(back, 3);
	assert_int_equal(base64_read(&from, "Zm9v", 4), -ENOBUFS);
}

static void signed_numbers(void **state)
{
	int64_t v;
	int i;

	(void)state;
	assert_int_equal(
		num_i64("-9223372036854775808", INT64_MIN, INT64_MAX, &v), 0);
	assert_true(v == INT64_MIN);
	assert_int_equal(
		num_i64("9223372036854775808", INT64_MIN, INT64_MAX, &v),
		-ERANGE);
	assert_int_equal(
		num_i64("-9223372036854775809", INT64_MIN, INT64_MAX, &v),
		-ERANGE);
	assert_int_equal(num_i64("--1", INT64_MIN, INT64_MAX, &v), -EINVAL);
	assert_int_equal(num_int("-5", -5, 5, &i), 0);
	assert_int_equal(i, -5);
	assert_int_equal(num_int("6", -5, 5, &i), -ERANGE);
}

static void other_bases(void **state)
{
	uint64_t v;

	(void)state;
	assert_int_equal(num_hex64("fFfFfFfFfFfFfFfF", &v), 0);
	assert_true(v == UINT64_MAX);
	assert_int_equal(num_hex64("10000000000000000", &v), -ERANGE);
	assert_int_equal(num_hex64("g", &v), -EINVAL);
}

static void sizes(void **state)
{
	uint64_t v;

	(void)state;
	assert_int_equal(num_size("512M", 0, UINT64_MAX, &v), 0);
	assert_true(v == UINT64_C(512) << 20);
	assert_int_equal(num_size("64KiB", 0, UINT64_MAX, &v), 0);
	assert_true(v == 65536);
	assert_int_equal(num_size("4096", 0, UINT64_MAX, &v), 0);
	assert_int_equal(num_size("12B", 0, UINT64_MAX, &v), 0);
	assert_int_equal(num_size("1kB", 0, UINT64_MAX, &v), 0);
	assert_true(v == 1024);
	assert_int_equal(num_size("16777216T", 0, UINT64_MAX, &v), -ERANGE);
	assert_int_equal(num_size("M", 0, UINT64_MAX, &v), -EINVAL);
	assert_int_equal(num_size("1KK", 0, UINT64_MAX, &v), -EINVAL);
	assert_int_equal(num_size("1i", 0, UINT64_MAX, &v), -EINVAL);
	assert_int_equal(num_size("1.5M", 0, UINT64_MAX, &v), -EINVAL);
}

static void durations(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} good[] = {
		{"0", 0},
		{"1", 1000000000},
		{"1.5", 1500000000},
		{"200ms", 200000000},
		{"1.5ms", 1500000},
		{"0.000000001", 1},
		{"2h", UINT64_C(7200000000000)},
		{"0.5d", UINT64_C(43200000000000)},
		{"7us", 7000},
		{"3ns", 3},
	};
	static const char *const bad[] = {"", "s", ".5", "1.", "1.5.5", "1 s",
		"-1", "1.0000000001", "1w", "1e3"};
	uint64_t v;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		assert_int_equal(
			num_duration(good[i].text, 0, UINT64_MAX, &v), 0);
		assert_true(v == good[i].ns);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(
			num_duration(bad[i], 0, UINT64_MAX, &v), -EINVAL);
	assert_int_equal(
		num_duration("99999999999d", 0, UINT64_MAX, &v), -ERANGE);
}

static void globs(void **state)
{
	(void)state;
	assert_true(str_glob("auto-*", "auto-python"));
	assert_true(str_glob("auto-*", "auto-"));
	assert_false(str_glob("auto-*", "auto"));
	assert_true(str_glob("*", ""));
	assert_true(str_glob("a*b*c", "aXbXbYc"));
	assert_false(str_glob("a*b*c", "aXbXbY"));
	assert_true(str_glob("?x", "ax"));
	assert_false(str_glob("?", ""));
	/* Many stars against a long non-match end at once. */
	assert_false(str_glob("*a*a*a*a*a*a*a*a*b",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
}

static void names_and_distances(void **state)
{
	char small[4];

	(void)state;
	assert_true(str_is_name("_a1", 3));
	assert_false(str_is_name("1a", 2));
	assert_false(str_is_name("", 0));
	assert_false(str_is_name("a-b", 3));
	assert_int_equal(str_distance("policy", "polcy", 2), 1);
	assert_int_equal(str_distance("audit", "audit", 2), 0);
	assert_int_equal(str_distance("kitten", "sitting", 3), 3);
	assert_int_equal(str_distance("abc", "xyz", 2), 3);
	assert_int_equal(str_copy(small, sizeof small, "abc"), 0);
	assert_int_equal(str_copy(small, sizeof small, "abcd"), -ENAMETOOLONG);
	assert_string_equal(small, "");
	assert_string_equal(str_after("--name", "--"), "name");
	assert_null(str_after("-", "--"));
	assert_true(str_ends("a.real", ".real"));
	assert_false(str_ends("real", ".real"));
}

static void utf8_is_strict(void **state)
{
	static const struct {
		const char *bytes;
		size_t n;
		bool good;
	} cases[] = {
		{"\x00", 1, true},
		{"\x7f", 1, true},
		{"\x80", 1, false},
		{"\xc2\x80", 2, true},
		{"\xc0\x80", 2, false},
		{"\xc1\xbf", 2, false},
		{"\xe0\x9f\xbf", 3, false},
		{"\xe0\xa0\x80", 3, true},
		{"\xed\x9f\xbf", 3, true},
		{"\xed\xa0\x80", 3, false},
		{"\xef\xbf\xbf", 3, true},
		{"\xf0\x8f\xbf\xbf", 4, false},
		{"\xf0\x90\x80\x80", 4, true},
		{"\xf4\x8f\xbf\xbf", 4, true},
		{"\xf4\x90\x80\x80", 4, false},
		{"\xf5\x80\x80\x80", 4, false},
		{"\xe2\x82", 2, false},
	};
	char out[4];
	uint32_t cp;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(utf8_valid(cases[i].bytes, cases[i].n),
			cases[i].good);
	for (uint32_t v = 0; v <= 0x110000; v += 7) {
		size_t n = utf8_encode(v, out);

		if (!n)
			continue;
		assert_int_equal(utf8_decode(out, n, &cp), n);
		assert_int_equal(cp, v);
	}
	assert_true(utf8_is_hidden(0x202e));
	assert_true(utf8_is_hidden(0x200b));
	assert_true(utf8_is_hidden(0x1b));
	assert_false(utf8_is_hidden('a'));
	assert_false(utf8_is_hidden(0xe9));
	assert_true(utf8_is_hidden(0xfe0e));
	assert_false(utf8_is_hidden(0xfe0f));
	assert_int_equal(utf8_width(0x4e2d), 2);
	assert_int_equal(utf8_width(0x301), 0);
}

static void diags_are_cut_not_overrun(void **state)
{
	struct diag d;
	char longer[1000];

	(void)state;
	memset(longer, 'x', sizeof longer - 1);
	longer[sizeof longer - 1] = '\0';
	assert_int_equal(diag_fail(&d, -EINVAL, "%s is wrong", longer), -EINVAL);
	assert_non_null(strstr(d.text, "xxx...xxx"));
	assert_non_null(strstr(d.text, "xxx is wrong"));
	/* A long word stays whole where there is room for it. */
	diag_fail(&d, -EINVAL, "%s", longer + sizeof longer - 200);
	assert_int_equal(strlen(d.text), 199);
	diag_fail(&d, -EINVAL, "%s%s%s%s%s", longer, longer, longer, longer, longer);
	assert_int_equal(strlen(d.text), sizeof d.text - 1);
	diag_at(&d, longer, 3, 4);
	assert_int_equal(strlen(d.file), sizeof d.file - 1);
	diag_hint(&d, "%s%s%s%s%s", longer, longer, longer, longer, longer);
	assert_int_equal(strlen(d.hint), sizeof d.hint - 1);
	assert_int_equal(diag_errno(&d, -ENOENT, "%s", "f"), -ENOENT);
	assert_string_equal(d.text, "f: No such file or directory");
	assert_string_equal(d.hint, "");
	assert_int_equal(diag_fail(NULL, -EIO, "nobody listens"), -EIO);
	diag_fail(&d, -EPERM, "not %s\036give %s", "that", "this");
	assert_string_equal(d.text, "not that");
	assert_string_equal(d.hint, "give this");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_numbers_only),
		cmocka_unit_test(bytes_as_letters),
		cmocka_unit_test(signed_numbers),
		cmocka_unit_test(other_bases),
		cmocka_unit_test(sizes),
		cmocka_unit_test(durations),
		cmocka_unit_test(globs),
		cmocka_unit_test(names_and_distances),
		cmocka_unit_test(utf8_is_strict),
		cmocka_unit_test(diags_are_cut_not_overrun),
	};

	return cmocka_run_group_tests_name("bytes", tests, NULL, NULL);
}
