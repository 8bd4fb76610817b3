/* guard_remark.c - which place of a line the sandbox kept from a command that failed
 * SPDX-License-Identifier: MIT
 */
#include "guard/guard_in.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

void guard_remark(struct guard *g)
{
	struct guard_outcome *out = g->out;
	const struct policy_verdict *v = &out->verdict;
	const unsigned want = v->outside_written ? SANDBOX_WRITE
						 : SANDBOX_READ | SANDBOX_LIST;

	if (!out->ran || !WIFEXITED(out->status) ||
		!WEXITSTATUS(out->status) || !v->outside[0] ||
		!g->terms.grants.confine ||
		sandbox_explain(&g->box.sandbox, v->outside, NULL) & want)
		return;
	/* What is not there failed by itself. */
	if (!v->outside_written && access(v->outside, F_OK))
		return;
	diag_fail(&out->kept, -EACCES, "%s lies outside of %s, and the sandbox lets "
		"nobody %s it", v->outside, g->place.root,
		v->outside_written ? "write" : "read");
	diag_hint(&out->kept, "a file of the project or of $TMPDIR, or root grants "
		"it: path %s FILE in %s", v->outside_written ? "rw" : "r",
		POLICY_SYSTEM);
}
