/* net_link.c - the commands that use the namespace, and what they are told
 * SPDX-License-Identifier: MIT
 */
#include "net/net_serve_in.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/kconfig.h"
#include "base/str.h"

static bool link_try(struct serve_link *l, const struct net_event *ev, int flags)
{
	return send(l->fd.fd, ev, sizeof *ev, MSG_NOSIGNAL | flags) == sizeof *ev;
}

/* Nobody waits for who does not read: connections add up until there is room, and
 * no other message counts as much. */
static void link_send(struct serve_link *l, const struct net_event *ev)
{
	if (l->more.count && link_try(l, &l->more, MSG_DONTWAIT))
		l->more.count = 0;
	if ((!l->more.count && link_try(l, ev, MSG_DONTWAIT)) ||
		ev->kind != NET_ENDED)
		return;
	if (!l->more.count) {
		l->more = *ev;
		return;
	}
	l->more.count += ev->count;
	l->more.up += ev->up;
	l->more.down += ev->down;
}

void serve_tell(struct serve *s, struct serve_link *owner,
	struct net_event *ev)
{
	if (owner) {
		ev->last = true;
		link_send(owner, ev);
		return;
	}
	for (unsigned i = s->links; i--;) {
		ev->last = i == 0 && (s->links == 1 || !ev->inode);
		link_send(s->link[i], ev);
	}
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
	serve_tell(s, NULL, &ev);
}

void serve_link_new(struct serve *s, int fd)
{
	enum { WAIT_S = 1 };
	const struct timeval wait = {.tv_sec = WAIT_S};
	struct net_parcel give = {.count = s->give, .port = s->ns->port};
	struct serve_link *l;

	if (fd < 0)
		return;
	memcpy(give.fd, s->ns->fd, s->give * sizeof(int));
	l = s->links < SERVE_LINKS ? calloc(1, sizeof *l) : NULL;
	if (!l || net_send(fd, &give) < 0) {
		free(l);
		close(fd);
		return;
	}
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
	l->fd = (struct serve_fd){SERVE_LINK, fd};
	s->link[s->links++] = l;
	(void)serve_watch(s, &l->fd, EPOLLIN | EPOLLRDHUP);
	/* What was refused to others is told anew. */
	memset(s->told, 0, sizeof s->told);
}

static void link_end(struct serve *s, struct serve_link *l)
{
	unsigned i = 0;

	while (i < s->links && s->link[i] != l)
		i++;
	s->links--;
	memmove(s->link + i, s->link + i + 1,
		(s->links - i) * sizeof(struct serve_link *));
	for (unsigned k = 0; k < s->conns; k++)
		if (s->conn[k]->owner == l)
			s->conn[k]->owner = NULL;
	close(l->fd.fd);
	free(l);
	/* Nobody lives in the namespace whom this could serve. */
	if (!s->links && IS_ENABLED(CONFIG_NET_NAMES))
		serve_conn_end_of(s, NULL);
}

void serve_link_read(struct serve *s, struct serve_link *l)
{
	uint32_t inode;
	ssize_t n = recv(l->fd.fd, &inode, sizeof inode, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n != sizeof inode) {
		link_end(s, l);
		return;
	}
	l->flush |= !inode;
	for (unsigned i = 0; inode && i < s->conns; i++)
		if (s->conn[i]->inode == inode)
			s->conn[i]->owner = l;
}

void serve_link_flushed(struct serve *s)
{
	struct net_event ev = {.kind = NET_FLUSHED};

	for (unsigned i = 0; i < s->links; i++) {
		struct serve_link *l = s->link[i];

		if (!l->flush)
			continue;
		l->flush = false;
		serve_conn_end_of(s, l);
		/* Here it is waited for (SO_SNDTIMEO): it reads. */
		if (l->more.count)
			(void)link_try(l, &l->more, 0);
		l->more.count = 0;
		(void)link_try(l, &ev, 0);
	}
}
