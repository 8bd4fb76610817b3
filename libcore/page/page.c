/* page.c - the files of the page
 * SPDX-License-Identifier: MIT
 */
#include "page/page.h"

#include "base/str.h"
#include "page_files.h"

static const char html_type[] = "text/html; charset=utf-8",
		  css[] = "text/css; charset=utf-8",
		  js[] = "text/javascript; charset=utf-8";

#define PAGE_FILE(path, type, name) {path, type, name, sizeof name}

static const struct page_file own[] = {
	PAGE_FILE("/", html_type, page_html),
	PAGE_FILE("/page.css", css, page_css),
	PAGE_FILE("/page.js", js, page_js),
};

static const struct page_file terminal[] = {
	PAGE_FILE("/xterm.css", css, xterm_css),
	PAGE_FILE("/xterm.js", js, xterm_js),
};

static const struct page_file *file_find(
	const struct page_file *all, size_t n, const char *path)
{
	for (size_t i = 0; i < n; i++)
		if (all[i].size && str_eq(all[i].path, path))
			return &all[i];
	return NULL;
}

const struct page_file *page_find(const char *path)
{
	return file_find(own, ARRAY_SIZE(own), path);
}

const struct page_file *page_find_all(const char *path)
{
	const struct page_file *f = page_find(path);

	return f ? f : file_find(terminal, ARRAY_SIZE(terminal), path);
}

int page_read(const struct page_file *f, struct buf *out)
{
	return gzip_read(f->gzip, f->size, out);
}
