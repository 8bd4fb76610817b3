/* policy-image.c - compiles the built-in policy while wardbox is built
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy_compile.h"

/* What `include default` would take: there is none yet. */
const uint64_t policy_default_words[] = {0};
const size_t policy_default_size = 0;

static char *slurp(const char *path, size_t *n)
{
	FILE *f = fopen(path, "rb");
	char *text = malloc(POLICY_TEXT_MAX);

	if (!f || !text)
		return NULL;
	*n = fread(text, 1, POLICY_TEXT_MAX, f);
	fclose(f);
	return text;
}

int main(int argc, char **argv)
{
	struct policy_compiler *c = malloc(sizeof(*c));
	struct diag d = {0};
	size_t n = 0, size, whole;
	void *bytes;
	uint64_t *words;
	char *text = argc == 2 ? slurp(argv[1], &n) : NULL;

	if (!c || !text) {
		fprintf(stderr, "policy-image: cannot read the policy\n");
		return 1;
	}
	if (policy_compile_init(c, POLICY_LAYER_SYSTEM, NULL) < 0 ||
		policy_compile_text(c, "default", text, n, &d) < 0 ||
		build_finish(&c->b, &bytes, &size) < 0) {
		fprintf(stderr, "%s:%u:%u: %s\n", argv[1], d.line, d.col,
			d.text);
		return 1;
	}
	whole = (size + 7) / 8 * 8;
	words = calloc(1, whole);
	if (!words)
		return 1;
	memcpy(words, bytes, size);
	((struct img_header *)(void *)words)->size = (uint32_t)whole;
	printf("#define POLICY_DEFAULT_WORDS");
	for (size_t i = 0; i < whole / 8; i++)
		printf("%s0x%" PRIx64 ",", i % 8 ? " " : " \\\n\t", words[i]);
	putchar('\n');
	return 0;
}
