/* net_fds.c - descriptors in a message
 * SPDX-License-Identifier: MIT
 */
#include "net/net_in.h"

#include <errno.h>
#include <string.h>
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
	*l = NET_LINK_INIT;
}

int net_send(int sock, const struct net_parcel *p)
{
	union fds_room room = {0};
	int err = p->err;
	struct iovec text = {&err, sizeof err};
	struct msghdr m = {.msg_iov = &text, .msg_iovlen = 1};

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

int net_receive(int sock, struct net_parcel *p)
{
	union fds_room room = {0};
	struct iovec text = {&p->err, sizeof p->err};
	struct msghdr m = {.msg_iov = &text,
		.msg_iovlen = 1,
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
	return n == sizeof p->err ? 0 : -EPIPE;
}
