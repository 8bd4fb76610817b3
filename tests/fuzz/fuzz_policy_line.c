/* fuzz_policy_line.c - any line, by the built-in policy
 * SPDX-License-Identifier: MIT
 *
 * What no shell can read is never allowed; the profiles keep their order; a
 * line with another behind it is as strict as the line, where both can be read.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "policy/policy.h"
#include "base/str.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct policy *policy;

static struct policy_verdict decide(
	enum policy_profile profile, const char *text, size_t n)
{
	static char path[] = "PATH=/usr/bin:/bin";
	char *const env[] = {path, NULL};
	struct policy_request req = {.text = text,
		.len = n,
		.profile = profile,
		.cwd = "/srv/project",
		.root = "/srv/project",
		.home = "/home/dev",
		.env = env};
	struct policy_verdict v;

	policy_decide_line(policy, &req, &v, NULL, NULL);
	if (!v.rule[0] || v.would > POLICY_DENY ||
		strlen(v.reason) >= sizeof(v.reason))
		abort();
	return v;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct policy_where none = {0};
	struct policy_verdict dev, full, twice;
	char *text;

	if (!policy && policy_load(&policy, &none, NULL) < 0)
		abort();
	if (size > 4096)
		return 0;
	text = malloc(size + 16);
	if (!text)
		return 0;
	memcpy(text, data, size);
	dev = decide(POLICY_DEV, text, size);
	full = decide(POLICY_FULL_AUTO, text, size);
	if (dev.would < full.would)
		abort();
	if (str_eq(full.rule, "unparsable") && full.would == POLICY_ALLOW)
		abort();
	memcpy(text + size, "\nsudo id\n", 9);
	twice = decide(POLICY_FULL_AUTO, text, size + 9);
	/* A here-document or a comment may take the last line in; all else that
	 * can be read runs it. */
	if (twice.would == POLICY_ALLOW && !memchr(data, '<', size) &&
		!memchr(data, '\\', size) && full.would == POLICY_ALLOW &&
		!memchr(data, '\'', size) && !memchr(data, '"', size) &&
		!memchr(data, '`', size) && !memchr(data, '(', size) &&
		!memchr(data, '{', size))
		abort();
	free(text);
	return 0;
}
