/* fuzz_audit_body.c - any CBOR body: taken apart, shown, compared with tinycbor
 * SPDX-License-Identifier: MIT
 */
#include <cbor.h>
#include <stdlib.h>

#include "log/audit_read.h"
#include "log/audit_read_json.h"
#include "base/cbor.h"

static int tinycbor_takes(const uint8_t *p, size_t n)
{
	const uint32_t strict = (uint32_t)CborValidateCanonicalFormat |
		(uint32_t)CborValidateMapKeysAreUnique |
		(uint32_t)CborValidateMapIsSorted |
		(uint32_t)CborValidateUtf8 | (uint32_t)CborValidateNoUndefined |
		(uint32_t)CborValidateCompleteData;
	CborParser parser;
	CborValue v;

	return !cbor_parser_init(p, n, 0, &parser, &v) &&
		!cbor_value_validate(&v, strict);
}

/* What we call deterministic tinycbor does, too, and our reader takes it; it has
 * no floats, and less than 16 levels. */
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
		(skip || in.p != in.end || !tinycbor_takes(p, n)))
		abort();
	if (!audit_record_parse(&r))
		audit_json(&j, &r);
	buf_release(&out);
	return 0;
}
