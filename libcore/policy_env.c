/* policy_env.c - variables that a command may not set
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "policy_judge.h"
#include "str.h"

void judge_setenv(struct judge_cmd *k, const char *name, bool unset)
{
	struct judge *j = k->j;

	j->work += 4;
	if (strchr(name, SHELL_ANY) || strchr(name, SHELL_REL)) {
		judge_raise(k, POLICY_DENY, "env",
			"the variable's name is not known before it runs");
		return;
	}
	if (unset) {
		if (judge_listed(j, LIST_ENV_UNSET, name))
			judge_raise(k, POLICY_DENY, "env",
				"%s may not be taken away", name);
		return;
	}
	/* The walker knows what IFS does, and every shell makes its own. */
	if (str_eq(name, "IFS"))
		return;
	if (judge_env_denied(j, name) ||
		judge_listed(j, LIST_ENV_FIXED, name)) {
		judge_raise(k, POLICY_DENY, "env",
			"%s decides what programs run or how they read their "
			"input",
			judge_show(j, name));
		judge_alternative(k, "leave the variable as it is");
	}
}
