/* policy_default.c - the built-in policy, from configs/default.policy
 * SPDX-License-Identifier: MIT
 */
#include "policy_image.h"

#include "policy_default.h"

const uint64_t policy_default_words[] = {POLICY_DEFAULT_WORDS};
const size_t policy_default_size = sizeof(policy_default_words);
