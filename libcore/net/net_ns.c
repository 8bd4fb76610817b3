/* net_ns.c - the namespace, made in a child
 * SPDX-License-Identifier: MIT
 *
 * The keeper speaks to the world outside, so it does not enter the namespace
 * itself: who came in by way of a user namespace would not come back. Sockets
 * stay in the namespace that they were made in, whoever binds them later.
 */
#include "net/net_in.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/uapi/linux.h"
#include "sys/ns.h"

enum {
	LOOPBACK = 1, /* the index of lo in every namespace */
	POOL_BITS4 = 15,
	POOL_BITS6 = 64,
	DIAG = 4, /* NETLINK_SOCK_DIAG */
};

struct net_addr net_pool(unsigned i, sa_family_t family)
{
	static const uint8_t v6[8] = {0xfd, 0x77, 0x62, 0x6f, 0x78, 0x6e, 0x65};
	struct net_addr a = {.family = family};

	if (family == AF_INET) {
		a.v4.s_addr = htonl(0xc6120000U + i);
		return a;
	}
	memcpy(a.v6.s6_addr, v6, sizeof v6);
	a.v6.s6_addr[14] = (uint8_t)(i >> 8);
	a.v6.s6_addr[15] = (uint8_t)i;
	return a;
}

/* Routes what is sent to the address, of whose bits so many count, to this
 * namespace itself. */
static int ns_route(int netlink, const struct net_addr *a, unsigned bits)
{
	const uint16_t size = a->family == AF_INET ? 4 : 16;
	const uint32_t lo = LOOPBACK;
	struct {
		struct nlmsghdr head;
		struct rtmsg route;
		struct rtattr dst;
		uint8_t addr[16];
		uint8_t rest[8]; /* the device, behind an address of any size */
	} m = {
		.head = {.nlmsg_type = RTM_NEWROUTE,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK |
				NLM_F_CREATE | NLM_F_REPLACE},
		.route = {.rtm_family = (uint8_t)a->family,
			.rtm_dst_len = (uint8_t)bits,
			.rtm_table = RT_TABLE_LOCAL,
			.rtm_protocol = RTPROT_STATIC,
			.rtm_scope = RT_SCOPE_HOST,
			.rtm_type = RTN_LOCAL},
		.dst = {.rta_type = RTA_DST,
			.rta_len = (uint16_t)(sizeof(struct rtattr) + size)},
	};
	struct rtattr dev = {.rta_type = RTA_OIF,
		.rta_len = sizeof dev + sizeof lo};
	struct {
		struct nlmsghdr head;
		struct nlmsgerr err;
		uint8_t room[256];
	} answer;

	memcpy(m.addr, &a->v6, size);
	memcpy(m.addr + size, &dev, sizeof dev);
	memcpy(m.addr + size + sizeof dev, &lo, sizeof lo);
	m.head.nlmsg_len = (uint32_t)(sizeof m.head + sizeof m.route +
		sizeof m.dst + size + sizeof dev + sizeof lo);
	if (send(netlink, &m, m.head.nlmsg_len, 0) < 0 ||
		recv(netlink, &answer, sizeof answer, 0) < 0)
		return -errno;
	return answer.head.nlmsg_type == NLMSG_ERROR ? answer.err.error : 0;
}

static unsigned ns_bits(const struct net_addr *a)
{
	return a->family == AF_INET ? 32 : 128;
}

/* Counts in *room the sockets that listen at the names. */
static int ns_routes(const struct net_hosts *hosts, const struct net_spec *spec,
	unsigned *room)
{
	autofd int netlink = socket(
		AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	struct net_addr pool = net_pool(0, AF_INET), a;
	int err = netlink < 0 ? -errno : ns_route(netlink, &pool, POOL_BITS4);

	/* No program asks for IPv6 where the machine has none. */
	pool = net_pool(0, AF_INET6);
	if (!err)
		(void)ns_route(netlink, &pool, POOL_BITS6);
	for (unsigned i = 0; !err && i < hosts->servers; i++)
		(void)ns_route(netlink, &hosts->server[i],
			ns_bits(&hosts->server[i]));
	for (unsigned i = 0; !err && i < hosts->count; i++)
		for (unsigned k = 0; k < spec->allowed; k++)
			if (net_rule_named(&spec->allow[k],
				    hosts->host[i].name)) {
				(void)ns_route(netlink, &hosts->host[i].addr,
					ns_bits(&hosts->host[i].addr));
				++*room;
			}
	for (unsigned k = 0; !err && k < spec->allowed; k++) {
		*room += spec->allow[k].below ? NET_ROOM_BELOW : NET_ROOM_NAME;
		if (net_addr_parse(&a, spec->allow[k].name))
			(void)ns_route(netlink, &a, ns_bits(&a));
	}
	return err;
}

static int ns_add(struct net_parcel *p, int fd)
{
	if (fd < 0)
		return -errno;
	p->fd[p->count++] = fd;
	return 0;
}

static int ns_socket(struct net_parcel *p, int family, int type)
{
	const int on = 1;
	int fd = socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	/* A route alone makes no IPv6 address local for bind(). */
	setsockopt(fd, SOL_IP, IP_FREEBIND, &on, sizeof on);
	if (family == AF_INET6)
		setsockopt(fd, SOL_IPV6, 78 /* IPV6_FREEBIND */, &on, sizeof on);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	return ns_add(p, fd);
}

/* Sends so many sockets that listen at names, fewer where descriptors are rare, of
 * IPv6 where there is that: such a socket serves both families. A message has room
 * for some. */
static int ns_room(int sock, unsigned room)
{
	autofd int six = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const unsigned most = net_raise_files() / 4;
	int err = 0;

	room = room < NET_ROOM_MOST ? room : NET_ROOM_MOST;
	room = room < most ? room : most;
	while (!err && room) {
		struct net_parcel p = {.says = {.word = NET_ROOM}};

		while (!err && room && p.count < NET_FDS_MAX) {
			err = ns_socket(&p, six < 0 ? AF_INET : AF_INET6,
				SOCK_STREAM);
			room--;
		}
		err = err ? err : net_send(sock, &p, NULL);
		net_parcel_release(&p);
	}
	return err;
}

/* In the order of enum net_socket. */
static int ns_sockets(struct net_parcel *p, const struct net_hosts *hosts,
	const struct net_spec *spec)
{
	static const int types[] = {SOCK_DGRAM, SOCK_STREAM};
	int err = ns_add(p, socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, DIAG));

	for (unsigned t = 0; t < 2; t++)
		for (unsigned i = 0; !err && i < NET_SERVERS; i++)
			err = ns_socket(p,
				i < hosts->servers ? hosts->server[i].family
						   : AF_INET,
				types[t]);
	p->says.ins = spec->listens ? NET_SOCK_INS : 0;
	while (!err && p->count < NET_SOCK_REST + p->says.ins)
		err = ns_socket(p, AF_INET, SOCK_STREAM);
	return err;
}

/* In the child. */
static int ns_enter(struct net_parcel *p)
{
	const bool user = !ns_is_admin();
	const uid_t uid = geteuid();
	const gid_t gid = getegid();
	int err = 0;

	if (syscall(__NR_unshare, user ? NS_USER | NS_NET : NS_NET) < 0)
		return -errno;
	if (user)
		err = ns_map(uid, gid);
	if (!err)
		err = ns_loopback();
	if (!err)
		err = ns_add(p, open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC));
	if (!err)
		err = ns_add(
			p, open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC));
	/* A kernel may have no IPC namespaces: then the parcel has no third. */
	if (!err && syscall(__NR_unshare, NS_IPC) == 0)
		err = ns_add(p, open("/proc/self/ns/ipc", O_RDONLY | O_CLOEXEC));
	return err;
}

/* In the child. */
static int ns_names(const struct net_link *l, const struct net_spec *spec,
	struct net_parcel *p)
{
	autofree struct net_hosts *hosts = calloc(1, sizeof *hosts);
	unsigned room = 0;
	int err;

	if (!hosts)
		return -ENOMEM;
	net_hosts_read(hosts);
	if ((l->user >= 0 && setns(l->user, NS_USER) < 0) ||
		setns(l->net, NS_NET) < 0)
		return -errno;
	err = ns_routes(hosts, spec, &room);
	if (!err)
		err = ns_room(l->sock, room);
	return err ? err : ns_sockets(p, hosts, spec);
}

static int ns_wait(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EIO;
}

int net_open(const struct net_link *l, uint64_t sum, const struct net_spec *spec)
{
	pid_t pid = fork();

	if (pid == 0) {
		struct net_parcel p = {.says = {.word = NET_NAMES, .sum = sum}};
		int err = l->port ? 0 : ns_names(l, spec, &p);

		_exit(-(err ? err : net_send(l->sock, &p, spec)));
	}
	return pid < 0 ? -errno : ns_wait(pid);
}

int net_front(struct net_parcel *out)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof at;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int err = ns_add(out, fd);

	if (!err && (bind(fd, (struct sockaddr *)&at, size) < 0 ||
			    listen(fd, 512) < 0 ||
			    getsockname(fd, (struct sockaddr *)&at, &size) < 0))
		err = -errno;
	if (!err)
		err = ns_add(out, socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC,
					  DIAG));
	out->says.port = ntohs(at.sin_port);
	return err;
}

int net_make(struct net_parcel *out)
{
	int pair[2], err;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	pid = fork();
	if (pid == 0) {
		struct net_parcel p = NET_PARCEL_INIT;

		p.says.err = ns_enter(&p);
		if (p.says.err)
			p.count = 0;
		_exit(net_send(pair[1], &p, NULL) < 0);
	}
	close(pair[1]);
	err = pid < 0 ? -errno : net_receive(pair[0], out, NULL);
	close(pair[0]);
	if (pid > 0)
		(void)ns_wait(pid);
	return err ? err : out->says.err;
}
