/* net_diag.c - whose socket it is
 * SPDX-License-Identifier: MIT
 */
#include "net/net_serve_in.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <string.h>
#include <sys/socket.h>

/* The 16 bytes of the kernel's question, and the port. */
static uint16_t diag_addr(
	const struct sockaddr_storage *from, uint32_t out[static 4], uint8_t *family)
{
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;

	*family = (uint8_t)from->ss_family;
	if (from->ss_family == AF_INET) {
		memcpy(&v4, from, sizeof v4);
		memcpy(out, &v4.sin_addr, 4);
		return v4.sin_port;
	}
	memcpy(&v6, from, sizeof v6);
	if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) {
		*family = AF_INET;
		memcpy(out, v6.sin6_addr.s6_addr + 12, 4);
	} else {
		memcpy(out, &v6.sin6_addr, 16);
	}
	return v6.sin6_port;
}

static uint32_t diag_ask(int netlink, struct inet_diag_req_v2 *req, uid_t *uid)
{
	struct {
		struct nlmsghdr head;
		struct inet_diag_req_v2 req;
	} m = {.head = {.nlmsg_len = sizeof m,
		       .nlmsg_type = SOCK_DIAG_BY_FAMILY,
		       .nlmsg_flags = NLM_F_REQUEST},
		.req = *req};
	struct {
		struct nlmsghdr head;
		struct inet_diag_msg msg;
		uint8_t room[512];
	} answer;

	if (send(netlink, &m, sizeof m, MSG_DONTWAIT) < 0 ||
		recv(netlink, &answer, sizeof answer, MSG_DONTWAIT) <
			(ssize_t)(sizeof answer.head + sizeof answer.msg) ||
		answer.head.nlmsg_type != SOCK_DIAG_BY_FAMILY)
		return 0;
	*uid = answer.msg.idiag_uid;
	return answer.msg.idiag_inode;
}

uint32_t serve_inode(struct serve *s, int protocol,
	const struct sockaddr_storage *from, const struct sockaddr_storage *to,
	uid_t *uid)
{
	struct inet_diag_req_v2 req = {.sdiag_protocol = (uint8_t)protocol,
		.id.idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}};
	uint8_t family;
	uint32_t inode;

	*uid = (uid_t)-1;
	req.id.idiag_sport = diag_addr(from, req.id.idiag_src, &family);
	req.id.idiag_dport = diag_addr(to, req.id.idiag_dst, &family);
	req.sdiag_family = family;
	inode = diag_ask(s->diag, &req, uid);
	/* A client's socket may be one of IPv6 all the same; and who sends
	 * without connecting has no other end. */
	if (!inode && protocol == IPPROTO_UDP) {
		memset(req.id.idiag_dst, 0, sizeof req.id.idiag_dst);
		req.id.idiag_dport = 0;
		inode = diag_ask(s->diag, &req, uid);
	}
	return inode;
}
