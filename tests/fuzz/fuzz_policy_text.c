/* fuzz_policy_text.c - a policy file: compiled, checked, asked
 * SPDX-License-Identifier: MIT
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "policy_load.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct policy_request req = {
		.text = "cat a b; git -c x=y log; X=1 make",
		.profile = POLICY_DEV,
		.cwd = "/nowhere",
		.root = "/nowhere",
		.home = "/home"};
	autogrants struct policy_grants g = {0};
	struct policy_verdict v;
	struct policy p = {0};
	struct diag d = {0};
	void *bytes;
	size_t n;

	req.len = strlen(req.text);
	if (policy_build_text("f", (const char *)data, size, &bytes, &n, &d) <
		0) {
		if (!d.text[0])
			abort();
		return 0;
	}
	/* What the compiler makes, the loader takes. */
	if (policy_image_wrap(&p.layer[0], bytes, n, &d) < 0)
		abort();
	policy_decide_line(&p, &req, &v, NULL, NULL);
	if (policy_grants(&p, POLICY_DEV, "/nowhere", "/home", &g) < 0)
		abort();
	policy_image_free(p.layer[0]);
	return 0;
}
