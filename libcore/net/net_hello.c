/* net_hello.c - the name in a TLS ClientHello
 * SPDX-License-Identifier: MIT
 */
#include "net/net_in.h"

#include <errno.h>
#include <string.h>

enum {
	RECORD = 5,
	HANDSHAKE = 22,
	CLIENT_HELLO = 1,
	EXT_NAME = 0,
	EXT_ECH = 0xfe0d,
	RECORD_MAX = 16384,
};

/* Bytes that are taken from the front; .bad once there were too few. */
struct hello_bytes {
	const uint8_t *at;
	size_t n;
	bool bad;
};

static const uint8_t *hello_skip(struct hello_bytes *b, size_t n)
{
	const uint8_t *at = b->at;

	if (b->bad || n > b->n) {
		b->bad = true;
		return NULL;
	}
	b->at += n;
	b->n -= n;
	return at;
}

static size_t hello_number(struct hello_bytes *b, unsigned bytes)
{
	const uint8_t *at = hello_skip(b, bytes);
	size_t v = 0;

	for (unsigned i = 0; at && i < bytes; i++)
		v = v << 8 | at[i];
	return v;
}

/* What follows its own length in so many bytes. */
static struct hello_bytes hello_part(struct hello_bytes *b, unsigned bytes)
{
	size_t n = hello_number(b, bytes);
	const uint8_t *at = hello_skip(b, n);

	return (struct hello_bytes){at, at ? n : 0, !at};
}

static int hello_server_name(struct net_hello *h, struct hello_bytes ext)
{
	struct hello_bytes list = hello_part(&ext, 2), name;
	size_t type = hello_number(&list, 1);

	name = hello_part(&list, 2);
	/* One name, of the one kind that there is. */
	if (ext.bad || ext.n || list.bad || list.n || name.bad || type != 0 ||
		h->name[0] ||
		!net_name_copy(h->name, (const char *)name.at, name.n))
		return -EBADMSG;
	return 0;
}

static int hello_body(struct net_hello *h, struct hello_bytes b)
{
	struct hello_bytes exts;
	int err = 0;

	hello_skip(&b, 2 + 32);
	hello_part(&b, 1);
	hello_part(&b, 2);
	hello_part(&b, 1);
	if (b.bad)
		return -EBADMSG;
	if (!b.n)
		return 0;
	exts = hello_part(&b, 2);
	if (b.n)
		return -EBADMSG;
	while (!err && exts.n && !exts.bad) {
		size_t type = hello_number(&exts, 2);
		struct hello_bytes ext = hello_part(&exts, 2);

		if (exts.bad)
			break;
		if (type == EXT_NAME)
			err = hello_server_name(h, ext);
		h->ech |= type == EXT_ECH;
	}
	return exts.bad ? -EBADMSG : err;
}

int net_hello_parse(struct net_hello *h, uint8_t *bytes, size_t n)
{
	uint8_t *whole = bytes; /* put together in place */
	size_t have = 0, want = 4, at = 0;

	*h = (struct net_hello){0};
	/* A hello may be spread over records. */
	while (have < want) {
		size_t size;

		if ((n - at && bytes[at] != HANDSHAKE) ||
			(n - at > 1 && bytes[at + 1] != 3))
			return -EBADMSG;
		if (n - at < RECORD)
			return NET_MORE;
		size = (size_t)bytes[at + 3] << 8 | bytes[at + 4];
		if (!size || size > RECORD_MAX)
			return -EBADMSG;
		if (n - at - RECORD < size) {
			/* What is no hello is known by its first bytes. */
			if (!have && n - at > RECORD &&
				bytes[at + RECORD] != CLIENT_HELLO)
				return -EBADMSG;
			return NET_MORE;
		}
		memmove(whole + have, bytes + at + RECORD, size);
		have += size;
		at += RECORD + size;
		if (whole[0] != CLIENT_HELLO)
			return -EBADMSG;
		if (have >= 4)
			want = 4 + ((size_t)whole[1] << 16 |
					   (size_t)whole[2] << 8 | whole[3]);
		if (want > NET_PEEK)
			return -EBADMSG;
	}
	/* Nothing stands behind it before the server answered. */
	if (have != want)
		return -EBADMSG;
	return hello_body(h, (struct hello_bytes){whole + 4, want - 4, false});
}
