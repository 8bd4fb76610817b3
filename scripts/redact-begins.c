/* redact-begins.c - the marks of redaction's words, made while wardbox is built
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "redact/redact_in.h"

static void put(const char *name, const uint8_t *marks, size_t n)
{
	printf("static const uint8_t %s[%zu] = {", name, n);
	for (size_t i = 0; i < n; i++)
		printf("%s%u,", i % 16 ? " " : "\n\t", marks[i]);
	printf("\n};\n");
}

int main(void)
{
	static uint8_t begins[REDACT_BEGINS / 8], ends[REDACT_ENDS / 8];

	redact_token_begins(begins);
	redact_name_ends(ends);
	printf("#include <stdint.h>\n\n");
	put("token_begins", begins, sizeof begins);
	put("name_ends", ends, sizeof ends);
	return ferror(stdout) || fflush(stdout);
}
