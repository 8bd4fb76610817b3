/* fuzz_plan.c - any plan compiles or is refused, and explains itself
 * SPDX-License-Identifier: MIT
 *
 * Input: two bytes of flags, then grants: a byte of access, a byte that picks a
 * root, text up to a NUL that is the path. Nothing is applied.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "box/sandbox.h"
#include "box/seccomp_in.h"
#include "parts/seccomp_eval.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char paths[32][64];

static void check(const struct sandbox *s)
{
	for (size_t i = 0; i < s->rule_count; i++) {
		const struct sandbox_rule *r = &s->rules[i];

		if (r->path[0] != '/' || (i && !strcmp(r[-1].path, r->path)))
			abort();
		/* What is explained is never more than was granted. */
		if (sandbox_explain(s, r->path, NULL) & ~63U)
			abort();
	}
	if (s->filter_len) {
		struct sc_data d = {.nr = 321};

		if (seccomp_eval(s->filter, s->filter_len, &d) !=
			SC_KILL_PROCESS)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const roots[] = {"/", "/usr", "/usr/bin", "/bin",
		"/tmp", "/proc", "/dev/null", ".", "", "/proc/self", "/etc"};
	autosandbox_plan struct sandbox_plan plan = SANDBOX_PLAN_INIT;
	autosandbox struct sandbox s = SANDBOX_INIT;
	struct diag d = {0};
	size_t at = 2;
	int err;

	if (size < 2)
		return 0;
	plan.net = data[0] & 3;
	plan.unix_all = data[0] & 4;
	plan.relax = data[0] & 8 ? ~0U : 0;
	plan.want = data[0] & 16 ? SANDBOX_MOUNTNS : 0;
	plan.without = data[0] & 32 ? SANDBOX_LANDLOCK : 0;
	plan.keep_caps = data[1];
	for (size_t n = 0; n < 32 && at + 2 < size; n++) {
		const uint8_t *text = data + at + 2;
		const uint8_t *end = memchr(text, 0, size - at - 2);
		size_t len = end ? (size_t)(end - text) : size - at - 2;
		size_t cut = len < 40 ? len : 40;

		strcpy(paths[n], roots[data[at + 1] % 11]);
		strncat(paths[n], (const char *)text, cut);
		err = sandbox_grant(
			&plan, paths[n], data[at] & 63, data[at] & 64, "fuzz");
		if (err)
			abort();
		if (data[at] & 128)
			sandbox_port(&plan, data[at + 1], data[at] & 1);
		at += 2 + len + 1;
	}
	err = sandbox_compile(&plan, &s, &d);
	if (err > 0 || (err < 0 && !d.text[0]))
		abort();
	if (err == 0)
		check(&s);
	return 0;
}
