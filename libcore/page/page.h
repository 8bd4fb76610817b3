/* page.h - the files of the page, and a report made of them
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_PAGE_H
#define WARDBOX_PAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct page_file {
	char path[12]; /* as it is asked for; "/" is the page */
	const char *type;
	const unsigned char *gzip;
	size_t size; /* 0: not built in (SERVE_WEB) */
};

/* The file of that path; NULL: there is none. */
const struct page_file *page_find(const char *path);
/* page_find(), of the terminal's files as well: whoever calls it has them linked. */
const struct page_file *page_find_all(const char *path);

/* Appends what the file says. -EBADMSG, or out's error. */
int page_read(const struct page_file *f, struct buf *out);

/* Appends the page as one file without a server: the data (JSON), style and scripts
 * within, and their hashes for whoever would put others beside them. find is one of
 * the two above. */
int page_report(struct buf *out, const struct buf *data,
	const struct page_file *(*find)(const char *path));

/* Undoes gzip as scripts/page-files makes it: one member, no name. -EBADMSG, or
 * out's error. */
int gzip_read(const unsigned char *p, size_t n, struct buf *out);

#endif
