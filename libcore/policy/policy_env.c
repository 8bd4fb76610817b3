/* policy_env.c - what variables are, and which a command may not set
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "sys/env.h"
#include "policy/policy_judge_in.h"
#include "base/str.h"

/* Is it a variable that shells make up by themselves? */
static bool shell_made(const char *name)
{
	return str_after(name, "BASH") || str_after(name, "EPOCH") ||
	       str_index("DIRSTACK\0EUID\0FUNCNAME\0GROUPS\0HOSTNAME\0"
			 "HOSTTYPE\0LINENO\0MACHTYPE\0OPTARG\0OPTIND\0"
			 "OSTYPE\0PIPESTATUS\0RANDOM\0SECONDS\0SHELL\0"
			 "SHELLOPTS\0SHLVL\0SRANDOM\0TERM\0UID\0_\0PS4\0"
			 "PATH\0",
		       name) >= 0;
}

int judge_getvar(void *ctx, struct shell_str name, struct shell_str *value)
{
	struct judge *j = ctx;
	const char *s = judge_text(j, name.p, name.n), *v = NULL;

	/* $PPID stands for itself, so that a rule can name it. */
	if (str_eq(s, "PPID"))
		v = "$PPID";
	else if (str_eq(s, "HOME"))
		v = j->home;
	else if (str_eq(s, "PWD"))
		v = j->cwd;
	else if (str_eq(s, "PATH"))
		v = j->search;
	else if (j->env)
		v = env_get(j->env, s);
	if (v && strpbrk(v, JUDGE_MARKS))
		return -1;
	if (!v)
		return j->blind || shell_made(s) ? -1 : 0;
	*value = (struct shell_str){v, strlen(v)};
	return 1;
}

/* Does the policy say that this value is harmless in any line? */
static bool is_safe(
	struct judge *j, const char *name, const struct shell_str *value)
{
	if (!value || shell_str_unknown(*value, true))
		return false;
	return judge_granted(j, LIST_ENV_SAFE,
		judge_print(j, "%s=%.*s", name, (int)value->n, value->p));
}

bool judge_is_source(struct judge *j, const char *name)
{
	return judge_listed(j, LIST_ENV_SOURCE, name);
}

void judge_guided(struct judge_cmd *k, const char *name)
{
	struct judge *j = k->j;

	/* A variable that says where packages come from stands for all. */
	if (!j->guided || !judge_is_source(j, j->guided))
		j->guided = name;
	judge_raise(k, POLICY_OPEN, "env",
		"%s decides what programs run or how they read their input",
		judge_show(j, name));
}

bool judge_setenv(struct judge_cmd *k, const char *name,
	const struct shell_str *value, bool unset)
{
	struct judge *j = k->j;

	j->work += 4;
	if (strpbrk(name, SHELL_REL_S SHELL_ANY_S)) {
		judge_raise(k, POLICY_OPEN, "env",
			"the variable's name is not known before it runs");
		return true;
	}
	if (unset) {
		if (judge_listed(j, LIST_ENV_UNSET, name))
			judge_raise(k, POLICY_DENY, "env",
				"%s may not be taken away", name);
		return true;
	}
	/* The reader knows what IFS does, and every shell sets IFS itself. */
	if (str_eq(name, "IFS") ||
		(!judge_env_denied(j, name) &&
			!judge_listed(j, LIST_ENV_FIXED, name)))
		return true;
	if (!is_safe(j, name, value))
		judge_guided(k, name);
	return false;
}
