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
#include "base/str.h"
#include "sys/ns.h"

uint64_t serve_clock(void)
{
	return clock_ns(CLOCK_BOOTTIME) / 1000000;
}

int serve_watch(struct serve *s, struct serve_fd *f, uint32_t events)
{
	struct epoll_event ev = {.events = events, .data.ptr = f};

	return epoll_ctl(s->epoll, EPOLL_CTL_ADD, f->fd, &ev) < 0 ? -errno : 0;
}

/* On the oldest link. A full one loses the message: who does not read shall not
 * hold up all others. */
void serve_tell(struct serve *s, const struct net_event *ev)
{
	if (s->links)
		(void)send(s->link[0]->fd, ev, sizeof *ev,
			MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Of the same over and over each that doubles their number is told. */
void serve_refuse(struct serve *s, const char *name, uint16_t port,
	uint16_t type, uint32_t inode, const char *why)
{
	struct net_event ev = {.kind = NET_REFUSED,
		.port = port,
		.type = type,
		.inode = inode};
	uint64_t sum = 0xcbf29ce484222325U, *count;
	const char *const of[] = {name, why};
	size_t i = 0;

	for (size_t k = 0; k < ARRAY_SIZE(of); k++)
		for (const char *c = of[k]; *c; c++)
			sum = (sum ^ (unsigned char)*c) * 0x100000001b3U;
	while (i < SERVE_TOLD - 1 && s->told[i].count && s->told[i].sum != sum)
		i++;
	/* The last place is that of all for whom there is none. */
	s->told[i].sum = sum;
	count = &s->told[i].count;
	++*count;
	if (*count & (*count - 1))
		return;
	ev.count = *count;
	str_copy(ev.name, sizeof ev.name, name);
	str_copy(ev.why, sizeof ev.why, why);
	serve_tell(s, &ev);
}

static void link_new(struct serve *s)
{
	struct serve_fd *f;
	struct net_parcel give = {.count = s->give};
	int fd = accept4(s->fixed[0].fd, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		return;
	memcpy(give.fd, s->ns->fd, 2 * sizeof(int));
	f = s->links < SERVE_LINKS ? malloc(sizeof *f) : NULL;
	if (!f || net_send(fd, &give) < 0) {
		free(f);
		close(fd);
		return;
	}
	*f = (struct serve_fd){SERVE_LINK, fd};
	s->link[s->links++] = f;
	(void)serve_watch(s, f, EPOLLIN | EPOLLRDHUP);
}

static void link_end(struct serve *s, struct serve_fd *f)
{
	unsigned i = 0;

	while (i < s->links && s->link[i] != f)
		i++;
	close(f->fd);
	free(f);
	s->links--;
	memmove(s->link + i, s->link + i + 1,
		(s->links - i) * sizeof(struct serve_fd *));
}

static void udp_read(struct serve *s, const struct serve_fd *f)
{
	enum { BURST = 64 };
	struct sockaddr_storage from, to;
	socklen_t own = sizeof to;
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
			serve_inode(s, IPPROTO_UDP, &from, &to), out);
		if (answer)
			sendto(f->fd, out, answer, MSG_DONTWAIT | MSG_NOSIGNAL,
				(struct sockaddr *)&from, size);
	}
}

#define MEMBER_OF(type, member, at)                                            \
	((type *)(void *)((char *)(at) - offsetof(type, member)))

static void serve_event(struct serve *s, struct serve_fd *f, uint32_t events)
{
	switch ((enum serve_what)f->what) {
	case SERVE_NEW_LINK:
		link_new(s);
		break;
	case SERVE_LINK:
		/* Nobody has anything to say here. */
		link_end(s, f);
		break;
	case SERVE_UDP:
		udp_read(s, f);
		break;
	case SERVE_DNS:
		serve_accept(s, NULL, f->fd);
		break;
	case SERVE_LISTENER:
		serve_accept(s, MEMBER_OF(struct serve_listener, fd, f), f->fd);
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
	(void)events;
}

/* Those that had more than their turn go on; those that ended are forgotten. */
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
}

static int serve_timeout(const struct serve *s)
{
	enum { TICK = 250 };
	int ms = s->links ? -1 : s->idle_ms;

	if (s->again)
		return 0;
	for (unsigned i = 0; i < s->conns; i++)
		if (s->conn[i]->state != SERVE_OPEN && !s->conn[i]->dead)
			ms = ms < 0 || ms > TICK ? TICK : ms;
	return ms;
}

static int serve_begin(struct serve *s, int listener)
{
	const int *fd = s->ns->fd;
	int err = 0;

	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	s->free = NET_SOCK_FREE;
	/* Who may make a network namespace is its owner by that. */
	s->give = ns_is_admin() ? 1 : 2;
	s->fixed[0] = (struct serve_fd){SERVE_NEW_LINK, listener};
	err = s->epoll < 0 ? -errno : serve_watch(s, &s->fixed[0], EPOLLIN);
	for (unsigned i = 0; !err && i < s->hosts->servers; i++) {
		struct sockaddr_storage at;
		socklen_t size = net_addr_sock(&s->hosts->server[i], 53, &at);
		struct serve_fd *f = &s->fixed[1 + i];
		struct serve_fd *tcp = &s->fixed[1 + NET_SERVERS + i];

		*f = (struct serve_fd){SERVE_UDP, fd[NET_SOCK_UDP + i]};
		*tcp = (struct serve_fd){SERVE_DNS, fd[NET_SOCK_DNS + i]};
		if (bind(f->fd, (struct sockaddr *)&at, size) == 0)
			err = serve_watch(s, f, EPOLLIN);
		if (!err && bind(tcp->fd, (struct sockaddr *)&at, size) == 0 &&
			listen(tcp->fd, 64) == 0)
			err = serve_watch(s, tcp, EPOLLIN);
	}
	s->now_ms = serve_clock();
	if (!err)
		serve_name_fixed(s);
	return err;
}

void net_serve(int listener, const struct net_parcel *ns,
	const struct net_spec *spec, const struct net_hosts *hosts, int idle_ms)
{
	enum { EVENTS = 64 };
	struct epoll_event ev[EVENTS];
	autofree struct serve *s = calloc(1, sizeof *s);
	uint64_t idle = 0;

	if (!s)
		return;
	s->spec = spec;
	s->hosts = hosts;
	s->ns = ns;
	s->idle_ms = idle_ms;
	if (serve_begin(s, listener) < 0)
		return;
	for (;;) {
		int n = epoll_wait(s->epoll, ev, EVENTS, serve_timeout(s));

		if (n < 0 && errno != EINTR)
			return;
		s->now_ms = serve_clock();
		for (int i = 0; i < n; i++)
			serve_event(s, ev[i].data.ptr, ev[i].events);
		if (s->again)
			serve_again(s);
		serve_conn_due(s);
		for (unsigned i = 0; i < s->names; i++)
			serve_resolve_due(s, &s->name[i]);
		if (s->links)
			idle = s->now_ms;
		else if (s->now_ms - idle >= (uint64_t)idle_ms && n <= 0)
			return;
	}
}
