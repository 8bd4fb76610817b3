/* redact_unit.h - what the tests of redaction share
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_REDACT_UNIT_H
#define WARDBOX_REDACT_UNIT_H

#include "unit.h"

#include <bearssl.h>
#include <stdlib.h>

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

enum { MARK = sizeof "[REDACTED]{" - 1 };

/* Puts what was cut back, with the digest of each piece: what comes out of n
 * bytes at s must be all of them. Leaves of each mark "[REDACTED]", of marks in
 * a row one, and says how many bytes they hid. */
static inline size_t undo(
	struct redact *r, const char *s, size_t n, struct buf *out)
{
	autobuf struct buf plain = BUF_INIT(out->max);
	size_t at = 0, hidden = 0;
	bool row = false;

	for (size_t i = 0; i < out->len;) {
		br_hmac_key_context key;
		br_hmac_context mac;
		uint8_t digest[32];
		unsigned given;
		size_t length;
		char *end;

		if (out->len - i < MARK ||
			memcmp(out->data + i, "[REDACTED]{", MARK) != 0) {
			if (at >= n || s[at] != out->data[i])
				fail_msg("%.*s\n -> %.*s", (int)n, s,
					(int)out->len, out->data);
			buf_addc(&plain, out->data[i++]);
			at++;
			row = false;
			continue;
		}
		length = strtoul(buf_str(out) + i + MARK, &end, 10);
		given = (unsigned)strtoul(end + 1, &end, 16);
		assert_int_equal(*end, '}');
		assert_in_range(length, 1, n - at);
		assert_in_range(length, 1, REDACT_PIECE);
		br_hmac_key_init(&key, &br_sha256_vtable, r->key, REDACT_KEY);
		br_hmac_init(&mac, &key, 0);
		br_hmac_update(&mac, s + at, length);
		br_hmac_out(&mac, digest);
		assert_int_equal(given, (unsigned)digest[0] << 24 |
				digest[1] << 16 | digest[2] << 8 | digest[3]);
		at += length;
		hidden += length;
		if (!row)
			buf_adds(&plain, "[REDACTED]");
		row = true;
		i = (size_t)(end + 1 - out->data);
	}
	if (at != n)
		fail_msg("%zu bytes of %.*s are missing", n - at, (int)n, s);
	buf_clear(out);
	buf_add(out, plain.data, plain.len);
	buf_str(out);
	return hidden;
}

/* Is what run() gets the text of a shell? */
static bool shell_text;

/* The stream in three writes: of cut bytes, of second, and the rest. What comes
 * out, with the marks alone. */
static inline void run(struct redact *r, struct buf *out, const char *s, size_t n,
	size_t cut, size_t second)
{
	struct redact_stream one = {.shell = shell_text};

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
	undo(r, s, n, out);
}

#endif
