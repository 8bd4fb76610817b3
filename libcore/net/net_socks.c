/* net_socks.c - SOCKS 5 (RFC 1928), as far as a client says where it wants to go
 * SPDX-License-Identifier: MIT
 */
#include "net/net_in.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

enum { VERSION = 5, CONNECT = 1, TO_V4 = 1, TO_NAME = 3, TO_V6 = 4 };

int net_socks_greeting(struct net_socks *s, const uint8_t *bytes, size_t n)
{
	*s = (struct net_socks){0};
	if (n && bytes[0] != VERSION)
		return -EBADMSG;
	if (n < 2 || n < 2U + bytes[1])
		return NET_MORE;
	s->used = 2U + bytes[1];
	s->plain = memchr(bytes + 2, 0, bytes[1]) != NULL;
	return 0;
}

int net_socks_request(struct net_socks *s, const uint8_t *bytes, size_t n)
{
	struct net_addr a = {0};
	size_t size;

	*s = (struct net_socks){0};
	if ((n > 0 && bytes[0] != VERSION) || (n > 1 && bytes[1] != CONNECT) ||
		(n > 2 && bytes[2]))
		return -EBADMSG;
	if (n < 5)
		return NET_MORE;
	switch (bytes[3]) {
	case TO_V4:
		size = 4;
		break;
	case TO_V6:
		size = 16;
		break;
	case TO_NAME:
		size = 1U + bytes[4];
		break;
	default:
		return -EBADMSG;
	}
	if (n < 4 + size + 2)
		return NET_MORE;
	if (bytes[3] == TO_NAME) {
		if (!net_name_copy(s->host, (const char *)bytes + 5, size - 1))
			return -EBADMSG;
	} else {
		a.family = size == 4 ? AF_INET : AF_INET6;
		memcpy(&a.v6, bytes + 4, size);
		net_addr_text(&a, s->host);
	}
	s->port = (uint16_t)(bytes[4 + size] << 8 | bytes[5 + size]);
	s->used = 4 + size + 2;
	return s->port ? 0 : -EBADMSG;
}
