/* redact_lines.c - the default policy's lines about programs and their secrets
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/str.h"
#include "policy_default.h"
#include "redact/redact_in.h"

const struct policy_secret redact_lines[] = {DEFAULT_SECRETS};
const size_t redact_line_count = ARRAY_SIZE(redact_lines);

bool redact_listed(const char *list, const char *p, size_t n, bool cut)
{
	for (const char *end; *list; list = end + (*end == '|')) {
		const size_t len = (size_t)((end = strchrnul(list, '|')) - list);

		if ((cut ? n <= len : n == len) && memcmp(list, p, n) == 0)
			return true;
	}
	return false;
}
