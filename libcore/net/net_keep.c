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
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "sys/file.h"
#include "sys/ns.h"
#include "base/uapi/linux.h"

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

static void read_text(const char *path, struct net_hosts *h,
	void take(struct net_hosts *h, const char *text, size_t n))
{
	autobuf struct buf text = BUF_INIT(1 << 20);

	(void)file_read(AT_FDCWD, path, &text);
	take(h, buf_str(&text), text.len);
}

/* Room for a connection inside and one outside for each of many. */
static void raise_files(void)
{
	enum { FILES = 8192 };
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) < 0)
		return;
	l.rlim_cur = l.rlim_max < FILES ? l.rlim_max : FILES;
	prlimit(0, RLIMIT_NOFILE, &l, NULL);
}

/* its: the socket at which links are asked for or, of a keeper for one alone, that
 * one's link. */
__attribute__((noreturn)) static void keep_run(
	int its, bool alone, const struct net_spec *spec)
{
	struct net_hosts *hosts = calloc(1, sizeof *hosts);
	struct net_parcel ns = NET_PARCEL_INIT;
	/* Who may make a network namespace as it is owns it, too. */
	const unsigned give = spec->front ? 0 : ns_is_admin() ? 1 : 2;
	int fd;

	keep_begin(its);
	if (!hosts)
		_exit(1);
	read_text("/etc/resolv.conf", hosts, net_conf_servers);
	read_text("/etc/hosts", hosts, net_conf_hosts);
	raise_files();
	ns.err = spec->front ? net_front(&ns) : net_make(&ns, spec, hosts);
	/* Not before: the maps of a user namespace are written by its own. */
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	if (!ns.err && spec->confine)
		ns.err = spec->confine(spec->confine_ctx);
	if (!ns.err) {
		net_serve(0, &ns, give, spec, hosts, alone ? 0 : KEEP_IDLE_MS);
		_exit(0);
	}
	/* Whoever waits for it is told why there is none. */
	fd = alone ? 0 : accept4(0, NULL, NULL, SOCK_CLOEXEC);
	if (fd >= 0)
		net_send(fd, &ns);
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
static int keep_start(int its, bool alone, const struct net_spec *spec)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		pid = fork();
		if (pid == 0)
			keep_run(its, alone, spec);
		_exit(pid < 0);
	}
	if (pid < 0)
		return -errno;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return status ? -EAGAIN : 0;
}

static int keep_start_named(
	int dir, const char *name, const struct net_spec *spec)
{
	autofd int listener = keep_listen(dir, name);

	return listener < 0 ? listener : keep_start(listener, false, spec);
}

/* What the keeper says to a new link. */
static int link_begin(int sock, struct net_link *out)
{
	struct net_parcel got = NET_PARCEL_INIT;
	int err = net_receive(sock, &got);

	if (!err && !got.err && !got.count && !got.port)
		err = -EPIPE;
	if (err || got.err) {
		net_parcel_release(&got);
		return err ? err : got.err;
	}
	out->port = (uint16_t)got.port;
	out->net = got.count ? got.fd[0] : -1;
	out->user = got.count > 1 ? got.fd[1] : -1;
	return 0;
}

/* 0; -EPIPE and its kin: there is no keeper (any more). */
static int keep_link(int dir, const char *name, struct net_link *out)
{
	struct sockaddr_un at;
	autofd int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	int err = fd < 0 ? -errno : keep_address(dir, name, &at);

	if (!err && connect(fd, (struct sockaddr *)&at, sizeof at) < 0)
		err = -errno;
	if (!err)
		err = link_begin(fd, out);
	if (!err)
		out->sock = fd_steal(&fd);
	return err;
}

/* A keeper for one alone. */
static int keep_alone(const struct net_spec *spec, struct net_link *out)
{
	int pair[2], err;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	err = keep_start(pair[1], true, spec);
	close(pair[1]);
	if (!err)
		err = link_begin(pair[0], out);
	if (err)
		close(pair[0]);
	else
		out->sock = pair[0];
	return err;
}

static bool is_gone(int err)
{
	return err == -ENOENT || err == -ECONNREFUSED || err == -EPIPE ||
		err == -ECONNRESET;
}

int net_find(int dir, const char *name, struct net_link *out)
{
	*out = NET_LINK_INIT;
	return keep_link(dir, name, out);
}

int net_join(int dir, const char *name, const struct net_spec *spec,
	struct net_link *out, struct diag *d)
{
	autofd int lock = -1;
	int err;

	*out = NET_LINK_INIT;
	err = dir < 0 ? keep_alone(spec, out) : keep_link(dir, name, out);
	if (dir >= 0 && is_gone(err)) {
		lock = openat(dir, "net.lock",
			O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (lock < 0 || flock(lock, LOCK_EX) < 0)
			return diag_errno(d, -errno, "the session's network");
	}
	for (int i = 0; dir >= 0 && i < KEEP_TRIES && is_gone(err); i++) {
		err = keep_link(dir, name, out);
		if (!is_gone(err))
			break;
		err = keep_start_named(dir, name, spec);
		if (!err)
			err = keep_link(dir, name, out);
	}
	return err ? diag_errno(d, err, "the session's network") : 0;
}
