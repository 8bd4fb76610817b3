/* attack_net.c - ways to others' sockets and terminals
 * SPDX-License-Identifier: MIT
 */
#include "attack.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

static long a_tiocsti(void)
{
	int fd = open(word(0), O_RDWR | O_NOCTTY);
	char c = 'x';

	if (fd < 0)
		return -1;
	/* What stands above the kernel's 32 bits, where a long has more. */
	return syscall(SYS_ioctl, fd,
		(unsigned long)(0x5412 | (uint64_t)number(1) << 32), &c);
}

static long net(int type, int protocol, int fastopen)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
		.sin_port = htons((uint16_t)number(0)),
		.sin_addr = {htonl(INADDR_LOOPBACK)}};
	int fd = socket(AF_INET, type, protocol);

	if (fd < 0)
		return -1;
	if (fastopen)
		return sendto(fd, "x", 1, 0x20000000, (void *)&a, sizeof(a));
	if (type == SOCK_DGRAM)
		return sendto(fd, "x", 1, 0, (void *)&a, sizeof(a));
	return connect(fd, (void *)&a, sizeof(a));
}

static long a_tcp(void)
{
	return net(SOCK_STREAM, 0, 0);
}
static long a_mptcp(void)
{
	return net(SOCK_STREAM, 262, 0);
}
static long a_fastopen(void)
{
	return net(SOCK_STREAM, 0, 1);
}
static long a_udp(void)
{
	return net(SOCK_DGRAM, 0, 0);
}
static long a_fastopen_msg(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
		.sin_port = htons((uint16_t)number(0)),
		.sin_addr = {htonl(INADDR_LOOPBACK)}};
	struct iovec iov = {.iov_base = "x", .iov_len = 1};
	struct mmsghdr m = {.msg_hdr = {.msg_name = &a,
				    .msg_namelen = sizeof(a),
				    .msg_iov = &iov,
				    .msg_iovlen = 1}};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0)
		return -1;
	return number(1) ? syscall(SYS_sendmmsg, fd, &m, 1, 0x20000000) :
			   sendmsg(fd, &m.msg_hdr, 0x20000000);
}

/* A listener; its port goes to stdout, then it waits. */
static long a_listen_tcp(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
		.sin_port = htons((uint16_t)number(0)),
		.sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || bind(fd, (void *)&a, len) < 0 || listen(fd, 64) < 0 ||
		getsockname(fd, (void *)&a, &len) < 0)
		return -1;
	printf("%d\n", ntohs(a.sin_port));
	fflush(stdout);
	if (words[1])
		return 0;
	fclose(stdout);
	for (;;)
		pause();
}

/* A path, or @NAME for an abstract one. */
static socklen_t address(struct sockaddr_un *a)
{
	const char *name = word(0);

	*a = (struct sockaddr_un){.sun_family = AF_UNIX};
	snprintf(a->sun_path, sizeof(a->sun_path), "%s", name);
	if (name[0] == '@')
		a->sun_path[0] = '\0';
	return (socklen_t)(sizeof(sa_family_t) + strlen(name));
}

static long a_unix(void)
{
	struct sockaddr_un a;
	socklen_t len = address(&a);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	return fd < 0 ? -1 : connect(fd, (void *)&a, len);
}

static long a_listen_unix(void)
{
	struct sockaddr_un a;
	socklen_t len = address(&a);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	if (fd < 0 || bind(fd, (void *)&a, len) < 0 || listen(fd, 64) < 0)
		return -1;
	puts("up");
	fclose(stdout);
	for (;;)
		pause();
}

/* A datagram by way of a pair, which needs no socket() of its own. */
static long a_pair_dgram(void)
{
	struct sockaddr_un a;
	socklen_t len = address(&a);
	int fd[2];

	if (socketpair(AF_UNIX, (int)number(1), 0, fd) < 0)
		return -1;
	return sendto(fd[0], "x", 1, 0, (void *)&a, len);
}

static long a_listen_dgram(void)
{
	struct sockaddr_un a;
	socklen_t len = address(&a);
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

	if (fd < 0 || bind(fd, (void *)&a, len) < 0)
		return -1;
	puts("up");
	fclose(stdout);
	for (;;)
		pause();
}

/* A port that nobody named. */
static long a_listen_unbound(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	return fd < 0 ? -1 : listen(fd, 1);
}

const struct attack attacks_net[] = {
	{"tiocsti", a_tiocsti},
	{"tcp", a_tcp},
	{"mptcp", a_mptcp},
	{"fastopen", a_fastopen},
	{"fastopen-msg", a_fastopen_msg},
	{"udp", a_udp},
	{"listen-tcp", a_listen_tcp},
	{"listen-unbound", a_listen_unbound},
	{"unix", a_unix},
	{"listen-unix", a_listen_unix},
	{"pair-dgram", a_pair_dgram},
	{"listen-dgram", a_listen_dgram},
	{NULL, NULL},
};
