/* test_page.c - the page's files, what undoes their gzip, and reports
 * SPDX-License-Identifier: MIT
 */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>

#include "page/page.h"

static int undo(const void *p, size_t n, struct buf *out)
{
	buf_clear(out);
	return gzip_read(p, n, out);
}

/* "hello\n" stored, and in the fixed codes; and 300 letters by a distance of 1. */
static const unsigned char stored[] = "\x1f\x8b\x08\0\0\0\0\0\0\3"
	"\1\6\0\xf9\xffhello\n" "\x20\x30\x3a\x36\6\0\0\0";
static const unsigned char fixed[] = "\x1f\x8b\x08\0\0\0\0\0\2\3"
	"\xcb\x48\xcd\xc9\xc9\xe7\2\0" "\x20\x30\x3a\x36\6\0\0\0";
static const unsigned char repeated[] = "\x1f\x8b\x08\0\0\0\0\0\2\3"
	"\x4b\x4c\x1c\5\xc4\2\0" "\x09\x19\x97\x89\x2c\1\0\0";

static void gzip_of_each_kind(void **state)
{
	autobuf struct buf out = BUF_INIT(1000), small = BUF_INIT(3);

	(void)state;
	assert_int_equal(undo(stored, sizeof stored - 1, &out), 0);
	assert_string_equal(buf_str(&out), "hello\n");
	assert_int_equal(undo(fixed, sizeof fixed - 1, &out), 0);
	assert_string_equal(buf_str(&out), "hello\n");
	assert_int_equal(undo(repeated, sizeof repeated - 1, &out), 0);
	assert_int_equal(out.len, 300);
	assert_int_equal(strspn(buf_str(&out), "a"), 300);
	assert_int_equal(undo(fixed, sizeof fixed - 1, &small), -ENOBUFS);
	assert_int_equal(undo("", 0, &out), -EBADMSG);
}

/* Whatever is changed or cut off: an error, or other text, and never a byte beyond. */
static void gzip_that_is_broken(void **state)
{
	const struct page_file *f = page_find("/page.js");
	unsigned char *copy = malloc(f->size);
	autobuf struct buf out = BUF_INIT(1 << 20);
	unsigned seed = 1;

	(void)state;
	for (size_t n = 0; n < f->size; n += 97) {
		unsigned char *exact = malloc(n ? n : 1);

		memcpy(exact, f->gzip, n);
		assert_int_not_equal(undo(exact, n, &out), 0);
		free(exact);
	}
	for (int i = 0; i < 2000; i++) {
		memcpy(copy, f->gzip, f->size);
		for (int k = 0; k < 1 + i % 4; k++) {
			seed = seed * 1103515245u + 12345u;
			copy[10 + seed / 65536 % (f->size - 10)] ^=
				(unsigned char)(1 << seed / 256 % 8);
		}
		(void)undo(copy, f->size, &out);
	}
	free(copy);
}

static void the_files(void **state)
{
	static const char *const paths[] = {"/", "/page.css", "/page.js"};
	autobuf struct buf out = BUF_INIT(1 << 20);

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		buf_clear(&out);
		assert_int_equal(page_read(page_find(paths[i]), &out), 0);
		assert_true(out.len > 1000);
		assert_ptr_equal(page_find_all(paths[i]), page_find(paths[i]));
	}
	assert_null(page_find("/xterm.js"));
	assert_null(page_find_all("/page.html"));
	assert_null(page_find_all("/../page.js"));
}

static size_t times(const char *text, const char *what)
{
	size_t n = 0;

	while ((text = strstr(text, what))) {
		text += strlen(what);
		n++;
	}
	return n;
}

static void a_report_holds_its_data(void **state)
{
	static const char evil[] = "{\"commands\": [], \"x\": \"</script><b>\"}";
	struct buf data = {.data = (char *)(uintptr_t)evil, .len = sizeof evil - 1};
	autobuf struct buf out = BUF_INIT(1 << 20);
	const char *text;

	(void)state;
	assert_int_equal(page_report(&out, &data, page_find), 0);
	text = buf_str(&out);
	assert_int_equal(times(text, "</script>"), 2);
	assert_int_equal(times(text, "\\u003c/script>\\u003cb>"), 1);
	assert_int_equal(times(text, "script-src 'sha256-"), 1);
	assert_null(strstr(text, "<link rel=\"stylesheet\""));
	assert_null(strstr(text, "src=\""));
	if (!page_find_all("/xterm.js"))
		return;
	buf_clear(&out);
	assert_int_equal(page_report(&out, &data, page_find_all), 0);
	assert_int_equal(times(buf_str(&out), "</script>"), 3);
	assert_int_equal(times(buf_str(&out), "'sha256-"), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gzip_of_each_kind),
		cmocka_unit_test(gzip_that_is_broken),
		cmocka_unit_test(the_files),
		cmocka_unit_test(a_report_holds_its_data),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
