/* probe.c - what this kernel and container give, found by doing it
 * SPDX-License-Identifier: MIT
 */
#include "sys/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/ns.h"
#include "sys/probe_in.h"
#include "sys/pty.h"
#include "base/uapi/landlock.h"
#include "base/uapi/linux.h"

bool probe_inside(void)
{
	int saved = errno;
	bool inside = prctl(PROBE_INSIDE_OPTION, 0, 0, 0, 0) < 0 &&
		      errno == PROBE_INSIDE_ERRNO;

	errno = saved;
	return inside;
}

int probe_landlock_abi(int *why)
{
	long abi = syscall(LL_NR_CREATE_RULESET, NULL, 0, LL_CREATE_VERSION);
	int err = abi < 0 ? -errno : 0;

	if (why)
		*why = err;
	return abi < 0 ? 0 : (int)abi;
}

enum { PATIENCE_MS = 10000 };

/* Waits for the answer. A feature that hangs does not work; a busy machine gets
 * its time. */
static int collect_answer(pid_t pid, int from)
{
	struct pollfd p = {.fd = from, .events = POLLIN};
	int err = -EINTR;

	int ready;

	while ((ready = poll(&p, 1, PATIENCE_MS)) < 0 && errno == EINTR)
		;
	/* Where poll() is refused, read() waits. */
	if (ready && read(from, &err, sizeof(err)) != sizeof(err))
		err = -EINTR;
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return err;
}

int probe_child(int (*fn)(unsigned arg), unsigned arg)
{
	return probe_child_at(AT_FDCWD, fn, arg);
}

int probe_child_at(int dirfd, int (*fn)(unsigned arg), unsigned arg)
{
	int ends[2], err;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	pid = fork();
	if (pid == 0) {
		close(ends[0]);
		err = dirfd != AT_FDCWD && fchdir(dirfd) < 0 ? -errno :
							       fn(arg);
		_exit(write(ends[1], &err, sizeof(err)) != sizeof(err));
	}
	err = pid < 0 ? -errno : 0;
	close(ends[1]);
	if (pid > 0)
		err = collect_answer(pid, ends[0]);
	close(ends[0]);
	return err;
}

static int try_pidfd(unsigned arg)
{
	long fd = syscall(NR_PIDFD_OPEN, getpid(), arg);

	if (fd < 0)
		return probe_refused(PROBE_CALL_PIDFD_OPEN);
	return syscall(NR_PIDFD_SEND_SIGNAL, fd, 0, NULL, 0) < 0 ?
		       probe_refused(PROBE_CALL_PIDFD_SIGNAL) :
		       0;
}

static int try_close_range(unsigned arg)
{
	int fd = fcntl(0, F_DUPFD, 100);

	(void)arg;
	if (fd < 0)
		return -errno;
	if (syscall(NR_CLOSE_RANGE, fd, ~0U, CLOSE_RANGE_CLOEXEC_) < 0)
		return probe_refused(PROBE_CALL_CLOSE_RANGE);
	return fcntl(fd, F_GETFD) & FD_CLOEXEC ? 0 : -EBADE;
}

static int try_nnp(unsigned arg)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, arg) < 0)
		return probe_refused(PROBE_CALL_PRCTL);
	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? 0 : -EBADE;
}

static int try_pty(unsigned arg)
{
	struct pty p = PTY_INIT;
	char byte = 'x';
	int err = pty_open(&p, -1, NULL);

	(void)arg;
	if (err)
		return err;
	if (write(p.slave, &byte, 1) != 1 || read(p.master, &byte, 1) != 1)
		return -errno;
	return byte == 'x' ? 0 : -EBADE;
}

static const char *call_name(unsigned call)
{
	static const char names[PROBE_CALLS][24] = {"",
		"landlock_create_ruleset", "landlock_add_rule",
		"landlock_restrict_self", "prctl", "seccomp", "ioctl",
		"pidfd_open", "pidfd_send_signal", "close_range", "capget",
		"capset", "prlimit64", "process_vm_readv", "rt_sigprocmask",
		"signalfd4", "flock"};

	return names[call < PROBE_CALLS ? call : PROBE_CALL_NONE];
}

int probe_try(enum probe_item item, const char **call)
{
	static const struct {
		int (*fn)(unsigned arg);
		unsigned arg;
	} tries[PROBE_ITEMS] = {
		[PROBE_LANDLOCK] = {probe_try_landlock, 0},
		[PROBE_CAPS] = {probe_try_caps, 0},
		[PROBE_RLIMIT] = {probe_try_rlimit, 0},
		[PROBE_PEEK] = {probe_try_peek, 0},
		[PROBE_SIGNALS] = {probe_try_signals, 0},
		[PROBE_LOCK] = {probe_try_lock, 0},
		[PROBE_NNP] = {try_nnp, 0},
		[PROBE_SECCOMP] = {probe_try_filter, 0},
		[PROBE_NOTIFY] = {probe_try_notify, 0},
		[PROBE_SCOPE_UNIX] = {probe_try_scope, LL_SCOPE_ABSTRACT_UNIX},
		[PROBE_SCOPE_SIGNAL] = {probe_try_scope, LL_SCOPE_SIGNAL},
		[PROBE_USERNS] = {ns_try, NS_USER},
		[PROBE_PIDNS] = {ns_try, NS_PID},
		[PROBE_MOUNTNS] = {ns_try, NS_MOUNT},
		[PROBE_IPCNS] = {ns_try, NS_IPC},
		[PROBE_NETNS] = {ns_try, NS_NET},
		[PROBE_PIDFD] = {try_pidfd, 0},
		[PROBE_CLOSE_RANGE] = {try_close_range, 0},
		[PROBE_PTY] = {try_pty, 0},
	};

	int err = item < PROBE_ITEMS ?
			  probe_child(tries[item].fn, tries[item].arg) :
			  -EINVAL;

	if (call)
		*call = call_name((unsigned)-err >> PROBE_CALL_SHIFT);
	return probe_errno(err);
}

uint64_t probe_caps(void)
{
	struct cap_head head = {.version = CAP_VERSION3};
	struct cap_data data[2] = {{0, 0, 0}, {0, 0, 0}};

	if (syscall(__NR_capget, &head, data) < 0)
		return 0;
	return data[0].effective | (uint64_t)data[1].effective << 32;
}
