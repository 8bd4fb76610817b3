/* policy_default.c - the built-in policy, from configs/default.policy
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
