/* policy_test.c - the tests that a policy carries
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <string.h>

#include "policy/policy_load.h"

static int run_test(const struct policy *p, const struct policy_image *img,
	const struct img_test *t, enum policy_profile profile, struct diag *d)
{
	/* The place does not exist, so that only the texts of paths decide. */
	struct policy_request req = {.text = img_str(img, t->text),
		.profile = profile,
		.cwd = "/srv/project",
		.root = "/srv/project",
		.home = "/home/user"};
	struct policy_verdict v;

	req.len = strlen(req.text);
	policy_decide_line(p, &req, &v, NULL, NULL);
	if (v.would == t->decision)
		return 0;
	diag_fail(d, -EINVAL, "test failed: expected %s in %s, got %s (%s): %s",
		policy_decision_name((enum policy_decision)t->decision),
		policy_profile_name(profile), policy_decision_name(v.would),
		v.rule, req.text);
	diag_at(d, img_str(img, t->file), t->line, 1);
	return -EINVAL;
}

int policy_test(const struct policy *p, unsigned *ran, struct diag *d)
{
	*ran = 0;
	for (unsigned l = 0; l < POLICY_LAYERS; l++) {
		const struct policy_image *img = p->layer[l];
		uint32_t count = img ? IMG_COUNT(img, IMG_TEST) : 0;
		struct img_test t;

		for (uint32_t i = 0; i < count; i++) {
			img_get(img, IMG_TEST, i, &t);
			for (unsigned k = 0; k < POLICY_PROFILES; k++) {
				if (!(t.profiles & 1U << k))
					continue;
				if (run_test(p, img, &t, (enum policy_profile)k,
					    d) < 0)
					return -EINVAL;
				++*ran;
			}
		}
	}
	return 0;
}
