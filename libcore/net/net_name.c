/* net_name.c - names and addresses, and the rules about them
 * SPDX-License-Identifier: MIT
 */
#include "net/net_in.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/base64.h"
#include "base/buf.h"
#include "base/num.h"
#include "base/str.h"

bool net_name_copy(
	char out[static NET_NAME_MAX + 1], const char *name, size_t n)
{
	size_t label = 0;

	if (n && name[n - 1] == '.')
		n--;
	if (!n || n > NET_NAME_MAX)
		return false;
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)name[i];

		if (c >= 'A' && c <= 'Z')
			c += 'a' - 'A';
		if (c == '.') {
			if (!label)
				return false;
			label = 0;
		} else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
			c == '-' || c == '_') {
			if (++label > 63)
				return false;
		} else {
			return false;
		}
		out[i] = (char)c;
	}
	out[n] = '\0';
	return label > 0;
}

bool net_addr_parse(struct net_addr *a, const char *text)
{
	*a = (struct net_addr){.family = AF_INET};
	if (inet_pton(AF_INET, text, &a->v4) == 1)
		return true;
	a->family = AF_INET6;
	return inet_pton(AF_INET6, text, &a->v6) == 1;
}

/* By hand, because inet_ntop() brings all of printf() along. The longest run of
 * zero groups is "::". */
void net_addr_text(const struct net_addr *a, char out[static INET6_ADDRSTRLEN])
{
	const uint8_t *v4 = (const uint8_t *)&a->v4, *v6 = a->v6.s6_addr;
	struct buf b = {.data = out,
		.cap = INET6_ADDRSTRLEN,
		.max = INET6_ADDRSTRLEN - 1};
	unsigned from = 8, len = 1;

	if (a->family == AF_INET)
		buf_addf(&b, "%u.%u.%u.%u", v4[0], v4[1], v4[2], v4[3]);
	for (unsigned i = 0, n = 0; i < 8; i++) {
		n = v6[2 * i] || v6[2 * i + 1] ? 0 : n + 1;
		if (n > len) {
			len = n;
			from = i + 1 - n;
		}
	}
	for (unsigned i = 0; i < 8 && a->family == AF_INET6; i++) {
		if (i == from) {
			buf_adds(&b, "::");
			i += len - 1;
			continue;
		}
		buf_addf(&b, "%s%x", i && i != from + len ? ":" : "",
			(unsigned)v6[2 * i] << 8 | v6[2 * i + 1]);
	}
	buf_str(&b);
}

bool net_addr_copy(
	char out[static NET_NAME_MAX + 1], const char *text, size_t n)
{
	struct net_addr a;

	if (n < 3 || n > INET6_ADDRSTRLEN || text[0] != '[' || text[n - 1] != ']')
		return false;
	memcpy(out, text + 1, n - 2);
	out[n - 2] = '\0';
	if (!net_addr_parse(&a, out) || a.family != AF_INET6)
		return false;
	net_addr_text(&a, out);
	return true;
}

bool net_addr_equal(const struct net_addr *a, const struct net_addr *b)
{
	return a->family == b->family &&
		memcmp(&a->v6, &b->v6,
			a->family == AF_INET ? sizeof a->v4 : sizeof a->v6) == 0;
}

socklen_t net_addr_sock(
	const struct net_addr *a, uint16_t port, struct sockaddr_storage *out)
{
	struct sockaddr_in v4 = {.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr = a->v4};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6,
		.sin6_port = htons(port),
		.sin6_addr = a->v6};

	*out = (struct sockaddr_storage){0};
	if (a->family == AF_INET)
		memcpy(out, &v4, sizeof v4);
	else
		memcpy(out, &v6, sizeof v6);
	return a->family == AF_INET ? sizeof v4 : sizeof v6;
}

/* The blocks of IPv4 that are not the world's. */
static bool is_public4(uint32_t v4)
{
	static const struct {
		uint32_t base;
		unsigned bits;
	} not[] = {{0x00000000, 8}, {0x0a000000, 8}, {0x64400000, 10},
		{0x7f000000, 8}, {0xa9fe0000, 16}, {0xac100000, 12},
		{0xc0000000, 24}, {0xc0586300, 24}, {0xc0a80000, 16},
		{0xc6120000, 15}, {0xe0000000, 3}};

	for (size_t i = 0; i < ARRAY_SIZE(not); i++)
		if ((v4 ^ not[i].base) >> (32 - not[i].bits) == 0)
			return false;
	/* A cloud's host behind a public address, which serves metadata. */
	return v4 != 0xa83f8110;
}

static uint32_t read_u32(const uint8_t *b)
{
	return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 |
		(uint32_t)b[2] << 8 | b[3];
}

bool net_addr_public(const struct net_addr *a)
{
	static const uint8_t nat64[12] = {0, 0x64, 0xff, 0x9b};
	const uint8_t *b = a->v6.s6_addr;

	if (a->family == AF_INET)
		return is_public4(ntohl(a->v4.s_addr));
	/* What carries an address of the older kind is as public as that. */
	if (memcmp(b, nat64, sizeof nat64) == 0)
		return is_public4(read_u32(b + 12));
	if (b[0] == 0x20 && b[1] == 0x02)
		return is_public4(read_u32(b + 2));
	/* Only 2000::/3 is given out; Teredo carries anything. */
	return (b[0] & 0xe0) == 0x20 &&
		!(b[0] == 0x20 && b[1] == 0x01 && b[2] == 0 && b[3] == 0);
}

bool net_rule_parse(struct net_rule *r, const char *text)
{
	const char *slash = strrchr(text, '/');
	size_t n = slash ? (size_t)(slash - text) : strlen(text), host = n;
	struct net_addr addr;
	char port[8] = "443";
	uint64_t number;
	int kind = -1;

	*r = (struct net_rule){0};
	if (slash && (kind = str_index(NET_KINDS, slash + 1)) < 0)
		return false;
	while (host && text[host - 1] != ':' && text[host - 1] != ']')
		host--;
	if (host && text[host - 1] == ':') {
		if (n - host >= sizeof port)
			return false;
		memcpy(port, text + host, n - host);
		port[n - host] = '\0';
		n = host - 1;
	}
	if (num_u64(port, 1, 65535, &number) < 0)
		return false;
	r->port = (uint16_t)number;
	r->kind = kind >= 0 ? (uint8_t)kind
		: r->port == 443 ? NET_TLS
		: r->port == 80	? NET_HTTP
				: NET_TCP;
	if (text[0] == '[')
		return net_addr_copy(r->name, text, n);
	r->below = n && text[0] == '*';
	if (r->below && n == 1)
		return true;
	if (r->below) {
		if (text[1] != '.')
			return false;
		text += 2;
		n -= 2;
	}
	return net_name_copy(r->name, text, n) &&
		!(r->below && net_addr_parse(&addr, r->name));
}

bool net_rule_named(const struct net_rule *r, const char *name)
{
	size_t n = strlen(name), own = strlen(r->name);
	struct net_addr addr;

	if (!r->below)
		return str_eq(r->name, name);
	if (net_addr_parse(&addr, name))
		return false;
	return !own ||
		(n > own + 1 && name[n - own - 1] == '.' &&
			str_eq(name + n - own, r->name));
}

bool net_rule_match(const struct net_rule *r, const char *name, uint16_t port)
{
	return r->port == port && net_rule_named(r, name);
}

bool net_proxy_parse(struct net_spec *spec, const char *url)
{
	const char *host = str_after(url, "http://"), *at;
	struct buf auth = BUF_FIXED(spec->proxy_auth);
	char text[NET_NAME_MAX + 16];
	size_t n;

	host = host ? host : url;
	n = strcspn(host, "/");
	at = memrchr(host, '@', n);
	if (at) {
		base64_add(&auth, (const uint8_t *)host, (size_t)(at - host));
		n -= (size_t)(at + 1 - host);
		host = at + 1;
	}
	buf_str(&auth);
	BUF_PRINT(text, memchr(host, ':', n) ? "%.*s/tcp" : "%.*s:80/tcp", (int)n,
		host);
	if (auth.err || str_find(host, "://") ||
		!net_rule_parse(&spec->proxy, text) || spec->proxy.below) {
		spec->proxy.port = 0;
		return false;
	}
	return true;
}
