/* fuzz_json_read.c - JSON of any bytes, and every value of what is JSON
 * SPDX-License-Identifier: MIT
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_read.h"
#include "profile/profile_recipe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct json_doc doc = {0};
	struct profile_recipe recipe;
	struct diag d;
	char *text = malloc(size ? size : 1);

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	if (json_read(&doc, text, size, &d) == 0) {
		for (uint32_t i = 0; i < doc.count; i++) {
			struct buf out = BUF_INIT(1 << 20);
			uint32_t steps = 0;

			json_text(&doc, i, &out);
			for (uint32_t k = json_first(&doc, i); k;
				k = json_next(&doc, k)) {
				if (k <= i || k >= doc.count ||
					++steps > doc.count)
					abort();
			}
			buf_release(&out);
		}
		json_find(&doc, 0, "a");
		json_doc_release(&doc);
	}
	if (profile_recipe_parse(&recipe, text, size, &d) == 0)
		profile_recipe_release(&recipe);
	free(text);
	return 0;
}
