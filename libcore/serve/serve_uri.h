/* serve_uri.h - paths as file: URIs
 * SPDX-License-Identifier: MIT
 *
 * Pure.
 */
#ifndef WARDBOX_SERVE_URI_H
#define WARDBOX_SERVE_URI_H

#include <limits.h>
#include <stddef.h>

#include "base/buf.h"

/* The absolute path that a file: URI of this machine names, "." and ".." folded
 * away. -EINVAL, -ENAMETOOLONG. */
int uri_read(char path[static PATH_MAX], const char *uri, size_t n);
/* Appends the URI of an absolute path. */
void uri_add(struct buf *out, const char *path);

#endif
