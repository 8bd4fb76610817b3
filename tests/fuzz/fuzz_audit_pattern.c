/* fuzz_audit_pattern.c - a policy's redact line, then a text
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "redact.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct redact r = REDACT_INIT;
	struct buf out = BUF_INIT(1 << 22);
	const uint8_t *end = memchr(p, '\n', n);
	struct diag d;
	char *line;

	if (!end || n > 4000)
		return 0;
	line = strndup((const char *)p, (size_t)(end - p));
	if (!redact_add_pattern(&r, line, &d))
		redact_text(&r, (const char *)end, n - (size_t)(end - p), &out);
	free(line);
	buf_release(&out);
	redact_release(&r);
	return 0;
}
