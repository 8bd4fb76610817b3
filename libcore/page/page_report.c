/* page_report.c - the page as one file without a server
 * SPDX-License-Identifier: MIT
 */
#include "page/page.h"

#include <bearssl.h>
#include <errno.h>
#include <string.h>

#include "base/base64.h"
#include "base/str.h"

enum { FILE_MAX = 1 << 20 };

/* What of page.html is the served page's alone stands between these two. */
static const char served[] = "<!-- served -->\n", served_end[] = "<!-- /served -->\n";

/* One of the page's files, read; empty where it is not built in. */
static int part_read(struct buf *b, const char *path,
	const struct page_file *(*find)(const char *path))
{
	const struct page_file *f = find(path);

	*b = BUF_INIT(FILE_MAX);
	return f ? page_read(f, b) : 0;
}

static void add_hash(struct buf *out, const struct buf *script)
{
	unsigned char digest[br_sha256_SIZE];
	br_sha256_context sha;

	if (!script->len)
		return;
	br_sha256_init(&sha);
	br_sha256_update(&sha, script->data, script->len);
	br_sha256_out(&sha, digest);
	buf_adds(out, " 'sha256-");
	base64_add(out, digest, sizeof digest);
	buf_addc(out, '\'');
}

static void add_element(
	struct buf *out, const char *tag, const struct buf *text)
{
	if (!text->len)
		return;
	buf_addf(out, "<%s>", tag);
	buf_add(out, text->data, text->len);
	buf_addf(out, "</%s>\n", tag);
}

/* Text inside of a script element must not be able to end it. */
static void add_data(struct buf *out, const struct buf *data)
{
	buf_adds(out, "<script id=\"data\" type=\"application/json\">");
	for (size_t i = 0; i < data->len; i++)
		if (data->data[i] == '<')
			buf_adds(out, "\\u003c");
		else
			buf_addc(out, data->data[i]);
	buf_adds(out, "</script>\n");
}

int page_report(struct buf *out, const struct buf *data,
	const struct page_file *(*find)(const char *path))
{
	autobuf struct buf page = {0}, style = {0}, own = {0}, term = {0},
			   look = {0};
	const char *at, *end;
	int err;

	if ((err = part_read(&page, "/", find)) ||
		(err = part_read(&look, "/page.css", find)) ||
		(err = part_read(&own, "/page.js", find)) ||
		(err = part_read(&style, "/xterm.css", find)) ||
		(err = part_read(&term, "/xterm.js", find)))
		return err;
	at = str_find(buf_str(&page), served);
	end = at ? str_find(at, served_end) : NULL;
	if (!end)
		return -EBADMSG;
	buf_add(out, page.data, (size_t)(at - page.data));
	buf_adds(out, "<meta http-equiv=\"Content-Security-Policy\" content=\""
		"default-src 'none'; img-src data:; style-src 'unsafe-inline';"
		" base-uri 'none'; form-action 'none'; script-src");
	add_hash(out, &term);
	add_hash(out, &own);
	buf_adds(out, "\">\n");
	add_element(out, "style", &style);
	add_element(out, "style", &look);
	buf_adds(out, end + sizeof served_end - 1);
	/* Behind the page, so that its elements are there. */
	add_data(out, data);
	add_element(out, "script", &term);
	add_element(out, "script", &own);
	return out->err;
}
