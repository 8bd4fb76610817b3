/* probe_landlock.c - does each right of Landlock hold?
 * SPDX-License-Identifier: MIT
 */
#include "sys/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/probe_in.h"
#include "base/str.h"
#include "base/uapi/landlock.h"

enum { NET = 32 }; /* the first bit of the network */

static int restrict_by(int ruleset)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return probe_refused(PROBE_CALL_PRCTL);
	return syscall(LL_NR_RESTRICT_SELF, ruleset, 0) < 0 ?
		       probe_refused(PROBE_CALL_RESTRICT_SELF) :
		       0;
}

static int restrict_to(const struct ll_ruleset_attr *attr)
{
	size_t size = attr->scoped ? 24 : attr->net ? 16 : 8;
	long fd = syscall(LL_NR_CREATE_RULESET, attr, size, 0);

	if (fd < 0)
		return errno == EINVAL || errno == E2BIG ?
			       -ERANGE :
			       probe_refused(PROBE_CALL_CREATE_RULESET);
	return restrict_by((int)fd);
}

/* Attempts that need a right, by the objects "f", a file, "d", an empty
 * directory, and "e", a directory with "e/g" in it. They return the call's
 * result. */
static int do_exec(void)
{
	char *none[] = {NULL};

	return execve("f", none, none);
}
static int do_write(void)
{
	return openat(AT_FDCWD, "f", O_WRONLY | O_CLOEXEC);
}
static int do_read(void)
{
	return openat(AT_FDCWD, "f", O_RDONLY | O_CLOEXEC);
}
static int do_list(void)
{
	return openat(AT_FDCWD, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}
static int do_rmdir(void)
{
	return rmdir("d");
}
static int do_unlink(void)
{
	return unlink("f");
}
static int do_char(void)
{
	return mknod("n", S_IFCHR | 0600, 0x103);
}
static int do_mkdir(void)
{
	return mkdir("n", 0700);
}
static int do_create(void)
{
	return mknod("n", S_IFREG | 0600, 0);
}
static int do_sock(void)
{
	return mknod("n", S_IFSOCK | 0600, 0);
}
static int do_fifo(void)
{
	return mknod("n", S_IFIFO | 0600, 0);
}
static int do_block(void)
{
	return mknod("n", S_IFBLK | 0600, 0x700);
}
static int do_symlink(void)
{
	return symlink("f", "n");
}
static int do_refer(void)
{
	return (int)syscall(
		__NR_renameat2, AT_FDCWD, "e/g", AT_FDCWD, "d/g", 0);
}
static int do_truncate(void)
{
	return truncate("f", 0);
}
static int do_ioctl(void)
{
	struct termios t;
	int fd = openat(AT_FDCWD, "/dev/null", O_RDWR | O_CLOEXEC);

	return fd < 0 ? 0 : ioctl(fd, TCGETS, &t);
}
static int do_connect_unix(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX, .sun_path = "s"};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return connect(fd, (const void *)&a, sizeof(a));
}

static int on_loopback(int type, bool listening)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
		.sin_port = htons(listening ? 0 : 9),
		.sin_addr = {htonl(INADDR_LOOPBACK)}};
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);

	return listening ? bind(fd, (const void *)&a, sizeof(a)) :
			   connect(fd, (const void *)&a, sizeof(a));
}
static int do_bind_tcp(void)
{
	return on_loopback(SOCK_STREAM, true);
}
static int do_connect_tcp(void)
{
	return on_loopback(SOCK_STREAM, false);
}
static int do_bind_udp(void)
{
	return on_loopback(SOCK_DGRAM, true);
}
static int do_connect_udp(void)
{
	return on_loopback(SOCK_DGRAM, false);
}

static const struct right {
	char name[16];
	int (*act)(void);
} file_rights[] = {
	{"execute", do_exec},
	{"write-file", do_write},
	{"read-file", do_read},
	{"read-dir", do_list},
	{"remove-dir", do_rmdir},
	{"remove-file", do_unlink},
	{"make-char", do_char},
	{"make-dir", do_mkdir},
	{"make-reg", do_create},
	{"make-sock", do_sock},
	{"make-fifo", do_fifo},
	{"make-block", do_block},
	{"make-sym", do_symlink},
	{"refer", do_refer},
	{"truncate", do_truncate},
	{"ioctl-dev", do_ioctl},
	{"resolve-unix", do_connect_unix},
}, net_rights[] = {
	{"bind-tcp", do_bind_tcp},
	{"connect-tcp", do_connect_tcp},
	{"bind-udp", do_bind_udp},
	{"connect-udp", do_connect_udp},
};

static const struct right *right_of(unsigned bit)
{
	if (bit < ARRAY_SIZE(file_rights))
		return &file_rights[bit];
	if (bit >= NET && bit - NET < ARRAY_SIZE(net_rights))
		return &net_rights[bit - NET];
	return NULL;
}

const char *probe_landlock_name(unsigned bit)
{
	const struct right *r = right_of(bit);

	return r ? r->name : NULL;
}

static int try_right(unsigned bit)
{
	struct ll_ruleset_attr attr = {
		.fs = bit < NET ? 1ULL << bit : 0,
		.net = bit < NET ? 0 : 1ULL << (bit - NET),
	};
	const struct right *r = right_of(bit);
	int err = r ? restrict_to(&attr) : -ERANGE;

	if (err < 0)
		return err;
	if (r->act() >= 0)
		return -EBADE;
	return errno == EACCES || (errno == EXDEV && bit == 13) ? 0 : -EBADE;
}

static void make_stage(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX, .sun_path = "s"};
	int fd = openat(AT_FDCWD, "f", O_WRONLY | O_CREAT | O_CLOEXEC, 0700);

	close(fd);
	mkdir("d", 0700);
	mkdir("e", 0700);
	fd = openat(AT_FDCWD, "e/g", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	close(fd);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(fd, (const void *)&a, sizeof(a)) == 0)
		listen(fd, 1);
}

static int try_on_stage(unsigned bit)
{
	make_stage();
	return try_right(bit);
}

static void clear_stage(int dir)
{
	static const char *const files[] = {"f", "n", "s", "d/g", "e/g"};
	static const char *const dirs[] = {"d", "e", "n"};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		unlinkat(dir, files[i], 0);
	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++)
		unlinkat(dir, dirs[i], AT_REMOVEDIR);
}

/* The child works in a directory of its own, which is removed here, whatever
 * becomes of the child. */
int probe_landlock_right(unsigned bit)
{
	char path[] = "/tmp/wardbox-probe-XXXXXX";
	autofd int dir = -1;
	int err;

	if (!right_of(bit))
		return -ERANGE;
	if (!mkdtemp(path))
		return -errno;
	dir = openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	err = dir < 0 ? -errno : probe_errno(probe_child_at(dir, try_on_stage, bit));
	if (dir >= 0)
		clear_stage(dir);
	rmdir(path);
	return err;
}

/* With a rule for /dev, /dev can be listed and "/" cannot. */
int probe_try_landlock(unsigned arg)
{
	enum { READ_DIR = 1 << 3 };
	const struct ll_ruleset_attr attr = {.fs = READ_DIR};
	autofd int dev = open("/dev", O_PATH | O_DIRECTORY | O_CLOEXEC);
	autofd int fd = (int)syscall(LL_NR_CREATE_RULESET, &attr, 8, arg);
	const struct ll_path_attr rule = {.allowed = READ_DIR, .fd = dev};
	int err;

	if (fd < 0)
		return probe_refused(PROBE_CALL_CREATE_RULESET);
	if (dev >= 0 && syscall(LL_NR_ADD_RULE, fd, LL_RULE_PATH, &rule, 0) < 0)
		return probe_refused(PROBE_CALL_ADD_RULE);
	err = restrict_by(fd);
	if (err < 0)
		return err;
	if (open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC) >= 0 ||
		errno != EACCES)
		return -EBADE;
	return dev < 0 || open("/dev", O_RDONLY | O_DIRECTORY | O_CLOEXEC) >= 0 ?
		       0 :
		       -EBADE;
}

/* Tries an abstract socket, or a signal, from outside of the domain. */
int probe_try_scope(unsigned arg)
{
	struct ll_ruleset_attr attr = {.scoped = arg};
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	socklen_t len = sizeof(sa_family_t);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), err;

	/* The kernel picks an abstract name. */
	if (fd < 0 || bind(fd, (const void *)&a, len) < 0 ||
		listen(fd, 1) < 0)
		return -errno;
	len = sizeof(a);
	if (getsockname(fd, (void *)&a, &len) < 0)
		return -errno;
	err = restrict_to(&attr);
	if (err < 0)
		return err;
	if (arg == LL_SCOPE_SIGNAL)
		return kill(getppid(), 0) < 0 && errno == EPERM ? 0 : -EBADE;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	return connect(fd, (const void *)&a, len) < 0 && errno == EPERM ?
		       0 :
		       -EBADE;
}
