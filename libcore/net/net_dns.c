/* net_dns.c - messages of the name service, as far as names and addresses go
 * SPDX-License-Identifier: MIT
 */
#include "net/net_in.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "base/str.h"

enum {
	HEAD = 12,
	CLASS_IN = 1,
	TYPE_CNAME = 5,
	TYPE_OPT = 41,
	FLAG_ANSWER = 0x8000,
	FLAG_CUT = 0x0200,
	FLAG_ASKED = 0x0100, /* recursion desired */
	FLAG_CAN = 0x0080,   /* recursion available */
	HOPS = 32,	     /* of a compressed name */
	ALIASES = 8,
	RECORDS = 128,
};

static uint16_t dns_u16(const uint8_t *b)
{
	return (uint16_t)(b[0] << 8 | b[1]);
}

static uint8_t *dns_put16(uint8_t *to, unsigned v)
{
	to[0] = (uint8_t)(v >> 8);
	to[1] = (uint8_t)v;
	return to + 2;
}

/* The name at *at, in lower case; *at is behind it. Bytes that no host's name has
 * become '?'. Pointers lead backwards only, so that there is an end. */
static bool dns_name(const uint8_t *msg, size_t n, size_t *at,
	char out[static NET_NAME_MAX + 1])
{
	size_t i = *at, len = 0, behind = 0, least = n;

	for (unsigned hops = 0; i < n && msg[i];) {
		unsigned label = msg[i];

		if (label >= 0xc0) {
			if (i + 1 >= n || ++hops > HOPS)
				return false;
			behind = behind ? behind : i + 2;
			i = (size_t)(label & 0x3f) << 8 | msg[i + 1];
			if (i >= least)
				return false;
			least = i;
			continue;
		}
		if (label > 63 || i + 1 + label > n ||
			len + label + 1 > NET_NAME_MAX + 1)
			return false;
		if (i < least)
			least = i;
		if (len)
			out[len++] = '.';
		for (unsigned k = 0; k < label; k++) {
			uint8_t c = msg[i + 1 + k];

			if (c >= 'A' && c <= 'Z')
				c += 'a' - 'A';
			out[len++] = (c >= 'a' && c <= 'z') ||
						(c >= '0' && c <= '9') ||
						c == '-' || c == '_'
				? (char)c
				: '?';
		}
		i += 1 + label;
	}
	if (i >= n || len > NET_NAME_MAX)
		return false;
	out[len] = '\0';
	*at = behind ? behind : i + 1;
	return true;
}

int net_dns_query(struct net_query *q, const uint8_t *msg, size_t n)
{
	size_t at = HEAD;

	*q = (struct net_query){0};
	if (n < HEAD)
		return -EBADMSG;
	q->id = dns_u16(msg);
	q->flags = dns_u16(msg + 2);
	if (q->flags & FLAG_ANSWER || dns_u16(msg + 4) < 1 ||
		!dns_name(msg, n, &at, q->name) || at + 4 > n)
		return -EBADMSG;
	q->type = dns_u16(msg + at);
	q->class = dns_u16(msg + at + 2);
	q->end = at + 4;
	/* An option record may follow, which is not answered. */
	q->odd = q->flags & 0x7800 || dns_u16(msg + 4) != 1 ||
		dns_u16(msg + 6) || dns_u16(msg + 8) || q->class != CLASS_IN ||
		q->end > NET_DNS_MAX - 64;
	return 0;
}

size_t net_dns_answer(uint8_t out[static NET_DNS_MAX], const struct net_query *q,
	const uint8_t *msg, enum net_rcode code, const struct net_addr *a)
{
	/* A question that is too long is not repeated. */
	size_t end = q->odd ? HEAD : q->end;
	uint8_t *to = out + end;
	size_t size;

	memcpy(out, msg, end);
	dns_put16(out + 2,
		FLAG_ANSWER | (q->flags & (0x7800 | FLAG_ASKED)) | FLAG_CAN |
			(unsigned)code);
	dns_put16(out + 4, end > HEAD);
	dns_put16(out + 6, a != NULL);
	dns_put16(out + 8, 0);
	dns_put16(out + 10, 0);
	if (!a)
		return end;
	size = a->family == AF_INET ? 4 : 16;
	to = dns_put16(to, 0xc000 | HEAD);
	to = dns_put16(to, a->family == AF_INET ? NET_DNS_A : NET_DNS_AAAA);
	to = dns_put16(to, CLASS_IN);
	to = dns_put16(to, 0);
	to = dns_put16(to, 60);
	to = dns_put16(to, (unsigned)size);
	memcpy(to, &a->v6, size);
	return (size_t)(to - out) + size;
}

size_t net_dns_ask(uint8_t out[static NET_DNS_MAX], uint16_t id,
	const char *name, uint16_t type)
{
	uint8_t *to = out;

	memset(out, 0, HEAD);
	dns_put16(out, id);
	dns_put16(out + 2, FLAG_ASKED);
	dns_put16(out + 4, 1);
	dns_put16(out + 10, 1);
	to += HEAD;
	while (*name) {
		size_t n = strcspn(name, ".");

		*to++ = (uint8_t)n;
		memcpy(to, name, n);
		to += n;
		name += n + (name[n] == '.');
	}
	*to++ = 0;
	to = dns_put16(to, type);
	to = dns_put16(to, CLASS_IN);
	/* How long an answer may be. */
	*to++ = 0;
	to = dns_put16(to, TYPE_OPT);
	to = dns_put16(to, NET_DNS_MAX);
	memset(to, 0, 6);
	return (size_t)(to - out) + 6;
}

/* One record. False: it cannot be read. */
struct dns_record {
	char name[NET_NAME_MAX + 1];
	uint16_t type, class, size;
	uint32_t ttl;
	size_t data;
};
static bool dns_record(const uint8_t *msg, size_t n, size_t *at,
	struct dns_record *r)
{
	const uint8_t *b;

	if (!dns_name(msg, n, at, r->name) || *at + 10 > n)
		return false;
	b = msg + *at;
	r->type = dns_u16(b);
	r->class = dns_u16(b + 2);
	r->ttl = (uint32_t)dns_u16(b + 4) << 16 | dns_u16(b + 6);
	r->size = dns_u16(b + 8);
	r->data = *at + 10;
	*at = r->data + r->size;
	return *at <= n;
}

/* The answers that speak of name: an alias replaces it, an address is added. */
static int dns_take(const uint8_t *msg, size_t n, size_t at, uint16_t type,
	char name[static NET_NAME_MAX + 1],
	struct net_addr out[static NET_ADDRS], uint32_t *ttl)
{
	unsigned count = dns_u16(msg + 6);
	struct dns_record r;
	int found = 0;

	for (unsigned i = 0; i < count && i < RECORDS; i++) {
		size_t data;

		if (!dns_record(msg, n, &at, &r))
			return -EBADMSG;
		if (r.class != CLASS_IN || !str_eq(r.name, name))
			continue;
		if (r.type == TYPE_CNAME) {
			data = r.data;
			if (!dns_name(msg, n, &data, name))
				return -EBADMSG;
		} else if (r.type == type && found < NET_ADDRS &&
			r.size == (type == NET_DNS_A ? 4 : 16)) {
			struct net_addr *a = &out[found++];

			*a = (struct net_addr){
				.family = type == NET_DNS_A ? AF_INET
							    : AF_INET6};
			memcpy(&a->v6, msg + r.data, r.size);
		} else {
			continue;
		}
		if (r.ttl < *ttl)
			*ttl = r.ttl;
	}
	return found;
}

int net_dns_addrs(const uint8_t *msg, size_t n, uint16_t id, const char *name,
	uint16_t type, struct net_addr out[static NET_ADDRS], uint32_t *ttl)
{
	char asked[NET_NAME_MAX + 1], now[NET_NAME_MAX + 1];
	size_t at = HEAD;
	int found = 0;

	*ttl = UINT32_MAX;
	if (n < HEAD || dns_u16(msg) != id ||
		!(dns_u16(msg + 2) & FLAG_ANSWER) || dns_u16(msg + 4) != 1 ||
		!dns_name(msg, n, &at, asked) || !str_eq(asked, name) ||
		at + 4 > n || dns_u16(msg + at) != type ||
		dns_u16(msg + at + 2) != CLASS_IN)
		return -EBADMSG;
	if (dns_u16(msg + 2) & FLAG_CUT)
		return -EMSGSIZE;
	if (dns_u16(msg + 2) & 15)
		return 0;
	memcpy(now, asked, sizeof now);
	/* Aliases may come in any order: as often as there may be of them. */
	for (unsigned i = 0; i < ALIASES && found == 0; i++) {
		char before[NET_NAME_MAX + 1];

		memcpy(before, now, sizeof before);
		found = dns_take(msg, n, at + 4, type, now, out, ttl);
		if (str_eq(before, now))
			break;
	}
	return found;
}
