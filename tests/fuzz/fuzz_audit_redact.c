/* fuzz_audit_redact.c - redaction does not depend on how a stream is cut
 * SPDX-License-Identifier: MIT
 *
 * The first two bytes say where to cut the rest.
 */
#include <stdlib.h>
#include <string.h>

#include "redact/redact.h"

static void run(struct redact *r, const char *p, size_t n, size_t a, size_t b,
	bool shell, struct buf *out)
{
	struct redact_stream s = {.shell = shell};

	a = a < n ? a : n;
	b = b < n - a ? b : n - a;
	if (redact_feed(r, &s, p, a, out) || redact_feed(r, &s, p + a, b, out) ||
		redact_feed(r, &s, p + a + b, n - a - b, out) ||
		redact_flush(r, &s, true, out) || redact_pending(&s))
		abort();
	redact_stream_release(&s);
}

/* What came out is what went in, but for as many bytes as the marks say. */
static void undo(const char *p, size_t n, const struct buf *out)
{
	static const char mark[] = "[REDACTED]{";
	size_t at = 0;

	/* A mark that was there already is like any other. */
	if (memmem(p, n, mark, sizeof mark - 1))
		return;
	for (size_t i = 0; i < out->len;) {
		if (at < n && p[at] == out->data[i] &&
			(out->len - i < sizeof mark - 1 ||
				memcmp(out->data + i, mark, sizeof mark - 1) != 0)) {
			at++;
			i++;
			continue;
		}
		if (out->len - i < sizeof mark - 1 ||
			memcmp(out->data + i, mark, sizeof mark - 1) != 0)
			abort();
		i += sizeof mark - 1;
		at += strtoul(out->data + i, NULL, 10);
		while (out->data[i++] != '}')
			;
	}
	if (at != n)
		abort();
}

/* With a pause behind every few bytes: what comes out may be another, but all
 * of it comes out, or a mark for it. */
static void pausing(
	struct redact *r, const char *p, size_t n, size_t step, bool shell)
{
	struct redact_stream s = {.shell = shell};
	struct buf out = BUF_INIT(1 << 22);

	for (size_t at = 0; at < n; at += step) {
		if (redact_feed(r, &s, p + at, n - at < step ? n - at : step,
			    &out) ||
			redact_flush(r, &s, false, &out) || redact_pending(&s))
			abort();
	}
	if (redact_flush(r, &s, true, &out))
		abort();
	undo(p, n, &out);
	buf_release(&out);
	redact_stream_release(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	static const char *const env[] = {"A_TOKEN=abcdefgh", "B_KEY=abcdabcdx",
		NULL};
	struct policy_redact digits = {.id = "x",
		.prefix = "ab",
		.bytes = {['0' / 8] = 0xff},
		.min = 2,
		.max = 5};
	const struct policy_redacts policy = {
		.pattern = &digits, .pattern_count = 1};
	struct redact r = REDACT_INIT;
	struct buf whole = BUF_INIT(1 << 22), cut = BUF_INIT(1 << 22);
	size_t a, b;

	/* Beyond what can be held the answer may depend on the cut. */
	if (n < 2 || n > 4000)
		return 0;
	a = p[0];
	b = p[1];
	p += 2;
	n -= 2;
	redact_add_env(&r, env);
	redact_use_policy(&r, &policy);
	for (unsigned shell = 0; shell < 2; shell++) {
		buf_clear(&whole);
		buf_clear(&cut);
		run(&r, (const char *)p, n, n, 0, shell, &whole);
		run(&r, (const char *)p, n, a, b, shell, &cut);
		if (whole.len != cut.len ||
			(whole.len && memcmp(whole.data, cut.data, whole.len)))
			abort();
		undo((const char *)p, n, &whole);
		pausing(&r, (const char *)p, n, a + 1, shell);
	}
	buf_release(&whole);
	buf_release(&cut);
	redact_release(&r);
	return 0;
}
