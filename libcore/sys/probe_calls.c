/* probe_calls.c - single system calls that a guarded command rests on
 * SPDX-License-Identifier: MIT
 */
#include "sys/probe_in.h"

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/uapi/linux.h"

int probe_try_caps(unsigned arg)
{
	struct cap_head head = {.version = CAP_VERSION3};
	struct cap_data data[2] = {{0, 0, 0}, {0, 0, 0}};

	(void)arg;
	if (syscall(__NR_capset, &head, data) < 0)
		return probe_refused(PROBE_CALL_CAPSET);
	if (syscall(__NR_capget, &head, data) < 0)
		return probe_refused(PROBE_CALL_CAPGET);
	return data[0].effective | data[1].effective | data[0].permitted |
			       data[1].permitted ?
		       -EBADE :
		       0;
}

int probe_try_rlimit(unsigned arg)
{
	uint64_t limit[2];

	if (syscall(__NR_prlimit64, 0, RLIMIT_NOFILE, NULL, limit) < 0)
		return probe_refused(PROBE_CALL_PRLIMIT);
	limit[0] = arg;
	if (syscall(__NR_prlimit64, 0, RLIMIT_NOFILE, limit, NULL) < 0)
		return probe_refused(PROBE_CALL_PRLIMIT);
	return open("/", O_PATH | O_CLOEXEC) < 0 && errno == EMFILE ? 0 :
								     -EBADE;
}

/* A waiting child has the same byte at the same address. */
int probe_try_peek(unsigned arg)
{
	const volatile char secret = (char)(42 + arg);
	char found = 0;
	const struct iovec here = {&found, 1};
	const struct iovec there = {(void *)(uintptr_t)&secret, 1};
	pid_t pid = fork();
	long n;
	int err;

	if (pid == 0)
		for (;;)
			pause();
	if (pid < 0)
		return -errno;
	n = syscall(__NR_process_vm_readv, pid, &here, 1, &there, 1, 0);
	err = n < 0 ? probe_refused(PROBE_CALL_READV) :
	      n == 1 && found == secret ? 0 : -EBADE;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return err;
}

int probe_try_signals(unsigned arg)
{
	struct signalfd_siginfo info;
	autofd int fd = -1;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return probe_refused(PROBE_CALL_SIGPROCMASK);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		return probe_refused(PROBE_CALL_SIGNALFD);
	/* raise() names one thread; where the pid is not known, kill() could
	 * hit others. */
	if (raise(SIGUSR1) != 0)
		return -errno;
	return read(fd, &info, sizeof(info)) == sizeof(info) &&
			       info.ssi_signo == SIGUSR1 + arg ?
		       0 :
		       -EBADE;
}

/* This program's own file, on which nobody else holds an exclusive lock. */
int probe_try_lock(unsigned arg)
{
	autofd int a = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	autofd int b = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	(void)arg;
	if (a < 0 || b < 0)
		return -errno;
	if (flock(a, LOCK_SH | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? 0 :
					      probe_refused(PROBE_CALL_FLOCK);
	return flock(b, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK ? 0 :
									-EBADE;
}
