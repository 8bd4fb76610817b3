/* fuzz_gitconf.c - git's settings: any text, and what is taken out of it
 * SPDX-License-Identifier: MIT
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "protect/gitconf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
	size_t size, last, count;
};

static int look(void *ctx, const struct gitconf_var *var)
{
	struct seen *s = ctx;

	/* Places are in order, within the text, and names have their parts. */
	if (var->start < s->last || var->end < var->start ||
		var->end > s->size || !strchr(var->name, '.'))
		abort();
	s->last = var->end;
	s->count++;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct seen s = {.size = size};

	gitconf_read((const char *)data, size, look, &s);
	return 0;
}
