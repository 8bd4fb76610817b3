/* net_dial.c - connections of wardbox's own to hosts by name
 * SPDX-License-Identifier: MIT
 *
 * musl's getaddrinfo() takes 17 KB. What of it is needed stands here, on the same
 * messages that a keeper asks with.
 */
#include "net/net_in.h"

#include <errno.h>
#include <net/if.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/num.h"
#include "base/str.h"

enum {
	ASK_MS = 2500, /* for a name server's answer */
	ASK_ROUNDS = 2,
	HOUR_MS = 3600000,
};

struct dial_found {
	struct net_addr addr[NET_ADDRS];
	unsigned count;
	uint32_t zone; /* the interface of a link's own address; 0: none */
};

/* poll() of one descriptor until end_ns; 0: the time is up. */
static int wait_until(int fd, short events, uint64_t end_ns)
{
	struct pollfd p = {.fd = fd, .events = events};
	uint64_t now, ms;
	int n;

	do {
		now = clock_ns(CLOCK_MONOTONIC);
		ms = now < end_ns ? (end_ns - now) / 1000000 + 1 : 0;
		n = poll(&p, 1, ms < HOUR_MS ? (int)ms : HOUR_MS);
	} while ((!n && ms) || (n < 0 && errno == EINTR));
	return n;
}

/* The addresses of an answer to the question id or the one behind it; got has a bit
 * for each that is answered. */
static void take_answer(struct dial_found *f, const uint8_t *msg, size_t n,
	uint16_t id, const char *name, unsigned *got)
{
	for (unsigned t = 0; t < 2; t++) {
		struct net_addr more[NET_ADDRS];
		uint32_t ttl;
		int count = net_dns_addrs(msg, n, (uint16_t)(id + t), name,
			t ? NET_DNS_AAAA : NET_DNS_A, more, &ttl);

		if (count < 0 || *got & 1U << t)
			continue;
		*got |= 1U << t;
		for (int i = 0; i < count && f->count < NET_ADDRS; i++)
			f->addr[f->count++] = more[i];
	}
}

/* Asks one server for both families. Did it answer? */
static bool ask_server(
	struct dial_found *f, const struct net_addr *server, const char *name)
{
	const uint64_t end =
		clock_ns(CLOCK_MONOTONIC) + ASK_MS * UINT64_C(1000000);
	struct sockaddr_storage at;
	socklen_t size = net_addr_sock(server, 53, &at);
	autofd int fd = socket(server->family,
		SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	uint8_t msg[NET_DNS_MAX];
	unsigned got = 0;
	uint16_t id;

	if (fd < 0 || getrandom(&id, sizeof id, 0) != sizeof id ||
		connect(fd, (struct sockaddr *)&at, size) < 0)
		return false;
	send(fd, msg, net_dns_ask(msg, id, name, NET_DNS_A), MSG_NOSIGNAL);
	send(fd, msg, net_dns_ask(msg, (uint16_t)(id + 1), name, NET_DNS_AAAA),
		MSG_NOSIGNAL);
	while (got != 3 && wait_until(fd, POLLIN, end) > 0) {
		ssize_t n = recv(fd, msg, sizeof msg, 0);

		if (n < 0 && errno != EAGAIN && errno != EINTR)
			break;
		if (n > 0)
			take_answer(f, msg, (size_t)n, id, name, &got);
	}
	return got == 3 || f->count;
}

/* Asks until a server answers. */
static void ask_servers(
	struct dial_found *f, const struct net_hosts *h, const char *name)
{
	for (unsigned i = 0; i < ASK_ROUNDS * h->servers; i++)
		if (ask_server(f, &h->server[i % h->servers], name))
			return;
}

/* The name below each domain of resolv.conf where it has few dots, and by itself. */
static void ask_names(
	struct dial_found *f, const struct net_hosts *h, const char *name)
{
	char whole[2 * NET_NAME_MAX + 2], below[NET_NAME_MAX + 1];
	unsigned dots = 0;

	for (const char *at = name; (at = strchr(at, '.')); at++)
		dots++;
	for (unsigned i = 0; dots < h->dots && i < h->searches && !f->count; i++) {
		BUF_PRINT(whole, "%s.%s", name, h->search[i]);
		if (net_name_copy(below, whole, strlen(whole)))
			ask_servers(f, h, below);
	}
	if (!f->count)
		ask_servers(f, h, name);
}

/* An address in numbers, of a link with its zone: "fe80::1%eth0". */
static bool find_literal(struct dial_found *f, const char *host)
{
	const size_t n = strcspn(host, "%");
	char text[INET6_ADDRSTRLEN];

	if (n >= sizeof text)
		return false;
	memcpy(text, host, n);
	text[n] = '\0';
	f->count = net_addr_parse(&f->addr[0], text);
	f->zone = host[n] ? if_nametoindex(host + n + 1) : 0;
	return f->count;
}

static int find_host(struct dial_found *f, const char *host, struct diag *d)
{
	autofree struct net_hosts *h = calloc(1, sizeof *h);
	const bool whole = *host && host[strlen(host) - 1] == '.';
	char name[NET_NAME_MAX + 1];

	if (find_literal(f, host))
		return 0;
	if (!h)
		return diag_errno(d, -ENOMEM, "%s", host);
	if (!net_name_copy(name, host, strlen(host)))
		return diag_fail(d, -EINVAL, "%s is no host's name", host);
	h->only = name;
	net_hosts_read(h);
	for (unsigned i = 0; i < h->count && f->count < NET_ADDRS; i++)
		f->addr[f->count++] = h->host[i].addr;
	if (whole)
		h->dots = 0;
	if (!f->count)
		ask_names(f, h, name);
	return f->count ? 0
			: diag_fail(d, -EHOSTUNREACH,
				  "%s: no name server knows an address of it",
				  host);
}

static int connect_to(const struct net_addr *a, uint32_t zone, uint16_t port,
	uint64_t wait_ns)
{
	struct sockaddr_storage at;
	socklen_t size = net_addr_sock(a, port, &at), err_size = sizeof(int);
	autofd int fd = socket(
		a->family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int n, err = 0;

	if (a->family == AF_INET6)
		((struct sockaddr_in6 *)(void *)&at)->sin6_scope_id = zone;
	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&at, size)) {
		if (errno != EINPROGRESS)
			return -errno;
		n = wait_until(
			fd, POLLOUT, clock_ns(CLOCK_MONOTONIC) + wait_ns);
		if (n <= 0)
			return n ? -errno : -ETIMEDOUT;
		if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &err_size))
			err = errno;
	}
	return err ? -err : fd_steal(&fd);
}

int net_dial(const char *host, const char *port, uint64_t wait_ns,
	struct diag *d)
{
	struct dial_found f = {.count = 0};
	int got = -EHOSTUNREACH, err;
	unsigned number;

	if (num_uint(port, 1, 65535, &number))
		return diag_fail(d, -EINVAL, "'%s' is no port", port);
	err = find_host(&f, host, d);
	if (err)
		return err;
	for (unsigned i = 0; i < f.count && got < 0; i++)
		got = connect_to(&f.addr[i], f.zone, (uint16_t)number, wait_ns);
	return got < 0 ? diag_errno(d, got, "%s:%s", host, port) : got;
}
