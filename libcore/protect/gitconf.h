/* gitconf.h - reads the text of a git configuration file
 * SPDX-License-Identifier: MIT
 *
 * Each variable is shown with the place of its bytes, so that a caller can take
 * single variables out of a text and leave all else as it is. The reader accepts
 * no text that git refuses in the parts that it reads: where the two could
 * differ, it is an error, and the caller takes the file as a whole.
 */
#ifndef WARDBOX_GITCONF_H
#define WARDBOX_GITCONF_H

#include <stddef.h>

enum {
	GITCONF_TEXT_MAX = 1 << 20,
	GITCONF_NAME_MAX = 1024, /* of section.subsection.key */
};

struct gitconf_var {
	const char *name;  /* section and key in lower case, a quoted subsection
			    * as it is written */
	const char *value; /* without quotes and escapes; "true" for a key that
			    * stands alone, as git takes it */
	size_t start, end; /* from the key to the end of its (continued) line,
			    * without the newline */
};

/* A negative errno ends the reading and is returned. */
typedef int gitconf_each(void *ctx, const struct gitconf_var *var);

/* Shows the variables of text[0..n) in order. 0; -EINVAL: git could not read
 * the text either, or git and this reader could differ; -ENOMEM. */
int gitconf_read(const char *text, size_t n, gitconf_each *each, void *ctx);

#endif
