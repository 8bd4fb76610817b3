/* namespaces.c - own processes, mounts, IPC and network
 * SPDX-License-Identifier: MIT
 */
#include "namespaces.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buf.h"
#include "sandbox.h"
#include "uapi/linux.h"

static bool is_admin(void)
{
	struct cap_head head = {.version = CAP_VERSION3};
	struct cap_data data[2] = {{0, 0, 0}, {0, 0, 0}};

	return syscall(__NR_capget, &head, data) == 0 &&
	       data[0].effective & (1U << CAP_SYS_ADMIN_);
}

void namespaces_flags(unsigned parts, bool *user, unsigned *at_fork,
	unsigned *at_apply)
{
	unsigned fork_flags = 0, flags = 0;

	if (parts & SANDBOX_PIDNS) {
		fork_flags |= NS_PID;
		flags |= NS_MOUNT;
	}
	if (parts & SANDBOX_MOUNTNS)
		flags |= NS_MOUNT;
	if (parts & SANDBOX_IPCNS)
		flags |= NS_IPC;
	if (parts & SANDBOX_NETNS)
		flags |= NS_NET;
	*user = flags && !is_admin();
	if (*user && fork_flags)
		fork_flags |= NS_USER;
	else if (*user)
		flags |= NS_USER;
	*at_fork = fork_flags;
	*at_apply = flags;
}

static int write_file(const char *path, const char *text, size_t n)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, n) < 0)
		err = -errno;
	close(fd);
	return err;
}

int namespaces_map(uid_t uid, gid_t gid)
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

int namespaces_proc(void)
{
	return mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC,
		       NULL) < 0 ?
		       -errno :
		       0;
}

int namespaces_loopback(void)
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

static int try_part(unsigned part)
{
	unsigned at_fork, at_apply;
	uid_t uid = geteuid();
	gid_t gid = getegid();
	bool user;
	int err = 0;

	namespaces_flags(part, &user, &at_fork, &at_apply);
	if (syscall(__NR_unshare, at_fork | at_apply) < 0)
		return -errno;
	if (user)
		err = namespaces_map(uid, gid);
	if (err == 0 && part & (SANDBOX_PIDNS | SANDBOX_MOUNTNS) &&
		mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		err = -errno;
	if (err == 0 && part & SANDBOX_NETNS)
		err = namespaces_loopback();
	if (err == 0 && part & SANDBOX_PIDNS) {
		/* /proc can be mounted by a process inside alone. */
		int status;
		pid_t pid = fork();

		if (pid == 0)
			_exit(namespaces_proc() < 0);
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
			err = -EPERM;
	}
	return err;
}

bool namespaces_work(unsigned part)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(try_part(part) < 0);
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

void namespaces_init(pid_t command, int *status)
{
	sigset_t all;

	sigfillset(&all);
	for (;;) {
		siginfo_t info;
		int sig = sigwaitinfo(&all, &info), st;
		pid_t pid;

		if (sig < 0)
			continue;
		/* What a terminal or the kernel sends, the command got too. */
		if (sig != SIGCHLD && info.si_code <= 0) {
			kill(command, sig);
			continue;
		}
		while ((pid = waitpid(-1, &st, WNOHANG)) > 0) {
			if (pid == command) {
				*status = st;
				return;
			}
		}
	}
}
