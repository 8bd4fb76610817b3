/* policy_env.c - variables that a command may not set
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "policy_judge.h"
#include "str.h"

/* A fixed one may stay what it is, PATH may lead to where commands are from
 * anyway, and some values do no harm in any line. */
static bool changes_nothing(
	struct judge *j, const char *name, const struct shell_str *value)
{
	struct shell_str old = {name, strlen(name)};
	char pair[256];
	struct buf b = BUF_FIXED(pair);
	const char *text;

	if (!value || shell_str_unknown(*value, true))
		return false;
	text = judge_text(j, value->p, value->n);
	if (str_eq(name, "PATH"))
		return judge_plain_search(j, j->search) &&
		       judge_plain_search(j, text);
	buf_addf(&b, "%s=%s", name, text);
	buf_str(&b);
	if (!b.err && judge_granted(j, LIST_ENV_SAFE, pair))
		return true;
	return !judge_env_denied(j, name) &&
	       judge_walk_ops.getvar(j, old, &old) > 0 &&
	       shell_str_is(old, text);
}

bool judge_setenv(struct judge_cmd *k, const char *name,
	const struct shell_str *value, bool unset)
{
	struct judge *j = k->j;

	j->work += 4;
	if (strchr(name, SHELL_ANY) || strchr(name, SHELL_REL)) {
		judge_raise(k, POLICY_DENY, "env",
			"the variable's name is not known before it runs");
		return true;
	}
	if (unset) {
		if (judge_listed(j, LIST_ENV_UNSET, name))
			judge_raise(k, POLICY_DENY, "env",
				"%s may not be taken away", name);
		return true;
	}
	/* The walker knows what IFS does, and every shell makes its own. */
	if (str_eq(name, "IFS") || (!judge_env_denied(j, name) &&
				!judge_listed(j, LIST_ENV_FIXED, name)))
		return true;
	if (!changes_nothing(j, name, value)) {
		judge_raise(k, POLICY_DENY, "env",
			"%s decides what programs run or how they read their "
			"input",
			judge_show(j, name));
		judge_alternative(k,
			str_eq(name, "PATH")
				? "call it by its path, as in .venv/bin/python"
				: "leave the variable as it is");
	}
	return false;
}
