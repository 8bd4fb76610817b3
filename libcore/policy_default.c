/* policy_default.c - the built-in policy, from configs/default.policy
 * SPDX-License-Identifier: MIT
 */
#include "policy_compile.h"

const char policy_default_text[] =
#include "policy_default.h"
	;
