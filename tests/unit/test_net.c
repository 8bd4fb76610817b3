/* test_net.c - names and their rules; DNS, TLS, HTTP and SOCKS as they come in
 * SPDX-License-Identifier: MIT
 */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>

#include "base/str.h"
#include "net/net_serve_in.h"

static void reads_rules(void **state)
{
	static const struct {
		const char *text, *name;
		uint16_t port;
		uint8_t kind;
		bool below;
	} good[] = {
		{"example.com", "example.com", 443, NET_TLS, false},
		{"Example.COM.:80", "example.com", 80, NET_HTTP, false},
		{"*.example.com:8080/http", "example.com", 8080, NET_HTTP, true},
		{"a-b_c.de:22", "a-b_c.de", 22, NET_TCP, false},
		{"10.1.2.3:5432", "10.1.2.3", 5432, NET_TCP, false},
		{"[2001:db8::1]:443/tls", "2001:db8::1", 443, NET_TLS, false},
		{"[2001:DB8:0::1]:80", "2001:db8::1", 80, NET_HTTP, false},
		{"x/tcp", "x", 443, NET_TCP, false},
		{"*", "", 443, NET_TLS, true},
		{"*:22", "", 22, NET_TCP, true},
	};
	static const char *const bad[] = {"", ":80", "a:0", "a:65536", "a:x",
		"a/udp", "*a", "*.", "a..b", ".a", "a b", "*.*.b", "a*", "[::1",
		"[10.0.0.1]:1", "*.10.0.0.1", "a:80/", "a:+80", "\xc3\xa4.de",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};
	struct net_rule r;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		assert_true(net_rule_parse(&r, good[i].text));
		assert_string_equal(r.name, good[i].name);
		assert_int_equal(r.port, good[i].port);
		assert_int_equal(r.kind, good[i].kind);
		assert_int_equal(r.below, good[i].below);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (net_rule_parse(&r, bad[i]))
			fail_msg("'%s' is taken for a host", bad[i]);
}

static void matches_names(void **state)
{
	struct net_rule one, below;

	(void)state;
	assert_true(net_rule_parse(&one, "a.example"));
	assert_true(net_rule_parse(&below, "*.a.example:80"));
	assert_true(net_rule_match(&one, "a.example", 443));
	assert_false(net_rule_match(&one, "a.example", 80));
	assert_false(net_rule_match(&one, "b.a.example", 443));
	assert_true(net_rule_match(&below, "x.y.a.example", 80));
	assert_false(net_rule_match(&below, "a.example", 80));
	assert_false(net_rule_match(&below, ".a.example", 80));
	assert_false(net_rule_match(&below, "xa.example", 80));
	assert_true(net_rule_parse(&below, "*:80"));
	assert_true(net_rule_match(&below, "x.y", 80));
	assert_true(net_rule_match(&below, "x", 80));
	assert_false(net_rule_match(&below, "x.y", 443));
	assert_false(net_rule_match(&below, "203.0.113.1", 80));
	assert_false(net_rule_match(&below, "2001:db8::1", 80));
	assert_true(net_rule_parse(&below, "*.113.1:80"));
	assert_false(net_rule_match(&below, "203.0.113.1", 80));
}

static void knows_public_addresses(void **state)
{
	static const char *const public[] = {"1.1.1.1", "203.0.113.1",
		"172.32.0.1", "192.169.0.1", "100.63.0.1", "2a00::1",
		"64:ff9b::101:101", "2002:101:101::"};
	static const char *const other[] = {"0.0.0.0", "10.0.0.1", "127.0.0.1",
		"169.254.169.254", "172.16.0.1", "172.31.255.255",
		"192.168.1.1", "100.64.0.1", "100.100.100.200", "198.18.0.1",
		"224.0.0.1", "255.255.255.255", "168.63.129.16", "::", "::1",
		"::ffff:10.0.0.1", "::ffff:1.1.1.1", "fe80::1", "fd00:ec2::254",
		"ff02::1", "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::",
		"2001::1", "fec0::1"};
	struct net_addr a;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(public); i++) {
		assert_true(net_addr_parse(&a, public[i]));
		if (!net_addr_public(&a))
			fail_msg("%s is public", public[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(other); i++) {
		assert_true(net_addr_parse(&a, other[i]));
		if (net_addr_public(&a))
			fail_msg("%s is not public", other[i]);
	}
}

static void reads_settings(void **state)
{
	static const char resolv[] = "# x\nnameserver 10.0.2.3 ; y\n"
				     "nameserver nonsense\nsearch a b\n"
				     "\tnameserver\t::1\nnameserver 1.1.1.1\n"
				     "nameserver 2.2.2.2";
	static const char hosts[] = "127.0.0.1 localhost\n# 1.2.3.4 no\n"
				    "10.1.1.1\tA.corp b.corp #c\nx y\n"
				    "::1 six un!fit";
	static const char more[] = "domain x.test\nsearch svc.cluster.local un!fit\n"
				   "options edns0 ndots:5 ndots:x\noptions";
	struct net_hosts *h = calloc(1, sizeof *h);

	(void)state;
	net_conf_servers(h, resolv, sizeof resolv - 1);
	assert_int_equal(h->servers, 3);
	assert_int_equal(h->server[1].family, AF_INET6);
	assert_int_equal(h->dots, 1);
	assert_int_equal(h->searches, 2);
	assert_string_equal(h->search[1], "b");
	net_conf_hosts(h, hosts, sizeof hosts - 1);
	assert_int_equal(h->count, 4);
	assert_string_equal(h->host[1].name, "a.corp");
	assert_string_equal(h->host[3].name, "six");
	/* A single name; the last list of domains counts. */
	memset(h, 0, sizeof *h);
	h->only = "b.corp";
	net_conf_hosts(h, hosts, sizeof hosts - 1);
	assert_int_equal(h->count, 1);
	net_conf_servers(h, more, sizeof more - 1);
	assert_int_equal(h->servers, 1);
	assert_int_equal(h->dots, 5);
	assert_int_equal(h->searches, 1);
	assert_string_equal(h->search[0], "svc.cluster.local");
	free(h);
}

static size_t ask(uint8_t *msg, const char *name, uint16_t type)
{
	return net_dns_ask(msg, 7, name, type);
}

static void reads_questions(void **state)
{
	uint8_t msg[NET_DNS_MAX], out[NET_DNS_MAX];
	struct net_addr a, found[NET_ADDRS];
	struct net_query q;
	uint32_t ttl;
	size_t n = ask(msg, "www.example.com", NET_DNS_A), size;

	(void)state;
	assert_int_equal(net_dns_query(&q, msg, n), 0);
	assert_string_equal(q.name, "www.example.com");
	assert_int_equal(q.type, NET_DNS_A);
	assert_false(q.odd);
	for (size_t i = 0; i < q.end; i++)
		assert_int_equal(net_dns_query(&q, msg, i), -EBADMSG);
	assert_int_equal(net_dns_query(&q, msg, n), 0);
	assert_true(net_addr_parse(&a, "198.18.1.0"));
	size = net_dns_answer(out, &q, msg, NET_DNS_OK, &a);
	assert_int_equal(
		net_dns_addrs(out, size, 7, q.name, NET_DNS_A, found, &ttl), 1);
	assert_true(net_addr_equal(&found[0], &a));
	assert_int_equal(ttl, 60);
	/* Another's answer, a question's, one for another type. */
	assert_int_equal(net_dns_addrs(out, size, 8, q.name, NET_DNS_A, found,
				 &ttl), -EBADMSG);
	assert_int_equal(net_dns_addrs(out, size, 7, "x", NET_DNS_A, found,
				 &ttl), -EBADMSG);
	assert_int_equal(net_dns_addrs(out, size, 7, q.name, NET_DNS_AAAA,
				 found, &ttl), -EBADMSG);
	assert_int_equal(net_dns_addrs(msg, n, 7, q.name, NET_DNS_A, found,
				 &ttl), -EBADMSG);
	for (size_t i = 0; i < size; i++)
		assert_true(net_dns_addrs(out, i, 7, q.name, NET_DNS_A, found,
				    &ttl) <= 0);
	out[2] |= 2;
	assert_int_equal(net_dns_addrs(out, size, 7, q.name, NET_DNS_A, found,
				 &ttl), -EMSGSIZE);
	/* What no host is called. */
	n = ask(msg, "a b.x", NET_DNS_A);
	assert_int_equal(net_dns_query(&q, msg, n), 0);
	assert_string_equal(q.name, "a?b.x");
	/* A name that leads to itself. */
	memcpy(msg + 12, "\xc0\x0c\0\1\0\1", 6);
	assert_int_equal(net_dns_query(&q, msg, 18), -EBADMSG);
	msg[5] = 2;
	n = ask(msg, "x.y", NET_DNS_A);
	msg[5] = 2;
	assert_int_equal(net_dns_query(&q, msg, n), 0);
	assert_true(q.odd);
}

static void follows_aliases(void **state)
{
	/* x -> y -> z, told from behind; an address of another's beside. */
	static const uint8_t msg[] = "\0\1\x81\x80\0\1\0\4\0\0\0\0"
		"\1x\0\0\1\0\1"
		"\1q\0\0\1\0\1\0\0\0\5\0\4\x08\x08\x08\x08"
		"\1z\0\0\1\0\1\0\0\0\5\0\4\x01\x02\x03\x04"
		"\1y\0\0\5\0\1\0\0\0\x9\0\3\1z\0"
		"\1x\0\0\5\0\1\0\0\0\x9\0\3\1y\0";
	static const uint8_t loop[] = "\0\1\x81\x80\0\1\0\2\0\0\0\0"
		"\1x\0\0\1\0\1"
		"\1y\0\0\5\0\1\0\0\0\x9\0\3\1x\0"
		"\1x\0\0\5\0\1\0\0\0\x9\0\3\1y\0";
	struct net_addr found[NET_ADDRS], want;
	uint32_t ttl;

	(void)state;
	assert_int_equal(net_dns_addrs(msg, sizeof msg - 1, 1, "x", NET_DNS_A,
				 found, &ttl), 1);
	assert_true(net_addr_parse(&want, "1.2.3.4"));
	assert_true(net_addr_equal(&found[0], &want));
	assert_int_equal(ttl, 5);
	assert_int_equal(net_dns_addrs(loop, sizeof loop - 1, 1, "x", NET_DNS_A,
				 found, &ttl), 0);
}

/* A ClientHello with a name in records of so many bytes. */
static size_t hello(uint8_t *to, const char *name, size_t record, bool ech)
{
	uint8_t body[1024];
	size_t n = 0, len = strlen(name), at = 0, out = 0, exts;

	memset(body, 0, sizeof body);
	body[0] = 1;
	n = 4;
	body[n] = body[n + 1] = 3;
	n += 2 + 32;
	body[n++] = 0;		 /* session */
	body[n + 1] = 2;	 /* suites */
	body[n + 2] = 0x13;
	body[n + 3] = 1;
	n += 4;
	body[n++] = 1; /* compression */
	n++;
	exts = n;
	n += 2;
	if (*name) {
		body[n + 3] = (uint8_t)(len + 5);
		body[n + 5] = (uint8_t)(len + 3);
		body[n + 8] = (uint8_t)len;
		memcpy(body + n + 9, name, len);
		n += 9 + len;
	}
	if (ech) {
		body[n] = 0xfe;
		body[n + 1] = 0x0d;
		n += 4;
	}
	body[exts] = (uint8_t)((n - exts - 2) >> 8);
	body[exts + 1] = (uint8_t)(n - exts - 2);
	body[2] = (uint8_t)((n - 4) >> 8);
	body[3] = (uint8_t)(n - 4);
	while (at < n) {
		size_t size = n - at < record ? n - at : record;

		memcpy(to + out, "\x16\3\1", 3);
		to[out + 3] = (uint8_t)(size >> 8);
		to[out + 4] = (uint8_t)size;
		memcpy(to + out + 5, body + at, size);
		at += size;
		out += 5 + size;
	}
	return out;
}

static void reads_hellos(void **state)
{
	static const size_t records[] = {1, 3, 50, 4096};
	uint8_t whole[8192], bytes[8192];
	struct net_hello h;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(records); i++) {
		size_t n = hello(whole, "Www.Example.COM", records[i], i & 1);

		memcpy(bytes, whole, n);
		assert_int_equal(net_hello_parse(&h, bytes, n), 0);
		assert_string_equal(h.name, "www.example.com");
		assert_int_equal(h.ech, i & 1);
		for (size_t k = 0; k < n; k++) {
			memcpy(bytes, whole, k);
			assert_int_equal(net_hello_parse(&h, bytes, k),
				NET_MORE);
		}
		/* Nothing may stand behind it. */
		memcpy(bytes, whole, n);
		bytes[n] = 0x16;
		if (records[i] == 4096) {
			memcpy(bytes + 3, "\0\0", 2);
			assert_int_equal(
				net_hello_parse(&h, bytes, n), -EBADMSG);
		}
	}
	assert_int_equal(
		net_hello_parse(&h, bytes, hello(bytes, "", 4096, false)), 0);
	assert_string_equal(h.name, "");
	assert_int_equal(net_hello_parse(&h, bytes,
				 hello(bytes, "a b", 4096, false)), -EBADMSG);
	memcpy(bytes, "GET / HTTP", 10);
	assert_int_equal(net_hello_parse(&h, bytes, 10), -EBADMSG);
	memcpy(bytes, "\x16\3\1\2\0\2", 6);
	assert_int_equal(net_hello_parse(&h, bytes, 6), -EBADMSG);
}

static int http(struct net_http *h, const char *text)
{
	return net_http_parse(h, text, strlen(text));
}

static void reads_requests(void **state)
{
	static const char *const bad[] = {
		"GET / HTTP/1.1\nHost: a\n\n",
		"GET / HTTP/1.1\r\n\r\n",
		"GET / HTTP/2.0\r\nHost: a\r\n\r\n",
		"GET  / HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET / x HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET x HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a\r\nHost : b\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a b\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a:\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a@b\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a\rHost: b\r\n\r\n",
		"GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET http://a@b/ HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET http://b\\@a/ HTTP/1.1\r\nHost: a\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n"
		"Content-Length: 1\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n"
		"Transfer-Encoding: chunked\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n"
		"Content-Length: 1\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: x\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x1\r\n\r\n",
		"CONNECT a HTTP/1.1\r\nHost: a\r\n\r\n",
		"\x16\3\1", "(",
	};
	struct net_http h;
	const char *text;

	(void)state;
	text = "GET /x HTTP/1.1\r\nhOST:\t Example.COM:8080 \r\nA: b\r\n\r\nGET";
	assert_int_equal(http(&h, text), 0);
	assert_string_equal(h.host, "example.com");
	assert_int_equal(h.port, 8080);
	assert_int_equal(h.head, strlen(text) - 3);
	for (size_t i = 0; i < h.head; i++) {
		struct net_http part;

		assert_int_equal(net_http_parse(&part, text, i), NET_MORE);
	}
	assert_int_equal(http(&h, "POST http://a/b?c HTTP/1.0\r\nHost: a\r\n"
				  "Content-Length: 12\r\n\r\n"), 0);
	assert_int_equal(h.length, 12);
	assert_true(h.absolute);
	assert_false(h.websocket);
	/* An address of IPv6 has its brackets, and one spelling. */
	assert_int_equal(http(&h, "GET / HTTP/1.1\r\n"
				  "Host: [2001:DB8:0::1]:81\r\n\r\n"), 0);
	assert_string_equal(h.host, "2001:db8::1");
	assert_int_equal(h.port, 81);
	assert_int_equal(http(&h, "GET / HTTP/1.1\r\nHost: [::1\r\n\r\n"),
		-EBADMSG);
	assert_int_equal(http(&h, "GET / HTTP/1.1\r\nHost: [a.b]\r\n\r\n"),
		-EBADMSG);
	assert_int_equal(http(&h, "GET / HTTP/1.1\r\nHost: [::1]x\r\n\r\n"),
		-EBADMSG);
	assert_int_equal(http(&h, "GET / HTTP/1.1\r\nHost: a\r\n"
		"upgrade: WebSocket\r\nConnection: Upgrade\r\n\r\n"), 0);
	assert_true(h.websocket);
	assert_int_equal(http(&h, "GET / HTTP/1.1\r\nHost: a\r\n"
		"Upgrade: websockets\r\n\r\n"), 0);
	assert_false(h.websocket);
	assert_int_equal(http(&h, "PUT / HTTP/1.1\r\nHost: a\r\n"
				  "Transfer-Encoding: chunked\r\n\r\n"), 0);
	assert_true(h.chunked);
	assert_int_equal(
		http(&h, "CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n"), 0);
	assert_true(h.connect);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (http(&h, bad[i]) != -EBADMSG)
			fail_msg("taken for a request: %s", bad[i]);
}

static int chunk(const char *text, size_t *line, uint64_t *size)
{
	return net_http_chunk(text, strlen(text), line, size);
}

static void reads_chunks(void **state)
{
	uint64_t size;
	size_t line;

	(void)state;
	assert_int_equal(chunk("1fA;x=y\r\n", &line, &size), 0);
	assert_int_equal(size, 0x1fa);
	assert_int_equal(line, 9);
	assert_int_equal(chunk("0\r\n", &line, &size), 0);
	assert_int_equal(chunk("12", &line, &size), NET_MORE);
	assert_int_equal(chunk("\r\n", &line, &size), -EBADMSG);
	assert_int_equal(chunk("1\n", &line, &size), -EBADMSG);
	assert_int_equal(chunk("1 \r\n", &line, &size), -EBADMSG);
	assert_int_equal(chunk("g\r\n", &line, &size), -EBADMSG);
	assert_int_equal(chunk("1;a\rb\r\n", &line, &size), -EBADMSG);
	assert_int_equal(chunk("1234567890abcdef\r\n", &line, &size), -EBADMSG);
}

static int socks(struct net_socks *s, const char *bytes, size_t n)
{
	return net_socks_request(s, (const uint8_t *)bytes, n);
}

static void reads_socks(void **state)
{
	static const char name[] = "\5\1\0\3\5A.com\1\xbb";
	struct net_socks s;

	(void)state;
	assert_int_equal(
		net_socks_greeting(&s, (const uint8_t *)"\5\2\2\0x", 5), 0);
	assert_int_equal(s.used, 4);
	assert_true(s.plain);
	assert_int_equal(
		net_socks_greeting(&s, (const uint8_t *)"\5\1\2", 3), 0);
	assert_false(s.plain);
	assert_int_equal(
		net_socks_greeting(&s, (const uint8_t *)"\4", 1), -EBADMSG);
	assert_int_equal(
		net_socks_greeting(&s, (const uint8_t *)"\5\2\0", 3), NET_MORE);
	for (size_t i = 0; i < sizeof name - 1; i++)
		assert_int_equal(socks(&s, name, i), NET_MORE);
	assert_int_equal(socks(&s, name, sizeof name - 1), 0);
	assert_string_equal(s.host, "a.com");
	assert_int_equal(s.port, 443);
	assert_int_equal(socks(&s, "\5\1\0\1\1\2\3\4\0\x50", 10), 0);
	assert_string_equal(s.host, "1.2.3.4");
	assert_int_equal(socks(&s, "\5\2\0\1\1\2\3\4\0\x50", 10), -EBADMSG);
	assert_int_equal(socks(&s, "\5\1\0\3\1 \0\x50", 8), -EBADMSG);
	assert_int_equal(socks(&s, "\5\1\0\1\1\2\3\4\0\0", 10), -EBADMSG);
}

static void reads_proxies(void **state)
{
	static const char *const bad[] = {"", "https://a:1", "socks5://a:1",
		"http://", "http://a:x", "http://*.a:1", "http://a b:1"};
	struct net_spec *spec = calloc(1, sizeof *spec);

	(void)state;
	assert_true(net_proxy_parse(spec, "http://me:secret@Proxy.corp:3128/"));
	assert_string_equal(spec->proxy.name, "proxy.corp");
	assert_int_equal(spec->proxy.port, 3128);
	assert_string_equal(spec->proxy_auth, "bWU6c2VjcmV0");
	assert_true(net_proxy_parse(spec, "10.0.0.1"));
	assert_int_equal(spec->proxy.port, 80);
	assert_string_equal(spec->proxy_auth, "");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (net_proxy_parse(spec, bad[i]))
			fail_msg("'%s' is taken for a proxy", bad[i]);
	free(spec);
}

static struct serve *new_names(const char *const *rules, size_t n)
{
	struct serve *s = calloc(1, sizeof *s);
	struct net_spec *spec = calloc(1, sizeof *spec);
	static const struct net_keeper front = {.front = true};

	assert_non_null(s);
	assert_non_null(spec);
	s->hosts = calloc(1, sizeof *s->hosts);
	assert_non_null(s->hosts);
	s->keep = &front;
	s->set[0].spec = spec;
	s->set[0].links = 1;
	for (size_t i = 0; i < n; i++)
		assert_true(net_rule_parse(
			&spec->allow[spec->allowed++], rules[i]));
	return s;
}

static void free_names(struct serve *s)
{
	free(s->set[0].spec);
	free(s->hosts);
	free(s);
}

static void rests_names(void **state)
{
	static const char *const rules[] = {"*.b:80", "spelt.b:80"};
	struct serve *s = new_names(rules, ARRAY_SIZE(rules));
	struct serve_conn c = {0};
	struct serve_name *first, *second, *third, *spelt;
	char name[16];

	(void)state;
	s->now_ms = 1000;
	spelt = serve_name_at(s, "spelt.b");
	first = serve_name_at(s, "a0.b");
	s->now_ms++;
	second = serve_name_at(s, "a1.b");
	s->now_ms++;
	third = serve_name_at(s, "a2.b");
	s->now_ms++;
	for (unsigned i = 3; i < SERVE_NAMES_BELOW; i++)
		assert_non_null(serve_name_at(
			s, BUF_PRINT(name, "a%u.b", i)));
	/* A name keeps its place; only spelt names get one beside it. */
	assert_null(serve_name_at(s, "more.b"));
	assert_ptr_equal(serve_name_at(s, "a0.b"), first);
	s->now_ms = 1000 + SERVE_MS_REST - 1;
	assert_null(serve_name_at(s, "more.b"));
	/* A name that is spoken to makes no room. */
	s->now_ms = 1002 + SERVE_MS_REST;
	c.name = first;
	s->conn[s->conns++] = &c;
	assert_ptr_equal(serve_name_at(s, "more.b"), second);
	assert_string_equal(second->name, "more.b");
	assert_ptr_equal(serve_name_at(s, "rest.b"), third);
	assert_null(serve_name_at(s, "most.b"));
	s->conns = 0;
	assert_ptr_equal(serve_name_at(s, "most.b"), first);
	assert_ptr_equal(serve_name_at(s, "spelt.b"), spelt);
	free_names(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_rules),
		cmocka_unit_test(matches_names),
		cmocka_unit_test(knows_public_addresses),
		cmocka_unit_test(reads_settings),
		cmocka_unit_test(reads_questions),
		cmocka_unit_test(follows_aliases),
		cmocka_unit_test(reads_hellos),
		cmocka_unit_test(reads_requests),
		cmocka_unit_test(reads_chunks),
		cmocka_unit_test(reads_socks),
		cmocka_unit_test(reads_proxies),
		cmocka_unit_test(rests_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
