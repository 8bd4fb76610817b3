/* net_keep.c - the process that holds a session's namespace, and links to it
 * SPDX-License-Identifier: MIT
 */
#include "net/net_in.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/str.h"
#include "base/uapi/linux.h"

enum {
	KEEP_LINKS = 1024, /* commands at once */
	/* Nothing lives in a namespace that nobody is linked to: it is kept for
	 * a while because a new one takes half a millisecond. */
	KEEP_IDLE_MS = 5000,
	KEEP_TRIES = 3,
};

/* The keeper's own. */
struct net_keeper {
	struct net_parcel ns;
	struct pollfd poll[1 + KEEP_LINKS]; /* 0: new links */
	nfds_t links;
};

/* DIR/NAME as a socket's address, which has little room for DIR. */
static int keep_address(int dir, const char *name, struct sockaddr_un *at)
{
	*at = (struct sockaddr_un){.sun_family = AF_UNIX};
	BUF_PRINT(at->sun_path, "/proc/self/fd/%d/%s", dir, name);
	return at->sun_path[0] ? 0 : -ENAMETOOLONG;
}

static void keep_accept(struct net_keeper *k)
{
	int fd = accept4(k->poll[0].fd, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		return;
	if (k->links == KEEP_LINKS || net_send(fd, &k->ns) < 0) {
		close(fd);
		return;
	}
	k->links++;
	k->poll[k->links] = (struct pollfd){.fd = fd, .events = POLLIN};
}

/* A link that its owner closed, or broke the silence on. */
static void keep_drop(struct net_keeper *k, nfds_t i)
{
	close(k->poll[i].fd);
	k->poll[i] = k->poll[k->links--];
}

/* Until nobody is linked any more; a link that comes at the last moment is told
 * so by its end, and begins again. */
static void keep_serve(struct net_keeper *k)
{
	for (;;) {
		int n = poll(k->poll, 1 + k->links, k->links ? -1 : KEEP_IDLE_MS);

		if ((n == 0 && !k->links) || (n < 0 && errno != EINTR))
			return;
		for (nfds_t i = k->links; n > 0 && i > 0; i--)
			if (k->poll[i].revents)
				keep_drop(k, i);
		if (n > 0 && k->poll[0].revents)
			keep_accept(k);
	}
}

/* A daemon without anything of its maker's but the listening socket, which is
 * its descriptor 0. */
static void keep_begin(int listener)
{
	sigset_t none;

	setsid();
	prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0);
	prctl(PR_SET_NAME, "wardbox-net", 0, 0, 0);
	if (dup2(listener, 0) < 0 || chdir("/") < 0)
		_exit(1);
	fcntl(0, F_SETFD, FD_CLOEXEC);
	syscall(NR_CLOSE_RANGE, 1, ~0U, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_IGN);
}

__attribute__((noreturn)) static void keep_run(int listener)
{
	struct net_keeper *k = calloc(1, sizeof *k);
	struct net_parcel why = NET_PARCEL_INIT;
	int fd;

	keep_begin(listener);
	if (!k)
		_exit(1);
	why.err = net_make(&k->ns);
	/* Not before: the maps of a user namespace are written by its own. */
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	if (!why.err) {
		k->poll[0] = (struct pollfd){.fd = 0, .events = POLLIN};
		keep_serve(k);
		_exit(0);
	}
	/* Whoever waits for it is told why there is none. */
	fd = accept4(0, NULL, NULL, SOCK_CLOEXEC);
	if (fd >= 0)
		net_send(fd, &why);
	_exit(1);
}

static int keep_listen(int dir, const char *name)
{
	struct sockaddr_un at;
	autofd int fd = socket(
		AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int err = fd < 0 ? -errno : keep_address(dir, name, &at);

	if (err)
		return err;
	if (unlinkat(dir, name, 0) < 0 && errno != ENOENT)
		return -errno;
	/* Connecting takes the right to write, which is the owner's: the
	 * directory keeps all others out. */
	if (bind(fd, (struct sockaddr *)&at, sizeof at) < 0 ||
		listen(fd, 128) < 0)
		return -errno;
	return fd_steal(&fd);
}

/* The maker is not the keeper's parent for long: it reaps what is its own. */
static int keep_start(int dir, const char *name)
{
	autofd int listener = keep_listen(dir, name);
	pid_t pid;
	int status = 0;

	if (listener < 0)
		return listener;
	pid = fork();
	if (pid == 0) {
		pid = fork();
		if (pid == 0)
			keep_run(listener);
		_exit(pid < 0);
	}
	if (pid < 0)
		return -errno;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return status ? -EAGAIN : 0;
}

/* 0; -EPIPE and its kin: there is no keeper (any more). */
static int keep_link(int dir, const char *name, struct net_link *out)
{
	struct sockaddr_un at;
	struct net_parcel got = NET_PARCEL_INIT;
	autofd int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	int err = fd < 0 ? -errno : keep_address(dir, name, &at);

	if (!err && connect(fd, (struct sockaddr *)&at, sizeof at) < 0)
		err = -errno;
	if (!err)
		err = net_receive(fd, &got);
	if (!err && !got.err && !got.count)
		err = -EPIPE;
	if (err || got.err) {
		net_parcel_release(&got);
		return err ? err : got.err;
	}
	out->sock = fd_steal(&fd);
	out->net = got.fd[0];
	out->user = got.count > 1 ? got.fd[1] : -1;
	return 0;
}

static bool is_gone(int err)
{
	return err == -ENOENT || err == -ECONNREFUSED || err == -EPIPE ||
		err == -ECONNRESET;
}

int net_join(int dir, const char *name, struct net_link *out, struct diag *d)
{
	autofd int lock = -1;
	int err;

	*out = NET_LINK_INIT;
	err = keep_link(dir, name, out);
	if (is_gone(err)) {
		lock = openat(dir, "net.lock",
			O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (lock < 0 || flock(lock, LOCK_EX) < 0)
			return diag_errno(d, -errno, "the session's network");
	}
	for (int i = 0; i < KEEP_TRIES && is_gone(err); i++) {
		err = keep_link(dir, name, out);
		if (!is_gone(err))
			break;
		err = keep_start(dir, name);
		if (!err)
			err = keep_link(dir, name, out);
	}
	return err ? diag_errno(d, err, "the session's network") : 0;
}
