/* net_serve.c - the keeper's loop
 * SPDX-License-Identifier: MIT
 */
#include "net/net_serve_in.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/kconfig.h"
#include "base/str.h"

uint64_t serve_clock(void)
{
	return clock_ns(CLOCK_BOOTTIME) / 1000000;
}

int serve_watch(struct serve *s, struct serve_fd *f, uint32_t events)
{
	struct epoll_event ev = {.events = events, .data.ptr = f};

	return epoll_ctl(s->epoll, EPOLL_CTL_ADD, f->fd, &ev) < 0 ? -errno : 0;
}

static void udp_read(struct serve *s, const struct serve_fd *f)
{
	enum { BURST = 64 };
	struct sockaddr_storage from, to;
	socklen_t own = sizeof to;
	uid_t uid;
	uint8_t msg[NET_DNS_MAX], out[NET_DNS_MAX];

	if (getsockname(f->fd, (struct sockaddr *)&to, &own) < 0)
		return;
	for (int i = 0; i < BURST; i++) {
		socklen_t size = sizeof from;
		ssize_t n = recvfrom(f->fd, msg, sizeof msg, MSG_DONTWAIT,
			(struct sockaddr *)&from, &size);
		size_t answer;

		if (n < 0)
			return;
		answer = serve_dns(s, msg, (size_t)n,
			serve_inode(s, IPPROTO_UDP, &from, &to, &uid), out);
		if (answer)
			sendto(f->fd, out, answer, MSG_DONTWAIT | MSG_NOSIGNAL,
				(struct sockaddr *)&from, size);
	}
}

#define MEMBER_OF(type, member, at)                                            \
	((type *)(void *)((char *)(at) - offsetof(type, member)))

static void serve_event(struct serve *s, struct serve_fd *f)
{
	if (!IS_ENABLED(CONFIG_NET_NAMES) && f->what > SERVE_LINK)
		return;
	switch ((enum serve_what)f->what) {
	case SERVE_NEW_LINK:
		serve_link_new(s, accept4(f->fd, NULL, NULL, SOCK_CLOEXEC));
		break;
	case SERVE_LINK:
		serve_link_read(s, MEMBER_OF(struct serve_link, fd, f));
		break;
	case SERVE_UDP:
		udp_read(s, f);
		break;
	case SERVE_DNS:
		serve_accept(s, SERVE_FOR_DNS, NULL, f->fd);
		break;
	case SERVE_FRONT:
		serve_accept(s, SERVE_FOR_FRONT, NULL, f->fd);
		break;
	case SERVE_LISTENER:
		serve_accept(s, SERVE_FOR_NAME,
			MEMBER_OF(struct serve_listener, fd, f), f->fd);
		break;
	case SERVE_INWARDS:
		serve_inward_accept(s, MEMBER_OF(struct serve_inward, fd, f));
		break;
	case SERVE_CLIENT:
		serve_conn_step(s, MEMBER_OF(struct serve_conn, in, f));
		break;
	case SERVE_OUTSIDE:
		serve_conn_step(s, MEMBER_OF(struct serve_conn, out, f));
		break;
	case SERVE_ANSWER:
		serve_answer(s, MEMBER_OF(struct serve_name, ask, f));
		break;
	}
}

/* Connections that used up their turn go on; those that ended are freed. */
static void serve_again(struct serve *s)
{
	s->again = false;
	for (unsigned i = s->conns; i--;) {
		struct serve_conn *c = s->conn[i];

		if (!c->dead && c->again)
			serve_conn_step(s, c);
		if (c->dead) {
			s->conn[i] = s->conn[--s->conns];
			free(c);
		}
	}
	serve_inward_again(s);
}

static int serve_timeout(const struct serve *s)
{
	enum { TICK = 100 };
	int ms = s->delayed ? TICK : s->links ? -1 : s->keep->idle_ms;

	if (s->again)
		return 0;
	for (unsigned i = 0; i < s->links; i++)
		if (s->link[i]->flush)
			return 0;
	for (unsigned i = 0; i < s->conns; i++)
		if (s->conn[i]->state != SERVE_OPEN && !s->conn[i]->dead)
			ms = ms < 0 || ms > TICK ? TICK : ms;
	return ms;
}

static int serve_begin(struct serve *s)
{
	const struct net_keeper *k = s->keep;
	int err = 0;

	s->diag = -1;
	s->now_ms = serve_clock();
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll < 0)
		return -errno;
	s->fixed[0] = (struct serve_fd){SERVE_NEW_LINK, k->its};
	if (k->idle_ms)
		err = serve_watch(s, &s->fixed[0], EPOLLIN);
	else
		serve_link_new(s, k->its);
	if (err || !k->front)
		return err;
	s->fixed[1] = (struct serve_fd){SERVE_FRONT, k->ns.fd[NET_SPACE_NET]};
	return serve_watch(s, &s->fixed[1], EPOLLIN);
}

static void serve_due(struct serve *s)
{
	serve_conn_due(s);
	serve_link_late(s, false);
	for (unsigned i = 0; i < s->names; i++)
		serve_resolve_due(s, &s->name[i]);
}

void net_serve(const struct net_keeper *k)
{
	enum { EVENTS = 64 };
	struct epoll_event ev[EVENTS];
	autofree struct serve *s = calloc(1, sizeof *s);
	uint64_t idle = 0;

	if (!s)
		return;
	s->keep = k;
	if (serve_begin(s) < 0)
		return;
	for (;;) {
		int n = epoll_wait(s->epoll, ev, EVENTS, serve_timeout(s));

		if (n < 0 && errno != EINTR)
			return;
		s->now_ms = serve_clock();
		for (int i = 0; i < n; i++)
			serve_event(s, ev[i].data.ptr);
		if (IS_ENABLED(CONFIG_NET_NAMES) && s->again)
			serve_again(s);
		else if (n <= 0)
			serve_link_flushed(s);
		if (IS_ENABLED(CONFIG_NET_NAMES))
			serve_due(s);
		if (s->links)
			idle = s->now_ms;
		else if (s->now_ms - idle >= (uint64_t)k->idle_ms && n <= 0)
			return;
	}
}
