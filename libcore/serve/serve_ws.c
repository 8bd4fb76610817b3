/* serve_ws.c - WebSocket's frames and its beginning
 * SPDX-License-Identifier: MIT
 */
#include "serve/serve_ws.h"

#include <bearssl.h>
#include <string.h>

#include "base/base64.h"
#include "base/utf8.h"

int ws_head_read(struct ws_frame *f, const unsigned char *bytes, size_t n,
	bool masked)
{
	size_t need = 2, count;

	if (n < need)
		return 0;
	f->fin = bytes[0] & 0x80;
	f->opcode = (enum ws_opcode)(bytes[0] & 15);
	if (bytes[0] & 0x70 || (f->opcode > WS_BINARY && f->opcode < WS_CLOSE) ||
		f->opcode > WS_PONG || !!(bytes[1] & 0x80) != masked)
		return -WS_PROTOCOL;
	f->len = bytes[1] & 127;
	if (f->opcode >= WS_CLOSE && (!f->fin || f->len > 125))
		return -WS_PROTOCOL;
	count = f->len == 126 ? 2 : f->len == 127 ? 8 : 0;
	need += count + (masked ? 4 : 0);
	if (n < need)
		return 0;
	if (count) {
		f->len = 0;
		for (size_t i = 0; i < count; i++)
			f->len = f->len << 8 | bytes[2 + i];
		/* The shortest form alone. */
		if (f->len < (count == 2 ? 126 : 65536))
			return -WS_PROTOCOL;
	}
	memset(f->mask, 0, sizeof f->mask);
	if (masked)
		memcpy(f->mask, bytes + need - 4, 4);
	return (int)need;
}

void ws_unmask(const struct ws_frame *f, uint64_t at, char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		bytes[i] = (char)(bytes[i] ^ (char)f->mask[(at + i) & 3]);
}

static void head_add(
	struct buf *out, enum ws_opcode opcode, size_t n, bool masked)
{
	unsigned char head[10] = {(unsigned char)(0x80 | opcode)};
	size_t count = n < 126 ? 0 : n < 65536 ? 2 : 8;

	head[1] = (unsigned char)(count == 0 ? n : count == 2 ? 126 : 127);
	for (size_t i = 0; i < count; i++)
		head[2 + i] = (unsigned char)((uint64_t)n >>
			8 * (count - 1 - i));
	if (masked)
		head[1] |= 0x80;
	buf_add(out, head, 2 + count);
}

void ws_head_add(struct buf *out, enum ws_opcode opcode, size_t n)
{
	head_add(out, opcode, n, false);
}

void ws_frame_add(struct buf *out, enum ws_opcode opcode, const void *bytes,
	size_t n, const unsigned char *mask)
{
	struct ws_frame f = {.len = n};
	char *at;

	head_add(out, opcode, n, mask);
	if (mask) {
		memcpy(f.mask, mask, 4);
		buf_add(out, mask, 4);
	}
	at = n ? buf_reserve(out, n) : NULL;
	if (!at)
		return;
	memcpy(at, bytes, n);
	ws_unmask(&f, 0, at, n);
	out->len += n;
}

void ws_close_add(struct buf *out, enum ws_code code, const char *why,
	const unsigned char *mask)
{
	char text[126] = {(char)(code >> 8), (char)code};
	size_t n = strlen(why);

	n = n < 120 ? n : 120;
	memcpy(text + 2, why, n);
	ws_frame_add(out, WS_CLOSE, text, n + 2, mask);
}

int ws_close_read(const char *bytes, size_t n)
{
	const unsigned char *p = (const unsigned char *)bytes;
	int code = n >= 2 ? p[0] << 8 | p[1] : WS_NONE;

	if (!n)
		return WS_NONE;
	if (n == 1 || code < 1000 || code > 4999 ||
		(code >= 1004 && code <= 1006) || (code > 1014 && code < 3000))
		return -WS_PROTOCOL;
	return utf8_valid(bytes + 2, n - 2) ? code : -WS_TEXT_BAD;
}

bool ws_accept(const char *key, char answer[static WS_ACCEPT_SIZE])
{
	static const char id[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
	unsigned char hash[br_sha1_SIZE];
	br_sha1_context sha;
	struct buf out = buf_fixed(answer, WS_ACCEPT_SIZE);

	/* 16 bytes in base64. */
	if (strlen(key) != 24 || key[22] != '=' || key[23] != '=')
		return false;
	br_sha1_init(&sha);
	br_sha1_update(&sha, key, 24);
	br_sha1_update(&sha, id, sizeof id - 1);
	br_sha1_out(&sha, hash);
	base64_add(&out, hash, sizeof hash);
	buf_str(&out);
	return true;
}

/* A frame begins: is it one that may stand here? */
static int frame_begin(struct ws_reader *r)
{
	enum ws_opcode op = r->frame.opcode;

	r->in_frame = true;
	r->at = 0;
	if (op >= WS_CLOSE)
		return 0;
	if ((op == WS_MORE) != (r->message != WS_MORE))
		return -WS_PROTOCOL;
	if (op != WS_MORE) {
		r->message = op;
		r->fresh = true;
	}
	if (r->message == WS_TEXT ? r->frame.len > r->text.max - r->text.len
				  : r->frame.len > WS_FRAME_MAX)
		return -WS_BIG;
	return 0;
}

/* The frame's bytes are all here; what is said by it. */
static int frame_end(struct ws_reader *r, struct ws_piece *out)
{
	r->in_frame = false;
	if (r->frame.opcode < WS_CLOSE && r->frame.fin) {
		out->opcode = r->message;
		r->message = WS_MORE;
		out->bytes = r->text.data;
		out->n = r->text.len;
		if (out->opcode == WS_BINARY)
			return 0;
		return utf8_valid(out->bytes, out->n) ? 1 : -WS_TEXT_BAD;
	}
	return 0;
}

static int take_binary(struct ws_reader *r, char *bytes, size_t n,
	struct ws_piece *out)
{
	*out = (struct ws_piece){WS_BINARY, bytes, n, r->fresh};
	r->fresh = false;
	return 1;
}

/* A control frame may stand between a message's frames, so its bytes are not kept
 * with the message's: all of it is to be here. */
static int take_control(struct ws_reader *r, char *bytes, struct ws_piece *out)
{
	*out = (struct ws_piece){r->frame.opcode, bytes, (size_t)r->frame.len,
		true};
	r->in_frame = false;
	return 1;
}

int ws_next(struct ws_reader *r, char *bytes, size_t n, size_t *used,
	struct ws_piece *out)
{
	size_t here;
	int got;

	*used = 0;
	if (!r->in_frame) {
		if (r->message == WS_MORE)
			buf_clear(&r->text);
		got = ws_head_read(&r->frame, (unsigned char *)bytes, n,
			r->client);
		if (got <= 0)
			return got;
		if (r->frame.opcode >= WS_CLOSE &&
			n - (size_t)got < r->frame.len)
			return 0;
		*used = (size_t)got;
		got = frame_begin(r);
		if (got)
			return got;
	}
	here = n - *used < r->frame.len - r->at ? n - *used
		: (size_t)(r->frame.len - r->at);
	bytes += *used;
	*used += here;
	ws_unmask(&r->frame, r->at, bytes, here);
	r->at += here;
	if (r->frame.opcode >= WS_CLOSE)
		return take_control(r, bytes, out);
	if (r->message == WS_TEXT)
		buf_add(&r->text, bytes, here);
	got = 0;
	if (r->message == WS_BINARY && here)
		got = take_binary(r, bytes, here, out);
	if (r->at == r->frame.len) {
		struct ws_piece whole = {0};
		int end = frame_end(r, &whole);

		if (end)
			*out = whole;
		got = end ? end : got;
	}
	return got ? got : *used ? 2 : 0;
}
