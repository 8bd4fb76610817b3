/* net_ns.c - the namespace, made in a child
 * SPDX-License-Identifier: MIT
 *
 * The keeper speaks to the world outside, so it does not enter the namespace
 * itself: who came in by way of a user namespace would not come back.
 */
#include "net/net_in.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/ns.h"
#include "base/uapi/linux.h"

static int ns_open(struct net_parcel *p, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	p->fd[p->count++] = fd;
	return 0;
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
		err = ns_open(p, "/proc/self/ns/net");
	if (!err && user)
		err = ns_open(p, "/proc/self/ns/user");
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

		p.err = ns_enter(&p);
		_exit(net_send(pair[1], &p) < 0);
	}
	close(pair[1]);
	err = pid < 0 ? -errno : net_receive(pair[0], out);
	close(pair[0]);
	if (pid > 0)
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	return err ? err : out->err;
}
