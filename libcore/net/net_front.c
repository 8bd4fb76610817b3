/* net_front.c - a proxy for programs that ask for one: HTTP and SOCKS 5
 * SPDX-License-Identifier: MIT
 */
#include "net/net_serve_in.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/str.h"

/* Takes what was looked at. */
static int front_take(struct serve *s, const struct serve_conn *c, size_t n)
{
	return recv(c->in.fd, s->peek, n, 0) == (ssize_t)n ? 0 : -EPIPE;
}

static int front_say(const struct serve_conn *c, const void *bytes, size_t n)
{
	return send(c->in.fd, bytes, n, MSG_NOSIGNAL) == (ssize_t)n ? 0 : -EPIPE;
}

static bool front_to(struct serve *s, struct serve_conn *c, const char *host,
	uint16_t port)
{
	const char *why = "the policy names no such host";

	c->owner = s->link[0];
	c->set = c->owner->set;
	c->port = port;
	c->rule = c->set ? serve_set_rule(c->set, host, port) : NULL;
	if (c->rule) {
		c->name = serve_name_at(s, host);
		why = "too many names at once";
	}
	if (!c->name)
		serve_refuse(s, host, c, 0, c->inode, why);
	return c->name;
}

static int front_socks(struct serve *s, struct serve_conn *c, size_t n)
{
	static const uint8_t none[] = {5, 0xff}, plain[] = {5, 0},
		good[] = {5, 0, 0, 1, 0, 0, 0, 0, 0, 0},
		refused[] = {5, 2, 0, 1, 0, 0, 0, 0, 0, 0};
	struct net_socks socks;
	int err;

	if (!c->greeted) {
		err = net_socks_greeting(&socks, s->peek, n);
		if (err)
			return err;
		if (!socks.plain) {
			front_say(c, none, sizeof none);
			return -EPERM;
		}
		c->greeted = true;
		err = front_take(s, c, socks.used);
		return err || front_say(c, plain, sizeof plain) ? -EPIPE
								: NET_MORE;
	}
	err = net_socks_request(&socks, s->peek, n);
	if (err)
		return err;
	if (!front_to(s, c, socks.host, socks.port)) {
		front_say(c, refused, sizeof refused);
		return -EPERM;
	}
	err = front_take(s, c, socks.used);
	return err ? err : front_say(c, good, sizeof good);
}

static int front_http(struct serve *s, struct serve_conn *c, size_t n)
{
	static const char good[] = "HTTP/1.1 200 OK\r\n\r\n",
			  refused[] = "HTTP/1.1 403 Forbidden\r\n"
				      "Content-Length: 0\r\n"
				      "Connection: close\r\n\r\n";
	struct net_http head;
	int err = net_http_parse(&head, (char *)s->peek, n);

	if (err)
		return err;
	if (!head.connect && !head.absolute)
		return -EBADMSG;
	if (!front_to(s, c, head.host, head.port ? head.port : 80) ||
		(head.absolute && c->rule->kind != NET_HTTP)) {
		front_say(c, refused, sizeof refused - 1);
		return -EPERM;
	}
	/* A request with a whole address is passed on as it is. */
	if (head.absolute)
		return 0;
	err = front_take(s, c, head.head);
	return err ? err : front_say(c, good, sizeof good - 1);
}

int serve_front(struct serve *s, struct serve_conn *c)
{
	ssize_t n = recv(c->in.fd, s->peek, sizeof s->peek, MSG_PEEK);

	if (n < 0 && errno == EAGAIN)
		return NET_MORE;
	if (n <= 0)
		return -EPIPE;
	return c->greeted || s->peek[0] == 5 ? front_socks(s, c, (size_t)n)
					     : front_http(s, c, (size_t)n);
}
