/* abi.c - run a command as on a kernel whose Landlock is of an older ABI
 * SPDX-License-Identifier: MIT
 *
 * abi N COMMAND...: N is 1 to 10; 0 for a kernel that has no Landlock, off for
 * one where Landlock is disabled at boot. An N above the kernel's own changes
 * nothing.
 *
 * The command and all that it starts are traced. The filter stops a process in
 * the calls of Landlock alone, so that all else costs nothing, and the listener
 * of the command's own filter stays possible. What ABI N does not know is
 * answered here as that kernel would; all else the kernel answers.
 */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __x86_64__
enum { HERE = 1 };
#else
enum { HERE = 0 };
#endif
enum { CREATE = 444, ADD_RULE = 445, RESTRICT_SELF = 446, WORDS = 6 };
enum { GO_ON = 4096 }; /* no answer of these calls: the kernel answers */

static long abi, missing = -ENOSYS;

struct insn {
	uint16_t code;
	uint8_t jt, jf;
	uint32_t k;
};

static int bits_known(int word)
{
	static const uint8_t fs[] = {0, 13, 14, 15, 15, 16, 16, 16, 16, 17, 17};

	if (word == 0)
		return fs[abi];
	if (word == 1)
		return abi < 4 ? 0 : abi < 10 ? 2 : 4;
	return word == 2 ? (abi < 6 ? 0 : 2) : 64;
}

/* The answer to a new ruleset, or GO_ON. */
static long on_create(pid_t pid, const uint64_t *args)
{
	const uint64_t known = abi < 4 ? 8 : abi < 6 ? 16 : abi < 10 ? 24 : 48;
	uint64_t attr[WORDS] = {0};
	struct iovec here = {attr, sizeof attr},
		there = {(void *)(uintptr_t)args[0], args[1]};

	if (args[2] == 1)
		return abi;
	if (args[2])
		return abi < 7 ? -EINVAL : GO_ON;
	if (args[1] > sizeof attr)
		there.iov_len = sizeof attr;
	/* Nothing passes unread. */
	if (process_vm_readv(pid, &here, 1, &there, 1, 0) < 0)
		return -EFAULT;
	for (int i = 0; i < WORDS; i++) {
		if ((uint64_t)i * 8 >= known && attr[i])
			return -E2BIG;
		if (bits_known(i) < 64 && attr[i] >> bits_known(i))
			return -EINVAL;
	}
	return GO_ON;
}

static long answer(pid_t pid, long nr, const uint64_t *args)
{
	if (!abi)
		return missing;
	if (nr == CREATE)
		return on_create(pid, args);
	if (nr == ADD_RULE)
		return args[1] == 2 && abi < 4 ? -EINVAL : GO_ON;
	return args[1] & (abi < 7 ? ~0ULL : abi < 8 ? ~7ULL : 0) ? -EINVAL : GO_ON;
}

static void on_call(pid_t pid)
{
#ifdef __x86_64__
	struct user_regs_struct r;
	long result;

	if (ptrace(PTRACE_GETREGS, pid, 0, &r) < 0)
		return;
	result = answer(pid, (long)r.orig_rax,
		(const uint64_t[]){r.rdi, r.rsi, r.rdx});
	if (result == GO_ON)
		return;
	r.orig_rax = (unsigned long long)-1;
	r.rax = (unsigned long long)result;
	ptrace(PTRACE_SETREGS, pid, 0, &r);
#else
	(void)answer;
	(void)pid;
#endif
}

/* Goes on with a process that has stopped. */
static void go_on(pid_t pid, int status)
{
	const int sig = WSTOPSIG(status), event = status >> 16;

	if (event == PTRACE_EVENT_SECCOMP)
		on_call(pid);
	if (event == PTRACE_EVENT_STOP && sig != SIGTRAP)
		ptrace(PTRACE_LISTEN, pid, 0, 0);
	else
		ptrace(PTRACE_CONT, pid, 0, event ? 0 : sig);
}

/* Answers for the command until nothing of it is left. This process is no child
 * of the command and holds none of the command's descriptors. */
static void trace(pid_t command, int ready)
{
	enum { OPTIONS = PTRACE_O_TRACESECCOMP | PTRACE_O_TRACEFORK |
		PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE };
	int status;
	pid_t pid;

	if (setsid() < 0 || dup2(ready, 0) < 0 ||
		syscall(SYS_close_range, 1, ~0U, 0) < 0 ||
		ptrace(PTRACE_SEIZE, command, 0, OPTIONS) < 0 ||
		write(0, "", 1) != 1)
		_exit(1);
	close(0);
	while ((pid = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR)
		if (pid > 0 && WIFSTOPPED(status))
			go_on(pid, status);
	_exit(0);
}

static int be_traced(void)
{
	const pid_t self = getpid();
	int ready[2], status;
	char byte;
	pid_t pid;

	if (pipe(ready) < 0 || (pid = fork()) < 0)
		return -1;
	if (pid == 0) {
		if (fork() == 0)
			trace(self, ready[1]);
		_exit(0);
	}
	/* Any process may trace this one, also where only an ancestor may trace. */
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	close(ready[1]);
	if (waitpid(pid, &status, 0) != pid || read(ready[0], &byte, 1) != 1)
		return -1;
	return close(ready[0]);
}

static int filter_calls(void)
{
	struct insn code[] = {
		{0x20, 0, 0, 0},
		{0x35, 0, 2, CREATE},
		{0x25, 1, 0, RESTRICT_SELF},
		{6, 0, 0, 0x7ff00000},
		{6, 0, 0, 0x7fff0000},
	};
	struct {
		uint16_t len;
		struct insn *filter;
	} prog = {5, code};

	/* Root's programs keep what setuid gives. */
	if (syscall(SYS_seccomp, 1, 0, &prog) == 0)
		return 0;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return (int)syscall(SYS_seccomp, 1, 0, &prog);
}

int main(int argc, char **argv)
{
	const long own = syscall(CREATE, NULL, 0, 1);

	if (argc < 3) {
		fprintf(stderr, "abi N|off COMMAND...\n");
		return 125;
	}
	if (strcmp(argv[1], "off") == 0)
		missing = -EOPNOTSUPP;
	else
		abi = atol(argv[1]);
	if (!HERE || abi > own || abi < 0 || abi > 10) {
		fprintf(stderr, "abi: not here; the kernel's own is %ld\n", own);
		return 125;
	}
	if (be_traced() < 0 || filter_calls() < 0) {
		perror("abi: ptrace or seccomp");
		return 125;
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 127;
}
