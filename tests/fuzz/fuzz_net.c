/* fuzz_net.c - what comes in over the network: the first byte says what it is
 * SPDX-License-Identifier: MIT
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "net/net_in.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_name(const char *name)
{
	if (strlen(name) > NET_NAME_MAX ||
		name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.:?")])
		abort();
}

static void fuzz_dns(const uint8_t *data, size_t size)
{
	struct net_addr a[NET_ADDRS];
	struct net_query q;
	uint8_t out[NET_DNS_MAX];
	uint32_t ttl;
	int n;

	if (net_dns_query(&q, data, size) == 0) {
		check_name(q.name);
		a[0] = (struct net_addr){.family = AF_INET6};
		if (net_dns_answer(out, &q, data, NET_DNS_OK, a) > sizeof out ||
			net_dns_answer(out, &q, data, NET_DNS_NXDOMAIN, NULL) >
				sizeof out)
			abort();
	}
	n = net_dns_addrs(data, size, 1, "a", NET_DNS_A, a, &ttl);
	if (n > NET_ADDRS)
		abort();
	n = net_dns_addrs(data, size, 1, "a", NET_DNS_AAAA, a, &ttl);
	if (n > NET_ADDRS)
		abort();
}

static void fuzz_hello(const uint8_t *data, size_t size)
{
	struct net_hello h;
	uint8_t *copy = malloc(size + 1);

	memcpy(copy, data, size);
	net_hello_parse(&h, copy, size);
	check_name(h.name);
	free(copy);
}

static void fuzz_http(const uint8_t *data, size_t size)
{
	struct net_http h;
	size_t line;
	uint64_t n;

	if (net_http_parse(&h, (const char *)data, size) == 0) {
		check_name(h.host);
		if (!h.host[0] || h.head > size)
			abort();
	}
	if (net_http_chunk((const char *)data, size, &line, &n) == 0 &&
		line > size)
		abort();
}

static void fuzz_socks(const uint8_t *data, size_t size)
{
	struct net_socks s;

	if (net_socks_greeting(&s, data, size) == 0 && s.used > size)
		abort();
	if (net_socks_request(&s, data, size) == 0) {
		check_name(s.host);
		if (s.used > size || !s.port)
			abort();
	}
}

static void fuzz_settings(const uint8_t *data, size_t size)
{
	struct net_hosts *h = calloc(1, sizeof *h);
	char text[300];
	struct net_rule r;
	struct net_spec *spec = calloc(1, sizeof *spec);

	net_conf_servers(h, (const char *)data, size);
	net_conf_hosts(h, (const char *)data, size);
	for (unsigned i = 0; i < h->count; i++)
		check_name(h->host[i].name);
	free(h);
	if (size < sizeof text) {
		memcpy(text, data, size);
		text[size] = '\0';
		if (net_rule_parse(&r, text))
			check_name(r.name);
		if (net_proxy_parse(spec, text))
			check_name(spec->proxy.name);
	}
	free(spec);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const kinds[])(const uint8_t *, size_t) = {
		fuzz_dns, fuzz_hello, fuzz_http, fuzz_socks, fuzz_settings};

	if (size)
		kinds[data[0] % 5](data + 1, size - 1);
	return 0;
}
