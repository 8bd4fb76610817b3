/* ns.c - entering namespaces, and whether that works here
 * SPDX-License-Identifier: MIT
 */
#include "sys/ns.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/str.h"
#include "base/uapi/linux.h"

bool ns_is_admin(void)
{
	struct cap_head head = {.version = CAP_VERSION3};
	struct cap_data data[2] = {{0, 0, 0}, {0, 0, 0}};

	return syscall(__NR_capget, &head, data) == 0 &&
	       data[0].effective & (1U << CAP_SYS_ADMIN_);
}

bool ns_is_contained(void)
{
	/* The kernel's own number for the first one. */
	const ino_t first = 0xeffffffcU;
	struct stat st;

	return stat("/proc/self/ns/pid", &st) == 0 &&
	       st.st_ino != first;
}

bool ns_is_refused(void)
{
	enum { NO_SUCH_NAMESPACE = 1 };

	/* The kernel looks at the flags only if no filter refuses the call. */
	return !(syscall(__NR_unshare, NO_SUCH_NAMESPACE) < 0 && errno == EINVAL);
}

static int write_file(const char *path, const char *text, size_t n)
{
	int fd = openat(AT_FDCWD, path, O_WRONLY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, n) < 0)
		err = -errno;
	close(fd);
	return err;
}

int ns_map(uid_t uid, gid_t gid)
{
	char text[64];
	struct buf b = BUF_FIXED(text);
	int err = write_file("/proc/self/setgroups", "deny", 4);

	if (err < 0 && err != -ENOENT)
		return err;
	buf_addf(&b, "%u %u 1", uid, uid);
	err = write_file("/proc/self/uid_map", text, b.len);
	if (err < 0)
		return err;
	buf_clear(&b);
	buf_addf(&b, "%u %u 1", gid, gid);
	return write_file("/proc/self/gid_map", text, b.len);
}

int ns_loopback(void)
{
	struct ifreq ifr = {.ifr_flags = IFF_UP};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), err = 0;

	/* A kernel without IPv4 has no loopback to start. */
	if (fd < 0)
		return errno == EAFNOSUPPORT ? 0 : -errno;
	memcpy(ifr.ifr_name, "lo", 3);
	if (ioctl(fd, SIOCSIFFLAGS, &ifr) < 0)
		err = -errno;
	close(fd);
	return err;
}

/* Goes up to where ".." leads no further. */
static int climb_up(void)
{
	struct stat here, above;

	for (int i = 0; i < 4096; i++) {
		if (stat(".", &here) < 0 || stat("..", &above) < 0)
			return -errno;
		if (here.st_dev == above.st_dev && here.st_ino == above.st_ino)
			return 0;
		if (chdir("..") < 0)
			return -errno;
	}
	return -ELOOP;
}

/* Leaves a chroot, to the root of this namespace: from a directory outside of
 * one's root ".." leads up. */
static int leave_root(int root)
{
	static const char inner[][8] = {"/bin", "/usr", "/etc", "/dev"};
	size_t i = 0;
	int err;

	while (i < ARRAY_SIZE(inner) && chroot(inner[i]) < 0)
		i++;
	if (i == ARRAY_SIZE(inner) || fchdir(root) < 0)
		return -errno;
	err = climb_up();
	return err < 0 || chroot(".") == 0 ? err : -errno;
}

/* Makes a directory a mount, and then the root. */
static int enter_root(int root)
{
	long tree = syscall(NR_OPEN_TREE, root, "",
		AT_EMPTY_PATH_ | AT_RECURSIVE_ | OPEN_TREE_CLONE_ |
			OPEN_TREE_CLOEXEC_);
	int err = 0;

	if (tree < 0)
		return -errno;
	if (syscall(NR_MOVE_MOUNT, tree, "", root, "",
		    MOVE_MOUNT_F_EMPTY | MOVE_MOUNT_T_EMPTY) < 0 ||
		fchdir((int)tree) < 0 || chroot(".") < 0)
		err = -errno;
	close((int)tree);
	return err;
}

/* In a chroot "/" is a directory of a mount whose root is out of reach. That
 * mount is made private from outside, because what is mounted here would show
 * there. The mount namespace is new and dies with this process and its
 * children; on failure this process must not go on. It stands in "/"
 * afterwards. */
static int chroot_private(void)
{
	int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int err = root < 0 ? -errno : leave_root(root);

	if (err == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		err = -errno;
	if (err == 0)
		err = enter_root(root);
	if (root >= 0)
		close(root);
	return err;
}

int ns_private(void)
{
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0)
		return 0;
	return errno == EINVAL ? chroot_private() : -errno;
}

int ns_proc(void)
{
	int err = 0;

	/* It is mounted over the old /proc, which shares its mounts with those
	 * outside. */
	if (mount(NULL, "/proc", NULL, MS_PRIVATE, NULL) < 0)
		err = ns_private();
	if (err == 0 && mount("proc", "/proc", "proc",
				MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
		err = -errno;
	return err;
}

/* Only a process inside of the pid namespace can mount its /proc. */
static int try_proc(void)
{
	char link[16];
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		if (ns_proc() < 0)
			_exit(1);
		_exit(readlink("/proc/self", link, sizeof(link)) != 1 ||
			link[0] != '1');
	}
	if (pid < 0)
		return -errno;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return status ? -EPERM : 0;
}

/* Tries a view of mounts: everything is read-only, except for a copy of this
 * directory that is mounted over it. The calls came with Linux 5.12. In a user
 * namespace a tree with mounts below can only be copied with AT_RECURSIVE_,
 * because each of them is locked to what it covers. */
static int try_carve(void)
{
	struct mount_attr1 attr = {.set = MOUNT_ATTR_RDONLY_};
	const unsigned all = AT_RECURSIVE_ | AT_EMPTY_PATH_;
	int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	long tree = syscall(NR_OPEN_TREE, here, "",
		all | OPEN_TREE_CLONE_ | OPEN_TREE_CLOEXEC_);
	struct stat st;

	if (tree < 0 ||
		syscall(NR_MOUNT_SETATTR, AT_FDCWD, "/", AT_RECURSIVE_, &attr,
			sizeof(attr)) < 0 ||
		syscall(NR_MOVE_MOUNT, tree, "", here, "",
			MOVE_MOUNT_F_EMPTY | MOVE_MOUNT_T_EMPTY) < 0 ||
		syscall(NR_FSOPEN, "tmpfs", FSOPEN_CLOEXEC_) < 0 ||
		stat("/", &st) < 0)
		return -errno;
	/* A call that must fail does fail. */
	return chmod("/", st.st_mode & 07777) < 0 && errno == EROFS ? 0 :
								      -EBADE;
}

int ns_try(unsigned flags)
{
	bool carve = flags & NS_MOUNT;
	uid_t uid = geteuid();
	gid_t gid = getegid();
	bool user = flags & NS_USER || !ns_is_admin();
	int err = 0;

	if (flags & NS_PID)
		flags |= NS_MOUNT;
	if (user)
		flags |= NS_USER;
	if (syscall(__NR_unshare, flags) < 0)
		return -errno;
	if (user)
		err = ns_map(uid, gid);
	if (err == 0 && flags & NS_MOUNT)
		err = ns_private();
	if (err == 0 && carve)
		err = try_carve();
	if (err == 0 && flags & NS_NET)
		err = ns_loopback();
	if (err == 0 && flags & NS_PID)
		err = try_proc();
	return err;
}
