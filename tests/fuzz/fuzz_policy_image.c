/* fuzz_policy_image.c - an image that somebody forged: refused, or harmless
 * SPDX-License-Identifier: MIT
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "policy/policy_image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Makes the header fit the bytes, so that it is the rest which is wrong. */
static void whole(struct img_header *h, size_t size)
{
	size_t rest = size - sizeof(*h);

	memcpy(h->magic, "WBPOLICY", 8);
	h->endian = IMG_ENDIAN;
	h->version = IMG_VERSION;
	h->size = (uint32_t)size;
	h->width = h->width % 2 ? 4 : 2;
	h->layer %= POLICY_LAYERS;
	if (h->cells > rest / h->width)
		h->cells = (uint32_t)(rest / h->width);
	h->bytes = (uint32_t)(rest - (size_t)h->cells * h->width);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct policy_request req = {.text = "a b; git -c x=y log >c",
		.len = 22,
		.profile = POLICY_DEV,
		.cwd = "/nowhere",
		.root = "/nowhere"};
	char *copy = malloc(size ? size : 1);
	struct policy_image img = {0};
	struct policy_verdict v;
	struct policy p = {.layer = {&img}};
	struct diag d;

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	if (size > sizeof(struct img_header))
		whole((struct img_header *)(void *)copy, size);
	if (policy_image_check(&img, copy, size, &d) == 0) {
		autogrants struct policy_grants g = {0};

		policy_decide_line(&p, &req, &v, NULL, NULL);
		policy_grants(&p, POLICY_DEV, "/nowhere", "/home", &g);
	}
	free(copy);
	return 0;
}
