/* serve_uri.c - paths as file: URIs
 * SPDX-License-Identifier: MIT
 */
#include "serve/serve_uri.h"

#include <errno.h>
#include <string.h>

#include "base/num.h"
#include "base/path.h"
#include "base/str.h"

static const char file_scheme[] = "file://";

/* The byte that two hexadecimal digits stand for; 0: they are none, or a NUL. */
static char read_escape(const char *at, const char *end)
{
	char two[3] = "";
	uint64_t v;

	if (end - at < 3)
		return '\0';
	memcpy(two, at + 1, 2);
	return num_hex64(two, &v) ? '\0' : (char)v;
}

int uri_read(char path[static PATH_MAX], const char *uri, size_t n)
{
	static const char local[] = "localhost";
	const size_t begin = sizeof file_scheme - 1, host = sizeof local - 1;
	const char *end = uri + n, *at = uri + begin;
	char text[PATH_MAX];
	struct buf b = BUF_FIXED(text);

	if (n < begin || memcmp(uri, file_scheme, begin) != 0)
		return -EINVAL;
	if ((size_t)(end - at) > host && !memcmp(at, local, host))
		at += host;
	if (at == end || *at != '/')
		return -EINVAL;
	for (; at < end; at++) {
		char c = *at == '%' ? read_escape(at, end) : *at;

		if (!c || *at == '?' || *at == '#')
			return -EINVAL;
		buf_addc(&b, c);
		at += *at == '%' ? 2 : 0;
	}
	return b.err ? -ENAMETOOLONG
		     : path_normal(path, PATH_MAX, "/", buf_str(&b));
}

void uri_add(struct buf *out, const char *path)
{
	static const char plain[] = "/-._~!$&'()*+,;=:@";

	buf_adds(out, file_scheme);
	for (; *path; path++) {
		unsigned char c = (unsigned char)*path;

		if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
			(c >= 'A' && c <= 'Z') || strchr(plain, c))
			buf_addc(out, *path);
		else
			buf_addf(out, "%%%02X", c);
	}
}
