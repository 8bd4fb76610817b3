/* net_conn.c - one connection: whose it is, to whom it goes, its bytes
 * SPDX-License-Identifier: MIT
 */
#include "net/net_serve_in.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/str.h"

static void conn_close(struct serve *s, struct serve_conn *c, const char *why)
{
	const struct linger hard = {.l_onoff = 1};
	struct net_event ev = {.kind = c->inward ? NET_ENTERED : NET_ENDED,
		.port = c->port,
		.inode = c->inode,
		.count = 1,
		.up = c->up.bytes,
		.down = c->down.bytes};

	if (c->dead)
		return;
	c->dead = true;
	s->again = true; /* its memory goes when all events were looked at */
	if (c->name || c->inward) {
		if (c->name)
			c->name->used_ms = s->now_ms;
		if (c->name)
			str_copy(ev.name, sizeof ev.name, c->name->name);
		if (c->addr.family)
			net_addr_text(&c->addr, ev.addr);
		str_copy(ev.why, sizeof ev.why, why);
		/* A connection that no command claims is the newest one's. */
		serve_tell(s, c->owner ? c->owner : serve_link_newest(s), &ev);
	}
	/* A client whose connection is broken off gets a reset. */
	if (*why)
		setsockopt(c->in.fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
	serve_flow_end(s, &c->up);
	serve_flow_end(s, &c->down);
	if (c->inward)
		serve_inward_end(s, c);
	cleanup_fd(&c->in.fd);
	cleanup_fd(&c->out.fd);
	c->in.fd = c->out.fd = -1;
}

void serve_conn_refuse(
	struct serve *s, struct serve_conn *c, const char *why)
{
	serve_refuse(s, c->name->name, c, 0, c->inode, why);
	c->name = NULL;
	conn_close(s, c, "refused");
}

ssize_t serve_conn_peek(struct serve *s, const struct serve_conn *c)
{
	ssize_t n = recv(c->in.fd, s->peek, sizeof s->peek, MSG_PEEK);

	return n < 0 ? -errno : n;
}

/* Whom it connects to: the name, or the machine's own proxy. */
static struct serve_name *conn_via(const struct serve_conn *c)
{
	return c->set->proxy && !c->name->literal && !c->name->listed
		? c->set->proxy
		: c->name;
}

/* May the name lead there? A private address is spoken to when it is named. */
static bool may_lead(const struct serve *s, const struct serve_conn *c,
	const struct serve_name *via, const struct net_addr *a)
{
	char text[INET6_ADDRSTRLEN];

	/* The machine's own file is the admin's word for a name that a rule spells,
	 * or the names below it; "*" is the world's. */
	if (c->set->spec->any || via->trusted || via->literal ||
		net_addr_public(a) ||
		(via->listed && serve_named(c->set, via->name)))
		return true;
	net_addr_text(a, text);
	return serve_allowed(s, c->set, text);
}

/* -EACCES: no address of it may be spoken to. */
static int conn_connect(struct serve *s, struct serve_conn *c)
{
	const struct serve_name *via = conn_via(c);
	const uint16_t port = via == c->name ? c->port
					     : c->set->spec->proxy.port;
	struct sockaddr_storage at;
	socklen_t size;
	int err = -EACCES;

	for (; c->tried < via->addrs; c->tried++) {
		if (!may_lead(s, c, via, &via->addr[c->tried]))
			continue;
		err = -EHOSTUNREACH;
		c->addr = via->addr[c->tried];
		size = net_addr_sock(&c->addr, port, &at);
		c->out.fd = socket(c->addr.family,
			SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		if (c->out.fd < 0)
			continue;
		if ((connect(c->out.fd, (struct sockaddr *)&at, size) == 0 ||
			    errno == EINPROGRESS) &&
			serve_watch(s, &c->out,
				SERVE_BOTH) == 0)
			return 0;
		cleanup_fd(&c->out.fd);
		c->out.fd = -1;
	}
	return err;
}

static void conn_go(struct serve *s, struct serve_conn *c)
{
	int err;

	c->state = SERVE_CONNECT;
	c->due_ms = s->now_ms + SERVE_MS_CONNECT;
	if (!conn_via(c)->addrs) {
		conn_close(s, c, "has no address");
		return;
	}
	err = conn_connect(s, c);
	if (err == -EACCES)
		serve_conn_refuse(s, c, "it leads to a private address");
	else if (err)
		conn_close(s, c, "cannot be reached");
}

static void conn_resolve(struct serve *s, struct serve_conn *c)
{
	c->state = SERVE_RESOLVE;
	c->due_ms = UINT64_MAX;
	if (serve_resolve(s, conn_via(c)))
		conn_go(s, c);
}

void serve_conn_resolved(struct serve *s, const struct serve_name *n)
{
	for (unsigned i = 0; i < s->conns; i++) {
		struct serve_conn *c = s->conn[i];

		if (!c->dead && c->state == SERVE_RESOLVE &&
			conn_via(c) == n)
			conn_go(s, c);
	}
}

/* Asks the proxy outside for the name. */
static void tunnel_ask(struct serve *s, struct serve_conn *c)
{
	char text[1024];
	const char *auth = c->set->spec->proxy_auth;
	struct buf b = BUF_FIXED(text);

	buf_addf(&b, "CONNECT %s:%u HTTP/1.1\r\nHost: %s:%u\r\n", c->name->name,
		c->port, c->name->name, c->port);
	if (*auth)
		buf_addf(&b, "Proxy-Authorization: Basic %s\r\n", auth);
	buf_adds(&b, "\r\n");
	c->state = SERVE_TUNNEL;
	c->due_ms = s->now_ms + SERVE_MS_CONNECT;
	if (b.err || send(c->out.fd, text, b.len, MSG_NOSIGNAL) != (ssize_t)b.len)
		conn_close(s, c, "the proxy cannot be reached");
}

/* Its answer: a head, of which the code counts. */
static void tunnel_read(struct serve *s, struct serve_conn *c)
{
	ssize_t n = recv(c->out.fd, s->peek, sizeof s->peek, MSG_PEEK);
	const char *end = n > 0 ? memmem(s->peek, (size_t)n, "\r\n\r\n", 4)
				: NULL;
	size_t head = end ? (size_t)(end - (char *)s->peek) + 4 : 0;

	if ((n < 0 && errno == EAGAIN) || (n > 0 && !end && n < NET_PEEK))
		return;
	if (head < 16 || memcmp(s->peek, "HTTP/1.", 7) != 0 ||
		s->peek[9] != '2' ||
		recv(c->out.fd, s->peek, head, 0) != (ssize_t)head) {
		conn_close(s, c, "the proxy refuses it");
		return;
	}
	c->state = SERVE_OPEN;
	c->due_ms = UINT64_MAX;
}

void serve_conn_unreached(struct serve *s, struct serve_conn *c)
{
	if (c->inward) {
		conn_close(s, c, "nobody listens there");
		return;
	}
	cleanup_fd(&c->out.fd);
	c->out.fd = -1;
	c->tried++;
	c->due_ms = s->now_ms + SERVE_MS_CONNECT;
	if (conn_connect(s, c) < 0)
		conn_close(s, c, "cannot be reached");
}

static void conn_connected(struct serve *s, struct serve_conn *c)
{
	int err = 0;
	socklen_t size = sizeof err;
	struct sockaddr_storage peer;
	socklen_t peer_size = sizeof peer;

	getsockopt(c->out.fd, SOL_SOCKET, SO_ERROR, &err, &size);
	if (err) {
		serve_conn_unreached(s, c);
		return;
	}
	if (getpeername(c->out.fd, (struct sockaddr *)&peer, &peer_size) < 0)
		return;
	c->state = SERVE_OPEN;
	c->due_ms = UINT64_MAX;
	serve_flow_tune(c->in.fd, c->out.fd);
	if (!c->inward && conn_via(c) != c->name)
		tunnel_ask(s, c);
}

static int flow_up(struct serve *s, struct serve_conn *c)
{
	uint64_t moved = 0, total = 0, most;
	int err = 0;

	do {
		if (!c->rule || c->rule->kind != NET_HTTP || c->http == SERVE_RAW)
			c->left = UINT64_MAX;
		else if (!c->left && !c->up.held && !serve_look_piece(s, c))
			return 0;
		most = serve_up_left(s, c);
		if (!most) {
			/* A client that says no more may hear the answer. */
			ssize_t n = serve_conn_peek(s, c);

			if (n > 0) {
				serve_conn_refuse(s, c, "more bytes than up= allows");
				return 0;
			}
			most = n == 0;
		}
		most = most < c->left ? most : c->left;
		most = most < SERVE_BURST ? most : SERVE_BURST;
		err = serve_flow(s, &c->up, c->in.fd, c->out.fd, most, &moved);
		c->left -= moved;
		serve_up_sent(s, c, moved);
		total += moved;
		c->again |= total >= SERVE_BURST;
	} while (!err && moved && !c->up.held && !c->up.ended && !c->again);
	return err;
}

static void conn_flow(struct serve *s, struct serve_conn *c)
{
	uint64_t moved;
	int err = 0;

	c->again = false;
	if (!c->up.ended || c->up.held)
		err = flow_up(s, c);
	if (c->dead)
		return;
	if (!err && c->http == SERVE_SWITCH && !serve_look_switch(s, c))
		return;
	/* A server that hears no more may still answer. */
	if (err == -EPIPE || err == -ECONNRESET)
		err = 0;
	if (!err && (!c->down.ended || c->down.held)) {
		err = serve_flow(s, &c->down, c->out.fd, c->in.fd, SERVE_BURST,
			&moved);
		c->again |= moved >= SERVE_BURST;
	}
	s->again |= c->again;
	if (err)
		conn_close(s, c, "broken off");
	else if (c->down.ended && !c->down.held && c->up.ended && !c->up.held)
		conn_close(s, c, "");
}

static void conn_dns(struct serve *s, struct serve_conn *c)
{
	uint8_t out[2 + NET_DNS_MAX];
	ssize_t n = serve_conn_peek(s, c);
	size_t want, size;

	if (n == -EAGAIN || n == 1)
		return;
	want = n > 0 ? 2 + ((size_t)s->peek[0] << 8 | s->peek[1]) : 0;
	if (n > 0 && (size_t)n < want && want <= NET_DNS_MAX)
		return;
	size = n > 0 && (size_t)n >= want
		? serve_dns(s, s->peek + 2, want - 2, c->inode, out + 2)
		: 0;
	out[0] = (uint8_t)(size >> 8);
	out[1] = (uint8_t)size;
	if (size && recv(c->in.fd, s->peek, want, 0) == (ssize_t)want)
		send(c->in.fd, out, size + 2, MSG_NOSIGNAL);
	else
		conn_close(s, c, "");
}

/* Finds out whose connection it is, where that decides something. */
static void conn_whose(struct serve *s, struct serve_conn *c)
{
	if (!c->owner && s->links == 1 && s->link[0]->ready)
		c->owner = s->link[0];
	c->set = c->owner ? c->owner->set : serve_set_common(s);
	if (!c->owner && !c->set)
		return;
	c->rule = serve_set_rule(c->set, c->name->name, c->port);
	if (!c->owner && c->rule && serve_up_counts(s, c))
		return;
	c->state = SERVE_HELLO;
	c->due_ms = s->now_ms + SERVE_MS_HELLO;
	if (!c->rule)
		serve_conn_refuse(s, c, "the policy names no such host for this command");
}

void serve_conn_step(struct serve *s, struct serve_conn *c)
{
	int err;

	if (c->dead)
		return;
	if (c->dns) {
		conn_dns(s, c);
		return;
	}
	if (c->state == SERVE_ASKED) {
		err = serve_front(s, c);
		if (err == NET_MORE)
			return;
		if (err)
			conn_close(s, c, "");
		c->state = SERVE_HELLO;
	}
	if (!c->dead && c->state == SERVE_WHOSE)
		conn_whose(s, c);
	if (!c->dead && c->state == SERVE_HELLO) {
		err = c->rule->kind == NET_TCP ? 0 : serve_look_first(s, c);
		if (err == NET_MORE || c->dead)
			return;
		if (err)
			conn_close(s, c, "said nothing");
		else
			conn_resolve(s, c);
	}
	if (!c->dead && c->state == SERVE_CONNECT)
		conn_connected(s, c);
	if (!c->dead && c->state == SERVE_TUNNEL)
		tunnel_read(s, c);
	if (!c->dead && c->state == SERVE_OPEN)
		conn_flow(s, c);
}

void serve_conn_claim(struct serve *s, struct serve_link *l, uint32_t inode)
{
	for (unsigned i = 0; inode && i < s->conns; i++)
		if (s->conn[i]->inode == inode && !s->conn[i]->owner) {
			s->conn[i]->owner = l;
			serve_conn_step(s, s->conn[i]);
		}
}

void serve_conn_end_of(struct serve *s, const struct serve_link *l)
{
	for (unsigned i = 0; i < s->conns; i++) {
		struct serve_conn *c = s->conn[i];

		if (c->owner != l && s->links > 1)
			continue;
		conn_close(s, c, c->up.ended ? "" : "the command ended");
		c->owner = NULL;
	}
}

void serve_conn_end_set(struct serve *s, const struct serve_set *set)
{
	for (unsigned i = 0; i < s->conns; i++)
		if (s->conn[i]->set == set)
			conn_close(s, s->conn[i], "the command ended");
}

void serve_conn_due(struct serve *s)
{
	for (unsigned i = 0; i < s->conns; i++) {
		struct serve_conn *c = s->conn[i];

		if (c->dead || s->now_ms < c->due_ms)
			continue;
		if (c->state == SERVE_CONNECT)
			serve_conn_unreached(s, c);
		else if (c->state == SERVE_WHOSE)
			serve_conn_refuse(s, c, "whose connection it is cannot be told");
		else
			conn_close(s, c,
				c->state == SERVE_HELLO ||
						c->state == SERVE_ASKED
					? "said nothing in time"
					: "cannot be reached");
	}
}

struct serve_conn *serve_conn_new(struct serve *s, int fd)
{
	struct serve_conn *c = s->conns < SERVE_CONNS && s->links
		? calloc(1, sizeof *c)
		: NULL;

	if (!c) {
		close(fd);
		return NULL;
	}
	*c = (struct serve_conn){.in = {SERVE_CLIENT, fd},
		.out = {SERVE_OUTSIDE, -1},
		.up.pipe = {-1, -1},
		.down.pipe = {-1, -1}};
	s->conn[s->conns++] = c;
	return c;
}

void serve_accept(struct serve *s, enum serve_kind kind,
	const struct serve_listener *l, int listener)
{
	struct sockaddr_storage from, to;
	socklen_t size = sizeof from, own = sizeof to;
	int fd = accept4(listener, (struct sockaddr *)&from, &size,
		SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct net_event ev = {.kind = NET_OPENED};
	struct serve_conn *c;
	uid_t uid = (uid_t)-1;

	if (fd < 0)
		return;
	c = serve_conn_new(s, fd);
	if (!c)
		return;
	c->dns = kind == SERVE_FOR_DNS;
	c->state = kind == SERVE_FOR_FRONT ? SERVE_ASKED : SERVE_WHOSE;
	c->port = l ? l->port : 0;
	c->name = l ? l->name : NULL;
	c->due_ms = s->now_ms + SERVE_MS_WHOSE;
	if (getsockname(fd, (struct sockaddr *)&to, &own) == 0)
		c->inode = serve_inode(s, IPPROTO_TCP, &from, &to, &uid);
	/* Every user of this machine can connect to its loopback. */
	if (kind == SERVE_FOR_FRONT && uid != getuid()) {
		conn_close(s, c, "");
		return;
	}
	if (kind == SERVE_FOR_NAME)
		conn_whose(s, c);
	if (kind != SERVE_FOR_DNS) {
		ev.inode = c->inode;
		ev.waits = c->state == SERVE_WHOSE;
		serve_tell(s, NULL, &ev);
	}
	if (!c->dead && serve_watch(s, &c->in, SERVE_BOTH) < 0)
		conn_close(s, c, "");
}
