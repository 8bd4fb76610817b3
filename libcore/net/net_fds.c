/* net_fds.c - messages between a keeper and those that are linked to it
 * SPDX-License-Identifier: MIT
 */
#include "net/net_in.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>

union fds_room {
	struct cmsghdr head;
	char bytes[CMSG_SPACE(NET_FDS_MAX * sizeof(int))];
};

void net_parcel_release(struct net_parcel *p)
{
	for (unsigned i = 0; i < p->count; i++)
		cleanup_fd(&p->fd[i]);
	p->count = 0;
}

void net_link_release(struct net_link *l)
{
	cleanup_fd(&l->sock);
	cleanup_fd(&l->net);
	cleanup_fd(&l->user);
	cleanup_fd(&l->ipc);
	*l = NET_LINK_INIT;
}

unsigned net_raise_files(void)
{
	enum { FILES = 8192 };
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) < 0)
		return 0;
	l.rlim_cur = l.rlim_max < FILES ? l.rlim_max : FILES;
	return prlimit(0, RLIMIT_NOFILE, &l, NULL) < 0 ? 0
						       : (unsigned)l.rlim_cur;
}

int net_send(
	int sock, const struct net_parcel *p, const struct net_spec *spec)
{
	union fds_room room = {0};
	struct iovec text[] = {{(void *)(uintptr_t)&p->says, sizeof p->says},
		{(void *)(uintptr_t)spec, sizeof *spec}};
	struct msghdr m = {.msg_iov = text, .msg_iovlen = spec ? 2 : 1};
	const size_t size = p->count * sizeof(int);

	if (p->count) {
		m.msg_control = &room;
		m.msg_controllen = (socklen_t)CMSG_SPACE(size);
		room.head.cmsg_level = SOL_SOCKET;
		room.head.cmsg_type = SCM_RIGHTS;
		room.head.cmsg_len = (socklen_t)CMSG_LEN(size);
		memcpy(CMSG_DATA(&room.head), p->fd, size);
	}
	return sendmsg(sock, &m, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int net_receive(int sock, struct net_parcel *p, struct net_spec *spec)
{
	union fds_room room = {0};
	struct iovec text[] = {
		{&p->says, sizeof p->says}, {spec, sizeof *spec}};
	struct msghdr m = {.msg_iov = text,
		.msg_iovlen = spec ? 2 : 1,
		.msg_control = &room,
		.msg_controllen = sizeof room};
	struct cmsghdr *c;
	ssize_t n;

	do
		n = recvmsg(sock, &m, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	c = CMSG_FIRSTHDR(&m);
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
		p->count = (unsigned)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		memcpy(p->fd, CMSG_DATA(c), p->count * sizeof(int));
	}
	return (size_t)n == sizeof p->says +
				(p->says.word == NET_NAMES ? sizeof *spec : 0)
		? 0
		: -EPIPE;
}

int net_link_read(const struct net_link *l, int wait_ms, struct net_event *ev)
{
	struct pollfd ready = {.fd = l->sock, .events = POLLIN};
	ssize_t n;

	if (wait_ms && poll(&ready, 1, wait_ms) <= 0)
		return 0;
	n = recv(l->sock, ev, sizeof *ev, MSG_DONTWAIT);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -EPIPE;
	ev->name[sizeof ev->name - 1] = ev->addr[sizeof ev->addr - 1] =
		ev->why[sizeof ev->why - 1] = '\0';
	return n == sizeof *ev ? 1 : -EPIPE;
}

static void link_say(const struct net_link *l, const struct net_says *says)
{
	(void)send(l->sock, says, sizeof *says, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void net_link_claim(const struct net_link *l, uint32_t inode)
{
	link_say(l, &(struct net_says){.word = NET_CLAIM, .inode = inode});
}

void net_link_flush(const struct net_link *l)
{
	link_say(l, &(struct net_says){.word = NET_FLUSH});
}
