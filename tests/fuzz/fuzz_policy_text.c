/* fuzz_policy_text.c - a policy file: compiled, checked, asked
 * SPDX-License-Identifier: MIT
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "policy/policy_load.h"
#include "redact/redact.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void hide(struct redact *r, const char *p, size_t n, size_t cut,
	struct buf *out)
{
	struct redact_stream s = REDACT_STREAM_INIT;

	if (redact_feed(r, &s, p, cut, out) ||
		redact_feed(r, &s, p + cut, n - cut, out) ||
		redact_flush(r, &s, true, out))
		abort();
	redact_stream_release(&s);
}

/* Its redact lines, tried on the text that they stand in: whole or in two. */
static void try_redact(const struct policy_grants *g, const char *p, size_t n)
{
	autobuf struct buf one = BUF_INIT(1 << 20), two = BUF_INIT(1 << 20);
	struct redact r = REDACT_INIT;

	if ((!g->redact.pattern_count && !g->redact.secret_count) || n > 4000)
		return;
	redact_use_policy(&r, &g->redact);
	hide(&r, p, n, n, &one);
	hide(&r, p, n, n / 2, &two);
	if (one.len != two.len ||
		(one.len && memcmp(one.data, two.data, one.len) != 0))
		abort();
	redact_release(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct policy_request req = {
		.text = "cat a b; git -c x=y log; X=1 make",
		.profile = POLICY_DEV,
		.cwd = "/nowhere",
		.root = "/nowhere",
		.home = "/home"};
	autogrants struct policy_grants g = {0};
	struct policy_verdict v;
	struct policy p = {0};
	struct diag d = {0};
	void *bytes;
	size_t n;

	req.len = strlen(req.text);
	if (policy_build_text("f", (const char *)data, size, &bytes, &n, &d) <
		0) {
		if (!d.text[0])
			abort();
		return 0;
	}
	/* What the compiler makes, the loader takes. */
	if (policy_image_wrap(&p.layer[0], bytes, n, &d) < 0)
		abort();
	policy_decide_line(&p, &req, &v, NULL, NULL);
	if (policy_grants(&p, POLICY_DEV, "/nowhere", "/home", &g) < 0)
		abort();
	try_redact(&g, (const char *)data, size);
	policy_image_free(p.layer[0]);
	return 0;
}
