/* net_names.c - the names that were asked for: their addresses inside and outside
 * SPDX-License-Identifier: MIT
 */
#include "net/net_serve_in.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/str.h"

static struct serve_name *name_find(
	struct serve *s, const char *name, bool trusted)
{
	for (unsigned i = 0; i < s->names; i++)
		if (s->name[i].trusted == trusted &&
			str_eq(s->name[i].name, name))
			return &s->name[i];
	return NULL;
}

/* What the machine's own file says of it: the admin's word, which is taken for
 * public. */
static void name_of_hosts(struct serve *s, struct serve_name *n)
{
	for (unsigned i = 0; i < s->hosts->count && n->addrs < NET_ADDRS; i++)
		if (str_eq(s->hosts->host[i].name, n->name))
			n->addr[n->addrs++] = s->hosts->host[i].addr;
	n->listed = n->addrs;
	if (n->addrs)
		n->expires_ms = UINT64_MAX;
}

/* Does a connection depend on the name? */
static bool name_busy(const struct serve *s, const struct serve_name *n)
{
	for (unsigned i = 0; i < s->conns; i++)
		if (s->conn[i]->name == n)
			return true;
	return n->ask.fd >= 0;
}

/* Of the names that no rule spells the one that rested longest, with its address of
 * the pool: no program should remember that any more. */
static struct serve_name *name_rested(struct serve *s)
{
	struct serve_name *found = NULL;

	for (unsigned i = 0; i < s->names; i++) {
		struct serve_name *n = &s->name[i];

		if (!n->spelt && s->now_ms - n->used_ms >= SERVE_MS_REST &&
			(!found || n->used_ms < found->used_ms) &&
			!name_busy(s, n))
			found = n;
	}
	return found;
}

/* Does a rule spell the name? *needs counts the sockets that it listens with. */
static bool name_spelt(const struct serve *s, const char *name, unsigned *needs)
{
	bool spelt = false;

	*needs = 0;
	for (unsigned k = 0; k < SERVE_SETS; k++) {
		const struct net_spec *spec = s->set[k].spec;

		for (unsigned i = 0; spec && i < spec->allowed; i++) {
			if (!net_rule_named(&spec->allow[i], name))
				continue;
			spelt |= !spec->allow[i].below;
			*needs += s->keep->front ? 0 : NET_ROOM_NAME;
		}
	}
	return spelt;
}

static struct serve_name *name_add(
	struct serve *s, const char *name, bool trusted)
{
	unsigned needs;
	const bool spelt = name_spelt(s, name, &needs) || trusted;
	const bool full = s->names == SERVE_NAMES ||
		(!spelt && (s->below >= SERVE_NAMES_BELOW || s->room < needs));
	struct serve_name *n = full ? name_rested(s) : &s->name[s->names++];

	if (!n)
		return NULL;
	s->below = s->below - full + !spelt;
	*n = (struct serve_name){.ask = {SERVE_ANSWER, -1},
		.spelt = spelt,
		.trusted = trusted,
		.used_ms = s->now_ms};
	str_copy(n->name, sizeof n->name, name);
	n->literal = net_addr_parse(&n->addr[0], name);
	n->addrs = n->literal;
	n->expires_ms = n->literal ? UINT64_MAX : 0;
	if (!n->literal)
		name_of_hosts(s, n);
	return n;
}

/* A v4 address in the form that a socket of both families takes. */
static struct net_addr addr_mapped(const struct net_addr *a)
{
	struct net_addr m = {.family = AF_INET6};

	if (a->family == AF_INET6)
		return *a;
	m.v6.s6_addr[10] = m.v6.s6_addr[11] = 0xff;
	memcpy(m.v6.s6_addr + 12, &a->v4, 4);
	return m;
}

/* Waits for clients at the address. */
static int name_listen(struct serve *s, struct serve_name *n, uint16_t port,
	const struct net_addr *at)
{
	struct serve_listener *l = &s->listener[s->listeners];
	struct sockaddr_storage own;
	struct net_addr where = *at;
	socklen_t size;
	int domain = AF_INET, fd;

	for (unsigned i = 0; i < s->listeners; i++)
		if (s->listener[i].port == port &&
			net_addr_equal(&s->listener[i].at, at))
			return 0;
	if (!s->frees || s->listeners == SERVE_LISTENERS)
		return -EMFILE;
	fd = s->free[s->frees - 1];
	size = sizeof domain;
	getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size);
	if (domain == AF_INET6)
		where = addr_mapped(at);
	size = net_addr_sock(&where, port, &own);
	if (bind(fd, (struct sockaddr *)&own, size) < 0 || listen(fd, 512) < 0)
		return -errno;
	s->frees--;
	s->room -= !n->spelt && s->room;
	s->listeners++;
	*l = (struct serve_listener){.fd = {SERVE_LISTENER, fd},
		.name = n,
		.port = port,
		.at = *at};
	return serve_watch(s, &l->fd, EPOLLIN);
}

/* At each port that a command may speak to. */
static int name_listen_all(
	struct serve *s, struct serve_name *n, const struct net_addr *at)
{
	int err = 0;

	for (unsigned k = 0; k < SERVE_SETS; k++) {
		const struct net_spec *spec = s->set[k].spec;

		for (unsigned i = 0; !err && spec && i < spec->allowed; i++)
			if (net_rule_named(&spec->allow[i], n->name))
				err = name_listen(
					s, n, spec->allow[i].port, at);
	}
	return err;
}

static struct serve_name *name_at(struct serve *s, const char *name, bool trusted)
{
	struct serve_name *n = name_find(s, name, trusted);

	return n ? n : name_add(s, name, trusted);
}

struct serve_name *serve_name_at(struct serve *s, const char *name)
{
	return name_at(s, name, false);
}

struct serve_name *serve_name_open(struct serve *s, const char *name,
	sa_family_t family, struct net_addr *out, const char **why)
{
	struct serve_name *n;
	int err;

	*why = "the policy names no such host";
	if (!serve_allowed(s, NULL, name))
		return NULL;
	*why = "too many names at once";
	n = serve_name_at(s, name);
	if (!n)
		return NULL;
	n->used_ms = s->now_ms;
	/* 0.0 to 0.255 are nobody's. */
	*out = net_pool((unsigned)(n - s->name) + 256, family);
	err = name_listen_all(s, n, out);
	if (err == -EADDRINUSE)
		*why = "a program of the session has its port";
	return err ? NULL : n;
}

/* In the namespace such an address is the session's own. */
static bool is_loopback(const struct net_addr *a)
{
	return a->family == AF_INET ? (a->v4.s_addr & htonl(0xff000000)) ==
					      htonl(0x7f000000)
				    : IN6_IS_ADDR_LOOPBACK(&a->v6);
}

struct serve_name *serve_name_beside(
	struct serve *s, const struct serve_name *n, const char *name)
{
	struct serve_name *other = n->listed ? name_find(s, name, false) : NULL;

	for (unsigned i = 0; other && other->listed && i < n->addrs; i++)
		for (unsigned k = 0; k < other->addrs; k++)
			if (net_addr_equal(&n->addr[i], &other->addr[k]))
				return other;
	return NULL;
}

void serve_name_fixed(struct serve *s, struct serve_set *set)
{
	const struct net_spec *spec = set->spec;
	struct serve_name *n;
	struct net_addr a;

	if (spec->proxy.port)
		set->proxy = name_at(s, spec->proxy.name, true);
	if (s->keep->front)
		return;
	for (unsigned i = 0; i < spec->allowed; i++)
		if (net_addr_parse(&a, spec->allow[i].name) &&
			(n = serve_name_at(s, spec->allow[i].name)))
			(void)name_listen(s, n, spec->allow[i].port, &a);
	/* Programs read that file themselves, and ask no name server. */
	for (unsigned i = 0; i < s->hosts->count; i++) {
		const char *name = s->hosts->host[i].name;

		if (serve_allowed(s, set, name) &&
			(n = serve_name_at(s, name)) &&
			!is_loopback(&s->hosts->host[i].addr))
			(void)name_listen_all(s, n, &s->hosts->host[i].addr);
	}
}

/* Does the question say no more than that a program wants to know its own machine's
 * name, or the name of an address? The policy could name no host for it. Words in
 * front of an address's zone are no address. */
static bool asks_itself(const char *name)
{
	const size_t digits = strspn(name, "0123456789abcdef.");
	struct utsname own;

	return (digits && (str_eq(name + digits, "in-addr.arpa") ||
				  str_eq(name + digits, "ip6.arpa"))) ||
		(uname(&own) == 0 && str_eq(name, own.nodename));
}

size_t serve_dns(struct serve *s, const uint8_t *msg, size_t n, uint32_t inode,
	uint8_t out[static NET_DNS_MAX])
{
	struct net_query q;
	struct net_addr a;
	const char *why;
	sa_family_t family;

	if (net_dns_query(&q, msg, n) < 0)
		return 0;
	if (q.odd)
		return net_dns_answer(out, &q, msg, NET_DNS_REFUSED, NULL);
	/* No other type tells a program anything that it needs: a service's
	 * parameters would offer ways that are not looked at. */
	family = q.type == NET_DNS_A ? AF_INET : AF_INET6;
	if (serve_name_open(s, q.name, family, &a, &why))
		return net_dns_answer(out, &q, msg, NET_DNS_OK,
			q.type == NET_DNS_A || q.type == NET_DNS_AAAA ? &a
								      : NULL);
	if (!asks_itself(q.name))
		serve_refuse(s, q.name, NULL, q.type, inode, why);
	return net_dns_answer(out, &q, msg,
		serve_allowed(s, NULL, q.name) ? NET_DNS_SERVFAIL
					       : NET_DNS_NXDOMAIN,
		NULL);
}

/* Asks for both types at once. */
static void name_ask(struct serve *s, struct serve_name *n)
{
	const struct net_addr *to =
		&s->hosts->server[n->asks++ % s->hosts->servers];
	struct sockaddr_storage at;
	socklen_t size = net_addr_sock(to, 53, &at);
	uint8_t msg[NET_DNS_MAX];

	cleanup_fd(&n->ask.fd);
	n->due_ms = s->now_ms + SERVE_MS_ASK;
	n->ask.fd = socket(to->family,
		SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (n->ask.fd < 0 ||
		getrandom(&n->id, sizeof n->id, 0) != sizeof n->id ||
		connect(n->ask.fd, (struct sockaddr *)&at, size) < 0 ||
		serve_watch(s, &n->ask, EPOLLIN) < 0)
		return;
	send(n->ask.fd, msg, net_dns_ask(msg, n->id, n->name, NET_DNS_A), 0);
	send(n->ask.fd, msg,
		net_dns_ask(msg, (uint16_t)(n->id + 1), n->name, NET_DNS_AAAA),
		0);
}

int serve_resolve(struct serve *s, struct serve_name *n)
{
	if (n->ask.fd >= 0)
		return 0;
	if (s->now_ms < n->expires_ms)
		return 1;
	n->addrs = 0;
	n->asks = n->got = 0;
	name_ask(s, n);
	return 0;
}

static void name_done(struct serve *s, struct serve_name *n, uint32_t ttl)
{
	enum { LEAST = 5, MOST = 60 };

	cleanup_fd(&n->ask.fd);
	n->ask.fd = -1;
	ttl = ttl < LEAST ? LEAST : ttl > MOST ? MOST : ttl;
	n->expires_ms = s->now_ms + (n->addrs ? ttl * 1000U : 1000U);
	serve_conn_resolved(s, n);
}

void serve_answer(struct serve *s, struct serve_name *n)
{
	struct net_addr found[NET_ADDRS];
	uint8_t msg[NET_DNS_MAX];
	uint32_t ttl = UINT32_MAX, one;
	ssize_t size;

	while ((size = recv(n->ask.fd, msg, sizeof msg, 0)) >= 0) {
		for (unsigned t = 0; t < 2; t++) {
			int count = net_dns_addrs(msg, (size_t)size,
				(uint16_t)(n->id + t), n->name,
				t ? NET_DNS_AAAA : NET_DNS_A, found, &one);

			if (count < 0 || n->got & 1U << t)
				continue;
			n->got |= (uint8_t)(1U << t);
			ttl = one < ttl ? one : ttl;
			for (int i = 0; i < count; i++)
				if (n->addrs < ARRAY_SIZE(n->addr))
					n->addr[n->addrs++] = found[i];
		}
		if (n->addrs || n->got == 3) {
			name_done(s, n, ttl);
			return;
		}
	}
	/* ECONNREFUSED: nobody is there. */
	if (errno != EAGAIN && errno != EINTR)
		n->due_ms = s->now_ms;
}

void serve_resolve_due(struct serve *s, struct serve_name *n)
{
	if (n->ask.fd < 0 || s->now_ms < n->due_ms)
		return;
	if (n->asks < SERVE_ASKS)
		name_ask(s, n);
	else
		name_done(s, n, 0);
}
