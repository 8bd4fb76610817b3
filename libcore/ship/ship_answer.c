/* ship_answer.c - what an HTTP server answers
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <strings.h>

#include "base/json_read.h"
#include "base/num.h"
#include "base/str.h"
#include "ship/ship_in.h"

enum { CHUNK_LINE_MAX = 256 };

/* What the head says of the body. */
struct head {
	size_t len;
	uint64_t length; /* UINT64_MAX: to the end of the connection */
	bool chunked;
};

static bool value_number(const char *p, const char *end, uint64_t *n)
{
	char text[24];
	size_t len = (size_t)(end - p);

	if (len >= sizeof text)
		return false;
	memcpy(text, p, len);
	text[len] = '\0';
	return !num_u64(text, 0, INT_MAX, n);
}

/* One field, up to its line's end. */
static int head_field(struct ship_answer *a, struct head *h, const char *p,
	const char *end)
{
	const char *colon = memchr(p, ':', (size_t)(end - p));
	const size_t n = colon ? (size_t)(colon - p) : 0;

	if (!n)
		return -EBADMSG;
	p = colon + 1;
	while (p < end && chr_space(*p))
		p++;
	while (end > p && chr_space(end[-1]))
		end--;
	if (n == 14 && !strncasecmp(colon - n, "content-length", n))
		return value_number(p, end, &h->length) ? 0 : -EBADMSG;
	if (n == 17 && !strncasecmp(colon - n, "transfer-encoding", n)) {
		h->chunked = end - p == 7 && !strncasecmp(p, "chunked", 7);
		return h->chunked ? 0 : -EBADMSG;
	}
	/* A date, which it may be, too, is no number, and then our own time counts. */
	if (n == 11 && !strncasecmp(colon - n, "retry-after", n) &&
		!value_number(p, end, &a->retry_s))
		a->retry_s = 0;
	return 0;
}

/* "HTTP/1.1 200 OK" */
static int head_status(struct ship_answer *a, const char *p, size_t n)
{
	if (n < 12 || memcmp(p, "HTTP/1.", 7) != 0 || p[8] != ' ' ||
		!chr_digit(p[9]) || !chr_digit(p[10]) || !chr_digit(p[11]) ||
		(n > 12 && p[12] != ' '))
		return -EBADMSG;
	a->status = (p[9] - '0') * 100 + (p[10] - '0') * 10 + p[11] - '0';
	return 0;
}

/* 0, or -EAGAIN before its end. */
static int head_read(struct ship_answer *a, struct head *h, const char *bytes,
	size_t n)
{
	const char *end = memmem(bytes, n, "\r\n\r\n", 4), *p = bytes;
	int err = 0;

	*h = (struct head){.length = UINT64_MAX};
	if (!end)
		return -EAGAIN;
	h->len = (size_t)(end - bytes) + 4;
	while (!err && p <= end) {
		const char *line = memmem(
			p, (size_t)(bytes + h->len - p), "\r\n", 2);

		if (!line)
			return -EBADMSG;
		err = p == bytes ? head_status(a, p, (size_t)(line - p))
				 : head_field(a, h, p, line);
		p = line + 2;
	}
	return err;
}

static void body_add(struct ship_answer *a, const char *bytes, size_t n)
{
	const size_t room = sizeof a->body - a->len;

	n = n < room ? n : room;
	memcpy(a->body + a->len, bytes, n);
	a->len += n;
}

/* How long the chunk's line is, and of how many bytes it tells; 0: it is cut. */
static int chunk_line(const char *p, size_t n, uint64_t *size)
{
	const char *end = memmem(p, n, "\r\n", 2);
	size_t digits = 0;
	char text[9];

	if (!end || end - p > CHUNK_LINE_MAX)
		return n > CHUNK_LINE_MAX + 1 ? -EBADMSG : 0;
	while (p + digits < end && digits < 8 && strchr("0123456789abcdefABCDEF",
							p[digits]))
		digits++;
	memcpy(text, p, digits);
	text[digits] = '\0';
	if (num_hex64(text, size) || (p + digits < end && p[digits] != ';' &&
					     !chr_space(p[digits])))
		return -EBADMSG;
	return (int)(end - p) + 2;
}

/* How far the body goes; 0: further. */
static int body_chunked(struct ship_answer *a, const char *p, size_t n)
{
	size_t at = 0;

	for (;;) {
		uint64_t size = 0;
		int line = chunk_line(p + at, n - at, &size);

		if (line <= 0)
			return line;
		at += (size_t)line;
		/* What stands behind the last one is of no use to us. */
		if (!size)
			return (int)at;
		if (n - at < size + 2)
			return 0;
		body_add(a, p + at, (size_t)size);
		at += (size_t)size;
		if (memcmp(p + at, "\r\n", 2) != 0)
			return -EBADMSG;
		at += 2;
	}
}

int ship_answer_read(struct ship_answer *a, const char *bytes, size_t n,
	bool ended)
{
	struct head h;
	int got;

	*a = (struct ship_answer){0};
	got = head_read(a, &h, bytes, n);
	if (got)
		return got == -EAGAIN ? 0 : got;
	/* "100 Continue", which nobody asked for. */
	if (a->status < 200)
		return -EBADMSG;
	if (a->status == 204 || a->status == 304)
		return (int)h.len;
	if (h.chunked) {
		got = body_chunked(a, bytes + h.len, n - h.len);
		return got > 0 ? got + (int)h.len : got;
	}
	if (h.length == UINT64_MAX ? !ended : n - h.len < h.length)
		return 0;
	n = h.length == UINT64_MAX ? n - h.len : (size_t)h.length;
	body_add(a, bytes + h.len, n);
	return (int)(h.len + n);
}

/* Numbers of 64 bits stand in strings, or as they are. */
static bool count_read(const struct json_doc *doc, uint32_t node, uint64_t *n)
{
	const struct json_node *v = &doc->node[node];

	return (v->type == JSON_STRING || v->type == JSON_NUMBER) &&
		value_number(doc->text + v->at, doc->text + v->at + v->len, n);
}

int ship_answer_partial(const struct ship_answer *a, uint64_t *refused,
	struct buf *why)
{
	autojson struct json_doc doc = {0};
	uint32_t partial, node;

	*refused = 0;
	if (!a->len)
		return 0;
	if (a->len == sizeof a->body || json_read(&doc, a->body, a->len, NULL) ||
		json_type(&doc, 0) != JSON_OBJECT)
		return -EBADMSG;
	partial = json_find(&doc, 0, "partialSuccess");
	node = partial ? json_find(&doc, partial, "rejectedLogRecords") : 0;
	if (node && !count_read(&doc, node, refused))
		return -EBADMSG;
	node = partial ? json_find(&doc, partial, "errorMessage") : 0;
	if (node && json_type(&doc, node) == JSON_STRING &&
		json_text(&doc, node, why))
		why->err = 0;
	return 0;
}
