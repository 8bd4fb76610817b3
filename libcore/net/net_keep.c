/* net_keep.c - the process that holds a session's namespace, and links to it
 * SPDX-License-Identifier: MIT
 */
#include "net/net_in.h"

#include <errno.h>
#include <fcntl.h>
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
#include "base/kconfig.h"
#include "base/uapi/linux.h"
#include "sys/ns.h"

enum {
	/* Nothing lives in a namespace that nobody is linked to: it is kept for
	 * a while because a new one takes half a millisecond. */
	KEEP_IDLE_MS = 5000,
	KEEP_TRIES = 3,
};

/* DIR/NAME as a socket's address, which has little room for DIR. */
static int keep_address(int dir, const char *name, struct sockaddr_un *at)
{
	*at = (struct sockaddr_un){.sun_family = AF_UNIX};
	BUF_PRINT(at->sun_path, "/proc/self/fd/%d/%s", dir, name);
	return at->sun_path[0] ? 0 : -ENAMETOOLONG;
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

/* The socket at which links are asked for or, of a keeper for one alone, that
 * one's link, is descriptor 0. */
__attribute__((noreturn)) static void keep_run(
	int its, bool alone, const struct net_ask *ask)
{
	struct net_keeper k = {.idle_ms = alone ? 0 : KEEP_IDLE_MS,
		.front = ask->front,
		.confine = ask->confine};
	struct net_parcel said = NET_PARCEL_INIT;
	int fd, err;

	keep_begin(its);
	(void)net_raise_files();
	err = k.front ? net_front(&k.ns) : net_make(&k.ns);
	/* Only now, because a process that is not dumpable cannot write the maps
	 * of its user namespace. */
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	if (!err) {
		net_serve(&k);
		_exit(0);
	}
	/* The link that waits is told why there is no namespace. */
	fd = alone ? 0 : accept4(0, NULL, NULL, SOCK_CLOEXEC);
	k.ns = (struct net_parcel){.says = {.word = NET_FAIL, .err = err}};
	if (fd >= 0 && net_receive(fd, &said, NULL) == 0)
		net_send(fd, &k.ns, NULL);
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
static int keep_start(int its, bool alone, const struct net_ask *ask)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		pid = fork();
		if (pid == 0)
			keep_run(its, alone, ask);
		_exit(pid < 0);
	}
	if (pid < 0)
		return -errno;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return status ? -EAGAIN : 0;
}

static int keep_start_named(int dir, const char *name, const struct net_ask *ask)
{
	autofd int listener = keep_listen(dir, name);

	return listener < 0 ? listener : keep_start(listener, false, ask);
}

/* What the keeper answers. */
static int link_answer(int sock, struct net_parcel *got)
{
	int err = net_receive(sock, got, NULL);

	if (!err && got->says.word == NET_FAIL)
		err = got->says.err;
	if (err)
		net_parcel_release(got);
	return err;
}

/* The keeper is told of names that it does not know yet. */
static int link_names(const struct net_link *l, const struct net_ask *ask)
{
	autofree struct net_spec *spec = ask->spec(ask->ctx);
	struct net_parcel got = NET_PARCEL_INIT;
	int err = spec ? net_open(l, ask->sum, spec) : -ENOMEM;

	if (!err)
		err = link_answer(l->sock, &got);
	net_parcel_release(&got);
	return err;
}

/* The first words on a new link. */
static int link_begin(int sock, const struct net_ask *ask, struct net_link *out)
{
	const struct net_parcel hello = {
		.says = {.word = NET_HELLO, .sum = ask->sum, .up = ask->up}};
	struct net_parcel got = NET_PARCEL_INIT;
	autolink struct net_link l = NET_LINK_INIT;
	int err;

	(void)net_send(sock, &hello, NULL);
	err = link_answer(sock, &got);
	if (err)
		return err;
	l = (struct net_link){.sock = sock,
		.port = (uint16_t)got.says.port,
		.net = got.count ? got.fd[NET_SPACE_NET] : -1,
		.user = got.count > 1 ? got.fd[NET_SPACE_USER] : -1,
		.ipc = got.count > 2 ? got.fd[NET_SPACE_IPC] : -1};
	/* A user who may make namespaces as he is owns them, too. */
	if (ns_is_admin()) {
		cleanup_fd(&l.user);
		l.user = -1;
	}
	if (IS_ENABLED(CONFIG_NET_NAMES) && got.says.word == NET_TELL)
		err = link_names(&l, ask);
	if (!err)
		*out = l;
	if (!err)
		l = NET_LINK_INIT;
	else
		l.sock = -1; /* the caller's */
	return err;
}

/* 0; -EPIPE and its kin: there is no keeper (any more). */
static int keep_link(int dir, const char *name, const struct net_ask *ask,
	struct net_link *out)
{
	struct sockaddr_un at;
	autofd int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	int err = fd < 0 ? -errno : keep_address(dir, name, &at);

	if (!err && connect(fd, (struct sockaddr *)&at, sizeof at) < 0)
		err = -errno;
	if (!err)
		err = link_begin(fd, ask, out);
	if (!err)
		fd_steal(&fd);
	return err;
}

/* A keeper for one alone. */
static int keep_alone(const struct net_ask *ask, struct net_link *out)
{
	int pair[2], err;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	err = keep_start(pair[1], true, ask);
	close(pair[1]);
	if (!err)
		err = link_begin(pair[0], ask, out);
	if (err)
		close(pair[0]);
	return err;
}

static bool is_gone(int err)
{
	return err == -ENOENT || err == -ECONNREFUSED || err == -EPIPE ||
		err == -ECONNRESET;
}

int net_join(int dir, const char *name, const struct net_ask *ask,
	struct net_link *out, struct diag *d)
{
	autofd int lock = -1;
	int err;

	*out = NET_LINK_INIT;
	err = dir < 0 ? keep_alone(ask, out) : keep_link(dir, name, ask, out);
	if (dir >= 0 && is_gone(err)) {
		lock = openat(dir, "net.lock",
			O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (lock < 0 || flock(lock, LOCK_EX) < 0)
			return diag_errno(d, -errno, "the session's network");
	}
	for (int i = 0; dir >= 0 && i < KEEP_TRIES && is_gone(err); i++) {
		err = keep_link(dir, name, ask, out);
		if (!is_gone(err))
			break;
		err = keep_start_named(dir, name, ask);
		if (!err)
			err = keep_link(dir, name, ask, out);
	}
	return err ? diag_errno(d, err, "the session's network") : 0;
}
