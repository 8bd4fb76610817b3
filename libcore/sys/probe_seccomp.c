/* probe_seccomp.c - does a filter answer, does a listener?
 * SPDX-License-Identifier: MIT
 */
#include "sys/probe_in.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "base/uapi/seccomp.h"

enum { ANSWER = 2828 };

/* Installs a filter that answers getppid with value and lets all else pass. */
static int install_filter(uint32_t value, unsigned flags)
{
	struct bpf_insn1 code[] = {
		{BPF1_LD, 0, 0, 0},
		{BPF1_JEQ, 0, 1, __NR_getppid},
		{BPF1_RET, 0, 0, value},
		{BPF1_RET, 0, 0, SC_ALLOW},
	};
	struct bpf_prog1 prog = {.len = ARRAY_SIZE(code), .filter = code};
	long r;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return probe_refused(PROBE_CALL_PRCTL);
	r = syscall(__NR_seccomp, SC_SET_MODE_FILTER, flags, &prog);
	return r < 0 ? probe_refused(PROBE_CALL_SECCOMP) : (int)r;
}

int probe_try_filter(unsigned arg)
{
	int err = install_filter(SC_ERRNO(ANSWER), arg);

	if (err < 0)
		return err;
	return syscall(__NR_getppid) < 0 && errno == ANSWER ? 0 : -EBADE;
}

int probe_try_notify(unsigned arg)
{
	autofd int fd = install_filter(SC_NOTIFY, SC_FLAG_NEW_LISTENER | arg);
	/* Room for the structs of later kernels. */
	union {
		struct sc_notif notif;
		char room[1024];
	} n = {.room = {0}};
	union {
		struct sc_resp resp;
		char room[256];
	} r = {.room = {0}};
	int status;
	pid_t pid;

	if (fd < 0)
		return fd;
	pid = fork();
	if (pid == 0) {
		/* When its last copy is closed, nobody waits for an answer. */
		close(fd);
		_exit(syscall(__NR_getppid) != ANSWER);
	}
	if (pid < 0)
		return -errno;
	if (syscall(__NR_ioctl, fd, SC_IOCTL_RECV, &n) < 0)
		return probe_refused(PROBE_CALL_IOCTL);
	r.resp.id = n.notif.id;
	r.resp.val = ANSWER;
	if (n.notif.pid != (uint32_t)pid ||
		syscall(__NR_ioctl, fd, SC_IOCTL_SEND, &r) < 0)
		return -EBADE;
	if (waitpid(pid, &status, 0) != pid)
		return -errno;
	return status ? -EBADE : 0;
}
