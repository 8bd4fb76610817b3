/* policy_load.h - from files to an image
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_POLICY_LOAD_H
#define WARDBOX_POLICY_LOAD_H

#include "policy/policy.h"
#include "policy/policy_image.h"

/* Compiles the system layer from its sources (the built-in default when there
 * are none) into bytes that the caller frees. -EINVAL and the like with d. */
int policy_build_system(const struct policy_where *w, void **bytes,
	size_t *size, struct diag *d);

/* Compiles one file as a layer; lists may come from above (NULL: none). */
int policy_build_file(const char *path, enum policy_layer layer, uid_t uid,
	bool trusted, const struct policy_image *above, void **bytes,
	size_t *size, struct diag *d);

/* Compiles a text as the system layer. */
int policy_build_text(const char *name, const char *text, size_t n,
	void **bytes, size_t *size, struct diag *d);

/* Is nothing at path? A link that leads to nothing is there. NULL is absent. */
bool policy_absent(const char *path);

/* Are the image's sources unchanged? */
bool policy_fresh(const struct policy_image *img, const struct policy_where *w);

/* Runs the tests of the layers against all layers together. 0, or -EINVAL with
 * d at the test that failed; *ran counts tests. */
int policy_test(const struct policy *p, unsigned *ran, struct diag *d);

#endif
