/* redact_unit.h - what the tests of redaction share
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_REDACT_UNIT_H
#define WARDBOX_REDACT_UNIT_H

#include "unit.h"

#include "redact/redact.h"

static inline int value64(char c)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmn"
				     "opqrstuvwxyz0123456789+/";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* Appends what the base64 at p says; where it ends. */
static inline const char *decode64(const char *p, struct buf *out)
{
	uint32_t bits = 0;
	unsigned have = 0;

	for (; value64(*p) >= 0; p++) {
		bits = bits << 6 | (uint32_t)value64(*p);
		have += 6;
		if (have >= 8)
			buf_addc(out, (char)(bits >> (have -= 8)));
	}
	return p + strspn(p, "=");
}

/* The stream in three writes: of cut bytes, of second, and the rest. */
static inline void run(struct redact *r, struct buf *out, const char *s, size_t n,
	size_t cut, size_t second)
{
	struct redact_stream one = REDACT_STREAM_INIT;

	buf_clear(out);
	cut = cut < n ? cut : n;
	second = second < n - cut ? second : n - cut;
	assert_int_equal(redact_feed(r, &one, s, cut, out), 0);
	assert_int_equal(redact_feed(r, &one, s + cut, second, out), 0);
	assert_int_equal(
		redact_feed(r, &one, s + cut + second, n - cut - second, out),
		0);
	assert_int_equal(redact_flush(r, &one, true, out), 0);
	assert_false(redact_pending(&one));
	redact_stream_release(&one);
}

#endif
