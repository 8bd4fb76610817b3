/* net_inward.c - from a port of this machine's loopback to the namespace's
 * SPDX-License-Identifier: MIT
 *
 * Whoever connects to the port outside is connected to the same port inside. The
 * sockets for that were made inside, a few: a socket that was disconnected serves
 * the next, and who comes while all are taken waits to be accepted.
 */
#include "net/net_serve_in.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

static const struct net_addr own_loopback = {.family = AF_INET,
	.v4.s_addr = 0x0100007f};

static void inward_open(struct serve *s, struct serve_inward *w, uint16_t port)
{
	const int on = 1;
	struct sockaddr_storage at;
	socklen_t size = net_addr_sock(&own_loopback, port, &at);
	autofd int fd = socket(
		AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct net_event ev = {.kind = NET_REFUSED, .port = port, .count = 1};
	const bool again = w->port;

	*w = (struct serve_inward){.fd = {SERVE_INWARDS, -1}, .port = port};
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, size) < 0 ||
		listen(fd, 64) < 0) {
		BUF_PRINT(ev.name, "127.0.0.1");
		BUF_PRINT(ev.why, "another has that port");
		if (!again)
			serve_tell(s, NULL, &ev);
		return;
	}
	w->fd.fd = fd_steal(&fd);
	(void)serve_watch(s, &w->fd, EPOLLIN | EPOLLET);
}

void serve_inward_open(struct serve *s, const struct net_spec *spec)
{
	for (unsigned i = 0; i < spec->listens; i++)
		for (unsigned k = 0; k < NET_LISTENS; k++) {
			struct serve_inward *w = &s->inward[k];

			if (w->port && w->port != spec->listen[i])
				continue;
			/* Another process may have had the port until now. */
			if (!w->port || w->fd.fd < 0)
				inward_open(s, w, spec->listen[i]);
			break;
		}
}

static bool inward_one(struct serve *s, const struct serve_inward *w)
{
	struct sockaddr_storage at;
	socklen_t size = net_addr_sock(&own_loopback, w->port, &at);
	struct net_event opened = {.kind = NET_OPENED};
	struct serve_conn *c;
	int fd = accept4(
		w->fd.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return false;
	c = serve_conn_new(s, fd);
	if (!c)
		return true;
	c->out.fd = s->in[--s->ins];
	c->inward = true;
	c->state = SERVE_CONNECT;
	c->port = w->port;
	c->due_ms = s->now_ms + SERVE_MS_CONNECT;
	if ((connect(c->out.fd, (struct sockaddr *)&at, size) < 0 &&
		    errno != EINPROGRESS) ||
		serve_watch(s, &c->out, SERVE_BOTH) < 0 ||
		serve_watch(s, &c->in, SERVE_BOTH) < 0)
		serve_conn_unreached(s, c);
	serve_tell(s, NULL, &opened);
	return true;
}

void serve_inward_accept(struct serve *s, const struct serve_inward *w)
{
	enum { BURST = 64 };

	for (int i = 0; i < BURST; i++)
		if (!s->ins || !inward_one(s, w))
			return;
	s->again = true;
}

void serve_inward_again(struct serve *s)
{
	for (unsigned i = 0; i < NET_LISTENS && s->inward[i].port; i++)
		if (s->inward[i].fd.fd >= 0)
			serve_inward_accept(s, &s->inward[i]);
}

void serve_inward_end(struct serve *s, struct serve_conn *c)
{
	const struct sockaddr none = {.sa_family = AF_UNSPEC};

	epoll_ctl(s->epoll, EPOLL_CTL_DEL, c->out.fd, NULL);
	if (connect(c->out.fd, &none, sizeof none) < 0)
		return;
	s->in[s->ins++] = c->out.fd;
	c->out.fd = -1;
}
