/* fuzz_audit_body.c - any CBOR body: taken apart, shown, compared with tinycbor
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "log/audit_read.h"
#include "log/audit_read_json.h"
#include "base/cbor.h"

/* Our reader takes all that tinycbor finds deterministic, but floats and
 * 16 levels and more. */
static int has_float_or_depth(const uint8_t *p, size_t n)
{
	unsigned deep = 0;

	for (size_t i = 0; i < n; i++) {
		if (p[i] >= 0xf8)
			return 1;
		deep += p[i] >> 5 >= 4 && p[i] >> 5 <= 6;
	}
	return deep >= CBOR_DEPTH - 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	static const uint8_t link[32];
	struct cbor_in in = {.p = p, .end = p + n};
	struct audit_record r = {
		.frame = {.body = p, .body_len = n, .link = link}};
	struct buf out = BUF_INIT(1 << 24);
	struct json j = JSON_INIT(&out);
	int skip = cbor_skip(&in);

	if (n && !cbor_check(p, n) && !has_float_or_depth(p, n) &&
		(skip || in.p != in.end))
		abort();
	if (!audit_record_parse(&r))
		audit_json(&j, &r);
	buf_release(&out);
	return 0;
}
