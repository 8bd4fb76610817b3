/* policy_default.c - the built-in policy, from configs/default.policy, and those
 * of configs/policies
 * SPDX-License-Identifier: MIT
 */
#include "policy_default.h"

#include "policy/policy_image.h"

static const struct {
	struct img_header head;
	DEFAULT_WIDTH cell[sizeof((DEFAULT_WIDTH[]){DEFAULT_CELLS}) /
			   sizeof(DEFAULT_WIDTH)];
	char str[sizeof((char[]){DEFAULT_TEXTS})];
} bytes = {{DEFAULT_HEAD}, {DEFAULT_CELLS}, {DEFAULT_TEXTS}};

const struct policy_image policy_default = {
	.head = &bytes.head, .cell = bytes.cell, .str = bytes.str};
const uint64_t policy_default_mark = DEFAULT_MARK;

static const struct policy_shipped shipped[] = {
#include "policy_shipped.h"
	{NULL, NULL},
};

const struct policy_shipped *policy_shipped(void)
{
	return shipped;
}
